// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Duplicates by (peer life, number) (R45): the sender numbers what it may send twice, the receiver
//! remembers which numbers of the sender's present life it has taken.
//!
//! The sender never has a number outstanding that is [`WIDTH`] or more behind the next one. So
//! between correct nodes no number ever falls out of the receiver's window before it has ended, and
//! what does is refused: refusing is always safe, taking it twice never.

use lnd_core::defect::seeded;

/// Numbers that one window covers: more than all rails' credits of one peer together.
pub const WIDTH: u32 = 512;
const WORDS: usize = WIDTH as usize / 32;

/// One bit for each of the last [`WIDTH`] numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Ring([u32; WORDS]);

impl Ring {
    const fn place(number: u32) -> (usize, u32) {
        ((number / 32) as usize % WORDS, 1 << (number % 32))
    }

    fn get(&self, number: u32) -> bool {
        let (word, bit) = Self::place(number);
        self.0.get(word).is_some_and(|w| w & bit != 0)
    }

    fn set(&mut self, number: u32, on: bool) {
        let (word, bit) = Self::place(number);
        if let Some(w) = self.0.get_mut(word) {
            *w = if on { *w | bit } else { *w & !bit };
        }
    }
}

/// What a received number turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copy {
    /// The first: deliver it.
    First,
    /// A second copy of what was taken: drop it, and tell the sender that it has arrived.
    Second,
    /// Too old to tell: refuse it.
    Outside,
}

/// The receiver's side for one peer: numbers count from 0 and wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Taken {
    /// One more than the highest number taken.
    next: u32,
    seen: Ring,
}

impl Taken {
    /// At the start of the peer's life: nothing taken.
    pub const fn new() -> Self {
        // No number before the first may be taken.
        Self { next: 0, seen: Ring([u32::MAX; WORDS]) }
    }

    /// Looks at a received number, and notes it if it is the first copy.
    pub fn take(&mut self, number: u32) -> Copy {
        let ahead = number.wrapping_sub(self.next);
        if ahead < 1 << 31 {
            // Numbers passed over may still come. At most `WIDTH` bits are cleared, and over time
            // one for each number.
            for passed in 0..ahead.min(WIDTH) {
                self.seen.set(self.next.wrapping_add(passed), false);
            }
            self.seen.set(number, true);
            self.next = number.wrapping_add(1);
            return Copy::First;
        }
        let width = if seeded("window-off-by-one") { WIDTH + 1 } else { WIDTH };
        if self.next.wrapping_sub(number) > width {
            return Copy::Outside;
        }
        if self.seen.get(number) && !seeded("second-copy-taken") {
            return Copy::Second;
        }
        self.seen.set(number, true);
        Copy::First
    }
}

impl Default for Taken {
    fn default() -> Self {
        Self::new()
    }
}

/// The sender's side for one peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Numbers {
    next: u32,
    outstanding: Ring,
}

impl Numbers {
    /// At the start of the peer's life: nothing outstanding.
    pub const fn new() -> Self {
        Self { next: 0, outstanding: Ring([0; WORDS]) }
    }

    /// The next number, or `None` while the one [`WIDTH`] before it has not ended.
    pub fn give(&mut self) -> Option<u32> {
        let number = self.next;
        // Its place in the ring is that of the number `WIDTH` earlier.
        if self.outstanding.get(number) {
            return None;
        }
        self.outstanding.set(number, true);
        self.next = number.wrapping_add(1);
        Some(number)
    }

    /// The message with this number has ended: no copy of it will be sent again.
    pub fn end(&mut self, number: u32) {
        if self.next.wrapping_sub(number).wrapping_sub(1) < WIDTH {
            self.outstanding.set(number, false);
        }
    }
}

impl Default for Numbers {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::vec::Vec;

    /// Several rails reorder, lose and repeat; each number is delivered at most once, and between
    /// a correct sender and receiver none is refused as long as it has not ended.
    #[test]
    fn each_number_is_taken_once() {
        let rounds = if cfg!(miri) { 600 } else { 200_000 };
        for start in [0, u32::MAX - 700] {
            let mut taken = Taken { next: start, ..Taken::new() };
            let mut numbers = Numbers { next: start, ..Numbers::new() };
            let mut open: Vec<u32> = Vec::new();
            let mut delivered = BTreeSet::new();
            let (mut x, mut refusals) = (0x9e37_79b9_7f4a_7c15_u64, 0);
            for _ in 0..rounds {
                x ^= x << 13;
                x ^= x >> 7;
                x ^= x << 17;
                let pick = |n: usize| (x >> 16) as usize % n.max(1);
                match x % 5 {
                    0 | 1 => match numbers.give() {
                        Some(number) => open.push(number),
                        None => refusals += 1,
                    },
                    2 | 3 if !open.is_empty() => {
                        let number = open[pick(open.len())];
                        let age = numbers.next.wrapping_sub(number);
                        assert!((1..=WIDTH).contains(&age));
                        match taken.take(number) {
                            // A number may come round again after 2^32 others, not here.
                            Copy::First => assert!(delivered.insert(number)),
                            Copy::Second => assert!(delivered.contains(&number)),
                            Copy::Outside => panic!("{number} has not ended"),
                        }
                    }
                    _ if open.len() > 300 => numbers.end(open.swap_remove(pick(open.len()))),
                    _ => {}
                }
            }
            // The oldest stays open for long now and then: the sender must have had to wait.
            assert!(cfg!(miri) || refusals > 0);
        }
    }

    #[test]
    fn what_is_outside_of_the_window_is_refused() {
        let mut taken = Taken::new();
        assert_eq!(taken.take(u32::MAX), Copy::Second, "before the first number");
        assert_eq!(taken.take(0), Copy::First);
        assert_eq!(taken.take(WIDTH - 1), Copy::First);
        assert_eq!(taken.take(0), Copy::Second, "still in the window");
        assert_eq!(taken.take(WIDTH), Copy::First);
        assert_eq!(taken.take(0), Copy::Outside);
        assert_eq!(taken.take(1), Copy::First);
        assert_eq!(taken.take(1), Copy::Second);
        // All of a long series were lost: the window follows.
        assert_eq!(taken.take(100 * WIDTH), Copy::First);
        assert_eq!(taken.take(99 * WIDTH), Copy::Outside);
        assert_eq!(taken.take(99 * WIDTH + 1), Copy::First);
        // Half way round, where ahead and behind meet.
        assert_eq!(taken.take(100 * WIDTH + 1 + (1 << 31)), Copy::Outside);
        assert_eq!(taken.take(100 * WIDTH + (1 << 31)), Copy::First);
    }

    #[test]
    fn ends_of_unknown_numbers_change_nothing() {
        let mut numbers = Numbers::new();
        assert_eq!(numbers.give(), Some(0));
        numbers.end(77);
        numbers.end(u32::MAX);
        for n in 1..WIDTH {
            assert_eq!(numbers.give(), Some(n));
        }
        assert_eq!(numbers.give(), None, "number 0 has not ended");
        numbers.end(0);
        assert_eq!(numbers.give(), Some(WIDTH));
        // The place is another's now.
        numbers.end(0);
        (1..WIDTH).for_each(|n| numbers.end(n));
        for n in 1..WIDTH {
            assert_eq!(numbers.give(), Some(WIDTH + n));
        }
        assert_eq!(numbers.give(), None, "number {WIDTH} has not ended");
    }
}
