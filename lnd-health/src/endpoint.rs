// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! One endpoint of the prober: its results, and when they make a finding (S2-1, S2-8).

use lnd_core::time::{Instant, Span};

/// Settings of probing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeSettings {
    /// Time without traffic after which an endpoint is probed (S2-2). At least 1 ms.
    pub idle: Span,
    /// Time after a probe without an end, or after a dead result, until the next one. At least the
    /// time that the transport needs for its own retries, so that these are exhausted (R57).
    pub again: Span,
    /// Least time between the first dead result and the finding (S2-8).
    pub hold_off: Span,
    /// Consecutive dead results that make a finding, `1..=255`.
    pub results: u8,
    /// Largest part that jitter subtracts from `idle`, in sixteenths, `0..=4`.
    pub jitter: u8,
}

impl ProbeSettings {
    pub(crate) const fn is_sound(&self) -> bool {
        self.idle.as_nanos() >= 1_000_000
            && self.again.as_nanos() >= 1_000_000
            && self.results > 0
            && self.jitter <= 4
    }
}

/// The prober's result for an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Finding {
    /// No change.
    Nothing,
    /// It is up.
    Alive,
    /// It is down: report it to the peer's state machine.
    Down,
    /// It is down and only ever received: its connection is broken, so clean it up, even while it
    /// is in use (S2-1). Its users must be notified.
    CleanUp,
}

/// One endpoint of the prober; the caller's table of them is its memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Endpoint {
    pub first_dead: Instant,
    pub dead: u8,
    /// There was traffic since the last check.
    pub active: bool,
    /// It only receives.
    pub one_way: bool,
    /// Number of its users on this node.
    pub users: u32,
    /// The transport is moving it to another path.
    pub migrating: bool,
    /// A probe is under way.
    pub probing: bool,
    /// It was reported down, and no message has arrived since.
    pub down: bool,
    /// Its peer has published a word for probing.
    pub published: bool,
}

impl Endpoint {
    /// Not watched.
    pub(crate) const UNUSED: Self = Self {
        first_dead: Instant::ORIGIN,
        dead: 0,
        active: false,
        one_way: false,
        users: 0,
        migrating: false,
        probing: false,
        down: false,
        published: false,
    };
}

impl Endpoint {
    /// Records one more dead result. Only enough of them, over the hold-off, make a finding (R57,
    /// S2-8).
    pub(crate) fn found_dead(&mut self, now: Instant, settings: &ProbeSettings) -> Finding {
        if self.dead == 0 {
            self.first_dead = now;
        }
        self.dead = self.dead.saturating_add(1);
        let held = now.since(self.first_dead) >= settings.hold_off;
        if self.dead < settings.results || !held {
            return Finding::Nothing;
        }
        let again = core::mem::replace(&mut self.down, true);
        match (self.one_way, again) {
            (true, _) => Finding::CleanUp,
            (false, false) => Finding::Down,
            (false, true) => Finding::Nothing,
        }
    }
}
