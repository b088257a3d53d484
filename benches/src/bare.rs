// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The least programs that show where a limit is: an exact next deadline, and the memory that a
//! transfer or a peer has to touch. None of them checks, records or reports.

use std::hint::black_box;

const NONE: u32 = u32::MAX;

/// A table whose memory is asked for in huge pages, or in those that the system gives.
fn table<T: Clone>(count: usize, value: T, huge: bool) -> Vec<T> {
    let mut table = Vec::with_capacity(count);
    if huge {
        let (begin, bytes) = (table.as_ptr() as usize, count * size_of::<T>());
        let from = begin.next_multiple_of(4096);
        let length = (begin + bytes).saturating_sub(from) & !4095;
        // SAFETY: whole pages of memory that is ours. Advice changes no content; where it is not
        // taken, pages are small.
        unsafe { libc::madvise(from as *mut libc::c_void, length, libc::MADV_HUGEPAGE) };
    }
    table.resize(count, value);
    table
}

/// One timer of a sorted list.
#[derive(Clone, Copy, Debug)]
struct Armed {
    due: u64,
    prev: u32,
    next: u32,
}

/// The least that knows the exact next deadline in constant time: one list in the order of the
/// deadlines, which is right where all are the same time away. Its head is the next one.
#[derive(Debug)]
pub struct SortedList {
    timers: Vec<Armed>,
    head: u32,
    tail: u32,
}

impl SortedList {
    /// A list for `timers` timers, none of which is armed.
    pub fn new(timers: usize, huge: bool) -> Self {
        let unarmed = Armed { due: u64::MAX, prev: NONE, next: NONE };
        Self { timers: table(timers, unarmed, huge), head: NONE, tail: NONE }
    }

    /// Arms a timer that is not armed, to be due no earlier than any other.
    #[inline]
    pub fn arm(&mut self, index: u32, due: u64) {
        let tail = std::mem::replace(&mut self.tail, index);
        match self.timers.get_mut(tail as usize) {
            Some(last) => last.next = index,
            None => self.head = index,
        }
        self.timers[index as usize] = Armed { due, prev: tail, next: NONE };
    }

    /// Disarms a timer that is armed.
    #[inline]
    pub fn disarm(&mut self, index: u32) {
        let Armed { prev, next, .. } = self.timers[index as usize];
        match self.timers.get_mut(prev as usize) {
            Some(before) => before.next = next,
            None => self.head = next,
        }
        match self.timers.get_mut(next as usize) {
            Some(after) => after.prev = prev,
            None => self.tail = prev,
        }
    }

    /// When the next timer is due.
    #[inline]
    pub fn next(&self) -> Option<u64> {
        self.timers.get(self.head as usize).map(|timer| timer.due)
    }
}

/// A cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Line([u64; 8]);

/// The memory that a transfer's life has to touch, in tables as long as the driver's: its name with
/// the one that began it, its own line, and its timer with the neighbours in a list of deadlines.
#[derive(Debug)]
pub struct Transfers {
    names: Vec<u64>,
    lines: Vec<Line>,
    deadlines: SortedList,
    now: u64,
}

impl Transfers {
    /// So many outstanding, all of them armed.
    pub fn new(outstanding: usize, huge: bool) -> Self {
        let mut deadlines = SortedList::new(outstanding, huge);
        (0..outstanding as u32).for_each(|index| deadlines.arm(index, u64::from(index)));
        let mut names = table(outstanding, 0, huge);
        names.iter_mut().zip(0..).for_each(|(name, index)| *name = index);
        let lines = table(outstanding, Line([0; 8]), huge);
        Self { names, lines, deadlines, now: outstanding as u64 }
    }

    /// How many are outstanding.
    pub const fn places(&self) -> usize {
        self.names.len()
    }

    /// One ends, and another one begins in its place.
    #[inline]
    pub fn turn(&mut self, at: usize) {
        let index = self.names[at] as u32;
        let line = &mut self.lines[index as usize].0;
        line[0] = black_box(line[0] + 1);
        line[7] = line[7].wrapping_add(line[1]);
        self.now += 1;
        self.deadlines.disarm(index);
        self.deadlines.arm(index, self.now);
        black_box(self.deadlines.next());
        self.names[at] = u64::from(index);
    }
}

/// The memory that a message to a peer has to touch, in tables as long as the driver's: the place
/// of its name in an index, and its own lines.
#[derive(Debug)]
pub struct Crowd {
    peers: usize,
    index: Vec<u32>,
    lines: Vec<Line>,
    of_each: usize,
}

impl Crowd {
    /// So many peers of `bytes` bytes each.
    pub fn new(peers: usize, bytes: usize, huge: bool) -> Self {
        let of_each = bytes.div_ceil(64);
        let mut index = table((2 * peers).next_power_of_two(), NONE, huge);
        for peer in 0..peers {
            let mut place = Self::place(&index, peer);
            while index[place] != NONE {
                place = (place + 1) & (index.len() - 1);
            }
            index[place] = peer as u32;
        }
        let lines = table(peers * of_each, Line([0; 8]), huge);
        Self { peers, index, lines, of_each }
    }

    /// How many peers there are.
    pub const fn places(&self) -> usize {
        self.peers
    }

    /// Where the search for a peer begins.
    fn place(index: &[u32], peer: usize) -> usize {
        let mixed = (peer as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (((mixed >> 32) * index.len() as u64) >> 32) as usize
    }

    /// A message to a peer.
    #[inline]
    pub fn turn(&mut self, peer: usize) {
        let mut place = Self::place(&self.index, peer);
        while self.index[place] != peer as u32 {
            place = (place + 1) & (self.index.len() - 1);
        }
        let first = self.index[place] as usize * self.of_each;
        for line in &mut self.lines[first..first + self.of_each] {
            line.0[0] = black_box(line.0[0] + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_of_the_list_is_the_exact_next_deadline() {
        let mut list = SortedList::new(4, true);
        assert_eq!(list.next(), None);
        (0..4).for_each(|index| list.arm(index, 10 + u64::from(index)));
        list.disarm(1);
        assert_eq!(list.next(), Some(10));
        list.disarm(0);
        assert_eq!(list.next(), Some(12));
        list.arm(0, 20);
        list.disarm(3);
        list.disarm(2);
        assert_eq!((list.next(), list.head, list.tail), (Some(20), 0, 0));
        list.disarm(0);
        assert_eq!((list.next(), list.tail), (None, NONE));
    }

    #[test]
    fn every_turn_touches_what_it_names() {
        for huge in [false, true] {
            let mut transfers = Transfers::new(1000, huge);
            (0..3000).for_each(|n| transfers.turn(n * 7 % 1000));
            assert!(transfers.lines.iter().all(|line| line.0[0] == 3));
            let oldest = 1000 + 2000 + 1;
            assert_eq!(transfers.deadlines.next(), Some(oldest), "of the last 1000 turns");
            let mut crowd = Crowd::new(1000, 165, huge);
            (0..2000).for_each(|n| crowd.turn(n * 3 % 1000));
            assert_eq!(crowd.lines.len(), 3000);
            assert!(crowd.lines.iter().all(|line| line.0[0] == 2));
        }
    }
}
