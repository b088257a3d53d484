// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file accepts messages of the upper layer (`lnd_send`).

use super::gate::PostFrom;
use super::request::{Kind, Refused, Request, Submitted, To, Why};
use crate::base::counters::Counter;
use crate::base::fragment::{self, Fragment};
use crate::base::id::{LinkId, Nid, PeerId, Tag};
use crate::base::message::MAX_HEADER;
use crate::base::time::Instant;
use crate::machines::peer::{GateView, HelloState};
use crate::machines::transfer::Word;
use crate::ports::trace::Trace;
use crate::ports::{Channel, Memory, Ports, Tracer};
use crate::shard::{Driver, RunState};
use crate::slots::shared::Owner;
use crate::slots::{New, NoSlot, Role};

impl<P: Ports> Driver<'_, P> {
    /// Accepts a message for sending.
    ///
    /// On `Ok` the message has ended, or exactly one [`Report`](crate::driver::Report) with the tag
    /// follows, perhaps before this call returns: see [`Submitted`].
    ///
    /// # Errors
    /// [`Refused`] returns the request. Nothing was kept.
    pub fn submit<'r>(
        &mut self,
        now: Instant,
        request: Request<'r>,
    ) -> Result<Submitted, Refused<'r>> {
        let submitted = match self.check_request(now, &request) {
            Ok((peer, length)) => {
                let good = self.peers.state(peer) == HelloState::Good;
                if good {
                    if let Some(status) = self.send_short(now, peer, &request, length) {
                        return Ok(Submitted::Done(status));
                    }
                }
                // A copy: by reference it would lie in memory on the usual path too.
                self.submit_waiting(now, peer, &{ request }, length, good)
            }
            Err(why) => Err(why),
        };
        self.pending(submitted.map(Submitted::Pending), request)
    }

    /// As [`submit`](Self::submit), for an upper layer that handles every end as a report. The
    /// message is a transfer even where it could end at once.
    ///
    /// # Errors
    /// [`Refused`] returns the request. Nothing was kept.
    pub fn submit_pending<'r>(
        &mut self,
        now: Instant,
        request: Request<'r>,
    ) -> Result<Tag, Refused<'r>> {
        let submitted = match self.check_request(now, &request) {
            Ok((peer, length)) => self.submit_waiting(now, peer, &request, length, false),
            Err(why) => Err(why),
        };
        self.pending(submitted, request)
    }

    /// The result of a message that has not ended, or was refused.
    #[inline]
    fn pending<'r, T>(
        &mut self,
        submitted: Result<T, Why>,
        request: Request<'r>,
    ) -> Result<T, Refused<'r>> {
        self.note_work();
        submitted.map_err(|why| Refused { request, why: self.refuse_call(why) })
    }

    /// Accepts a message that outlives the call. Its peer is `good`, or needs a handshake.
    #[inline]
    fn submit_waiting(
        &mut self,
        now: Instant,
        peer: PeerId,
        request: &Request<'_>,
        length: u32,
        good: bool,
    ) -> Result<Tag, Why> {
        if !good && !self.connect(now, peer) {
            return Err(Why::PeerDown);
        }
        self.submit_transfer(now, peer, request, length)
    }

    /// Checks a request. Returns its peer and the length of its payload.
    fn check_request(&mut self, now: Instant, request: &Request<'_>) -> Result<(PeerId, u32), Why> {
        if self.run.state() != RunState::Running {
            return Err(Why::ShuttingDown);
        }
        if request.header.len() > MAX_HEADER {
            return Err(Why::HeaderTooLong);
        }
        // A passed deadline is refused here: an accepted message would end with a report and cost a
        // slot (LU-16303).
        if request.deadline <= now {
            return Err(Why::DeadlinePassed);
        }
        if request.link.is_some_and(|l| l.index() >= self.links.len()) {
            return Err(Why::BadLink);
        }
        // The peer comes last. A request that breaks a rule must not displace a peer from the
        // table.
        let length = self.check_memory(request.payload)?;
        let peer = match request.peer {
            To::Nid(nid) => match self.peers.find_again(nid) {
                Some(peer) => peer,
                None => self.new_peer(now, nid)?,
            },
            To::Peer(peer) => self.peer_by_id(peer)?,
        };
        Ok((peer, length))
    }

    /// Accepts a message that outlives the call. It gets a slot and is posted, or queued behind its
    /// peer's others.
    #[inline(never)]
    fn submit_transfer(
        &mut self,
        now: Instant,
        peer: PeerId,
        request: &Request<'_>,
        length: u32,
    ) -> Result<Tag, Why> {
        // The usual transfer is compiled by itself, with its role as a constant.
        match self.role_of(request, peer, length) {
            #[cfg(not(feature = "compact"))]
            Role::PutSource => self.submit_as(now, peer, request, length, Role::PutSource),
            role => self.submit_other(now, peer, request, length, role),
        }
    }

    #[inline(never)]
    fn submit_other(
        &mut self,
        now: Instant,
        peer: PeerId,
        request: &Request<'_>,
        length: u32,
        role: Role,
    ) -> Result<Tag, Why> {
        self.submit_as(now, peer, request, length, role)
    }

    #[cfg_attr(not(feature = "compact"), inline(always))]
    fn submit_as(
        &mut self,
        now: Instant,
        peer: PeerId,
        request: &Request<'_>,
        length: u32,
        role: Role,
    ) -> Result<Tag, Why> {
        // A GET without an optimised reply carries no payload. Its memory stays with the upper
        // layer, which matches the REPLY itself.
        let carries = role != Role::Immediate || request.kind != Kind::Get;
        let (payload, carried) = if carries { (request.payload, length) } else { (&[][..], 0) };
        let new = New {
            role,
            fragments: payload,
            length: carried,
            user: request.user,
            link: request.link,
            remote: New::NO_TAG,
            session: 0,
            passive: false,
        };
        // Requests to one peer go out in the order of submission.
        let first = self.peers.get(peer).is_some_and(|peer| peer.queue.is_empty());
        let turn = self.links.turn();
        let link = if first { self.way_out(peer, request.link) } else { None };
        let tag = self.claim(peer, link, &new).inspect_err(|_| self.links.set_turn_back(turn))?;
        self.counters.count(Counter::Accepted);
        if let Some(nid) = self.peers.nid(peer) {
            self.tracer.record(now, Trace::Accepted { tag, peer: nid, length });
        }
        // The timer is armed before the message may be sent: the deadline covers every place where
        // it may wait (INV-9).
        self.slots.arm(tag.index, request.deadline);
        match link {
            #[cfg(not(feature = "compact"))]
            Some(link) if role == Role::PutSource => {
                self.post_claimed(now, tag, peer, link, role, request.header);
            }
            Some(link) => self.post(now, tag, peer, link, PostFrom::Claim(request.header)),
            None => self.queue(now, tag, peer, request.header),
        }
        Ok(tag)
    }

    /// Checks fragments and adds them up.
    #[inline]
    pub(crate) fn check_memory(&self, fragments: &[Fragment]) -> Result<u32, Why> {
        let mut valid = true;
        let look = |it: &Fragment| valid &= self.memory.valid(it);
        let length = fragment::total_of(fragments, look).map_err(Why::Fragments)?;
        if valid {
            Ok(length)
        } else {
            Err(Why::BadAddress)
        }
    }

    /// How a message travels: inline if it fits (ACKs and small REPLYs always do, S1-10), otherwise
    /// staged. A GET that is routed (R26) or need not be optimised is a mere header.
    fn role_of(&self, request: &Request<'_>, peer: PeerId, length: u32) -> Role {
        // Before its hello was answered, a peer's limit is unknown and our own is used. If the peer
        // accepts less, that shows when the message is posted.
        let known = self.peers.get(peer).filter(|peer| peer.inline_max() > 0);
        let inline = length <= known.map_or(self.inline_max(), |peer| peer.inline_max());
        match request.kind {
            Kind::Get if request.routed || inline => Role::Immediate,
            Kind::Get => Role::GetSink,
            Kind::Put | Kind::Ack | Kind::Reply if inline => Role::Immediate,
            Kind::Put | Kind::Ack | Kind::Reply => Role::PutSource,
        }
    }

    /// Takes up a node that is not in the peer table. This node itself is none.
    #[inline(never)]
    fn new_peer(&mut self, now: Instant, nid: Nid) -> Result<PeerId, Why> {
        let reached = self.channel.reaches(nid);
        if nid == self.me.nid || !reached {
            return Err(Why::NoRoute);
        }
        self.take_up_peer(now, nid, false).ok_or(Why::PeersFull)
    }

    /// The peer, if it still has its place (R14).
    fn peer_by_id(&mut self, peer: PeerId) -> Result<PeerId, Why> {
        let known = self.peers.named(peer).is_some_and(|found| { found.nid }.is_some());
        if known {
            return Ok(peer);
        }
        self.counters.count(Counter::StalePeer);
        Err(Why::StalePeer)
    }

    /// Claims a slot for a transfer with `peer`, on `link` if that is known, and keeps the
    /// fragments.
    #[cfg_attr(not(feature = "compact"), inline(always))]
    pub(crate) fn claim(
        &mut self,
        peer: PeerId,
        link: Option<LinkId>,
        new: &New<'_>,
    ) -> Result<Tag, Why> {
        let tag = self.slots.claim(new).map_err(|why| match why {
            NoSlot::Slots => Why::NoSlots,
            NoSlot::Lists => Why::NoLists,
        })?;
        if let Some(peer) = self.peers.get_mut(peer) {
            peer.held.add(new.passive);
        }
        // The owner is set before the slot is published, so no sweep judges it by its former one.
        let incarnation = self.peers.view(peer).map_or(0, GateView::incarnation);
        self.slots.assign(tag, Owner::new(peer, incarnation, link));
        if !self.links.safe_invalidate() && new.passive {
            self.add_request(peer, tag.index);
        }
        Ok(tag)
    }

    /// Queues a new request behind its peer's others.
    #[inline(never)]
    fn queue(&mut self, now: Instant, tag: Tag, peer: PeerId, header: &[u8]) {
        // Only a request that waits keeps its header: the usual one is sent from the caller's
        // memory.
        self.slots.keep_header(tag.index, header);
        self.slots.publish(tag, Word::queued(tag.generation));
        if let Some(peer) = self.peers.get_mut(peer) {
            peer.queue.push(&mut self.slots, tag.index);
        }
        // The link may have closed before the request was queued, and its sweep may have passed
        // already. So the check is repeated behind the publication.
        if let Some(cause) = self.link_closed(tag.index) {
            self.cancel(now, tag, cause);
        }
        // Another link than the one in turn may have room.
        self.flush(now, peer);
    }

    /// Counts a refused call.
    pub(crate) fn refuse_call(&mut self, why: Why) -> Why {
        self.counters.count(Counter::Refused);
        why
    }
}
