// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Stops the engine and starts it again (S0-10 to S0-12).
//!
//! The driver writes STOP. Pullers of other nodes check STOP after they have claimed one of our
//! descriptors and between chunks. They claim, fence and check STOP; the engine sees STOP, fences
//! and checks for claims: one of the two sees the other. A puller that checks only after the reset
//! sees another round than before its claim, and has accessed nothing. STOPPED is written after a
//! whole pass over the table that found no claim, with none of our own pulls left.

use lnd_core::defect::fenced;
use lnd_core::sync::Ordering;

use super::parting::Parting;
use super::{Fabric, Faults, SoftEngine};
use crate::descriptor::State;
use crate::regs::{ErrorBits, Register, RegisterAccess, StatusBits};

impl<'m, F: Fabric<'m>, A: Faults> SoftEngine<'m, F, A> {
    /// One bounded piece of stopping.
    pub(super) fn stop_some(&mut self, round: u32, budget: u32) {
        let stopped = StatusBits::STOPPED.in_round(round);
        if self.status() == stopped {
            return;
        }
        self.abort_all();
        self.abort_read();
        if self.stop_at == 0 {
            // Partner: the puller's fence between its claim and its check of STOP.
            fenced("no-fence-in-stop", Ordering::SeqCst);
            self.stop_busy = false;
        }
        let end =
            self.stop_at.saturating_add(budget.max(64)).min(self.memory.geometry().descriptors);
        for index in self.stop_at..end {
            self.stop_busy |= self.is_claimed(index);
        }
        self.stop_at = end;
        self.progress.busy = true;
        if end < self.memory.geometry().descriptors {
            return;
        }
        self.stop_at = 0;
        if !self.stop_busy {
            // Earlier posts no longer begin; what the driver posts after the reset is not lost,
            // however late the engine executes the reset.
            self.post_head = self.memory.read(Register::PostTail);
            self.memory.write(Register::PostHead, self.post_head);
            self.show(stopped);
            self.progress.busy = false;
        }
    }

    /// Whether another node's engine may still read a staged descriptor's memory. A claim of a dead
    /// node ends here: that node accesses nothing any more.
    fn is_claimed(&self, index: u32) -> bool {
        let Some(descriptor) = self.memory.descriptor(index) else { return false };
        let own = descriptor.own();
        if !own.is(State::Busy) {
            return false;
        }
        if self.fabric.alive(own.puller()) {
            return true;
        }
        !descriptor.swap(own, own.into(State::Touched))
    }

    /// Ends every pull.
    fn abort_all(&mut self) {
        for at in 0..self.pulls.len() {
            self.let_go(at);
        }
        self.held.clear();
        self.taken = None;
    }

    /// Ends the pull in a place without a completion: the descriptor's own word shows the outcome,
    /// and the driver reads it there.
    pub(super) fn let_go(&mut self, at: usize) {
        let Some(mut pull) = self.pulls.get_mut(at).and_then(Option::take) else { return };
        let (state, _) = pull.break_off(ErrorBits::empty());
        if pull.notify() {
            self.fabric.returned(pull.node());
        }
        if let Some(descriptor) = self.memory.descriptor(pull.index()) {
            let own = descriptor.own();
            if own.is(State::Owned) {
                descriptor.swap(own, own.into(state).reporting());
            }
        }
    }

    /// Starts again. The driver has reclaimed its descriptors, and may have posted others. The
    /// rings start where the registers say, whatever they held. Remaining bits in the bitmaps have
    /// no effect, because the descriptors' own words do not match them.
    pub(super) fn reset(&mut self) {
        let registers = self.memory.registers();
        self.post_head = self.memory.read(Register::PostStart);
        self.completion_tail = self.memory.read(Register::CompletionStart);
        self.completion_start = Some(self.completion_tail);
        self.memory.write(Register::PostHead, self.post_head);
        // Relaxed: a snapshot.
        registers.completion_tail.store(self.completion_tail, Ordering::Relaxed);
        // Relaxed: this engine is the only writer; a snapshot for operators.
        registers.error.store(ErrorBits::empty().bits(), Ordering::Relaxed);
        registers.errors.store(0, Ordering::Relaxed);
        self.broken = false;
        self.parting = Parting::before(self.memory.read(Register::CutRound));
        self.show(StatusBits::empty());
    }
}
