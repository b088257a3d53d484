// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Paths through a router: the best route, and the local interface to its gateway.

use super::choice::{Choice, NoPath};
use super::direct::select_direct;
use super::key::{self, Because, Contest, Key};
use super::route::Route;
use super::view::{View, Wanted};
use crate::ids::{PeerNiId, RouteId};
use crate::ni::Ni;

/// The fields of a route's rank: the operator's settings come before health.
const FIELDS: &key::Fields =
    &[(47, Because::Policy), (39, Because::Hops), (29, Because::Health), (0, Because::Credits)];

/// Selects a route by user-defined and own priority, hops, the gateway's health, credits, turn;
/// then the local interface to the gateway.
pub(super) fn select_routed(view: &View<'_>, wanted: &Wanted<'_>) -> Result<Choice, NoPath> {
    let mut contest = Contest::EMPTY;
    let mut why_not = NoPath::NoRoute;
    for (index, route) in (0_u32..).zip(view.routes) {
        let Some(far) = route.far else { continue };
        let leads = view.hops(wanted).any(|(_, ni)| ni.net == far && view.usable_hop(ni, wanted));
        let Some(gateway) = view.named(route.gateway).filter(|_| leads) else { continue };
        if !route.alive || !view.usable(gateway) {
            why_not = NoPath::Unusable;
            continue;
        }
        match select_direct(view, &to_gateway(wanted, route.gateway)) {
            Ok(_) => contest.offer(route_key(view, route, gateway), index),
            Err(why) => why_not = why,
        }
    }
    let Some(index) = contest.winner() else { return Err(why_not) };
    let Some(route) = view.routes.get(index as usize) else { return Err(why_not) };
    let hop = select_direct(view, &to_gateway(wanted, route.gateway))?;
    let mut ends = Contest::EMPTY;
    for (index, ni) in view.hops(wanted) {
        if route.far == Some(ni.net) && view.usable_hop(ni, wanted) {
            ends.offer(Key::of(ni, view.turn), index);
        }
    }
    let Some(end) = ends.winner() else { return Err(why_not) };
    let Some(ni) = view.peer_ni(end) else { return Err(why_not) };
    let mut reasons = hop.reasons;
    reasons.hop = contest.because(FIELDS);
    Ok(Choice {
        destination: PeerNiId::of(end, ni.generation),
        route: Some(RouteId::of(index, route.generation)),
        reasons,
        ..hop
    })
}

fn to_gateway<'a>(wanted: &Wanted<'a>, gateway: PeerNiId) -> Wanted<'a> {
    Wanted { first: gateway, destination: Some(gateway), recovery: false, ..*wanted }
}

fn route_key(view: &View<'_>, route: &Route, gateway: &Ni) -> Key {
    let operator = u64::from(route.policy.saturating_add(route.priority)) << 47;
    let hops = u64::from(route.hops) << 39;
    let health = gateway.rank << 1 >> 54 << 29;
    let credits = gateway.rank & 0xffff;
    Key { rank: operator | hops | health | credits, turn: key::turn(route.turn, view.turn) }
}
