// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What can be wrong with a frame, each cause on its own, and a counter for each.

use core::fmt;

/// Why a message was not written. Nothing of it may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EncodeError {
    /// The buffer is smaller than the frame.
    NoRoom,
    /// The frame would be larger than [`MAX_FRAME`](super::layout::MAX_FRAME).
    TooLong,
    /// The upper-layer header is longer than [`MAX_HEADER`](lnd_core::message::MAX_HEADER).
    HeaderTooLong,
    /// The receiver's incarnation is missing, and the message is not a HELLO.
    NoIncarnation,
    /// A HELLO_ACK that agrees on version zero, which is no version.
    NoVersion,
    /// The key is longer than [`MAX_KEY`](lnd_core::key::MAX_KEY).
    KeyTooLong,
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoRoom => "buffer smaller than the frame",
            Self::TooLong => "frame larger than the format allows",
            Self::HeaderTooLong => "upper-layer header too long",
            Self::NoIncarnation => "receiver's incarnation missing",
            Self::NoVersion => "version zero agreed on",
            Self::KeyTooLong => "key too long",
        })
    }
}

impl core::error::Error for EncodeError {}

macro_rules! decode_errors {
    ($($(#[$doc:meta])* $name:ident => $text:literal,)*) => {
        /// Why a frame was dropped. It changes nothing but a counter (INV-6).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum DecodeError {
            $($(#[$doc])* $name,)*
        }

        impl DecodeError {
            /// Every cause, in the order of [`index`](Self::index).
            pub const ALL: [Self; [$($text),*].len()] = [$(Self::$name),*];

            /// The cause in words.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }
        }
    };
}

decode_errors! {
    /// The first byte names no layer.
    Class => "unknown class",
    /// Not our magic in either byte order.
    Magic => "wrong magic",
    /// A version that this side does not know, in a message that is not a HELLO.
    Version => "unknown version",
    /// A kind of message that its class does not have.
    Kind => "unknown kind of message",
    /// Fewer bytes than the frame states or than it must have.
    Truncated => "truncated",
    /// More bytes than the frame states.
    Trailing => "bytes behind the end",
    /// Larger than [`MAX_FRAME`](super::layout::MAX_FRAME).
    Oversize => "too large",
    /// The lengths inside the frame do not add up to its own.
    Length => "lengths do not add up",
    /// The checksum does not match.
    Checksum => "checksum mismatch",
    /// There is no checksum, and this channel demands one.
    NoChecksum => "checksum missing",
    /// A reserved byte is not zero.
    Reserved => "reserved byte not zero",
    /// A NID is zero.
    ZeroNid => "NID is zero",
    /// An incarnation is zero where one must be known.
    ZeroIncarnation => "incarnation is zero",
    /// No such refusal.
    BadRefusal => "unknown refusal",
    /// The upper-layer header is longer than [`MAX_HEADER`](lnd_core::message::MAX_HEADER).
    HeaderTooLong => "upper-layer header too long",
    /// The frame names another sender than the channel does, or none on a channel that does not
    /// name senders.
    Sender => "wrong sender",
    /// The head is not of the channel's [`Heads`](super::Heads).
    Heads => "head of another channel's format",
    /// A key is longer than [`MAX_KEY`](lnd_core::key::MAX_KEY).
    KeyTooLong => "key too long",
}

impl DecodeError {
    /// Position in [`ALL`](Self::ALL).
    pub const fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl core::error::Error for DecodeError {}

/// How often each [`DecodeError`] has occurred. Belongs to one owner; counts stop at their maximum.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DecodeCounters([u64; DecodeError::ALL.len()]);

impl DecodeCounters {
    /// All zero.
    pub const fn new() -> Self {
        Self([0; DecodeError::ALL.len()])
    }

    /// Counts one occurrence.
    #[inline]
    pub fn count(&mut self, error: DecodeError) {
        if let Some(count) = self.0.get_mut(error.index()) {
            *count = count.saturating_add(1);
        }
    }

    /// How often this error has occurred.
    pub fn of(&self, error: DecodeError) -> u64 {
        self.0.get(error.index()).copied().unwrap_or(0)
    }

    /// Every error with its count.
    pub fn iter(&self) -> impl Iterator<Item = (DecodeError, u64)> + '_ {
        DecodeError::ALL.into_iter().zip(self.0.iter().copied())
    }

    /// Adds another set.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0.iter()) {
            *mine = mine.saturating_add(*theirs);
        }
    }

    /// How many frames were dropped in all.
    pub fn total(&self) -> u64 {
        self.0.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }
}
