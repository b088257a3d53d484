// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The engine in software: executes the registers of one link and moves real bytes.
//!
//! [`SoftEngine::step`] does a bounded piece of work and returns. Who calls it decides what the
//! engine is: a thread at full speed, a kernel thread, or a simulator in virtual time whose
//! [`Faults`] make it an adversary. One step does, in this order:
//!
//! 1. reset and stop (`stop.rs`): a stopped engine holds nothing and nobody holds anything of ours;
//! 2. recalls (`recall.rs`): descriptors that the driver wants back;
//! 3. returns (`returns.rs`): staged descriptors that other engines are done with;
//! 4. pulls (`pull.rs`): takes new ones from the post ring, moves one chunk of each;
//! 5. the remote read (`read.rs`): one attempt.
//!
//! Each node's engine is the only producer of its own completion ring. Another node's engine changes
//! our staged descriptor's own word and sets a bit. One that dies in between leaves no hole.

mod cursor;
mod ends;
mod fabric;
mod faults;
mod pull;
mod read;
mod recall;
mod returns;
mod stop;

pub use fabric::{let_go_of, BusFault, Fabric, Place};
pub use faults::{Faults, NoFaults, Verdict};

use core::mem::MaybeUninit;

use heapless::Vec;
use lnd_core::defect::seeded;
use lnd_core::id::LinkId;
use lnd_core::sync::Ordering;
use lnd_core::time::{Instant, Span};

use crate::memory::LinkMemory;
use crate::regs::{Cause, Control, Interrupt, LinkBits, Register, RegisterAccess, Status};

use pull::Pull;
use returns::Held;

/// Pulls that one engine works on at a time (S3-12, R25: outstanding reads are bounded).
const ACTIVE_PULLS: usize = 8;

/// How an engine works.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Most bytes moved per pull and step, at least one: also how long a recall or a stop waits at
    /// most.
    pub chunk: u32,
    /// How long a pull tries to reach a source that does not answer.
    pub retry_bound: Span,
}

impl Default for Settings {
    fn default() -> Self {
        Self { chunk: 256 * 1024, retry_bound: Span::from_secs(1) }
    }
}

/// What a step has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes moved.
    pub bytes: u32,
    /// Completions posted: an interrupt, if it is not masked.
    pub completions: u32,
    /// Something is under way: step again soon. Otherwise a doorbell or another node's engine will
    /// give the next reason.
    pub busy: bool,
}

/// The engine of one link of one node.
#[derive(Debug)]
pub struct SoftEngine<'m, F, A> {
    node: u32,
    link: LinkId,
    memory: LinkMemory<'m>,
    fabric: F,
    faults: A,
    settings: Settings,
    /// Empty at first and never shorter again: a new engine has no table to write.
    pulls: Vec<Option<Pull<'m>>, ACTIVE_PULLS>,
    post_head: u32,
    /// The descriptor of the post ring's entry that was taken last, until its pull has a place.
    taken: Option<u32>,
    completion_tail: u32,
    /// Where the completion ring has begun with the last reset, until the driver's head is in it.
    completion_start: Option<u32>,
    held: Held,
    /// Completions were posted, and no interrupt was raised for them.
    untold: bool,
    /// The next recall to look at: those that must wait do not hold up the others.
    recall_at: u32,
    /// The next descriptor to look at while stopping.
    stop_at: u32,
    /// A whole pass of the stop has found something still busy.
    stop_busy: bool,
    /// When the first attempt at the remote read was.
    read_since: Option<Instant>,
    /// A bad read has put the engine into its error state: only the stop leads out (S2-12).
    broken: bool,
    progress: Progress,
}

