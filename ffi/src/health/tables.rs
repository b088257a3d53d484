// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Interfaces and peers, and their health.

use ::lnd_health::node::{Full, PeerSettings, Remove};
use ::lnd_health::{HealthValue, NiStatus};
use lnd_core::id::Nid;
use lnd_core::time::Instant;

use super::{lnd_health, names, Whole};
use crate::abi::{lnd_error, lnd_health_info, lnd_health_ni, lnd_health_peer};
use crate::errors::outcome;
use crate::input::{given, output, place, put};

impl From<Full> for lnd_error {
    fn from(full: Full) -> Self {
        match full {
            Full::Table | Full::PeerNis => Self::LND_E_PEERS_FULL,
            Full::Networks => Self::LND_E_NO_ROUTE,
            Full::Unknown => Self::LND_E_STALE,
            Full::Known => Self::LND_E_KNOWN,
        }
    }
}

impl From<Remove> for lnd_error {
    fn from(why: Remove) -> Self {
        match why {
            Remove::Unknown => Self::LND_E_STALE,
            Remove::Busy | Remove::Gateway => Self::LND_E_RUNNING,
        }
    }
}

pub(super) fn nid_of(nid: u64) -> Result<Nid, lnd_error> {
    Nid::from_raw(nid).ok_or(lnd_error::LND_E_ARGUMENT)
}

/// lnd_health_add_local() - Adds a local interface, at full health.
/// @health: the object.
/// @nid: its NID.
/// @local: where its name is written.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_KNOWN,
/// LND_E_ARGUMENT, LND_E_PEERS_FULL, LND_E_NO_ROUTE (too many networks).
#[no_mangle]
pub unsafe extern "C" fn lnd_health_add_local(
    health: *mut lnd_health,
    nid: u64,
    local: *mut lnd_health_ni,
) -> lnd_error {
    let add = |id, whole: &mut Whole| {
        place(local)?;
        let added = whole.health.add_local(nid_of(nid)?)?;
        given!(put(local, names::local(id, added)))
    };
    outcome(given!(lnd_health::with(health, add)))
}

/// lnd_health_remove_local() - Removes a local interface.
/// @health: the object.
/// @local: the interface.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE,
/// LND_E_WRONG_KIND (a peer's interface), LND_E_RUNNING (messages are under way).
#[no_mangle]
pub unsafe extern "C" fn lnd_health_remove_local(
    health: *mut lnd_health,
    local: lnd_health_ni,
) -> lnd_error {
    let remove = |id, whole: &mut Whole| {
        let local = whole.local(id, local)?;
        Ok(whole.health.remove_local(local)?)
    };
    outcome(given!(lnd_health::with(health, remove)))
}

/// lnd_health_add_peer() - Adds a peer, without interfaces.
/// @health: the object.
/// @router: 1 if it routes.
/// @suppresses: 1 if it recognises duplicates by their number.
/// @peer: where its name is written.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_PEERS_FULL.
#[no_mangle]
pub unsafe extern "C" fn lnd_health_add_peer(
    health: *mut lnd_health,
    router: u32,
    suppresses: u32,
    peer: *mut lnd_health_peer,
) -> lnd_error {
    let settings = PeerSettings { router: router != 0, suppresses: suppresses != 0, bound: None };
    let add = |id, whole: &mut Whole| {
        place(peer)?;
        let added = whole.health.add_peer(settings)?;
        given!(put(peer, names::peer(id, added)))
    };
    outcome(given!(lnd_health::with(health, add)))
}

/// lnd_health_add_peer_ni() - Adds an interface of a peer, at full health.
/// @health: the object.
/// @peer: the peer.
/// @nid: the interface's NID.
/// @peer_ni: where its name is written.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_KNOWN,
/// LND_E_ARGUMENT, LND_E_FOREIGN, LND_E_STALE (the peer was removed), LND_E_PEERS_FULL,
/// LND_E_NO_ROUTE (too many networks).
#[no_mangle]
pub unsafe extern "C" fn lnd_health_add_peer_ni(
    health: *mut lnd_health,
    peer: lnd_health_peer,
    nid: u64,
    peer_ni: *mut lnd_health_ni,
) -> lnd_error {
    let add = |id, whole: &mut Whole| {
        place(peer_ni)?;
        let peer = whole.peer(id, peer)?;
        let added = whole.health.add_peer_ni(peer, nid_of(nid)?)?;
        given!(put(peer_ni, names::peer_ni(id, added)))
    };
    outcome(given!(lnd_health::with(health, add)))
}

