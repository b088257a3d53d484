// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The errors of a mailbox's memory.

use core::fmt;

/// Why a region is not a mailbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RegionError {
    /// The memory is not aligned to 64 bytes.
    Misaligned,
    /// The memory is smaller than the mailbox needs or states.
    TooSmall,
    /// Not a mailbox, or not yet formatted.
    Magic,
    /// A mailbox of a machine with another byte order.
    ByteOrder,
    /// A mailbox of another version.
    Version,
    /// A mailbox of another kind: not with one producer.
    Kind,
    /// Number or size of the slots is not valid, or the header is damaged.
    Geometry,
    /// The slots' sequence words contradict each other.
    Positions,
}

impl fmt::Display for RegionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Misaligned => "mailbox memory not aligned to 64 bytes",
            Self::TooSmall => "mailbox memory too small",
            Self::Magic => "not a mailbox",
            Self::ByteOrder => "mailbox of another byte order",
            Self::Version => "mailbox of another version",
            Self::Kind => "mailbox of another kind",
            Self::Geometry => "mailbox header damaged",
            Self::Positions => "mailbox slots damaged",
        })
    }
}

impl core::error::Error for RegionError {}
