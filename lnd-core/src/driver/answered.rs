// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Messages of peers that answer transfers of ours.

use super::details::{Details, Marks, Role};
use super::handout::From;
use super::inbound::Heard;
use super::Driver;
use crate::counters::Counter;
use crate::defect::seeded;
use crate::id::{LinkId, PeerId, Tag};
use crate::message::{Envelope, Lane, Message, PullReady};
use crate::peer::HelloEvent;
use crate::ports::Ports;
use crate::time::Instant;
use crate::transfer::{Cause, Debts, Effect, Event};

impl<P: Ports> Driver<'_, P> {
    /// The control layer's one message: the peer has staged, our pull may start (S3-7). No third
    /// message follows: where pulling is natural it saves a latency (S3-13). Constant
    /// time, no slot, no upper layer (INV-8).
    pub fn on_pull_ready(&mut self, now: Instant, link: LinkId, from: &Envelope, it: &PullReady) {
        if !self.listens_to(link, from) {
            return;
        }
        match self.admitted(now, from, Lane::Control) {
            Heard::From(id) => {
                self.pull_ready(now, link, id, it);
                self.settle_credits(now, id, from);
            }
            Heard::Closed(_) | Heard::Parked | Heard::Dropped => self.set_right(now, from, None),
        }
    }

    pub(super) fn pull_ready(&mut self, now: Instant, link: LinkId, id: PeerId, it: &PullReady) {
        if seeded("pull-ready-walks-the-table") {
            (0..self.config.slots).for_each(|slot| _ = self.shared.word(slot));
        }
        let here = self.shared.whose(it.sink.index).link() == Some(link);
        let fits = here && self.is_with(it.sink, id);
        let Some(details) = self.answer_to(it.sink, fits, |role| role == Role::GetSink) else {
            return;
        };
        let room = details.length;
        if self.end_if_late(now, it.sink) {
            return;
        }
        if self.apply(now, it.sink, Event::Accepted) != Some(Effect::StartPull) {
            return;
        }
        let signalled = self.signalled(id);
        if let Some(details) = self.details.get_mut(it.sink.index as usize) {
            details.role = Role::GetPull;
            details.remote = it.source;
            details.length = it.length;
            details.marks.set(Marks::OWES_DONE, !signalled || seeded("done-after-every-get"));
        }
        if it.length > room && !seeded("length-unchecked") {
            // LNet would assert here (H16): we refuse; the report lets the peer have its buffers
            // back.
            self.counters.count(Counter::Protocol);
            let _ = self.apply(now, it.sink, Event::Withdraw(Debts::HW, Cause::Protocol));
            let _ = self.apply(now, it.sink, Event::PayCpu);
            return;
        }
        self.pull(now, it.sink, link, From::Answer);
    }

    pub(super) fn on_answer(&mut self, now: Instant, id: PeerId, message: &Message<'_>) {
        let (tag, event) = match *message {
            Message::PutNak { source, .. } => (source, Event::Refused),
            Message::PutDone { source, failed: None } => (source, Event::Done),
            Message::PutDone { source, failed: Some(_) } => (source, Event::Refused),
            Message::GetNak { sink, .. } => (sink, Event::Refused),
            Message::Close => {
                if let Some(peer) = self.peers.get_mut(id) {
                    peer.closed = peer.life;
                }
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

    /// A transfer that an answer is for; each mismatch is counted (R31, H8, H16).
    fn answer_to(
        &mut self,
        tag: Tag,
        from_its_peer: bool,
        of_role: impl Fn(Role) -> bool,
    ) -> Option<&Details> {
        let word = self.shared.word(tag.index);
        let stale = self.shared.tag(tag.index) != tag || !word.is_of(tag.generation);
        if stale && !seeded("answer-without-generation") {
            self.counters.count(Counter::StaleAnswer);
            return None;
        }
        let details = self.details.get(tag.index as usize)?;
        let from_its_peer = from_its_peer || seeded("answer-of-any-peer");
        if !from_its_peer || !of_role(details.role) {
            self.counters.count(Counter::WrongAnswer);
            return None;
        }
        Some(details)
    }

    /// Whether a transfer is with the present life of a peer.
    pub(super) fn is_with(&self, tag: Tag, id: PeerId) -> bool {
        let whose = self.shared.whose(tag.index);
        let life = self.shared.peer_gate(id.index()).map(|g| g.view().life());
        whose.peer_index() as usize == id.index()
            && (life == Some(whose.life()) || seeded("answer-without-life"))
    }
}
