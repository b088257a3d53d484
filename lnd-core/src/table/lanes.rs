// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file holds timers in sorted lists, the *lanes*: every operation takes constant time.
//!
//! Delays are few. What is queued with one delay is due in the order in which it was queued, so a
//! lane stays sorted by appending. A timer is in at most one lane, so it is queued at most once by
//! construction (R50). [`Deadlines`](crate::deadlines::Deadlines) chooses the lane itself and has a
//! heap for what fits none. An owner with a lane for each of its delays names the lane.

use crate::base::sync::prefetch_all_for_write;
use crate::base::time::Instant;

/// Most lanes: one bit each in a word.
pub const MAX_LANES: usize = 64;
/// The index that names no timer.
pub(crate) const NONE: u32 = u32::MAX;
/// In place of a lane's number: the timer is not queued.
pub(crate) const OUT: u8 = u8::MAX;

/// What the owner of a queue keeps in each timer.
pub trait QueuePart: Copy + core::fmt::Debug {
    /// The value of a timer that was never queued.
    const UNARMED: Self;
    /// Whether the owner asks how many timers are queued. A count that every operation changes is
    /// what every next operation waits for.
    const COUNTED: bool;
}

/// The part of an owner that counts tries.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed)]
pub struct Tries {
    /// Identifies a try.
    pub word: u32,
    /// How many tries there were.
    pub count: u8,
    /// The owner's mark.
    pub flag: bool,
}

impl QueuePart for Tries {
    const UNARMED: Self = Self { word: 0, count: 0, flag: false };
    const COUNTED: bool = true;
}

/// One timer. The owner's table of timers is the queue's memory.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
pub struct Timer<O: QueuePart = Tries> {
    pub(crate) due: Instant,
    /// Neighbours in a lane.
    pub(crate) prev: u32,
    next: u32,
    /// The part of the queue's owner.
    pub own: O,
    pub(crate) lane: u8,
}

static_assertions::const_assert_eq!(core::mem::size_of::<Timer>(), 24);

impl<O: QueuePart> Timer<O> {
    /// Not queued.
    pub const UNARMED: Self =
        Self { due: Instant::NEVER, prev: NONE, next: NONE, own: O::UNARMED, lane: OUT };
}

/// A queue of timers named by their index, in `N` lanes. Context: its owner's.
#[derive(Debug)]
pub struct Lanes<'m, const N: usize, O: QueuePart = Tries> {
    timers: &'m mut [Timer<O>],
    heads: [u32; N],
    tails: [u32; N],
    /// Bit `i`: lane `i` has timers.
    busy: u64,
    len: u32,
}

impl<'m, const N: usize, O: QueuePart> Lanes<'m, N, O> {
    /// An empty queue over `timers`, all [`Timer::UNARMED`].
    pub fn new(timers: &'m mut [Timer<O>]) -> Self {
        const { assert!(N <= MAX_LANES) };
        Self { timers, heads: [NONE; N], tails: [NONE; N], busy: 0, len: 0 }
    }

    /// Timers queued, for owners that [count](QueuePart::COUNTED).
    pub const fn len(&self) -> u32 {
        const { assert!(O::COUNTED) };
        self.len
    }

    /// Whether nothing is queued.
    pub const fn is_empty(&self) -> bool {
        self.busy == 0
    }

    /// Whether a timer is queued, and for when.
    pub fn due(&self, index: u32) -> Option<Instant> {
        self.timers.get(index as usize).filter(|t| t.lane != OUT).map(|t| t.due)
    }

    /// A timer, whether it is queued or not.
    #[inline]
    pub fn timer(&self, index: u32) -> Option<&Timer<O>> {
        self.timers.get(index as usize)
    }

    /// A timer, for the owner's own fields.
    #[inline]
    pub fn timer_mut(&mut self, index: u32) -> Option<&mut Timer<O>> {
        self.timers.get_mut(index as usize)
    }

    /// Queues a timer at the end of a lane, or moves it there. It is due at `due`, or with the
    /// lane's last timer if that is later.
    pub fn arm(&mut self, index: u32, lane: usize, due: Instant) {
        self.disarm(index);
        // A clock that stepped back must not break the order of the lane.
        let due = self.last_due(lane).map_or(due, |last| due.max(last));
        self.append(index, lane, due);
    }

