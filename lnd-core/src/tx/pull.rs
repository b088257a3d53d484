// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Pull credits: how many pulls from one peer are under way at once (S3-12, R25).
//!
//! A pull takes one of its peer's `pulls` before its descriptor is posted, and gives it back when it is
//! reported: whatever ends it, its descriptor has returned by then. One that finds none left waits in a
//! queue of its peer. It may be a PUT of the peer that we have taken, of which nothing is posted yet
//! (`Queued`), or a GET of ours whose PULL_READY has come: that is `Live` and owes `HW`, and the queue
//! holds its `CPU`. Nothing that a pull waits for waits for a pull (INV-11).

use super::gate::From;
use crate::base::counters::Counter;
use crate::base::id::{LinkId, PeerId, Tag};
use crate::base::time::Instant;
use crate::machines::transfer::{Cause, Phase, Word};
use crate::peers::Wants;
use crate::ports::Ports;
use crate::shard::Driver;
use crate::slots::Flags;

impl<P: Ports> Driver<'_, P> {
    /// Starts a pull, or has it wait behind those of its peer that are under way.
    pub(crate) fn pull(
        &mut self,
        now: Instant,
        tag: Tag,
        id: PeerId,
        link: LinkId,
        from: From<'_>,
    ) {
        let Some(peer) = self.peers.get_mut(id) else { return };
        let room = peer.pulls < self.config.pulls;
        if room && peer.pull_queue.is_empty() {
            self.start_pull(now, id, tag, link, from);
            return;
        }
        if matches!(from, From::Claim(_)) {
            self.slots.publish(tag, Word::queued(tag.generation));
        }
        peer.pulls_waiting = peer.pulls_waiting.saturating_add(1);
        peer.pull_queue.push(&mut self.slots, tag.index);
        self.counters.count(Counter::PullsWaited);
        if let Some(cause) = self.pull_is_blocked(tag.index) {
            self.cancel(now, tag, cause);
        }
    }

    fn start_pull(&mut self, now: Instant, id: PeerId, tag: Tag, link: LinkId, from: From<'_>) {
        if let Some(peer) = self.peers.get_mut(id) {
            peer.pulls = peer.pulls.saturating_add(1);
        }
        if let Some(state) = self.slots.get_mut(tag.index) {
            state.flags.insert(Flags::PULLING);
        }
        self.post(now, tag, id, link, from);
    }

    /// Starts the next pull that waits, if one may. What is late ends on the way, up to `batch` of them.
    pub(crate) fn next_pull(&mut self, now: Instant, id: PeerId) {
        for _ in 0..self.config.batch {
            let Some(peer) = self.peers.get(id) else { return };
            if peer.pull_queue.is_empty() || peer.pulls >= self.config.pulls {
                return;
            }
            let tag = self.slots.tag(peer.pull_queue.first);
            if self.end_if_late(now, tag) || self.end_if_invalidating(now, tag) {
                continue;
            }
            let Some(link) = self.slots.owner(tag.index).link() else {
                self.cancel(now, tag, Cause::LinkDown);
                continue;
            };
            self.unqueue_pull(tag);
            let live = self.slots.word(tag.index).phase() == Phase::Live;
            let from = if live { From::Answer } else { From::Queue };
            self.start_pull(now, id, tag, link, from);
            return;
        }
        self.peers.want(id, Wants::PULL);
    }
}
