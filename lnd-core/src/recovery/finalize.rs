// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file finalizes transfers: the one place where a transfer leaves the driver, complete and
//! once (S1-6, INV-1, INV-2, R8).

use crate::base::counters::Counter;
use crate::base::id::{LinkId, Nid, PeerId, Tag};
use crate::base::message::{Lane, Message, NakReason};
use crate::base::time::Instant;
use crate::machines::peer::HelloState;
use crate::machines::transfer::{Cause, Delivery, Place, Status, Word};
use crate::ports::trace::Trace;
use crate::ports::{Channel, Completion, Engine, Ports, Returned, Tracer};
use crate::shard::Driver;
use crate::slots::shared::Owner;
use crate::slots::{Flags, Role};

/// The one end of a transfer (`lnet_finalize`). The upper layer owns its memory again.
///
/// ```
/// use lnd_core::driver::Report;
/// use lnd_core::transfer::Delivery;
///
/// /// What an upper layer does with it.
/// fn finalize(report: &Report) -> &'static str {
///     match (report.status.errno, report.status.delivery) {
///         (0, _) => "done",
///         (_, Delivery::NotDelivered) if report.status.resend => "may be sent again",
///         _ => "failed",
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use = "this is the only time the transfer is reported"]
pub struct Report {
    /// The transfer. Its tag is stale from now on.
    pub tag: Tag,
    /// The upper layer's own value for it.
    pub user: u64,
    /// The transfer's purpose.
    pub role: Role,
    /// The other side.
    pub peer: Option<Nid>,
    /// How it ended.
    pub status: Status,
    /// Bytes moved if it ended OK, else zero.
    pub bytes: u32,
    /// An optimised GET: the status is that of the request and of the reply. Finalize both (R8).
    pub reply: bool,
    /// It was cancelled and came back good (S0-16).
    pub lost_race: bool,
}

/// Whether a transfer was given up and came back good. A descriptor that is invalidated because the
/// peer has confirmed its data (PUT_DONE) has no cause and lost no race.
const fn lost_race(word: Word) -> bool {
    word.returned_well() && word.has_cause()
}

/// What the report and the peer need of a transfer, while its slot is released.
struct Ended {
    tag: Tag,
    word: Word,
    owner: Owner,
    peer: PeerId,
    nid: Option<Nid>,
    role: Role,
    flags: Flags,
    user: u64,
    length: u32,
    session: u32,
    sequence: u32,
    remote: Tag,
}

impl Ended {
    /// Whether an engine returned lent memory OK without knowing, and the peer has not confirmed
    /// its pull or push.
    fn is_unconfirmed(&self) -> bool {
        self.role.stages() && self.flags.contains(Flags::OWES_DONE) && !self.word.lost()
    }
}

/// The message that the peer needs at the end of a transfer, if any. `reliable`: the channel loses
/// nothing that was sent. `pushes`: engines may push.
#[inline]
fn final_message(it: &Ended, reliable: bool, pushes: bool) -> Option<Message<'static>> {
    let failed = it.word.lost().then(|| match it.word.cause() {
        Some(Cause::Protocol) => NakReason::BadRequest,
        _ => NakReason::Failed,
    });
    // No engine reports the end of a push to its sink.
    if pushes && it.role == Role::PushSource {
        let length = if failed.is_some() { 0 } else { it.length };
        return Some(Message::GetDone { sink: it.remote, length, failed });
    }
    // The sink reports the end of a pull. PUT_DONE goes out where the source's engine does not
    // report that end. PUT_NAK reports a pull that failed: perhaps it never began, and no engine
    // knows of it.
    if it.role.pulls() {
        if it.flags.contains(Flags::OWES_DONE) {
            return Some(Message::PutDone { source: it.remote, failed });
        }
        return failed.map(|why| Message::PutNak { source: it.remote, why });
    }
    // GET_NAK: nothing will be staged, or no PULL_READY has announced what was: without one the
    // requester begins no pull, and would wait for its whole deadline. Once it is announced, the
    // requester's own pull shows the end. A PULL_READY may be lost with its connection or link.
    let unannounced = match it.word.cause() {
        Some(Cause::Channel | Cause::Local) => true,
        Some(Cause::ConnectionDown | Cause::LinkDown) if !reliable => true,
        _ => it.word.place() == Some(Place::Queue),
    };
    let nak = it.role == Role::GetSource && unannounced;
    failed.filter(|_| nak).map(|why| Message::GetNak { sink: it.remote, why })
}

