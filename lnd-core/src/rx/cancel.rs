// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file handles CANCEL: a peer wants to invalidate what it has lent, and asks whether it is
//! being pulled or pushed into (docs/decisions/0029-cancel.md).
//!
//! The answer is a promise: nothing is moved for that transfer any more. A pull or push that is
//! under way answers by its end. Everything else is answered at once, as often as CANCEL comes.
//! Where no promise is possible, no answer is sent.

use super::request::Offer;
use crate::base::counters::Counter;
use crate::base::id::{LinkId, PeerId, Tag};
use crate::base::message::{Message, NakReason};
use crate::base::narrow::Entry;
use crate::base::time::Instant;
use crate::machines::peer::window::SequenceCheck;
use crate::machines::transfer::{Cause, Debts, Effect, Event, Phase};
use crate::peers::PeerFlags;
use crate::ports::{Channel, Engine, Ports};
use crate::shard::Driver;
use crate::slots::{Flags, Role, NONE};

/// What can be promised about a transfer that is not to be moved any more.
enum Over {
    /// No byte of it was moved or will be.
    NotBegun,
    /// It is not moved any more.
    Ended,
    /// All of it was moved: this many bytes.
    Moved(u32),
    /// Nothing. It is being moved, and its end answers. Or it may still arrive and be moved.
    Not,
}

