// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file names the families of values that an observer measures: each has a value for every
//! combination of its labels.

use super::unit::Unit;

macro_rules! families {
    ($($(#[doc = $doc:literal])+ $name:ident => $text:literal, $unit:ident, $labels:expr,)+) => {
        /// A family of values of [`Measures`](super::Measures). Families of nanoseconds are
        /// histograms, all others are counters.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Family { $($(#[doc = $doc])+ $name,)+ }

        impl Family {
            /// Every family, in order.
            pub const ALL: [Self; [$($text,)+].len()] = [$(Self::$name,)+];

            /// Its name: lower case, underscores.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $text,)+ }
            }

            /// What it counts.
            pub const fn unit(self) -> Unit {
                match self { $(Self::$name => Unit::$unit,)+ }
            }

            /// The names of its labels.
            pub const fn labels(self) -> &'static [&'static str] {
                match self { $(Self::$name => &$labels,)+ }
            }

            /// What it is, in words.
            pub const fn help(self) -> &'static str {
                match self { $(Self::$name => concat!($($doc,)+),)+ }.trim_ascii()
            }
        }
    };
}

families! {
    /// How long transfers waited, by what they waited for and by size.
    Wait => "wait", Nanoseconds, ["wait", "size"],
    /// Times from acceptance to report, by size.
    Transfer => "transfer", Nanoseconds, ["size"],
    /// By how much transfers were reported after their deadline had passed.
    Late => "late", Nanoseconds, [],
    /// Transfers that ended well although their deadline had passed.
    LateGood => "late_good", Transfers, [],
    /// Transfers that ended, by health class and by what they waited for when they were given up.
    Ended => "ended", Transfers, ["class", "wait"],
    /// Transfers and short messages that were lost, by cause and by how far they had come.
    Lost => "lost", Messages, ["cause", "place"],
    /// Messages that ended well within the call or were received so, by size.
    Short => "short", Messages, ["size"],
    /// Messages that ended within the call with an error.
    ShortFailed => "short_failed", Messages, [],
    /// Payload of all that ended well.
    Payload => "payload", Bytes, [],
}
