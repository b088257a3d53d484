// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Routes: a gateway's interface on one of our networks, through which another can be reached.

use super::key::{self, Contest, Key};
use super::{select_direct, Because, Choice, NoPath, View, Wanted};
use crate::ids::{PeerNiId, RouteId, Use};

/// One route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Route {
    /// Slot of the network that it leads to; `None` in an unused entry.
    pub(crate) far: Option<u8>,
    /// The gateway's interface: the next hop.
    pub gateway: PeerNiId,
    /// The route's own priority, 0 the best.
    pub priority: u16,
    /// Gateways on the way.
    pub hops: u8,
    /// The gateway is alive and its interface status is up on the near network and, with one hop,
    /// on the far one. Not a matter of health values (LU-18444).
    pub alive: bool,
    /// Stamp of its last use.
    pub(crate) turn: u32,
    /// Which use of the entry this is: names of earlier ones name nothing (R14).
    pub(crate) generation: Use,
}

impl Route {
    /// An unused entry.
    pub const UNUSED: Self = Self {
        far: None,
        gateway: PeerNiId::new(u32::MAX),
        priority: 0,
        hops: 1,
        alive: true,
        turn: 0,
        generation: Use::FIRST,
    };
}

/// The fields of a route's rank: what the operator says comes before health.
const FIELDS: &key::Fields =
    &[(47, Because::Policy), (39, Because::Hops), (29, Because::Health), (0, Because::Credits)];

/// Chooses a route: user-defined and own priority, hops, the gateway's health, credits, turn; then
/// our interface to the gateway.
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

fn route_key(view: &View<'_>, route: &Route, gateway: &crate::ni::Ni) -> Key {
    let operator = u64::from(route.priority) << 47;
    let hops = u64::from(route.hops) << 39;
    let health = gateway.rank << 1 >> 54 << 29;
    let credits = gateway.rank & 0xffff;
    Key { rank: operator | hops | health | credits, turn: key::turn(route.turn, view.turn) }
}
