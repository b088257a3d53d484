// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Interrupts: the device's start its next piece, the completions' decide. Nothing is finalized
//! here.

use core::cell::UnsafeCell;

use lnd_core::counters::Counters;
use lnd_core::driver::{Interrupt, IrqHandle};
use lnd_core::sync::{AtomicU32, Ordering};
use lnd_core::time::Instant;
use lnd_dma::driver::CompletionQueue;
use lnd_dma::regs::{Register, RegisterAccess};
use lnd_fw::log::Log;
use lnd_fw::node::LINK;

use crate::adapter::Controller;
use crate::cpu;

/// Most completions that one interrupt takes of a node.
const BUDGET: u32 = 32;
/// Bytes of the interrupts' trace.
pub const LOG: usize = 8 * 1024;

/// The interrupts' half of one node: its handle, and its completions.
pub type Half = (IrqHandle<'static>, Interrupt<'static, CompletionQueue<'static, Zdma>>);

/// State that is accessed only with interrupts off.
struct Masked<T>(UnsafeCell<T>);

// SAFETY: one core, and `with` keeps its interrupts off.
unsafe impl<T> Sync for Masked<T> {}

impl<T> Masked<T> {
    /// `act` must not use the same cell; no caller in this file does.
    fn with<R>(&self, act: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: with interrupts off nothing else runs on the one core.
        cpu::masked(|| act(unsafe { &mut *self.0.get() }))
    }
}

struct Owned {
    halves: Option<[Half; 2]>,
    log: Log<LOG>,
    /// Interrupts that took completions of each node.
    taken: [u32; 2],
    /// Interrupts of the DMA controller.
    device: u32,
}

static CONTROLLER: Masked<Option<Controller>> = Masked(UnsafeCell::new(None));
static OWNED: Masked<Owned> =
    Masked(UnsafeCell::new(Owned { halves: None, log: Log::new(), taken: [0; 2], device: 0 }));
/// The thread has work. Set by the handler, cleared by the thread.
static WOKEN: AtomicU32 = AtomicU32::new(0);
/// Links that have failed, a bit for each node.
static FAILED: AtomicU32 = AtomicU32::new(0);

/// The registers of a node's engine: those of its driver, on a device with others.
#[derive(Clone, Copy, Debug)]
pub struct Zdma(pub usize);

impl RegisterAccess for Zdma {
    fn read(&self, register: Register) -> u32 {
        controller(|it| it.read(self.0, register)).unwrap_or(0)
    }

    fn write(&self, register: Register, value: u32) {
        controller(|it| it.write(self.0, register, value));
    }
}

/// Runs `act` on the controller, and raises the completions' interrupt if there are any.
pub fn controller<R>(act: impl FnOnce(&mut Controller) -> R) -> Option<R> {
    CONTROLLER.with(|it| {
        let it = it.as_mut()?;
        let result = act(it);
        if core::mem::take(&mut it.posted) {
            cpu::signal();
        }
        Some(result)
    })
}

/// Installs the controller and enables its interrupts.
pub fn connect(mut it: Controller) {
    cpu::begin();
    for node in [0, 1] {
        cpu::enable(it.interrupt_of(node));
    }
    CONTROLLER.with(|place| *place = Some(it));
}

/// Installs the interrupts' halves.
pub fn begin(halves: [Half; 2]) {
    OWNED.with(|owned| owned.halves = Some(halves));
    cpu::unmask();
}

/// The interrupts' own trace, and the number of device interrupts.
pub fn with_log(act: impl FnOnce(&Log<LOG>, u32)) {
    OWNED.with(|owned| act(&owned.log, owned.device));
}

/// The counts of a node's interrupt, and how often it took completions.
pub fn counted(node: usize) -> (Counters, u32) {
    OWNED.with(|owned| {
        let half = owned.halves.as_ref().and_then(|halves| halves.get(node));
        let counters = half.map_or_else(Counters::new, |(_, half)| half.counters().clone());
        (counters, owned.taken.get(node).copied().unwrap_or(0))
    })
}

/// The link of a node has failed: raises its interrupt.
pub fn link_failed(node: u32) {
    // Release: partner is the Acquire in `decide`.
    FAILED.fetch_or(1 << node, Ordering::Release);
    cpu::signal();
}

/// Sleeps until `until`, or until an interrupt has found work. No interrupt can come between the
/// check and the sleep: they are masked, and a pending one still ends the sleep.
pub fn sleep(until: Instant) {
    cpu::masked(|| {
        // Acquire: partner is the Release in `interrupt`.
        if WOKEN.swap(0, Ordering::Acquire) == 0 {
            cpu::alarm(Some(until.as_nanos()));
            cpu::wait();
        }
    });
}

/// Every interrupt. Context: interrupt.
#[no_mangle]
extern "C" fn interrupt() {
    let number = cpu::acknowledge() & 0x3ff;
    match number {
        cpu::COMPLETIONS => decide(),
        // The alarm has expired; without a new one it stays off.
        cpu::TIMER => cpu::alarm(None),
        _ => {
            controller(|it| {
                for node in [0, 1] {
                    if it.interrupt_of(node) == number {
                        it.on_device(node);
                    }
                }
            });
            OWNED.with(|owned| owned.device += 1);
        }
    }
    cpu::served(number);
    // Release: partner is the Acquire in `sleep`.
    WOKEN.swap(1, Ordering::Release);
}

/// Handles completions and failed links.
fn decide() {
    let now = Instant::from_nanos(cpu::nanoseconds());
    // Acquire: partner is the Release in `link_failed`.
    let links = FAILED.swap(0, Ordering::Acquire);
    OWNED.with(|owned| {
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
                cpu::signal();
            }
        }
    });
}
