// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file counts the slots of a peer.

/// The slots in use for a peer, at most 2^20, and those of them that are its own requests, at most
/// 255. One addition counts both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Held(u32);

const TRANSFER: u32 = 1 << 8;

impl Held {
    pub const NOTHING: Self = Self(0);

    /// All slots.
    #[inline]
    pub const fn transfers(self) -> u32 {
        self.0 / TRANSFER
    }

    /// Slots of the peer's requests.
    #[inline]
    pub const fn passive(self) -> u8 {
        self.0 as u8
    }

    /// One slot more.
    #[inline]
    pub fn add(&mut self, passive: bool) {
        self.0 = self.0.wrapping_add(TRANSFER | u32::from(passive));
    }

    /// One slot less. It was counted.
    #[inline]
    pub fn remove(&mut self, passive: bool) {
        self.0 = self.0.wrapping_sub(TRANSFER | u32::from(passive));
    }
}

static_assertions::const_assert!(crate::shard::config::MAX_SLOTS < 1 << 24);
// Twice the depth, and one slot.
static_assertions::const_assert!(crate::shard::config::MAX_DEPTH * 2 < u8::MAX as u16);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_counts_go_up_and_down_by_themselves() {
        let mut it = Held::NOTHING;
        for number in 1..=60 {
            it.add(false);
            it.add(true);
            assert_eq!((it.transfers(), it.passive()), (2 * number, number as u8));
        }
        it.remove(true);
        it.remove(false);
        it.remove(false);
        assert_eq!((it.transfers(), it.passive()), (117, 59));
    }
}
