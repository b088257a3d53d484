// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The upper layer's "send this" (`lnd_send`).

use super::details::{Details, Marks, Role, NO_LIST};
use super::peer::Wants;
use super::shutdown::RunState;
use super::Driver;
use crate::counters::Counter;
use crate::defect::seeded;
use crate::fragment::{self, Fragment, FragmentError};
use crate::id::{LinkId, Nid, PeerId, Tag};
use crate::message::MAX_HEADER;
use crate::peer::HelloState;
use crate::ports::{Channel, Memory, Ports, Tracer};
use crate::shared::Whose;
use crate::time::{Instant, Span};
use crate::trace::Trace;
use crate::transfer::{Cause, Status, Word};

/// The four kinds of LNet message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Payload for the peer.
    Put,
    /// The answer to a PUT that wants one (S1-7), without payload; the upper layer's own doing
    /// (S1-14).
    Ack,
    /// A wish for payload.
    Get,
    /// The answer to a GET that was not optimised: payload for the peer.
    Reply,
}

/// One message to send.
#[derive(Clone, Copy, Debug)]
pub struct Request<'r> {
    /// What kind.
    pub kind: Kind,
    /// The next hop: a driver knows direct neighbours only (S3-16).
    pub peer: Nid,
    /// The link to use, or any. A request for a link that is down, or that fails while the request
    /// waits, ends with [`Cause::LinkDown`].
    pub link: Option<LinkId>,
    /// The message is routed, or the next hop is a router: a GET must not be optimised (S3-14, S3-15).
    pub routed: bool,
    /// The upper layer's header, at most [`MAX_HEADER`] bytes; opaque.
    pub header: &'r [u8],
    /// PUT, REPLY: what to send. GET: where the reply shall go.
    pub payload: &'r [Fragment],
    /// When to give up: one absolute time (R37) over every place where the message may wait (R38,
    /// INV-9).
    pub deadline: Instant,
    /// Comes back in the [`Report`](super::Report).
    pub user: u64,
}

/// Why a call was refused. Nothing was kept and nothing will be reported (INV-1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The fragments break a rule.
    Fragments(FragmentError),
    /// A fragment lies outside of what the engine can reach.
    BadAddress,
    /// The header is longer than [`MAX_HEADER`].
    HeaderTooLong,
    /// The length is more than the fragments, or than the other side has room for.
    TooLong,
    /// A PUT is received, a GET is given: not the other way round.
    WrongKind,
    /// The deadline has passed already (LU-16303).
    DeadlinePassed,
    /// There is no such link.
    BadLink,
    /// There is no way to this NID, or it is our own.
    NoRoute,
    /// The peer is down, and was not asked again long enough ago.
    PeerDown,
    /// No more peers can be taken up.
    PeersFull,
    /// All slots for this direction are in use: try again when something has ended.
    NoSlots,
    /// All fragment lists are in use: try again when something has ended.
    NoLists,
    /// The driver is shutting down.
    ShuttingDown,
}

impl Why {
    /// The matching negative Linux errno.
    pub const fn errno(self) -> i32 {
        match self {
            Self::Fragments(_) | Self::HeaderTooLong | Self::BadLink | Self::WrongKind => -22, // EINVAL
            Self::BadAddress => -14,              // EFAULT
            Self::TooLong => -90,                 // EMSGSIZE
            Self::DeadlinePassed => -110,         // ETIMEDOUT
            Self::NoRoute => -113,                // EHOSTUNREACH
            Self::PeerDown => -112,               // EHOSTDOWN
            Self::PeersFull => -105,              // ENOBUFS
            Self::NoSlots | Self::NoLists => -11, // EAGAIN
            Self::ShuttingDown => -108,           // ESHUTDOWN
        }
    }
}

/// What became of an accepted message.
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use = "a message that has ended is not reported again"]
pub enum Submitted {
    /// There will be exactly one [`Report`](super::Report) with this tag. Payload memory is lent until
    /// then.
    Pending(Tag),
    /// It has ended, and this is the only word of it (INV-1): nothing was lent, no report follows. Only
    /// where the channel [ends messages at once](crate::ports::Channel::ends_at_once).
    Done(Status),
}

impl Submitted {
    /// The tag of a message that has not ended.
    pub const fn tag(self) -> Option<Tag> {
        match self {
            Self::Pending(tag) => Some(tag),
            Self::Done(_) => None,
        }
    }
}