impl<P: Ports> Driver<'_, P> {
    /// Handles a CANCEL of an admitted peer.
    pub(super) fn on_cancel(&mut self, now: Instant, link: LinkId, id: PeerId, it: &Message<'_>) {
        // An engine that invalidates safely has not announced that it answers CANCEL, so no correct
        // peer sends one.
        if self.links.safe_invalidate() {
            self.counters.count(Counter::WrongAnswer);
            return;
        }
        self.counters.count(Counter::CancelsHeard);
        let (lent, over) = match *it {
            Message::CancelPut { source: lent, session, sequence }
            | Message::CancelPush { sink: lent, session, sequence } => {
                let over = match self.find_request(now, id, lent) {
                    Some(tag) => self.end_request(now, tag),
                    None => self.bar(id, session, sequence),
                };
                // A promise was given. Only the window holds it, so no session may be opened
                // twice from now on.
                if let (false, Some(peer)) = (matches!(over, Over::Not), self.peers.get_mut(id)) {
                    peer.flags.insert(PeerFlags::PROMISED);
                }
                (lent, over)
            }
            Message::CancelGet { source, sink } => (source, self.end_get(now, id, source, sink)),
            _ => return,
        };
        let pushed = P::Engine::PUSHES && matches!(it, Message::CancelPush { .. });
        let nak = |why| {
            if pushed {
                Message::GetNak { sink: lent, why }
            } else {
                Message::PutNak { source: lent, why }
            }
        };
        let answer = match over {
            Over::NotBegun => nak(NakReason::NoMatch),
            Over::Ended => nak(NakReason::Failed),
            Over::Moved(length) if pushed => Message::GetDone { sink: lent, length, failed: None },
            Over::Moved(_) => Message::PutDone { source: lent, failed: None },
            Over::Not => return,
        };
        // An answer that finds no room is lost. The peer repeats its CANCEL.
        self.send_control(now, id, Some(link), &answer);
    }

    /// The state of a pull or push that has ended: its descriptor is back, or it never had one.
    fn pull_has_ended(&self, slot: u32) -> Option<Over> {
        // It may wait for the host to fetch its report. Its source need not wait for that.
        let (state, word) = (self.slots.get(slot)?, self.slots.word(slot));
        if word.phase() == Phase::Queued || word.owes(Debts::HW) {
            return None;
        }
        Some(match word.phase() {
            _ if !state.flags.contains(Flags::PULLING) => Over::NotBegun,
            Phase::Done if !word.lost() => Over::Moved(state.length),
            _ => Over::Ended,
        })
    }

    /// Ends a request that was accepted.
    fn end_request(&mut self, now: Instant, tag: Tag) -> Over {
        let Some(state) = self.slots.get(tag.index) else { return Over::Not };
        let role = state.role;
        if matches!(role, Role::NakPut | Role::NakGet) {
            // A refusal is already under way. Or it is the final message of a failed pull, which
            // waits for a path.
            let failed = state.why() == Some(NakReason::Failed);
            return if failed { Over::Ended } else { Over::NotBegun };
        }
        if let (true, Some(over)) = (role.pulls(), self.pull_has_ended(tag.index)) {
            return over;
        }
        // A pull or push that waits has no descriptor, so it ends without having begun. One under
        // way answers by its end.
        let waits = self.slots.word(tag.index).phase() == Phase::Queued;
        self.cancel(now, tag, Cause::Refused);
        if role.pulls() && !waits {
            Over::Not
        } else {
            Over::NotBegun
        }
    }

    /// The same for a GET of ours. If its PULL_READY is still under way, that arrives too late.
    fn end_get(&mut self, now: Instant, id: PeerId, source: Tag, sink: Tag) -> Over {
        let with = self.slots.owner(sink.index).peer_index() as usize == id.index();
        let there = with && self.slots.is_current(sink);
        let Some(state) = self.slots.get(sink.index).filter(|_| there) else {
            return Over::Ended;
        };
        match state.role {
            Role::GetPull if state.remote == source => {
                let waits = state.is_queued();
                if let Some(over) = self.pull_has_ended(sink.index) {
                    return over;
                }
                self.cancel(now, sink, Cause::Refused);
                if waits {
                    Over::NotBegun
                } else {
                    Over::Not
                }
            }
            Role::GetSink => {
                if self.apply(now, sink, Event::Refused) == Some(Effect::None) {
                    self.await_drain(now, sink);
                }
                Over::NotBegun
            }
            _ => Over::Ended,
        }
    }

    /// Ensures, where possible, that a request which has not arrived is never accepted.
    fn bar(&mut self, id: PeerId, session: u32, sequence: u32) -> Over {
        let (reliable, depth) = (self.channel.is_reliable(), self.config.depth);
        let Some(peer) = self.peers.get_mut(id) else { return Over::Not };
        if peer.counted_session() != Some(session) {
            // A request of a former session is refused when it arrives: see `may_be_called_off`. A
            // request of a session that is not counted yet may still be accepted.
            let former = !peer.is_later_session(session) && peer.their_session() != Some(session);
            if former {
                return Over::Ended;
            }
            self.counters.count(Counter::WrongSession);
            return Over::Not;
        }
        if peer.is(PeerFlags::UNVERIFIED) {
            // The session may come from a delayed hello. The request may then be accepted by
            // another window.
            self.counters.count(Counter::WrongSession);
            return Over::Not;
        }
        let anew = peer.is(PeerFlags::ANEW);
        let lost = match peer.theirs.peek(sequence) {
            SequenceCheck::Duplicate => return Over::Ended,
            // The number is behind the window: the request is not accepted any more.
            SequenceCheck::Outside if !peer.theirs.is_behind(sequence) => return Over::Ended,
            SequenceCheck::Fresh { lost } if lost == 0 || !reliable => lost,
            // No correct peer is so far ahead of the window. Or the promise would push a late
            // request out of it.
            SequenceCheck::Outside | SequenceCheck::Fresh { .. } => {
                self.counters.count(Counter::OutsideWindow);
                return Over::Not;
            }
        };
        // The number counts as received and its credit as returned. When the request arrives, the
        // window drops it as a duplicate.
        let _ = peer.take_in(Some(sequence));
        let due = peer.consume(depth);
        self.counters.add(Counter::LostRequests, u64::from(lost) + 1);
        if due {
            self.send_credits(id);
        }
        // The request may have been accepted and pulled before the session was counted anew.
        if anew {
            Over::Ended
        } else {
            Over::NotBegun
        }
    }

    /// Whether the sender of a request may have a promise that it is not pulled. Nothing is
    /// remembered of requests of a former session.
    #[inline]
    pub(super) fn may_be_called_off(&self, offer: &Offer, message: &Message<'_>) -> bool {
        let lends = match message {
            Message::PutReq { .. } => true,
            Message::GetReq { key, .. } => P::Engine::PUSHES && !key.is_empty(),
            _ => false,
        };
        !self.links.safe_invalidate() && offer.former && lends
    }

    /// The slot of a peer's request that lends memory, by its sender's transfer. The walk is
    /// bounded: a peer has no more slots than twice its credits (INV-14).
    fn find_request(&mut self, now: Instant, id: PeerId, source: Tag) -> Option<Tag> {
        let mut slot = self.peers.get(id)?.requests.get();
        for _ in 0..self.slots.count() {
            let state = self.slots.get(slot)?;
            let answers = matches!(state.role, Role::NakPut | Role::NakGet);
            let ours = answers || state.role == Role::RxRequest || state.role.pulls();
            let (tag, next) = (self.slots.tag(slot), state.sequence);
            if ours && { state.remote } == source {
                let word = self.slots.word(slot);
                // The slot may belong to another incarnation. It counts only while it is being
                // pulled, because the sender may have been taken for that one meanwhile. Otherwise
                // it is ended, and the number is still barred: the successor may use the same tag
                // for another transfer.
                let pulled = word.phase() == Phase::Live && word.owes(Debts::HW) && !answers;
                if pulled || self.is_with(tag, id) {
                    return Some(tag);
                }
                if !answers {
                    self.cancel(now, tag, Cause::Refused);
                }
            }
            slot = next;
        }
        None
    }

    /// Adds the slot of a peer's request to that peer's list.
    pub(crate) fn add_request(&mut self, id: PeerId, slot: u32) {
        let (Some(peer), Some(state)) = (self.peers.get_mut(id), self.slots.get_mut(slot)) else {
            return;
        };
        state.sequence = peer.requests.get();
        peer.requests = Entry::new(slot);
    }

    /// Removes the slot of a peer's request from that peer's list. Bounded as
    /// [`find_request`](Self::find_request) is.
    pub(crate) fn remove_request(&mut self, id: PeerId, slot: u32) {
        let next = self.slots.get(slot).map_or(NONE, |state| state.sequence);
        let Some(peer) = self.peers.get_mut(id) else { return };
        let mut at = peer.requests.get();
        if at == slot {
            peer.requests = Entry::new(next);
            return;
        }
        for _ in 0..self.slots.count() {
            let Some(state) = self.slots.get_mut(at) else { return };
            at = state.sequence;
            if at == slot {
                state.sequence = next;
                return;
            }
        }
    }
}
