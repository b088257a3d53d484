// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file limits how many pulls from one peer are under way at once (S3-12, R25).
//!
//! A pull uses one of its peer's `pulls` before its descriptor is posted, and returns it with its
//! report: by then its descriptor is back, whatever ended it. A pull that finds none left waits in
//! a queue of its peer. It may be a PUT of the peer, of which nothing is posted yet (`Queued`). Or
//! it is a GET of ours with its PULL_READY: that is `Live` and owes `HW`, and the queue holds its
//! `CPU`. Nothing that a pull waits for waits for a pull (INV-11).

use super::gate::PostFrom;
use crate::base::counters::Counter;
use crate::base::id::{LinkId, PeerId, Tag};
use crate::base::time::Instant;
use crate::machines::transfer::{Cause, Phase, Word};
use crate::peers::{Peer, Wants};
use crate::ports::Ports;
use crate::shard::Driver;
use crate::slots::Flags;
#[cfg(not(feature = "compact"))]
use crate::slots::Role;

impl<P: Ports> Driver<'_, P> {
    /// Starts a pull, or queues it behind those of its peer that are under way.
    pub(crate) fn pull(
        &mut self,
        now: Instant,
        tag: Tag,
        id: PeerId,
        link: LinkId,
        from: PostFrom<'_>,
    ) {
        if self.begin_pull(tag, id) {
            self.post(now, tag, id, link, from);
        } else {
            self.queue_pull(now, tag, id);
        }
    }

    /// Starts the pull of a PUT that was just claimed, or queues it.
    #[cfg_attr(not(feature = "compact"), inline(always))]
    pub(crate) fn pull_claimed(&mut self, now: Instant, tag: Tag, id: PeerId, link: LinkId) {
        if self.begin_pull(tag, id) {
            #[cfg(not(feature = "compact"))]
            self.post_claimed(now, tag, id, link, Role::PutSink, &[]);
            #[cfg(feature = "compact")]
            self.post(now, tag, id, link, PostFrom::Claim(&[]));
            return;
        }
        // A queued pull must be visible to cancellations and to the sweep.
        self.slots.publish(tag, Word::queued(tag.generation));
        self.queue_pull(now, tag, id);
    }

    /// Takes one of the peer's pulls, if one is left and no other pull waits for it.
    #[cfg_attr(not(feature = "compact"), inline(always))]
    fn begin_pull(&mut self, tag: Tag, id: PeerId) -> bool {
        // A pull may not overtake those that wait, even if there is room.
        let may = |peer: &Peer| peer.pulls < self.config.pulls && peer.pull_queue.is_empty();
        if !self.peers.get(id).is_some_and(may) {
            return false;
        }
        self.count_pull(tag, id);
        true
    }

    /// Counts a pull among those that are under way.
    #[cfg_attr(not(feature = "compact"), inline(always))]
    fn count_pull(&mut self, tag: Tag, id: PeerId) {
        if let Some(peer) = self.peers.get_mut(id) {
            peer.pulls = peer.pulls.saturating_add(1);
        }
        if let Some(state) = self.slots.get_mut(tag.index) {
            state.flags.insert(Flags::PULLING);
        }
    }

    /// Queues a pull behind those of its peer.
    #[inline(never)]
    fn queue_pull(&mut self, now: Instant, tag: Tag, id: PeerId) {
        let Some(peer) = self.peers.get_mut(id) else { return };
        peer.pull_queue.push(&mut self.slots, tag.index);
        self.counters.count(Counter::PullsWaited);
        // The gates may have closed before the pull was queued. The sweep that belongs to that may
        // have passed already, so the check is repeated here.
        if let Some(cause) = self.pull_is_blocked(tag.index) {
            self.cancel(now, tag, cause);
        }
    }

    /// Starts the next waiting pull, if one may start. Late pulls end on the way, up to `batch` of
    /// them.
    pub(crate) fn next_pull(&mut self, now: Instant, id: PeerId) {
        for _ in 0..self.config.batch {
            let Some(peer) = self.peers.get(id) else { return };
            if peer.pull_queue.is_empty() || peer.pulls >= self.config.pulls {
                return;
            }
            let tag = self.slots.tag(peer.pull_queue.first());
            if self.end_if_late(now, tag) || self.end_if_invalidating(now, tag) {
                continue;
            }
            let Some(link) = self.slots.owner(tag.index).link() else {
                self.cancel(now, tag, Cause::LinkDown);
                continue;
            };
            self.unqueue_pull(tag);
            // A `Live` pull already owes its descriptor: its answer armed it. Arming it again would
            // be a misuse.
            let live = self.slots.word(tag.index).phase() == Phase::Live;
            let from = if live { PostFrom::Answer } else { PostFrom::Queue };
            self.count_pull(tag, id);
            self.post(now, tag, id, link, from);
            return;
        }
        // The bound of one call is spent on late pulls. The rest follows in the next round (R64).
        self.peers.want(id, Wants::PULL);
    }
}
