// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Waits for a message's answer, end to end (R54).

use ::lnd_health::attempts::Path;
use ::lnd_health::tracker::Tracker;
use lnd_core::time::{Instant, Span};

use super::{lnd_health, Whole};
use crate::abi::{lnd_error, lnd_path, lnd_tracker, lnd_tracker_state};
use crate::errors::outcome;
use crate::input::{given, input, output};

const OFF: u32 = lnd_tracker_state::LND_TRACKER_OFF as u32;
const WAITING: u32 = lnd_tracker_state::LND_TRACKER_WAITING as u32;
const ENDED: u32 = lnd_tracker_state::LND_TRACKER_ENDED as u32;

/// lnd_tracker_sent() - Reports a try of a message that wants an answer.
/// @tracker: the wait. Before the first try @size is set, and the rest is 0.
/// @path: the path of this try.
/// @now: the time.
/// @timeout: ns from the first try within which the answer is due.
///
/// The wait begins with the first try.
///
/// A later try changes the path, but not the time.
///
/// Context: any; the tracker is the caller's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_STALE (the wait is over),
/// LND_E_ARGUMENT (not a state of a tracker).
#[no_mangle]
pub unsafe extern "C" fn lnd_tracker_sent(
    tracker: *mut lnd_tracker,
    path: *const lnd_path,
    now: u64,
    timeout: u64,
) -> lnd_error {
    let sent = || {
        let tracker = given!(output(tracker))?;
        let path = given!(input(path))?;
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

/// lnd_tracker_end() - Ends the wait: the answer arrived, or is not awaited any more.
/// @tracker: the wait.
///
/// Call it also if the message could not be sent.
///
/// Only the first end counts. A late answer gets LND_E_STALE; count it and drop it.
///
/// Context: any; the tracker is the caller's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_STALE (no wait is open).
#[no_mangle]
pub unsafe extern "C" fn lnd_tracker_end(tracker: *mut lnd_tracker) -> lnd_error {
    let end = || {
        let tracker = given!(output(tracker))?;
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
/// @cookie: the caller's value for the message, in the journal.
/// @now: the time.
///
/// Only the next hop loses health: there is no evidence about the path beyond it. No message is
/// resent. An interface that was removed since loses none.
///
/// Context: the owner's.
/// Return: LND_OK (it was overdue), LND_E_WAIT (it is not overdue; call again at @deadline),
/// LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE (no wait
/// is open).
#[no_mangle]
pub unsafe extern "C" fn lnd_tracker_expire(
    health: *mut lnd_health,
    tracker: *mut lnd_tracker,
    cookie: u64,
    now: u64,
) -> lnd_error {
    let expire = |id, whole: &mut Whole| {
        let tracker = given!(output(tracker))?;
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
    outcome(given!(lnd_health::with(health, expire)))
}
