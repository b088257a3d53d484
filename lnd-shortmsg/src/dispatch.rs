// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Frames in, messages out, and the other way round: what a host puts between its mailboxes (or any
//! other carrier of frames) and the driver.

use crate::mailbox::{spsc, Outlet, SendError};
use crate::wire::layout::class;
#[cfg(not(feature = "compact"))]
use crate::wire::layout::kind;
use crate::wire::{
    decode, short, Checksum, DecodeCounters, DecodeError, EncodeError, Frame, Heads, Wire,
};
use core::fmt;
use lnd_core::id::Nid;
use lnd_core::message::{Envelope, Message};

/// Who has sent a frame, as its channel knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sender {
    /// The node that owns the sending end of the channel: a mailbox's writer, a connection's peer.
    Known(Nid),
    /// The channel cannot tell, for instance a mailbox with several writers. The NID in the
    /// envelope is then trusted: any node on this channel can send in the name of every other one,
    /// and can open and end its sessions, return its credits and fail its requests.
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
///
/// `SHORT`: the channel may have short heads. What decodes them is in an image only then.
#[derive(Clone, Debug)]
pub struct Receiver<const SHORT: bool = false> {
    checksum: Checksum,
    /// Our own NID, if the channel has short heads.
    short_to: Option<Nid>,
    control: u64,
    lnd: u64,
    errors: DecodeCounters,
}

impl Receiver<false> {
    /// A receiver whose channel has checksums, or not, and heads that name both ends.
    pub const fn new(checksum: Checksum) -> Self {
        Self::with(checksum, None)
    }
}

impl Receiver<true> {
    /// The receiver of the node `me`, whose channel looks like `wire`.
    pub const fn of(wire: Wire, me: Nid) -> Self {
        let short_to = match wire.heads {
            Heads::Short => Some(me),
            Heads::Named => None,
        };
        Self::with(wire.checksum, short_to)
    }
}

impl<const SHORT: bool> Receiver<SHORT> {
    const fn with(checksum: Checksum, short_to: Option<Nid>) -> Self {
        Self { checksum, short_to, control: 0, lnd: 0, errors: DecodeCounters::new() }
    }

    /// Whether the channel has short heads.
    #[inline]
    const fn shortens(&self) -> bool {
        SHORT && self.short_to.is_some()
    }

    /// A frame whose head names both ends. On a channel with short heads: any that has none, or
    /// whose sender is not known.
    fn decode_named<'a>(&self, sender: Sender, frame: &'a [u8]) -> Result<Frame<'a>, DecodeError> {
        if self.shortens() && has_short_head(frame) {
            return Err(DecodeError::Sender);
        }
        let decoded = decode(frame, self.checksum)?;
        let (from, short) = match &decoded {
            Frame::Control(envelope, _) => (envelope.from, true),
            Frame::Lnd(envelope, message) => (envelope.from, short::is_short(message)),
        };
        if !sender.may_be(from) {
            return Err(DecodeError::Sender);
        }
        // Some have heads with names on every channel.
        if self.shortens() && short {
            return Err(DecodeError::Heads);
        }
        Ok(decoded)
    }

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
    #[inline(never)]
    pub fn receive_from<'a>(
        &mut self,
        sender: Sender,
        frame: &'a [u8],
    ) -> Result<Frame<'a>, DecodeError> {
        let received = match (self.short_to, sender) {
            (Some(me), Sender::Known(from)) if SHORT && has_short_head(frame) => {
                short::decode(frame, self.checksum, from, me)
            }
            _ => self.decode_named(sender, frame),
        };
        self.count(&received);
        received
    }

    /// Decodes and counts the usual frame, a correct IMMEDIATE with a short head: envelope,
    /// upper-layer header and payload, for
    /// [`on_immediate`](lnd_core::driver::Driver::on_immediate). `None`: it is another frame, and
    /// nothing was counted; [`receive_from`](Self::receive_from) decides.
    #[inline]
    pub fn receive_inline<'a>(
        &mut self,
        sender: Sender,
        frame: &'a [u8],
    ) -> Option<short::Inline<'a>> {
        let (Some(me), Sender::Known(from)) = (self.short_to, sender) else { return None };
        if !SHORT {
            return None;
        }
        let found = short::decode_inline(frame, self.checksum, from, me)?;
        self.lnd = self.lnd.saturating_add(1);
        Some(found)
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
#[cfg_attr(not(feature = "compact"), inline(always))]
pub fn transmit<O: Outlet>(
    outlet: &mut O,
    envelope: &Envelope,
    message: &Message<'_>,
    wire: Wire,
) -> Result<(), TransmitError> {
    match (wire.heads, message) {
        #[cfg(not(feature = "compact"))]
        (Heads::Short, &Message::PutReq { header, source: tag, length, key }) => {
            let request = short::ShortRequest { kind: kind::PUT_REQ, header, tag, length, key };
            transmit_put_req(outlet, envelope, &request, wire.checksum)
        }
        _ => transmit_any(outlet, envelope, message, wire),
    }
}

