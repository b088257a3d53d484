// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Frames in, messages out, and the other way round: what a host puts between its mailboxes (or any
//! other carrier of frames) and the driver.

use crate::mailbox::{Outlet, SendError};
use crate::wire::{
    decode, encode, encoded_len, Checksum, DecodeCounters, DecodeError, EncodeError, Frame,
};
use core::fmt;
use lnd_core::defect::seeded;
use lnd_core::id::Nid;
use lnd_core::message::{Envelope, Message};

/// Who has sent a frame, as its channel knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sender {
    /// The node that owns the sending end of the channel: a mailbox's writer, a connection's peer.
    Known(Nid),
    /// The channel cannot tell, for instance a mailbox with several writers. The NID in the envelope
    /// is then trusted: any node on this channel can send in the name of every other one, and can
    /// open and end its sessions, return its credits and fail its requests.
    Unknown,
}

impl Sender {
    /// Whether a frame of this sender may name `from` in its envelope.
    #[inline]
    fn may_be(self, from: Nid) -> bool {
        match self {
            Self::Known(nid) => nid == from,
            Self::Unknown => true,
        }
    }
}

/// Decodes frames and counts what becomes of them. Context: one owner at a time.
#[derive(Clone, Debug)]
pub struct Receiver {
    checksum: Checksum,
    control: u64,
    lnd: u64,
    errors: DecodeCounters,
}

impl Receiver {
    /// A receiver whose channel has checksums, or not.
    pub const fn new(checksum: Checksum) -> Self {
        Self { checksum, control: 0, lnd: 0, errors: DecodeCounters::new() }
    }

    #[inline]
    fn count(&mut self, received: &Result<Frame<'_>, DecodeError>) {
        match received {
            Ok(Frame::Control(..)) => self.control = self.control.saturating_add(1),
            Ok(Frame::Lnd(..)) => self.lnd = self.lnd.saturating_add(1),
            Err(error) => self.errors.count(*error),
        }
    }

    /// Decodes and counts one frame that came from `sender`.
    ///
    /// A frame whose envelope names another node than `sender` is refused: everything above goes by
    /// the NID in the envelope, so one peer must not send in the name of another (R31).
    ///
    /// # Errors
    /// What is wrong with the frame: [`DecodeError::Sender`] for a forged name. The error was
    /// counted; the caller drops the frame.
    #[inline]
    pub fn receive_from<'a>(
        &mut self,
        sender: Sender,
        frame: &'a [u8],
    ) -> Result<Frame<'a>, DecodeError> {
        let received = decode(frame, self.checksum).and_then(|frame| match &frame {
            Frame::Control(envelope, _) | Frame::Lnd(envelope, _)
                if !sender.may_be(envelope.from) && !seeded("sender-unchecked") =>
            {
                Err(DecodeError::Sender)
            }
            _ => Ok(frame),
        });
        self.count(&received);
        received
    }

    /// Frames of the control layer so far.
    pub const fn control(&self) -> u64 {
        self.control
    }

    /// LND messages so far.
    pub const fn lnd(&self) -> u64 {
        self.lnd
    }

    /// Frames that were dropped so far, by cause.
    pub const fn errors(&self) -> &DecodeCounters {
        &self.errors
    }
}

/// Why a message was not handed over. Nothing was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TransmitError {
    /// The message has no wire format.
    Encode(EncodeError),
    /// The mailbox did not take it.
    Send(SendError),
}

impl fmt::Display for TransmitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Encode(error) => error.fmt(f),
            Self::Send(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for TransmitError {}

/// Encodes a message straight into a slot of a mailbox.
///
/// # Errors
/// [`TransmitError`]; nothing was sent.
#[inline]
pub fn transmit<O: Outlet>(
    outlet: &mut O,
    envelope: &Envelope,
    message: &Message<'_>,
    checksum: Checksum,
) -> Result<(), TransmitError> {
    let length = encoded_len(envelope, message).map_err(TransmitError::Encode)?;
    let write = |slot: &mut [u8]| {
        // Cannot fail: `encoded_len` has found everything in order, and the slot has this length.
        let _ = encode(envelope, message, checksum, slot);
    };
    outlet.send_with(length, write).map_err(TransmitError::Send)
}
