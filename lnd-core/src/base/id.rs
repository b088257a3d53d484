// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Names of things: nodes, lives, links, transfers. None of them has a magic zero (R10).

use core::fmt;
use core::num::NonZeroU64;

/// A network identifier: an address within a network, `address@netN` in the field's notation.
///
/// Layout of the number: network type and number in the upper half, address in the lower one, as in
/// LNet's 4-byte NIDs. Never zero. A driver compares NIDs and never looks inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Nid(NonZeroU64);

impl Nid {
    /// The NID of a raw number, or `None` for zero.
    pub const fn from_raw(raw: u64) -> Option<Self> {
        match NonZeroU64::new(raw) {
            Some(raw) => Some(Self(raw)),
            None => None,
        }
    }

    /// The raw number, never zero.
    pub const fn raw(self) -> u64 {
        self.0.get()
    }

    /// The address part.
    pub const fn address(self) -> u32 {
        self.0.get() as u32
    }

    /// The network part.
    pub const fn network(self) -> u32 {
        (self.0.get() >> 32) as u32
    }
}

impl fmt::Display for Nid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@soft{}", self.address(), self.network())
    }
}

/// One life of a node: chosen anew at every start (boot random and counter), never zero (R27).
///
/// Everything a node sends carries its own life and the life of the receiver it believes in; a
/// message that names a wrong life changes nothing but a counter (INV-6, R29).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Incarnation(NonZeroU64);

impl Incarnation {
    /// The incarnation of a raw number, or `None` for zero.
    pub const fn from_raw(raw: u64) -> Option<Self> {
        match NonZeroU64::new(raw) {
            Some(raw) => Some(Self(raw)),
            None => None,
        }
    }

    /// The raw number, never zero.
    pub const fn raw(self) -> u64 {
        self.0.get()
    }
}

/// Who a driver is: its NID and its incarnation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Our NID.
    pub nid: Nid,
    /// This incarnation; another one after every start.
    pub incarnation: Incarnation,
}

/// One of a node's links, `0..MAX_LINKS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct LinkId(u8);

/// Most links a driver can have.
pub const MAX_LINKS: usize = 8;

impl LinkId {
    /// Link number `n`, or `None` if no driver can have so many.
    pub const fn new(n: usize) -> Option<Self> {
        if n < MAX_LINKS {
            Some(Self(n as u8))
        } else {
            None
        }
    }

    /// The link's number.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The link as one bit of eight.
    pub(crate) const fn bit(self) -> u8 {
        1 << (self.0 & 7)
    }
}

/// Names one use of one transfer slot: index and full generation (R14).
///
/// A tag travels with descriptors, short messages and wire cookies. A tag of an earlier use of the
/// slot is *stale*: it is counted and matches nothing. The generation is 32 bits wide and wraps
/// after 2^32 uses of one slot; a tag would have to be delayed that long to be mistaken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag {
    /// Index of the slot, and of the descriptor on every link.
    pub index: u32,
    /// How often the slot had been used when this tag was made.
    pub generation: u32,
}

impl Tag {
    /// The tag as the 64-bit cookie that crosses the wire, the device and the C ABI.
    pub const fn to_cookie(self) -> u64 {
        ((self.generation as u64) << 32) | self.index as u64
    }

    /// The tag in a cookie. Any cookie decodes; whether it names anything is decided on use.
    pub const fn from_cookie(cookie: u64) -> Self {
        Self { index: cookie as u32, generation: (cookie >> 32) as u32 }
    }
}

/// Names one use of one place in the driver's peer table: index and full generation (R14).
///
/// A peer that is idle may be forgotten and its place given to another. An id of the former peer is
/// then *stale*: it names nothing, and what it is given to changes nothing. The generation wraps after
/// 2^32 uses of one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PeerId {
    index: u32,
    generation: u32,
}

impl PeerId {
    /// The id of its parts. Any parts make one; whether it names anything is decided on use.
    pub const fn new(index: u32, generation: u32) -> Self {
        Self { index, generation }
    }

    /// The place in the peer table.
    pub const fn index(self) -> usize {
        self.index as usize
    }

    /// How often the place had been used when this id was made.
    pub const fn generation(self) -> u32 {
        self.generation
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookie_round_trip_keeps_all_64_bits() {
        // H10: a shift before widening lost half of a key.
        let tag = Tag { index: 0xdead_beef, generation: 0xffff_fffe };
        assert_eq!(Tag::from_cookie(tag.to_cookie()), tag);
        assert_eq!(tag.to_cookie() >> 32, 0xffff_fffe);
    }

    #[test]
    fn nothing_is_named_zero() {
        assert!(Nid::from_raw(0).is_none());
        assert!(Incarnation::from_raw(0).is_none());
        assert!(LinkId::new(MAX_LINKS).is_none());
    }
}
