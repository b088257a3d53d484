// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file decides which requests of peers are offered to the upper layer, and which wait.

use crate::base::counters::Counter;
use crate::base::id::{LinkId, PeerId, Tag};
use crate::base::message::{Envelope, Lane, Message};
use crate::base::time::Instant;
use crate::machines::peer::window::SequenceCheck;
use crate::machines::peer::HelloState;
use crate::peers::{Heard, PeerFlags};
use crate::ports::trace::Trace;
use crate::ports::{Channel, Ports, Tracer};
use crate::shard::{Driver, RunState};
use crate::slots::New;

/// The treatment of a message whose sender is known.
pub(crate) enum Screened {
    Handled,
    Wait,
    /// A request for which there is room.
    Offer(Offer),
}

/// A request that the driver can accept.
#[derive(Clone, Copy)]
pub(crate) struct Offer {
    pub peer: PeerId,
    /// The link on which it arrived.
    pub link: LinkId,
    /// It belongs to a session before the present one.
    pub former: bool,
}

/// The peer's transfer, where a request names one.
pub(super) const fn remote_of(message: &Message<'_>) -> Tag {
    match message {
        Message::PutReq { source: tag, .. } | Message::GetReq { sink: tag, .. } => *tag,
        _ => New::NO_TAG,
    }
}