impl<P: Ports> Driver<'_, P> {
    /// The next finished transfer, oldest first. The driver holds nothing while the caller handles
    /// it.
    ///
    /// `None`: there is none, or one call found only transfers without a report. In the second case
    /// [`nothing_to_report`](Self::nothing_to_report) is false, and the call is to be repeated.
    pub fn next_report(&mut self, now: Instant) -> Option<Report> {
        for _ in 0..self.config.batch {
            let slot = self.slots.next_ended()?;
            self.note_work();
            if let Some(report) = self.finalize(now, slot) {
                return Some(report);
            }
        }
        None
    }

    /// Applies the return of a descriptor, and reports the transfer at once if that has ended it.
    /// For hosts whose own thread handles completions, in place of
    /// [`on_completion`](Self::on_completion) and [`next_report`](Self::next_report).
    ///
    /// `None`: the transfer has not ended, or it has no report, or others that have ended before
    /// wait to be reported. The host goes on calling [`next_report`](Self::next_report) while
    /// [`nothing_to_report`](Self::nothing_to_report) is false.
    ///
    /// The tag is trusted to be of the engine that reports it. With more than one link, use
    /// [`complete_of`](Self::complete_of).
    #[inline]
    pub fn complete(&mut self, now: Instant, completion: Completion) -> Option<Report> {
        // Nearly all descriptors come back well. Many others come back at once when a peer is down.
        if completion.returned != Returned::Ok {
            return self.complete_otherwise(now, completion);
        }
        let token = self.completed_well(now, completion.tag)?;
        self.note_work();
        self.finalize(now, token.spend())
    }

    /// As [`complete`](Self::complete), from the engine of `link`. For hosts with more than one
    /// link. A completion of a transfer on another link is counted and changes nothing: only a
    /// transfer's own engine can report that it no longer touches the memory (INV-2).
    #[inline]
    pub fn complete_of(
        &mut self,
        now: Instant,
        link: LinkId,
        completion: Completion,
    ) -> Option<Report> {
        if self.own_handle().is_foreign(link, completion.tag) {
            self.counters.count(Counter::ForeignCompletion);
            return None;
        }
        self.complete(now, completion)
    }

    #[inline(never)]
    fn complete_otherwise(&mut self, now: Instant, completion: Completion) -> Option<Report> {
        let token = self.completed(now, completion)?;
        self.note_work();
        self.finalize_rest(now, token.spend())
    }

    /// Ends one transfer: notifies the peer, releases everything, frees the slot.
    #[cfg(feature = "compact")]
    fn finalize(&mut self, now: Instant, slot: u32) -> Option<Report> {
        self.finalize_other(now, slot)
    }

    /// Ends one transfer. The usual ends are compiled by themselves (decision 0032).
    #[cfg(not(feature = "compact"))]
    #[inline]
    fn finalize(&mut self, now: Instant, slot: u32) -> Option<Report> {
        let it = self.slots.use_of(slot)?;
        let (_, word, _) = it;
        if word.ended_well() {
            if let Some(report) = self.finalize_silent::<true>(now, it) {
                return Some(report);
            }
        }
        self.finalize_rest(now, slot)
    }

    #[cfg(feature = "compact")]
    fn finalize_rest(&mut self, now: Instant, slot: u32) -> Option<Report> {
        self.finalize_other(now, slot)
    }

    #[cfg(not(feature = "compact"))]
    #[inline(never)]
    fn finalize_rest(&mut self, now: Instant, slot: u32) -> Option<Report> {
        let it = self.slots.use_of(slot)?;
        match self.finalize_silent::<false>(now, it) {
            Some(report) => Some(report),
            None => self.finalize_other(now, slot),
        }
    }

    /// Ends a transfer that had a descriptor, and whose peer needs no message at its end. `WELL`:
    /// only one of which nothing was lost or given up. `None`: nothing was done, and
    /// [`finalize_other`](Self::finalize_other) decides. That would end this transfer in the same
    /// way.
    #[cfg(not(feature = "compact"))]
    #[inline(always)]
    fn finalize_silent<const WELL: bool>(
        &mut self,
        now: Instant,
        (tag, word, owner): (Tag, Word, Owner),
    ) -> Option<Report> {
        let state = self.slots.get(tag.index)?;
        let (role, flags, user, length) = (state.role, state.flags, state.user, state.length);
        let request = (state.session, state.sequence);
        let lost = !WELL && word.lost();
        // Of those that were given up most are PUTs of ours: a peer is down.
        let silent = if WELL {
            role.moves_payload() && !flags.contains(Flags::OWES_DONE)
        } else {
            let other = Flags::PASSIVE.union(Flags::PULLING).union(Flags::OWES_DONE);
            role == Role::PutSource && !flags.intersects(other)
        };
        if !silent {
            return None;
        }
        let mut status = if WELL { Status::OK } else { Status::of_word(self.config.policy, word)? };
        let peer = self.peers.of(owner);
        if !WELL {
            if !self.links.safe_invalidate() {
                self.note_untouched(tag.index, &mut status);
            }
            self.count_returned(flags, lost);
            if lost_race(word) {
                self.counters.count(Counter::LostRaces);
            }
            if lost {
                self.give_up_request(now, peer, flags, request);
            }
        }
        self.count_status(status);
        let nid = if WELL {
            self.release::<false>(now, peer, tag, flags)
        } else {
            self.release::<true>(now, peer, tag, flags)
        };
        self.tracer.record(now, Trace::Finalized { tag, status });
        let bytes = if lost { 0 } else { length };
        let reply = role == Role::GetPull || P::Engine::PUSHES && role == Role::PushSink;
        let lost_race = !WELL && lost_race(word);
        Some(Report { tag, user, role, peer: nid, status, bytes, reply, lost_race })
    }

    #[inline(never)]
    fn finalize_other(&mut self, now: Instant, slot: u32) -> Option<Report> {
        let mut it = self.ended(slot)?;
        if it.is_unconfirmed() {
            it.word = it.word.unproven();
        }
        let mut status = Status::of_word(self.config.policy, it.word)?;
        // S0-18: OK of such a channel means that the message was sent, and no more.
        if it.role == Role::Immediate && status.errno == 0 && !self.channel.is_reliable() {
            status.delivery = Delivery::Sent;
        }
        if !self.links.safe_invalidate() {
            self.note_untouched(slot, &mut status);
        }
        let unsaid = self.notify_peer(now, &it);
        self.count_end(&it, status);
        if it.word.lost() {
            self.give_up_request(now, it.peer, it.flags, (it.session, it.sequence));
        }
        self.release::<true>(now, it.peer, it.tag, it.flags);
        // The message takes the slot's place (INV-14). A connection that ends a pull gives the
        // source back, too, at its other end: no slot is spent on that news. That a pull came back
        // well is news there.
        let failed = it.role.pulls() && it.word.lost();
        let known = failed && it.word.cause() == Some(Cause::ConnectionDown);
        if let Some(message) = unsaid.filter(|_| !known) {
            let passive = it.flags.contains(Flags::PASSIVE);
            self.keep_final(now, it.peer, it.owner, passive, &message);
        }
        if !it.role.reported() {
            return None;
        }
        self.tracer.record(now, Trace::Finalized { tag: it.tag, status });
        Some(Report {
            tag: it.tag,
            user: it.user,
            role: it.role,
            peer: it.nid,
            status,
            bytes: if it.word.lost() { 0 } else { it.length },
            reply: it.role.gets(),
            lost_race: lost_race(it.word),
        })
    }

    /// Corrects the status of a source that its peer has not pulled from. Nothing was delivered
    /// then, although the engine can only report that bytes may have moved (S0-17).
    fn note_untouched(&self, slot: u32, status: &mut Status) {
        let untouched = self.slots.get(slot).is_some_and(|state| state.is_untouched());
        if let (true, Some((cause, Place::Moving))) = (untouched, status.evidence) {
            *status = Status::of(self.config.policy, cause, Place::Staged);
        }
    }

    /// Reads once everything that the end of the transfer in a slot needs.
    #[inline]
    fn ended(&self, slot: u32) -> Option<Ended> {
        let (state, (tag, word, owner)) = (self.slots.get(slot)?, self.slots.use_of(slot)?);
        let peer = self.peers.of(owner);
        Some(Ended {
            tag,
            word,
            owner,
            peer,
            nid: self.peers.nid(peer),
            role: state.role,
            flags: state.flags,
            user: state.user,
            length: state.length,
            session: state.session,
            sequence: state.sequence,
            remote: state.remote,
        })
    }

    /// Notifies the other side of what the engines do not report. Returns a message that found no
    /// path or no room. It waits, or the peer ends by its deadline.
    #[inline]
    fn notify_peer(&mut self, now: Instant, it: &Ended) -> Option<Message<'static>> {
        let message = final_message(it, self.channel.is_reliable(), P::Engine::PUSHES)?;
        let view = self.peers.view(it.peer)?;
        // Another incarnation may have given the peer's tag to another transfer (R31).
        let other = view.incarnation() != it.owner.incarnation();
        if view.state() == HelloState::Down || other {
            return None;
        }
        (!self.send_control(now, it.peer, it.owner.link(), &message)).then_some(message)
    }

    /// Gives up a request that was sent and did not end well.
    fn give_up_request(
        &mut self,
        now: Instant,
        id: PeerId,
        flags: Flags,
        (session, sequence): (u32, u32),
    ) {
        if session == 0 || flags.contains(Flags::PASSIVE) {
            return;
        }
        let reliable = self.channel.is_reliable();
        let Some(peer) = self.peers.get_mut(id) else { return };
        // The request may still lie in the channel. The peer must not deliver what its sender
        // reported as lost, and the credit must return. So the next hello announces it.
        let announced = peer.give_up(session, sequence);
        if !announced && reliable {
            // Too many later requests have overtaken it, so no hello can announce it. On a reliable
            // channel the peer would wait for it for ever. The next session ends that (decision
            // 0018).
            self.peers.begin_session(id);
            self.resync(now, id);
        }
    }

    #[inline]
    fn count_end(&mut self, it: &Ended, status: Status) {
        // Only what is given up is invalidated.
        if it.word.invalidating() || it.word.lost() {
            self.count_given_up(it.role, it.flags, it.word);
        }
        if it.role.reported() {
            self.count_status(status);
        }
    }

    #[inline]
    fn count_given_up(&mut self, role: Role, flags: Flags, word: Word) {
        self.count_returned(flags, word.lost());
        if role.is_final() && word.lost() && word.place() == Some(Place::Queue) {
            self.counters.count(Counter::Unsaid);
        }
        if role.reported() && lost_race(word) {
            self.counters.count(Counter::LostRaces);
        }
    }

    /// Counts a descriptor that was invalidated and came back.
    #[inline]
    fn count_returned(&mut self, flags: Flags, lost: bool) {
        if flags.contains(Flags::INVALIDATED) {
            self.counters.count(if lost { Counter::CameBackError } else { Counter::CameBackOk });
        }
    }

    /// Releases everything that the transfer held. Returns the other side. `DRAINED`: it may have
    /// been given up.
    #[cfg_attr(not(feature = "compact"), inline(always))]
    fn release<const DRAINED: bool>(
        &mut self,
        now: Instant,
        id: PeerId,
        tag: Tag,
        flags: Flags,
    ) -> Option<Nid> {
        let (mut nid, mut pull_waits) = (None, false);
        if let Some(peer) = self.peers.get_mut(id) {
            nid = peer.nid;
            peer.held.remove(flags.contains(Flags::PASSIVE));
            if flags.contains(Flags::PULLING) {
                peer.pulls = peer.pulls.saturating_sub(1);
                pull_waits = !peer.pull_queue.is_empty();
            }
        }
        if !self.links.safe_invalidate() && flags.contains(Flags::PASSIVE) {
            self.remove_request(id, tag.index);
        }
        self.slots.release::<DRAINED>(tag);
        // The free slot may let a request in the channel be accepted, so the host offers it again.
        self.offer = true;
        self.peers.places.may_be_free();
        if pull_waits {
            self.next_pull(now, id);
        }
        nid
    }

    /// Whether the control lane to the transfer's peer has room. For hosts that pace their reports.
    pub fn can_answer(&mut self, tag: Tag) -> bool {
        let nid = self.peers.nid(self.peers.of_slot(tag.index));
        match (self.slots.owner(tag.index).link(), nid) {
            (Some(link), Some(nid)) => self.channel.ready(link, nid, Lane::Control),
            _ => false,
        }
    }
}
