// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A connection: the smallest part of a link that can be stopped by itself.

use core::num::NonZeroU32;

use crate::base::id::{LinkId, Nid};

/// One peer's connection by one link, of an engine that can stop each of its connections (S0-10, INV-3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Connection {
    /// By this link.
    pub link: LinkId,
    /// With this peer.
    pub peer: Nid,
    /// Which of the connections with this peer by this link, as the engine numbers them: one that is made
    /// anew has another number.
    pub number: NonZeroU32,
}