    /// When the last timer of a lane is due. `None`: the lane is empty.
    #[inline]
    pub(crate) fn last_due(&self, lane: usize) -> Option<Instant> {
        let &tail = self.tails.get(lane)?;
        self.timers.get(tail as usize).map(|last| last.due)
    }

    /// Queues a timer that is not queued, in a lane without a later one.
    #[inline]
    pub(crate) fn append(&mut self, index: u32, lane: usize, due: Instant) {
        let Some(&tail) = self.tails.get(lane) else { return };
        let Some(timer) = self.timers.get_mut(index as usize) else { return };
        (timer.due, timer.prev, timer.next, timer.lane) = (due, tail, NONE, lane as u8);
        match self.timers.get_mut(tail as usize) {
            Some(last) => last.next = index,
            // An empty lane: the timer is its head too.
            None => {
                set(&mut self.heads, lane, index);
                self.busy |= bit(lane);
            }
        }
        set(&mut self.tails, lane, index);
        if O::COUNTED {
            self.len = self.len.wrapping_add(1);
        }
    }

    /// Removes a timer. A timer that is not queued stays so. Returns whether it was queued.
    #[inline]
    pub fn disarm(&mut self, index: u32) -> bool {
        let Some(timer) = self.timers.get_mut(index as usize).filter(|t| t.lane != OUT) else {
            return false;
        };
        let Timer { prev, next, lane, .. } = *timer;
        timer.lane = OUT;
        self.unlink(prev, next, lane as usize);
        if O::COUNTED {
            // It was queued, so it was counted.
            self.len = self.len.wrapping_sub(1);
        }
        true
    }

    /// Links the neighbours of a timer that leaves a lane.
    #[inline(always)]
    fn unlink(&mut self, prev: u32, next: u32, lane: usize) {
        match self.timers.get_mut(prev as usize) {
            Some(before) => before.next = next,
            None => {
                set(&mut self.heads, lane, next);
                // An empty lane leaves the mask, so the search for the next timer reads only heads
                // that exist.
                if next == NONE {
                    self.busy &= !bit(lane);
                }
            }
        }
        match self.timers.get_mut(next as usize) {
            Some(after) => after.prev = prev,
            None => set(&mut self.tails, lane, prev),
        }
    }

    /// Asks for the cache lines of a timer, whose index names it soon.
    #[inline]
    pub(crate) fn expect(&self, index: u32) {
        if let Some(timer) = self.timers.get(index as usize) {
            prefetch_all_for_write(timer);
        }
    }

    /// Asks for those of its neighbours. They are read in the timer itself.
    #[inline]
    pub(crate) fn expect_neighbours(&self, index: u32) {
        if let Some(timer) = self.timers.get(index as usize) {
            self.expect(timer.prev);
            self.expect(timer.next);
        }
    }

    /// When the next timer is due, and its index. Reads the lanes' heads only.
    #[inline]
    pub fn next(&self) -> Option<(Instant, u32)> {
        self.next_of(u64::MAX)
    }

    /// The same of some lanes only, given as a mask.
    #[inline]
    pub fn next_of(&self, lanes: u64) -> Option<(Instant, u32)> {
        let (due, index) = self.first_of(lanes);
        (index != NONE).then_some((due, index))
    }

    /// The same as a pair, which is returned in registers. [`NONE`], with [`Instant::NEVER`]: these
    /// lanes are empty.
    #[inline]
    pub(crate) fn first_of(&self, lanes: u64) -> (Instant, u32) {
        let mut best = (Instant::NEVER, NONE);
        let mut left = self.busy & lanes;
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            // Clears the lowest bit: the loop runs once for each lane with timers.
            left &= left - 1;
            let Some(&head) = self.heads.get(lane) else { break };
            let Some(timer) = self.timers.get(head as usize) else { continue };
            // Of equal times the lower lane wins.
            if { timer.due } < best.0 || best.1 == NONE {
                best = (timer.due, head);
            }
        }
        best
    }

    /// All timers, lane by lane, each lane in the order of its deadlines.
    pub fn entries(&self) -> impl Iterator<Item = u32> + '_ {
        let here = |index: u32| self.timers.get(index as usize).map(|_| index);
        self.heads.iter().flat_map(move |&head| {
            core::iter::successors(here(head), move |&index| {
                here(self.timers.get(index as usize)?.next)
            })
        })
    }

    /// Removes and returns one timer that is due at `now`.
    pub fn expire(&mut self, now: Instant) -> Option<u32> {
        self.expire_of(u64::MAX, now)
    }

    /// The same of some lanes only, given as a mask.
    pub fn expire_of(&mut self, lanes: u64, now: Instant) -> Option<u32> {
        let (due, index) = self.next_of(lanes)?;
        if due > now {
            return None;
        }
        self.disarm(index);
        Some(index)
    }
}

