// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Bytes to messages. Nothing a frame says is used before it was held against the bytes that
//! are really there (B14, H16).

use super::checksum::{checksum, Checksum, NONE};
use super::error::DecodeError;
use super::layout::{
    at, class, kind, ANSWER_LEN, CANCEL_LEN, HEADER_LEN, HELLO_LEN, IMMEDIATE_LEN, MAGIC,
    MAX_FRAME, PULL_READY_LEN, REQ_LEN, VERSION,
};
use super::order::Reader;
use lnd_core::id::{Incarnation, Nid, Tag};
use lnd_core::key::MAX_KEY;
use lnd_core::message::{Envelope, Hello, HelloAck, Message, NakReason, PullReady, MAX_HEADER};

/// A frame by layer (S3-6): the control layer is told apart before anything is parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// Start your receive side: handled in constant time, without the upper layer (INV-8).
    Control(Envelope, PullReady<'a>),
    /// Anything else; never [`Message::PullReady`].
    Lnd(Envelope, Message<'a>),
}

impl<'a> Frame<'a> {
    /// Envelope and message, whatever the layer.
    pub const fn into_parts(self) -> (Envelope, Message<'a>) {
        match self {
            Self::Control(envelope, ready) => (envelope, Message::PullReady(ready)),
            Self::Lnd(envelope, message) => (envelope, message),
        }
    }
}

/// Decodes exactly one frame whose head names both ends, in either byte order. Headers and payload
/// are not copied.
///
/// A HELLO of a later version is decoded by the part that all versions share, so that the two
/// sides can agree on a version (R27).
///
/// # Errors
/// The first thing that is wrong with the frame.
#[inline]
pub fn decode(frame: &[u8], checksum: Checksum) -> Result<Frame<'_>, DecodeError> {
    match *frame.first().ok_or(DecodeError::Truncated)? {
        class::CONTROL if swapped(frame)? => control(Reader::<true>(frame), checksum),
        class::CONTROL => control(Reader::<false>(frame), checksum),
        class::LND if swapped(frame)? => lnd(Reader::<true>(frame), checksum),
        class::LND => lnd(Reader::<false>(frame), checksum),
        class::SHORT_CONTROL | class::SHORT_LND => Err(DecodeError::Heads),
        _ => Err(DecodeError::Class),
    }
}

/// Whether the sender's byte order is not ours.
#[inline]
fn swapped(frame: &[u8]) -> Result<bool, DecodeError> {
    match Reader::<false>(frame).u32(at::MAGIC)? {
        MAGIC => Ok(false),
        magic if magic == MAGIC.swap_bytes() => Ok(true),
        _ => Err(DecodeError::Magic),
    }
}

/// The control path: one size and at most a key, so constant time.
#[inline]
fn control<const SWAPPED: bool>(
    reader: Reader<'_, SWAPPED>,
    sum: Checksum,
) -> Result<Frame<'_>, DecodeError> {
    if reader.u8(at::VERSION)? != VERSION {
        return Err(DecodeError::Version);
    }
    if reader.u8(at::KIND)? != kind::PULL_READY {
        return Err(DecodeError::Kind);
    }
    // Before the checksum is computed: its time depends on the length.
    let length = check_length(reader)?;
    if length < PULL_READY_LEN {
        return Err(DecodeError::Length);
    }
    let key = key_len(reader, at::STAGED_KEY)?;
    expect_length(length, PULL_READY_LEN + key)?;
    check_sum(reader, sum)?;
    let envelope = envelope(reader, true, false)?;
    let fixed = reader.first::<PULL_READY_LEN>()?;
    fixed.reserved::<3>(at::STAGED_REST)?;
    let ready = PullReady {
        sink: Tag::from_cookie(fixed.u64(at::SINK)?),
        source: Tag::from_cookie(fixed.u64(at::SOURCE)?),
        length: fixed.u32(at::STAGED)?,
        key: reader.bytes(PULL_READY_LEN, key)?,
    };
    Ok(Frame::Control(envelope, ready))
}

#[inline]
fn lnd<const SWAPPED: bool>(
    reader: Reader<'_, SWAPPED>,
    sum: Checksum,
) -> Result<Frame<'_>, DecodeError> {
    let kind = reader.u8(at::KIND)?;
    let strict = match (reader.u8(at::VERSION)?, kind) {
        (VERSION, _) => true,
        (0, _) => return Err(DecodeError::Version),
        (_, kind::HELLO | kind::HELLO_ACK) => false,
        _ => return Err(DecodeError::Version),
    };
    let length = check_length(reader)?;
    check_sum(reader, sum)?;
    let envelope = envelope(reader, strict, kind == kind::HELLO)?;
    let message = match kind {
        kind::HELLO => hello(reader, length, strict)?,
        kind::HELLO_ACK => hello_ack(reader, length, strict)?,
        kind::IMMEDIATE => immediate(reader, length)?,
        kind::PUT_REQ | kind::GET_REQ => request(reader, length, kind)?,
        kind::PUT_NAK | kind::GET_NAK | kind::PUT_DONE | kind::GET_DONE => {
            answer(reader, length, kind)?
        }
        kind::CANCEL_PUT | kind::CANCEL_GET | kind::CANCEL_PUSH => cancel(reader, length, kind)?,
        kind::NOOP => expect_length(length, HEADER_LEN).map(|()| Message::Noop)?,
        kind::CLOSE => expect_length(length, HEADER_LEN).map(|()| Message::Close)?,
        _ => return Err(DecodeError::Kind),
    };
    Ok(Frame::Lnd(envelope, message))
}

