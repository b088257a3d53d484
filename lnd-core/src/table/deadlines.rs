// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file holds a queue of deadlines with the exact next one (R39).
//!
//! Nearly all deadlines are "now plus one of a few constants", so they arrive in order. A timer is
//! appended to the first of a few [lanes](crate::lanes) whose last timer is not due later. That
//! takes constant time, and so does its removal. The few timers that fit no lane go into a binary
//! heap. The next deadline is the least of the lanes' heads and the heap's root (decision 0008).

use crate::base::narrow::Entry;
use crate::base::time::Instant;
use crate::table::lanes::{Lanes, QueuePart, NONE, OUT};

pub use crate::table::lanes::Timer;

/// Number of lanes.
const LANES: usize = 4;
/// In place of a lane's number.
const IN_HEAP: u8 = 0xfe;

/// What a timer holds of the heap: the timer at its index there.
#[derive(Clone, Copy, Debug)]
pub struct Heaped(Entry);

impl QueuePart for Heaped {
    const UNARMED: Self = Self(Entry::new(0));
    const COUNTED: bool = false;
}

static_assertions::const_assert_eq!(core::mem::size_of::<Timer<Heaped>>(), 20);

/// A queue of deadlines, each named by its index. Context: the shard's owner.
///
/// Entry number `i` of the heap is stored in timer `i`. A timer in the heap has its
/// position there in place of a neighbour.
#[derive(Debug)]
pub struct Deadlines<'m> {
    lanes: Lanes<'m, LANES, Heaped>,
    heaped: u32,
}

impl<'m> Deadlines<'m> {
    /// A queue over `timers`, all [`Timer::UNARMED`].
    pub fn new(timers: &'m mut [Timer<Heaped>]) -> Self {
        Self { lanes: Lanes::new(timers), heaped: 0 }
    }

    /// Whether a timer is armed, and for when.
    #[inline]
    pub fn armed(&self, index: u32) -> Option<Instant> {
        self.lanes.due(index)
    }

    /// Asks for the cache lines of a timer that is armed or disarmed soon.
    #[inline]
    pub(crate) fn expect(&self, index: u32) {
        self.lanes.expect(index);
    }

    /// Asks for those of its neighbours. They are read in the timer itself.
    #[inline]
    pub(crate) fn expect_neighbours(&self, index: u32) {
        self.lanes.expect_neighbours(index);
    }

    /// Arms timer `index`, or moves it. [`Instant::NEVER`] disarms it.
    #[cfg_attr(not(feature = "compact"), inline)]
    pub fn arm(&mut self, index: u32, due: Instant) {
        match self.lanes.timer(index) {
            Some(timer) if timer.lane == OUT => {}
            Some(_) => self.disarm(index),
            None => return,
        }
        if due == Instant::NEVER {
            return;
        }
        // The first lane that fits keeps the lanes sorted, so a look at their heads is enough. A
        // lane for each delay would need the delays to be known.
        for lane in 0..LANES {
            let fits = self.lanes.last_due(lane).is_none_or(|last| last <= due);
            if fits {
                self.lanes.append(index, lane, due);
                return;
            }
        }
        self.heap_insert(index, due);
    }

    /// Disarms a timer. A timer that is not armed stays so.
    #[cfg_attr(feature = "compact", inline(never))]
    #[cfg_attr(not(feature = "compact"), inline)]
    pub fn disarm(&mut self, index: u32) {
        if self.heaped > 0 && self.disarm_heaped(index) {
            return;
        }
        self.lanes.disarm(index);
    }

    /// Disarms a timer of the heap. Returns whether it is one.
    #[inline(never)]
    fn disarm_heaped(&mut self, index: u32) -> bool {
        let Some(timer) = self.lanes.timer(index).filter(|it| it.lane == IN_HEAP) else {
            return false;
        };
        self.heap_remove(timer.prev);
        if let Some(timer) = self.lanes.timer_mut(index) {
            timer.lane = OUT;
        }
        true
    }

    /// The exact next deadline, with its index.
    #[inline]
    pub fn next(&self) -> Option<(Instant, u32)> {
        let (due, index) = self.first();
        (index != NONE).then_some((due, index))
    }

    /// When the next timer is due; [`NEVER`](Instant::NEVER): none is armed.
    #[inline]
    pub(crate) fn next_due(&self) -> Instant {
        self.first().0
    }

    /// The next deadline and its index. [`NONE`], with [`Instant::NEVER`]: no timer is armed.
    #[cfg_attr(feature = "compact", inline(never))]
    #[cfg_attr(not(feature = "compact"), inline)]
    fn first(&self) -> (Instant, u32) {
        let first = self.lanes.first_of(u64::MAX);
        if self.heaped == 0 {
            return first;
        }
        let root = self.heap_at(0);
        let due = self.due(root);
        if first.0 <= due {
            first
        } else {
            (due, root)
        }
    }

    /// Disarms and returns one timer that is due at `now`, with the time at which it was due.
    #[cfg_attr(feature = "compact", inline(never))]
    pub fn expire(&mut self, now: Instant) -> Option<(Instant, u32)> {
        let (due, index) = self.first();
        if index == NONE || due > now {
            return None;
        }
        self.disarm(index);
        Some((due, index))
    }

