// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Reconnecting (R68): one attempt for each peer interface, back-off with jitter, a budget over
//! all, and a negative cache of nodes that refuse connections.

use crate::backoff::{Backoff, BACKOFF_LANES};
use crate::jitter::Jitter;
use crate::recovery::Due;
use lnd_core::lanes::{Lanes, Timer};
use lnd_core::time::{Instant, Span};

/// Settings of reconnecting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReconnectSettings {
    /// Delays between attempts.
    pub backoff: Backoff,
    /// How long a refused connection is remembered: until then, messages are refused at once.
    pub negative: Span,
    /// Most attempts under way at once, over all peers. At least 1.
    pub at_once: u16,
    /// How long an attempt may take: an attempt without a reported end by then has failed. At least
    /// 1 ms.
    pub bound: Span,
}

/// The end of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Connected {
    /// It is connected.
    Yes,
    /// It failed: try again, later each time.
    No,
    /// The far node is up and refuses connections (`ECONNREFUSED`).
    NobodyListens,
}

/// The state of the connection to a peer's interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Connectivity {
    /// Nothing blocks sending.
    Up,
    /// Attempts are made: messages wait for them.
    Trying,
    /// The node refuses connections, until then: messages are refused at once.
    Refused(Instant),
}

/// One interface's state; the caller's table of them is the memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Attempt {
    /// Connected, or not needed.
    #[default]
    None,
    /// Waits for its next attempt.
    Waiting,
    /// An attempt is under way; there is no second one.
    UnderWay,
    /// The node refused the connection.
    Refused,
}

/// The lane of refused connections, after those of the back-off.
const NEGATIVE: usize = BACKOFF_LANES;
/// The lane of attempts under way; due when their ends are overdue.
const UNDER_WAY: usize = BACKOFF_LANES + 1;
const OVERDUE: u64 = 1 << UNDER_WAY;

/// All attempts, over peer interfaces named by index. A timer's count is that of consecutive
/// failures; its word identifies the attempt.
#[derive(Debug)]
pub struct Reconnect<'m> {
    lanes: Lanes<'m, { BACKOFF_LANES + 2 }>,
    attempts: &'m mut [Attempt],
    settings: ReconnectSettings,
    under_way: u16,
    untold: u64,
}

impl<'m> Reconnect<'m> {
    /// Nothing to reconnect. `timers` are all [`Timer::UNARMED`], `attempts` all [`Attempt::None`].
    pub(crate) fn new(
        timers: &'m mut [Timer],
        attempts: &'m mut [Attempt],
        settings: ReconnectSettings,
    ) -> Self {
        Self { lanes: Lanes::new(timers), attempts, settings, under_way: 0, untold: 0 }
    }

    /// Attempts under way.
    pub const fn under_way(&self) -> u16 {
        self.under_way
    }

    /// Interfaces that wait for an attempt.
    pub const fn waiting(&self) -> u32 {
        self.lanes.len().saturating_sub(self.under_way as u32)
    }

    /// Attempts without a reported end within their bound.
    pub const fn untold(&self) -> u64 {
        self.untold
    }

    /// The state of a connection.
    pub(crate) fn connection(&self, index: u32) -> Connectivity {
        match self.attempt(index) {
            Attempt::None => Connectivity::Up,
            Attempt::Waiting | Attempt::UnderWay => Connectivity::Trying,
            Attempt::Refused => {
                Connectivity::Refused(self.lanes.due(index).unwrap_or(Instant::NEVER))
            }
        }
    }

    /// The connection was lost. No effect if attempts are already made.
    pub(crate) fn lost(&mut self, now: Instant, jitter: &mut Jitter, index: u32) {
        if self.attempt(index) == Attempt::None {
            self.wait(now, jitter, index, 0);
        }
    }

