// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file decides which senders are admitted, and what happens to messages of the others.

use crate::base::counters::Counter;
use crate::base::id::{LinkId, PeerId};
use crate::base::message::{Envelope, Lane};
use crate::base::time::Instant;
use crate::machines::peer::{GateView, HelloState};
use crate::peers::{Heard, Peer, PeerFlags, Wants};
use crate::ports::trace::Trace;
use crate::ports::{Channel, Ports, Tracer};
use crate::shard::Driver;

/// The sender of a message, as far as the message counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Screening {
    /// An admitted peer.
    From(PeerId),
    /// An inline message of an incarnation that has sent its goodbye since.
    Closed(PeerId),
    /// A request of an incarnation that is not admitted now. It stays in the channel.
    Parked,
    /// Counted, and dropped.
    Dropped,
}

impl<P: Ports> Driver<'_, P> {
    /// Finds the peer that sent a message, if its incarnation is admitted and it names ours (INV-6,
    /// S0-13). Everything else is dropped and counted, never silently (R28), and its sender is
    /// [corrected](Self::correct_sender). In a reliable channel a request stays until its sender is
    /// admitted again, because that may have reported it as sent (LU-16214). In any channel a
    /// request stays while the answer to our hello is due.
    #[inline]
    pub(crate) fn admitted(&mut self, now: Instant, from: &Envelope, lane: Lane) -> Screening {
        let found = self.peers.find(from.from);
        let view = found.and_then(|id| self.peers.gate(id)).map(|g| g.view());
        // A peer that is down is refused even if its messages arrive: its transfers were given up,
        // and only a handshake starts over (INV-6).
        let admitted = view.is_some_and(|v| v.admitted() && v.state() != HelloState::Down);
        let peer = found.and_then(|id| Some((id, self.peers.get_mut(id)?)));
        let right = peer.as_ref().is_some_and(|(_, peer)| peer.is_of(from, self.me.incarnation));
        let taken = admitted && right;
        let (nid, sequence) = (from.from, from.sequence);
        self.tracer.record(now, Trace::Received { from: nid, lane, sequence, taken });
        match peer {
            Some((id, peer)) if taken => {
                peer.last_heard = Heard::at(now);
                Screening::From(id)
            }
            _ => self.not_admitted(from, lane, (found, view), (admitted, right)),
        }
    }

    /// Decides about a message whose sender is not admitted, or which names another incarnation.
    #[cold]
    fn not_admitted(
        &mut self,
        from: &Envelope,
        lane: Lane,
        (found, view): (Option<PeerId>, Option<GateView>),
        (admitted, right): (bool, bool),
    ) -> Screening {
        let reliable = self.channel.is_reliable();
        let means_us = from.to_incarnation == Some(self.me.incarnation);
        let known = found.and_then(|id| self.peers.get(id));
        let closed = known.and_then(Peer::closed);
        // A goodbye may overtake requests that its sender has reported as sent. Where the channel
        // has lost none of them and repeats none, these are still delivered (S0-18).
        let keeps = reliable || self.channel.is_connected();
        if let Some(id) =
            found.filter(|_| closed == Some(from.from_incarnation) && means_us && keeps)
        {
            return Screening::Closed(id);
        }
        // Until an incarnation has answered our hello, any may be the present one, and its requests
        // wait. Afterwards a request of another incarnation is of an earlier one. It must not keep
        // its place in the lane, because promised requests lie behind it (decision 0018).
        let settled = known.is_some_and(Peer::is_settled);
        let answer_due = view.is_some_and(|v| v.state() == HelloState::Handshake);
        let stays = reliable && (right || !settled) || right && answer_due;
        let parks = lane == Lane::Request && means_us && stays;
        if parks {
            self.counters.count(Counter::Waited);
            return Screening::Parked;
        }
        self.counters.count(if admitted { Counter::WrongIncarnation } else { Counter::Early });
        Screening::Dropped
    }

    /// Starts a handshake with the sender of a message that is not admitted. It names an
    /// incarnation of ours that is over, or it was declared down here without its knowledge, or it
    /// was forgotten here (R29, LU-16214). A request may be `parked` in the channel of a link.
    pub(crate) fn correct_sender(&mut self, now: Instant, from: &Envelope, parked: Option<LinkId>) {
        if parked.is_some() {
            // The sender may be one that has to make room for the waiting node.
            self.place_waiting(now);
        }
        let nid = from.from;
        match (self.peers.find(nid), parked) {
            (Some(id), Some(link)) => self.park(now, id, link),
            (Some(id), None) => {
                self.connect(now, id);
            }
            // A forged sender that the channel does not reach gets no answer and no place.
            (None, _) if !self.channel.reaches(nid) => {}
            (None, Some(link)) => self.wait_for_place(now, link, from),
            (None, None) => {
                if let Some(id) = self.take_up_stranger(now, nid, false) {
                    self.connect(now, id);
                }
            }
        }
    }

    /// Leaves a request of a peer in the channel of a link, and starts a handshake with the peer.
    pub(crate) fn park(&mut self, now: Instant, id: PeerId, link: LinkId) {
        if let Some(peer) = self.peers.get_mut(id) {
            peer.parked |= link.bit();
        }
        self.revive(now, id);
    }

    /// Notes that a request was accepted or dropped and waits no more. Those in the channels of
    /// other links still wait.
    #[inline]
    pub(crate) fn unpark(&mut self, id: PeerId, link: LinkId) {
        let Some(peer) = self.peers.get_mut(id).filter(|peer| peer.parked != 0) else { return };
        peer.parked &= !link.bit();
        if peer.parked == 0 {
            peer.wants.remove(Wants::CONNECT);
            self.peers.places.may_be_free();
        }
    }

    /// Whether a message is for this node, on a link of ours, and no goodbye was sent yet.
    pub(crate) fn listens_to(&mut self, link: LinkId, from: &Envelope) -> bool {
        let ours = from.to == self.me.nid && from.from != self.me.nid;
        if !ours || link.index() >= self.links.len() {
            self.counters.count(Counter::Misrouted);
            return false;
        }
        // After our goodbye nothing may be accepted: it states that all transfers have ended (R35).
        if self.run.is_over() {
            self.counters.count(Counter::Early);
            return false;
        }
        true
    }

    /// Applies the credits that a message carries, and sends what waited for them. This is the last
    /// step for a message.
    #[inline]
    pub(crate) fn settle_credits(&mut self, now: Instant, id: PeerId, from: &Envelope) {
        // Credits of another session belong to requests that are no longer counted.
        if self.peers.get(id).is_some_and(|peer| peer.session == from.credits_of) {
            self.settle_count(now, id, from.credits);
        }
    }

    /// Applies the present session's count of our requests, if it is new.
    #[cfg_attr(feature = "compact", inline(never))]
    #[cfg_attr(not(feature = "compact"), inline)]
    pub(super) fn settle_count(&mut self, now: Instant, id: PeerId, total: u16) {
        let Some(peer) = self.peers.get_mut(id) else { return };
        if peer.ours.has_returned(total) {
            return;
        }
        match peer.ours.returned(total) {
            None => self.counters.count(Counter::BadCredits),
            Some(0) => {}
            Some(_) => {
                peer.flags.remove(PeerFlags::STALLED);
                peer.setbacks.end_stalls();
                let waits = !peer.queue.is_empty();
                if waits || self.peers.armed(id).is_some() {
                    self.use_credits(now, id);
                }
            }
        }
    }

    /// Sends what waited for credits. Nothing else waits for them any more.
    #[inline(never)]
    fn use_credits(&mut self, now: Instant, id: PeerId) {
        // The flush may arm timers, so the cached next time is void.
        self.quiet_until = Instant::ORIGIN;
        self.credits_are_here(id);
        self.flush(now, id);
    }
}
