// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file tracks which requests of a session were seen, so that duplicates are dropped and
//! losses are counted.

/// Width of the window. At most [`MAX_DEPTH`](crate::config::MAX_DEPTH) requests are in flight. A
/// request that falls out of a window twice as wide is lost, not late.
pub const WIDTH: u32 = 64;

/// A sliding window over sequence numbers, which count from 1 and wrap.
#[derive(Clone, Copy, Debug, Default, Hash)]
#[repr(C, packed(4))]
pub struct SequenceWindow {
    /// Highest number seen.
    top: u32,
    /// Bit `i`: number `top - i` was seen. One 64-bit value is allowed here, because the window has
    /// one owner.
    seen: u64,
}

/// The result of a check of a sequence number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SequenceCheck {
    /// New. `lost` earlier requests have now left the window unseen, and they are never accepted.
    Fresh {
        /// Requests that count as lost.
        lost: u32,
    },
    /// Seen before.
    Duplicate,
    /// Older than the window, or further ahead than any correct sender can be.
    Outside,
}

impl SequenceWindow {
    /// The window at the start of a session: nothing seen, the first number is 1.
    pub const fn new() -> Self {
        Self::counting_from(0)
    }

    /// The same, and the number before the first is `start`.
    pub const fn counting_from(start: u32) -> Self {
        // All numbers before the first count as seen, so that none of them counts as lost.
        Self { top: start, seen: u64::MAX }
    }

    /// Highest number seen.
    #[inline]
    pub const fn top(&self) -> u32 {
        self.top
    }

    /// Checks a number without noting it.
    #[cfg_attr(feature = "compact", inline(never))]
    #[cfg_attr(not(feature = "compact"), inline)]
    pub const fn peek(&self, sequence: u32) -> SequenceCheck {
        let ahead = sequence.wrapping_sub(self.top);
        if ahead == 0 {
            return SequenceCheck::Duplicate;
        }
        // Numbers wrap: a distance below half the range is ahead, and everything else is behind.
        if ahead < 1 << 31 {
            // No correct sender is so far ahead: its credits bound it.
            if ahead > WIDTH {
                return SequenceCheck::Outside;
            }
            return SequenceCheck::Fresh { lost: self.falling(ahead) };
        }
        let behind = self.top.wrapping_sub(sequence);
        if behind >= WIDTH {
            SequenceCheck::Outside
        } else if self.seen >> behind & 1 == 1 {
            SequenceCheck::Duplicate
        } else {
            SequenceCheck::Fresh { lost: 0 }
        }
    }

    /// Whether a number is the next in order, and noting it loses no other.
    #[inline]
    pub const fn expects(&self, sequence: u32) -> bool {
        sequence == self.top.wrapping_add(1) && self.falling(1) == 0
    }

    /// Notes a number that [`peek`](Self::peek) reported as fresh.
    #[inline]
    pub fn note(&mut self, sequence: u32) {
        let ahead = sequence.wrapping_sub(self.top);
        if ahead == 1 {
            self.note_next();
        } else if ahead != 0 && ahead < 1 << 31 {
            self.seen = self.seen.checked_shl(ahead).unwrap_or(0) | 1;
            self.top = sequence;
        } else {
            let behind = self.top.wrapping_sub(sequence);
            self.seen |= 1_u64.checked_shl(behind).unwrap_or(0);
        }
    }

    /// Notes the next number in order.
    #[inline]
    pub fn note_next(&mut self) {
        (self.top, self.seen) = (self.top.wrapping_add(1), self.seen << 1 | 1);
    }

    /// How many numbers within the window have not been seen.
    pub const fn unseen(&self) -> u32 {
        self.seen.count_zeros()
    }

    /// How many unseen numbers fall out when the window moves on by `ahead`, `1..=WIDTH`.
    #[inline]
    const fn falling(&self, ahead: u32) -> u32 {
        if ahead == 1 {
            // The next in order needs no count of bits, which not every processor has as an
            // instruction.
            return (self.seen >> (WIDTH - 1)) as u32 ^ 1;
        }
        let out = if ahead >= WIDTH { self.seen } else { self.seen >> (WIDTH - ahead) };
        ahead - out.count_ones()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_number_is_fresh_once_and_every_loss_is_counted() {
        let rounds = if cfg!(miri) { 150 } else { 20_000 };
        for start in [0_u32, u32::MAX - 40] {
            let mut window = SequenceWindow::counting_from(start);
            let mut taken = BTreeSet::new();
            let (mut lost, mut x, mut base) = (0, 0x1234_5678_9abc_def1_u64, 0_u64);
            for _ in 0..rounds {
                x ^= x << 13;
                x ^= x >> 7;
                x ^= x << 17;
                // A sender with 32 in flight: numbers out of order, some never sent.
                let offset = base + 1 + x % 32;
                base += x >> 60 & 1;
                let number = start.wrapping_add(offset as u32);
                match window.peek(number) {
                    SequenceCheck::Fresh { lost: more } => {
                        assert!(taken.insert(offset));
                        lost += u64::from(more);
                        window.note(number);
                    }
                    SequenceCheck::Duplicate => assert!(taken.contains(&offset)),
                    SequenceCheck::Outside => {}
                }
            }
            let top = *taken.iter().next_back().unwrap();
            let settled = top - u64::from(WIDTH);
            let missing = (1..=settled).filter(|n| !taken.contains(n)).count() as u64;
            assert_eq!(lost, missing);
        }
    }

    #[test]
    fn the_window_ends_where_it_says() {
        use SequenceCheck::{Duplicate, Fresh, Outside};
        for start in [1_000_u32, 20, u32::MAX - 20] {
            let at = |offset: i32| start.wrapping_add_signed(offset);
            let mut window = SequenceWindow::counting_from(start);
            assert_eq!(window.top(), start);
            let ahead = [1, 2, 63, 64].map(|offset| window.peek(at(offset)));
            assert_eq!(ahead, [Fresh { lost: 0 }; 4]);
            let behind = [0, -1, -62, -63].map(|offset| window.peek(at(offset)));
            assert_eq!(behind, [Duplicate; 4]);
            for offset in [65, i32::MAX, i32::MIN, -64, -65] {
                assert_eq!(window.peek(at(offset)), Outside, "{offset}");
            }

            // Of 64 numbers two are seen: the first and the last.
            window.note(at(1));
            window.note(at(64));
            assert_eq!(window.top(), at(64));
            assert_eq!([1, 64].map(|offset| window.peek(at(offset))), [Duplicate; 2]);
            assert_eq!([2, 63].map(|offset| window.peek(at(offset))), [Fresh { lost: 0 }; 2]);
            // The first falls out, then one unseen, then all that are.
            let lost = [65, 66, 127, 128].map(|offset| window.peek(at(offset)));
            assert_eq!(lost, [0, 1, 62, 62].map(|lost| Fresh { lost }));
            // One that comes late is not lost, and does not move the window.
            window.note(at(2));
            assert_eq!((window.top(), window.peek(at(2))), (at(64), Duplicate));
            assert_eq!(window.peek(at(128)), Fresh { lost: 61 });
        }
    }

    #[test]
    fn to_note_a_number_twice_changes_nothing() {
        let mut window = SequenceWindow::new();
        window.note(3);
        window.note(3);
        let seen = [1, 2, 3].map(|number| window.peek(number));
        let fresh = SequenceCheck::Fresh { lost: 0 };
        assert_eq!(seen, [fresh, fresh, SequenceCheck::Duplicate]);
    }
}
