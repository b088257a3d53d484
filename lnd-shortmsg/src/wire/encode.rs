// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Messages to bytes.

use super::checksum::{checksum, Checksum, NONE};
use super::error::EncodeError;
use super::layout::{
    at, class, kind, ANSWER_LEN, CANCEL_LEN, HEADER_LEN, HELLO_LEN, IMMEDIATE_LEN, MAGIC,
    MAX_FRAME, PULL_READY_LEN, REQ_LEN, VERSION,
};
use super::order::{Order, Writer};
use lnd_core::id::Tag;
use lnd_core::key::MAX_KEY;
use lnd_core::message::{Envelope, Hello, HelloAck, Message, NakReason, PullReady, MAX_HEADER};

/// Bytes of the frame that [`encode`] writes for this message.
///
/// # Errors
/// Every error that [`encode`] can have but [`EncodeError::NoRoom`].
#[inline]
pub fn encoded_len(envelope: &Envelope, message: &Message<'_>) -> Result<usize, EncodeError> {
    if envelope.to_incarnation.is_none() && !matches!(message, Message::Hello(_)) {
        return Err(EncodeError::NoIncarnation);
    }
    let (fixed, header, rest) = match message {
        Message::HelloAck(HelloAck { version: Some(0), .. }) => return Err(EncodeError::NoVersion),
        Message::Hello(_) | Message::HelloAck(_) => (HELLO_LEN, 0, 0),
        Message::Immediate { header, payload } => (IMMEDIATE_LEN, header.len(), payload.len()),
        Message::PutReq { key, .. }
        | Message::GetReq { key, .. }
        | Message::PullReady(PullReady { key, .. })
            if key.len() > MAX_KEY =>
        {
            return Err(EncodeError::KeyTooLong)
        }
        Message::PutReq { header, key, .. } | Message::GetReq { header, key, .. } => {
            (REQ_LEN, header.len(), key.len())
        }
        Message::PutNak { .. }
        | Message::PutDone { .. }
        | Message::GetNak { .. }
        | Message::GetDone { .. } => (ANSWER_LEN, 0, 0),
        Message::CancelPut { .. } | Message::CancelGet { .. } | Message::CancelPush { .. } => {
            (CANCEL_LEN, 0, 0)
        }
        Message::Noop | Message::Close => (HEADER_LEN, 0, 0),
        Message::PullReady(ready) => (PULL_READY_LEN, 0, ready.key.len()),
    };
    if header > MAX_HEADER {
        return Err(EncodeError::HeaderTooLong);
    }
    match rest.checked_add(fixed + header) {
        Some(length) if length <= MAX_FRAME => Ok(length),
        _ => Err(EncodeError::TooLong),
    }
}

/// Writes a message to the beginning of `out`, in this machine's byte order, and returns the number
/// of bytes. Only these are written.
///
/// # Errors
/// [`EncodeError`]; `out` then holds nothing that may be sent.
#[inline]
pub fn encode(
    envelope: &Envelope,
    message: &Message<'_>,
    checksum: Checksum,
    out: &mut [u8],
) -> Result<usize, EncodeError> {
    encode_swapped::<false>(envelope, message, checksum, out)
}

/// As [`encode`], in the byte order of choice: what a machine of that order would write.
///
/// # Errors
/// As [`encode`].
pub fn encode_as(
    order: Order,
    envelope: &Envelope,
    message: &Message<'_>,
    checksum: Checksum,
    out: &mut [u8],
) -> Result<usize, EncodeError> {
    if order == Order::NATIVE {
        encode_swapped::<false>(envelope, message, checksum, out)
    } else {
        encode_swapped::<true>(envelope, message, checksum, out)
    }
}

/// As [`encode`] of an IMMEDIATE, whose payload of `payload` bytes `gather` writes to its place in
/// the frame. `Ok(None)`: it has returned `false`, and `out` holds nothing that may be sent.
///
/// # Errors
/// As [`encode`]. `gather` is then perhaps not called.
#[inline]
pub fn encode_inline(
    envelope: &Envelope,
    header: &[u8],
    payload: usize,
    sum: Checksum,
    out: &mut [u8],
    gather: impl FnOnce(&mut [u8]) -> bool,
) -> Result<Option<usize>, EncodeError> {
    let length = immediate_len(envelope, header.len(), payload)?;
    let frame = out.get_mut(..length).ok_or(EncodeError::NoRoom)?;
    let place = frame.get_mut(IMMEDIATE_LEN + header.len()..).ok_or(EncodeError::NoRoom)?;
    if !gather(place) {
        return Ok(None);
    }
    let mut writer = Writer::<false>(frame);
    write_head(writer.first::<HEADER_LEN>()?, (class::LND, kind::IMMEDIATE), length, envelope)?;
    write_immediate(&mut writer, header, payload)?;
    sign(writer, sum)?;
    Ok(Some(length))
}

