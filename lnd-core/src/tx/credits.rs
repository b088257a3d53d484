// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file returns credits to the peers.

use crate::base::id::{PeerId, Tag};
use crate::peers::Wants;
use crate::ports::Ports;
use crate::shard::Driver;

impl<P: Ports> Driver<'_, P> {
    /// Returns the credit of a request whose decision has been made, unless the session that it
    /// belongs to is over (INV-12).
    pub(crate) fn consume(&mut self, tag: Tag) {
        let id = self.peers.of_slot(tag.index);
        let session = self.slots.get(tag.index).map(|d| d.session);
        let depth = self.config.depth;
        let Some(peer) = self.peers.get_mut(id) else { return };
        let full = !peer.has_room(depth);
        peer.undecided = peer.undecided.saturating_sub(1);
        // A request that exceeded the peer's credits has waited for this. No slot becomes free
        // here, so this is its only signal.
        self.offer |= full && peer.has_room(depth);
        // A new session counts its credits anew. A credit of a former one would let the peer send
        // too much.
        let present = session == Some(peer.opened);
        if present && peer.consume(depth) {
            self.send_credits(id);
        }
    }

    /// Notes that a peer needs its credits.
    #[inline(never)]
    pub(crate) fn send_credits(&mut self, id: PeerId) {
        self.peers.want(id, Wants::NOOP);
        self.note_work();
    }
}
