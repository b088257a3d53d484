// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Messages of peers: who is listened to, what their requests become.

use super::details::Role;
use super::peer::Wants;
use super::rx::arrival::{Arrival, Asked, Inbound, Offer};
use super::shutdown::RunState;
use super::Driver;
use crate::counters::Counter;
use crate::defect::seeded;
use crate::id::{LinkId, Nid, PeerId, Tag};
use crate::message::{Envelope, Lane, Message};
use crate::peer::window::Verdict;
use crate::peer::HelloState;
use crate::ports::{Channel, Ports, Tracer};
use crate::shared::Whose;
use crate::time::Instant;
use crate::trace::Trace;
use crate::transfer::Word;

/// Who has sent a message, as far as that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// An admitted peer.
    From(PeerId),
    /// An inline message of an incarnation that has said goodbye since.
    Closed(PeerId),
    /// A request of an incarnation that we do not admit now: it stays in the channel.
    Parked,
    /// Counted, and dropped.
    Dropped,
}

/// What is to become of a message, once it is known who sent it.
enum Screened {
    Handled,
    Wait,
    /// A request that there is room for.
    Offer(Offer),
}

impl<'m, P: Ports> Driver<'m, P> {
    /// A message of the LND layer has arrived on `link`.
    pub fn on_message<'f>(
        &mut self,
        now: Instant,
        link: LinkId,
        from: &Envelope,
        message: &Message<'f>,
    ) -> Inbound<'_, 'm, 'f, P> {
        if !self.listens_to(link, from) {
            return Inbound::Handled;
        }
        match message {
            Message::Hello(hello) => self.on_hello(now, link, from, hello),
            Message::HelloAck(ack) => {
                if let Some(id) = self.on_hello_ack(now, from, ack) {
                    self.flush(now, id);
                }
            }
            _ => match self.on_other(now, link, from, message) {
                Screened::Handled => {}
                Screened::Wait => return Inbound::Wait,
                Screened::Offer(offer) if self.run.state() != RunState::Running => {
                    self.refuse_offer(now, from.from, offer, message);
                }
                Screened::Offer(offer) => {
                    return Arrival::of(self, now, from.from, offer, message);
                }
            },
        }
        Inbound::Handled
    }

    /// A message that is no greeting.
    #[inline(never)]
    fn on_other(
        &mut self,
        now: Instant,
        link: LinkId,
        from: &Envelope,
        message: &Message<'_>,
    ) -> Screened {
        match self.admitted(now, from, message.lane()) {
            Heard::From(id) => {
                let screened = self.on_admitted(now, link, id, from, message);
                self.settle_credits(now, id, from);
                self.unpark_if_handled(id, link, message, &screened);
                screened
            }
            Heard::Closed(id) => {
                let screened = self.of_the_closed(link, id, message);
                self.unpark_if_handled(id, link, message, &screened);
                screened
            }
            Heard::Parked => {
                self.set_right(now, from, Some(link));
                Screened::Wait
            }
            Heard::Dropped => {
                if let Some(id) = self.peers.find(from.from) {
                    self.unpark_if_handled(id, link, message, &Screened::Handled);
                }
                self.note_late_goodbye(from, message);
                self.set_right(now, from, None);
                Screened::Handled
            }
        }
    }

    #[inline]
    fn on_admitted(
        &mut self,
        now: Instant,
        link: LinkId,
        id: PeerId,
        from: &Envelope,
        message: &Message<'_>,
    ) -> Screened {
        match message {
            Message::Immediate { .. } | Message::PutReq { .. } | Message::GetReq { .. } => {
                return self.on_request(now, link, id, from);
            }
            Message::PullReady(ready) => self.pull_ready(now, link, id, ready),
            _ => self.on_answer(now, id, message),
        }
        Screened::Handled
    }

    /// Whether a message is for us, by a link of ours, and we have not said goodbye.
    pub(super) fn listens_to(&mut self, link: LinkId, from: &Envelope) -> bool {
        let ours = from.to == self.me.nid && from.from != self.me.nid;
        if !ours || link.index() >= self.links.len() {
            self.counters.count(Counter::Misrouted);
            return false;
        }
        if self.run.is_over() {
            self.counters.count(Counter::Early);
            return false;
        }
        true
    }

    /// The peer that sent a message, if its life is admitted and it means ours (INV-6, S0-13). All else
    /// is dropped and counted, never silently (R28), and its sender [set right](Self::set_right); but in
    /// a reliable channel a request stays until its sender is admitted again, since that may have been
    /// told OK (LU-16214); in any channel it stays while the answer to our hello is due.
    pub(super) fn admitted(&mut self, now: Instant, from: &Envelope, lane: Lane) -> Heard {
        let found = self.peers.find(from.from);
        let view = found.and_then(|id| self.shared.peer_gate(id.index())).map(|g| g.view());
        let known_life = found.and_then(|id| self.peers.get(id)).and_then(|p| p.life);
        let admitted = view.is_some_and(|v| v.admitted() && v.state() != HelloState::Down)
            || seeded("early-message-taken");
        let right = known_life == Some(from.from_life) && from.to_life == Some(self.me.life)
            || seeded("any-life-will-do");
        let taken = admitted && right;
        let (nid, sequence) = (from.from, from.sequence);
        self.tracer.record(now, Trace::Heard { from: nid, lane, sequence, taken });
        let peer = found.and_then(|id| self.peers.get_mut(id).map(|peer| (id, peer)));
        match peer {
            Some((id, peer)) if taken => {
                peer.last_heard = now;
                return Heard::From(id);
            }
            _ => {}
        }
        let reliable = self.channel.is_reliable();
        let means_us = from.to_life == Some(self.me.life);
        let known = found.and_then(|id| self.peers.get(id));
        let closed = known.and_then(|p| p.closed);
        if let Some(id) = found.filter(|_| closed == Some(from.from_life) && means_us && reliable) {
            return Heard::Closed(id);
        }
        // Which incarnation is the present one is open until one has answered our hello. One that said
        // goodbye was the present one. A request of another is of an earlier one then: it must not keep its
        // place in the lane, since what lies behind it was promised.
        let settled = known.is_some_and(|peer| peer.has_closed() || peer.proven)
            && !seeded("earlier-request-parked");
        let open = view.is_none_or(|v| v.state() != HelloState::Good) && !settled;
        let answer_due = view.is_some_and(|v| v.state() == HelloState::Greeting);
        let stays = reliable && (right || open) || right && answer_due;
        let parks = lane == Lane::Request && means_us && stays;
        if parks && !seeded("wrong-verdict-drops") {
            self.counters.count(Counter::Waited);
            return Heard::Parked;
        }
        self.counters.count(if admitted { Counter::WrongLife } else { Counter::Early });
        Heard::Dropped
    }

    /// Greets the sender of a message that is not admitted: it knows an incarnation of ours that is over,
    /// or does not know that we took it for dead, or we have forgotten it (R29, LU-16214). A request may
    /// be `parked` in the channel of a link.
    pub(super) fn set_right(&mut self, now: Instant, from: &Envelope, parked: Option<LinkId>) {
        if parked.is_some() {
            // The sender may be one that is to make room.
            self.seat_waiting(now);
        }
        let nid = from.from;
        match (self.peers.find(nid), parked) {
            (Some(id), Some(link)) => self.park(now, id, link),
            (Some(id), None) => {
                self.seek(now, id);
            }
            (None, _) if !self.channel.reaches(nid) => {}
            (None, Some(link)) => self.wait_for_place(now, link, from),
            (None, None) => {
                if let Some(id) = self.take_up_stranger(now, nid, false) {
                    self.seek(now, id);
                }
            }
        }
    }

    /// A request of a peer stays in the channel of a link; the peer is asked.
    fn park(&mut self, now: Instant, id: PeerId, link: LinkId) {
        if let Some(peer) = self.peers.get_mut(id) {
            peer.parked |= link.bit();
        }
        self.revive(now, id);
    }

    /// Takes the credits that a message brings, and sends what waited for them. The last thing that is
    /// done for a message.
    #[inline]
    pub(super) fn settle_credits(&mut self, now: Instant, id: PeerId, from: &Envelope) {
        let Some(peer) = self.peers.get_mut(id) else { return };
        if from.credits_of != peer.session {
            return;
        }
        match peer.ours.returned(from.credits) {
            None => self.counters.count(Counter::BadCredits),
            Some(0) => {}
            Some(_) => {
                (peer.stalled, peer.fruitless) = (false, 0);
                // While a hello is out the timer is the hello's.
                if self.peer_state(id) == HelloState::Good {
                    self.timers.disarm(self.config.slots + id.index() as u32);
                }
                self.flush(now, id);
            }
        }
    }

    /// A request: offered to the upper layer if there is room for what it may decide (S1-3, S3-8). Its
    /// place in the window and a slot are taken with the decision.
    fn on_request(&mut self, now: Instant, link: LinkId, id: PeerId, from: &Envelope) -> Screened {
        let Some(peer) = self.peers.get(id) else { return Screened::Handled };
        let present = peer.counted_session() == Some(from.session);
        if !present && !seeded("any-session-will-do") {
            return self.of_another_session(now, link, id, from);
        }
        if let Some(screened) = self.doubt(now, link, id, from) {
            return screened;
        }
        let Some(peer) = self.peers.get(id) else { return Screened::Handled };
        let (sequence, session) = (from.sequence, peer.opened);
        let lost = match peer.theirs.peek(sequence) {
            // Nothing is lost here but what its sender gives up: what is missing is late.
            Verdict::Fresh { lost: 1.. } if self.channel.is_reliable() => {
                self.counters.count(Counter::Waited);
                return Screened::Wait;
            }
            Verdict::Fresh { lost } => lost,
            Verdict::Duplicate => {
                self.counters.count(Counter::Duplicate);
                return Screened::Handled;
            }
            Verdict::Outside => {
                self.counters.count(Counter::OutsideWindow);
                return Screened::Handled;
            }
        };
        self.offer(Offer { peer: id, link, session, number: Some((sequence, lost)) })
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
        let unknown = ahead || !peer.counted;
        if unknown && !(peer.proven && ahead) {
            self.tell_uncounted(now, id);
            if reliable {
                self.counters.count(Counter::Waited);
                return Screened::Wait;
            }
        }
        if unknown || !reliable {
            self.counters.count(Counter::WrongSession);
            return Screened::Handled;
        }
        if let Some(screened) = self.doubt(now, link, id, from) {
            return screened;
        }
        self.offer_former(link, id)
    }

    /// A session's hello was heard, since it was answered; perhaps late ones of former incarnations after
    /// it. Our hello says that we do not count it; its own then opens the next one, when it can. While a
    /// request of it is offered, we say so again after each hold-off: its sender may have been told since
    /// that we are down, and has nothing else to say to us.
    fn tell_uncounted(&mut self, now: Instant, id: PeerId) {
        let state = self.peer_state(id);
        let Some(peer) = self.peers.get_mut(id) else { return };
        if state != HelloState::Good {
            return;
        }
        if !peer.told || seeded("told-again") {
            peer.told = true;
            self.resync(now, id);
            return;
        }
        let timer = self.config.slots + id.index() as u32;
        if self.timers.armed(timer).is_none() && self.channel.is_reliable() {
            self.timers.arm(timer, now.after(self.hold_off()));
        }
    }

    /// A message of an incarnation that has ended in good order. Its control messages overtake its
    /// requests, goodbye included. Inline messages were reported as delivered, and are (S0-18); for all
    /// else its sender has nothing staged any more.
    fn of_the_closed(&mut self, link: LinkId, id: PeerId, message: &Message<'_>) -> Screened {
        let running = self.run.state() == RunState::Running;
        if !matches!(message, Message::Immediate { .. }) || !running {
            self.counters.count(Counter::Early);
            return Screened::Handled;
        }
        self.offer_former(link, id)
    }

    /// Offers a request of an earlier session than the present one: it brings no credit back.
    fn offer_former(&mut self, link: LinkId, peer: PeerId) -> Screened {
        let session = self.peers.get(peer).map_or(0, |peer| peer.opened.wrapping_sub(1));
        self.offer(Offer { peer, link, session, number: None })
    }

    fn unpark_if_handled(
        &mut self,
        id: PeerId,
        link: LinkId,
        message: &Message<'_>,
        screened: &Screened,
    ) {
        if message.lane() == Lane::Request && matches!(screened, Screened::Handled) {
            self.unpark(id, link);
        }
    }

    /// A request that was taken or dropped waits no more; those in the channels of other links do.
    #[inline]
    pub(super) fn unpark(&mut self, id: PeerId, link: LinkId) {
        let Some(peer) = self.peers.get_mut(id).filter(|peer| peer.parked != 0) else { return };
        peer.parked &= if seeded("one-mark-for-all-lanes") { 0 } else { !link.bit() };
        if peer.parked == 0 {
            peer.wants.remove(Wants::ASK);
            self.places.may_be_free();
        }
    }

    /// A goodbye that its sender's successor has overtaken, by another link: what lies behind it counts.
    fn note_late_goodbye(&mut self, from: &Envelope, message: &Message<'_>) {
        let means_us = from.to_life == Some(self.me.life) && self.channel.is_reliable();
        let found = self.peers.find(from.from).and_then(|id| self.peers.get_mut(id));
        if let (Message::Close, true, Some(peer)) = (message, means_us, found) {
            // The present one's own is kept: what it left in the channel would wait for ever.
            if !peer.has_closed() || seeded("late-goodbye-overwrites") {
                peer.closed = Some(from.from_life);
            }
        }
    }

    /// Whether a peer's request may have a slot, and there is one. Whatever its sessions granted, a peer has
    /// no more than its depth without a decision, and as much again under way (INV-12, INV-14).
    fn has_room_for(&self, id: PeerId) -> bool {
        let Some(peer) = self.peers.get(id) else { return false };
        let depth = self.config.depth;
        let full = peer.undecided >= depth || peer.passive >= depth.saturating_mul(2);
        self.active + self.passive < self.config.slots && (!full || seeded("peer-without-a-cap"))
    }

    /// Takes a slot for a request that was offered, and its place in the window. `None`: there is no slot,
    /// which the offer has ruled out.
    pub(super) fn take_up_request(
        &mut self,
        now: Instant,
        offer: &Offer,
        from: Nid,
        asked: &Asked<'_>,
    ) -> Option<Tag> {
        let tag = self.claim(offer.peer, Role::Ticket, &[]).ok()?;
        self.take_in(offer);
        if let Some(peer) = self.peers.get_mut(offer.peer) {
            peer.undecided += 1;
        }
        let life = self.shared.peer_gate(offer.peer.index()).map_or(0, |g| g.view().life());
        self.shared.assign(tag, Whose::new(offer.peer, life, Some(offer.link)));
        if let Some(details) = self.details.get_mut(tag.index as usize) {
            details.remote = asked.remote;
            details.session = offer.session;
            details.length = asked.length;
        }
        self.shared.publish(tag, Word::queued(tag.generation));
        self.timers.arm(tag.index, now.after(self.config.verdict_bound));
        self.tracer.record(now, Trace::Accepted { tag, peer: from, length: asked.length });
        Some(tag)
    }

    /// A request that was offered is taken: its place in the window, and its place in the channel.
    #[inline]
    pub(super) fn take_in(&mut self, offer: &Offer) {
        self.counters.count(Counter::Requests);
        self.unpark(offer.peer, offer.link);
        let (Some(peer), Some((sequence, lost))) = (self.peers.get_mut(offer.peer), offer.number)
        else {
            return;
        };
        peer.theirs.take_in(sequence, lost);
        self.counters.add(Counter::LostRequests, u64::from(lost));
    }

    /// What becomes of a request in a session that may be an echo of one that is over, with its hello
    /// and its requests, which were taken then (S0-13). Who names our present session has heard us and is
    /// no echo; the others wait for the answer to our hello, which tells (docs/decisions/0016-echoes.md).
    fn doubt(
        &mut self,
        now: Instant,
        link: LinkId,
        id: PeerId,
        from: &Envelope,
    ) -> Option<Screened> {
        let state = self.peer_state(id);
        let peer = self.peers.get_mut(id)?;
        peer.doubted &= from.credits_of != peer.session;
        if !peer.doubted || seeded("echo-believed") {
            return None;
        }
        self.park(now, id, link);
        if state == HelloState::Greeting || self.channel.is_reliable() {
            self.counters.count(Counter::Waited);
            return Some(Screened::Wait);
        }
        self.counters.count(Counter::WrongSession);
        Some(Screened::Handled)
    }
}