/// As [`encoded_len`] of an IMMEDIATE.
#[inline]
fn immediate_len(envelope: &Envelope, header: usize, payload: usize) -> Result<usize, EncodeError> {
    if envelope.to_incarnation.is_none() {
        return Err(EncodeError::NoIncarnation);
    }
    if header > MAX_HEADER {
        return Err(EncodeError::HeaderTooLong);
    }
    match payload.checked_add(IMMEDIATE_LEN + header) {
        Some(length) if length <= MAX_FRAME => Ok(length),
        _ => Err(EncodeError::TooLong),
    }
}

#[inline]
fn encode_swapped<const SWAPPED: bool>(
    envelope: &Envelope,
    message: &Message<'_>,
    sum: Checksum,
    out: &mut [u8],
) -> Result<usize, EncodeError> {
    let length = encoded_len(envelope, message)?;
    let frame = out.get_mut(..length).ok_or(EncodeError::NoRoom)?;
    let mut writer = Writer::<SWAPPED>(frame);
    let head = writer.first::<HEADER_LEN>()?;
    write_head(head, class_and_kind(message), length, envelope)?;
    write_body(&mut writer, message)?;
    sign(writer, sum)?;
    Ok(length)
}

/// What each frame begins with.
#[inline(always)]
fn write_head<const SWAPPED: bool>(
    mut head: Writer<'_, SWAPPED>,
    (class, kind): (u8, u8),
    length: usize,
    envelope: &Envelope,
) -> Result<(), EncodeError> {
    head.array(at::CLASS, [class, kind, VERSION, 0])?;
    head.u32(at::MAGIC, MAGIC)?;
    // At most MAX_FRAME, so the cast loses nothing.
    head.u32(at::LENGTH, length as u32)?;
    head.u32(at::CHECKSUM, NONE)?;
    write_envelope(head, envelope)
}

#[inline(always)]
fn sign<const SWAPPED: bool>(
    mut writer: Writer<'_, SWAPPED>,
    sum: Checksum,
) -> Result<(), EncodeError> {
    if sum == Checksum::On {
        let sum = checksum(writer.0);
        writer.u32(at::CHECKSUM, sum)?;
    }
    Ok(())
}

/// An IMMEDIATE's lengths and header: all but its payload.
#[inline(always)]
fn write_immediate<const SWAPPED: bool>(
    writer: &mut Writer<'_, SWAPPED>,
    header: &[u8],
    payload: usize,
) -> Result<(), EncodeError> {
    // Both lengths were bounded by `encoded_len`: the casts lose nothing.
    let mut fixed = writer.first::<IMMEDIATE_LEN>()?;
    fixed.u16(at::IMMEDIATE_HEADER, header.len() as u16)?;
    fixed.array(at::IMMEDIATE_REST, [0; 2])?;
    fixed.u32(at::IMMEDIATE_PAYLOAD, payload as u32)?;
    writer.bytes(IMMEDIATE_LEN, header)
}

const fn class_and_kind(message: &Message<'_>) -> (u8, u8) {
    let kind = match message {
        Message::PullReady(_) => return (class::CONTROL, kind::PULL_READY),
        Message::Hello(_) => kind::HELLO,
        Message::HelloAck(_) => kind::HELLO_ACK,
        Message::Immediate { .. } => kind::IMMEDIATE,
        Message::PutReq { .. } => kind::PUT_REQ,
        Message::PutNak { .. } => kind::PUT_NAK,
        Message::PutDone { .. } => kind::PUT_DONE,
        Message::GetReq { .. } => kind::GET_REQ,
        Message::GetNak { .. } => kind::GET_NAK,
        Message::Noop => kind::NOOP,
        Message::Close => kind::CLOSE,
        Message::CancelPut { .. } => kind::CANCEL_PUT,
        Message::CancelGet { .. } => kind::CANCEL_GET,
        Message::GetDone { .. } => kind::GET_DONE,
        Message::CancelPush { .. } => kind::CANCEL_PUSH,
    };
    (class::LND, kind)
}

#[inline(always)]
fn write_envelope<const SWAPPED: bool>(
    mut writer: Writer<'_, SWAPPED>,
    envelope: &Envelope,
) -> Result<(), EncodeError> {
    writer.u64(at::FROM, envelope.from.raw())?;
    writer.array(at::FROM_REST, [0; 8])?;
    writer.u64(at::TO, envelope.to.raw())?;
    writer.array(at::TO_REST, [0; 8])?;
    writer.u64(at::FROM_INCARNATION, envelope.from_incarnation.raw())?;
    writer.u64(
        at::TO_INCARNATION,
        envelope.to_incarnation.map_or(0, |incarnation| incarnation.raw()),
    )?;
    writer.u32(at::SESSION, envelope.session)?;
    writer.u32(at::SEQUENCE, envelope.sequence)?;
    writer.u16(at::CREDITS, envelope.credits)?;
    writer.array(at::CREDITS_REST, [0; 2])?;
    writer.u32(at::CREDITS_OF, envelope.credits_of)
}

