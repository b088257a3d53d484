// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file packs the peer, incarnation and link of a transfer into two words.

use crate::base::id::{LinkId, PeerId};
use crate::machines::peer::INCARNATION_BITS;

/// The peer, its incarnation and the link of a transfer, in two words: `peer 20 | incarnation 12`,
/// and the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Owner {
    peer: u32,
    link: u32,
}

impl Owner {
    const NO_LINK: u32 = u32::MAX;
    const INCARNATION: u32 = (1 << INCARNATION_BITS) - 1;

    /// A transfer of `peer` under incarnation tag `incarnation`, on `link` if it has one.
    pub const fn new(peer: PeerId, incarnation: u32, link: Option<LinkId>) -> Self {
        // A transfer that still waits has no link, and the sweep then skips the link's gate.
        let link = match link {
            Some(link) => link.index() as u32,
            None => Self::NO_LINK,
        };
        Self {
            peer: ((peer.index() as u32) << INCARNATION_BITS) | (incarnation & Self::INCARNATION),
            link,
        }
    }

    /// The owner with these two words.
    pub(super) const fn from_words(peer: u32, link: u32) -> Self {
        Self { peer, link }
    }

    /// Its two words.
    pub(super) const fn words(self) -> (u32, u32) {
        (self.peer, self.link)
    }

    /// The peer's place in the table. The peer is not forgotten while it has a transfer.
    pub const fn peer_index(self) -> u32 {
        self.peer >> INCARNATION_BITS
    }

    /// The peer's incarnation tag.
    pub const fn incarnation(self) -> u32 {
        self.peer & Self::INCARNATION
    }

    /// The link, if one was chosen.
    pub const fn link(self) -> Option<LinkId> {
        LinkId::new(self.link as usize)
    }
}
