// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file holds what the core and an engine hand each other: descriptors and their outcomes.

use crate::base::fragment::Fragment;
use crate::base::id::{Nid, Tag};
use crate::base::key::Key;

bitflags::bitflags! {
    impl Features: u32 {
        /// The engine of the pulled side reports the end of a pull itself (S3-4). Without it the
        /// puller sends PUT_DONE, and a staged descriptor that comes back as [`Returned::Ok`]
        /// counts as pulled only with it.
        const REMOTE_COMPLETION = 1 << 0;
        /// Each descriptor that is invalidated before its first byte reports that. For hosts and
        /// tools to read: the driver goes by what each descriptor reports. A PUT that its peer has
        /// refused, and that comes back as [`Returned::Touched`], ends as
        /// [`Delivery::Unknown`](crate::transfer::Delivery::Unknown), unless the engine is [asked
        /// after a CANCEL](super::Engine::SAFE_INVALIDATE).
        const KNOWS_UNTOUCHED = 1 << 1;
        /// A one-sided read of an address that is not published ends with an access error and
        /// leaves both ends usable (S2-10, S2-12).
        const ILLEGAL_READ = 1 << 2;
        /// A one-sided read of no bytes succeeds if the other engine answers.
        const ZERO_READ = 1 << 3;
        /// A one-sided read of the word that a peer has published (S2-9: optional).
        const PUBLISHED_READ = 1 << 4;
        /// The engine stops its connections one by one, by registers of its own
        /// (`docs/registers.md`).
        const CONNECTIONS = 1 << 5;
        /// The engine pushes: it writes into memory that another engine has exposed. See
        /// [`Engine::PUSHES`](super::Engine::PUSHES).
        const PUSHES = 1 << 6;
        /// Belongs to no device: the driver answers CANCEL. See
        /// [`Engine::SAFE_INVALIDATE`](super::Engine::SAFE_INVALIDATE).
        const CANCEL = 1 << 31;
        // Bits of later devices survive.
        const _ = !0;
    }
}

/// What an engine can do. Unknown bits are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Features(pub u32);

/// The direction in which a descriptor moves data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    /// Transmit side: memory to be pulled by one peer (S3-1).
    Stage {
        /// The only node that may pull it.
        to: Nid,
    },
    /// Receive side: pull what a peer has staged.
    Pull {
        /// The node to pull from.
        from: Nid,
        /// Its staged transfer.
        source: Tag,
        /// The [`key`](super::Engine::key) of that, as the peer has sent it. It may be any bytes:
        /// the engine checks it. Not empty where engines [have keys](super::Engine::has_keys).
        key: Key,
    },
    /// Receive side: memory for one peer to push into (S3-11). Only where the engine
    /// [pushes](super::Engine::PUSHES). It comes back when it is invalidated, or by a stop, and
    /// never as [`Returned::Ok`]: only the peer knows when its push is whole, and how long it was.
    /// A GET whose memory comes back OK fails unless the peer confirms it.
    Expose {
        /// The only node that may push into it.
        to: Nid,
    },
    /// Transmit side: push into what a peer has exposed. Only where the engine
    /// [pushes](super::Engine::PUSHES). [`Returned::Ok`] reports that all bytes are in the peer's
    /// memory.
    Push {
        /// The node to push to.
        to: Nid,
        /// Its exposed transfer.
        sink: Tag,
        /// The [`key`](super::Engine::key) of that, as the peer has sent it. It may be any bytes:
        /// the engine checks it. Never empty.
        key: Key,
    },
}

impl Motion {
    /// The other node.
    #[inline]
    pub const fn peer(&self) -> Nid {
        match *self {
            Self::Stage { to } | Self::Expose { to } | Self::Push { to, .. } => to,
            Self::Pull { from, .. } => from,
        }
    }

    /// The peer's transfer that is pulled or pushed into. `None`: this side's memory is lent.
    #[inline]
    pub const fn remote(&self) -> Option<Tag> {
        match *self {
            Self::Pull { source: remote, .. } | Self::Push { sink: remote, .. } => Some(remote),
            Self::Stage { .. } | Self::Expose { .. } => None,
        }
    }
}

/// One buffer descriptor (BD), as the core posts it to the engine.
#[derive(Clone, Copy, Debug)]
pub struct Bd<'a> {
    /// The transfer. Its index is the descriptor's index on every link.
    pub tag: Tag,
    /// The direction.
    pub motion: Motion,
    /// Bytes to move. May be less than the fragments hold, never more.
    pub length: u32,
    /// The memory, in order.
    pub fragments: &'a [Fragment],
    /// The indirect list to use if the fragments do not fit the descriptor: `0..lists` of the
    /// configuration. `None` when there is at most one fragment.
    pub list: Option<u16>,
}

impl Bd<'_> {
    /// The bytes to move as one piece, for an engine without lists: such an engine refuses what is
    /// in several ([`PostError::Invalid`]), and its configuration has no `lists`. `None`: they are
    /// in several pieces, or there are none.
    ///
    /// ```
    /// use lnd_core::fragment::Fragment;
    /// use lnd_core::id::{Nid, Tag};
    /// use lnd_core::ports::{Bd, Motion};
    ///
    /// let fragments = [Fragment::new(0x1000, 4096)];
    /// let tag = Tag { index: 3, generation: 1 };
    /// let motion = Motion::Stage { to: Nid::from_raw(2).unwrap() };
    /// let bd = Bd { tag, motion, length: 100, fragments: &fragments, list: None };
    /// assert_eq!(bd.single(), Some(Fragment::new(0x1000, 100)));
    /// ```
    pub const fn single(&self) -> Option<Fragment> {
        match self.fragments {
            [one] => Some(Fragment::new(one.address, self.length)),
            _ => None,
        }
    }
}

/// The reason for which the engine refused a descriptor. Nothing was posted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PostError {
    /// Index, length or fragments are outside what the engine was set up for.
    Invalid,
    /// The descriptor of this index is still with the device.
    Busy,
    /// The ring is full.
    Full,
    /// The device reports what no working device reports: see
    /// [`Engine::is_gone`](super::Engine::is_gone).
    Gone,
}

crate::sentences! { PostError {
    Self::Invalid => "the engine was not set up for such a descriptor",
    Self::Busy => "the descriptor is still with the device",
    Self::Full => "the ring is full",
    Self::Gone => "the device does not identify itself",
}}

/// The outcome of a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Returned {
    /// All bytes were moved.
    Ok,
    /// It ended with an error, and the device guarantees that no byte was moved.
    Untouched,
    /// It ended with an error, and bytes may have been moved.
    Touched,
}

/// One entry of a completion ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The descriptor's tag. It is checked, never trusted.
    pub tag: Tag,
    /// Its outcome.
    pub returned: Returned,
}