/// lnd_health_remove_peer() - Removes a peer with its interfaces.
/// @health: the object.
/// @peer: the peer.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE,
/// LND_E_RUNNING (messages are under way, or a route uses it as its gateway).
#[no_mangle]
pub unsafe extern "C" fn lnd_health_remove_peer(
    health: *mut lnd_health,
    peer: lnd_health_peer,
) -> lnd_error {
    let remove = |id, whole: &mut Whole| {
        let peer = whole.peer(id, peer)?;
        Ok(whole.health.remove_peer(peer)?)
    };
    outcome(given!(lnd_health::with(health, remove)))
}

/// lnd_health_get() - The health of an interface.
/// @health: the object.
/// @ni: the interface, local or a peer's.
/// @info: filled in; the caller sets its size.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN,
/// LND_E_STALE.
#[no_mangle]
pub unsafe extern "C" fn lnd_health_get(
    health: *const lnd_health,
    ni: lnd_health_ni,
    info: *mut lnd_health_info,
) -> lnd_error {
    let get = |id, whole: &mut Whole| {
        let info = given!(output(info))?;
        let object = whole.object(id, ni)?;
        let ni = whole.health.ni(object).ok_or(lnd_error::LND_E_STALE)?;
        *info = lnd_health_info {
            size: info.size,
            value: u32::from(ni.health().get()),
            nid: ni.nid().map_or(0, Nid::raw),
            heard: ni.aliveness().1.as_nanos(),
            in_flight: ni.in_flight(),
            up: u32::from(ni.status() == NiStatus::Up),
            fatal: u32::from(ni.is_fatal()),
            draining: u32::from(ni.is_draining()),
        };
        Ok(())
    };
    outcome(given!(lnd_health::with(health, get)))
}

/// lnd_health_set() - Sets an interface's health, for an operator.
/// @health: the object.
/// @ni: the interface, local or a peer's.
/// @value: 0 to 1000.
/// @now: the time.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_ARGUMENT, LND_E_FOREIGN,
/// LND_E_STALE.
#[no_mangle]
pub unsafe extern "C" fn lnd_health_set(
    health: *mut lnd_health,
    ni: lnd_health_ni,
    value: u32,
    now: u64,
) -> lnd_error {
    let set = |id, whole: &mut Whole| {
        let object = whole.object(id, ni)?;
        let value = u16::try_from(value).ok().filter(|v| *v <= ::lnd_health::MAX_HEALTH);
        let value = HealthValue::new(value.ok_or(lnd_error::LND_E_ARGUMENT)?);
        whole.health.set_health(Instant::from_nanos(now), object, value);
        Ok(())
    };
    outcome(given!(lnd_health::with(health, set)))
}

/// lnd_health_received() - Reports that a message came from a peer's interface.
/// @health: the object.
/// @peer_ni: the peer's interface.
/// @local: the local interface; all 0 if it is not known.
/// @now: the time.
///
/// The interface is then up.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE,
/// LND_E_WRONG_KIND.
#[no_mangle]
pub unsafe extern "C" fn lnd_health_received(
    health: *mut lnd_health,
    peer_ni: lnd_health_ni,
    local: lnd_health_ni,
    now: u64,
) -> lnd_error {
    let received = |id, whole: &mut Whole| {
        let from = whole.peer_ni(id, peer_ni)?;
        let over = match local {
            names::NO_NI => None,
            local => Some(whole.local(id, local)?),
        };
        whole.health.received(Instant::from_nanos(now), from, over);
        Ok(())
    };
    outcome(given!(lnd_health::with(health, received)))
}

/// lnd_health_fatal() - The fabric reports a fatal error of a local interface, or its end.
/// @health: the object.
/// @local: the interface.
/// @fatal: 1 or 0.
/// @now: the time.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE,
/// LND_E_WRONG_KIND.
#[no_mangle]
pub unsafe extern "C" fn lnd_health_fatal(
    health: *mut lnd_health,
    local: lnd_health_ni,
    fatal: u32,
    now: u64,
) -> lnd_error {
    let condemn = |id, whole: &mut Whole| {
        let local = whole.local(id, local)?;
        whole.health.fatal(Instant::from_nanos(now), local, fatal != 0);
        Ok(())
    };
    outcome(given!(lnd_health::with(health, condemn)))
}
