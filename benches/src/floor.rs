// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The least that a transfer can cost where several contexts may end it: the yardstick of the
//! driver's life and of its sweep.
//!
//! A pool, a table of one line for each transfer, a ring to an engine and one back. A life takes
//! four locked operations: two for the pool, one for each change of the state. There is no peer, no
//! link, no credit, no report and no check.

use std::hint::black_box;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

const FREE: u32 = 0;
const POSTED: u32 = 1;
const DONE: u32 = 2;
const ABORTED: u32 = 3;

/// One transfer.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Slot {
    state: AtomicU32,
    generation: AtomicU32,
    /// The next free slot, plus one.
    next: AtomicU32,
    status: AtomicU32,
    user: AtomicU64,
    address: AtomicU64,
    length: AtomicU64,
    deadline: AtomicU64,
}

/// A ring of descriptors, one line each.
#[derive(Debug)]
struct Ring {
    entries: Vec<[AtomicU64; 8]>,
    posted: u64,
    taken: u64,
}

impl Ring {
    fn new(entries: usize) -> Self {
        let entries = (0..entries.next_power_of_two()).map(|_| Default::default()).collect();
        Self { entries, posted: 0, taken: 0 }
    }

    #[inline]
    fn post(&mut self, slot: u32, address: u64) {
        let at = self.posted as usize & (self.entries.len() - 1);
        let [sequence, index, low, high, ..] = &self.entries[at];
        index.store(u64::from(slot), Ordering::Relaxed);
        low.store(address, Ordering::Relaxed);
        high.store(address + 64, Ordering::Relaxed);
        self.posted += 1;
        sequence.store(self.posted, Ordering::Release);
    }

    #[inline]
    fn take(&mut self) -> u32 {
        let at = self.taken as usize & (self.entries.len() - 1);
        let [sequence, index, low, high, ..] = &self.entries[at];
        self.taken += 1;
        assert_eq!(sequence.load(Ordering::Acquire), self.taken, "it was posted before");
        black_box(low.load(Ordering::Relaxed) + high.load(Ordering::Relaxed));
        index.load(Ordering::Relaxed) as u32
    }
}

/// All of it.
#[derive(Debug)]
pub struct Floor {
    slots: Vec<Slot>,
    /// The first free slot, plus one, below a count of changes.
    free: AtomicU64,
    there: Ring,
    back: Ring,
}

impl Floor {
    /// A table of `slots` free slots.
    pub fn new(slots: usize) -> Self {
        let table: Vec<Slot> = (0..slots).map(|_| Slot::default()).collect();
        let floor = Self {
            slots: table,
            free: AtomicU64::new(0),
            there: Ring::new(slots),
            back: Ring::new(slots),
        };
        (0..slots as u32).rev().for_each(|slot| floor.put(slot));
        floor
    }

    #[inline]
    fn get(&self) -> u32 {
        let mut head = self.free.load(Ordering::Acquire);
        loop {
            let slot = (head as u32).checked_sub(1).expect("a slot is free");
            let next = self.slots[slot as usize].next.load(Ordering::Relaxed);
            let new = (head >> 32).wrapping_add(1) << 32 | u64::from(next);
            let order = (Ordering::AcqRel, Ordering::Acquire);
            match self.free.compare_exchange_weak(head, new, order.0, order.1) {
                Ok(_) => return slot,
                Err(now) => head = now,
            }
        }
    }

    #[inline]
    fn put(&self, slot: u32) {
        let mut head = self.free.load(Ordering::Relaxed);
        loop {
            self.slots[slot as usize].next.store(head as u32, Ordering::Relaxed);
            let new = (head >> 32).wrapping_add(1) << 32 | u64::from(slot + 1);
            let order = (Ordering::Release, Ordering::Relaxed);
            match self.free.compare_exchange_weak(head, new, order.0, order.1) {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }

    #[inline]
    fn change(&self, slot: u32, from: u32, to: u32) -> bool {
        let state = &self.slots[slot as usize].state;
        state.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Takes a slot and posts it.
    #[inline]
    pub fn begin(&mut self, user: u64) {
        let slot = self.get();
        let it = &self.slots[slot as usize];
        it.user.store(user, Ordering::Relaxed);
        it.address.store(user, Ordering::Relaxed);
        it.length.store(64, Ordering::Relaxed);
        it.deadline.store(user + 50_000, Ordering::Relaxed);
        it.state.store(POSTED, Ordering::Release);
        self.there.post(slot, user);
    }

    /// The engine takes the oldest one and completes it; it ends and is free again.
    #[inline]
    pub fn end_oldest(&mut self) {
        let slot = self.there.take();
        self.slots[slot as usize].status.store(0, Ordering::Relaxed);
        assert!(self.change(slot, POSTED, DONE), "only the engine completes it");
        self.back.post(slot, 0);
        let slot = self.back.take();
        let it = &self.slots[slot as usize];
        black_box(it.user.load(Ordering::Relaxed));
        assert!(self.change(slot, DONE, FREE), "only its owner frees it");
        it.generation
            .store(it.generation.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        self.put(slot);
    }

    /// Ends all that are posted, in the order of their slots. Returns how many.
    pub fn sweep(&mut self) -> usize {
        let mut ended = 0;
        for slot in 0..self.slots.len() as u32 {
            let it = &self.slots[slot as usize];
            let posted = it.state.load(Ordering::Relaxed) == POSTED;
            if posted && self.change(slot, POSTED, ABORTED) {
                it.status.store(110, Ordering::Relaxed);
                let generation = it.generation.load(Ordering::Relaxed).wrapping_add(1);
                it.generation.store(generation, Ordering::Relaxed);
                self.put(slot);
                ended += 1;
            }
        }
        ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transfers_end_and_a_sweep_ends_what_is_posted() {
        let mut floor = Floor::new(4);
        for user in 0..100 {
            floor.begin(user);
            floor.end_oldest();
        }
        (0..3).for_each(|user| floor.begin(user));
        assert_eq!((floor.sweep(), floor.sweep()), (3, 0));
        (0..4).for_each(|user| floor.begin(user));
        assert_eq!(floor.sweep(), 4, "every slot was free again");
    }
}