/// The length the frame states, once it is known to be the number of bytes that are there.
#[inline]
fn check_length<const SWAPPED: bool>(reader: Reader<'_, SWAPPED>) -> Result<usize, DecodeError> {
    let there = reader.0.len();
    let stated = reader.u32(at::LENGTH)? as usize;
    if stated > MAX_FRAME {
        Err(DecodeError::Oversize)
    } else if there < stated || there < HEADER_LEN {
        Err(DecodeError::Truncated)
    } else if there > stated {
        Err(DecodeError::Trailing)
    } else {
        Ok(stated)
    }
}

#[inline]
fn check_sum<const SWAPPED: bool>(
    reader: Reader<'_, SWAPPED>,
    wanted: Checksum,
) -> Result<(), DecodeError> {
    match (reader.u32(at::CHECKSUM)?, wanted) {
        (NONE, Checksum::Off) => Ok(()),
        (NONE, Checksum::On) => Err(DecodeError::NoChecksum),
        (sum, _) if sum == checksum(reader.0) => Ok(()),
        _ => Err(DecodeError::Checksum),
    }
}

/// `strict`: reserved bytes must be zero. A later version may have given them a meaning.
#[inline(always)]
fn envelope<const SWAPPED: bool>(
    reader: Reader<'_, SWAPPED>,
    strict: bool,
    to_stranger: bool,
) -> Result<Envelope, DecodeError> {
    let reader = reader.first::<HEADER_LEN>()?;
    if strict {
        reader.reserved::<1>(at::FLAGS)?;
        reader.reserved::<8>(at::FROM_REST)?;
        reader.reserved::<8>(at::TO_REST)?;
        reader.reserved::<2>(at::CREDITS_REST)?;
    }
    let from_incarnation = Incarnation::from_raw(reader.u64(at::FROM_INCARNATION)?);
    let to_incarnation = Incarnation::from_raw(reader.u64(at::TO_INCARNATION)?);
    if to_incarnation.is_none() && !to_stranger {
        return Err(DecodeError::ZeroIncarnation);
    }
    Ok(Envelope {
        from: Nid::from_raw(reader.u64(at::FROM)?).ok_or(DecodeError::ZeroNid)?,
        to: Nid::from_raw(reader.u64(at::TO)?).ok_or(DecodeError::ZeroNid)?,
        from_incarnation: from_incarnation.ok_or(DecodeError::ZeroIncarnation)?,
        to_incarnation,
        session: reader.u32(at::SESSION)?,
        sequence: reader.u32(at::SEQUENCE)?,
        credits: reader.u16(at::CREDITS)?,
        credits_of: reader.u32(at::CREDITS_OF)?,
    })
}

#[inline]
fn expect_length(length: usize, expected: usize) -> Result<(), DecodeError> {
    if length == expected {
        Ok(())
    } else {
        Err(DecodeError::Length)
    }
}

/// A HELLO has a fixed length. One of a later version may have more at its end.
fn hello_length(length: usize, strict: bool) -> Result<(), DecodeError> {
    if strict || length < HELLO_LEN {
        expect_length(length, HELLO_LEN)
    } else {
        Ok(())
    }
}

fn hello<const SWAPPED: bool>(
    reader: Reader<'_, SWAPPED>,
    length: usize,
    strict: bool,
) -> Result<Message<'_>, DecodeError> {
    hello_length(length, strict)?;
    let reader = reader.first::<HELLO_LEN>()?;
    if strict {
        reader.reserved::<1>(at::HELLO_REST)?;
    }
    Ok(Message::Hello(Hello {
        version_min: reader.u8(at::HELLO_MIN)?,
        version_max: reader.u8(at::HELLO_MAX)?,
        immediate_max: reader.u32(at::HELLO_IMMEDIATE)?,
        features: reader.u32(at::HELLO_FEATURES)?,
        attempt: reader.u8(at::HELLO_ATTEMPT)?,
        given_up: reader.u32(at::HELLO_GIVEN_UP)?,
    }))
}

fn hello_ack<const SWAPPED: bool>(
    reader: Reader<'_, SWAPPED>,
    length: usize,
    strict: bool,
) -> Result<Message<'_>, DecodeError> {
    hello_length(length, strict)?;
    let reader = reader.first::<HELLO_LEN>()?;
    let version = reader.u8(at::ACK_VERSION)?;
    Ok(Message::HelloAck(HelloAck {
        session: reader.u32(at::ACK_SESSION)?,
        attempt: reader.u8(at::ACK_ATTEMPT)?,
        version: (version != 0).then_some(version),
        depth: reader.u16(at::ACK_DEPTH)?,
        immediate_max: reader.u32(at::ACK_IMMEDIATE)?,
        features: reader.u32(at::ACK_FEATURES)?,
    }))
}

