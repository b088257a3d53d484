// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Timers in sorted lanes: every operation takes constant time.
//!
//! All delays of one lane are equal, so what is appended is due last and the lane stays sorted by
//! itself. Back-off has a handful of delays, jitter a few variants of each: at most [`MAX_LANES`]
//! lanes. An entry is in at most one lane, so it is queued at most once by construction (R50).

use crate::ids::NONE;
use lnd_core::time::Instant;

/// Most lanes: one bit each in a word.
pub const MAX_LANES: usize = 64;
const OUT: u8 = u8::MAX;

/// One entry's place in the lanes. The caller's table of them is the queue's memory.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    due: Instant,
    prev: u32,
    next: u32,
    lane: u8,
    /// For the queue's owner: how many times in a row.
    pub(crate) count: u8,
    /// For the queue's owner: something is under way of which no end was told yet.
    pub(crate) open: bool,
    /// For the queue's owner: which use of the entry this is, so that a late answer is recognised.
    pub(crate) generation: u32,
}

impl Link {
    /// Not queued.
    pub const OUT: Self = Self {
        due: Instant::NEVER,
        prev: NONE,
        next: NONE,
        lane: OUT,
        count: 0,
        open: false,
        generation: 0,
    };
}

/// A queue of entries named by their index, in `N` lanes.
#[derive(Debug)]
pub struct Lanes<'m, const N: usize> {
    links: &'m mut [Link],
    heads: [u32; N],
    tails: [u32; N],
    /// Bit `i`: lane `i` has entries.
    busy: u64,
    len: u32,
}

impl<'m, const N: usize> Lanes<'m, N> {
    /// An empty queue over `links`, all [`Link::OUT`].
    pub fn new(links: &'m mut [Link]) -> Self {
        const { assert!(N <= MAX_LANES) };
        Self { links, heads: [NONE; N], tails: [NONE; N], busy: 0, len: 0 }
    }

    /// Entries queued.
    pub const fn len(&self) -> u32 {
        self.len
    }

    /// Whether nothing is queued.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Entries that the table has room for.
    pub const fn capacity(&self) -> usize {
        self.links.len()
    }

    /// Whether the entry is queued, and for when.
    pub fn due(&self, index: u32) -> Option<Instant> {
        self.links.get(index as usize).filter(|l| l.lane != OUT).map(|l| l.due)
    }

    pub(crate) fn link(&self, index: u32) -> Option<&Link> {
        self.links.get(index as usize)
    }

    pub(crate) fn link_mut(&mut self, index: u32) -> Option<&mut Link> {
        self.links.get_mut(index as usize)
    }

    /// Queues an entry at the end of a lane, or moves it there. Due at `due`, or with the lane's
    /// last entry should that be later (a clock that stepped back).
    pub fn arm(&mut self, index: u32, lane: usize, due: Instant) {
        self.disarm(index);
        let Some(&tail) = self.tails.get(lane) else { return };
        let due = self.links.get(tail as usize).map_or(due, |last| due.max(last.due));
        let Some(link) = self.links.get_mut(index as usize) else { return };
        (link.due, link.prev, link.next, link.lane) = (due, tail, NONE, lane as u8);
        match self.links.get_mut(tail as usize) {
            Some(last) => last.next = index,
            None => set(&mut self.heads, lane, index),
        }
        set(&mut self.tails, lane, index);
        self.busy |= bit(lane);
        self.len = self.len.saturating_add(1);
    }

    /// Takes an entry out; one that is not queued stays so. Returns whether it was queued.
    pub fn disarm(&mut self, index: u32) -> bool {
        let Some(link) = self.links.get_mut(index as usize).filter(|l| l.lane != OUT) else {
            return false;
        };
        let Link { prev, next, lane, .. } = *link;
        link.lane = OUT;
        let lane = lane as usize;
        match self.links.get_mut(prev as usize) {
            Some(before) => before.next = next,
            None => set(&mut self.heads, lane, next),
        }
        match self.links.get_mut(next as usize) {
            Some(after) => after.prev = prev,
            None => set(&mut self.tails, lane, prev),
        }
        if self.heads.get(lane) == Some(&NONE) {
            self.busy &= !bit(lane);
        }
        self.len = self.len.saturating_sub(1);
        true
    }

    /// When the next entry is due, and which it is. Looks at the lanes' heads only.
    pub fn next(&self) -> Option<(Instant, u32)> {
        self.next_of(u64::MAX)
    }

    /// The same of some lanes only, as a mask.
    pub(crate) fn next_of(&self, lanes: u64) -> Option<(Instant, u32)> {
        let mut best: Option<(Instant, u32)> = None;
        let mut left = self.busy & lanes;
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            left &= left - 1;
            let Some(&head) = self.heads.get(lane) else { break };
            let Some(link) = self.links.get(head as usize) else { continue };
            if best.is_none_or(|(due, _)| link.due < due) {
                best = Some((link.due, head));
            }
        }
        best
    }

    /// All entries, lane by lane, each lane in the order in which its entries are due.
    pub fn entries(&self) -> impl Iterator<Item = u32> + '_ {
        let here = |index: u32| self.links.get(index as usize).map(|_| index);
        self.heads.iter().flat_map(move |&head| {
            core::iter::successors(here(head), move |&index| {
                here(self.links.get(index as usize)?.next)
            })
        })
    }

    /// Takes out and returns one entry that is due at `now`.
    pub fn expire(&mut self, now: Instant) -> Option<u32> {
        self.expire_of(u64::MAX, now)
    }

    /// The same of some lanes only, as a mask.
    pub(crate) fn expire_of(&mut self, lanes: u64, now: Instant) -> Option<u32> {
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

    /// Random operations against a sorted map; the clock now and then steps back.
    #[test]
    fn behaves_like_a_sorted_map() {
        let rounds = if cfg!(miri) { 150 } else { 60_000 };
        let mut links = vec![Link::OUT; 30];
        let mut lanes = Lanes::<4>::new(&mut links);
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
