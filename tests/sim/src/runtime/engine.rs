// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A link's engine: on a thread of its own at full speed, its interrupts included; or stepped by
//! its node's thread, which takes what comes back itself, with another thread for long payloads.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lnd_core::counters::Counters;
use lnd_core::driver::Interrupt;
use lnd_core::id::LinkId;
use lnd_core::observe::IrqObserver;
use lnd_core::time::Instant;
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

/// An engine that its node's thread steps, or the [mover](Mover) while much is left to move.
#[derive(Debug)]
struct Shared<'m> {
    engine: Mutex<SoftEngine<'m, Bus<'m>, NoFaults>>,
    /// The mover steps it.
    handed_over: AtomicBool,
}

/// The node's side of such an engine, and its completion ring.
#[derive(Debug)]
pub(super) struct OwnEngine<'m> {
    shared: Arc<Shared<'m>>,
    pub queue: CompletionQueue<'m, LinkMemory<'m>>,
    pub link: LinkId,
}

/// What a round of an engine asks for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stepped {
    /// More is under way that this thread has to move.
    pub busy: bool,
    /// The mover is to be woken.
    pub much: bool,
    /// The link's status has changed.
    pub link_event: bool,
}

/// A step that moves so many bytes and leaves more is followed by one of the mover's.
const MUCH: u32 = 512 << 10;

impl<'m> OwnEngine<'m> {
    /// An engine and its completion ring.
    pub fn new(
        engine: SoftEngine<'m, Bus<'m>, NoFaults>,
        queue: CompletionQueue<'m, LinkMemory<'m>>,
        link: LinkId,
    ) -> Self {
        let (engine, handed_over) = (Mutex::new(engine), AtomicBool::new(false));
        Self { shared: Arc::new(Shared { engine, handed_over }), queue, link }
    }

    /// One step, unless the mover has the engine.
    pub fn step(&mut self, now: Instant) -> Stepped {
        // Bits that no working device shows tell nothing of the link (INV-3).
        let pending = self.queue.acknowledge().unwrap_or(Bits::empty());
        let link_event = pending.contains(Bits::LINK);
        let not_ours = Stepped { link_event, ..Stepped::default() };
        // Relaxed: a hint; the lock orders the two threads.
        if self.shared.handed_over.load(Ordering::Relaxed) {
            return not_ours;
        }
        let Ok(mut engine) = self.shared.engine.try_lock() else { return not_ours };
        let progress = engine.step(now, BUDGET);
        let much = progress.busy && progress.bytes >= MUCH;
        self.shared.handed_over.store(much, Ordering::Relaxed);
        Stepped { busy: progress.busy && !much, much, link_event }
    }

    /// The engine, and its completion ring, for a thread of its own. `None`: a mover has it, too.
    pub fn into_parts(self) -> Option<EngineParts<'m>> {
        let engine = Arc::into_inner(self.shared)?.engine.into_inner().ok()?;
        Some((engine, self.queue, self.link))
    }
}

/// An engine, its completion ring, and their link.
pub(super) type EngineParts<'m> =
    (SoftEngine<'m, Bus<'m>, NoFaults>, CompletionQueue<'m, LinkMemory<'m>>, LinkId);

/// Moves long payloads for a node that [steps its engines itself](super::Station::join_alone), on
/// a thread that sleeps else: so the node's thread writes a file while the next part comes.
#[derive(Debug)]
pub struct Mover<'m> {
    engines: Vec<Arc<Shared<'m>>>,
    bells: &'m Bells,
    node: u32,
}

impl<'m> Mover<'m> {
    pub(super) fn new(own: &[OwnEngine<'m>], bells: &'m Bells, node: u32) -> Self {
        Self { engines: own.iter().map(|own| own.shared.clone()).collect(), bells, node }
    }

    /// Moves what is handed over, until `end`.
    pub fn drive(&self, clock: Clock, end: &AtomicBool) {
        let bell = LinkId::new(0).and_then(|link| self.bells.engine(self.node, link));
        bell.into_iter().for_each(Wake::adopt);
        while !end.load(Ordering::Relaxed) {
            let steps = self.engines.iter().map(|it| self.step(it, clock.now()));
            if !steps.fold(false, |any, stepped| any | stepped) {
                if let Some(bell) = bell {
                    bell.sleep(LOOK_FOR_END);
                }
            }
        }
    }

    /// One step of an engine, if it is handed over.
    fn step(&self, shared: &Shared<'m>, now: Instant) -> bool {
        // Relaxed: a hint; the lock orders the two threads.
        if !shared.handed_over.load(Ordering::Relaxed) {
            return false;
        }
        let Ok(mut engine) = shared.engine.lock() else { return false };
        let progress = engine.step(now, BUDGET);
        let goes_on = progress.busy && progress.bytes > 0;
        shared.handed_over.store(goes_on, Ordering::Relaxed);
        drop(engine);
        if progress.completions > 0 || !goes_on {
            self.bells.ring_host(self.node);
        }
        true
    }
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

/// Longest sleep of a mover: its end rings no bell.
const LOOK_FOR_END: Duration = Duration::from_millis(20);
/// Descriptors of each kind that one step of an engine looks at.
const BUDGET: u32 = 64;
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
        let progress = engine.step(now, BUDGET);
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
