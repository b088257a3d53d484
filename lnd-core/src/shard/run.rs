// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file holds the state of a shutdown (INV-15, R66).

use crate::base::time::Instant;

/// The state of a shutdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RunState {
    /// In service.
    Running,
    /// New work is refused. What is under way may end by itself until the grace is over.
    Refusing,
    /// Everything that is left is cancelled.
    Draining,
    /// Peers get goodbyes.
    Closing,
    /// Engines are being stopped.
    Stopping,
    /// Nothing moves and nothing is owed: the memory may be freed.
    Quiescent,
}

/// The shutdown's own state.
#[derive(Debug, Hash)]
pub(crate) struct Run {
    state: RunState,
    grace: Instant,
    /// The next peer that gets a goodbye.
    at: u32,
}

impl Run {
    pub const fn new() -> Self {
        Self { state: RunState::Running, grace: Instant::NEVER, at: 0 }
    }

    pub const fn state(&self) -> RunState {
        self.state
    }

    /// Whether goodbyes are being sent or were sent. From then on no message counts, and no link
    /// returns.
    pub const fn is_over(&self) -> bool {
        matches!(self.state, RunState::Closing | RunState::Stopping | RunState::Quiescent)
    }

    /// The end of the grace, while it lasts.
    pub fn grace(&self) -> Option<Instant> {
        (self.state == RunState::Refusing && self.grace != Instant::NEVER).then_some(self.grace)
    }

    /// Enters the next state.
    pub fn enter(&mut self, state: RunState) {
        self.state = state;
    }

    /// Starts to refuse new work. What has not ended by `grace`, or by an earlier one, is
    /// cancelled.
    pub fn refuse(&mut self, grace: Instant) {
        // A later call may shorten the grace and never restarts the shutdown.
        if self.state == RunState::Running {
            self.state = RunState::Refusing;
        }
        // The grace only shrinks: a second call cannot lengthen a shutdown that others wait for.
        self.grace = self.grace.min(grace);
    }

    /// Whether the grace is over at `now` and what is left is to be cancelled.
    pub fn grace_is_over(&self, now: Instant) -> bool {
        self.state == RunState::Refusing && self.grace <= now
    }

    /// The place of the next peer that gets a goodbye.
    pub fn next_goodbye(&mut self) -> u32 {
        let place = self.at;
        self.at += 1;
        place
    }
}
