// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Credits that go back to the peers.

use crate::base::id::{PeerId, Tag};
use crate::peers::Wants;
use crate::ports::Ports;
use crate::shard::Driver;

impl<P: Ports> Driver<'_, P> {
    /// The request's place in the channel is free again: its credit goes back to the peer, unless
    /// the session that it was of is over and its credits with it (INV-12).
    pub(crate) fn consume(&mut self, tag: Tag) {
        let id = self.peers.of_slot(tag.index);
        let session = self.slots.get(tag.index).map(|d| d.session);
        let depth = self.config.depth;
        let Some(peer) = self.peers.get_mut(id) else { return };
        let full = !peer.has_room(depth);
        peer.undecided = peer.undecided.saturating_sub(1);
        // What a peer sent beyond its credits has waited for this; no slot becomes free.
        self.offer |= full && peer.has_room(depth);
        let present = session == Some(peer.opened);
        if present && peer.consume(depth) {
            self.send_credits(id);
        }
    }

    /// The peer is told of the credits that it gets back.
    #[inline(never)]
    pub(crate) fn send_credits(&mut self, id: PeerId) {
        self.peers.want(id, Wants::NOOP);
        self.stir();
    }
}