/// A refused request, given back.
#[derive(Clone, Copy, Debug)]
pub struct Refused<'r> {
    /// The request, as it came.
    pub request: Request<'r>,
    /// Why.
    pub why: Why,
}

impl<P: Ports> Driver<'_, P> {
    /// Accepts a message for sending.
    ///
    /// On `Ok` the message has ended, or there will be exactly one [`Report`](super::Report) with the tag,
    /// which may be there before this call returns: see [`Submitted`].
    ///
    /// # Errors
    /// [`Refused`]: the request is given back, nothing was kept.
    pub fn submit<'r>(
        &mut self,
        now: Instant,
        request: Request<'r>,
    ) -> Result<Submitted, Refused<'r>> {
        match self.try_submit(now, &request) {
            Ok(submitted) => Ok(submitted),
            Err(why) => Err(Refused { request, why: self.refuse_call(why) }),
        }
    }

    fn try_submit(&mut self, now: Instant, request: &Request<'_>) -> Result<Submitted, Why> {
        if self.run.state() != RunState::Running {
            return Err(Why::ShuttingDown);
        }
        if request.header.len() > MAX_HEADER {
            return Err(Why::HeaderTooLong);
        }
        if request.deadline <= now {
            return Err(Why::DeadlinePassed);
        }
        if request.link.is_some_and(|l| l.index() >= self.links.len()) {
            return Err(Why::BadLink);
        }
        let length = self.check_memory(request.payload)?;
        let peer = self.peer_to_send_to(now, request.peer)?;
        let role = self.role_of(request, peer, length);
        let carried = if role == Role::Immediate && request.kind == Kind::Get { 0 } else { length };
        let payload = if carried == 0 { &[][..] } else { request.payload };
        if role == Role::Immediate {
            if let Some(status) = self.send_short(now, peer, request, payload, carried) {
                return Ok(Submitted::Done(status));
            }
        }
        let tag = self.claim(peer, role, payload)?;
        if let Some(details) = self.details.get_mut(tag.index as usize) {
            details.user = request.user;
            details.length = carried;
            details.keep_header(request.header);
        }
        self.counters.count(Counter::Accepted);
        self.tracer.record(now, Trace::Accepted { tag, peer: request.peer, length });
        if !seeded("deadline-never-armed") {
            self.timers.arm(tag.index, request.deadline);
        }
        self.send_or_queue(now, tag, peer, request.link);
        Ok(Submitted::Pending(tag))
    }

    /// Checks fragments and adds them up.
    pub(super) fn check_memory(&self, fragments: &[Fragment]) -> Result<u32, Why> {
        let length = fragment::total(fragments).map_err(Why::Fragments)?;
        if fragments.iter().all(|f| self.memory.valid(f)) {
            Ok(length)
        } else {
            Err(Why::BadAddress)
        }
    }

    /// How a message travels: inline if it fits (ACKs and small REPLYs always do, S1-10), else
    /// staged; a GET that is routed (R26) or need not be optimised is a mere header.
    fn role_of(&self, request: &Request<'_>, peer: PeerId, length: u32) -> Role {
        let inline = length <= self.inline_max(peer);
        match request.kind {
            Kind::Get if request.routed && !seeded("routed-get-optimised") => Role::Immediate,
            Kind::Get if inline => Role::Immediate,
            Kind::Get => Role::GetSink,
            Kind::Reply if seeded("small-reply-staged") => Role::PutSource,
            Kind::Put | Kind::Ack | Kind::Reply if inline => Role::Immediate,
            Kind::Put | Kind::Ack | Kind::Reply => Role::PutSource,
        }
    }

    /// Largest payload that goes inline to a peer. Before its hello was answered the channel's own
    /// bound is taken: a peer that can take less is found out when the message is handed out.
    fn inline_max(&self, peer: PeerId) -> u32 {
        let ours = self.config.immediate_max.min(self.channel.immediate_max());
        match self.peers.get(peer) {
            Some(peer) if peer.life.is_some() && peer.immediate_max > 0 => {
                ours.min(peer.immediate_max)
            }
            _ => ours,
        }
    }

    /// Finds or takes up the peer, and sees that it is being greeted.
    fn peer_to_send_to(&mut self, now: Instant, nid: Nid) -> Result<PeerId, Why> {
        if nid == self.me.nid {
            return Err(Why::NoRoute);
        }
        let peer = match self.peers.find(nid) {
            Some(peer) => peer,
            None if self.channel.reaches(nid) || seeded("indirect-peer-taken") => {
                self.take_up_peer(now, nid, false).ok_or(Why::PeersFull)?
            }
            None => return Err(Why::NoRoute),
        };
        if self.seek(now, peer) {
            Ok(peer)
        } else {
            Err(Why::PeerDown)
        }
    }

    /// Claims a slot and keeps the fragments. Ours leave `passive_slots` free for peers.
    pub(super) fn claim(
        &mut self,
        peer: PeerId,
        role: Role,
        fragments: &[Fragment],
    ) -> Result<Tag, Why> {
        let passive = !role.requests();
        let reserved = if seeded("no-reserve") { 0 } else { self.config.passive_slots };
        if !passive && self.active >= self.config.slots - reserved {
            return Err(Why::NoSlots);
        }
        let (list, one) = match fragments {
            [] => (NO_LIST, Fragment::default()),
            [one] => (NO_LIST, *one),
            many => (self.lists.take(many).ok_or(Why::NoLists)?, Fragment::default()),
        };
        let Some(slot) = self.shared.claims().claim(&mut self.cursor) else {
            if list != NO_LIST {
                self.lists.give_back(list);
            }
            return Err(Why::NoSlots);
        };
        let tag = self.shared.renew(slot);
        let Some(details) = self.details.get_mut(slot as usize) else {
            return Err(Why::NoSlots);
        };
        details.start(role, passive, one, list, fragments.len() as u16);
        if let Some(record) = self.peers.get_mut(peer) {
            record.transfers += 1;
        }
        if passive {
            self.passive += 1;
            if let Some(record) = self.peers.get_mut(peer) {
                record.passive += 1;
            }
        } else {
            self.active += 1;
        }
        let life = self.shared.peer_gate(peer.index()).map_or(0, |g| g.view().life());
        self.shared.assign(tag, Whose::new(peer, life, None));
        Ok(tag)
    }

    /// Hands a new request out at once if nothing stands in its way, else queues it behind its
    /// peer's others.
    fn send_or_queue(&mut self, now: Instant, tag: Tag, peer: PeerId, link: Option<LinkId>) {
        if let Some(details) = self.details.get_mut(tag.index as usize) {
            details.wish = link.map_or(Details::ANY_LINK, |l| l.index() as u8);
        }
        if let Some(link) = self.way_out(peer, tag) {
            self.hand_out(now, tag, link, super::handout::From::Claim);
            return;
        }
        self.shared.publish(tag, Word::queued(tag.generation));
        if let Some(record) = self.peers.get_mut(peer) {
            record.queue.push(self.details, tag.index);
        }
        if self.waits_in_vain(tag.index) {
            self.cancel(now, tag, Cause::LinkDown);
        }
        self.after_queueing(now, peer);
    }

    /// Sees that the queue of a peer, which is not empty, is looked at again.
    pub(super) fn after_queueing(&mut self, now: Instant, id: PeerId) {
        let Some(peer) = self.peers.get(id) else { return };
        if self.peer_state(id) != HelloState::Good {
            return;
        }
        if peer.must_announce(self.channel.is_reliable()) {
            self.resync(now, id);
        } else if peer.ours.left() == 0 {
            self.watch_credits(now, id);
        } else {
            self.peers.want(id, Wants::FLUSH);
        }
    }

    /// A timer that asks for the peer's count if no credit ever comes back.
    pub(super) fn watch_credits(&mut self, now: Instant, peer: PeerId) {
        let timer = self.config.slots + peer.index() as u32;
        if self.timers.armed(timer).is_none() {
            let stalled = self.peers.get_mut(peer).is_some_and(|peer| {
                peer.postponed &= seeded("one-pause-granted");
                peer.stalled
            });
            let bound = if stalled { Span::default() } else { self.config.credit_stall };
            self.timers.arm(timer, now.after(bound));
        }
    }
}

impl Details {
    /// Begins a new use of the slot.
    fn start(&mut self, role: Role, passive: bool, one: Fragment, list: u16, fragments: u16) {
        self.role = role;
        self.marks = if passive { Marks::PASSIVE } else { Marks::empty() };
        self.address = one.address;
        self.fragment = one.length;
        self.list = list;
        self.fragments = fragments;
        self.length = 0;
        self.user = 0;
        (self.session, self.sequence) = (0, 0);
        self.header_length = 0;
        self.wish = Self::ANY_LINK;
    }
}
