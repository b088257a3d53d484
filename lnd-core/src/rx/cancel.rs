// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! CANCEL: a peer wants back what it has staged, and asks whether we pull it (docs/decisions/0029-cancel.md).
//!
//! Our answer is a promise: nothing is pulled from that transfer any more. A pull that is under way answers by its
//! end. All else is answered at once, as often as it is asked. Where no promise can be given nothing is said.

use super::request::Offer;
use crate::base::counters::Counter;
use crate::base::id::{LinkId, PeerId, Tag};
use crate::base::message::{Message, NakReason};
use crate::base::time::Instant;
use crate::machines::peer::window::SequenceCheck;
use crate::machines::transfer::{Cause, Debts, Effect, Event, Phase};
use crate::peers::PeerFlags;
use crate::ports::{Channel, Ports};
use crate::shard::Driver;
use crate::slots::{Flags, Role, NONE};

/// What can be promised of a transfer from which nothing is to be pulled any more.
enum Over {
    /// Not a byte of it was pulled, nor will be.
    NotBegun,
    /// It is not pulled any more.
    Ended,
    /// All of it was pulled.
    Pulled,
    /// Nothing: it is being pulled, and its own end tells; or it may come and be pulled.
    Not,
}

impl<P: Ports> Driver<'_, P> {
    /// A CANCEL of an admitted peer. An engine that recalls has not announced that it hears one.
    pub(super) fn on_cancel(&mut self, now: Instant, link: LinkId, id: PeerId, it: &Message<'_>) {
        if self.links.safe_invalidate() {
            self.counters.count(Counter::WrongAnswer);
            return;
        }
        self.counters.count(Counter::CancelsHeard);
        let (source, over) = match *it {
            Message::CancelPut { source, session, sequence } => {
                let over = match self.find_cancelled(now, id, source) {
                    Some(tag) => self.end_request(now, tag),
                    None => self.bar(id, session, sequence),
                };
                if let (false, Some(peer)) = (matches!(over, Over::Not), self.peers.get_mut(id)) {
                    peer.flags.insert(PeerFlags::PROMISED);
                }
                (source, over)
            }
            Message::CancelGet { source, sink } => (source, self.end_get(now, id, source, sink)),
            _ => return,
        };
        let answer = match over {
            Over::NotBegun => Message::PutNak { source, why: NakReason::NoMatch },
            Over::Ended => Message::PutNak { source, why: NakReason::Failed },
            Over::Pulled => Message::PutDone { source, failed: None },
            Over::Not => return,
        };
        // What finds no room is asked for again.
        self.send_control(now, id, Some(link), &answer);
    }

    /// A pull whose descriptor is back, or which never had one: it may wait for the host to fetch its report, which
    /// is no reason to have its source wait.
    fn pull_has_ended(&self, slot: u32) -> Option<Over> {
        let (state, word) = (self.slots.get(slot)?, self.slots.word(slot));
        if word.phase() == Phase::Queued || word.owes(Debts::HW) {
            return None;
        }
        Some(match word.phase() {
            _ if !state.flags.contains(Flags::PULLING) => Over::NotBegun,
            Phase::Done if !word.lost() => Over::Pulled,
            _ => Over::Ended,
        })
    }

    /// Ends a request that we have taken.
    fn end_request(&mut self, now: Instant, tag: Tag) -> Over {
        let Some(state) = self.slots.get(tag.index) else { return Over::Not };
        let role = state.role;
        if role == Role::NakPut {
            // A refusal is on its way already, or the word of a pull that has failed, which waits for a way.
            let failed = state.why() == Some(NakReason::Failed);
            return if failed { Over::Ended } else { Over::NotBegun };
        }
        if let (Role::PutSink, Some(over)) = (role, self.pull_has_ended(tag.index)) {
            return over;
        }
        let waits = self.slots.word(tag.index).phase() == Phase::Queued;
        self.cancel(now, tag, Cause::Refused);
        if role == Role::PutSink && !waits {
            Over::Not
        } else {
            Over::NotBegun
        }
    }

    /// The same for a GET of ours, which the peer has answered, or is about to: then its PULL_READY comes too late.
    fn end_get(&mut self, now: Instant, id: PeerId, source: Tag, sink: Tag) -> Over {
        let with = self.slots.owner(sink.index).peer_index() as usize == id.index();
        let fits = self.slots.tag(sink.index) == sink && with;
        let there = fits && self.slots.word(sink.index).phase() != Phase::Free;
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

    /// Sees that a request which we do not have is never taken, if that can be.
    fn bar(&mut self, id: PeerId, session: u32, sequence: u32) -> Over {
        let (reliable, depth) = (self.channel.is_reliable(), self.config.depth);
        let Some(peer) = self.peers.get_mut(id) else { return Over::Not };
        if peer.counted_session() != Some(session) {
            // One of a former session is refused when it comes: see `may_be_called_off`. One of a session that we
            // do not count yet may be taken.
            let former = !peer.is_later_session(session) && peer.their_session() != Some(session);
            if former {
                return Over::Ended;
            }
            self.counters.count(Counter::WrongSession);
            return Over::Not;
        }
        if peer.is(PeerFlags::UNVERIFIED) {
            // It may be an echo, and its window not the one by which the request is taken.
            self.counters.count(Counter::WrongSession);
            return Over::Not;
        }
        let anew = peer.is(PeerFlags::ANEW);
        let lost = match peer.theirs.peek(sequence) {
            SequenceCheck::Duplicate => return Over::Ended,
            // Behind the window: it is not taken any more.
            SequenceCheck::Outside if !peer.theirs.is_behind(sequence) => return Over::Ended,
            SequenceCheck::Fresh { lost } if lost == 0 || !reliable => lost,
            // No correct peer is so far before the window; or what is late would be pushed out of it.
            SequenceCheck::Outside | SequenceCheck::Fresh { .. } => {
                self.counters.count(Counter::OutsideWindow);
                return Over::Not;
            }
        };
        let _ = peer.take_in(Some(sequence));
        let due = peer.consume(depth);
        self.counters.add(Counter::LostRequests, u64::from(lost) + 1);
        if due {
            self.send_credits(id);
        }
        // Perhaps it was taken and pulled before the session was counted anew.
        if anew {
            Over::Ended
        } else {
            Over::NotBegun
        }
    }

    /// Whether its sender may have been told of a request that it is not pulled. Of a former session's nothing is
    /// remembered.
    #[inline]
    pub(super) fn may_be_called_off(&self, offer: &Offer, message: &Message<'_>) -> bool {
        !self.links.safe_invalidate() && offer.former && matches!(message, Message::PutReq { .. })
    }

    /// The slot of a PUT_REQ of a peer, by its sender's transfer. A peer has no more slots than twice its credits
    /// (INV-14). Of another incarnation than the present one only if it is being pulled: the sender may have been
    /// taken for that one meanwhile. If not, it is ended, and the number is yet to be barred: its successor may have
    /// given the same tag to another transfer.
    fn find_cancelled(&mut self, now: Instant, id: PeerId, source: Tag) -> Option<Tag> {
        let mut slot = self.peers.get(id)?.first_cancelled();
        for _ in 0..self.slots.count() {
            let state = self.slots.get(slot)?;
            let ours = matches!(state.role, Role::RxRequest | Role::PutSink | Role::NakPut);
            let (tag, next, answers) =
                (self.slots.tag(slot), state.sequence, state.role == Role::NakPut);
            if ours && { state.remote } == source {
                let word = self.slots.word(slot);
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

    /// A peer's request has a slot.
    pub(crate) fn note_cancelled(&mut self, id: PeerId, slot: u32) {
        let (Some(peer), Some(state)) = (self.peers.get_mut(id), self.slots.get_mut(slot)) else {
            return;
        };
        state.sequence = peer.first_cancelled();
        peer.set_first_cancelled(slot);
    }

    /// A peer's request has ended. Bounded as [`find_cancelled`](Self::find_cancelled) is.
    pub(crate) fn forget_cancelled(&mut self, id: PeerId, slot: u32) {
        let next = self.slots.get(slot).map_or(NONE, |state| state.sequence);
        let Some(peer) = self.peers.get_mut(id) else { return };
        let mut at = peer.first_cancelled();
        if at == slot {
            peer.set_first_cancelled(next);
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
