// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Waiting for a message's answer, end to end (R54).

use ::lnd_health::attempts::Path;
use ::lnd_health::tracker::Tracker;
use lnd_core::time::{Instant, Span};

use super::{lnd_health, Whole};
use crate::abi::{lnd_error, lnd_path, lnd_tracker, lnd_tracker_state};
use crate::errors::outcome;
use crate::input::{input, output};

const OFF: u32 = lnd_tracker_state::LND_TRACKER_OFF as u32;
const WAITING: u32 = lnd_tracker_state::LND_TRACKER_WAITING as u32;
const ENDED: u32 = lnd_tracker_state::LND_TRACKER_ENDED as u32;

/// lnd_tracker_sent() - A message that wants an answer goes out: the wait begins with its first try.
/// @tracker: the wait; @size is set, the rest 0 before the first try.
/// @path: of this try.
/// @now: the time.
/// @timeout: ns within which the answer is due, from the first try.
///
/// A later try changes the path, and not the time.
///
/// Context: any; the tracker is the caller's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_STALE (the wait is over), LND_E_ARGUMENT (no
/// state of a tracker).
#[no_mangle]
pub unsafe extern "C" fn lnd_tracker_sent(
    tracker: *mut lnd_tracker,
    path: *const lnd_path,
    now: u64,
    timeout: u64,
) -> lnd_error {
    let sent = || {
        // SAFETY: by the contract of the ABI.
        let tracker = unsafe { output(tracker)? };
        // SAFETY: by the contract of the ABI.
        let path = unsafe { input(path)? };
        match tracker.state {
            OFF => {
                let due = Instant::from_nanos(now).after(Span::from_nanos(timeout));
                (tracker.state, tracker.deadline) = (WAITING, due.as_nanos());
            }
            WAITING => {}
            ENDED => return Err(lnd_error::LND_E_STALE),
            _ => return Err(lnd_error::LND_E_ARGUMENT),
        }
        (tracker.local, tracker.hop) = (path.local, path.hop);
        Ok(())
    };
    outcome(sent())
}

/// lnd_tracker_end() - The wait is over: the answer came, the message could not be sent, or nothing waits any
/// longer.
/// @tracker: the wait.
///
/// The first end is the end: a late answer finds LND_E_STALE, and is to be counted and dropped.
///
/// Context: any; the tracker is the caller's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_STALE (nothing is waited for).
#[no_mangle]
pub unsafe extern "C" fn lnd_tracker_end(tracker: *mut lnd_tracker) -> lnd_error {
    let end = || {
        // SAFETY: by the contract of the ABI.
        let tracker = unsafe { output(tracker)? };
        if tracker.state != WAITING {
            return Err(lnd_error::LND_E_STALE);
        }
        tracker.state = ENDED;
        Ok(())
    };
    outcome(end())
}

/// lnd_tracker_expire() - Ends the wait if the answer is overdue.
/// @health: the object that @path of lnd_tracker_sent() came from.
/// @tracker: the wait.
/// @cookie: the caller's name for the message, in the journal.
/// @now: the time.
///
/// Only the next hop loses health: of what lies beyond it there is no evidence. Nothing is sent again. An
/// interface that is gone meanwhile loses none.
///
/// Context: the owner's.
/// Return: LND_OK (it was overdue), LND_E_WAIT (it is not; call again at @deadline), LND_E_NULL, LND_E_ALIGN,
/// LND_E_SIZE, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE (nothing is waited for).
#[no_mangle]
pub unsafe extern "C" fn lnd_tracker_expire(
    health: *mut lnd_health,
    tracker: *mut lnd_tracker,
    cookie: u64,
    now: u64,
) -> lnd_error {
    let expire = |id, whole: &mut Whole| {
        // SAFETY: by the contract of the ABI.
        let tracker = unsafe { output(tracker)? };
        if tracker.state != WAITING {
            return Err(lnd_error::LND_E_STALE);
        }
        if now < tracker.deadline {
            return Err(lnd_error::LND_E_WAIT);
        }
        let named = whole.local(id, tracker.local).and_then(|local| {
            let hop = whole.peer_ni(id, tracker.hop)?;
            Ok(Path { local, hop })
        });
        if named == Err(lnd_error::LND_E_FOREIGN) {
            return Err(lnd_error::LND_E_FOREIGN);
        }
        tracker.state = ENDED;
        let (now, due) = (Instant::from_nanos(now), Instant::from_nanos(tracker.deadline));
        if let Ok(path) = named {
            let mut wait = Tracker::begin(due, Span::from_nanos(0), path);
            if let Some(end) = wait.expire(now) {
                whole.health.no_response(now, end, cookie);
            }
        }
        Ok(())
    };
    // SAFETY: by the contract of the ABI.
    outcome(unsafe { lnd_health::with(health, expire) })
}
