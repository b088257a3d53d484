// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Hart 0's interrupts: they decide, and wake the thread. Nothing is finalized here.

use core::cell::UnsafeCell;

use lnd_core::counters::Counters;
use lnd_core::driver::{Interrupt, IrqHandle};
use lnd_core::sync::{AtomicU32, Ordering};
use lnd_core::time::Instant;
use lnd_dma::driver::CompletionQueue;
use lnd_fw::log::Log;
use lnd_fw::node::LINK;

use crate::bell::Bell;
use crate::console::Console;
use crate::hart;

const SOFTWARE: u32 = 0x8000_0003;
const TIMER: u32 = 0x8000_0007;
/// Completions that one interrupt takes of a node at most.
const BUDGET: u32 = 32;

/// Of one node: who decides, and the completions to decide about.
type Half = (IrqHandle<'static>, Interrupt<'static, CompletionQueue<'static, Bell>>);

/// What the handler owns.
struct Owned {
    halves: Option<[Half; 2]>,
    log: Log<{ 8 * 1024 }>,
    /// Interrupts that took completions of each node.
    taken: [u32; 2],
}

struct Handlers(UnsafeCell<Owned>);

// SAFETY: only hart 0 comes here, and only with interrupts off: see `with`.
unsafe impl Sync for Handlers {}

static OWNED: Handlers =
    Handlers(UnsafeCell::new(Owned { halves: None, log: Log::new(), taken: [0; 2] }));
/// The thread has something to do. Written by the handler, cleared by the thread.
static WOKEN: AtomicU32 = AtomicU32::new(0);
/// Links that have failed, a bit for each node.
static FAILED: AtomicU32 = AtomicU32::new(0);

/// Context: the handler, or hart 0's thread with interrupts off.
fn with<R>(act: impl FnOnce(&mut Owned) -> R) -> R {
    // SAFETY: hart 0 with interrupts off (all callers are in this file): nobody else has it, and
    // `act` cannot come back here.
    act(unsafe { &mut *OWNED.0.get() })
}

/// Hands the interrupts' halves over and lets interrupts in.
pub fn begin(halves: [Half; 2]) {
    with(|owned| owned.halves = Some(halves));
    hart::alarm(u64::MAX);
    hart::interrupts(true);
}

/// No more interrupts.
pub fn off() {
    hart::interrupts(false);
}

/// The interrupts' own trace. Context: hart 0 after [`off`].
pub fn with_log(act: impl FnOnce(&Log<{ 8 * 1024 }>)) {
    with(|owned| act(&owned.log));
}

/// What the interrupt of a node has counted, and how often it took something.
pub fn counted(node: usize) -> (Counters, u32) {
    hart::interrupts(false);
    let counted = with(|owned| {
        let half = owned.halves.as_ref().and_then(|halves| halves.get(node));
        let counters = half.map_or_else(Counters::new, |(_, half)| half.counters().clone());
        (counters, owned.taken.get(node).copied().unwrap_or(0))
    });
    hart::interrupts(true);
    counted
}

/// The link of a node has failed: its interrupt says so.
pub fn link_failed(node: u32) {
    // Release: partner is the Acquire in `software`.
    FAILED.fetch_or(1 << node, Ordering::Release);
    hart::signal(0, true);
}

/// Sleeps until `until`, or until an interrupt has found something. None of them can come between
/// the look and the sleep: they are off, and one that is pending ends the sleep all the same.
pub fn sleep(until: Instant) {
    hart::interrupts(false);
    // Acquire: partner is the Release in the handlers.
    if WOKEN.swap(0, Ordering::Acquire) == 0 {
        hart::alarm(until.as_nanos());
        hart::wait();
    }
    hart::interrupts(true);
}

/// Every trap of hart 0. Context: interrupt.
#[no_mangle]
extern "C" fn trap(cause: u32) {
    match cause {
        SOFTWARE => software(),
        // The alarm has rung; without a new one it is silent.
        TIMER => hart::alarm(u64::MAX),
        _ => Console.fault(cause),
    }
    // Release: partner is the Acquire in `sleep`.
    WOKEN.swap(1, Ordering::Release);
}

/// Completions are there, or a link has failed.
fn software() {
    // Cleared before anybody looks: what comes after raises it again.
    hart::signal(0, false);
    let now = Instant::from_nanos(hart::nanoseconds());
    // Acquire: partner is the Release in `link_failed`.
    let links = FAILED.swap(0, Ordering::Acquire);
    with(|owned| {
        let Some(halves) = &mut owned.halves else { return };
        for (node, (irq_handle, half)) in halves.iter_mut().enumerate() {
            if links & (1 << node) != 0 {
                irq_handle.link_failed(LINK);
            }
            let served = half.on_interrupt(now, BUDGET, &mut owned.log);
            if let Some(taken) = owned.taken.get_mut(node).filter(|_| served.taken > 0) {
                *taken += 1;
            }
            if served.more {
                hart::signal(0, true);
            }
        }
    });
}
