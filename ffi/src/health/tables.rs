// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Interfaces and peers, and how they stand.

use ::lnd_health::node::{Full, PeerSettings, Remove};
use ::lnd_health::{Health, HealthValue, NiId, NiStatus, Object, PeerId, PeerNiId};
use lnd_core::id::Nid;
use lnd_core::time::Instant;

use super::lnd_health;
use crate::abi::{lnd_error, lnd_health_info, lnd_object};
use crate::errors::outcome;
use crate::input::{output, place, put};

impl From<Full> for lnd_error {
    fn from(full: Full) -> Self {
        match full {
            Full::Table | Full::PeerNis => Self::LND_E_PEERS_FULL,
            Full::Networks => Self::LND_E_NO_ROUTE,
            Full::Unknown => Self::LND_E_NO_PEER,
            Full::Known => Self::LND_E_BUSY,
        }
    }
}

impl From<Remove> for lnd_error {
    fn from(why: Remove) -> Self {
        match why {
            Remove::Unknown => Self::LND_E_NO_PEER,
            Remove::Busy | Remove::Gateway => Self::LND_E_RUNNING,
        }
    }
}

fn nid_of(nid: u64) -> Result<Nid, lnd_error> {
    Nid::from_raw(nid).ok_or(lnd_error::LND_E_ARGUMENT)
}

/// The interface of ours that has a number now. One that has none is named and not known.
pub(super) fn local_of(health: &Health<'_>, local: u32) -> Result<NiId, lnd_error> {
    let named = NiId::new(local as usize).ok_or(lnd_error::LND_E_ARGUMENT)?;
    Ok(health.local_at(local as usize).unwrap_or(named))
}

/// The peer that has a number now.
pub(super) fn peer_of(health: &Health<'_>, peer: u32) -> PeerId {
    health.peer_at(peer).unwrap_or(PeerId::new(peer))
}

/// The peer's interface that has a number now.
pub(super) fn peer_ni_of(health: &Health<'_>, ni: u32) -> PeerNiId {
    health.peer_ni_at(ni).map_or(PeerNiId::new(ni), |(id, _)| id)
}

/// lnd_health_add_local() - Takes up an interface of ours, in full health.
/// @health: the object.
/// @nid: its NID.
/// @local: where its number is written.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY (also: known already),
/// LND_E_ARGUMENT, LND_E_PEERS_FULL, LND_E_NO_ROUTE (too many networks).
#[no_mangle]
pub unsafe extern "C" fn lnd_health_add_local(
    health: *mut lnd_health,
    nid: u64,
    local: *mut u32,
) -> lnd_error {
    let add = |_, whole: &mut super::Whole| {
        place(local)?;
        let id = whole.health.add_local(nid_of(nid)?)?;
        // SAFETY: checked above; writable by the contract of the ABI.
        unsafe { put(local, id.index() as u32) }
    };
    // SAFETY: by the contract of the ABI.
    outcome(unsafe { lnd_health::with(health, add) })
}

/// lnd_health_remove_local() - Forgets an interface of ours.
/// @health: the object.
/// @local: the interface.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_ARGUMENT, LND_E_NO_PEER (no
/// such interface), LND_E_RUNNING (messages are on their way).
#[no_mangle]
pub unsafe extern "C" fn lnd_health_remove_local(health: *mut lnd_health, local: u32) -> lnd_error {
    let remove = |_, whole: &mut super::Whole| {
        let local = local_of(&whole.health, local)?;
        Ok(whole.health.remove_local(local)?)
    };
    // SAFETY: by the contract of the ABI.
    outcome(unsafe { lnd_health::with(health, remove) })
}

/// lnd_health_add_peer() - Takes up a peer, without interfaces yet.
/// @health: the object.
/// @router: 1 if it routes.
/// @suppresses: 1 if it recognises second copies by number.
/// @peer: where its number is written.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_PEERS_FULL.
#[no_mangle]
pub unsafe extern "C" fn lnd_health_add_peer(
    health: *mut lnd_health,
    router: u32,
    suppresses: u32,
    peer: *mut u32,
) -> lnd_error {
    let settings = PeerSettings { router: router != 0, suppresses: suppresses != 0, bound: None };
    let add = |_, whole: &mut super::Whole| {
        place(peer)?;
        let id = whole.health.add_peer(settings)?;
        // SAFETY: checked above; writable by the contract of the ABI.
        unsafe { put(peer, id.raw()) }
    };
    // SAFETY: by the contract of the ABI.
    outcome(unsafe { lnd_health::with(health, add) })
}

/// lnd_health_add_peer_ni() - Takes up an interface of a peer, in full health.
/// @health: the object.
/// @peer: the peer.
/// @nid: the interface's NID.
/// @peer_ni: where its number is written.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY (also: known already),
/// LND_E_ARGUMENT, LND_E_NO_PEER, LND_E_PEERS_FULL, LND_E_NO_ROUTE (too many networks).
#[no_mangle]
pub unsafe extern "C" fn lnd_health_add_peer_ni(
    health: *mut lnd_health,
    peer: u32,
    nid: u64,
    peer_ni: *mut u32,
) -> lnd_error {
    let add = |_, whole: &mut super::Whole| {
        place(peer_ni)?;
        let id = whole.health.add_peer_ni(peer_of(&whole.health, peer), nid_of(nid)?)?;
        // SAFETY: checked above; writable by the contract of the ABI.
        unsafe { put(peer_ni, id.raw()) }
    };
    // SAFETY: by the contract of the ABI.
    outcome(unsafe { lnd_health::with(health, add) })
}

