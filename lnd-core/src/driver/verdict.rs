// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The upper layer's verdict on a peer's request (`lnd_recv`).

use super::details::{Marks, Role};
use super::handout::From;
use super::peer::Wants;
use super::submit::Why;
use super::ticket::{Give, Receive, RecvError, RequestKind, Ticket};
use super::Driver;
use crate::counters::Counter;
use crate::defect::seeded;
use crate::driver::copy::scatter;
use crate::fragment::Fragment;
use crate::id::{PeerId, Tag};
use crate::message::Refusal;
use crate::ports::Ports;
use crate::time::Instant;
use crate::transfer::{Cause, Debts, Event};

impl<P: Ports> Driver<'_, P> {
    /// The upper layer takes a PUT, all or its first `length` bytes (`lnd_recv`). A length of zero
    /// takes nothing and still ends the sender's transfer OK.
    ///
    /// On `Ok` there will be exactly one [`Report`](super::Report) with the ticket's tag.
    ///
    /// # Errors
    /// [`RecvError`]: nothing will be reported.
    pub fn recv<'f>(
        &mut self,
        now: Instant,
        ticket: Ticket<'f>,
        it: &Receive<'_>,
    ) -> Result<Tag, RecvError<'f>> {
        if !self.stands(&ticket) {
            return Err(RecvError::Gone);
        }
        let role = match ticket.kind {
            RequestKind::Immediate => Role::InlineSink,
            RequestKind::Get if !seeded("wrong-kind-taken") => {
                return Err(self.refused(ticket, Why::WrongKind))
            }
            RequestKind::Put | RequestKind::Get => Role::PutSink,
        };
        if let Err(why) = self.lend(&ticket, role, it.sink, it.length, it.user) {
            return Err(self.refused(ticket, why));
        }
        let tag = ticket.tag;
        if it.length == 0 && seeded("nothing-wanted-is-refused") {
            self.turn_away(now, tag, ticket.kind, Refusal::NoMatch);
            return Ok(tag);
        }
        if !seeded("buffer-held-beyond-recv") {
            self.consume(tag);
        }
        self.timers.arm(tag.index, it.deadline);
        if role == Role::InlineSink {
            self.copy_in(now, tag, ticket.payload, it);
        } else if let Some(link) = self.shared.whose(tag.index).link() {
            let id = self.peer_of(tag.index);
            let owes = !self.signalled(id);
            if let Some(details) = self.details.get_mut(tag.index as usize) {
                details.marks.set(Marks::OWES_DONE, owes);
            }
            self.pull(now, tag, link, From::Queue);
        }
        Ok(tag)
    }

    /// The upper layer decides what satisfies a GET (S1-8, S3-2) and answers with `length` bytes of its own (`lnd_recv` after an
    /// `lnet_parse` with `rdma_req`, S3-9): they are staged, and the peer is told to pull.
    ///
    /// # Errors
    /// [`RecvError`]: nothing will be reported.
    pub fn give<'f>(
        &mut self,
        now: Instant,
        ticket: Ticket<'f>,
        it: &Give<'_>,
    ) -> Result<Tag, RecvError<'f>> {
        if !self.stands(&ticket) {
            return Err(RecvError::Gone);
        }
        if ticket.kind != RequestKind::Get && !seeded("wrong-kind-taken") {
            return Err(self.refused(ticket, Why::WrongKind));
        }
        let length = if seeded("get-answered-empty") { 0 } else { it.length };
        if let Err(why) = self.lend(&ticket, Role::GetSource, it.source, length, it.user) {
            return Err(self.refused(ticket, why));
        }
        let tag = ticket.tag;
        self.consume(tag);
        self.timers.arm(tag.index, it.deadline);
        self.answer(now, tag);
        Ok(tag)
    }

    /// The upper layer does not want the request. A PUT or GET is told so; an inline message is
    /// dropped. Nothing will be reported.
    pub fn refuse(&mut self, now: Instant, ticket: Ticket<'_>, why: Refusal) {
        if self.stands(&ticket) {
            self.turn_away(now, ticket.tag, ticket.kind, why);
        }
    }

    /// Ends a peer's request that waits for its verdict.
    pub(super) fn turn_away(&mut self, now: Instant, tag: Tag, kind: RequestKind, why: Refusal) {
        self.consume(tag);
        let role = match kind {
            RequestKind::Immediate => {
                let _ = self.apply(now, tag, Event::PayCpu);
                return;
            }
            RequestKind::Put => Role::NakPut,
            RequestKind::Get => Role::NakGet,
        };
        if let Some(details) = self.details.get_mut(tag.index as usize) {
            details.role = role;
            details.why = why;
        }
        if seeded("refusal-untold") {
            let _ = self.apply(now, tag, Event::PayCpu);
            return;
        }
        self.answer(now, tag);
    }

    /// Whether a ticket still stands.
    fn stands(&mut self, ticket: &Ticket<'_>) -> bool {
        let word = self.shared.word(ticket.tag.index);
        let stands = self.shared.tag(ticket.tag.index) == ticket.tag
            && word.is_of(ticket.tag.generation)
            && word.owes(Debts::CPU)
            && self.details.get(ticket.tag.index as usize).is_some_and(|d| d.role == Role::Ticket);
        if !stands {
            self.counters.count(Counter::VerdictLate);
        }
        stands
    }

    /// The request's place in the channel is free again: its credit goes back to the peer, unless
    /// the session that it was of is over and its credits with it (INV-12).
    pub(super) fn consume(&mut self, tag: Tag) {
        let id = self.peer_of(tag.index);
        let session = self.details.get(tag.index as usize).map(|d| d.session);
        let Some(peer) = self.peers.get_mut(id) else { return };
        peer.undecided = peer.undecided.saturating_sub(1);
        let present = session == Some(peer.opened) || seeded("credit-of-a-former-session");
        self.return_credit(id, present);
    }

    /// A request of the peer's `present` session is consumed; one of a former session has no credit.
    #[inline]
    pub(super) fn return_credit(&mut self, id: PeerId, present: bool) {
        let depth = self.config.depth;
        let half = (depth / 2).max(1);
        let Some(peer) = self.peers.get_mut(id).filter(|_| present) else { return };
        if !seeded("credit-not-returned") {
            peer.theirs.consume();
        }
        if seeded("credit-returned-twice") {
            peer.theirs.consume();
        }
        // Where requests were lost the peer may have nothing left before we owe it half (INV-11).
        if peer.theirs.owed() >= half || peer.theirs.is_spent(depth) {
            self.peers.want(id, Wants::NOOP);
        }
    }

    fn refused<'f>(&mut self, ticket: Ticket<'f>, why: Why) -> RecvError<'f> {
        RecvError::Refused(ticket, self.refuse_call(why))
    }

    /// Turns a ticket's slot into a transfer of `role` over the upper layer's buffers.
    fn lend(
        &mut self,
        ticket: &Ticket<'_>,
        role: Role,
        buffers: &[Fragment],
        length: u32,
        user: u64,
    ) -> Result<(), Why> {
        let room = self.check_memory(buffers)?;
        let offered =
            if role == Role::InlineSink { ticket.payload.len() as u32 } else { ticket.length };
        if length > room || length > offered {
            return Err(Why::TooLong);
        }
        let list = match buffers {
            [] | [_] => super::details::NO_LIST,
            many if role != Role::InlineSink => self.lists.take(many).ok_or(Why::NoLists)?,
            _ => super::details::NO_LIST,
        };
        let Some(details) = self.details.get_mut(ticket.tag.index as usize) else {
            return Err(Why::NoSlots);
        };
        details.role = role;
        details.list = list;
        details.fragments = buffers.len() as u16;
        if let [one] = buffers {
            details.address = one.address;
            details.fragment = one.length;
        }
        details.length = length;
        details.user = user;
        Ok(())
    }

    /// Copies an inline payload into the upper layer's buffers: done, and reported like all else.
    fn copy_in(&mut self, now: Instant, tag: Tag, payload: &[u8], it: &Receive<'_>) {
        let wanted = payload.get(..it.length as usize).unwrap_or(payload);
        if scatter(&mut self.memory, wanted, it.sink).is_err() {
            let _ = self.apply(now, tag, Event::Withdraw(Debts(0), Cause::Local));
        }
        let _ = self.apply(now, tag, Event::PayCpu);
    }
}
