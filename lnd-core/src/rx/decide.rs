// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file accepts a peer's request: its place in the window, a slot, the buffers.

use super::request::{remote_of, Offer};
use super::rx_request::{RequestKind, RxRequest};
use crate::base::counters::Counter;
use crate::base::fragment::Fragment;
use crate::base::id::Tag;
use crate::base::message::{Envelope, Message, NakReason};
use crate::base::time::Instant;
use crate::machines::transfer::{Event, Word};
use crate::peers::Wants;
use crate::ports::trace::Trace;
use crate::ports::{Engine, Ports, Tracer};
use crate::shard::Driver;
use crate::slots::{New, Role};
use crate::tx::Why;

impl<P: Ports> Driver<'_, P> {
    /// Claims a slot for an offered request, and its place in the window. `None`: there is no slot,
    /// which the offer has ruled out.
    pub(crate) fn take_up_request(
        &mut self,
        now: Instant,
        offer: &Offer,
        from: &Envelope,
        message: &Message<'_>,
    ) -> Option<Tag> {
        self.note_work();
        let new = New {
            role: Role::RxRequest,
            fragments: &[],
            length: message.length(),
            // The upper layer's value replaces it with the decision.
            user: RequestKind::of(message) as u64,
            link: None,
            remote: remote_of(message),
            session: self.session_of(offer),
            passive: true,
        };
        let tag = self.claim(offer.peer, Some(offer.link), &new).ok()?;
        self.keep_key(tag, message.key());
        // The slot is claimed before the window moves. A request that finds no slot must still be
        // fresh when it is offered again.
        self.take_in(offer, from);
        if let Some(peer) = self.peers.get_mut(offer.peer) {
            peer.undecided += 1;
            if peer.waits_for_credits(self.config.depth) {
                self.peers.want(offer.peer, Wants::NOOP);
            }
        }
        self.slots.publish(tag, Word::queued(tag.generation));
        // A request without a decision ends by itself, so it cannot hold its slot for ever
        // (INV-14).
        self.slots.arm(tag.index, now.after(self.config.decision_bound));
        self.tracer.record(now, Trace::Accepted { tag, peer: from.from, length: message.length() });
        Some(tag)
    }

    /// Keeps the key with which our engine pulls what the peer has staged, until the pull is
    /// posted.
    #[inline]
    pub(super) fn keep_key(&mut self, tag: Tag, key: &[u8]) {
        if P::Engine::KEYS {
            self.slots.keep_key(tag.index, key);
        }
    }

    /// Accepts an offered request: its place in the window, and its place in the channel.
    pub(crate) fn take_in(&mut self, offer: &Offer, from: &Envelope) {
        self.take(offer, from, false);
    }

    /// The peer's session that an offered request belongs to.
    #[inline]
    pub(super) fn session_of(&self, offer: &Offer) -> u32 {
        self.peers.get(offer.peer).map_or(0, |peer| peer.session_of(offer.former))
    }

    /// Accepts an offered request that needs no slot, and returns its credit.
    #[cfg_attr(feature = "compact", inline(never))]
    #[cfg_attr(not(feature = "compact"), inline)]
    pub(super) fn consume_offer(&mut self, offer: &Offer, from: &Envelope) {
        self.take(offer, from, !offer.former);
    }

    /// Accepts an offered request, and its place in the window. `consumed`: its credit returns.
    #[inline(always)]
    fn take(&mut self, offer: &Offer, from: &Envelope, consumed: bool) {
        self.counters.count(Counter::Requests);
        let Some(peer) = self.peers.get_mut(offer.peer) else { return };
        // A request of a former session has no place in the present window, and no credit.
        let lost = peer.take_in((!offer.former).then_some(from.sequence));
        let due = consumed && peer.consume(self.config.depth);
        if peer.parked != 0 {
            self.unpark(offer.peer, offer.link);
        }
        if lost != 0 {
            self.counters.add(Counter::LostRequests, u64::from(lost));
        }
        if due {
            self.send_credits(offer.peer);
        }
    }

    /// Refuses an offered request.
    #[cold]
    #[inline(never)]
    pub(crate) fn refuse_offer(
        &mut self,
        now: Instant,
        from: &Envelope,
        offer: Offer,
        message: &Message<'_>,
        why: NakReason,
    ) {
        if let Some(tag) = self.take_up_request(now, &offer, from, message) {
            self.nak_request(now, tag, RequestKind::of(message), why);
        }
    }

    /// Turns the slot of a kept request into a transfer of `role` over the upper layer's buffers.
    pub(super) fn lend(
        &mut self,
        rx_request: &RxRequest<'_>,
        role: Role,
        buffers: &[Fragment],
        length: u32,
        user: u64,
    ) -> Result<(), Why> {
        let room = self.check_memory(buffers)?;
        let offered = if role == Role::InlineSink {
            rx_request.payload.len() as u32
        } else {
            rx_request.length
        };
        if length > room || length > offered {
            return Err(Why::TooLong);
        }
        // An inline payload is copied at once, so its buffers are not kept.
        let kept = if role == Role::InlineSink { &[][..] } else { buffers };
        let (pieces, address) = self.slots.keep_fragments(kept).ok_or(Why::NoLists)?;
        let Some(state) = self.slots.get_mut(rx_request.tag.index) else {
            return Err(Why::NoSlots);
        };
        // Nothing above has changed the slot: a refused call leaves the request as it was.
        (state.role, state.pieces, state.address) = (role, pieces, address);
        (state.length, state.user) = (length, user);
        Ok(())
    }

    /// The time for a decision is over. The sender may have much more time, and would wait until
    /// its own deadline, so it is refused.
    pub(crate) fn decision_late(&mut self, now: Instant, tag: Tag) {
        self.counters.count(Counter::Deadlines);
        self.counters.count(Counter::DecisionLate);
        let kind = self.slots.get(tag.index).map_or(0, |state| state.user);
        self.nak_request(now, tag, RequestKind::from_user(kind), NakReason::NoResources);
    }

    /// Ends a peer's request that waits for a decision.
    pub(crate) fn nak_request(
        &mut self,
        now: Instant,
        tag: Tag,
        kind: RequestKind,
        why: NakReason,
    ) {
        // The credit returns even though the request is refused. Its frame and its place are free.
        self.consume(tag);
        let role = match kind {
            // An inline message needs no answer. Its sender has its own completion.
            RequestKind::Immediate => {
                let _ = self.apply(now, tag, Event::PayCpu);
                return;
            }
            RequestKind::Put => Role::NakPut,
            RequestKind::Get => Role::NakGet,
        };
        self.slots.answer(tag.index, role, Some(why));
        // The time for the decision is over, or nearly. The answer has a time of its own.
        self.arm_final(now, tag.index);
        self.post_answer(now, tag);
    }
}