/// lnd_health_remove_peer() - Forgets a peer with its interfaces.
/// @health: the object.
/// @peer: the peer.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_NO_PEER, LND_E_RUNNING
/// (messages are on their way, or a route leads through it).
#[no_mangle]
pub unsafe extern "C" fn lnd_health_remove_peer(health: *mut lnd_health, peer: u32) -> lnd_error {
    let remove = |_, whole: &mut super::Whole| {
        let peer = peer_of(&whole.health, peer);
        Ok(whole.health.remove_peer(peer)?)
    };
    // SAFETY: by the contract of the ABI.
    outcome(unsafe { lnd_health::with(health, remove) })
}

pub(super) fn object_of(health: &Health<'_>, object: u32, index: u32) -> Result<Object, lnd_error> {
    match object {
        o if o == lnd_object::LND_OBJECT_LOCAL as u32 => {
            Ok(Object::Local(local_of(health, index)?))
        }
        o if o == lnd_object::LND_OBJECT_PEER_NI as u32 => {
            Ok(Object::Peer(peer_ni_of(health, index)))
        }
        _ => Err(lnd_error::LND_E_ARGUMENT),
    }
}

/// lnd_health_get() - How an interface stands.
/// @health: the object.
/// @object: enum lnd_object.
/// @index: the interface's number.
/// @info: filled in; its size is set.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_BUSY, LND_E_ARGUMENT,
/// LND_E_NO_PEER (no such interface).
#[no_mangle]
pub unsafe extern "C" fn lnd_health_get(
    health: *const lnd_health,
    object: u32,
    index: u32,
    info: *mut lnd_health_info,
) -> lnd_error {
    let get = |_, whole: &mut super::Whole| {
        // SAFETY: by the contract of the ABI.
        let info = unsafe { output(info)? };
        let ni = whole
            .health
            .ni(object_of(&whole.health, object, index)?)
            .ok_or(lnd_error::LND_E_NO_PEER)?;
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
    // SAFETY: by the contract of the ABI.
    outcome(unsafe { lnd_health::with(health, get) })
}

/// lnd_health_set() - Sets an interface's health, as an operator may.
/// @health: the object.
/// @object: enum lnd_object.
/// @index: the interface's number.
/// @value: 0 to 1000.
/// @now: the time.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_ARGUMENT, LND_E_NO_PEER (no
/// such interface).
#[no_mangle]
pub unsafe extern "C" fn lnd_health_set(
    health: *mut lnd_health,
    object: u32,
    index: u32,
    value: u32,
    now: u64,
) -> lnd_error {
    let set = |_, whole: &mut super::Whole| {
        let object = object_of(&whole.health, object, index)?;
        let value = u16::try_from(value).ok().filter(|v| *v <= ::lnd_health::MAX_HEALTH);
        let value = HealthValue::new(value.ok_or(lnd_error::LND_E_ARGUMENT)?);
        whole.health.ni(object).ok_or(lnd_error::LND_E_NO_PEER)?;
        whole.health.set_health(Instant::from_nanos(now), object, value);
        Ok(())
    };
    // SAFETY: by the contract of the ABI.
    outcome(unsafe { lnd_health::with(health, set) })
}

/// lnd_health_received() - Something came from a peer's interface: it lives.
/// @health: the object.
/// @peer_ni: the peer's interface.
/// @local: ours.
/// @now: the time.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_ARGUMENT.
#[no_mangle]
pub unsafe extern "C" fn lnd_health_received(
    health: *mut lnd_health,
    peer_ni: u32,
    local: u32,
    now: u64,
) -> lnd_error {
    let received = |_, whole: &mut super::Whole| {
        let local = local_of(&whole.health, local)?;
        let from = peer_ni_of(&whole.health, peer_ni);
        whole.health.received(Instant::from_nanos(now), from, Some(local));
        Ok(())
    };
    // SAFETY: by the contract of the ABI.
    outcome(unsafe { lnd_health::with(health, received) })
}

/// lnd_health_fatal() - The fabric condemns an interface of ours, or no longer does.
/// @health: the object.
/// @local: the interface.
/// @fatal: 1 or 0.
/// @now: the time.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_ARGUMENT.
#[no_mangle]
pub unsafe extern "C" fn lnd_health_fatal(
    health: *mut lnd_health,
    local: u32,
    fatal: u32,
    now: u64,
) -> lnd_error {
    let condemn = |_, whole: &mut super::Whole| {
        let local = local_of(&whole.health, local)?;
        whole.health.fatal(Instant::from_nanos(now), local, fatal != 0);
        Ok(())
    };
    // SAFETY: by the contract of the ABI.
    outcome(unsafe { lnd_health::with(health, condemn) })
}
