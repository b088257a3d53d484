// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file holds the finalize token and the list that carries it to a thread (INV-1, INV-13).
//!
//! Any context may *decide* that a transfer has ended. Only a thread *reports* it, because
//! `lnet_finalize` may not run in an interrupt.

use crate::base::defect::ordered;
use crate::base::sync::{AtomicU32, Ordering};

/// The right and the duty to finalize one transfer.
///
/// It is made in one place, where a step returns [`Finalize`](crate::transfer::Effect::Finalize).
/// [`Completed::push`] spends it in any context, [`Batch::append`] and `spend` in the thread that
/// reports. It is neither `Copy` nor `Clone`.
#[derive(Debug)]
#[must_use = "a token that is dropped is a transfer that is never finalized"]
pub struct FinalizeToken {
    slot: u32,
}

static_assertions::assert_not_impl_any!(FinalizeToken: Clone, Copy);

impl FinalizeToken {
    /// Only the code that applied the step may call this.
    pub(crate) const fn new(slot: u32) -> Self {
        Self { slot }
    }

    /// Spends the token where the transfer is reported at once. Returns its slot. Context: the
    /// thread that reports.
    pub(crate) const fn spend(self) -> u32 {
        self.slot
    }
}

const END: u32 = u32::MAX;

/// Finished transfers on their way to the reporting thread: a stack of slot indices.
///
/// The holder of a token pushes its slot in any context. The one thread that reports takes the
/// whole list. A slot is on the list at most once, because its token exists at most once. Taking
/// the whole list leaves no room for an ABA.
#[derive(Debug)]
pub struct Completed {
    head: AtomicU32,
}

impl Completed {
    /// An empty list.
    pub fn new() -> Self {
        Self { head: AtomicU32::new(END) }
    }

    /// Spends a token. `next_of` returns each slot's own link word; the token's slot has one.
    /// Context: any. One locked operation unless contended.
    pub fn push<'a>(&self, token: FinalizeToken, next_of: impl Fn(u32) -> Option<&'a AtomicU32>) {
        self.push_index(token.slot, next_of);
    }

    /// Pushes an index that is on no list. Context: any.
    pub(crate) fn push_index<'a>(
        &self,
        index: u32,
        next_of: impl Fn(u32) -> Option<&'a AtomicU32>,
    ) {
        // Only a valid slot has a link, and only a valid slot has a token.
        let Some(next) = next_of(index) else { return };
        // Relaxed: only a guess of the head. The compare-exchange publishes.
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            // Relaxed: published by the Release below.
            next.store(head, Ordering::Relaxed);
            // Release: partner is the Acquire in `take`.
            match self.head.compare_exchange_weak(
                head,
                index,
                ordered("push-relaxed", Ordering::Release),
                Ordering::Relaxed,
            ) {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }

    /// Whether the list is empty. A hint.
    pub fn is_empty(&self) -> bool {
        self.head.load(Ordering::Relaxed) == END
    }

    /// Takes everything, oldest first. Work is linear in what is taken. Context: the one thread
    /// that reports.
    pub fn take<'a>(&self, next_of: impl Fn(u32) -> Option<&'a AtomicU32>) -> Batch {
        if self.is_empty() {
            return Batch::default();
        }
        // Acquire: partner is the Release in `push`. It covers every push of the list, because each
        // push read the head that the one before had released.
        let last = self.head.swap(END, Ordering::Acquire);
        let mut newest = last;
        // The stack is reversed, so that transfers are reported in the order of their ends (R9).
        let mut oldest = END;
        while let Some(next) = next_of(newest) {
            let older = next.load(Ordering::Relaxed);
            next.store(oldest, Ordering::Relaxed);
            oldest = newest;
            newest = older;
        }
        Batch { first: if oldest == END { None } else { Some(oldest) }, last }
    }
}

impl Default for Completed {
    fn default() -> Self {
        Self::new()
    }
}

/// Finished transfers that a thread has taken, or has ended itself, oldest first.
#[derive(Debug, Default)]
pub struct Batch {
    first: Option<u32>,
    /// The newest, if there is a first.
    last: u32,
}

impl Batch {
    /// The next finished slot.
    pub fn next<'a>(&mut self, next_of: impl Fn(u32) -> Option<&'a AtomicU32>) -> Option<u32> {
        let slot = self.first?;
        // Relaxed: the links are this thread's own since `take`.
        let next = next_of(slot).map_or(END, |word| word.load(Ordering::Relaxed));
        self.first = if next == END { None } else { Some(next) };
        Some(slot)
    }

    /// Spends a token of the thread that reports, without a locked operation. `next_of` returns
    /// each slot's own link word.
    pub fn append<'a>(
        &mut self,
        token: FinalizeToken,
        next_of: impl Fn(u32) -> Option<&'a AtomicU32>,
    ) {
        // Relaxed: the links are this thread's own until the slots are released.
        if let Some(next) = next_of(token.slot) {
            next.store(END, Ordering::Relaxed);
        }
        // No other context sees a batch, so no exchange is needed.
        match self.first {
            None => self.first = Some(token.slot),
            Some(_) => {
                if let Some(next) = next_of(self.last) {
                    next.store(token.slot, Ordering::Relaxed);
                }
            }
        }
        self.last = token.slot;
    }

    /// Whether nothing is left.
    pub const fn is_empty(&self) -> bool {
        self.first.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn inv_1_r9_finished_transfers_come_out_once_and_in_the_order_of_their_ends() {
        let links: Vec<_> = (0..4).map(|_| AtomicU32::new(0)).collect();
        let next_of = |slot: u32| links.get(slot as usize);
        let completed = Completed::new();
        // The second time the slots' links are those of the first.
        for order in [[3, 0, 2], [0, 2, 3]] {
            assert!(completed.is_empty());
            assert!(completed.take(next_of).is_empty(), "an empty list has nothing to take");
            for slot in order {
                completed.push(FinalizeToken::new(slot), next_of);
                assert!(!completed.is_empty());
            }
            let mut batch = completed.take(next_of);
            assert!(completed.is_empty(), "taken whole");
            for slot in order {
                assert!(!batch.is_empty());
                assert_eq!(batch.next(next_of), Some(slot));
            }
            assert!(batch.is_empty());
            assert_eq!(batch.next(next_of), None);
        }
    }

    #[test]
    fn a_slot_without_a_link_word_is_not_pushed() {
        let completed = Completed::default();
        completed.push(FinalizeToken::new(7), |_| None);
        assert!(completed.is_empty());
    }
}
