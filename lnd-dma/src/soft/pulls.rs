// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The pulls under way: taken from the post ring, moved by one chunk each, reported together.

use lnd_core::defect::fenced;
use lnd_core::sync::{prefetch_for_write, Ordering, PREFETCHES};
use lnd_core::time::Instant;

use super::ends::TOGETHER;
use super::pull::{Mover, Pull};
use super::{Fabric, Faults, SoftEngine};
use crate::descriptor::{Content, Flags, State};
use crate::regs::{ErrorBits, Register, RegisterAccess};

impl<'m, F: Fabric<'m>, A: Faults> SoftEngine<'m, F, A> {
    /// Takes up to `budget` pulls from the post ring, as long as there is a place for them.
    pub(super) fn fetch_some(&mut self, now: Instant, budget: u32) {
        let tail = self.memory.read(Register::PostTail);
        if tail.wrapping_sub(self.post_head) > self.memory.ring() {
            self.error(ErrorBits::BAD_INDEX);
            return;
        }
        for _ in 0..budget {
            let Some(index) = self.next_entry(tail) else { break };
            let Some(content) = self.check(index) else {
                self.taken = None;
                continue;
            };
            let Some(free) = self.free_place() else { break };
            self.taken = None;
            self.ask_for_source(&content);
            if let Some(place) = self.pulls.get_mut(free) {
                *place = Some(Pull::new(content, now));
            }
        }
        self.progress.busy |= self.post_head != tail || self.taken.is_some();
    }

    /// The descriptor that the next entry of the post ring names. The entry is taken before the
    /// descriptor is checked; a descriptor without a place is kept. So entries of descriptors that
    /// have come back are removed even while all places are taken (LU-9943).
    fn next_entry(&mut self, tail: u32) -> Option<u32> {
        if self.taken.is_none() && self.post_head != tail {
            // Relaxed: ordered by the Acquire read of the tail.
            self.taken = Some(self.memory.post(self.post_head).load(Ordering::Relaxed));
            self.post_head = self.post_head.wrapping_add(1);
            self.memory.write(Register::PostHead, self.post_head);
        }
        let index = self.taken?;
        let out = self.memory.descriptor(index).is_some_and(|d| d.own().is(State::Owned));
        if !out {
            // Partner: the fence in the driver's `post`, which relies on an entry that it finds in
            // the ring: it sees that we have taken the entry, or we see in `check` what it has
            // posted.
            fenced("no-fence-in-fetch", Ordering::SeqCst);
        }
        Some(index)
    }

    /// Asks for the cache line of a pull's source, which the other node has written and this engine
    /// will claim. The lines of all pulls of this step come at once.
    fn ask_for_source(&self, content: &Content) {
        if !PREFETCHES {
            return;
        }
        let memory = self.fabric.memory_of(content.node, self.link);
        if let Some(source) = memory.and_then(|it| it.descriptor(content.source.index)) {
            prefetch_for_write(source);
        }
    }

    /// A place for one more pull.
    fn free_place(&mut self) -> Option<usize> {
        let used = self.pulls.len();
        let free = self.pulls.iter().position(Option::is_none);
        free.or_else(|| self.pulls.push(None).is_ok().then_some(used))
    }

    /// A posted descriptor, if it is a pull that must begin. A ring entry only means "check this
    /// descriptor": it may have been invalidated since, and be in use again, with another entry
    /// further on.
    fn check(&self, index: u32) -> Option<Content> {
        let Some(descriptor) = self.memory.descriptor(index) else {
            self.error(ErrorBits::BAD_DESCRIPTOR);
            return None;
        };
        let begun = self.pulls.iter().flatten().any(|pull| pull.index() == index);
        if begun || !descriptor.own().is(State::Owned) {
            return None;
        }
        let content = descriptor.read();
        // A descriptor of a cut connection stays where it is: the connection's stop takes it.
        if !content.flags.contains(Flags::PULL) || self.is_cut(content.node) {
            return None;
        }
        if content.tag.index != index {
            self.error(ErrorBits::BAD_DESCRIPTOR);
            return None;
        }
        Some(content)
    }

    /// Moves a chunk of every active pull. A pull that ends releases its source at once, even if
    /// our own completion ring is full: another node's link never waits for our driver (INV-11).
    /// The sources' engines are notified of short pulls together, so that the cache line of the
    /// notification changes hands once for all.
    #[inline]
    pub(super) fn pull_all(&mut self, now: Instant) {
        if !self.pulls.is_empty() {
            self.pull_each(now);
        }
    }

    fn pull_each(&mut self, now: Instant) {
        let mut notified = self.progress.bytes;
        for at in 0..self.pulls.len() {
            self.pull_one(now, at);
            if self.progress.bytes.wrapping_sub(notified) >= TOGETHER {
                notified = self.progress.bytes;
                self.end_all();
            }
        }
        self.end_all();
    }

    /// Moves a chunk of one pull in place, if it has not ended.
    fn pull_one(&mut self, now: Instant, at: usize) {
        let pull = self.pulls.get_mut(at).and_then(Option::as_mut);
        let Some(pull) = pull.filter(|pull| pull.end.is_none()) else { return };
        let mut mover = Mover {
            node: self.node,
            link: self.link,
            memory: &self.memory,
            fabric: &mut self.fabric,
            faults: &mut self.faults,
            settings: &self.settings,
            progress: &mut self.progress,
        };
        pull.end = mover.advance(now, pull);
    }
}
