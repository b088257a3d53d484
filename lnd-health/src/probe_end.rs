// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! How a probe ended, and what that says (R57).

use lnd_core::defect::seeded;

/// How the operation that is the probe ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProbeEnd {
    /// It succeeded.
    Success,
    /// The far end refused access: somebody is there to refuse (S2-10).
    AccessError,
    /// All the transport's retries are spent (S2-11).
    RetryExceeded,
    /// Anything else.
    Other,
}

/// What an end says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Life {
    /// The far side lives.
    Alive,
    /// The path to it is dead.
    Dead,
    /// Nothing is known: only a counter moves (S2-13).
    Unknown,
}

impl ProbeEnd {
    /// The three verdicts (R57).
    pub const fn verdict(self) -> Life {
        match self {
            Self::Success | Self::AccessError => Life::Alive,
            Self::RetryExceeded => Life::Dead,
            Self::Other => Life::Unknown,
        }
    }
}

/// What the end of a probe says, unless a defect misreads it: constant functions cannot be seeded.
#[inline]
pub(crate) fn misread(end: ProbeEnd) -> Life {
    match end {
        ProbeEnd::AccessError if seeded("access-error-is-death") => Life::Dead,
        ProbeEnd::RetryExceeded if seeded("retry-exceeded-is-nothing") => Life::Unknown,
        ProbeEnd::Other if seeded("anything-is-death") => Life::Dead,
        _ => end.verdict(),
    }
}
