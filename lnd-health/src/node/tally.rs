// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Health's counters (A9).

use lnd_core::observe::Unit;
use lnd_core::transfer::HealthClass as Class;

macro_rules! counters {
    ($($(#[doc = $doc:literal])+ $name:ident => $text:literal, $unit:ident,)+) => {
        /// The counters beside the classes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum HealthCounter { $($(#[doc = $doc])+ $name,)+ }

        impl HealthCounter {
            /// All of them, in the order of their numbers.
            pub const ALL: [Self; COUNTS] = [$(Self::$name,)+];

            /// The counter's name, in C and in dumps.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $text,)+ }
            }

            /// What it counts.
            pub const fn unit(self) -> Unit {
                match self { $(Self::$name => Unit::$unit,)+ }
            }

            /// What is counted, in words.
            pub const fn help(self) -> &'static str {
                match self { $(Self::$name => concat!($($doc,)+),)+ }.trim_ascii()
            }
        }

        const COUNTS: usize = [$($text,)+].len();
    };
}

counters! {
    /// Tries begun.
    Tries => "tries", Messages,
    /// Messages resent.
    Resends => "resends", Messages,
    /// Pauses of messages whose paths had all been tried.
    Pauses => "pauses", Messages,
    /// Messages that a resend delivered.
    ResendsGood => "resends_good", Messages,
    /// Messages that ended with an error although they were resent.
    ResendsFailed => "resends_failed", Messages,
    /// Tries that ended with an error after the message's deadline.
    Late => "late", Messages,
    /// Sends refused at the call.
    Refusals => "refusals", Messages,
    /// Copies of messages that were received, or are coming.
    Copies => "copies", Messages,
    /// Received messages whose number is too old to decide.
    Outside => "outside", Messages,
    /// Messages and handshakes from or for an incarnation that is not the current one.
    StaleStamps => "stale_stamps", Messages,
    /// Responses that did not arrive in time.
    NoResponse => "no_response", Messages,
    /// Recovery pings.
    Pings => "pings", Messages,
    /// Answers to older pings.
    StalePings => "stale_pings", Messages,
    /// Stale names: of a removed object, or of none (R14).
    StaleNames => "stale_names", Events,
    /// Pings, probes and attempts to connect without a reported end within their bounds.
    Untold => "untold", Events,
    /// Recovery pings that had no path.
    Pathless => "pathless", Messages,
    /// Interfaces whose recovery has stopped.
    AgedOut => "aged_out", Events,
    /// Liveness probes.
    Probes => "probes", Messages,
    /// Attempts to connect.
    Connects => "connects", Events,
    /// Interfaces that went down by health.
    WentDown => "went_down", Events,
    /// Interfaces that came up by health.
    CameUp => "came_up", Events,
}

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