#[inline]
fn write_body<const SWAPPED: bool>(
    writer: &mut Writer<'_, SWAPPED>,
    message: &Message<'_>,
) -> Result<(), EncodeError> {
    match *message {
        Message::Hello(hello) => write_hello(writer.first::<HELLO_LEN>()?, hello),
        Message::HelloAck(ack) => write_hello_ack(writer.first::<HELLO_LEN>()?, ack),
        Message::Immediate { header, payload } => {
            write_immediate(writer, header, payload.len())?;
            writer.bytes(IMMEDIATE_LEN + header.len(), payload)
        }
        Message::PutReq { header, source: tag, length, key }
        | Message::GetReq { header, sink: tag, length, key } => {
            write_request(writer, tag, length, header, key)
        }
        Message::PutNak { source: tag, why } | Message::GetNak { sink: tag, why } => {
            write_answer(writer.first::<ANSWER_LEN>()?, tag, Some(why), 0)
        }
        Message::PutDone { source, failed } => {
            write_answer(writer.first::<ANSWER_LEN>()?, source, failed, 0)
        }
        Message::GetDone { sink, length, failed } => {
            write_answer(writer.first::<ANSWER_LEN>()?, sink, failed, length)
        }
        Message::CancelPut { source: tag, session, sequence }
        | Message::CancelPush { sink: tag, session, sequence } => {
            let mut fixed = writer.first::<CANCEL_LEN>()?;
            fixed.u64(at::CANCEL_SOURCE, tag.to_cookie())?;
            fixed.u32(at::CANCEL_SESSION, session)?;
            fixed.u32(at::CANCEL_SEQUENCE, sequence)
        }
        Message::CancelGet { source, sink } => {
            let mut fixed = writer.first::<CANCEL_LEN>()?;
            fixed.u64(at::CANCEL_SOURCE, source.to_cookie())?;
            fixed.u64(at::CANCEL_SINK, sink.to_cookie())
        }
        Message::Noop | Message::Close => Ok(()),
        Message::PullReady(ready) => write_pull_ready(writer, &ready),
    }
}

#[inline]
fn write_hello<const SWAPPED: bool>(
    mut writer: Writer<'_, SWAPPED>,
    hello: Hello,
) -> Result<(), EncodeError> {
    writer.array(at::HELLO_MIN, [hello.version_min, hello.version_max])?;
    writer.array(at::HELLO_ATTEMPT, [hello.attempt, 0])?;
    writer.u32(at::HELLO_IMMEDIATE, hello.immediate_max)?;
    writer.u32(at::HELLO_FEATURES, hello.features)?;
    writer.u32(at::HELLO_GIVEN_UP, hello.given_up)
}

#[inline]
fn write_hello_ack<const SWAPPED: bool>(
    mut writer: Writer<'_, SWAPPED>,
    ack: HelloAck,
) -> Result<(), EncodeError> {
    writer.u32(at::ACK_SESSION, ack.session)?;
    writer.array(at::ACK_VERSION, [ack.version.unwrap_or(0), ack.attempt])?;
    writer.u16(at::ACK_DEPTH, ack.depth)?;
    writer.u32(at::ACK_IMMEDIATE, ack.immediate_max)?;
    writer.u32(at::ACK_FEATURES, ack.features)
}

#[inline]
fn write_request<const SWAPPED: bool>(
    writer: &mut Writer<'_, SWAPPED>,
    tag: Tag,
    length: u32,
    header: &[u8],
    key: &[u8],
) -> Result<(), EncodeError> {
    let mut fixed = writer.first::<REQ_LEN>()?;
    fixed.u64(at::COOKIE, tag.to_cookie())?;
    fixed.u32(at::REQ_LENGTH, length)?;
    // Both are bounded by `encoded_len`: the casts lose nothing.
    fixed.u16(at::REQ_HEADER, header.len() as u16)?;
    fixed.array(at::REQ_KEY, [key.len() as u8, 0])?;
    writer.bytes(REQ_LEN, header)?;
    writer.bytes(REQ_LEN + header.len(), key)
}

/// `pushed`: bytes that were pushed. They count only if nothing was refused, since a receiver takes
/// no other frame.
#[inline]
fn write_answer<const SWAPPED: bool>(
    mut writer: Writer<'_, SWAPPED>,
    tag: Tag,
    why: Option<NakReason>,
    pushed: u32,
) -> Result<(), EncodeError> {
    writer.u64(at::COOKIE, tag.to_cookie())?;
    writer.array(at::REFUSAL, [why.map_or(0, |why| why as u8), 0, 0, 0])?;
    writer.u32(at::PUSHED, if why.is_none() { pushed } else { 0 })
}

#[inline]
fn write_pull_ready<const SWAPPED: bool>(
    writer: &mut Writer<'_, SWAPPED>,
    ready: &PullReady<'_>,
) -> Result<(), EncodeError> {
    let mut fixed = writer.first::<PULL_READY_LEN>()?;
    fixed.u64(at::SINK, ready.sink.to_cookie())?;
    fixed.u64(at::SOURCE, ready.source.to_cookie())?;
    fixed.u32(at::STAGED, ready.length)?;
    // Bounded by `encoded_len`: the cast loses nothing.
    fixed.array(at::STAGED_KEY, [ready.key.len() as u8, 0, 0, 0])?;
    writer.bytes(PULL_READY_LEN, ready.key)
}
