// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file names nodes, incarnations, links and transfers. No name has a magic zero (R10).

use core::fmt;
use core::num::NonZeroU64;

/// A network identifier: an address within a network, `address@netN` in the field's notation.
///
/// The upper half of the number holds network type and number, the lower half the address, as in
/// LNet's 4-byte NIDs. It is never zero. A driver compares NIDs and does not interpret them.
///
/// ```
/// use lnd_core::id::Nid;
///
/// // Address 2 of network 0 of the software fabric. LNet's own number serves as well.
/// let nid = Nid::from_raw(2).unwrap();
/// assert_eq!((nid.address(), nid.network()), (2, 0));
/// assert_eq!(nid.to_string(), "2@soft0");
/// assert_eq!(Nid::from_raw(0), None);
/// ```
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

/// As `address@softN`: the notation of the software fabric's networks. A host whose networks have
/// other names prints the number itself.
impl fmt::Display for Nid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@soft{}", self.address(), self.network())
    }
}

/// One incarnation of a node. It is chosen anew at every start (boot random and counter) and never
/// zero (R27).
///
/// Every message carries its sender's incarnation and the receiver's, as the sender knows it. A
/// message that names a wrong incarnation changes nothing but a counter (INV-6, R29).
///
/// Two incarnations of one node must differ, for as long as a message, a pull or a peer's memory of
/// the first may last. Nothing else is asked of the number: incarnations are not ordered (decision
/// 0018), and those of different nodes may be equal. [`from_clock`](Self::from_clock) and
/// [`of_start`](Self::of_start) are two ways to keep the rule.
///
/// ```
/// use lnd_core::id::Incarnation;
///
/// // A calendar clock that runs while the machine is off:
/// let since_1970 = std::time::UNIX_EPOCH.elapsed().unwrap();
/// let by_clock = Incarnation::from_clock(since_1970.as_nanos() as u64);
/// // Or a count that outlives the node, with a random number in case it does not:
/// let (count, random) = (17, 0x5eed_1234);
/// let by_count = Incarnation::of_start(count, random);
/// assert_ne!(by_count, Incarnation::of_start(count + 1, random));
/// # let _ = by_clock;
/// ```
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

    /// The incarnation of a start at this time of a calendar clock, in nanoseconds since any fixed
    /// date. The clock must tick more often than the node starts, and must not be set back behind
    /// an earlier start. A clock that begins anew with the machine is unsuitable.
    pub const fn from_clock(nanoseconds: u64) -> Self {
        match Self::from_raw(nanoseconds) {
            Some(incarnation) => incarnation,
            None => Self(NonZeroU64::MAX),
        }
    }

    /// The incarnation of the node's start number `count`, from 1, with a `random` number. The
    /// count is stored, where it outlives the node, before the first message is sent: then it alone
    /// makes the difference. The random number makes it where the store is lost or does not exist;
    /// without a store two starts then agree by chance, one pair in 2^32.
    pub const fn of_start(count: u32, random: u32) -> Self {
        Self::from_clock((random as u64) << 32 | count as u64)
    }

    /// The raw number, never zero.
    pub const fn raw(self) -> u64 {
        self.0.get()
    }
}

/// The identity of a driver: its NID and its incarnation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Our NID.
    pub nid: Nid,
    /// The present incarnation. Every start has another one.
    pub incarnation: Incarnation,
}

/// One of a node's links, `0..MAX_LINKS`.
///
/// ```
/// use lnd_core::id::{LinkId, MAX_LINKS};
///
/// let second = LinkId::new(1).unwrap();
/// assert_eq!(second.index(), 1);
/// assert_eq!(LinkId::new(MAX_LINKS), None);
/// ```
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
        // The mask changes nothing for a valid link, and it keeps the shift free of panics.
        1 << (self.0 & 7)
    }
}

/// The name of one use of one transfer slot: index and full generation (R14).
///
/// A tag travels with descriptors, short messages and wire cookies. A tag of an earlier use of the
/// slot is *stale*: it is counted and matches nothing. The generation is 32 bits wide and wraps
/// after 2^32 uses of one slot. Only a tag that is delayed that long could match by mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag {
    /// Index of the slot, and of the descriptor on every link.
    pub index: u32,
    /// The slot's use count when this tag was made.
    pub generation: u32,
}

impl Tag {
    /// The tag as the 64-bit cookie that crosses the wire, the device and the C ABI.
    pub const fn to_cookie(self) -> u64 {
        ((self.generation as u64) << 32) | self.index as u64
    }

    /// The tag in a cookie. Any cookie decodes. Its use decides whether it names anything.
    pub const fn from_cookie(cookie: u64) -> Self {
        // A cookie comes from the wire or the device. No value of it is trusted, so none needs to
        // be refused here.
        Self { index: cookie as u32, generation: (cookie >> 32) as u32 }
    }
}

/// The name of one use of one place in the driver's peer table: index and full generation (R14).
///
/// An idle peer may be forgotten, and its place given to another. An id of the former peer is then
/// *stale*: it names nothing, and a call with it changes nothing. The generation wraps after 2^32
/// uses of one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PeerId {
    index: u32,
    generation: u32,
}

impl PeerId {
    /// The id of its parts. Any parts make an id. Its use decides whether it names anything.
    pub const fn new(index: u32, generation: u32) -> Self {
        Self { index, generation }
    }

    /// The place in the peer table.
    pub const fn index(self) -> usize {
        self.index as usize
    }

    /// The place's use count when this id was made.
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

    #[test]
    fn a_start_has_an_incarnation_of_its_own() {
        let starts = [(0, 0), (1, 0), (2, 0), (1, 1), (u32::MAX, 1), (1, u32::MAX)];
        let mut made = starts.map(|(count, random)| Incarnation::of_start(count, random));
        assert_eq!(made[3].raw(), 0x1_0000_0001);
        made.sort_unstable();
        assert!(made.windows(2).all(|pair| pair[0] != pair[1]));
        assert_eq!(Incarnation::from_clock(5).raw(), 5);
    }
}
