// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Pull credits: how many pulls from one peer are under way at once (S3-12, R25).
//!
//! A pull takes one of its peer's `pulls` before its descriptor is posted, and gives it back when it is
//! reported: whatever ends it, its descriptor has returned by then. One that finds none left waits in a
//! queue of its peer. It may be a PUT of the peer that we have taken, of which nothing is handed out yet
//! (`Queued`), or a GET of ours whose PULL_READY has come: that is `Live` and owes `HW`, and the queue
//! holds its `CPU`. Nothing that a pull waits for waits for a pull (INV-11).

use super::details::{Marks, Role};
use super::handout::From;
use super::peer::Wants;
use super::Driver;
use crate::counters::Counter;
use crate::defect::seeded;
use crate::id::{LinkId, PeerId, Tag};
use crate::ports::Ports;
use crate::time::Instant;
use crate::transfer::{Cause, Debts, Effect, Event, Phase};

impl<P: Ports> Driver<'_, P> {
    /// Starts a pull, or has it wait behind those of its peer that are under way.
    pub(super) fn pull(&mut self, now: Instant, tag: Tag, link: LinkId, from: From) {
        let id = self.peer_of(tag.index);
        let Some(peer) = self.peers.get_mut(id) else { return };
        let room = peer.pulls < self.config.pulls || seeded("pulls-without-bound");
        if room && peer.pull_queue.is_empty() {
            self.start_pull(now, id, tag, link, from);
            return;
        }
        peer.pulls_waiting = peer.pulls_waiting.saturating_add(1);
        peer.pull_queue.push(self.details, tag.index);
        self.counters.count(Counter::PullsWaited);
        if let Some(cause) = self.pull_in_vain(tag.index) {
            self.cancel(now, tag, cause);
        }
    }

    fn start_pull(&mut self, now: Instant, id: PeerId, tag: Tag, link: LinkId, from: From) {
        if let Some(peer) = self.peers.get_mut(id) {
            peer.pulls = peer.pulls.saturating_add(1);
        }
        if let Some(details) = self.details.get_mut(tag.index as usize) {
            details.marks.insert(Marks::PULLING);
        }
        self.hand_out(now, tag, link, from);
    }

    /// A pull has ended: the next one that waits may start.
    pub(super) fn pull_ended(&mut self, now: Instant, id: PeerId) {
        if let Some(peer) = self.peers.get_mut(id) {
            peer.pulls = peer.pulls.saturating_sub(1);
        }
        self.next_pull(now, id);
    }

    /// Starts the next pull that waits, if one may. What is late ends on the way, up to `batch` of them.
    pub(super) fn next_pull(&mut self, now: Instant, id: PeerId) {
        for _ in 0..self.config.batch {
            let Some(peer) = self.peers.get(id) else { return };
            if peer.pull_queue.is_empty() || peer.pulls >= self.config.pulls {
                return;
            }
            let tag = self.shared.tag(peer.pull_queue.first);
            if self.end_if_late(now, tag) || self.end_if_asked(now, tag) {
                continue;
            }
            let Some(link) = self.shared.whose(tag.index).link() else {
                self.cancel(now, tag, Cause::LinkDown);
                continue;
            };
            self.unqueue_pull(tag);
            let live = self.shared.word(tag.index).phase() == Phase::Live;
            let from = if live { From::Answer } else { From::Queue };
            self.start_pull(now, id, tag, link, from);
            return;
        }
        self.peers.want(id, Wants::PULL);
    }

    /// Gives up a waiting pull whose request has failed meanwhile: another context has cancelled it.
    pub(super) fn end_if_asked(&mut self, now: Instant, tag: Tag) -> bool {
        let word = self.shared.word(tag.index);
        match word.cause().filter(|_| word.asked()) {
            Some(cause) => self.give_up_pull(now, tag, cause),
            None => false,
        }
    }

    /// Takes a pull out of its peer's queue.
    pub(super) fn unqueue_pull(&mut self, tag: Tag) {
        let id = self.peer_of(tag.index);
        if let Some(peer) = self.peers.get_mut(id) {
            peer.pull_queue.remove(self.details, tag.index);
            peer.pulls_waiting = peer.pulls_waiting.saturating_sub(1);
        }
    }

    /// Why a pull that waits will never start: its link is closed, or its peer has begun another
    /// incarnation. It ends at once, not behind those in front of it.
    pub(super) fn pull_in_vain(&self, slot: u32) -> Option<Cause> {
        let details = self.details.get(slot as usize)?;
        if !details.marks.contains(Marks::QUEUED) || !details.role.pulls() {
            return None;
        }
        let whose = self.shared.whose(slot);
        let open =
            whose.link().and_then(|link| self.shared.link(link)).is_some_and(|g| g.is_open());
        if !open {
            return Some(Cause::LinkDown);
        }
        let gate = self.shared.peer_gate(whose.peer_index() as usize)?;
        (gate.view().life() != whose.life()).then_some(Cause::PeerRestarted)
    }

    /// Gives up a pull that is `Live`, was cancelled, and waits: nothing was posted. Returns whether it
    /// was such a one.
    pub(super) fn give_up_pull(&mut self, now: Instant, tag: Tag, cause: Cause) -> bool {
        let waits = self.details.get(tag.index as usize).is_some_and(|details| {
            details.marks.contains(Marks::QUEUED) && details.role == Role::GetPull
        });
        if !waits || seeded("waiting-pull-kept") {
            return false;
        }
        self.unqueue_pull(tag);
        let _ = self.apply(now, tag, Event::Withdraw(Debts::HW, cause));
        if self.apply(now, tag, Event::PayCpu) != Some(Effect::Finalize) {
            // The end of its request is still to come.
            self.await_drain(now, tag);
        }
        true
    }
}
