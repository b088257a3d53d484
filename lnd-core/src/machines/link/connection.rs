// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file names a connection: the smallest part of a link that can be stopped by itself.

use core::num::NonZeroU32;

use crate::base::id::{LinkId, Nid};

/// One peer's connection on one link, of an engine that can stop each of its connections (S0-10,
/// INV-3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Connection {
    /// The link.
    pub link: LinkId,
    /// The peer.
    pub peer: Nid,
    /// The engine's number of this connection with this peer on this link. A new connection has
    /// another number, so a late report names the one it is about.
    pub number: NonZeroU32,
}
