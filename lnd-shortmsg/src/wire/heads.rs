// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a channel has chosen: with which heads its frames travel, and whether with a checksum.

use super::checksum::Checksum;
use super::encode::{encode, encoded_len};
use super::error::EncodeError;
use super::layout::{short, IMMEDIATE_LEN, MAX_FRAME};
use super::short as heads;
use lnd_core::message::{Envelope, Message, MAX_HEADER};

/// Which head the frames of a channel have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Heads {
    /// Every frame names its sender and its receiver.
    Named,
    /// HELLO, HELLO_ACK and CLOSE do; the others have the short head, without NIDs. Only for a
    /// channel that knows [who has sent a frame](crate::dispatch::Sender::Known).
    Short,
}

/// How the frames of a channel look. Constant, and the same at both ends: a frame of another look
/// is refused and counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wire {
    /// Whether they carry a checksum.
    pub checksum: Checksum,
    /// Their heads.
    pub heads: Heads,
}

impl Wire {
    /// Frames that name both ends.
    pub const fn named(checksum: Checksum) -> Self {
        Self { checksum, heads: Heads::Named }
    }

    /// Frames with short heads.
    pub const fn short(checksum: Checksum) -> Self {
        Self { checksum, heads: Heads::Short }
    }

    /// Whether a message has the short head.
    #[inline]
    const fn shortens(self, message: &Message<'_>) -> bool {
        matches!(self.heads, Heads::Short) && heads::is_short(message)
    }

    /// Bytes of the frame that [`encode`](Self::encode) writes for this message.
    ///
    /// # Errors
    /// As [`encoded_len`](crate::wire::encoded_len).
    #[inline]
    pub fn encoded_len(
        self,
        envelope: &Envelope,
        message: &Message<'_>,
    ) -> Result<usize, EncodeError> {
        if self.shortens(message) {
            heads::encoded_len(envelope, message, self.checksum)
        } else {
            encoded_len(envelope, message)
        }
    }

    /// Writes a message to the beginning of `out` and returns the number of bytes. Only these are
    /// written.
    ///
    /// # Errors
    /// [`EncodeError`]; `out` then holds nothing that may be sent.
    #[inline]
    pub fn encode(
        self,
        envelope: &Envelope,
        message: &Message<'_>,
        out: &mut [u8],
    ) -> Result<usize, EncodeError> {
        if self.shortens(message) {
            heads::encode(envelope, message, self.checksum, out)
        } else {
            encode(envelope, message, self.checksum, out)
        }
    }

    /// Writes a message to a frame of [its length](Self::encoded_len).
    #[inline]
    pub(crate) fn fill(
        self,
        envelope: &Envelope,
        message: &Message<'_>,
        frame: &mut [u8],
    ) -> Result<(), EncodeError> {
        if self.shortens(message) {
            heads::fill(envelope, message, self.checksum, frame)
        } else {
            encode(envelope, message, self.checksum, frame).map(|_| ())
        }
    }

    /// Largest IMMEDIATE payload in bytes that fits a frame of `frame_size` bytes together with an
    /// upper-layer header of [`MAX_HEADER`] bytes; zero if not even the header fits.
    pub const fn max_immediate(self, frame_size: usize) -> u32 {
        let frame_size = if frame_size < MAX_FRAME { frame_size } else { MAX_FRAME };
        let fixed = match self.heads {
            Heads::Named => IMMEDIATE_LEN,
            Heads::Short => short::HEAD_LEN + self.checksum.short_len(),
        };
        // At most MAX_FRAME, so the cast loses nothing.
        frame_size.saturating_sub(fixed + MAX_HEADER) as u32
    }
}
