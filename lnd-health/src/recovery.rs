// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The recovery queue (S4-8, S4-13, R50): an interface that has lost health is pinged until it has
//! recovered.
//!
//! Each interface is in it at most once, by construction. The n-th ping without an answer follows
//! after `2^n` s, at most the cap; an answer restarts that count (LU-15102).

use crate::backoff::{Backoff, BACKOFF_LANES};
use crate::jitter::Jitter;
use lnd_core::lanes::{Lanes, Timer};
use lnd_core::time::Instant;

/// The queue, over entries named by index. A timer's count is that of pings since the last answer.
/// Its word identifies the ping, and its flag shows that the end of the last one was not reported
/// yet.
#[derive(Debug)]
pub struct Recovery<'m> {
    lanes: Lanes<'m, { BACKOFF_LANES + 1 }>,
    backoff: Backoff,
    untold: u64,
}

/// The lane of entries that are pinged at once, after those of the back-off.
const AT_ONCE: usize = BACKOFF_LANES;

/// A ping that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Due {
    /// The entry.
    pub index: u32,
    /// Distinguishes this ping from earlier ones of the same entry.
    pub generation: u32,
}

impl<'m> Recovery<'m> {
    /// An empty queue over `timers`, all [`Timer::UNARMED`].
    pub(crate) fn new(timers: &'m mut [Timer], backoff: Backoff) -> Self {
        Self { lanes: Lanes::new(timers), backoff, untold: 0 }
    }

    /// Entries queued.
    pub const fn len(&self) -> u32 {
        self.lanes.len()
    }

    /// Whether nothing is queued.
    pub const fn is_empty(&self) -> bool {
        self.lanes.is_empty()
    }

    /// All entries (`lnetctl debug recovery` lists them).
    pub fn entries(&self) -> impl Iterator<Item = u32> + '_ {
        self.lanes.entries()
    }

    /// When the entry's next ping is due, if it is queued.
    pub fn due(&self, index: u32) -> Option<Instant> {
        self.lanes.due(index)
    }

    /// Pings sent since the last answer.
    pub fn count(&self, index: u32) -> u8 {
        self.lanes.timer(index).map_or(0, |t| t.own.count)
    }

    /// Pings without a reported end when the next one was due.
    pub const fn untold(&self) -> u64 {
        self.untold
    }

    /// Queues an entry, unless it is already queued. Returns whether it is new.
    pub(crate) fn join(&mut self, now: Instant, jitter: &mut Jitter, index: u32) -> bool {
        if self.lanes.due(index).is_some() {
            return false;
        }
        self.restart(now, jitter, index);
        true
    }

    /// A message from the entry arrived: if it is queued, its count restarts.
    pub(crate) fn heard(&mut self, now: Instant, jitter: &mut Jitter, index: u32) {
        if self.lanes.due(index).is_some() {
            self.restart(now, jitter, index);
        }
    }

    /// Removes an entry: it has recovered, or its recovery stops. Answers to its pings are stale
    /// from now on.
    pub(crate) fn leave(&mut self, index: u32) -> bool {
        if let Some(timer) = self.lanes.timer_mut(index) {
            timer.own.word = timer.own.word.wrapping_add(1);
            timer.own.flag = false;
        }
        self.lanes.disarm(index)
    }

    /// Makes a queued entry's ping due at once, and restarts its count.
    pub(crate) fn hasten(&mut self, index: u32) {
        if self.lanes.due(index).is_some() {
            if let Some(timer) = self.lanes.timer_mut(index) {
                timer.own.count = 0;
            }
            self.lanes.arm(index, AT_ONCE, Instant::ORIGIN);
        }
    }

    /// The end of an entry's last ping was reported.
    pub(crate) fn notified(&mut self, index: u32) {
        if let Some(timer) = self.lanes.timer_mut(index) {
            timer.own.flag = false;
        }
    }

    /// When the next ping is due.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.lanes.next().map(|(due, _)| due)
    }

    /// One entry whose ping is due at `now`. It stays queued, for its next ping.
    pub(crate) fn take_due(&mut self, now: Instant, jitter: &mut Jitter) -> Option<Due> {
        let index = self.lanes.expire(now)?;
        let timer = self.lanes.timer_mut(index)?;
        timer.own.count = timer.own.count.saturating_add(1);
        timer.own.word = timer.own.word.wrapping_add(1);
        let untold = core::mem::replace(&mut timer.own.flag, true);
        self.untold = self.untold.wrapping_add(u64::from(untold));
        let (count, generation) = (timer.own.count, timer.own.word);
        self.backoff.arm(&mut self.lanes, jitter, now, index, count);
        Some(Due { index, generation })
    }

    /// Postpones a ping that could not be sent, as if it had not been tried.
    pub(crate) fn put_off(&mut self, now: Instant, jitter: &mut Jitter, index: u32) {
        let count = match self.lanes.timer_mut(index) {
            Some(timer) => {
                timer.own.count = timer.own.count.saturating_sub(1);
                timer.own.flag = false;
                timer.own.count
            }
            None => return,
        };
        self.backoff.arm(&mut self.lanes, jitter, now, index, count);
    }

    /// Whether a ping is the entry's last one: an answer to an older ping is stale.
    pub(crate) fn is_current(&self, due: Due) -> bool {
        self.lanes.timer(due.index).is_some_and(|t| t.own.word == due.generation)
            && self.lanes.due(due.index).is_some()
    }

    /// Removes any one entry, for shutdown.
    pub(crate) fn drain(&mut self) -> Option<u32> {
        let (_, index) = self.lanes.next()?;
        self.leave(index);
        Some(index)
    }

    fn restart(&mut self, now: Instant, jitter: &mut Jitter, index: u32) {
        if let Some(timer) = self.lanes.timer_mut(index) {
            timer.own.count = 0;
        }
        self.backoff.arm(&mut self.lanes, jitter, now, index, 0);
    }
}

#[cfg(test)]
#[path = "recovery_tests.rs"]
mod tests;
