// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file sends the messages of the control lane that belong to no transfer.

use crate::base::counters::Counter;
use crate::base::id::{LinkId, PeerId};
use crate::base::message::{Hello, HelloAck, Lane, Message};
use crate::base::time::Instant;
use crate::machines::peer::HelloState;
use crate::peers::Wants;
use crate::ports::{Channel, Ports};
use crate::shard::Driver;

/// The wire version this driver implements.
pub(crate) const VERSION: u8 = 1;

impl<P: Ports> Driver<'_, P> {
    /// Sends our hello and the answer to the peer's hello, where they are due. Both use the link on
    /// which the peer's hello arrived.
    #[inline(never)]
    pub(crate) fn send_handshake(&mut self, now: Instant, id: PeerId) {
        let Some(peer) = self.peers.get(id) else { return };
        let (wants, came_by) = (peer.wants, peer.last_hello().link());
        let answers = wants.contains(Wants::ACK);
        // Our hello goes first. The requests that our answer releases then name our session, and
        // that verifies the sender's session without another round trip (decision 0016).
        if wants.contains(Wants::HELLO) {
            self.send_hello(now, id, came_by.filter(|_| answers));
        }
        if answers {
            self.send_hello_ack(now, id, came_by);
        }
    }

    #[inline]
    fn send_hello(&mut self, now: Instant, id: PeerId, link: Option<LinkId>) {
        // Another context may have declared the peer down while the hello waited. No hello goes to
        // such a peer before its hold-off is over (R68).
        if self.peers.state(id) == HelloState::Down {
            self.peers.unwant(id, Wants::HELLO);
            return;
        }
        let Some(peer) = self.peers.get(id) else { return };
        let hello = Hello {
            given_up: peer.handshake.announced(),
            attempt: peer.attempt,
            version_min: VERSION,
            version_max: VERSION,
            immediate_max: self.inline_max(),
            features: self.links.features(),
        };
        if self.send_control(now, id, link, &Message::Hello(hello)) {
            self.counters.count(Counter::Hellos);
            self.peers.unwant(id, Wants::HELLO);
        }
    }

    fn send_hello_ack(&mut self, now: Instant, id: PeerId, link: Option<LinkId>) {
        let Some(peer) = self.peers.get(id) else { return };
        let hello = peer.last_hello();
        let ack = HelloAck {
            session: hello.session,
            attempt: hello.attempt,
            version: hello.fits().then_some(VERSION),
            depth: self.config.depth,
            immediate_max: self.inline_max(),
            features: self.links.features(),
        };
        if self.send_control(now, id, link, &Message::HelloAck(ack)) {
            self.peers.unwant(id, Wants::ACK);
        }
    }

    /// Sends a message that belongs to no transfer. The given link is preferred if it is open.
    /// Returns `false` if no link is open or the channel has no room; the caller tries again later.
    pub(crate) fn send_control(
        &mut self,
        now: Instant,
        id: PeerId,
        link: Option<LinkId>,
        message: &Message<'_>,
    ) -> bool {
        let Some(nid) = self.peers.nid(id) else { return true };
        let Some(link) = self.links.any_way_to(nid, link) else { return false };
        if !self.channel.ready(link, nid, Lane::Control) {
            return false;
        }
        // From here on the envelope counts as sent: it announces the credits that are owed. The
        // counts are cumulative: after a loss the next message repeats them, or a resync asks for
        // them.
        let lane = Lane::Control;
        let Some(mut envelope) = self.peers.envelope(id, self.me, lane) else { return true };
        let Some(peer) = self.peers.get(id) else { return true };
        match message {
            // The answer names the incarnation that sent the hello. With another version that
            // incarnation is not recorded as the peer's.
            Message::HelloAck(_) => envelope.to_incarnation = peer.hello_of(),
            // A hello names the latest request instead of a control number: the receiver counts
            // from there.
            Message::Hello(_) => envelope.sequence = peer.sequence,
            _ => {}
        }
        let hello = matches!(message, Message::Hello(_));
        let tag = if hello { self.peers.name_hello(id, link, self.config.slots) } else { None };
        let sent = self.channel.send(link, &envelope, message, tag);
        self.after_sending(now, link, &envelope, Lane::Control, sent.is_ok());
        // The channel may complete a send within the call. The completion is handled here, because
        // no event follows.
        if let (Ok(Some(ended)), Some(tag)) = (sent, tag) {
            self.on_sent(now, tag, ended);
        }
        sent.is_ok()
    }

    /// Largest payload that this side receives and sends inline.
    pub(crate) fn inline_max(&self) -> u32 {
        self.config.immediate_max.min(self.channel.immediate_max())
    }
}
