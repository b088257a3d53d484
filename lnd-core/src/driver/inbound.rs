// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Messages of peers, and the upper layer's verdict on their requests (`lnet_parse`, `lnd_recv`).

use super::details::{Details, Marks, Role};
use super::handout::From;
use super::peer::Wants;
use super::shutdown::RunState;
use super::submit::Why;
use super::Driver;
use crate::counters::Counter;
use crate::fragment::Fragment;
use crate::id::{LinkId, Nid, PeerId, Tag};
use crate::message::{Envelope, Lane, Message, PullReady, Refusal};
use crate::peer::window::Verdict;
use crate::peer::{HelloEvent, HelloState};
use crate::ports::{Channel, Memory, Ports, Tracer};
use crate::shared::Whose;
use crate::time::Instant;
use crate::trace::Trace;
use crate::transfer::{Cause, Debts, Effect, Event, Word};

/// What became of a message.
#[derive(Debug)]
#[must_use]
pub enum Inbound<'f> {
    /// Dealt with, or dropped and counted. Its place in the channel is free.
    Handled,
    /// A request that needs the upper layer's verdict (`lnet_parse`).
    Request(Ticket<'f>),
    /// A request for which there is no slot now: leave it in the channel and offer it again when
    /// something has ended. Nothing was changed.
    Wait,
}

/// What a peer asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// The payload came along.
    Immediate,
    /// The payload is staged at the peer: we pull it.
    Put,
    /// The peer will pull what we stage (`lnet_parse` with `rdma_req` true, S3-9).
    Get,
}

/// A peer's request. It ends in [`recv`](Driver::recv), [`give`](Driver::give) or
/// [`refuse`](Driver::refuse), once; until then it holds a slot and the peer's credit (S3-10). One
/// that is forgotten ends by itself after the configured bound.
#[derive(Debug)]
#[must_use = "a peer's request needs a verdict"]
pub struct Ticket<'f> {
    tag: Tag,
    kind: RequestKind,
    /// The hop it came from.
    pub from: Nid,
    /// The upper layer's header.
    pub header: &'f [u8],
    /// The payload, if it came along.
    payload: &'f [u8],
    /// Bytes offered (PUT) or wanted (GET).
    pub length: u32,
}

impl<'f> Ticket<'f> {
    /// What is asked for.
    pub const fn kind(&self) -> RequestKind {
        self.kind
    }

    /// Which transfer it will be.
    pub const fn tag(&self) -> Tag {
        self.tag
    }

    /// The payload that came along; empty for the other kinds.
    pub const fn payload(&self) -> &'f [u8] {
        self.payload
    }

    /// This ticket without its frame, for an upper layer that must delay its verdict. An inline
    /// payload must have been copied first (`lnd_eager_recv`) and cannot be received any more.
    pub const fn detach(self) -> Ticket<'static> {
        Ticket {
            tag: self.tag,
            kind: self.kind,
            from: self.from,
            header: &[],
            payload: &[],
            length: self.length,
        }
    }
}

/// Where an accepted PUT goes.
#[derive(Clone, Copy, Debug)]
pub struct Receive<'r> {
    /// Buffers; at least `length` bytes.
    pub sink: &'r [Fragment],
    /// Bytes wanted, at most the ticket's; the rest is dropped (`mlen` of `lnd_recv`).
    pub length: u32,
    /// When to give up.
    pub deadline: Instant,
    /// Comes back in the report.
    pub user: u64,
}

/// What an accepted GET is answered with.
#[derive(Clone, Copy, Debug)]
pub struct Give<'r> {
    /// Buffers; at least `length` bytes.
    pub source: &'r [Fragment],
    /// Bytes given, at most the ticket's.
    pub length: u32,
    /// When to give up.
    pub deadline: Instant,
    /// Comes back in the report.
    pub user: u64,
}

/// Why a verdict was not taken.
#[derive(Debug)]
pub enum RecvError<'f> {
    /// The request has ended meanwhile: the peer is down, or the verdict came too late. Nothing
    /// will be reported.
    Gone,
    /// The buffers do not do; the ticket is given back.
    Refused(Ticket<'f>, Why),
}

/// Why a verdict was not taken.
pub type GiveError<'f> = RecvError<'f>;

