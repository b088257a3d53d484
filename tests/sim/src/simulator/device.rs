// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! An engine in virtual time: when it works, for how long, and what wakes it.

use lnd_core::driver::Interrupt;
use lnd_core::sync::{AtomicU32, Ordering};
use lnd_core::time::{Instant, Span};
use lnd_dma::driver::CompletionQueue;
use lnd_dma::memory::LinkMemory;
use lnd_dma::regs::{ControlBits, LinkBits, StatusBits};
use lnd_dma::soft::{Fabric, SoftEngine};

use super::adversary::Adversary;
use crate::fabric::Violation;
use crate::node::Registers;

/// The bus of a simulated engine.
pub trait WatchedBus<'m>: Fabric<'m> {
    /// The first access that the memory oracle objected to.
    fn first_violation(&self) -> Option<Violation>;

    /// The nodes whose descriptors this engine has given back since the last call.
    fn given_back(&mut self) -> Vec<u32>;

    /// Once a step: what a defective engine does on its own account.
    fn misbehave(&mut self) {}
}

/// How fast an engine is.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Invalidations, returns and new pulls of one step.
    pub budget: u32,
    /// Nanoseconds that it takes for a KiB.
    pub slowness: u64,
    /// How often the pause doubles while it has nothing to move.
    pub doublings: u32,
}

/// What one step of an engine has done.
#[derive(Clone, Copy, Debug)]
pub struct Worked {
    /// It has moved bytes or ended transfers.
    pub moved: bool,
    /// It has posted completions.
    pub completed: bool,
    /// Time until its next step, if it has more to do.
    pub pause: Span,
}

/// A register's value. It is asked for several times in each step of a world.
#[inline]
fn read(word: &AtomicU32) -> u32 {
    // Relaxed: a world has one thread.
    word.load(Ordering::Relaxed)
}

/// The engine of one link, on a bus that is seen through `F`.
pub struct Device<'m, F> {
    /// The device.
    pub engine: SoftEngine<'m, F, Adversary>,
    /// Its memory.
    pub memory: LinkMemory<'m>,
    /// When it works next.
    pub engine_at: Option<Instant>,
    /// The doorbells that it has heard.
    pub heard: [u32; 6],
    /// It has something under way.
    busy: bool,
    /// Steps in a row that have moved nothing.
    idle: u32,
}

impl<'m, F: WatchedBus<'m>> Device<'m, F> {
    /// An engine that has not worked yet.
    pub const fn new(engine: SoftEngine<'m, F, Adversary>, memory: LinkMemory<'m>) -> Self {
        Self { engine, memory, engine_at: None, heard: [0; 6], busy: false, idle: 0 }
    }

    /// One step, if it is due.
    pub fn step(&mut self, now: Instant, pace: Pace) -> Option<Worked> {
        if self.engine_at != Some(now) {
            return None;
        }
        self.engine_at = None;
        self.engine.fabric_mut().misbehave();
        let progress = self.engine.step(now, pace.budget);
        if !self.engine.faults_mut().stalled() {
            self.busy = progress.busy;
        }
        let moved = progress.bytes > 0 || progress.completions > 0;
        self.idle = if moved { 0 } else { self.idle.saturating_add(1) };
        let pause = if moved {
            1_000 + ((u64::from(progress.bytes) * pace.slowness) >> 10)
        } else {
            2_000 << self.idle.min(pace.doublings)
        };
        let completed = progress.completions > 0;
        Some(Worked { moved, completed, pause: Span::from_nanos(pause) })
    }

    /// Whether it has to be woken: its doorbells were rung, or something has come back to it that
    /// has not been arranged. `more`: there is work that its registers do not show.
    pub fn has_event(&mut self, more: bool) -> bool {
        let bells = self.bells();
        let differ = || self.heard.iter().zip(&bells).fold(0, |all, (a, b)| all | (a ^ b)) != 0;
        let work = (self.engine_at.is_none() || differ()) && (more || self.has_work());
        if work {
            self.heard = bells;
        }
        work
    }

    /// The registers whose change means that there is something new to do.
    #[inline]
    pub fn bells(&self) -> [u32; 6] {
        let it = self.memory.registers();
        [&it.post_tail, &it.stage_bell, &it.invalidate_bell, &it.control, &it.link, &it.cut_round]
            .map(read)
    }

    /// Whether its registers give it something to do.
    pub fn has_work(&self) -> bool {
        let (memory, it, busy) = (&self.memory, self.memory.registers(), self.busy);
        let control = ControlBits::from_bits_retain(read(&it.control));
        let status = StatusBits::from_bits_retain(read(&it.status));
        let stopped = status.contains(StatusBits::STOPPED);
        if control.contains(ControlBits::STOP) {
            return !stopped;
        }
        if control.contains(ControlBits::RESET) && stopped {
            return true;
        }
        // Cuts are served without the link's clock.
        let is_cut = || (read(&it.cut_low) | read(&it.cut_high)) != 0;
        if read(&it.cut_round) != read(&it.parted_round) || (busy && is_cut()) {
            return true;
        }
        if !LinkBits::from_bits_retain(read(&it.link)).contains(LinkBits::UP) {
            return !status.contains(StatusBits::CLOCK_OFF);
        }
        if !control.contains(ControlBits::ENABLE) {
            return false;
        }
        busy || !status.contains(StatusBits::RUNNING)
            || read(&it.post_tail) != read(&it.post_head)
            || memory.invalidates().any()
            || memory.dones().any()
    }

    /// The first access that the memory oracle objected to, as a broken rule.
    pub fn objection(&mut self) -> Option<String> {
        let it = self.engine.fabric_mut().first_violation()?;
        let (node, address, access) = (it.node, it.address, format!("{:?}", it.access));
        let access = access.to_lowercase();
        let what = format!("{access} at {address:#x} of node {node}, where nothing is lent for it");
        Some(format!("INV-2: the memory oracle objects: {what}"))
    }
}

/// One link of a living node: its engine and its interrupt.
pub struct Port<'m, F> {
    /// The device.
    pub device: Device<'m, F>,
    /// Its interrupt.
    pub interrupt: Interrupt<'m, CompletionQueue<'m, Registers<'m>>>,
    /// When the interrupt comes.
    pub interrupt_at: Option<Instant>,
}

impl<'m, F: WatchedBus<'m>> Port<'m, F> {
    /// A port that is at rest.
    pub const fn new(
        device: Device<'m, F>,
        interrupt: Interrupt<'m, CompletionQueue<'m, Registers<'m>>>,
    ) -> Self {
        Self { device, interrupt, interrupt_at: None }
    }
}