#[inline(always)]
fn immediate<const SWAPPED: bool>(
    reader: Reader<'_, SWAPPED>,
    length: usize,
) -> Result<Message<'_>, DecodeError> {
    let fixed = reader.first::<IMMEDIATE_LEN>()?;
    let header = usize::from(fixed.u16(at::IMMEDIATE_HEADER)?);
    let payload = fixed.u32(at::IMMEDIATE_PAYLOAD)? as usize;
    fixed.reserved::<2>(at::IMMEDIATE_REST)?;
    if header > MAX_HEADER {
        return Err(DecodeError::HeaderTooLong);
    }
    // Subtraction on the side that is known to be small: nothing can overflow.
    if length.checked_sub(IMMEDIATE_LEN + header) != Some(payload) {
        return Err(DecodeError::Length);
    }
    Ok(Message::Immediate {
        header: reader.bytes(IMMEDIATE_LEN, header)?,
        payload: reader.bytes(IMMEDIATE_LEN + header, payload)?,
    })
}

/// Bytes of a key, by what a frame says of them.
#[inline(always)]
fn key_len<const SWAPPED: bool>(
    reader: Reader<'_, SWAPPED>,
    at: usize,
) -> Result<usize, DecodeError> {
    let length = usize::from(reader.u8(at)?);
    if length > MAX_KEY {
        Err(DecodeError::KeyTooLong)
    } else {
        Ok(length)
    }
}

/// PUT_REQ and GET_REQ.
#[inline(always)]
fn request<const SWAPPED: bool>(
    reader: Reader<'_, SWAPPED>,
    length: usize,
    kind: u8,
) -> Result<Message<'_>, DecodeError> {
    let fixed = reader.first::<REQ_LEN>()?;
    let header = usize::from(fixed.u16(at::REQ_HEADER)?);
    fixed.reserved::<1>(at::REQ_REST)?;
    if header > MAX_HEADER {
        return Err(DecodeError::HeaderTooLong);
    }
    let key = key_len(fixed, at::REQ_KEY)?;
    expect_length(length, REQ_LEN + header + key)?;
    let tag = Tag::from_cookie(fixed.u64(at::COOKIE)?);
    let length = fixed.u32(at::REQ_LENGTH)?;
    let key = reader.bytes(REQ_LEN + header, key)?;
    let header = reader.bytes(REQ_LEN, header)?;
    Ok(if kind == kind::PUT_REQ {
        Message::PutReq { header, source: tag, length, key }
    } else {
        Message::GetReq { header, sink: tag, length, key }
    })
}

/// PUT_NAK, GET_NAK, PUT_DONE and GET_DONE: tag and refusal, zero being none, and the bytes of a
/// push that went well.
#[inline(always)]
fn answer<const SWAPPED: bool>(
    reader: Reader<'_, SWAPPED>,
    length: usize,
    kind: u8,
) -> Result<Message<'_>, DecodeError> {
    expect_length(length, ANSWER_LEN)?;
    let reader = reader.first::<ANSWER_LEN>()?;
    reader.reserved::<3>(at::REFUSAL_REST)?;
    let refusal = reader.u8(at::REFUSAL)?;
    let length = reader.u32(at::PUSHED)?;
    if length != 0 && (refusal != 0 || kind != kind::GET_DONE) {
        return Err(DecodeError::Reserved);
    }
    let failed = match refusal {
        0 => None,
        wire => Some(NakReason::from_wire(wire).ok_or(DecodeError::BadRefusal)?),
    };
    let tag = Tag::from_cookie(reader.u64(at::COOKIE)?);
    Ok(match (kind, failed) {
        (kind::PUT_DONE, failed) => Message::PutDone { source: tag, failed },
        (kind::GET_DONE, failed) => Message::GetDone { sink: tag, length, failed },
        (_, None) => return Err(DecodeError::BadRefusal),
        (kind::PUT_NAK, Some(why)) => Message::PutNak { source: tag, why },
        (_, Some(why)) => Message::GetNak { sink: tag, why },
    })
}

fn cancel<const SWAPPED: bool>(
    reader: Reader<'_, SWAPPED>,
    length: usize,
    kind: u8,
) -> Result<Message<'_>, DecodeError> {
    expect_length(length, CANCEL_LEN)?;
    let reader = reader.first::<CANCEL_LEN>()?;
    let tag = Tag::from_cookie(reader.u64(at::CANCEL_SOURCE)?);
    if kind == kind::CANCEL_GET {
        let sink = Tag::from_cookie(reader.u64(at::CANCEL_SINK)?);
        return Ok(Message::CancelGet { source: tag, sink });
    }
    let (session, sequence) = (reader.u32(at::CANCEL_SESSION)?, reader.u32(at::CANCEL_SEQUENCE)?);
    Ok(if kind == kind::CANCEL_PUT {
        Message::CancelPut { source: tag, session, sequence }
    } else {
        Message::CancelPush { sink: tag, session, sequence }
    })
}
