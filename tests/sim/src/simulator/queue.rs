// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What will happen, in the order of its time; what happens at one time keeps the order in which it
//! was arranged.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use lnd_core::time::Instant;

/// When something happens, in which order among what happens then, and where it is kept, as one
/// number that is compared at once. The heap moves its entries about, so what happens is not in
/// them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry(u128);

/// Bits of an entry's place. The rest of its lower half is its number in order.
const PLACE: u32 = 24;

impl Entry {
    /// No two entries have the same number.
    const fn new(at: Instant, number: u64, place: u32) -> Self {
        assert!(number >> (64 - PLACE) == 0 && place >> PLACE == 0, "an entry has no room");
        Self((at.as_nanos() as u128) << 64 | (number << PLACE) as u128 | place as u128)
    }

    const fn at(self) -> Instant {
        Instant::from_nanos((self.0 >> 64) as u64)
    }

    const fn place(self) -> usize {
        (self.0 & ((1 << PLACE) - 1)) as usize
    }
}

/// The future.
#[derive(Debug)]
pub struct Queue<E> {
    heap: BinaryHeap<Reverse<Entry>>,
    events: Vec<Option<E>>,
    free: Vec<u32>,
    next: u64,
}

impl<E> Default for Queue<E> {
    fn default() -> Self {
        Self { heap: BinaryHeap::new(), events: Vec::new(), free: Vec::new(), next: 0 }
    }
}

impl<E> Queue<E> {
    /// Arranges for something to happen.
    pub fn push(&mut self, at: Instant, event: E) {
        let free = self.free.pop();
        let place = free.unwrap_or(self.events.len() as u32);
        match self.events.get_mut(place as usize) {
            Some(there) => *there = Some(event),
            None => self.events.push(Some(event)),
        }
        self.heap.push(Reverse(Entry::new(at, self.next, place)));
        self.next += 1;
    }

    /// What happens next, and when.
    pub fn pop(&mut self) -> Option<(Instant, E)> {
        let Reverse(entry) = self.heap.pop()?;
        let event = self.events.get_mut(entry.place())?.take()?;
        self.free.push(entry.place() as u32);
        Some((entry.at(), event))
    }

    /// When something happens next.
    pub fn next_at(&self) -> Option<Instant> {
        self.heap.peek().map(|Reverse(entry)| entry.at())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_happens_at_one_time_keeps_its_order_and_places_are_used_again() {
        let at = Instant::from_nanos;
        let mut queue = Queue::default();
        for round in 0..3 {
            for (time, event) in [(5, 'c'), (3, 'a'), (5, 'd'), (3, 'b')] {
                queue.push(at(time + round * 10), event);
            }
            assert_eq!(queue.next_at(), Some(at(3 + round * 10)));
            let all: Vec<_> = std::iter::from_fn(|| queue.pop()).map(|(_, it)| it).collect();
            assert_eq!(all, ['a', 'b', 'c', 'd']);
        }
        assert_eq!((queue.events.len(), queue.next_at()), (4, None));
    }
}
