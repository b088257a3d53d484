// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The state of one engine: its memory, its pulls under way, and its progress.

use core::mem::MaybeUninit;

use heapless::Vec;
use lnd_core::id::LinkId;
use lnd_core::sync::Ordering;
use lnd_core::time::Instant;

use super::held::Held;
use super::parting::Parting;
use super::pull::Pull;
use super::{Fabric, Faults, Progress, Settings};
use crate::memory::LinkMemory;
use crate::regs::{ErrorBits, InterruptBits, Register, RegisterAccess, StatusBits};

/// Pulls that one engine works on at a time (S3-12, R25: outstanding reads are bounded).
const ACTIVE_PULLS: usize = 8;

/// The engine of one link of one node.
#[derive(Debug)]
pub struct SoftEngine<'m, F, A> {
    pub(super) node: u32,
    pub(super) link: LinkId,
    pub(super) memory: LinkMemory<'m>,
    pub(super) fabric: F,
    pub(super) faults: A,
    pub(super) settings: Settings,
    /// Empty at first: creation writes no table. It ends with a pull, or with one that an
    /// invalidation or a stop has taken since the last step.
    pub(super) pulls: Vec<Option<Pull<'m>>, ACTIVE_PULLS>,
    pub(super) post_head: u32,
    /// The descriptor of the last post ring entry taken, until its pull has a place.
    pub(super) taken: Option<u32>,
    pub(super) completion_tail: u32,
    /// The completion ring's first index after the last reset, until the driver's head is in the
    /// ring.
    pub(super) completion_start: Option<u32>,
    pub(super) held: Held,
    /// Completions were posted without an interrupt so far.
    pub(super) untold: bool,
    /// The next invalidation to check: those that must wait do not delay the others.
    pub(super) invalidate_at: u32,
    /// The next descriptor to check while stopping.
    pub(super) stop_at: u32,
    /// A whole pass of the stop has found a busy descriptor.
    pub(super) stop_busy: bool,
    /// Progress with connections that are cut.
    pub(super) parting: Parting,
    /// Time of the first attempt at the remote read.
    pub(super) read_since: Option<Instant>,
    /// A bad read has put the engine into its error state: only a stop ends it (S2-12).
    pub(super) broken: bool,
    pub(super) progress: Progress,
}

impl<'m, F: Fabric<'m>, A: Faults> SoftEngine<'m, F, A> {
    /// The engine that executes `memory`'s registers. Each memory has one engine, and `memory` is
    /// freshly formatted: pulls under way are not in memory. `node` is `0..=255`.
    #[inline(always)] // Or there would be one more copy on the way to where the caller keeps it.
    pub fn new(
        node: u32,
        link: LinkId,
        memory: LinkMemory<'m>,
        fabric: F,
        faults: A,
        settings: Settings,
    ) -> Self {
        let mut place = MaybeUninit::uninit();
        Self::new_in(&mut place, node, link, memory, fabric, faults, settings);
        // SAFETY: `new_in` has written it.
        unsafe { place.assume_init() }
    }

    /// As [`new`](Self::new), built in its final place, for stacks without room for an engine.
    pub fn new_in<'p>(
        place: &'p mut MaybeUninit<Self>,
        node: u32,
        link: LinkId,
        memory: LinkMemory<'m>,
        fabric: F,
        faults: A,
        settings: Settings,
    ) -> &'p mut Self {
        let post_head = memory.read(Register::PostHead);
        // Relaxed: only an engine writes it, and there is no other engine.
        let completion_tail = memory.registers().completion_tail.load(Ordering::Relaxed);
        place.write(Self {
            node,
            link,
            memory,
            fabric,
            faults,
            settings,
            pulls: Vec::new(),
            post_head,
            taken: None,
            completion_tail,
            completion_start: None,
            held: Held::default(),
            untold: false,
            invalidate_at: 0,
            stop_at: 0,
            stop_busy: false,
            parting: Parting::before(memory.read(Register::CutRound)),
            read_since: None,
            broken: false,
            progress: Progress::default(),
        })
    }

    /// The fabric that this engine is connected to.
    pub fn fabric_mut(&mut self) -> &mut F {
        &mut self.fabric
    }

    /// The injected faults.
    pub fn faults_mut(&mut self) -> &mut A {
        &mut self.faults
    }

    pub(super) fn status(&self) -> StatusBits {
        StatusBits::from_bits_retain(self.memory.read(Register::Status))
    }

    /// Writes the status register if it changes.
    pub(super) fn show(&self, status: StatusBits) {
        if self.status() != status {
            self.memory.write(Register::Status, status.bits());
            self.raise(InterruptBits::LINK);
        }
    }

    /// Marks interrupts as pending. The host raises them: see [`Progress`].
    pub(super) fn raise(&self, interrupt: InterruptBits) {
        // Release: partner is the driver's AcqRel when it clears them.
        self.memory.registers().interrupt.fetch_or(interrupt.bits(), Ordering::Release);
    }

    /// Records an error in the error registers.
    pub(super) fn error(&self, cause: ErrorBits) {
        let registers = self.memory.registers();
        // Relaxed: this engine is the only writer; a snapshot for operators.
        let seen = registers.error.load(Ordering::Relaxed);
        registers.error.store(seen | cause.bits(), Ordering::Relaxed);
        let errors = registers.errors.load(Ordering::Relaxed);
        registers.errors.store(errors.wrapping_add(1), Ordering::Relaxed);
    }
}