    /// A connection exists, or is no longer needed. The end of an attempt under way is stale.
    pub(crate) fn settled(&mut self, index: u32) {
        if self.attempt(index) == Attempt::UnderWay {
            self.under_way = self.under_way.saturating_sub(1);
        }
        self.lanes.disarm(index);
        if let Some(timer) = self.lanes.timer_mut(index) {
            timer.own.word = timer.own.word.wrapping_add(1);
            timer.own.count = 0;
        }
        self.set(index, Attempt::None);
    }

    /// When the next attempt is due, or the end of one is overdue. While the limit of concurrent
    /// attempts is reached, no other is due.
    pub(crate) fn next(&self) -> Option<Instant> {
        let full = self.under_way >= self.settings.at_once;
        self.lanes.next_of(if full { OVERDUE } else { u64::MAX }).map(|(due, _)| due)
    }

    /// Ends one attempt whose end is overdue at `now`, as a failure: its place is free, and a later
    /// report of it is stale. Returns whether there was one.
    pub(crate) fn expire(&mut self, now: Instant, jitter: &mut Jitter) -> bool {
        let Some(index) = self.lanes.expire_of(OVERDUE, now) else { return false };
        let Some(timer) = self.lanes.timer_mut(index) else { return false };
        timer.own.word = timer.own.word.wrapping_add(1);
        let count = timer.own.count.saturating_add(1);
        self.under_way = self.under_way.saturating_sub(1);
        self.untold = self.untold.wrapping_add(1);
        self.wait(now, jitter, index, count);
        true
    }

    /// One attempt that is due at `now`. [`end`](Self::end), [`settled`](Self::settled) or
    /// [`expire`](Self::expire) ends it.
    pub(crate) fn take_due(&mut self, now: Instant) -> Option<Due> {
        if self.under_way >= self.settings.at_once {
            return None;
        }
        let index = self.lanes.expire_of(!OVERDUE, now)?;
        let timer = self.lanes.timer_mut(index)?;
        timer.own.word = timer.own.word.wrapping_add(1);
        let generation = timer.own.word;
        self.set(index, Attempt::UnderWay);
        self.under_way = self.under_way.saturating_add(1);
        self.lanes.arm(index, UNDER_WAY, now.after(self.settings.bound));
        Some(Due { index, generation })
    }

    /// Reports the end of an attempt. Returns `false` if it is stale.
    pub(crate) fn end(
        &mut self,
        now: Instant,
        jitter: &mut Jitter,
        due: Due,
        how: Connected,
    ) -> bool {
        let Due { index, generation } = due;
        let Some(timer) = self.lanes.timer_mut(index).filter(|t| t.own.word == generation) else {
            return false;
        };
        let count = timer.own.count.saturating_add(1);
        if self.attempt(index) != Attempt::UnderWay {
            return false;
        }
        match how {
            Connected::Yes => self.settled(index),
            Connected::No => {
                self.under_way = self.under_way.saturating_sub(1);
                self.wait(now, jitter, index, count);
            }
            Connected::NobodyListens => {
                self.under_way = self.under_way.saturating_sub(1);
                self.set(index, Attempt::Refused);
                self.lanes.arm(index, NEGATIVE, now.after(self.settings.negative));
            }
        }
        true
    }

    fn attempt(&self, index: u32) -> Attempt {
        self.attempts.get(index as usize).copied().unwrap_or_default()
    }

    fn set(&mut self, index: u32, attempt: Attempt) {
        if let Some(place) = self.attempts.get_mut(index as usize) {
            *place = attempt;
        }
    }

    fn wait(&mut self, now: Instant, jitter: &mut Jitter, index: u32, count: u8) {
        if let Some(timer) = self.lanes.timer_mut(index) {
            timer.own.count = count;
        }
        self.set(index, Attempt::Waiting);
        self.settings.backoff.arm(&mut self.lanes, jitter, now, index, count);
    }
}

#[cfg(test)]
#[path = "reconnect_tests.rs"]
mod tests;
