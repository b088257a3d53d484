// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file packs the place of a transfer's fragments into one word.

use crate::base::fragment::{Fragment, MAX_FRAGMENT, MAX_FRAGMENTS};

/// No fragment, the length of a single one, or the number of a list and the count of its entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Pieces(u32);

const LISTED: u32 = 1 << 31;
const COUNT_BITS: u32 = 9;

const _: () = assert!(MAX_FRAGMENT < LISTED && MAX_FRAGMENTS < 1 << COUNT_BITS);

impl Pieces {
    pub const NONE: Self = Self(0);

    /// One fragment of `length` bytes, not zero.
    pub const fn one(length: u32) -> Self {
        // Lengths stay below the flag's bit, which the assertion above checks.
        Self(length & !LISTED)
    }

    /// The first `count` entries of a list.
    pub const fn listed(list: u16, count: usize) -> Self {
        Self(LISTED | (list as u32) << COUNT_BITS | count as u32 & ((1 << COUNT_BITS) - 1))
    }

    /// The length of the single fragment. `None`: there is no fragment, or a list.
    #[inline]
    pub const fn length(self) -> Option<u32> {
        if self.0 == 0 || self.0 & LISTED != 0 {
            None
        } else {
            Some(self.0)
        }
    }

    /// The number of the list, and the count of its entries.
    #[inline]
    pub const fn list(self) -> Option<(u16, u16)> {
        if self.0 & LISTED == 0 {
            return None;
        }
        Some(((self.0 >> COUNT_BITS) as u16, (self.0 & ((1 << COUNT_BITS) - 1)) as u16))
    }

    /// The single fragment, at `address`. `None`: there is no fragment, or a list.
    #[inline]
    pub fn fragment(self, address: u64) -> Option<Fragment> {
        self.length().map(|length| Fragment::new(address, length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_told_from_the_others_at_its_bounds() {
        let none = Pieces::NONE;
        assert_eq!((none.length(), none.list(), none.fragment(8)), (None, None, None));
        for length in [1, 2, MAX_FRAGMENT] {
            let one = Pieces::one(length);
            assert_eq!((one.length(), one.list()), (Some(length), None));
            assert_eq!(one.fragment(64), Some(Fragment::new(64, length)));
        }
        for list in [0, 1, u16::MAX] {
            for count in [2, MAX_FRAGMENTS] {
                let listed = Pieces::listed(list, count);
                assert_eq!(listed.list(), Some((list, count as u16)));
                assert_eq!((listed.length(), listed.fragment(64)), (None, None));
            }
        }
    }
}
