// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file holds numbers of three bytes, for tables that are large.

/// The number of a slot or of a peer in a table, or none. Tables are smaller than 2^24 entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Entry([u8; 3]);

impl Entry {
    /// No entry.
    pub const NONE: Self = Self([u8::MAX; 3]);

    /// The entry of this number. A number beyond all tables means none.
    #[inline]
    pub const fn new(number: u32) -> Self {
        let [low, middle, high, _] = number.to_le_bytes();
        Self([low, middle, high])
    }

    /// The number of the entry. A number beyond all tables means none.
    #[inline]
    pub const fn get(self) -> u32 {
        let [low, middle, high] = self.0;
        u32::from_le_bytes([low, middle, high, 0])
    }
}

static_assertions::const_assert!(crate::shard::config::MAX_SLOTS < (1 << 24) - 2);
static_assertions::const_assert!(crate::shard::config::MAX_PEERS < (1 << 24) - 2);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shard::config::{MAX_PEERS, MAX_SLOTS};

    #[test]
    fn a_place_is_its_number_and_none_is_beyond_all_tables() {
        for number in [0, 1, 0xff, 0x100, 0xffff, 0x1_0000, MAX_SLOTS - 1, MAX_PEERS - 1] {
            assert_eq!(Entry::new(number).get(), number);
            assert_ne!(Entry::new(number), Entry::NONE);
        }
        assert_eq!(Entry::new(u32::MAX), Entry::NONE);
        assert!(Entry::NONE.get() > MAX_SLOTS.max(MAX_PEERS));
    }
}
