// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The actions that health starts itself: pings, probes, connections, within one budget.

use core::mem::size_of;

use ::lnd_health::node::Action;
use ::lnd_health::reconnect::{Connected, Connectivity};
use ::lnd_health::PeerNiId;
use lnd_core::id::Nid;
use lnd_core::time::Instant;

use super::messages::class_of;
use super::{lnd_health, names, Whole};
use crate::abi::{
    lnd_action, lnd_action_kind, lnd_connected, lnd_connection, lnd_error, lnd_health_ni,
};
use crate::errors::outcome;
use crate::input::{given, input, output, place, place_if, put, put_if};

fn to_c(id: u32, action: &Action) -> lnd_action {
    let blank = lnd_action {
        size: size_of::<lnd_action>() as u32,
        kind: 0,
        index: 0,
        generation: 0,
        owner: id,
        probe: 0,
        target: names::NO_NI,
        local: names::NO_NI,
        nid: 0,
    };
    let of_ni = |kind: lnd_action_kind, target: PeerNiId, nid: Nid| lnd_action {
        kind: kind as u32,
        target: names::peer_ni(id, target),
        nid: nid.raw(),
        ..blank
    };
    match action {
        Action::Ping(ping) => lnd_action {
            kind: lnd_action_kind::LND_ACTION_PING as u32,
            target: names::object(id, ping.object),
            local: ping.via().map_or(names::NO_NI, |local| names::local(id, local)),
            nid: ping.nid.raw(),
            ..blank
        },
        Action::Probe(it) => lnd_action {
            probe: it.kind as u32,
            ..of_ni(lnd_action_kind::LND_ACTION_PROBE, it.peer_ni, it.nid)
        },
        Action::Connect(it) => of_ni(lnd_action_kind::LND_ACTION_CONNECT, it.peer_ni, it.nid),
    }
}

/// lnd_health_next_action() - The next action that is due.
/// @health: the object.
/// @now: the time.
/// @action: filled in; the caller sets its size.
///
/// The end of every action must be reported by the call that its kind names. The action takes a
/// place until then. After @action_bound it has failed, is counted ("untold"), and its handle is
/// stale.
///
/// Context: the owner's. Bounded work.
/// Return: LND_OK, LND_E_END (no action is due, or the budget is spent), LND_E_NO_SLOTS (too many
/// are under way), LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_BUSY.
#[no_mangle]
pub unsafe extern "C" fn lnd_health_next_action(
    health: *mut lnd_health,
    now: u64,
    action: *mut lnd_action,
) -> lnd_error {
    let next = |id, whole: &mut Whole| {
        let action = given!(output(action))?;
        let now = Instant::from_nanos(now);
        // Actions past their bound free their places. Health itself ends them.
        let bound = whole.health.config().reconnect.bound;
        for _ in 0..EXPIRIES {
            if !whole.actions.expire(now, bound) {
                break;
            }
        }
        if whole.actions.is_full() {
            return Err(lnd_error::LND_E_NO_SLOTS);
        }
        let due = whole.health.next_action(now);
        let due = due.ok_or(lnd_error::LND_E_END)?;
        let notified = to_c(id, &due);
        let kept = whole.actions.keep(now, due);
        let (index, generation) = kept.map_err(|_| lnd_error::LND_E_NO_SLOTS)?;
        *action = lnd_action { index, generation, ..notified };
        Ok(())
    };
    outcome(given!(lnd_health::with(health, next)))
}

/// lnd_health_next_time() - When lnd_health_next_action() next has an action.
/// @health: the object.
/// @next: where the time is written; LND_NEVER: not before another call.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY.
#[no_mangle]
pub unsafe extern "C" fn lnd_health_next_time(
    health: *const lnd_health,
    next: *mut u64,
) -> lnd_error {
    let time = |_, whole: &mut Whole| given!(put(next, whole.next_action_at().as_nanos()));
    outcome(given!(lnd_health::with(health, time)))
}

/// Most places that one call frees.
const EXPIRIES: u32 = 8;

impl Whole {
    /// When the next action is due; while all places are taken, not before the oldest is overdue.
    fn next_action_at(&self) -> Instant {
        let next = self.health.next_deadline();
        match self.actions.oldest() {
            Some(since) if self.actions.is_full() && next != Instant::NEVER => {
                next.max(since.after(self.health.config().reconnect.bound))
            }
            _ => next,
        }
    }

    /// The action that a caller names, if the call is for its kind.
    pub(super) fn action(
        &mut self,
        id: u32,
        named: &lnd_action,
        kind: lnd_action_kind,
    ) -> Result<Action, lnd_error> {
        if named.owner != id {
            return Err(lnd_error::LND_E_FOREIGN);
        }
        if named.kind != kind as u32 {
            return Err(lnd_error::LND_E_WRONG_KIND);
        }
        let found = self.actions.get(named.index, named.generation);
        let right = matches!(
            (found.as_deref(), kind),
            (Some(Action::Ping(_)), lnd_action_kind::LND_ACTION_PING)
                | (Some(Action::Probe(_)), lnd_action_kind::LND_ACTION_PROBE)
                | (Some(Action::Connect(_)), lnd_action_kind::LND_ACTION_CONNECT)
        );
        let taken = right.then(|| self.actions.take(named.index, named.generation));
        taken.flatten().ok_or(lnd_error::LND_E_STALE)
    }
}

