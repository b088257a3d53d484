// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file handles messages of peers that answer transfers of ours.

use super::admit::Screening;
use crate::base::counters::Counter;
use crate::base::id::{LinkId, PeerId, Tag};
use crate::base::message::{Envelope, Lane, Message, NakReason, PullReady};
use crate::base::time::Instant;
use crate::machines::peer::HelloEvent;
use crate::machines::transfer::{Cause, Debts, Effect, Event};
use crate::peers::PeerFlags;
use crate::ports::{Engine, Ports};
use crate::shard::Driver;
use crate::slots::{Flags, Role, SlotState};
use crate::tx::PostFrom;

impl<P: Ports> Driver<'_, P> {
    /// Handles the control layer's one message: the peer has staged, and our pull may start (S3-7).
    /// No third message follows: where pulling is natural, that saves a latency (S3-13). Takes
    /// constant time, no slot and no upper layer (INV-8).
    pub fn on_pull_ready(
        &mut self,
        now: Instant,
        link: LinkId,
        from: &Envelope,
        it: &PullReady<'_>,
    ) {
        self.note_work();
        if !self.listens_to(link, from) {
            return;
        }
        match self.admitted(now, from, Lane::Control) {
            Screening::From(id) => {
                self.pull_ready(now, link, id, it);
                self.settle_credits(now, id, from);
            }
            Screening::Closed(_) | Screening::Parked | Screening::Dropped => {
                self.correct_sender(now, from, None)
            }
        }
    }

    pub(crate) fn pull_ready(
        &mut self,
        now: Instant,
        link: LinkId,
        id: PeerId,
        it: &PullReady<'_>,
    ) {
        // The sink keeps the link of its request. Another link's engine has no access to what this
        // peer has staged.
        let here = self.slots.owner(it.sink.index).link() == Some(link);
        let fits = here && self.is_with(it.sink, id);
        let awaited = self.answer_to(it.sink, fits, |role| role == Role::GetSink);
        let room = match awaited.map(|state| state.length) {
            Some(room) => room,
            None if self.slots.is_current(it.sink) => return,
            None => return self.refuse_pull(now, link, id, it.source),
        };
        // The answer may come before `on_time` is called for the present time. A late transfer must
        // not start to pull (INV-9).
        if self.end_if_late(now, it.sink)
            || self.apply(now, it.sink, Event::Accepted) != Some(Effect::StartPull)
        {
            return self.refuse_pull(now, link, id, it.source);
        }
        let signalled = self.peers.get(id).is_some_and(|peer| peer.is(PeerFlags::SIGNALLED));
        // The role changes only after the step. If another context has cancelled the transfer, it
        // stays a request.
        if let Some(state) = self.slots.get_mut(it.sink.index) {
            state.role = Role::GetPull;
            state.remote = it.source;
            state.length = it.length;
            state.flags.set(Flags::OWES_DONE, !signalled);
        }
        self.keep_key(it.sink, it.key);
        if it.length > room {
            // LNet would assert here (H16). The pull is refused instead, and the report returns the
            // peer's buffers.
            self.counters.count(Counter::Protocol);
            let _ = self.apply(now, it.sink, Event::Withdraw(Debts::HW, Cause::Protocol));
            let _ = self.apply(now, it.sink, Event::PayCpu);
            return;
        }
        self.pull(now, it.sink, id, link, PostFrom::Answer);
    }

    /// The GET has ended before its PULL_READY came. The peer's memory and slot would wait for the
    /// peer's own deadline, and enough of them keep further requests of ours out. The message may
    /// be a repetition that comes after a pull, so the refusal proves nothing. It takes no slot
    /// (INV-8): if it finds no room, the peer's deadline ends the wait.
    #[cold]
    #[inline(never)]
    fn refuse_pull(&mut self, now: Instant, link: LinkId, id: PeerId, source: Tag) {
        let why = NakReason::Failed;
        self.send_control(now, id, Some(link), &Message::PutNak { source, why });
    }

    pub(crate) fn on_answer(
        &mut self,
        now: Instant,
        id: PeerId,
        from: &Envelope,
        message: &Message<'_>,
    ) {
        let (tag, event) = match *message {
            Message::PutNak { source, .. } => (source, Event::Refused),
            Message::PutDone { source, failed: None } => (source, Event::Done),
            Message::PutDone { source, failed: Some(_) } => (source, Event::Refused),
            Message::GetNak { sink, .. } => (sink, Event::Refused),
            Message::GetDone { sink, failed: None, .. } => (sink, Event::Done),
            Message::GetDone { sink, failed: Some(_), .. } => (sink, Event::Refused),
            Message::Close => {
                if let Some(peer) = self.peers.get_mut(id) {
                    peer.note_goodbye(from);
                }
                self.hello_event(now, id, HelloEvent::Closed);
                return;
            }
            _ => return,
        };
        let ours = self.is_with(tag, id);
        let get = matches!(message, Message::GetNak { .. });
        let pushed = P::Engine::PUSHES && matches!(message, Message::GetDone { .. });
        let of_role = |role: Role| match role {
            Role::PushSink => get || pushed,
            Role::GetSink | Role::GetPull => get,
            _ => !get && !matches!(message, Message::GetDone { .. }) && role.stages(),
        };
        match self.answer_to(tag, ours, of_role) {
            // The sender does not know that its PULL_READY has arrived. Our pull shows the end.
            Some(state) if state.role == Role::GetPull => return,
            Some(_) => {}
            None => return,
        }
        if P::Engine::PUSHES && !self.note_pushed(now, tag, message) {
            return;
        }
        if let Message::PutDone { failed: None, .. } = message {
            if let Some(state) = self.slots.get_mut(tag.index) {
                state.flags.remove(Flags::OWES_DONE);
            }
        }
        // Any of these answers ends the peer's pull or push. A refusal other than a failure proves
        // that it never began (S0-17).
        let refused = match message {
            Message::PutNak { why, .. } | Message::GetNak { why, .. } => *why != NakReason::Failed,
            _ => false,
        };
        self.let_go(tag.index, !refused);
        match self.apply(now, tag, event) {
            // A PUT_DONE or a refusal ends the wait for the peer, and the descriptor is
            // invalidated.
            Some(Effect::Invalidate) => self.invalidate(now, tag),
            // Only the descriptor or the message is outstanding. Its wait is bounded from now on.
            Some(Effect::None) => self.await_drain(now, tag),
            _ => {}
        }
        self.invalidate_let_go(now, tag);
    }

    /// Notes how much the peer has pushed, if the message says so. `false`: more than there is room
    /// for, and the transfer is given up.
    fn note_pushed(&mut self, now: Instant, tag: Tag, message: &Message<'_>) -> bool {
        let Message::GetDone { length, failed, .. } = *message else { return true };
        let Some(state) = self.slots.get_mut(tag.index) else { return false };
        if length <= state.length {
            // A repetition must not change the length that the report gives.
            if failed.is_none() && state.flags.contains(Flags::OWES_DONE) {
                state.flags.remove(Flags::OWES_DONE);
                state.length = length;
            }
            return true;
        }
        // The engine has bounded the push by the key. What the peer reports is a protocol error.
        self.counters.count(Counter::Protocol);
        self.let_go(tag.index, true);
        self.cancel(now, tag, Cause::Protocol);
        self.invalidate_let_go(now, tag);
        false
    }

    /// The transfer that an answer names. Each mismatch is counted (R31, H8, H16).
    fn answer_to(
        &mut self,
        tag: Tag,
        from_its_peer: bool,
        of_role: impl Fn(Role) -> bool,
    ) -> Option<&SlotState> {
        let current = self.slots.is_current(tag);
        let Some(state) = self.slots.get(tag.index).filter(|_| current) else {
            self.counters.count(Counter::StaleAnswer);
            return None;
        };
        if !from_its_peer || !of_role(state.role) {
            self.counters.count(Counter::WrongAnswer);
            return None;
        }
        Some(state)
    }
}