impl<'m, F: Fabric<'m>, A: Faults> SoftEngine<'m, F, A> {
    /// The engine that executes `memory`'s registers. There is one engine per memory, and `memory` is
    /// freshly formatted: what an engine knows of pulls under way is not in memory. `node` is
    /// `0..=255`.
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

    /// As [`new`](Self::new), in its final place: for stacks on which an engine has no room.
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
        // Relaxed: only an engine writes it, and there is no other one.
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
            recall_at: 0,
            stop_at: 0,
            stop_busy: false,
            read_since: None,
            broken: false,
            progress: Progress::default(),
        })
    }

    /// The fabric that this engine is connected to.
    pub fn fabric_mut(&mut self) -> &mut F {
        &mut self.fabric
    }

    /// The faults.
    pub fn faults_mut(&mut self) -> &mut A {
        &mut self.faults
    }

    /// Does a bounded piece of work: at most `budget` recalls, returns and new pulls each, and one
    /// chunk of every active pull.
    pub fn step(&mut self, now: Instant, budget: u32) -> Progress {
        self.progress = Progress::default();
        self.work(now, budget);
        self.untold |= self.progress.completions > 0;
        if self.untold {
            self.tell();
        }
        self.progress
    }

    /// Raises the interrupt for completions that were posted, if it is armed. Where it is not, the next
    /// step looks again: to arm it is a doorbell. What the driver has taken meanwhile needs none.
    fn tell(&mut self) {
        let armed = Interrupt::from_bits_retain(self.memory.read(Register::InterruptMask));
        if armed.contains(Interrupt::COMPLETION) {
            self.untold = false;
            if self.memory.read(Register::CompletionHead) != self.completion_tail {
                self.raise(Interrupt::COMPLETION);
            }
        } else if seeded("armed-too-late") {
            self.untold = false;
        }
    }

    fn work(&mut self, now: Instant, budget: u32) {
        let control = Control::from_bits_retain(self.memory.read(Register::Control));
        let link = LinkBits::from_bits_retain(self.memory.read(Register::Link));
        if control.contains(Control::RESET) && self.status().contains(Status::STOPPED) {
            self.reset();
        }
        if control.contains(Control::STOP) {
            self.stop_some(control.round(), budget);
            return;
        }
        self.stop_at = 0;
        if !link.contains(LinkBits::UP) {
            // No clock: nothing happens, and whatever is under way stays where it is (S0-10). Time
            // without attempts is no evidence against the other end.
            self.read_since = None;
            self.show(Status::CLOCK_OFF);
            return;
        }
        if self.broken {
            self.show(Status::empty());
            return;
        }
        if !control.contains(Control::ENABLE) || self.faults.stalls(now) {
            self.read_since = None;
            return;
        }
        self.show(Status::RUNNING);
        self.deliver_held(now);
        self.recall_some(budget);
        self.return_some(budget);
        self.fetch_some(now, budget);
        self.pull_all(now);
        self.read_some(now);
        self.progress.busy |= self.pulls.iter().any(Option::is_some) || self.held.any();
    }

    fn status(&self) -> Status {
        Status::from_bits_retain(self.memory.read(Register::Status))
    }

    /// Writes the status register if it changes.
    fn show(&self, status: Status) {
        if self.status() != status {
            self.memory.write(Register::Status, status.bits());
            self.raise(Interrupt::LINK);
        }
    }

    /// Marks interrupts as pending. Raising them is the host's business: see [`Progress`].
    fn raise(&self, interrupt: Interrupt) {
        // Release: partner is the driver's AcqRel when it clears them.
        self.memory.registers().interrupt.fetch_or(interrupt.bits(), Ordering::Release);
    }

    /// Notes an error in the error registers.
    fn error(&self, cause: Cause) {
        let registers = self.memory.registers();
        // Relaxed: this engine is the only writer; a snapshot for operators.
        let seen = registers.error.load(Ordering::Relaxed);
        registers.error.store(seen | cause.bits(), Ordering::Relaxed);
        let errors = registers.errors.load(Ordering::Relaxed);
        registers.errors.store(errors.wrapping_add(1), Ordering::Relaxed);
    }
}
