// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file applies the upper layer's decision on a peer's request (`lnd_recv`).

use super::request::{remote_of, Offer};
use super::rx_request::{Receive, RecvError, Reply, RequestKind, RxRequest};
use crate::base::counters::Counter;
use crate::base::id::{PeerId, Tag};
use crate::base::message::{Envelope, Message, NakReason};
use crate::base::time::Instant;
use crate::machines::transfer::{Cause, Debts, Event};
use crate::peers::PeerFlags;
use crate::ports::trace::Trace;
use crate::ports::{Engine, Ports, Tracer};
use crate::shard::Driver;
use crate::slots::{Flags, New, Role};
use crate::tx::{scatter, PostFrom, Why};

impl<P: Ports> Driver<'_, P> {
    /// Receives a PUT, all of it or its first `length` bytes (`lnd_recv`). A length of zero
    /// receives nothing and still ends the sender's transfer OK (decision 0007).
    ///
    /// On `Ok` exactly one [`Report`](crate::driver::Report) with the request's tag follows.
    ///
    /// # Errors
    /// [`RecvError`]: nothing will be reported.
    pub fn recv<'f>(
        &mut self,
        now: Instant,
        rx_request: RxRequest<'f>,
        it: &Receive<'_>,
    ) -> Result<Tag, RecvError<'f>> {
        if !self.is_live(&rx_request) {
            return Err(RecvError::Gone);
        }
        let role = match rx_request.kind {
            RequestKind::Immediate => Role::InlineSink,
            RequestKind::Get => return Err(self.refused(rx_request, Why::WrongKind)),
            RequestKind::Put => Role::PutSink,
        };
        if let Err(why) = self.lend(&rx_request, role, it.sink, it.length, it.user) {
            return Err(self.refused(rx_request, why));
        }
        let tag = rx_request.tag;
        // The credit returns with the decision, not with the end of the pull: the request's place
        // is free, and pulls have a limit of their own (R25).
        self.consume(tag);
        // From here on the timer is the message's deadline, no longer the bound of the decision.
        self.slots.arm(tag.index, it.deadline);
        if role == Role::InlineSink {
            self.copy_in(now, tag, rx_request.payload, it);
        } else {
            self.move_kept(now, tag);
        }
        Ok(tag)
    }

    /// Accepts a PUT that is received while it is offered. Its slot belongs to the pull from the
    /// start. `None`: nothing was done, and the request is kept instead.
    pub(super) fn take_up_put(
        &mut self,
        now: Instant,
        offer: &Offer,
        from: &Envelope,
        message: &Message<'_>,
        it: &Receive<'_>,
    ) -> Option<Tag> {
        let new = New {
            role: Role::PutSink,
            fragments: it.sink,
            length: it.length,
            user: it.user,
            link: None,
            remote: remote_of(message),
            session: self.session_of(offer),
            passive: true,
        };
        let tag = self.claim(offer.peer, Some(offer.link), &new).ok()?;
        self.note_work();
        self.keep_key(tag, message.key());
        self.consume_offer(offer, from);
        self.tracer.record(now, Trace::Accepted { tag, peer: from.from, length: message.length() });
        self.slots.arm(tag.index, it.deadline);
        self.note_owed_done(tag, offer.peer);
        self.pull_claimed(now, tag, offer.peer, offer.link);
        Some(tag)
    }

    /// Starts the pull or push of a request that was kept.
    fn move_kept(&mut self, now: Instant, tag: Tag) {
        let Some(link) = self.slots.owner(tag.index).link() else { return };
        let peer = self.peers.of_slot(tag.index);
        self.note_owed_done(tag, peer);
        self.pull(now, tag, peer, link, PostFrom::Queue);
    }

    /// Notes whether the peer needs a PUT_DONE or GET_DONE. No engine reports the end of a push to
    /// its sink.
    #[inline(always)]
    fn note_owed_done(&mut self, tag: Tag, peer: PeerId) {
        let signalled = self.peers.get(peer).is_some_and(|peer| peer.is(PeerFlags::SIGNALLED));
        if let Some(state) = self.slots.get_mut(tag.index) {
            let pushes = P::Engine::PUSHES && state.role == Role::PushSource;
            state.flags.set(Flags::OWES_DONE, !signalled || pushes);
        }
    }

    /// Answers a GET with `length` bytes (`lnd_recv` after an `lnet_parse` with `rdma_req`, S3-9).
    /// The upper layer decides what satisfies the GET (S1-8, S3-2). The bytes are staged, and the
    /// peer gets a PULL_READY. If the request carries a key, the bytes are pushed into the peer's
    /// memory, and it gets a GET_DONE (S3-11).
    ///
    /// # Errors
    /// [`RecvError`]: nothing will be reported.
    pub fn reply<'f>(
        &mut self,
        now: Instant,
        rx_request: RxRequest<'f>,
        it: &Reply<'_>,
    ) -> Result<Tag, RecvError<'f>> {
        if !self.is_live(&rx_request) {
            return Err(RecvError::Gone);
        }
        if rx_request.kind != RequestKind::Get {
            return Err(self.refused(rx_request, Why::WrongKind));
        }
        let tag = rx_request.tag;
        let pushes = self.is_to_be_pushed(tag);
        let role = if pushes { Role::PushSource } else { Role::GetSource };
        if let Err(why) = self.lend(&rx_request, role, it.source, it.length, it.user) {
            return Err(self.refused(rx_request, why));
        }
        self.consume(tag);
        self.slots.arm(tag.index, it.deadline);
        if pushes {
            self.move_kept(now, tag);
        } else {
            self.post_answer(now, tag);
        }
        Ok(tag)
    }

    /// Whether the answer to a GET is to be pushed: the request carries a key, and the engines of
    /// both sides push.
    fn is_to_be_pushed(&self, tag: Tag) -> bool {
        let peer = self.peers.get(self.peers.of_slot(tag.index));
        P::Engine::PUSHES
            && peer.is_some_and(|peer| peer.is(PeerFlags::PUSHES))
            && !self.slots.key(tag.index).is_empty()
    }

    /// Refuses a request. The sender of a PUT or GET gets a NAK. An inline message is dropped.
    /// Nothing will be reported.
    pub fn nak(&mut self, now: Instant, rx_request: RxRequest<'_>, why: NakReason) {
        if self.is_live(&rx_request) {
            self.nak_request(now, rx_request.tag, rx_request.kind, why);
        }
    }

    /// Whether a kept request is still live.
    fn is_live(&mut self, rx_request: &RxRequest<'_>) -> bool {
        self.note_work();
        // The request may have ended meanwhile by peer-down, a deadline or a CANCEL, and its slot
        // may serve another transfer. All of its identity is checked (R14).
        let word = self.slots.word(rx_request.tag.index);
        let is_live = self.slots.tag(rx_request.tag.index) == rx_request.tag
            && word.is_of(rx_request.tag.generation)
            && word.owes(Debts::CPU)
            && self.slots.get(rx_request.tag.index).is_some_and(|d| d.role == Role::RxRequest);
        if !is_live {
            self.counters.count(Counter::DecisionLate);
        }
        is_live
    }

    fn refused<'f>(&mut self, rx_request: RxRequest<'f>, why: Why) -> RecvError<'f> {
        RecvError::Refused(rx_request, self.refuse_call(why))
    }

    /// Copies an inline payload into the upper layer's buffers. The transfer ends and is reported
    /// like any other.
    fn copy_in(&mut self, now: Instant, tag: Tag, payload: &[u8], it: &Receive<'_>) {
        let wanted = payload.get(..it.length as usize).unwrap_or(payload);
        if scatter(&mut self.memory, wanted, it.sink).is_err() {
            let _ = self.apply(now, tag, Event::Withdraw(Debts(0), Cause::Local));
        }
        let _ = self.apply(now, tag, Event::PayCpu);
    }
}
