// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The shard's thread: handles timeouts, reports, and returns the time of the next call.

use core::mem::size_of;

use heapless::Vec;
use lnd_core::driver::Report;
use lnd_core::id::LinkId;
use lnd_core::ports::Engine;
use lnd_core::sync::Ordering;
use lnd_core::time::Instant;
use lnd_core::transfer::Status;

use crate::abi::{lnd_error, lnd_event, lnd_report, lnd_transfer, LND_NEVER};
use crate::errors::outcome;
use crate::handle;
use crate::input::{given, place_if, put_if};
use crate::ni::{lnd_ni, Thread};

/// A callback to make.
enum Pending {
    Event(lnd_event),
    Report(Report),
}

/// Most callbacks that are made between two locks. They lie on the stack until then.
const CALLBACKS: usize = 4;

/// Passes of time, a power of two, between two looks at what was counted outside the lock: its
/// counts wrap at 32 bits.
const FOLLOWS: u32 = 64;

/// lnd_run() - Does the work that is due, and reports what has ended.
/// @ni: the NI.
/// @now: the time.
/// @budget: most callbacks to make, at least 1.
/// @next: when to call again, on the clock of @now: @now itself if work is left, LND_NEVER if only
///        wake() matters; may be NULL.
///
/// Call it at that time and after wake(); more calls are harmless. Calls finalize() and event()
/// with nothing held. It calls wake() if a frame was answered with LND_E_WAIT and since then a slot
/// has become free, the state of a peer has changed, or a decision has made room for a peer's next
/// request. Waiting frames must then be offered again.
///
/// Context: thread; not in finalize() and event(). Takes the lock.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY
/// (another thread runs it), LND_E_ARGUMENT.
#[no_mangle]
pub unsafe extern "C" fn lnd_run(
    ni: *mut lnd_ni,
    now: u64,
    budget: u32,
    next: *mut u64,
) -> lnd_error {
    outcome(given!(run(ni, now, budget, next)))
}

unsafe fn run(ni: *mut lnd_ni, now: u64, budget: u32, next: *mut u64) -> Result<(), lnd_error> {
    let ni = given!(lnd_ni::of(ni))?;
    place_if(next)?;
    if budget == 0 {
        return Err(lnd_error::LND_E_ARGUMENT);
    }
    let me = ni.platform.self_id();
    // Relaxed: only we write our own id.
    if ni.runner.load(Ordering::Relaxed) == me {
        return Err(ni.misuse(lnd_error::LND_E_REENTRY, c"lnd_run() in finalize() or event()"));
    }
    let mut entered = ni.enter()?;
    // Relaxed: written only inside the half that `enter` orders.
    if ni.runner.load(Ordering::Relaxed) != 0 {
        return Err(lnd_error::LND_E_BUSY);
    }
    ni.runner.store(me, Ordering::Relaxed);
    let (mut at, mut left) = (now, budget);
    // What has ended is reported first: one pass of time then serves what the callbacks have
    // called, too. That pass may end more, which is reported by a second round.
    for round in 0..2 {
        let before = left;
        loop {
            let mut callbacks = Vec::<Pending, CALLBACKS>::new();
            entered.thread().take_callbacks(now, left, &mut callbacks);
            if callbacks.is_empty() {
                break;
            }
            drop(entered);
            left = left.saturating_sub(deliver(ni, &callbacks));
            let again = ni.enter();
            // Without the half there is no thread that this run could exclude.
            entered = again.inspect_err(|_| ni.runner.store(0, Ordering::Relaxed))?;
        }
        if round > 0 && left == before {
            break;
        }
        // This run does what `wake` was called for until here.
        ni.start_run();
        at = entered.thread().let_time_pass(ni, now);
    }
    ni.runner.store(0, Ordering::Relaxed);
    let thread = entered.thread();
    thread.next_run = at;
    // A frame that waits in its channel raises no further interrupt: the host offers it after
    // `wake`.
    let offer = thread.offers_again();
    drop(entered);
    if offer {
        ni.wake();
    }
    given!(put_if(next, at))
}

/// Makes callbacks, each with nothing held (INV-13). Returns how many.
fn deliver(ni: &lnd_ni, callbacks: &[Pending]) -> u32 {
    for pending in callbacks {
        match pending {
            Pending::Event(event) => ni.platform.event(event),
            Pending::Report(report) => ni.platform.finalize(&to_c(ni.platform.id, report)),
        }
    }
    callbacks.len() as u32
}

impl Thread {
    /// Takes up to `most` callbacks that are to be made now, as far as there is room.
    fn take_callbacks(&mut self, now: u64, most: u32, taken: &mut Vec<Pending, CALLBACKS>) {
        while !taken.is_full() && (taken.len() as u32) < most {
            let Some(pending) = self.next_event_or_report(now) else { return };
            let _ = taken.push(pending);
        }
    }

    #[cfg_attr(feature = "compact", inline(never))]
    fn next_event_or_report(&mut self, now: u64) -> Option<Pending> {
        match self.driver.tracer_mut().next_event() {
            Some(event) => Some(Pending::Event(event)),
            None => self.driver.next_report(Instant::from_nanos(now)).map(Pending::Report),
        }
    }

    /// Handles timeouts; returns when it must be called again.
    fn let_time_pass(&mut self, ni: &lnd_ni, now: u64) -> u64 {
        self.runs = self.runs.wrapping_add(1);
        if self.runs & (FOLLOWS - 1) == 0 {
            self.follow(ni);
        }
        self.look_at_links(ni, now);
        let next = self.driver.on_time(Instant::from_nanos(now));
        if self.driver.tracer_mut().has_events() || !self.driver.nothing_to_report() {
            return now;
        }
        next.map_or(LND_NEVER, Instant::as_nanos)
    }

    /// Reads the state of links whose interrupt reported a change.
    fn look_at_links(&mut self, ni: &lnd_ni, now: u64) {
        // Relaxed: ordered by `wake` and `start_run`.
        if ni.link_changes.load(Ordering::Relaxed) == 0 {
            return;
        }
        let link_changed = ni.link_changes.swap(0, Ordering::Relaxed);
        for link in (0..ni.irqs.len()).filter_map(LinkId::new) {
            if link_changed & (1 << link.index()) == 0 {
                continue;
            }
            if let Some(up) = self.driver.engine_mut(link).map(|engine| engine.link_up()) {
                self.driver.on_link(Instant::from_nanos(now), link, up);
            }
        }
    }
}

fn to_c(ni: u32, report: &Report) -> lnd_report {
    lnd_report {
        role: report.role as u32,
        transfer: handle::transfer(ni, report.tag),
        nid: report.peer.map_or(0, |nid| nid.raw()),
        reply: u32::from(report.reply),
        lost_race: u32::from(report.lost_race),
        ..ended(&report.status, report.bytes, report.user)
    }
}

/// The report of such an end, without the names of the transfer.
pub(crate) fn ended(status: &Status, bytes: u32, user: u64) -> lnd_report {
    let (cause, place) = status.evidence.map_or((0, 0), |(c, p)| (c as u32, p as u32));
    lnd_report {
        size: size_of::<lnd_report>() as u32,
        role: 0,
        transfer: lnd_transfer::default(),
        user,
        nid: 0,
        error: status.errno,
        health: status.health as u32,
        delivery: status.delivery as u32,
        resend: u32::from(status.resend),
        cause,
        place,
        bytes: if status.errno == 0 { bytes } else { 0 },
        reply: 0,
        lost_race: 0,
        reserved: 0,
    }
}
