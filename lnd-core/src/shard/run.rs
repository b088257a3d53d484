// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! How far a shutdown has come (INV-15, R66).

use crate::base::time::Instant;

/// How far a shutdown has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RunState {
    /// In service.
    Running,
    /// New work is refused; what is under way may end by itself until the grace is over.
    Refusing,
    /// Everything left is cancelled.
    Draining,
    /// Peers are told goodbye.
    Closing,
    /// Engines are being stopped.
    Stopping,
    /// Nothing moves and nothing is owed: memory may go.
    Quiescent,
}

/// The shutdown's own state.
#[derive(Debug, Hash)]
pub(crate) struct Run {
    state: RunState,
    grace: Instant,
    /// The next peer to say goodbye to.
    at: u32,
}

impl Run {
    pub const fn new() -> Self {
        Self { state: RunState::Running, grace: Instant::NEVER, at: 0 }
    }

    pub const fn state(&self) -> RunState {
        self.state
    }

    /// Whether goodbyes are being said or have been: no message counts any more, and no link comes
    /// back.
    pub const fn is_over(&self) -> bool {
        matches!(self.state, RunState::Closing | RunState::Stopping | RunState::Quiescent)
    }

    /// When the grace ends, while it lasts.
    pub fn grace(&self) -> Option<Instant> {
        (self.state == RunState::Refusing && self.grace != Instant::NEVER).then_some(self.grace)
    }

    /// Goes on to the next state.
    pub fn enter(&mut self, state: RunState) {
        self.state = state;
    }

    /// Begins to refuse new work; what has not ended by `grace`, or an earlier one, will be cancelled.
    pub fn refuse(&mut self, grace: Instant) {
        if self.state == RunState::Running {
            self.state = RunState::Refusing;
        }
        self.grace = self.grace.min(grace);
    }

    /// Whether the grace is over, at `now`, and what is left is to be cancelled.
    pub fn grace_is_over(&self, now: Instant) -> bool {
        self.state == RunState::Refusing && self.grace <= now
    }

    /// The place of the next peer to say goodbye to.
    pub fn next_goodbye(&mut self) -> u32 {
        let place = self.at;
        self.at += 1;
        place
    }
}
