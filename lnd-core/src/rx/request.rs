// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Peers' requests: which are offered to the upper layer, and which wait.

use crate::base::counters::Counter;
use crate::base::id::{LinkId, PeerId, Tag};
use crate::base::message::{Envelope, Lane, Message};
use crate::base::time::Instant;
use crate::machines::peer::window::SequenceCheck;
use crate::machines::peer::HelloState;
use crate::peers::PeerFlags;
use crate::ports::trace::Trace;
use crate::ports::{Channel, Ports, Tracer};
use crate::shard::{Driver, RunState};
use crate::slots::New;

/// What is to become of a message, once it is known who sent it.
pub(crate) enum Screened {
    Handled,
    Wait,
    /// A request that there is room for.
    Offer(Offer),
}

/// A request that the driver would take.
#[derive(Clone, Copy)]
pub(crate) struct Offer {
    pub peer: PeerId,
    /// The link by which it came.
    pub link: LinkId,
    /// It is of a former session than the present one.
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
    /// The usual request: the next in order, in the present session of an admitted peer, which returns no
    /// credit, and for which there is room. `None`: nothing was done, and
    /// [`on_request`](Self::on_request) decides. It would offer this one too.
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
        let id = self.peers.find(from.from)?;
        let open = self.peers.view(id)?.is_open() && self.slots.has_room();
        let peer = self.peers.get_mut(id)?;
        if !open || !peer.sends_next(from, self.me.incarnation, self.config.depth) {
            return None;
        }
        peer.last_heard = now;
        let (nid, sequence) = (from.from, from.sequence);
        self.tracer.record(now, Trace::Received { from: nid, lane, sequence, taken: true });
        Some(Offer { peer: id, link, former: false })
    }

    /// A request: offered to the upper layer if there is room for what it may decide (S1-3, S3-8). Its
    /// place in the window and a slot are taken with the decision.
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
            return self.of_another_session(now, link, id, from);
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
            SequenceCheck::Fresh { lost: 1.. } if reliable => {
                return self.begin_next_session(now, id, from.session);
            }
            SequenceCheck::Outside if reliable && peer.theirs.is_behind(sequence) => {
                return self.begin_next_session(now, id, from.session);
            }
            SequenceCheck::Fresh { .. } => {}
            SequenceCheck::Outside => {
                self.counters.count(Counter::OutsideWindow);
                return Screened::Handled;
            }
        }
        self.offer(Offer { peer: id, link, former: false })
    }

    /// A request whose number the window does not reach. Where nothing is lost but what its sender gives up,
    /// what is missing is late, or it was taken before a late hello made us count anew. The session is not
    /// counted any more: its sender begins the next one, and all of this one is taken as of a former one.
    #[cold]
    fn begin_next_session(&mut self, now: Instant, id: PeerId, session: u32) -> Screened {
        self.counters.count(Counter::Waited);
        self.give_up_session(id, session);
        self.notify_uncounted(now, id);
        Screened::Wait
    }

    /// Offers a request, if the peer may have another slot and there is one.
    #[inline]
    fn offer(&mut self, offer: Offer) -> Screened {
        if self.has_room_for(offer.peer) {
            return Screened::Offer(offer);
        }
        self.counters.count(Counter::Waited);
        Screened::Wait
    }

    /// A request of another session than the peer's present one. One of us has forgotten the other for
    /// want of room, and the session began anew while the request lay in the channel. Its sender may
    /// have been told OK: a reliable channel repeats nothing, so it is taken, without a credit.
    fn of_another_session(
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
        self.offer_former(link, id)
    }

    /// A session's hello was heard, since it was answered; perhaps late ones of former incarnations after
    /// it. Our hello says that we do not count it; its own then opens the next one, when it can. While a
    /// request of it is offered, we say so again after each hold-off: its sender may have been told since
    /// that we are down, and has nothing else to say to us.
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
        if self.peers.armed(id).is_none() && self.channel.is_reliable() {
            self.peers.arm(id, now.after(self.hold_off()));
        }
    }

    /// A message of an incarnation that has ended in good order. Its control messages overtake its
    /// requests, goodbye included. Inline messages were reported as delivered, and are (S0-18); for all
    /// else its sender has nothing staged any more.
    pub(crate) fn of_the_closed(
        &mut self,
        link: LinkId,
        id: PeerId,
        message: &Message<'_>,
    ) -> Screened {
        let running = self.run.state() == RunState::Running;
        if !matches!(message, Message::Immediate { .. }) || !running {
            self.counters.count(Counter::Early);
            return Screened::Handled;
        }
        self.offer_former(link, id)
    }

    /// Offers a request of an earlier session than the present one: it brings no credit back.
    fn offer_former(&mut self, link: LinkId, peer: PeerId) -> Screened {
        self.offer(Offer { peer, link, former: true })
    }

    /// Whether a peer's request may have a slot, and there is one.
    #[inline]
    fn has_room_for(&self, id: PeerId) -> bool {
        let Some(peer) = self.peers.get(id) else { return false };
        self.slots.has_room() && peer.has_room(self.config.depth)
    }

    /// What becomes of a request in a session that may be an echo of one that is over, with its hello
    /// and its requests, which were taken then (S0-13). Who names our present session has heard us and is
    /// no echo; the others wait for the answer to our hello, which tells (docs/decisions/0016-delayed-hellos.md).
    fn check_session(
        &mut self,
        now: Instant,
        link: LinkId,
        id: PeerId,
        from: &Envelope,
    ) -> Option<Screened> {
        let state = self.peers.state(id);
        let peer = self.peers.get_mut(id)?;
        peer.keep_if(PeerFlags::UNVERIFIED, from.credits_of != peer.session);
        if !peer.is(PeerFlags::UNVERIFIED) {
            return None;
        }
        self.park(now, id, link);
        if state == HelloState::Handshake || self.channel.is_reliable() {
            self.counters.count(Counter::Waited);
            return Some(Screened::Wait);
        }
        self.counters.count(Counter::WrongSession);
        Some(Screened::Handled)
    }
}
