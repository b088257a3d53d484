// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file sends what is pending for peers, one peer after the other.

use crate::base::id::PeerId;
use crate::base::message::Message;
use crate::base::time::Instant;
use crate::peers::Wants;
use crate::ports::Ports;
use crate::shard::Driver;

impl<P: Ports> Driver<'_, P> {
    /// Sends what is pending to up to `budget` of the waiting peers, continuing the round of the
    /// last call. Those that must go on waiting move to the end.
    pub(crate) fn send_pending(&mut self, now: Instant, budget: u32, due: bool) {
        self.peers.begin_round(due);
        for _ in 0..budget {
            let Some(id) = self.peers.next_pending() else { return };
            self.send_pending_to(now, id);
            if self.peers.get(id).is_some_and(|p| !p.wants.is_empty()) {
                self.peers.want_later(id, Wants::empty());
            } else {
                self.peers.places.may_be_free();
            }
        }
    }

    /// Sends what is pending to one peer, as far as the control lane has room.
    fn send_pending_to(&mut self, now: Instant, id: PeerId) {
        // The handshake goes first: until it is done nothing else counts at the peer (S0-13).
        self.send_handshake(now, id);
        let wants = self.peers.get(id).map_or(Wants::empty(), |peer| peer.wants);
        if wants.contains(Wants::NOOP) && self.send_control(now, id, None, &Message::Noop) {
            self.peers.unwant(id, Wants::NOOP);
        }
        if wants.contains(Wants::CONNECT) && self.links.any_open() {
            self.peers.unwant(id, Wants::CONNECT);
            self.revive(now, id);
        }
        // The want is cleared before the attempt. The attempt itself sets it again if something is
        // left.
        if wants.contains(Wants::FLUSH) {
            self.peers.unwant(id, Wants::FLUSH);
            self.flush(now, id);
        }
        if wants.contains(Wants::PULL) {
            self.peers.unwant(id, Wants::PULL);
            self.next_pull(now, id);
        }
    }
}
