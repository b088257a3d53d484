// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Routes: networks that are reached through a gateway.

use super::{lnd_health, names, Whole};
use crate::abi::{lnd_error, lnd_health_ni, lnd_health_route};
use crate::errors::outcome;
use crate::input::{given, place, put};

/// lnd_health_add_route() - Adds a route: a network that is reached through a gateway.
/// @health: the object.
/// @network: the far network's number, the upper half of the NIDs on it.
/// @gateway: the gateway's interface on one of this node's networks: the next hop.
/// @route: where its name is written.
///
/// The route is alive, has one hop and the best priority until lnd_health_set_route() changes that.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE,
/// LND_E_WRONG_KIND (a local interface), LND_E_PEERS_FULL, LND_E_NO_ROUTE (too many networks).
#[no_mangle]
pub unsafe extern "C" fn lnd_health_add_route(
    health: *mut lnd_health,
    network: u32,
    gateway: lnd_health_ni,
    route: *mut lnd_health_route,
) -> lnd_error {
    let add = |id, whole: &mut Whole| {
        place(route)?;
        let gateway = whole.peer_ni(id, gateway)?;
        let added = whole.health.add_route(network, gateway)?;
        given!(put(route, names::route(id, added)))
    };
    outcome(given!(lnd_health::with(health, add)))
}

/// lnd_health_set_route() - Sets the state of a route.
/// @health: the object.
/// @route: the route.
/// @priority: 0 to 65,535; 0 is the best.
/// @hops: gateways on the path, 0 to 255.
/// @alive: 1 if the gateway is up and its interfaces on both sides are up.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_ARGUMENT, LND_E_FOREIGN,
/// LND_E_STALE.
#[no_mangle]
pub unsafe extern "C" fn lnd_health_set_route(
    health: *mut lnd_health,
    route: lnd_health_route,
    priority: u32,
    hops: u32,
    alive: u32,
) -> lnd_error {
    let set = |id, whole: &mut Whole| {
        let priority = u16::try_from(priority).map_err(|_| lnd_error::LND_E_ARGUMENT)?;
        let hops = u8::try_from(hops).map_err(|_| lnd_error::LND_E_ARGUMENT)?;
        let named = whole.route(id, route)?;
        let route = whole.health.route_mut(named).ok_or(lnd_error::LND_E_STALE)?;
        (route.priority, route.hops, route.alive) = (priority, hops, alive != 0);
        Ok(())
    };
    outcome(given!(lnd_health::with(health, set)))
}

/// lnd_health_remove_route() - Removes a route.
/// @health: the object.
/// @route: the route.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE.
#[no_mangle]
pub unsafe extern "C" fn lnd_health_remove_route(
    health: *mut lnd_health,
    route: lnd_health_route,
) -> lnd_error {
    let remove = |id, whole: &mut Whole| {
        let named = whole.route(id, route)?;
        Ok(whole.health.remove_route(named)?)
    };
    outcome(given!(lnd_health::with(health, remove)))
}