impl<P: Ports> Driver<'_, P> {
    /// The usual request: the next in order, in the present session of an admitted peer, and with
    /// room for it. `None`: nothing was done, and [`on_request`](Self::on_request) decides. That
    /// would offer this request too.
    #[inline]
    pub(super) fn usual_request(
        &mut self,
        now: Instant,
        link: LinkId,
        from: &Envelope,
        message: &Message<'_>,
    ) -> Option<Offer> {
        let listens = from.to == self.me.nid && self.run.state() == RunState::Running;
        let lane = message.lane();
        if lane != Lane::Request || !listens || link.index() >= self.links.len() {
            return None;
        }
        let id = self.peers.find_again(from.from)?;
        // The full order of checks is in `on_request`. Every condition here is one that it would
        // also pass.
        let open = self.peers.view(id)?.is_open() && self.slots.has_room();
        let peer = self.peers.get_mut(id)?;
        let usual = peer.sends_next(from, self.me.incarnation);
        if !open || !usual || !peer.has_room(self.config.depth) {
            return None;
        }
        peer.last_heard = Heard::at(now);
        let (nid, sequence) = (from.from, from.sequence);
        self.tracer.record(now, Trace::Received { from: nid, lane, sequence, taken: true });
        self.settle_count(now, id, from.credits);
        Some(Offer { peer: id, link, former: false })
    }

    /// Handles a request. It is offered to the upper layer if there is room for any decision (S1-3,
    /// S3-8). The decision then moves the window and claims the slot.
    pub(crate) fn on_request(
        &mut self,
        now: Instant,
        link: LinkId,
        id: PeerId,
        from: &Envelope,
    ) -> Screened {
        let Some(peer) = self.peers.get(id) else { return Screened::Handled };
        let present = peer.counted_session() == Some(from.session);
        if !present {
            return self.on_other_session(now, link, id, from);
        }
        if peer.is(PeerFlags::UNVERIFIED) {
            if let Some(screened) = self.check_session(now, link, id, from) {
                return screened;
            }
        }
        let Some(peer) = self.peers.get(id) else { return Screened::Handled };
        let sequence = from.sequence;
        let reliable = self.channel.is_reliable();
        match peer.theirs.peek(sequence) {
            SequenceCheck::Duplicate => {
                self.counters.count(Counter::Duplicate);
                return Screened::Handled;
            }
            // A gap in a reliable channel is not a loss. The missing request is late, and moving
            // the window over it would break its sender's promise (S0-18).
            SequenceCheck::Fresh { lost: 1.. } if reliable => {
                return self.end_session(id, from.session);
            }
            SequenceCheck::Outside if reliable && peer.theirs.is_behind(sequence) => {
                return self.end_session(id, from.session);
            }
            SequenceCheck::Fresh { .. } => {}
            SequenceCheck::Outside => {
                self.counters.count(Counter::OutsideWindow);
                return Screened::Handled;
            }
        }
        self.offer(Offer { peer: id, link, former: false })
    }

    /// Handles a request whose number is beyond the window.
    #[cold]
    fn end_session(&mut self, id: PeerId, session: u32) -> Screened {
        // Only what its sender gives up is lost on a reliable channel. So the missing requests are
        // late, or a delayed hello has restarted the count. The session is not counted any more.
        // When this request is offered again, its sender is notified and begins the next session.
        // All of this one is then accepted as a former session.
        self.counters.count(Counter::Waited);
        self.give_up_session(id, session);
        Screened::Wait
    }

    /// Offers a request, if the peer may have another slot and one is free.
    #[inline]
    fn offer(&mut self, offer: Offer) -> Screened {
        if self.has_room_for(offer.peer) {
            return Screened::Offer(offer);
        }
        self.counters.count(Counter::Waited);
        Screened::Wait
    }

    /// Handles a request of a session other than the peer's present one. One side has forgotten the
    /// other for want of room, and the session began anew while the request lay in the channel.
    fn on_other_session(
        &mut self,
        now: Instant,
        link: LinkId,
        id: PeerId,
        from: &Envelope,
    ) -> Screened {
        let Some(peer) = self.peers.get(id) else { return Screened::Handled };
        let reliable = self.channel.is_reliable();
        let ahead = peer.is_later(from.session);
        let unknown = ahead || !peer.is(PeerFlags::COUNTED);
        // A proven peer whose session lies ahead opens that by its own hello. Any other must learn
        // that its session is not counted here.
        if unknown && !(peer.is(PeerFlags::PROVEN) && ahead) {
            self.notify_uncounted(now, id);
            if reliable {
                self.counters.count(Counter::Waited);
                return Screened::Wait;
            }
        }
        if unknown || !reliable {
            self.counters.count(Counter::WrongSession);
            return Screened::Handled;
        }
        if let Some(screened) = self.check_session(now, link, id, from) {
            return screened;
        }
        // The sender may have reported it as sent, and a reliable channel repeats nothing. So it is
        // accepted, without a credit (S0-18).
        self.offer_former(link, id)
    }

    /// Notifies a peer that its session is not counted here. Our hello shows that, and the peer
    /// then begins the next session.
    fn notify_uncounted(&mut self, now: Instant, id: PeerId) {
        let state = self.peers.state(id);
        let Some(peer) = self.peers.get_mut(id) else { return };
        if state != HelloState::Good {
            return;
        }
        if !peer.is(PeerFlags::NOTIFIED) {
            peer.flags.insert(PeerFlags::NOTIFIED);
            self.resync(now, id);
            return;
        }
        // While a request of the session is offered, the hello is repeated after each hold-off. The
        // sender may have declared us down since, and it has no other reason to send.
        if self.peers.armed(id).is_none() && self.channel.is_reliable() {
            self.peers.arm(id, now.after(self.hold_off()));
        }
    }

    /// Handles a message of an incarnation that has ended in good order. Control messages overtake
    /// requests, and so does the goodbye.
    pub(crate) fn on_message_of_closed(
        &mut self,
        link: LinkId,
        id: PeerId,
        message: &Message<'_>,
    ) -> Screened {
        let running = self.run.state() == RunState::Running;
        // Inline messages were reported as sent, so they are delivered (S0-18). For all other
        // requests the sender has nothing staged any more.
        if !matches!(message, Message::Immediate { .. }) || !running {
            self.counters.count(Counter::Early);
            return Screened::Handled;
        }
        self.offer_former(link, id)
    }

    /// Offers a request of an earlier session. It returns no credit.
    fn offer_former(&mut self, link: LinkId, peer: PeerId) -> Screened {
        self.offer(Offer { peer, link, former: true })
    }

    /// Whether a peer's request may have a slot, and one is free.
    #[inline]
    fn has_room_for(&self, id: PeerId) -> bool {
        let Some(peer) = self.peers.get(id) else { return false };
        self.slots.has_room() && peer.has_room(self.config.depth)
    }

    /// Decides about a request in an unverified session. The session may come from a delayed hello
    /// of an earlier one. Its requests were already delivered, so it must not open a session
    /// (S0-13).
    fn check_session(
        &mut self,
        now: Instant,
        link: LinkId,
        id: PeerId,
        from: &Envelope,
    ) -> Option<Screened> {
        let state = self.peers.state(id);
        let peer = self.peers.get_mut(id)?;
        // A sender that names our present session has received our hello, so its own is not a
        // delayed copy. All others wait for the answer to our hello
        // (docs/decisions/0016-delayed-hellos.md).
        peer.keep_if(PeerFlags::UNVERIFIED, from.credits_of != peer.session);
        if !peer.is(PeerFlags::UNVERIFIED) {
            return None;
        }
        self.park(now, id, link);
        if state == HelloState::Handshake || self.channel.is_reliable() {
            self.counters.count(Counter::Waited);
            return Some(Screened::Wait);
        }
        // The sender has been answered and does not count our session, so no request of it names
        // that. Only the answer to another hello of ours can verify its session.
        self.resync(now, id);
        self.counters.count(Counter::WrongSession);
        Some(Screened::Handled)
    }
}
