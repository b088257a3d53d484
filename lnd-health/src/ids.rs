// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Names of interfaces, peers and routes: indices into the caller-sized tables.

/// Most local interfaces (NIs) of a node.
pub const MAX_LOCAL: usize = 32;
/// Most interfaces of one peer.
pub const MAX_PEER_NIS: usize = 32;
/// Most networks known at once: our own, and those behind routers.
pub const MAX_NETS: usize = 16;
/// The index that names nothing.
pub(crate) const NONE: u32 = u32::MAX;

/// One of our own interfaces (NI), `0..MAX_LOCAL`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct NiId(u8);

impl NiId {
    /// Interface number `n`, or `None` if no node can have so many.
    pub const fn new(n: usize) -> Option<Self> {
        if n < MAX_LOCAL {
            Some(Self(n as u8))
        } else {
            None
        }
    }

    /// Its number.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Its bit in a mask of local interfaces.
    pub(crate) const fn bit(self) -> u32 {
        1 << (self.0 & 31)
    }
}

macro_rules! index {
    ($(#[doc = $doc:literal])+ $name:ident) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        pub struct $name(u32);

        impl $name {
            /// The name of entry `index`; whether there is such an entry shows on use.
            pub const fn new(index: u32) -> Self {
                Self(index)
            }

            /// Index of the entry.
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// The index as a number that crosses the C ABI.
            pub const fn raw(self) -> u32 {
                self.0
            }
        }
    };
}

index! {
    /// A peer: a node with one or more interfaces, possibly on networks of different fabrics (S4-4).
    PeerId
}
index! {
    /// One interface of a peer (a peer NI, `lnet_peer_ni`).
    PeerNiId
}

/// A route: a gateway's interface through which a network can be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct RouteId(u16);

impl RouteId {
    /// The name of route `index`.
    pub const fn new(index: u16) -> Self {
        Self(index)
    }

    /// Index of the route.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What has health: an interface, ours or a peer's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Object {
    /// One of ours.
    Local(NiId),
    /// A peer's.
    Peer(PeerNiId),
}