impl<P: Ports> Driver<'_, P> {
    /// A message of the LND layer has arrived on `link`.
    pub fn on_message<'f>(
        &mut self,
        now: Instant,
        link: LinkId,
        from: &Envelope,
        message: &Message<'f>,
    ) -> Inbound<'f> {
        if !self.listens_to(link, from) {
            return Inbound::Handled;
        }
        match message {
            Message::Hello(hello) => self.on_hello(now, link, from, hello),
            Message::HelloAck(ack) => self.on_hello_ack(now, from, ack),
            Message::PullReady(ready) => self.on_pull_ready(now, link, from, ready),
            Message::Immediate { .. } | Message::PutReq { .. } | Message::GetReq { .. } => {
                return self.on_request(now, link, from, message);
            }
            _ => {
                let Some(id) = self.admitted(now, from, Lane::Control) else {
                    return Inbound::Handled;
                };
                self.on_answer(now, id, message);
                self.settle_credits(now, id, from);
            }
        }
        Inbound::Handled
    }

    /// The control layer's one message: the peer has staged, our pull may start (S3-7). No third
    /// message follows: where pulling is natural it saves a latency (S3-13). Constant
    /// time, no slot, no upper layer (INV-8).
    pub fn on_pull_ready(&mut self, now: Instant, link: LinkId, from: &Envelope, it: &PullReady) {
        if !self.listens_to(link, from) {
            return;
        }
        let Some(id) = self.admitted(now, from, Lane::Control) else { return };
        self.settle_credits(now, id, from);
        let here = self.shared.whose(it.sink.index).link() == Some(link);
        let fits = here && self.is_with(it.sink, id);
        let Some(details) = self.answer_to(it.sink, fits, |role| role == Role::GetSink) else {
            return;
        };
        let room = details.length;
        if self.apply(now, it.sink, Event::Accepted) != Some(Effect::StartPull) {
            return;
        }
        let signalled = self.signalled(id);
        if let Some(details) = self.details.get_mut(it.sink.index as usize) {
            details.role = Role::GetPull;
            details.remote = it.source;
            details.length = it.length;
            details.marks.set(Marks::OWES_DONE, !signalled);
        }
        if it.length > room {
            // LNet would assert here (H16): we refuse; the report lets the peer have its buffers
            // back.
            self.counters.count(Counter::Protocol);
            let _ = self.apply(now, it.sink, Event::Withdraw(Debts::HW, Cause::Protocol));
            let _ = self.apply(now, it.sink, Event::PayCpu);
            return;
        }
        self.hand_out(now, it.sink, link, From::Answer);
    }

    /// Whether a message is for us, by a link of ours, and we have not said goodbye.
    fn listens_to(&mut self, link: LinkId, from: &Envelope) -> bool {
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

    /// Whether a transfer is with the present life of a peer.
    pub(super) fn is_with(&self, tag: Tag, id: PeerId) -> bool {
        let whose = self.shared.whose(tag.index);
        let life = self.shared.peer(id).map(|g| g.view().life());
        whose.peer() == id && life == Some(whose.life())
    }

    /// The peer that sent a message, if its life is admitted and it means ours (INV-6, S0-13). All else
    /// is dropped and counted, never silently (R28).
    fn admitted(&mut self, now: Instant, from: &Envelope, lane: Lane) -> Option<PeerId> {
        let found = self.peers.find(from.from);
        let view = found.and_then(|id| self.shared.peer(id)).map(|g| g.view());
        let known_life = found.and_then(|id| self.peers.get(id)).and_then(|p| p.life);
        let admitted = view.is_some_and(|v| v.admitted() && v.state() != HelloState::Down);
        let right = known_life == Some(from.from_life) && from.to_life == Some(self.me.life);
        let taken = admitted && right;
        let (nid, sequence) = (from.from, from.sequence);
        self.tracer.record(now, Trace::Heard { from: nid, lane, sequence, taken });
        if taken {
            let peer = self.peers.get_mut(found?)?;
            peer.last_heard = now;
            return found;
        }
        self.counters.count(if admitted { Counter::WrongLife } else { Counter::Early });
        // It believes in a life of ours that is over, or does not know that we took it for dead, or
        // we have forgotten it: tell it so (R29, LU-16214).
        let known = found.is_some() || self.channel.reaches(nid);
        let id = if known { found.or_else(|| self.take_up_peer(nid)) } else { None };
        id.map(|id| self.seek(now, id));
        None
    }

    /// Takes the credits that a message brings, and sends what waited for them.
    fn settle_credits(&mut self, now: Instant, id: PeerId, from: &Envelope) {
        let Some(peer) = self.peers.get_mut(id) else { return };
        if from.credits_of != peer.session {
            return;
        }
        match peer.ours.returned(from.credits) {
            None => self.counters.count(Counter::BadCredits),
            Some(0) => {}
            Some(_) => {
                peer.stalled = false;
                self.timers.disarm(self.config.slots + id.index() as u32);
                self.flush(now, id);
            }
        }
    }

    /// A transfer that an answer is for; each mismatch is counted (R31, H8, H16).
    fn answer_to(
        &mut self,
        tag: Tag,
        from_its_peer: bool,
        of_role: impl Fn(Role) -> bool,
    ) -> Option<&Details> {
        let word = self.shared.word(tag.index);
        if self.shared.tag(tag.index) != tag || !word.is_of(tag.generation) {
            self.counters.count(Counter::StaleAnswer);
            return None;
        }
        let details = self.details.get(tag.index as usize)?;
        if !from_its_peer || !of_role(details.role) {
            self.counters.count(Counter::WrongAnswer);
            return None;
        }
        Some(details)
    }

    fn on_answer(&mut self, now: Instant, id: PeerId, message: &Message<'_>) {
        let (tag, event) = match *message {
            Message::PutNak { source, .. } => (source, Event::Refused),
            Message::PutDone { source, failed: None } => (source, Event::Done),
            Message::PutDone { source, failed: Some(_) } => (source, Event::Refused),
            Message::GetNak { sink, .. } => (sink, Event::Refused),
            Message::Close => {
                self.hello_event(now, id, HelloEvent::Closed);
                return;
            }
            _ => return,
        };
        let ours = self.is_with(tag, id);
        let get = matches!(message, Message::GetNak { .. });
        let of_role = |role: Role| if get { role == Role::GetSink } else { role.stages() };
        if self.answer_to(tag, ours, of_role).is_none() {
            return;
        }
        match self.apply(now, tag, event) {
            Some(Effect::Invalidate) => self.recall(now, tag),
            Some(Effect::None) => self.await_drain(now, tag),
            _ => {}
        }
    }

    /// A request: takes a slot, then a place in the window, and becomes a ticket for the upper
    /// layer's parse (S1-3, S3-8).
    fn on_request<'f>(
        &mut self,
        now: Instant,
        link: LinkId,
        from: &Envelope,
        message: &Message<'f>,
    ) -> Inbound<'f> {
        let Some(id) = self.admitted(now, from, Lane::Request) else { return Inbound::Handled };
        self.settle_credits(now, id, from);
        let Some(peer) = self.peers.get(id) else { return Inbound::Handled };
        if peer.their_session != Some(from.session) {
            self.counters.count(Counter::WrongSession);
            return Inbound::Handled;
        }
        let lost = match peer.theirs.peek(from.sequence) {
            Verdict::Fresh { lost } => lost,
            Verdict::Duplicate => {
                self.counters.count(Counter::Duplicate);
                return Inbound::Handled;
            }
            Verdict::Outside => {
                self.counters.count(Counter::OutsideWindow);
                return Inbound::Handled;
            }
        };
        let Ok(tag) = self.claim(id, Role::Ticket, &[]) else {
            self.counters.count(Counter::Waited);
            return Inbound::Wait;
        };
        if let Some(peer) = self.peers.get_mut(id) {
            peer.theirs.take_in(from.sequence, lost);
        }
        self.counters.count(Counter::Requests);
        self.counters.add(Counter::LostRequests, u64::from(lost));
        self.issue(now, tag, id, link, from, message)
    }

    fn issue<'f>(
        &mut self,
        now: Instant,
        tag: Tag,
        id: PeerId,
        link: LinkId,
        from: &Envelope,
        message: &Message<'f>,
    ) -> Inbound<'f> {
        let (kind, header, payload, remote, length) = match *message {
            Message::PutReq { header, source, length } => {
                (RequestKind::Put, header, &[][..], source, length)
            }
            Message::GetReq { header, sink, length } => {
                (RequestKind::Get, header, &[][..], sink, length)
            }
            Message::Immediate { header, payload } => {
                let none = Tag { index: 0, generation: 0 };
                (RequestKind::Immediate, header, payload, none, payload.len() as u32)
            }
            _ => return Inbound::Handled,
        };
        let life = self.shared.peer(id).map_or(0, |g| g.view().life());
        self.shared.assign(tag, Whose::new(id, life, Some(link)));
        if let Some(details) = self.details.get_mut(tag.index as usize) {
            details.remote = remote;
            details.session = self.peers.get(id).map_or(0, |p| p.opened);
            details.length = length;
        }
        self.shared.publish(tag, Word::queued(tag.generation));
        self.timers.arm(tag.index, now.after(self.config.verdict_bound));
        self.tracer.record(now, Trace::Accepted { tag, peer: from.from, length });
        let ticket = Ticket { tag, kind, from: from.from, header, payload, length };
        if self.run.state() != RunState::Running {
            self.refuse(now, ticket, Refusal::ShuttingDown);
            return Inbound::Handled;
        }
        Inbound::Request(ticket)
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
        let id = self.shared.whose(tag.index).peer();
        let depth = self.config.depth;
        let half = (depth / 2).max(1);
        let session = self.details.get(tag.index as usize).map(|d| d.session);
        let Some(peer) = self.peers.get_mut(id).filter(|p| session == Some(p.opened)) else {
            return;
        };
        peer.theirs.consume();
        // Where requests were lost the peer may have nothing left before we owe it half (INV-11).
        if peer.theirs.owed() >= half || peer.theirs.is_spent(depth) {
            self.peers.want(id, Wants::NOOP);
        }
    }

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
            RequestKind::Put => Role::PutSink,
            RequestKind::Get => return Err(self.refused(ticket, Why::TooLong)),
        };
        if let Err(why) = self.lend(&ticket, role, it.sink, it.length, it.user) {
            return Err(self.refused(ticket, why));
        }
        let tag = ticket.tag;
        self.consume(tag);
        self.timers.arm(tag.index, it.deadline);
        if role == Role::InlineSink {
            self.copy_in(now, tag, ticket.payload, it);
        } else if let Some(link) = self.shared.whose(tag.index).link() {
            let id = self.shared.whose(tag.index).peer();
            let owes = !self.signalled(id);
            if let Some(details) = self.details.get_mut(tag.index as usize) {
                details.marks.set(Marks::OWES_DONE, owes);
            }
            self.hand_out(now, tag, link, From::Queue);
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
        if ticket.kind != RequestKind::Get {
            return Err(self.refused(ticket, Why::TooLong));
        }
        if let Err(why) = self.lend(&ticket, Role::GetSource, it.source, it.length, it.user) {
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
        if !self.stands(&ticket) {
            return;
        }
        let tag = ticket.tag;
        self.consume(tag);
        let role = match ticket.kind {
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
        self.answer(now, tag);
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
        let mut rest = payload.get(..it.length as usize).unwrap_or(payload);
        for fragment in it.sink {
            let (part, after) = rest.split_at(rest.len().min(fragment.length as usize));
            if part.is_empty() {
                break;
            }
            if self.memory.write(fragment.address, part).is_err() {
                let _ = self.apply(now, tag, Event::Withdraw(Debts(0), Cause::Local));
                break;
            }
            rest = after;
        }
        let _ = self.apply(now, tag, Event::PayCpu);
    }

    /// Sends a transfer's answer, now if the control lane has room, else as soon as it has. An
    /// answer needs no credit (INV-11).
    fn answer(&mut self, now: Instant, tag: Tag) {
        if !self.try_answer(now, tag) {
            self.answers.push(self.details, tag.index);
        }
    }

    fn try_answer(&mut self, now: Instant, tag: Tag) -> bool {
        let whose = self.shared.whose(tag.index);
        let Some(nid) = self.peers.get(whose.peer()).and_then(|p| p.nid) else { return false };
        let Some(link) = self.way_back(tag, whose.link()) else { return false };
        let open = self.shared.link(link).is_some_and(|g| g.is_open());
        if open && !self.channel.ready(link, nid, Lane::Control) {
            return false;
        }
        self.hand_out(now, tag, link, From::Queue);
        true
    }

    /// The link for an answer: the one by which the request came. If that is closed a refusal takes
    /// any other (R62); what was to be staged takes it all the same, finds its gate closed and ends.
    fn way_back(&mut self, tag: Tag, link: Option<LinkId>) -> Option<LinkId> {
        let refuses = self.details.get(tag.index as usize).is_some_and(|d| d.role.refuses());
        match self.open_link(link) {
            None if refuses => self.open_link(None),
            open => open.or(link),
        }
    }

    /// Sends up to `budget` of the answers that wait now; those that must wait on go to the end.
    pub(super) fn send_answers(&mut self, now: Instant, budget: u32) {
        let last = self.answers.last;
        for _ in 0..budget {
            if self.answers.is_empty() {
                return;
            }
            let tag = self.shared.tag(self.answers.first);
            self.answers.remove(self.details, tag.index);
            if !self.try_answer(now, tag) {
                self.answers.push(self.details, tag.index);
            }
            if tag.index == last {
                return;
            }
        }
    }
}
