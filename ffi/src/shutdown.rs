// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The shutdown of an NI, and what blocks it (INV-15).

use core::mem::size_of;

use lnd_core::driver::{Blocker, RunState};
use lnd_core::id::Tag;
use lnd_core::time::Instant;

use crate::abi::{
    lnd_blocker, lnd_blocker_kind, lnd_error, lnd_run_state, lnd_transfer, LND_ANY_LINK, LND_NEVER,
};
use crate::errors::outcome;
use crate::handle;
use crate::input::{given, output, place, put};
use crate::ni::lnd_ni;
use crate::tracing::link_state;

pub(crate) const fn run_state(state: RunState) -> lnd_run_state {
    match state {
        RunState::Running => lnd_run_state::LND_RUNNING,
        RunState::Refusing => lnd_run_state::LND_REFUSING,
        RunState::Draining => lnd_run_state::LND_DRAINING,
        RunState::Closing => lnd_run_state::LND_CLOSING,
        RunState::Stopping => lnd_run_state::LND_STOPPING,
        RunState::Quiescent => lnd_run_state::LND_QUIESCENT,
    }
}

/// lnd_shutdown() - Begins to end an NI.
/// @ni: the NI.
/// @now: the time.
/// @grace: time until which transfers may end by themselves; @now: cancel them at once.
///
/// New work is refused from now on. lnd_run() does the rest, until lnd_run_state_get() returns
/// LND_QUIESCENT. The call may be repeated with an earlier @grace. At @grace the remaining
/// transfers are cancelled. They come back within @drain_bound of struct lnd_config, or their link
/// is stopped. With connections, their connection is stopped first, and the link if there is no
/// proof of that within two more @drain_bound. A link does not stop while another node's device
/// reads from it: a stalled device delays the end until it continues, or its node is proven dead.
/// lnd_blocker_next() returns what the shutdown waits for.
///
/// Context: thread; also in finalize() and event(). Takes the lock.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY.
#[no_mangle]
pub unsafe extern "C" fn lnd_shutdown(ni: *mut lnd_ni, now: u64, grace: u64) -> lnd_error {
    outcome(given!(lnd_ni::of(ni)).and_then(|ni| {
        let (now_, grace) = (Instant::from_nanos(now), Instant::from_nanos(grace));
        ni.enter()?.thread().driver.shutdown(now_, grace);
        ni.wake();
        Ok(())
    }))
}

/// lnd_run_state_get() - The progress of a shutdown.
/// @ni: the NI.
/// @state: where enum lnd_run_state is written.
///
/// Context: thread. Takes the lock.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY.
#[no_mangle]
pub unsafe extern "C" fn lnd_run_state_get(ni: *const lnd_ni, state: *mut u32) -> lnd_error {
    outcome(given!(lnd_ni::of(ni)).and_then(|ni| {
        place(state)?;
        let found = run_state(ni.enter()?.thread().driver.run_state());
        given!(put(state, found as u32))
    }))
}

/// lnd_blocker_next() - What a drain or a shutdown waits for.
/// @ni: the NI.
/// @cursor: 0 for the first, then unchanged from the call before: where to continue.
/// @blocker: filled in; the caller sets its size.
///
/// Visits the whole table at most.
///
/// Context: thread. Takes the lock.
/// Return: LND_OK, LND_E_END (no further one), LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_NI,
/// LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY.
#[no_mangle]
pub unsafe extern "C" fn lnd_blocker_next(
    ni: *const lnd_ni,
    cursor: *mut u32,
    blocker: *mut lnd_blocker,
) -> lnd_error {
    outcome(given!(lnd_ni::of(ni)).and_then(|ni| {
        place(cursor)?;
        let blocker = given!(output(blocker))?;
        // SAFETY: checked above; readable by the contract of the ABI.
        let from = unsafe { cursor.read() };
        let mut entered = ni.enter()?;
        let driver = &entered.thread().driver;
        // The links follow the table, once: the cursor then holds `LINKS_SEEN`.
        let found = if from == LINKS_SEEN { None } else { driver.blocker(from) };
        let found = found.ok_or(lnd_error::LND_E_END)?;
        let next = match found {
            Blocker::Transfer { tag, .. } | Blocker::Unreported { tag } => {
                tag.index.wrapping_add(1)
            }
            Blocker::Link { .. } => LINKS_SEEN,
        };
        *blocker = to_c(ni.platform.id, &found);
        given!(put(cursor, next))
    }))
}

const LINKS_SEEN: u32 = u32::MAX;

fn to_c(ni: u32, blocker: &Blocker) -> lnd_blocker {
    let named = |tag: Tag| handle::transfer(ni, tag);
    let blank = lnd_blocker {
        size: size_of::<lnd_blocker>() as u32,
        kind: 0,
        transfer: lnd_transfer::default(),
        nid: 0,
        until: LND_NEVER,
        link: LND_ANY_LINK,
        word: 0,
        link_state: 0,
        reserved: 0,
    };
    match blocker {
        Blocker::Transfer { tag, peer, link, word, until } => lnd_blocker {
            kind: lnd_blocker_kind::LND_BLOCKER_TRANSFER as u32,
            transfer: named(*tag),
            nid: peer.map_or(0, |nid| nid.raw()),
            until: until.map_or(LND_NEVER, Instant::as_nanos),
            link: link.map_or(LND_ANY_LINK, |link| link.index() as u32),
            word: word.bits(),
            ..blank
        },
        Blocker::Unreported { tag } => lnd_blocker {
            kind: lnd_blocker_kind::LND_BLOCKER_UNREPORTED as u32,
            transfer: named(*tag),
            ..blank
        },
        Blocker::Link { link, state } => lnd_blocker {
            kind: lnd_blocker_kind::LND_BLOCKER_LINK as u32,
            link: link.index() as u32,
            link_state: link_state(*state) as u32,
            ..blank
        },
    }
}