const fn bit(lane: usize) -> u64 {
    1 << (lane & 63)
}

fn set(table: &mut [u32], lane: usize, index: u32) {
    if let Some(place) = table.get_mut(lane) {
        *place = index;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::vec;

    #[test]
    fn entries_come_lane_by_lane_as_they_are_due() {
        let mut timers = vec![Timer::UNARMED; 6];
        let mut lanes = Lanes::<4>::new(&mut timers);
        assert_eq!((lanes.expire(Instant::NEVER), lanes.entries().count()), (None, 0));
        for (index, lane) in [(5, 2), (1, 0), (3, 2), (0, 2), (4, 0)] {
            lanes.arm(index, lane, Instant::from_nanos(10));
        }
        lanes.disarm(3);
        assert_eq!(lanes.entries().collect::<vec::Vec<_>>(), [1, 4, 5, 0]);
        // Of some lanes only.
        assert_eq!(lanes.next_of(1 << 2), Some((Instant::from_nanos(10), 5)));
        assert_eq!(lanes.expire_of(1 << 3, Instant::NEVER), None);
        assert_eq!(lanes.expire_of(1 << 2, Instant::from_nanos(9)), None);
        assert_eq!(lanes.expire_of(1 << 2, Instant::from_nanos(10)), Some(5));
        assert_eq!((lanes.len(), lanes.is_empty()), (3, false));
    }

    /// A delay that reaches beyond the clock ends at the time that never comes.
    #[test]
    fn what_is_due_at_no_time_is_queued_all_the_same() {
        let mut timers = vec![Timer::UNARMED; 2];
        let mut lanes = Lanes::<4>::new(&mut timers);
        lanes.arm(1, 3, Instant::NEVER);
        assert_eq!(lanes.next(), Some((Instant::NEVER, 1)));
        lanes.arm(0, 3, Instant::NEVER);
        lanes.arm(1, 2, Instant::from_nanos(7));
        assert_eq!(lanes.next(), Some((Instant::from_nanos(7), 1)));
        assert_eq!((lanes.expire_of(1 << 3, Instant::NEVER), lanes.len()), (Some(0), 1));
    }

    /// Random operations against a sorted map; the clock now and then steps back.
    #[test]
    fn behaves_like_a_sorted_map() {
        let rounds = if cfg!(miri) { 150 } else { 60_000 };
        let mut timers = vec![Timer::UNARMED; 30];
        let mut lanes = Lanes::<4>::new(&mut timers);
        let mut oracle: BTreeMap<u32, u64> = BTreeMap::new();
        let mut last = [0_u64; 4];
        let mut x = 0x1234_5678_9abc_def1_u64;
        for step in 0..rounds {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            let now = if x >> 60 == 0 { step / 2 } else { step };
            let (index, lane) = ((x >> 8) as u32 % 30, (x >> 20) as usize % 4);
            match x % 4 {
                0 | 1 => {
                    // Only what is still in the lane can push the new entry back.
                    oracle.remove(&index);
                    lanes.disarm(index);
                    let floor = if lanes.tails[lane] == NONE { 0 } else { last[lane] };
                    let due = floor.max(now + (10 << lane));
                    lanes.arm(index, lane, Instant::from_nanos(now + (10 << lane)));
                    let tail = lanes.due(index).unwrap().as_nanos();
                    assert!(tail <= due && tail >= now + (10 << lane));
                    last[lane] = tail;
                    oracle.insert(index, tail);
                }
                2 => assert_eq!(lanes.disarm(index), oracle.remove(&index).is_some()),
                _ => {
                    while let Some(index) = lanes.expire(Instant::from_nanos(now)) {
                        let due = oracle.remove(&index).unwrap();
                        assert!(due <= now && oracle.values().all(|&other| other >= due));
                    }
                    assert!(oracle.values().all(|&due| due > now));
                }
            }
            assert_eq!(lanes.len() as usize, oracle.len());
            let least = oracle.values().min().copied();
            assert_eq!(lanes.next().map(|(due, _)| due.as_nanos()), least);
        }
    }
}
