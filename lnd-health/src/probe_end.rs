// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! How a probe ended, and what that says (R57).

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
pub enum ProbeResult {
    /// The far side lives.
    Alive,
    /// The path to it is dead.
    Dead,
    /// Nothing is known: only a counter moves (S2-13).
    Unknown,
}

impl ProbeEnd {
    /// The three verdicts (R57).
    pub const fn result(self) -> ProbeResult {
        match self {
            Self::Success | Self::AccessError => ProbeResult::Alive,
            Self::RetryExceeded => ProbeResult::Dead,
            Self::Other => ProbeResult::Unknown,
        }
    }
}
