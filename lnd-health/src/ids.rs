// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Names of interfaces, peers and routes: an index into a caller-sized table, and a generation that
//! distinguishes the entry's uses (R14).

use core::num::NonZeroU32;

/// Most local interfaces (NIs) of a node.
pub const MAX_LOCAL: usize = 32;
/// Most interfaces of one peer.
pub const MAX_PEER_NIS: usize = 32;
/// Most networks at once: local ones and those behind routers.
pub const MAX_NETS: usize = 16;
/// The index that names nothing.
pub(crate) const NONE: u32 = u32::MAX;

/// The use of a table's entry that a name refers to. Never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub(crate) struct Use(NonZeroU32);

impl Use {
    /// The entry's first use.
    pub const FIRST: Self = Self(NonZeroU32::MIN);

    /// The use after this one.
    pub const fn next(self) -> Self {
        match NonZeroU32::new(self.0.get().wrapping_add(1)) {
            Some(next) => Self(next),
            None => Self::FIRST,
        }
    }
}

macro_rules! name {
    ($(#[doc = $doc:literal])+ $name:ident) => {
        $(#[doc = $doc])+
        ///
        /// It carries the entry's generation: once its object was removed it names nothing, even if
        /// another object has taken the entry (R14).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name {
            index: u32,
            generation: Use,
        }

        impl $name {
            /// The name of the first use of entry `index`. Its use shows whether the entry exists.
            /// The call that adds a later use returns its name.
            pub const fn new(index: u32) -> Self {
                Self { index, generation: Use::FIRST }
            }

            /// A name from its two numbers, from the C ABI; `None` for generation 0.
            pub const fn from_parts(index: u32, generation: u32) -> Option<Self> {
                match NonZeroU32::new(generation) {
                    Some(generation) => Some(Self { index, generation: Use(generation) }),
                    None => None,
                }
            }

            pub(crate) const fn of(index: u32, generation: Use) -> Self {
                Self { index, generation }
            }

            /// Index of the entry.
            pub const fn index(self) -> usize {
                self.index as usize
            }

            /// The index as a number for the C ABI.
            pub const fn raw(self) -> u32 {
                self.index
            }

            /// The use of the entry, never zero.
            pub const fn generation(self) -> u32 {
                self.generation.0.get()
            }

            /// Whether the name is of this use of its entry.
            pub(crate) fn is_of(self, generation: Use) -> bool {
                self.generation.0.get() == generation.0.get()
            }
        }
    };
}

name! {
    /// A peer: a node with one or more interfaces, possibly on networks of different fabrics
    /// (S4-4).
    PeerId
}
name! {
    /// One interface of a peer (a peer NI, `lnet_peer_ni`).
    PeerNiId
}
name! {
    /// A route: a gateway's interface through which a network can be reached.
    RouteId
}

/// A local interface (NI), entry `0..MAX_LOCAL`.
///
/// It carries the entry's generation, as [`PeerNiId`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NiId {
    index: u8,
    generation: Use,
}

impl NiId {
    /// The name of the first use of entry `n`, or `None` if `n` is out of range.
    pub const fn new(n: usize) -> Option<Self> {
        Self::of(n, Use::FIRST)
    }

    /// A name from its two numbers, from the C ABI; `None` for generation 0 and for an index out of
    /// range.
    pub const fn from_parts(n: usize, generation: u32) -> Option<Self> {
        match NonZeroU32::new(generation) {
            Some(generation) => Self::of(n, Use(generation)),
            None => None,
        }
    }

    pub(crate) const fn of(n: usize, generation: Use) -> Option<Self> {
        if n < MAX_LOCAL {
            Some(Self { index: n as u8, generation })
        } else {
            None
        }
    }

    /// Index of the entry.
    pub const fn index(self) -> usize {
        self.index as usize
    }

    /// The use of the entry, never zero.
    pub const fn generation(self) -> u32 {
        self.generation.0.get()
    }

    /// Its bit in a mask of local interfaces.
    pub(crate) const fn bit(self) -> u32 {
        1 << (self.index & 31)
    }

    /// Whether the name is of this use of its entry.
    pub(crate) fn is_of(self, generation: Use) -> bool {
        self.generation.0.get() == generation.0.get()
    }
}

/// An object with health: an interface, local or a peer's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Object {
    /// A local interface.
    Local(NiId),
    /// A peer's interface.
    Peer(PeerNiId),
}
