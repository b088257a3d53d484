// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The liveness prober: which interfaces it watches, how, and its results.

use ::lnd_health::node::Action;
use ::lnd_health::prober::{Finding, ProbeEnd};
use ::lnd_health::{ProbeKind, ProbeKinds};
use lnd_core::time::Instant;

use super::{lnd_health, Whole};
use crate::abi::{
    lnd_action, lnd_action_kind, lnd_error, lnd_finding, lnd_health_ni, lnd_probe_end,
    lnd_probe_kind,
};
use crate::errors::outcome;
use crate::input::{given, input, place, place_if, put, put_if};

/// lnd_prober_offer() - Sets the kinds of probe that the transport offers.
/// @health: the object.
/// @kinds: a bit for each enum lnd_probe_kind.
///
/// The illegal read stays off until lnd_prober_tried().
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_ARGUMENT.
#[no_mangle]
pub unsafe extern "C" fn lnd_prober_offer(health: *mut lnd_health, kinds: u32) -> lnd_error {
    let offer = |_, whole: &mut Whole| {
        if kinds >> 4 != 0 {
            return Err(lnd_error::LND_E_ARGUMENT);
        }
        let has = |kind: lnd_probe_kind| kinds & (1 << kind as u32) != 0;
        *whole.health.probe_kinds() = ProbeKinds::offered(
            has(lnd_probe_kind::LND_PROBE_ZERO_READ),
            has(lnd_probe_kind::LND_PROBE_ILLEGAL_READ),
            has(lnd_probe_kind::LND_PROBE_PUBLISHED_WORD),
            has(lnd_probe_kind::LND_PROBE_NOOP),
        );
        Ok(())
    };
    outcome(given!(lnd_health::with(health, offer)))
}

/// lnd_prober_tried() - Reports a successful trial of the illegal read.
/// @health: the object.
///
/// The trial ran over an endpoint made for it. It ended with an access error and left both ends
/// usable.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY.
#[no_mangle]
pub unsafe extern "C" fn lnd_prober_tried(health: *mut lnd_health) -> lnd_error {
    let tried = |_, whole: &mut Whole| {
        whole.health.probe_kinds().tried(Ok(()));
        Ok(())
    };
    outcome(given!(lnd_health::with(health, tried)))
}

/// lnd_prober_watch() - Probes a peer's interface from now on, when it is idle.
/// @health: the object.
/// @peer_ni: the interface.
/// @one_way: 1 if this node only receives from it.
/// @now: the time.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE,
/// LND_E_WRONG_KIND (a local interface).
#[no_mangle]
pub unsafe extern "C" fn lnd_prober_watch(
    health: *mut lnd_health,
    peer_ni: lnd_health_ni,
    one_way: u32,
    now: u64,
) -> lnd_error {
    let watch = |id, whole: &mut Whole| {
        let ni = whole.peer_ni(id, peer_ni)?;
        whole.health.watch(Instant::from_nanos(now), ni, one_way != 0);
        Ok(())
    };
    outcome(given!(lnd_health::with(health, watch)))
}

/// lnd_prober_unwatch() - Stops probing a peer's interface.
/// @health: the object.
/// @peer_ni: the interface.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE,
/// LND_E_WRONG_KIND (a local interface).
#[no_mangle]
pub unsafe extern "C" fn lnd_prober_unwatch(
    health: *mut lnd_health,
    peer_ni: lnd_health_ni,
) -> lnd_error {
    let unwatch = |id, whole: &mut Whole| {
        let ni = whole.peer_ni(id, peer_ni)?;
        whole.health.unwatch(ni);
        Ok(())
    };
    outcome(given!(lnd_health::with(health, unwatch)))
}

/// lnd_prober_turn_on() - Turns on the NOOP, which is offered and off by default.
/// @health: the object.
/// @kind: enum lnd_probe_kind.
///
/// The NOOP needs the peer's cooperation and one of its receive buffers.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_ARGUMENT, LND_E_UNSUPPORTED
/// (it is not offered, or was not tried).
#[no_mangle]
pub unsafe extern "C" fn lnd_prober_turn_on(health: *mut lnd_health, kind: u32) -> lnd_error {
    let turn_on = |_, whole: &mut Whole| {
        let kind = ProbeKind::ALL.get(kind as usize).ok_or(lnd_error::LND_E_ARGUMENT)?;
        let on = whole.health.probe_kinds().turn_on(*kind);
        on.then_some(()).ok_or(lnd_error::LND_E_UNSUPPORTED)
    };
    outcome(given!(lnd_health::with(health, turn_on)))
}

