// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file counts what went wrong with a peer in a row, in one byte.

/// Two counts that stop at their largest value. Every idle peer has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Setbacks(u8);

/// The bits of the silences. The other bits count stalls.
const SILENCES: u8 = 0x7;
const STALL: u8 = SILENCES + 1;

impl Setbacks {
    /// Nothing went wrong.
    pub const NONE: Self = Self(0);

    /// Handshakes in a row that were refused or not answered, up to seven. A request in the channel
    /// revives such a peer ever less often: its sender may be gone for good.
    pub const fn silences(self) -> u8 {
        self.0 & SILENCES
    }

    pub fn set_silences(&mut self, count: u8) {
        self.0 = self.0 & !SILENCES | count.min(SILENCES);
    }

    /// Stalls in a row that brought no credit, up to 31.
    pub const fn stalls(self) -> u8 {
        self.0 / STALL
    }

    pub fn count_stall(&mut self) {
        self.0 = self.0.checked_add(STALL).unwrap_or(self.0);
    }

    #[inline]
    pub fn end_stalls(&mut self) {
        self.0 &= SILENCES;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_counts_in_a_byte_do_not_touch_each_other() {
        let mut it = Setbacks::NONE;
        it.set_silences(5);
        for stalls in 1..=40 {
            it.count_stall();
            assert_eq!((it.silences(), it.stalls()), (5, stalls.min(31)));
        }
        it.set_silences(u8::MAX);
        assert_eq!((it.silences(), it.stalls()), (7, 31));
        it.end_stalls();
        assert_eq!((it.silences(), it.stalls()), (7, 0));
        it.set_silences(0);
        assert_eq!(it, Setbacks::NONE);
    }
}
