// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The end of a probe, and its result (R57).

/// The end of the operation that is the probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProbeEnd {
    /// It succeeded.
    Success,
    /// The far end refused access: it is up (S2-10).
    AccessError,
    /// The transport's retries are exhausted (S2-11).
    RetryExceeded,
    /// Anything else.
    Other,
}

/// The result of an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProbeResult {
    /// The far end is up.
    Alive,
    /// The path to it is dead.
    Dead,
    /// Nothing is proven: only a counter changes (S2-13).
    Unknown,
}

impl ProbeEnd {
    /// The result of this end (R57).
    pub const fn result(self) -> ProbeResult {
        match self {
            Self::Success | Self::AccessError => ProbeResult::Alive,
            Self::RetryExceeded => ProbeResult::Dead,
            Self::Other => ProbeResult::Unknown,
        }
    }
}
