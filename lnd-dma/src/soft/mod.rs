// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The engine in software: executes the registers of one link and moves real bytes.
//!
//! [`SoftEngine::step`] does a bounded piece of work and returns. Its caller determines what the
//! engine is: a thread at full speed, a kernel thread, or a simulator in virtual time whose
//! [`Faults`] make it an adversary. One step does, in this order:
//!
//! 1. reset and stop (`stop.rs`): a stopped engine holds nothing, and no engine holds its memory;
//! 2. cuts (`part.rs`): the same for the connections with single nodes;
//! 3. invalidations (`invalidate.rs`): descriptors that the driver has invalidated;
//! 4. returns (`returns.rs`): staged descriptors that other engines are done with;
//! 5. pulls (`pull.rs`): takes new ones from the post ring, moves one chunk of each;
//! 6. the remote read (`read.rs`): one attempt.
//!
//! Each node's engine is the only producer of its own completion ring. Another node's engine
//! changes the own word of our staged descriptor and sets a bit. If it dies in between, it leaves
//! no gap.

mod cursor;
mod ends;
mod engine;
mod fabric;
mod faults;
mod held;
mod invalidate;
mod part;
mod parting;
mod progress;
mod pull;
mod pulls;
mod read;
mod returns;
mod settings;
mod stop;

pub use engine::SoftEngine;
pub use fabric::{let_go_of, BusAddress, BusFault, Fabric};
pub use faults::{CompletionFault, Faults, NoFaults};
pub use progress::Progress;
pub use settings::Settings;

use lnd_core::time::Instant;

use crate::regs::{ControlBits, InterruptBits, LinkBits, Register, RegisterAccess, StatusBits};

impl<'m, F: Fabric<'m>, A: Faults> SoftEngine<'m, F, A> {
    /// Does a bounded piece of work: at most `budget` invalidations, returns and new pulls each,
    /// and one chunk of every active pull.
    pub fn step(&mut self, now: Instant, budget: u32) -> Progress {
        self.progress = Progress::default();
        self.work(now, budget);
        self.untold |= self.progress.completions > 0;
        if self.untold {
            self.notify();
        }
        self.progress
    }

    /// Raises the interrupt for posted completions, if it is armed. If not, the next step checks
    /// again, because arming is a doorbell. Completions that the driver has taken since need none.
    fn notify(&mut self) {
        let armed = InterruptBits::from_bits_retain(self.memory.read(Register::InterruptMask));
        if armed.contains(InterruptBits::COMPLETION) {
            self.untold = false;
            if self.memory.read(Register::CompletionHead) != self.completion_tail {
                self.raise(InterruptBits::COMPLETION);
            }
        }
    }

    fn work(&mut self, now: Instant, budget: u32) {
        let control = ControlBits::from_bits_retain(self.memory.read(Register::Control));
        let link = LinkBits::from_bits_retain(self.memory.read(Register::Link));
        if control.contains(ControlBits::RESET) && self.status().contains(StatusBits::STOPPED) {
            self.reset();
        }
        if control.contains(ControlBits::STOP) {
            self.stop_some(control.round(), budget);
            return;
        }
        self.stop_at = 0;
        self.part_some(budget);
        if !link.contains(LinkBits::UP) {
            // No clock: nothing happens, and transfers stay where they are (S0-10). Time without
            // attempts is no evidence against the other end.
            self.read_since = None;
            self.show(StatusBits::CLOCK_OFF);
            return;
        }
        if self.broken {
            self.show(StatusBits::empty());
            return;
        }
        if !control.contains(ControlBits::ENABLE) || self.faults.stalls(now) {
            self.read_since = None;
            return;
        }
        self.show(StatusBits::RUNNING);
        self.deliver_held(now);
        self.invalidate_some(budget);
        self.return_some(budget);
        self.fetch_some(now, budget);
        self.pull_all(now);
        self.read_some(now);
        self.progress.busy |= self.pulls.iter().any(Option::is_some) || self.held.any();
    }
}
