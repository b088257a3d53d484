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
/// Most completions that one interrupt takes of a node.
const BUDGET: u32 = 32;

/// The interrupts' half of one node: its handle, and its completions.
type Half = (IrqHandle<'static>, Interrupt<'static, CompletionQueue<'static, Bell>>);

/// The state of the handler.
struct Owned {
    halves: Option<[Half; 2]>,
    log: Log<{ 8 * 1024 }>,
    /// Interrupts that took completions of each node.
    taken: [u32; 2],
}

struct Handlers(UnsafeCell<Owned>);

// SAFETY: only hart 0 accesses it, and only with interrupts off: see `with`.
unsafe impl Sync for Handlers {}

static OWNED: Handlers =
    Handlers(UnsafeCell::new(Owned { halves: None, log: Log::new(), taken: [0; 2] }));
/// The thread has work. Set by the handler, cleared by the thread.
static WOKEN: AtomicU32 = AtomicU32::new(0);
/// Links that have failed, a bit for each node.
static FAILED: AtomicU32 = AtomicU32::new(0);

/// Context: the handler, or hart 0's thread with interrupts off.
fn with<R>(act: impl FnOnce(&mut Owned) -> R) -> R {
    // SAFETY: hart 0 with interrupts off (all callers are in this file): nothing else accesses it,
    // and `act` does not call this function.
    act(unsafe { &mut *OWNED.0.get() })
}

/// Installs the interrupts' halves and enables interrupts.
pub fn begin(halves: [Half; 2]) {
    with(|owned| owned.halves = Some(halves));
    hart::alarm(u64::MAX);
    hart::interrupts(true);
}

/// Disables interrupts.
pub fn off() {
    hart::interrupts(false);
}

/// The interrupts' own trace. Context: hart 0 after [`off`].
pub fn with_log(act: impl FnOnce(&Log<{ 8 * 1024 }>)) {
    with(|owned| act(&owned.log));
}

/// The counts of a node's interrupt, and how often it took completions.
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

/// The link of a node has failed: raises its interrupt.
pub fn link_failed(node: u32) {
    // Release: partner is the Acquire in `software`.
    FAILED.fetch_or(1 << node, Ordering::Release);
    hart::signal(0, true);
}

/// Sleeps until `until`, or until an interrupt has found work. No interrupt can come between the
/// check and the sleep: they are masked, and a pending one still ends the sleep.
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
        // The alarm has expired; without a new one it stays off.
        TIMER => hart::alarm(u64::MAX),
        _ => Console.fault(cause),
    }
    // Release: partner is the Acquire in `sleep`.
    WOKEN.swap(1, Ordering::Release);
}

/// Handles completions and failed links.
fn software() {
    // Cleared before the check: a later event raises it again.
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