    fn due(&self, index: u32) -> Instant {
        self.lanes.timer(index).map_or(Instant::NEVER, |timer| timer.due)
    }

    fn heap_at(&self, position: u32) -> u32 {
        self.lanes.timer(position).map_or(NONE, |timer| timer.own.0.get())
    }

    fn heap_set(&mut self, position: u32, index: u32) {
        if let Some(place) = self.lanes.timer_mut(position) {
            place.own = Heaped(Entry::new(index));
        }
        if let Some(timer) = self.lanes.timer_mut(index) {
            timer.prev = position;
        }
    }

    fn heap_insert(&mut self, index: u32, due: Instant) {
        if let Some(timer) = self.lanes.timer_mut(index) {
            timer.due = due;
            timer.lane = IN_HEAP;
        }
        let position = self.heaped;
        self.heaped += 1;
        self.heap_set(position, index);
        self.sift_up(position);
    }

    fn heap_remove(&mut self, position: u32) {
        let Some(last) = self.heaped.checked_sub(1) else { return };
        self.heaped = last;
        if position < last {
            let moved = self.heap_at(last);
            self.heap_set(position, moved);
            // The moved entry may be smaller or larger than its new neighbours, so both directions
            // are tried. One of the two does nothing.
            self.sift_up(position);
            self.sift_down(position);
        }
    }

    fn sift_up(&mut self, mut position: u32) {
        while position > 0 {
            let parent = (position - 1) / 2;
            let (child, above) = (self.heap_at(position), self.heap_at(parent));
            if self.due(above) <= self.due(child) {
                return;
            }
            self.heap_set(position, above);
            self.heap_set(parent, child);
            position = parent;
        }
    }

    fn sift_down(&mut self, mut position: u32) {
        loop {
            let left = position * 2 + 1;
            if left >= self.heaped {
                return;
            }
            let right = left + 1;
            let least = if right < self.heaped
                && self.due(self.heap_at(right)) < self.due(self.heap_at(left))
            {
                right
            } else {
                left
            };
            let (above, child) = (self.heap_at(position), self.heap_at(least));
            if self.due(above) <= self.due(child) {
                return;
            }
            self.heap_set(position, child);
            self.heap_set(least, above);
            position = least;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::vec;

    /// Random operations against a naive map, both on ordered and on wild deadlines.
    #[test]
    fn behaves_like_a_sorted_map() {
        let rounds = if cfg!(miri) { 60 } else { 40_000 };
        for wild in [0, 1, 50] {
            let mut timers = vec![Timer::UNARMED; 40];
            let mut queue = Deadlines::new(&mut timers);
            let mut oracle: BTreeMap<u32, u64> = BTreeMap::new();
            let mut x: u64 = 0x9e37_79b9_7f4a_7c15;
            for now in 0..rounds {
                x ^= x << 13;
                x ^= x >> 7;
                x ^= x << 17;
                let index = (x >> 8) as u32 % 40;
                match x % 4 {
                    0 | 1 => {
                        let due = now + 20 + (x >> 40) % (1 + wild * 10);
                        queue.arm(index, Instant::from_nanos(due));
                        oracle.insert(index, due);
                    }
                    2 => {
                        queue.disarm(index);
                        oracle.remove(&index);
                    }
                    _ => {
                        while let Some((due, index)) = queue.expire(Instant::from_nanos(now)) {
                            assert_eq!(oracle.remove(&index), Some(due.as_nanos()));
                            let due = due.as_nanos();
                            assert!(due <= now);
                            assert!(oracle.values().all(|&other| other >= due));
                        }
                        assert!(oracle.values().all(|&due| due > now));
                    }
                }
                let least = oracle.values().min().map(|&n| Instant::from_nanos(n));
                assert_eq!(queue.next().map(|(due, _)| due), least);
            }
        }
    }

    #[test]
    fn never_disarms_and_there_is_no_timer_beyond_the_table() {
        let mut timers = vec![Timer::UNARMED; 2];
        let mut queue = Deadlines::new(&mut timers);
        let soon = Instant::from_nanos(7);
        queue.arm(1, soon);
        queue.arm(2, soon);
        queue.disarm(2);
        assert_eq!((queue.next(), queue.armed(2)), (Some((soon, 1)), None));
        queue.arm(1, Instant::NEVER);
        assert_eq!((queue.next(), queue.armed(1)), (None, None));
    }

    #[test]
    fn r39_deadlines_in_order_never_need_the_heap() {
        let mut timers = vec![Timer::UNARMED; 40];
        let mut queue = Deadlines::new(&mut timers);
        for index in 0..40 {
            queue.arm(index, Instant::from_nanos(u64::from(index / 2)));
        }
        assert_eq!(queue.heaped, 0);
    }

    #[test]
    fn an_empty_heap_has_no_next_deadline() {
        let mut timers = vec![Timer::UNARMED; 8];
        let mut queue = Deadlines::new(&mut timers);
        // Each is earlier than all before: the fifth fits no lane.
        for index in 0..5 {
            queue.arm(index, Instant::from_nanos(u64::from(50 - index)));
        }
        assert_eq!((queue.heaped, queue.next()), (1, Some((Instant::from_nanos(46), 4))));
        queue.disarm(4);
        assert_eq!((queue.heaped, queue.next()), (0, Some((Instant::from_nanos(47), 3))));
    }
}
