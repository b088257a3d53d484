// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file keeps final messages that wait: a PUT_DONE, PUT_NAK, GET_NAK or GET_DONE that finds no
//! path to its peer, or no room.
//!
//! The transfer is already reported, and its slot is free. The message gets a slot of its own among
//! those of its peer's requests and waits with the other answers. Its time limit is that of a
//! request without a decision.

use crate::base::counters::Counter;
use crate::base::id::PeerId;
use crate::base::message::Message;
use crate::base::time::Instant;
use crate::machines::transfer::Word;
use crate::ports::{Engine, Ports};
use crate::shard::{Driver, RunState};
use crate::slots::shared::Owner;
use crate::slots::{New, Role};

impl<P: Ports> Driver<'_, P> {
    /// Keeps a final message that was not sent. The slot of its transfer is free again.
    #[cold]
    #[inline(never)]
    pub(super) fn keep_final(
        &mut self,
        now: Instant,
        peer: PeerId,
        owner: Owner,
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
        let new = New { role, fragments: &[], length, user: 0, link: None, remote, session: 0 };
        // No slot: the message is lost and counted. The other side ends by its deadline.
        let room = self.has_room_for_final(peer);
        let tag = if room { self.claim(peer, owner.link(), &new).ok() } else { None };
        let Some(tag) = tag else {
            self.counters.count(Counter::Unsaid);
            return;
        };
        self.counters.count(Counter::FinalsWaited);
        self.slots.answer(tag.index, role, why);
        self.slots.publish(tag, Word::queued(tag.generation));
        self.slots.arm(tag.index, now.after(self.config.decision_bound));
        self.replies.push(&mut self.slots, tag.index);
    }

    /// Whether a final message may have a slot. A peer has no more than its share.
    fn has_room_for_final(&self, peer: PeerId) -> bool {
        // Half of the slots kept for peers' requests stay with those. So requests find a slot,
        // however many final messages wait and however many transfers of ours there are (INV-11).
        // Requests in service do not count: a message that is lost costs its peer a whole deadline.
        let few = self.slots.finals() < self.config.passive_slots / 2;
        let share = self.peers.get(peer).is_some_and(|peer| peer.has_room(self.config.depth));
        share && few && self.run.state() == RunState::Running
    }
}
