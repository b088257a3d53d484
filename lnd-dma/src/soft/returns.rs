// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Returns descriptors to the driver: the completion ring's producer.

use lnd_core::id::Tag;
use lnd_core::sync::{fence, prefetch_for_write, Ordering, PREFETCHES};
use lnd_core::time::Instant;

use super::held::HELD;
use super::{CompletionFault, Fabric, Faults, SoftEngine};
use crate::completion;
use crate::descriptor::{Descriptor, Own, State};
use crate::regs::{ErrorBits, Register, RegisterAccess};
use lnd_core::ports::Returned;

impl<'m, F: Fabric<'m>, A: Faults> SoftEngine<'m, F, A> {
    /// Whether the completion ring has room for `entries` more. With an invalid head the ring
    /// counts as full. After a reset the head counts as the new start until the driver writes it.
    pub(super) fn room_for(&mut self, entries: u32) -> bool {
        let head = self.memory.read(Register::CompletionHead);
        let size = self.memory.ring();
        let mut used = self.completion_tail.wrapping_sub(head);
        if used <= size {
            self.completion_start = None;
        } else if let Some(start) = self.completion_start {
            used = self.completion_tail.wrapping_sub(start);
        } else {
            self.error(ErrorBits::BAD_INDEX);
            return false;
        }
        size.saturating_sub(used) >= entries
    }

    /// Posts the completion of a descriptor that has just come back. The caller has checked for
    /// room for two, because the adversary may post it twice.
    pub(super) fn complete(&mut self, tag: Tag, returned: Returned, cause: ErrorBits) {
        let status = completion::encode(returned, cause);
        match self.faults.completion(tag) {
            CompletionFault::Deliver => self.post(tag, status),
            CompletionFault::Lose => {}
            CompletionFault::Twice => {
                self.post(tag, status);
                self.post(tag, status);
            }
            CompletionFault::Garble => self.post(tag, 0xdead),
            CompletionFault::Hold(until) => {
                if !self.held.keep(until, (tag, status)) {
                    self.post(tag, status);
                }
            }
        }
    }

    /// Posts held completions that are due.
    pub(super) fn deliver_held(&mut self, now: Instant) {
        if !self.held.any() {
            return;
        }
        for at in 0..HELD {
            let due = self.held.due(at, now);
            if let Some((tag, status)) = due.filter(|_| self.room_for(1)) {
                self.post(tag, status);
                self.held.let_go(at);
            }
        }
    }

    fn post(&mut self, tag: Tag, status: u32) {
        let entry = self.memory.completion(self.completion_tail);
        // Release: partner is the Acquire fence in the driver's `pop`: a reader of a field of this
        // entry sees that the reset has changed the entry's sequence word.
        fence(Ordering::Release);
        // Relaxed: published by the sequence word.
        entry.status.store(status, Ordering::Relaxed);
        entry.index.store(tag.index, Ordering::Relaxed);
        entry.generation.store(tag.generation, Ordering::Relaxed);
        self.completion_tail = self.completion_tail.wrapping_add(1);
        // Release: partner is the Acquire in the driver's `pop`; the bytes moved come before too.
        entry.sequence.store(self.completion_tail, Ordering::Release);
        // Relaxed: a snapshot; the driver uses the sequence words.
        self.memory.registers().completion_tail.store(self.completion_tail, Ordering::Relaxed);
        self.progress.completions += 1;
    }

    /// Posts completions for staged descriptors that other engines have finished with.
    pub(super) fn return_some(&mut self, budget: u32) {
        let dones = self.memory.dones();
        if !dones.any() {
            return;
        }
        self.progress.busy = true;
        let mut left = budget;
        while left > 0 && self.room_for(2) {
            let Some((word, mut set)) = dones.take_word() else { break };
            self.ask_for_all(word, set);
            while set != 0 {
                if left == 0 || !self.room_for(2) {
                    dones.set_many(word, set);
                    return;
                }
                left -= 1;
                self.report(word.wrapping_mul(32).wrapping_add(set.trailing_zeros()));
                set &= set.wrapping_sub(1);
            }
        }
    }

    /// Asks for the cache lines of descriptors that other engines have written: they come at once.
    fn ask_for_all(&self, word: u32, mut set: u32) {
        while PREFETCHES && set != 0 {
            let index = word.wrapping_mul(32).wrapping_add(set.trailing_zeros());
            if let Some(descriptor) = self.memory.descriptor(index) {
                prefetch_for_write(descriptor);
            }
            set &= set.wrapping_sub(1);
        }
    }

    /// Reports a descriptor that another engine has returned to the driver, unless it was reported.
    pub(super) fn report(&mut self, index: u32) {
        let Some(descriptor) = self.memory.descriptor(index) else { return };
        let own = descriptor.own();
        let Some(returned) = own.returned().filter(|_| !own.reported()) else { return };
        // No other party changes it: the puller is done, and the driver posts it only after the
        // report.
        descriptor.set(own.reporting());
        let tag = descriptor.read().tag;
        self.complete(tag, returned, ErrorBits::empty());
    }

    /// Returns one of our own pulls: its own word, then the completion. No other party changes it.
    pub(super) fn give_back(&mut self, index: u32, state: State, cause: ErrorBits) {
        let Some(descriptor) = self.memory.descriptor(index) else { return };
        let own = descriptor.own();
        if own.is(State::Owned) {
            let back = own.into(state).reporting();
            descriptor.set(back);
            self.notify_back(descriptor, back, cause);
        }
    }

    /// Returns one of our own staged descriptors, if its own word is still `own`: the decision was
    /// based on that value and must not affect a descriptor that a puller has claimed since.
    pub(super) fn take_back(&mut self, own: Own, index: u32, state: State, cause: ErrorBits) {
        let Some(descriptor) = self.memory.descriptor(index) else { return };
        let back = own.into(state).reporting();
        if descriptor.swap(own, back) {
            self.notify_back(descriptor, back, cause);
        }
    }

    fn notify_back(&mut self, descriptor: &Descriptor, back: Own, cause: ErrorBits) {
        let Some(returned) = back.returned() else { return };
        if returned != Returned::Ok {
            self.error(cause);
        }
        let tag = descriptor.read().tag;
        self.complete(tag, returned, cause);
    }
}
