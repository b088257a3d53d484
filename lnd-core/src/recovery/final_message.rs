// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file keeps final messages that wait: a PUT_DONE, PUT_NAK, GET_NAK or GET_DONE that finds no
//! path to its peer, or no room.
//!
//! The transfer is already reported. The message takes the place of the transfer and waits with the
//! other answers. So it always finds a slot, and no other transfer loses one by it (INV-14). Its
//! time is limited: the slot is missing where other peers send requests.

use crate::base::counters::Counter;
use crate::base::id::PeerId;
use crate::base::message::Message;
use crate::base::time::{Instant, Span};
use crate::machines::transfer::Word;
use crate::ports::{Engine, Ports};
use crate::shard::{Driver, RunState};
use crate::slots::shared::Owner;
use crate::slots::{New, Role};

/// The longest wait of a final message. Its slot is missing where other peers send requests, and
/// these wait as long at most, however many peers take no messages (INV-11).
const BOUND: Span = Span::from_secs(30);

impl<P: Ports> Driver<'_, P> {
    /// The time for which a final message waits: no longer than a peer's request for a decision.
    pub(super) fn final_bound(&self) -> Span {
        self.config.decision_bound.min(BOUND)
    }

    /// A final message waits from now on.
    #[inline(never)]
    pub(crate) fn arm_final(&mut self, now: Instant, slot: u32) {
        self.slots.arm(slot, now.after(self.final_bound()));
    }

    /// Keeps a final message that was not sent. The slot of its transfer was freed just now.
    /// `passive`: that slot was one of those of the peer's requests.
    #[cold]
    #[inline(never)]
    pub(super) fn keep_final(
        &mut self,
        now: Instant,
        peer: PeerId,
        owner: Owner,
        passive: bool,
        message: &Message<'_>,
    ) {
        // Only these end a transfer at the other side. Any other message is repeated by its
        // own timer.
        let (role, remote, why) = match *message {
            Message::PutDone { source, failed } => (Role::PutDone, source, failed),
            Message::PutNak { source, why } => (Role::NakPut, source, Some(why)),
            Message::GetNak { sink, why } => (Role::NakGet, sink, Some(why)),
            Message::GetDone { sink, failed, .. } if P::Engine::PUSHES => {
                (Role::GetDone, sink, failed)
            }
            _ => return,
        };
        let length = message.length();
        let link = None;
        let new = New { role, fragments: &[], length, user: 0, link, remote, session: 0, passive };
        // A shutdown waits for room while it has time. For a path it waits no longer than a call.
        // What is lost is counted, and the other side ends by its deadline.
        let waits = matches!(self.run.state(), RunState::Running | RunState::Refusing);
        let tag = if waits { self.claim(peer, owner.link(), &new).ok() } else { None };
        let Some(tag) = tag else {
            self.counters.count(Counter::Unsaid);
            return;
        };
        self.counters.count(Counter::FinalsWaited);
        self.slots.answer(tag.index, role, why);
        self.slots.publish(tag, Word::queued(tag.generation));
        self.arm_final(now, tag.index);
        self.replies.push(&mut self.slots, tag.index);
    }
}
