// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file decides when and on which link waiting requests are sent.

use super::gate::PostFrom;
use crate::base::id::{LinkId, PeerId};
use crate::base::message::Lane;
use crate::base::time::{Instant, Span};
use crate::machines::peer::HelloState;
use crate::peers::{PeerFlags, Wants};
use crate::ports::{Channel, Ports};
use crate::shard::config::MAX_DEPTH;
use crate::shard::Driver;
use crate::slots::{PutOff, SlotState};

impl<P: Ports> Driver<'_, P> {
    /// The link on which the first waiting request of this peer can be sent now, if it is the one
    /// in turn. `preference`: the link that the request asks for.
    #[cfg_attr(feature = "compact", inline(never))]
    #[cfg_attr(not(feature = "compact"), inline)]
    pub(crate) fn way_out(&mut self, id: PeerId, preference: Option<LinkId>) -> Option<LinkId> {
        let peer = self.peers.get(id)?;
        let nid = peer.nid?;
        let good = self.peers.state(id) == HelloState::Good;
        if !good || !peer.has_credit(self.channel.is_reliable()) {
            return None;
        }
        let link = self.links.way_to(nid, preference)?;
        // Room is checked before the credit is spent. A credit that is spent without a message
        // would be lost until the next resync.
        self.channel.ready(link, nid, Lane::Request).then_some(link)
    }

    /// Any link on which it can be sent now. The one in turn may have no room where another one
    /// has.
    #[cfg_attr(not(feature = "compact"), inline(never))]
    fn any_way_out(&mut self, id: PeerId, preference: Option<LinkId>) -> Option<LinkId> {
        (0..self.links.len()).find_map(|_| self.way_out(id, preference))
    }

    /// Posts what waits for a peer, as far as credits, links and the channel allow.
    pub(crate) fn flush(&mut self, now: Instant, id: PeerId) {
        // The bound is that of the credits, and `batch` for late requests, which end here without a
        // credit.
        let bound = self.config.batch.saturating_add(u32::from(MAX_DEPTH));
        for _ in 0..bound {
            let Some(peer) = self.peers.get(id) else { return };
            if peer.queue.is_empty() {
                if peer.ours.left() > 0 {
                    self.credits_are_here(id);
                }
                return;
            }
            let tag = self.slots.tag(peer.queue.first());
            let preference = self.slots.get(tag.index).and_then(SlotState::link_preference);
            let Some(link) = self.any_way_out(id, preference) else { break };
            self.unqueue(tag);
            self.post(now, tag, id, link, PostFrom::Queue);
        }
        self.after_queueing(now, id);
    }

    /// Nothing waits for credits, so their timer stops. During a handshake the timer belongs to the
    /// hello. While a request of an uncounted session waits in the channel, the timer reminds its
    /// sender.
    pub(crate) fn credits_are_here(&mut self, id: PeerId) {
        let reminds = self.peers.get(id).is_some_and(|peer| peer.is(PeerFlags::NOTIFIED));
        if self.peers.state(id) == HelloState::Good && !reminds {
            self.peers.disarm(id);
        }
    }

    /// Ensures that the queue of a peer, which is not empty, is tried again.
    pub(crate) fn after_queueing(&mut self, now: Instant, id: PeerId) {
        let Some(peer) = self.peers.get(id) else { return };
        if self.peers.state(id) != HelloState::Good {
            return;
        }
        // A request that was given up must be announced before its number falls out of the
        // announced range.
        if peer.must_announce(self.channel.is_reliable()) {
            self.resync(now, id);
        } else if peer.ours.left() == 0 {
            self.watch_credits(now, id);
        // Credits are left, so the queue waits for room or for a link. Neither has an event; the
        // queue is polled.
        } else {
            self.peers.want_later(id, Wants::FLUSH);
        }
    }

    /// Arms a timer that asks for the peer's count if no credit comes back.
    pub(crate) fn watch_credits(&mut self, now: Instant, peer: PeerId) {
        // An armed timer is not moved: each new request would postpone the question for ever.
        if self.peers.armed(peer).is_none() {
            let stalled = self.peers.get_mut(peer).is_some_and(|peer| {
                peer.set_put_off(PutOff::Not);
                peer.is(PeerFlags::STALLED)
            });
            // The bound has already passed once without a credit. The next request does not wait
            // for it again.
            let bound = if stalled { Span::default() } else { self.config.credit_stall };
            self.peers.arm(peer, now.after(bound));
        }
    }
}
