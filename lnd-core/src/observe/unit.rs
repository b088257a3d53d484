// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file names what is counted.

/// What a metric counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Transfers: messages that have a slot.
    Transfers,
    /// Short messages.
    Messages,
    /// Descriptors of the engine.
    Descriptors,
    /// Peers.
    Peers,
    /// Links, or connections on them.
    Links,
    /// Events of any other kind.
    Events,
    /// Bytes.
    Bytes,
    /// Nanoseconds.
    Nanoseconds,
}

impl Unit {
    /// The unit in words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Transfers => "transfers",
            Self::Messages => "messages",
            Self::Descriptors => "descriptors",
            Self::Peers => "peers",
            Self::Links => "links",
            Self::Events => "events",
            Self::Bytes => "bytes",
            Self::Nanoseconds => "nanoseconds",
        }
    }
}
