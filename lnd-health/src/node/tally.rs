// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Health's counters (A9).

use lnd_core::transfer::HealthClass as Class;

/// The counters beside the classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum HealthCounter {
    /// Tries begun.
    Tries,
    /// Messages resent.
    Resends,
    /// Pauses of messages whose paths had all been tried.
    Pauses,
    /// Messages that a resend delivered.
    ResendsGood,
    /// Messages that ended with an error although they were resent.
    ResendsFailed,
    /// Tries that ended with an error after the message's deadline.
    Late,
    /// Sends refused at the call.
    Refusals,
    /// Copies of messages that were received, or are coming.
    Copies,
    /// Received messages whose number is too old to decide.
    Outside,
    /// Messages and handshakes from or for an incarnation that is not the current one.
    StaleStamps,
    /// Responses that did not arrive in time.
    NoResponse,
    /// Recovery pings.
    Pings,
    /// Answers to older pings.
    StalePings,
    /// Stale names: of a removed object, or of none (R14).
    StaleNames,
    /// Pings, probes and attempts to connect without a reported end within their bounds.
    Untold,
    /// Recovery pings that had no path.
    Pathless,
    /// Interfaces whose recovery has stopped.
    AgedOut,
    /// Liveness probes.
    Probes,
    /// Attempts to connect.
    Connects,
    /// Interfaces that went down by health.
    WentDown,
    /// Interfaces that came up by health.
    CameUp,
}

impl HealthCounter {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; COUNTS] = [
        Self::Tries,
        Self::Resends,
        Self::Pauses,
        Self::ResendsGood,
        Self::ResendsFailed,
        Self::Late,
        Self::Refusals,
        Self::Copies,
        Self::Outside,
        Self::StaleStamps,
        Self::NoResponse,
        Self::Pings,
        Self::StalePings,
        Self::StaleNames,
        Self::Untold,
        Self::Pathless,
        Self::AgedOut,
        Self::Probes,
        Self::Connects,
        Self::WentDown,
        Self::CameUp,
    ];

    /// The counter's name, in C and in dumps.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tries => "tries",
            Self::Resends => "resends",
            Self::Pauses => "pauses",
            Self::ResendsGood => "resends_good",
            Self::ResendsFailed => "resends_failed",
            Self::Late => "late",
            Self::Refusals => "refusals",
            Self::Copies => "copies",
            Self::Outside => "outside",
            Self::StaleStamps => "stale_stamps",
            Self::NoResponse => "no_response",
            Self::Pings => "pings",
            Self::StalePings => "stale_pings",
            Self::StaleNames => "stale_names",
            Self::Untold => "untold",
            Self::Pathless => "pathless",
            Self::AgedOut => "aged_out",
            Self::Probes => "probes",
            Self::Connects => "connects",
            Self::WentDown => "went_down",
            Self::CameUp => "came_up",
        }
    }
}

const COUNTS: usize = HealthCounter::CameUp as usize + 1;
const CLASSES: usize = Class::NetworkTimeout as usize + 1;

/// Counters with one owner. They wrap.
#[derive(Clone, Debug)]
pub struct Tally {
    counts: [u64; COUNTS],
    classes: [u64; CLASSES],
}

impl Tally {
    pub(super) const fn new() -> Self {
        Self { counts: [0; COUNTS], classes: [0; CLASSES] }
    }

    /// The value of a counter.
    pub fn value(&self, count: HealthCounter) -> u64 {
        self.counts.get(count as usize).copied().unwrap_or(0)
    }

    /// How many tries ended with a class.
    pub fn class(&self, class: Class) -> u64 {
        self.classes.get(class as usize).copied().unwrap_or(0)
    }

    pub(super) fn count(&mut self, count: HealthCounter) {
        if let Some(value) = self.counts.get_mut(count as usize) {
            *value = value.wrapping_add(1);
        }
    }

    /// Adds to the count of missing reports, if one is missing.
    pub(super) fn count_untold(&mut self, untold: bool) {
        if untold {
            self.count(HealthCounter::Untold);
        }
    }

    pub(super) fn count_class(&mut self, class: Class) {
        if let Some(value) = self.classes.get_mut(class as usize) {
            *value = value.wrapping_add(1);
        }
    }
}