/// A PUT_REQ with a short head: every large PUT needs one. It is encoded in the caller, which
/// usually knows that it is one.
#[cfg(not(feature = "compact"))]
#[inline(always)]
fn transmit_put_req<O: Outlet>(
    outlet: &mut O,
    envelope: &Envelope,
    request: &short::ShortRequest<'_>,
    sum: Checksum,
) -> Result<(), TransmitError> {
    let length = request.encoded_len(envelope, sum).map_err(TransmitError::Encode)?;
    let write = |slot: &mut [u8]| {
        // Cannot fail: see `transmit_any`.
        let _ = request.fill(envelope, sum, slot);
    };
    outlet.send_with(length, write).map_err(TransmitError::Send)
}

#[inline(never)]
fn transmit_any<O: Outlet>(
    outlet: &mut O,
    envelope: &Envelope,
    message: &Message<'_>,
    wire: Wire,
) -> Result<(), TransmitError> {
    let length = wire.encoded_len(envelope, message).map_err(TransmitError::Encode)?;
    let write = |slot: &mut [u8]| {
        // Cannot fail: `encoded_len` has found everything in order, and the slot has this length.
        let _ = wire.fill(envelope, message, slot);
    };
    outlet.send_with(length, write).map_err(TransmitError::Send)
}

/// Whether a frame has the short head, by its first byte.
#[inline]
fn has_short_head(frame: &[u8]) -> bool {
    matches!(frame.first(), Some(&(class::SHORT_LND | class::SHORT_CONTROL)))
}

/// Encodes an IMMEDIATE straight into a slot of a mailbox, into which `gather` writes its payload.
/// That has as many bytes as `scratch`, which is used where the head names both ends.
///
/// `Ok(false)`: `gather`, which is called once at most, has said `false`. Nothing was sent.
///
/// # Errors
/// [`TransmitError`]; nothing was sent.
#[inline]
pub fn transmit_inline(
    outlet: &mut spsc::Producer<'_>,
    envelope: &Envelope,
    header: &[u8],
    scratch: &mut [u8],
    wire: Wire,
    gather: impl FnOnce(&mut [u8]) -> bool,
) -> Result<bool, TransmitError> {
    if wire.heads == Heads::Named {
        if !gather(scratch) {
            return Ok(false);
        }
        let message = Message::Immediate { header, payload: scratch };
        return transmit(outlet, envelope, &message, wire).map(|()| true);
    }
    let payload = scratch.len();
    let length = short::inline_len(header.len(), payload, wire.checksum);
    let length = length.map_err(TransmitError::Encode)?;
    let mut failed = None;
    let write = |slot: &mut [u8]| match short::encode_inline(
        envelope,
        header,
        payload,
        wire.checksum,
        slot,
        gather,
    ) {
        Ok(written) => written,
        Err(error) => {
            failed = Some(error);
            false
        }
    };
    let sent = outlet.send_if(length, write).map_err(TransmitError::Send)?;
    failed.map_or(Ok(sent), |error| Err(TransmitError::Encode(error)))
}
