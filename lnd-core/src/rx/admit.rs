// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Who is listened to, and what becomes of the others.

use crate::base::counters::Counter;
use crate::base::id::{LinkId, PeerId};
use crate::base::message::{Envelope, Lane};
use crate::base::time::Instant;
use crate::machines::peer::{GateView, HelloState};
use crate::peers::{Peer, PeerFlags, Wants};
use crate::ports::trace::Trace;
use crate::ports::{Channel, Ports, Tracer};
use crate::shard::Driver;

/// Who has sent a message, as far as that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Screening {
    /// An admitted peer.
    From(PeerId),
    /// An inline message of an incarnation that has said goodbye since.
    Closed(PeerId),
    /// A request of an incarnation that we do not admit now: it stays in the channel.
    Parked,
    /// Counted, and dropped.
    Dropped,
}

impl<P: Ports> Driver<'_, P> {
    /// The peer that sent a message, if its life is admitted and it means ours (INV-6, S0-13). All else
    /// is dropped and counted, never silently (R28), and its sender [set right](Self::correct_sender); but in
    /// a reliable channel a request stays until its sender is admitted again, since that may have been
    /// told OK (LU-16214); in any channel it stays while the answer to our hello is due.
    #[inline]
    pub(crate) fn admitted(&mut self, now: Instant, from: &Envelope, lane: Lane) -> Screening {
        let found = self.peers.find(from.from);
        let view = found.and_then(|id| self.peers.gate(id)).map(|g| g.view());
        let admitted = view.is_some_and(|v| v.admitted() && v.state() != HelloState::Down);
        let peer = found.and_then(|id| Some((id, self.peers.get_mut(id)?)));
        let right = peer.as_ref().is_some_and(|(_, peer)| peer.is_of(from, self.me.incarnation));
        let taken = admitted && right;
        let (nid, sequence) = (from.from, from.sequence);
        self.tracer.record(now, Trace::Received { from: nid, lane, sequence, taken });
        match peer {
            Some((id, peer)) if taken => {
                peer.last_heard = now;
                Screening::From(id)
            }
            _ => self.not_admitted(from, lane, (found, view), (admitted, right)),
        }
    }

    /// What becomes of a message whose sender is not admitted, or means others than the present ones.
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
        let closed = known.and_then(|p| p.closed);
        if let Some(id) =
            found.filter(|_| closed == Some(from.from_incarnation) && means_us && reliable)
        {
            return Screening::Closed(id);
        }
        // Which incarnation is the present one is open until one has answered our hello. A request of another
        // is of an earlier one then: it must not keep its place in the lane, since what lies behind it was
        // promised.
        let settled = known.is_some_and(Peer::is_settled);
        let open = view.is_none_or(|v| v.state() != HelloState::Good) && !settled;
        let answer_due = view.is_some_and(|v| v.state() == HelloState::Handshake);
        let stays = reliable && (right || open) || right && answer_due;
        let parks = lane == Lane::Request && means_us && stays;
        if parks {
            self.counters.count(Counter::Waited);
            return Screening::Parked;
        }
        self.counters.count(if admitted { Counter::WrongIncarnation } else { Counter::Early });
        Screening::Dropped
    }

    /// Greets the sender of a message that is not admitted: it knows an incarnation of ours that is over,
    /// or does not know that we took it for dead, or we have forgotten it (R29, LU-16214). A request may
    /// be `parked` in the channel of a link.
    pub(crate) fn correct_sender(&mut self, now: Instant, from: &Envelope, parked: Option<LinkId>) {
        if parked.is_some() {
            // The sender may be one that is to make room.
            self.place_waiting(now);
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
    pub(crate) fn park(&mut self, now: Instant, id: PeerId, link: LinkId) {
        if let Some(peer) = self.peers.get_mut(id) {
            peer.parked |= link.bit();
        }
        self.revive(now, id);
    }

    /// A request that was taken or dropped waits no more; those in the channels of other links do.
    #[inline]
    pub(crate) fn unpark(&mut self, id: PeerId, link: LinkId) {
        let Some(peer) = self.peers.get_mut(id).filter(|peer| peer.parked != 0) else { return };
        self.quiet_until = Instant::ORIGIN;
        peer.parked &= !link.bit();
        if peer.parked == 0 {
            peer.wants.remove(Wants::CONNECT);
            self.peers.places.may_be_free();
        }
    }

    /// Whether a message is for us, by a link of ours, and we have not said goodbye.
    pub(crate) fn listens_to(&mut self, link: LinkId, from: &Envelope) -> bool {
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

    /// Takes the credits that a message brings, and sends what waited for them. The last thing that is
    /// done for a message.
    #[inline]
    pub(crate) fn settle_credits(&mut self, now: Instant, id: PeerId, from: &Envelope) {
        let Some(peer) = self.peers.get_mut(id) else { return };
        if from.credits_of != peer.session {
            return;
        }
        match peer.ours.returned(from.credits) {
            None => self.counters.count(Counter::BadCredits),
            Some(0) => {}
            Some(_) => {
                self.quiet_until = Instant::ORIGIN;
                peer.flags.remove(PeerFlags::STALLED);
                peer.fruitless = 0;
                self.credits_are_here(id);
                self.flush(now, id);
            }
        }
    }
}
