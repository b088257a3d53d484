// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Interrupts: the device's move its next piece, the completions' decide. Nothing is finalized here.

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

/// Completions that one interrupt takes of a node at most.
const BUDGET: u32 = 32;
/// Bytes of the interrupts' trace.
pub const LOG: usize = 8 * 1024;

/// Of one node: who decides, and the completions to decide about.
pub type Half = (IrqHandle<'static>, Interrupt<'static, CompletionQueue<'static, Zdma>>);

/// What is reached with interrupts off, by nobody else.
struct Masked<T>(UnsafeCell<T>);

// SAFETY: one core, and `with` keeps its interrupts off.
unsafe impl<T> Sync for Masked<T> {}

impl<T> Masked<T> {
    /// `act` does not come back to the same cell: of those in this file none does.
    fn with<R>(&self, act: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: with interrupts off nobody else runs on the one core.
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
/// The thread has something to do. Written by the handler, cleared by the thread.
static WOKEN: AtomicU32 = AtomicU32::new(0);
/// Links that have failed, a bit for each node.
static FAILED: AtomicU32 = AtomicU32::new(0);

/// The registers of a node's engine: those that its driver knows, on a device that has others.
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

/// Does something with the controller, and raises the completions' interrupt if there are any.
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

/// Puts the controller in place; its interrupts are let in.
pub fn connect(mut it: Controller) {
    cpu::begin();
    for node in [0, 1] {
        cpu::enable(it.interrupt_of(node));
    }
    CONTROLLER.with(|place| *place = Some(it));
}

/// Hands the interrupts' halves over.
pub fn begin(halves: [Half; 2]) {
    OWNED.with(|owned| owned.halves = Some(halves));
    cpu::unmask();
}

/// The interrupts' own trace, and how often the device had something to say.
pub fn with_log(act: impl FnOnce(&Log<LOG>, u32)) {
    OWNED.with(|owned| act(&owned.log, owned.device));
}

/// What the interrupt of a node has counted, and how often it took something.
pub fn counted(node: usize) -> (Counters, u32) {
    OWNED.with(|owned| {
        let half = owned.halves.as_ref().and_then(|halves| halves.get(node));
        let counters = half.map_or_else(Counters::new, |(_, half)| half.counters().clone());
        (counters, owned.taken.get(node).copied().unwrap_or(0))
    })
}

/// The link of a node has failed: its interrupt says so.
pub fn link_failed(node: u32) {
    // Release: partner is the Acquire in `decide`.
    FAILED.fetch_or(1 << node, Ordering::Release);
    cpu::signal();
}

/// Sleeps until `until`, or until an interrupt has found something. None of them can come between
/// the look and the sleep: they are off, and one that is pending ends the sleep all the same.
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
        // The alarm has rung; without a new one it is silent.
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

/// Completions are there, or a link has failed.
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