/// lnd_prober_user() - Counts the users of a peer's interface on this node.
/// @health: the object.
/// @peer_ni: the interface.
/// @enters: 1: one more; 0: one less.
/// @users: where their number is written; may be NULL. After LND_FINDING_CLEAN_UP this many must be
///         notified.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_WRONG_KIND,
/// LND_E_STALE.
#[no_mangle]
pub unsafe extern "C" fn lnd_prober_user(
    health: *mut lnd_health,
    peer_ni: lnd_health_ni,
    enters: u32,
    users: *mut u32,
) -> lnd_error {
    let user = |id, whole: &mut Whole| {
        place_if(users)?;
        let ni = whole.peer_ni(id, peer_ni)?;
        match enters {
            0 => whole.health.remove_user(ni),
            _ => whole.health.add_user(ni),
        }
        given!(put_if(users, whole.health.users(ni)))
    };
    outcome(given!(lnd_health::with(health, user)))
}

/// lnd_prober_state() - Reports the state of a peer's interface to the prober.
/// @health: the object.
/// @peer_ni: the interface.
/// @active: 1: its traffic shows that it is up.
/// @published: 1: its peer has published a word for probing.
/// @urgent: 1: work waits for the result, probe it first.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE,
/// LND_E_WRONG_KIND (a local interface).
#[no_mangle]
pub unsafe extern "C" fn lnd_prober_state(
    health: *mut lnd_health,
    peer_ni: lnd_health_ni,
    active: u32,
    published: u32,
    urgent: u32,
) -> lnd_error {
    let state = |id, whole: &mut Whole| {
        let ni = whole.peer_ni(id, peer_ni)?;
        whole.health.published(ni, published != 0);
        if active != 0 {
            whole.health.active(ni);
        }
        if urgent != 0 {
            whole.health.urge(ni);
        }
        Ok(())
    };
    outcome(given!(lnd_health::with(health, state)))
}

/// lnd_prober_migrating() - Reports that a peer's interface moves to another path, or has moved.
/// @health: the object.
/// @peer_ni: the interface.
/// @migrating: 1: the move has begun, and the interface is not probed during it; 0: the move is
///             over.
///
/// Earlier dead results no longer count.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE,
/// LND_E_WRONG_KIND (a local interface).
#[no_mangle]
pub unsafe extern "C" fn lnd_prober_migrating(
    health: *mut lnd_health,
    peer_ni: lnd_health_ni,
    migrating: u32,
) -> lnd_error {
    let moved = |id, whole: &mut Whole| {
        let ni = whole.peer_ni(id, peer_ni)?;
        whole.health.migrating(ni, migrating != 0);
        Ok(())
    };
    outcome(given!(lnd_health::with(health, moved)))
}

/// lnd_prober_ended() - Reports the end of a probe.
/// @health: the object.
/// @action: the probe.
/// @end: enum lnd_probe_end.
/// @now: the time.
/// @finding: where enum lnd_finding is written.
///
/// Context: the owner's.
/// Return: as lnd_health_answered().
#[no_mangle]
pub unsafe extern "C" fn lnd_prober_ended(
    health: *mut lnd_health,
    action: *const lnd_action,
    end: u32,
    now: u64,
    finding: *mut u32,
) -> lnd_error {
    let ended = |id, whole: &mut Whole| {
        place(finding)?;
        let end = match end {
            e if e == lnd_probe_end::LND_PROBE_SUCCESS as u32 => ProbeEnd::Success,
            e if e == lnd_probe_end::LND_PROBE_ACCESS_ERROR as u32 => ProbeEnd::AccessError,
            e if e == lnd_probe_end::LND_PROBE_RETRY_EXCEEDED as u32 => ProbeEnd::RetryExceeded,
            e if e == lnd_probe_end::LND_PROBE_OTHER as u32 => ProbeEnd::Other,
            _ => return Err(lnd_error::LND_E_ARGUMENT),
        };
        let named = given!(input(action))?;
        let kind = lnd_action_kind::LND_ACTION_PROBE;
        let Action::Probe(probe) = whole.action(id, named, kind)? else { return Ok(()) };
        let found = match whole.health.probed(Instant::from_nanos(now), probe, end) {
            Finding::Nothing => lnd_finding::LND_FINDING_NOTHING,
            Finding::Alive => lnd_finding::LND_FINDING_ALIVE,
            Finding::Down => lnd_finding::LND_FINDING_DOWN,
            Finding::CleanUp => lnd_finding::LND_FINDING_CLEAN_UP,
        };
        given!(put(finding, found as u32))
    };
    outcome(given!(lnd_health::with(health, ended)))
}
