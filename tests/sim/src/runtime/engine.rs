// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A link's engine at full speed on a thread, its interrupts included.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::Arc;
use std::time::Duration;

use lnd_core::counters::Counters;
use lnd_core::driver::Interrupt;
use lnd_core::id::LinkId;
use lnd_core::observe::IrqObserver;
use lnd_dma::driver::CompletionQueue;
use lnd_dma::memory::LinkMemory;
use lnd_dma::regs::InterruptBits as Bits;
use lnd_dma::soft::{NoFaults, SoftEngine};

use super::bells::{Bells, Idle};
use super::clock::{Clock, Wake};
use crate::fabric::{Bus, Violation};

/// An engine and the interrupt that it raises.
#[derive(Debug)]
pub struct EngineRef<'m> {
    /// The engine.
    pub engine: SoftEngine<'m, Bus<'m>, NoFaults>,
    /// The interrupt.
    pub interrupt: Interrupt<'m, CompletionQueue<'m, LinkMemory<'m>>>,
    /// Tells the node's observer when a descriptor came back.
    pub(super) irq_watch: IrqObserver<'m>,
    pub(super) bells: &'m Bells,
    pub(super) node: u32,
    pub(super) link: LinkId,
    /// Links whose status has changed: bit `n` is link `n`. The node's thread takes them.
    pub(super) link_event: Arc<AtomicU32>,
}

/// What an engine has done in its incarnation.
#[derive(Clone, Debug, Default)]
pub struct EngineStats {
    /// Bytes moved.
    pub bytes: u64,
    /// Completions posted.
    pub completions: u64,
    /// What the interrupt has counted.
    pub counters: Counters,
    /// Accesses that the memory oracle objected to, and the first.
    pub violations: (u64, Option<Violation>),
}

/// Longest sleep of an engine: those of other processes ring no bell.
const NAP: Duration = Duration::from_millis(1);

/// Drives an engine until `kill`; wakes its node's thread when something has ended, and the engines
/// that it has given something back to.
pub fn drive_engine(
    engine_ref: &mut EngineRef<'_>,
    clock: Clock,
    kill: &AtomicBool,
) -> EngineStats {
    let EngineRef { engine, interrupt, irq_watch, bells, node, link, link_event } = engine_ref;
    let bell = bells.engine(*node, *link);
    bell.into_iter().for_each(Wake::adopt);
    let (mut stats, mut idle) = (EngineStats::default(), Idle::default());
    while !kill.load(Ordering::Relaxed) {
        let now = clock.now();
        let progress = engine.step(now, 64);
        stats.bytes += u64::from(progress.bytes);
        stats.completions += u64::from(progress.completions);
        // Bits that no working device shows tell nothing of the link (INV-3).
        let pending = interrupt.queue_mut().acknowledge().unwrap_or(Bits::empty());
        if pending.contains(Bits::LINK) {
            // Release: partner is the Acquire of the node's thread, which then reads the registers.
            link_event.fetch_or(1 << link.index(), Ordering::Release);
            bells.ring_host(*node);
        }
        if progress.completions > 0 || !interrupt.queue().is_empty() {
            let served = interrupt.on_interrupt(now, 256, irq_watch);
            if served.wake {
                bells.ring_host(*node);
            }
        }
        let given_back = engine.fabric_mut().signals();
        let others = (0..u64::BITS).filter(|other| given_back.contains(*other));
        others.for_each(|other| bells.ring_engine(other, *link));
        if progress.busy {
            idle.reset();
        } else {
            idle.rest(bell, NAP);
        }
    }
    stats.counters = interrupt.counters().clone();
    stats.violations = engine.fabric_mut().violations();
    stats
}
