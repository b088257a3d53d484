// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The caller's terms for a message's delivery, and the path of a try.

use crate::ids::{NiId, Object, PeerNiId};
use lnd_core::time::Instant;

/// A path to the next hop: from one of our interfaces to one of the hop's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Path {
    /// Our interface.
    pub local: NiId,
    /// The next hop's interface: the peer's own, or a gateway's.
    pub hop: PeerNiId,
}

impl Path {
    /// Both ends, ours first.
    pub(crate) const fn ends(self) -> [Object; 2] {
        [Object::Local(self.local), Object::Peer(self.hop)]
    }
}

/// The caller's terms for a message's delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// The caller's value for the message, for the journal.
    pub cookie: u64,
    /// The one deadline, over all tries (INV-9). No try begins after it.
    pub deadline: Instant,
    /// Whether it may be resent (LNet: `msg_no_resend` is the opposite).
    pub resend: bool,
    /// Whether it has a number by which the receiver recognises a duplicate (R45).
    pub suppress: bool,
    /// The interface to send from, if it must be that one.
    pub source: Option<NiId>,
    /// The peer's interface to reach, if it must be that one: a response takes the path of its
    /// request.
    pub destination: Option<PeerNiId>,
}

impl Terms {
    /// A message that may be resent over any path, numbered against duplicates.
    pub const fn new(cookie: u64, deadline: Instant) -> Self {
        Self { cookie, deadline, resend: true, suppress: true, source: None, destination: None }
    }
}
