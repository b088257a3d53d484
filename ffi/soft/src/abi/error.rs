// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The errors of `enum lnd_error` that occur here, with the same numbers.

use crate::fabric::AttachError;
use crate::join::JoinError;
use crate::nodes::DeclareError;

/// enum lnd_error - The result of a call; see lnd.h, which has more of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_error {
    /// Done.
    LND_OK = 0,
    /// A pointer that must not be NULL is NULL.
    LND_E_NULL = 1,
    /// A struct's size field is not the size of that struct in this version.
    LND_E_SIZE = 2,
    /// A pointer is not aligned for its type.
    LND_E_ALIGN = 3,
    /// The fabric has another version.
    LND_E_VERSION = 4,
    /// A fabric's numbers are not valid.
    LND_E_CONFIG = 5,
    /// The memory is too small.
    LND_E_MEMORY = 7,
    /// Not such an object: never created, or destroyed.
    LND_E_NI = 8,
    /// Another context is in a call; or another member has the node.
    LND_E_BUSY = 11,
    /// The node has been declared dead.
    LND_E_STALE = 13,
    /// A number is out of its range.
    LND_E_ARGUMENT = 14,
    /// There is no such link, or it has no clock.
    LND_E_LINK = 15,
    /// There is no path to this node.
    LND_E_NO_ROUTE = 16,
    /// Outside the window.
    LND_E_ADDRESS = 23,
    /// More bytes than a slot holds.
    LND_E_TOO_LONG = 25,
    /// The node is no longer a member, or not yet prepared.
    LND_E_GONE = 28,
    /// Not now: try again.
    LND_E_WAIT = 29,
    /// There is no entry, or no further one.
    LND_E_END = 32,
    /// The region is no fabric, or is damaged.
    LND_E_RING = 33,
    /// The caller's buffer is too small.
    LND_E_ROOM = 34,
    /// The engine or the transport cannot do this.
    LND_E_UNSUPPORTED = 36,
    /// Not an error. It makes the enum 32 bits wide with every compiler.
    LND_E_WIDTH = 0x7fff_ffff,
}

impl From<AttachError> for lnd_error {
    fn from(error: AttachError) -> Self {
        match error {
            AttachError::Foreign | AttachError::Damaged => Self::LND_E_RING,
            AttachError::Version(_) => Self::LND_E_VERSION,
            AttachError::Shape(_) => Self::LND_E_CONFIG,
            AttachError::TooSmall { .. } => Self::LND_E_MEMORY,
        }
    }
}

impl From<JoinError> for lnd_error {
    fn from(error: JoinError) -> Self {
        match error {
            JoinError::NoSuchNode => Self::LND_E_ARGUMENT,
            JoinError::Taken => Self::LND_E_BUSY,
            JoinError::Busy => Self::LND_E_WAIT,
            JoinError::Lost => Self::LND_E_STALE,
            JoinError::Layout(_) => Self::LND_E_RING,
        }
    }
}

impl From<DeclareError> for lnd_error {
    fn from(error: DeclareError) -> Self {
        match error {
            DeclareError::NoSuchNode => Self::LND_E_ARGUMENT,
            DeclareError::NotThere => Self::LND_E_GONE,
            DeclareError::OtherIncarnation => Self::LND_E_STALE,
        }
    }
}

/// Converts a result to a return value.
pub(super) fn outcome(result: Result<(), lnd_error>) -> lnd_error {
    match result {
        Ok(()) => lnd_error::LND_OK,
        Err(error) => error,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    /// `NAME = number,` lines of an enum's source.
    fn numbers(source: &str) -> HashMap<&str, &str> {
        source
            .lines()
            .filter_map(|line| line.trim().strip_suffix(',')?.split_once(" = "))
            .filter(|(name, _)| name.starts_with("LND_"))
            .collect()
    }

    #[test]
    fn errors_have_the_numbers_of_the_drivers_abi() {
        let ours = numbers(include_str!("error.rs"));
        let theirs = numbers(include_str!("../../../src/abi/error.rs"));
        assert!(ours.len() >= 20, "{ours:?}");
        for (name, number) in ours {
            assert_eq!(theirs.get(name), Some(&number), "{name}");
        }
    }
}