/// lnd_health_answered() - Reports the end of a ping.
/// @health: the object.
/// @action: the ping.
/// @health_class: enum lnd_health_class of its end; LND_HEALTH_OK: it was answered.
/// @now: the time.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN,
/// LND_E_STALE, LND_E_WRONG_KIND, LND_E_ARGUMENT.
#[no_mangle]
pub unsafe extern "C" fn lnd_health_answered(
    health: *mut lnd_health,
    action: *const lnd_action,
    health_class: u32,
    now: u64,
) -> lnd_error {
    let answered = |id, whole: &mut Whole| {
        let class = class_of(health_class)?;
        let named = given!(input(action))?;
        if let Action::Ping(ping) = whole.action(id, named, lnd_action_kind::LND_ACTION_PING)? {
            whole.health.answered(Instant::from_nanos(now), ping, class);
        }
        Ok(())
    };
    outcome(given!(lnd_health::with(health, answered)))
}

/// lnd_health_connected() - Reports the end of an attempt to connect.
/// @health: the object.
/// @action: the attempt.
/// @how: enum lnd_connected.
/// @now: the time.
///
/// Context: the owner's.
/// Return: as lnd_health_answered().
#[no_mangle]
pub unsafe extern "C" fn lnd_health_connected(
    health: *mut lnd_health,
    action: *const lnd_action,
    how: u32,
    now: u64,
) -> lnd_error {
    let connected = |id, whole: &mut Whole| {
        let how = match how {
            h if h == lnd_connected::LND_CONNECTED as u32 => Connected::Yes,
            h if h == lnd_connected::LND_CONNECT_FAILED as u32 => Connected::No,
            h if h == lnd_connected::LND_CONNECT_REFUSED as u32 => Connected::NobodyListens,
            _ => return Err(lnd_error::LND_E_ARGUMENT),
        };
        let named = given!(input(action))?;
        let kind = lnd_action_kind::LND_ACTION_CONNECT;
        if let Action::Connect(attempt) = whole.action(id, named, kind)? {
            whole.health.connected(Instant::from_nanos(now), attempt, how);
        }
        Ok(())
    };
    outcome(given!(lnd_health::with(health, connected)))
}

/// lnd_health_connection_lost() - The connection to a peer's interface is lost: connect again.
/// @health: the object.
/// @peer_ni: the interface.
/// @now: the time.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE,
/// LND_E_WRONG_KIND (a local interface).
#[no_mangle]
pub unsafe extern "C" fn lnd_health_connection_lost(
    health: *mut lnd_health,
    peer_ni: lnd_health_ni,
    now: u64,
) -> lnd_error {
    let lost = |id, whole: &mut Whole| {
        let lost = whole.peer_ni(id, peer_ni)?;
        whole.health.connection_lost(Instant::from_nanos(now), lost);
        Ok(())
    };
    outcome(given!(lnd_health::with(health, lost)))
}

/// lnd_health_connection_settled() - A peer's interface is connected, or needs no connection.
/// @health: the object.
/// @peer_ni: the interface.
///
/// An attempt under way is over, and its handle is stale.
///
/// Context: the owner's.
/// Return: as lnd_health_connection_lost().
#[no_mangle]
pub unsafe extern "C" fn lnd_health_connection_settled(
    health: *mut lnd_health,
    peer_ni: lnd_health_ni,
) -> lnd_error {
    let settled = |id, whole: &mut Whole| {
        let settled = whole.peer_ni(id, peer_ni)?;
        whole.health.connection_settled(settled);
        Ok(())
    };
    outcome(given!(lnd_health::with(health, settled)))
}

/// lnd_health_connection_get() - The state of the connection to a peer's interface.
/// @health: the object.
/// @peer_ni: the interface.
/// @state: where enum lnd_connection is written.
/// @until: where the time is written until which messages are refused, else 0; may be NULL.
///
/// Context: the owner's.
/// Return: as lnd_health_connection_lost().
#[no_mangle]
pub unsafe extern "C" fn lnd_health_connection_get(
    health: *const lnd_health,
    peer_ni: lnd_health_ni,
    state: *mut u32,
    until: *mut u64,
) -> lnd_error {
    let get = |id, whole: &mut Whole| {
        place(state)?;
        place_if(until)?;
        let ni = whole.peer_ni(id, peer_ni)?;
        let (is, time) = match whole.health.connection(ni) {
            Connectivity::Up => (lnd_connection::LND_CONNECTION_UP, 0),
            Connectivity::Trying => (lnd_connection::LND_CONNECTION_TRYING, 0),
            Connectivity::Refused(until) => {
                (lnd_connection::LND_CONNECTION_REFUSED, until.as_nanos())
            }
        };
        given!(put(state, is as u32))?;
        given!(put_if(until, time))
    };
    outcome(given!(lnd_health::with(health, get)))
}

/// lnd_health_shutdown() - Ends pings, probes, connections and resends.
/// @health: the object.
/// @remaining: where the number of messages under way is written; may be NULL. Call until it is 0.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY.
#[no_mangle]
pub unsafe extern "C" fn lnd_health_shutdown(
    health: *mut lnd_health,
    remaining: *mut u32,
) -> lnd_error {
    let shutdown = |_, whole: &mut Whole| {
        place_if(remaining)?;
        whole.health.shut_down();
        given!(put_if(remaining, whole.health.remaining()))
    };
    outcome(given!(lnd_health::with(health, shutdown)))
}
