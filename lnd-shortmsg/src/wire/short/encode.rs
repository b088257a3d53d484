// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Messages to frames with short heads.

use crate::mailbox::FIRST_LINE;
use crate::wire::checksum::{checksum_of_all, Checksum};
use crate::wire::error::EncodeError;
use crate::wire::layout::short::{HEAD_LEN, SUM_LEN, TAG_LEN};
use crate::wire::layout::{class, kind, MAX_FRAME};
use lnd_core::id::{Incarnation, Tag};
use lnd_core::key::MAX_KEY;
use lnd_core::message::{Envelope, Message, NakReason, PullReady, MAX_HEADER};

/// Bytes of what follows the head in the same line of a mailbox.
const FIRST: usize = FIRST_LINE - HEAD_LEN;

/// From so many bytes behind these on a header is copied as its first `LONG` and its last `TAIL`
/// bytes.
const LONG: usize = 64 - FIRST;
const TAIL: usize = MAX_HEADER - FIRST - LONG;

/// Whether a message of a channel with short heads has one. The others are sent before the two ends
/// have agreed on anything, or when the sender ends.
pub const fn is_short(message: &Message<'_>) -> bool {
    !matches!(message, Message::Hello(_) | Message::HelloAck(_) | Message::Close)
}

/// What the head says of the message itself.
#[derive(Clone, Copy)]
struct Start {
    class: u8,
    kind: u8,
    /// Bytes of upper-layer header, or the refusal.
    detail: u8,
    /// Bytes of payload, staged, asked for, or pushed.
    length: u32,
    /// Bytes of key.
    key: u8,
}

impl Start {
    const fn lnd(kind: u8, detail: u8, length: u32) -> Self {
        Self { class: class::SHORT_LND, kind, detail, length, key: 0 }
    }

    /// The same for an answer. `pushed` counts only if nothing is refused, since a receiver takes
    /// no other frame.
    const fn answer(kind: u8, why: Option<NakReason>, pushed: u32) -> Self {
        match why {
            Some(why) => Self::lnd(kind, why as u8, 0),
            None => Self::lnd(kind, 0, pushed),
        }
    }

    /// The same for a message with this key.
    const fn with(self, key: &[u8]) -> Self {
        // A key is bounded by `encoded_len`: the cast loses nothing.
        Self { key: key.len() as u8, ..self }
    }

    /// `to`: the receiver's incarnation.
    #[inline(always)]
    fn head(self, envelope: &Envelope, to: Incarnation) -> [u8; HEAD_LEN] {
        let Self { class, kind, detail, length, key } = self;
        let first = u32::from_le_bytes([class, kind, detail, 0]);
        packed([
            pair(first, envelope.session),
            envelope.from_incarnation.raw(),
            to.raw(),
            pair(envelope.sequence, envelope.credits_of),
            pair(u32::from(envelope.credits) | u32::from(key) << 16, length),
        ])
    }
}

#[inline(always)]
fn pair(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

#[inline(always)]
fn packed(words: [u64; HEAD_LEN / 8]) -> [u8; HEAD_LEN] {
    let mut head = [0; HEAD_LEN];
    for (place, word) in head.chunks_exact_mut(8).zip(words) {
        if let Some(place) = place.first_chunk_mut::<8>() {
            *place = word.to_le_bytes();
        }
    }
    head
}

/// Bytes of an IMMEDIATE.
///
/// # Errors
/// Header or frame would be too long.
#[inline]
pub fn inline_len(header: usize, payload: usize, sum: Checksum) -> Result<usize, EncodeError> {
    if header > MAX_HEADER {
        return Err(EncodeError::HeaderTooLong);
    }
    match payload.checked_add(HEAD_LEN + header + sum.short_len()) {
        Some(length) if length <= MAX_FRAME => Ok(length),
        _ => Err(EncodeError::TooLong),
    }
}

/// A PUT_REQ or GET_REQ, encoded apart from all other messages.
#[derive(Clone, Copy)]
pub struct ShortRequest<'a> {
    pub kind: u8,
    pub header: &'a [u8],
    pub tag: Tag,
    pub length: u32,
    pub key: &'a [u8],
}

impl ShortRequest<'_> {
    /// Bytes of its frame.
    ///
    /// # Errors
    /// As [`encoded_len`].
    #[cfg(not(feature = "compact"))]
    #[inline(always)]
    pub fn encoded_len(&self, envelope: &Envelope, sum: Checksum) -> Result<usize, EncodeError> {
        if envelope.to_incarnation.is_none() {
            return Err(EncodeError::NoIncarnation);
        }
        if self.key.len() > MAX_KEY {
            return Err(EncodeError::KeyTooLong);
        }
        inline_len(self.header.len(), TAG_LEN + self.key.len(), sum)
    }

    /// Writes it to a frame of [its length](Self::encoded_len).
    ///
    /// # Errors
    /// As [`encode`].
    #[inline(always)]
    pub fn fill(
        &self,
        envelope: &Envelope,
        sum: Checksum,
        frame: &mut [u8],
    ) -> Result<(), EncodeError> {
        let Self { kind, header, tag, length, key } = *self;
        // The header was bounded by `encoded_len`: the cast loses nothing.
        let start = Start::lnd(kind, header.len() as u8, length).with(key);
        write_keyed(envelope, start, [tag], header, key, frame)?;
        sign(frame, sum)
    }
}

/// Bytes of the frame of a message that [has the short head](is_short).
///
/// # Errors
/// Every error that [`encode`] can have but [`EncodeError::NoRoom`].
#[inline]
pub fn encoded_len(
    envelope: &Envelope,
    message: &Message<'_>,
    sum: Checksum,
) -> Result<usize, EncodeError> {
    if envelope.to_incarnation.is_none() {
        return Err(EncodeError::NoIncarnation);
    }
    let (header, rest) = match *message {
        Message::Immediate { header, payload } => (header.len(), payload.len()),
        Message::PutReq { key, .. }
        | Message::GetReq { key, .. }
        | Message::PullReady(PullReady { key, .. })
            if key.len() > MAX_KEY =>
        {
            return Err(EncodeError::KeyTooLong)
        }
        Message::PutReq { header, key, .. } | Message::GetReq { header, key, .. } => {
            (header.len(), TAG_LEN + key.len())
        }
        Message::PutNak { .. }
        | Message::PutDone { .. }
        | Message::GetNak { .. }
        | Message::GetDone { .. } => (0, TAG_LEN),
        Message::PullReady(ready) => (0, 2 * TAG_LEN + ready.key.len()),
        Message::CancelPut { .. } | Message::CancelGet { .. } | Message::CancelPush { .. } => {
            (0, 2 * TAG_LEN)
        }
        _ => (0, 0),
    };
    inline_len(header, rest, sum)
}

/// Writes a message that [has the short head](is_short) to the beginning of `out`.
///
/// # Errors
/// [`EncodeError`]; `out` then holds nothing that may be sent.
#[inline]
pub fn encode(
    envelope: &Envelope,
    message: &Message<'_>,
    sum: Checksum,
    out: &mut [u8],
) -> Result<usize, EncodeError> {
    let length = encoded_len(envelope, message, sum)?;
    fill(envelope, message, sum, out.get_mut(..length).ok_or(EncodeError::NoRoom)?)?;
    Ok(length)
}

/// Writes a message to a frame of [its length](encoded_len).
///
/// # Errors
/// As [`encode`].
#[inline]
pub fn fill(
    envelope: &Envelope,
    message: &Message<'_>,
    sum: Checksum,
    frame: &mut [u8],
) -> Result<(), EncodeError> {
    let (start, tag) = match *message {
        Message::Immediate { header, payload } => {
            let copied = |place: &mut [u8]| {
                put(place, payload);
                true
            };
            return encode_inline(envelope, header, payload.len(), sum, frame, copied).map(|_| ());
        }
        Message::PutReq { header, source: tag, length, key }
        | Message::GetReq { header, sink: tag, length, key } => {
            let is_put = matches!(message, Message::PutReq { .. });
            let kind = if is_put { kind::PUT_REQ } else { kind::GET_REQ };
            return ShortRequest { kind, header, tag, length, key }.fill(envelope, sum, frame);
        }
        Message::PullReady(PullReady { sink, source, length, key }) => {
            let start = Start::lnd(kind::PULL_READY, 0, length).with(key);
            let start = Start { class: class::SHORT_CONTROL, ..start };
            write_keyed(envelope, start, [sink, source], &[], key, frame)?;
            return sign(frame, sum);
        }
        Message::PutNak { source, why } => (Start::answer(kind::PUT_NAK, Some(why), 0), source),
        Message::GetNak { sink, why } => (Start::answer(kind::GET_NAK, Some(why), 0), sink),
        Message::PutDone { source, failed } => (Start::answer(kind::PUT_DONE, failed, 0), source),
        Message::GetDone { sink, length, failed } => {
            (Start::answer(kind::GET_DONE, failed, length), sink)
        }
        Message::CancelPut { source: tag, session, sequence }
        | Message::CancelPush { sink: tag, session, sequence } => {
            let is_put = matches!(message, Message::CancelPut { .. });
            let kind = if is_put { kind::CANCEL_PUT } else { kind::CANCEL_PUSH };
            // In place of a second tag, whose bytes lie in the same order.
            let number = Tag { index: session, generation: sequence };
            return fill_cancel(envelope, kind, [tag, number], sum, frame);
        }
        Message::CancelGet { source, sink } => {
            return fill_cancel(envelope, kind::CANCEL_GET, [source, sink], sum, frame);
        }
        _ => {
            write_keyed(envelope, Start::lnd(kind::NOOP, 0, 0), [], &[], &[], frame)?;
            return sign(frame, sum);
        }
    };
    write_keyed(envelope, start, [tag], &[], &[], frame)?;
    sign(frame, sum)
}

/// Writes a CANCEL of any kind. Not inlined: it is rare.
#[inline(never)]
fn fill_cancel(
    envelope: &Envelope,
    kind: u8,
    tags: [Tag; 2],
    sum: Checksum,
    frame: &mut [u8],
) -> Result<(), EncodeError> {
    write_keyed(envelope, Start::lnd(kind, 0, 0), tags, &[], &[], frame)?;
    sign(frame, sum)
}

/// Writes an IMMEDIATE to a frame of [its length](inline_len). `gather` writes the payload;
/// `Ok(false)`: it did not, and the frame may not be sent.
///
/// The first line of a mailbox's slot is written last. Its reader polls that line, and would take
/// it away from a writer that is not done with it.
///
/// # Errors
/// As [`encode`].
#[inline]
pub fn encode_inline(
    envelope: &Envelope,
    header: &[u8],
    payload: usize,
    sum: Checksum,
    frame: &mut [u8],
    gather: impl FnOnce(&mut [u8]) -> bool,
) -> Result<bool, EncodeError> {
    // Both lengths were bounded by `inline_len`: the casts lose nothing.
    let start = Start::lnd(kind::IMMEDIATE, header.len() as u8, payload as u32);
    let to = envelope.to_incarnation.ok_or(EncodeError::NoIncarnation)?;
    let (head, rest) = frame.split_first_chunk_mut::<HEAD_LEN>().ok_or(EncodeError::NoRoom)?;
    let (place, rest) = rest.split_at_mut_checked(header.len()).ok_or(EncodeError::NoRoom)?;
    if !gather(rest.get_mut(..payload).ok_or(EncodeError::NoRoom)?) {
        return Ok(false);
    }
    put_header(place, header);
    *head = start.head(envelope, to);
    sign(frame, sum)?;
    Ok(true)
}

/// Head, tags, upper-layer header and key; the head last, as in [`encode_inline`].
#[inline(always)]
fn write_keyed<const TAGS: usize>(
    envelope: &Envelope,
    start: Start,
    tags: [Tag; TAGS],
    header: &[u8],
    key: &[u8],
    frame: &mut [u8],
) -> Result<(), EncodeError> {
    let (head, mut rest) = frame.split_first_chunk_mut::<HEAD_LEN>().ok_or(EncodeError::NoRoom)?;
    for tag in tags {
        let (place, after) = rest.split_first_chunk_mut().ok_or(EncodeError::NoRoom)?;
        *place = tag.to_cookie().to_le_bytes();
        rest = after;
    }
    let (place, rest) = rest.split_at_mut_checked(header.len()).ok_or(EncodeError::NoRoom)?;
    put_header(place, header);
    // Most engines have no keys.
    if !key.is_empty() {
        put(rest.get_mut(..key.len()).ok_or(EncodeError::NoRoom)?, key);
    }
    *head = start.head(envelope, envelope.to_incarnation.ok_or(EncodeError::NoIncarnation)?);
    Ok(())
}

/// Copies a header. One of LNet's, of 64 bytes or more, takes copies of constant lengths, of which
/// two overlap. What lies in the first line is copied last.
#[inline(always)]
fn put_header(place: &mut [u8], header: &[u8]) {
    let whole = (place.split_first_chunk_mut::<FIRST>(), header.split_first_chunk::<FIRST>());
    if let (Some((first, rest)), Some((own, others))) = whole {
        let ends = (others.first_chunk::<LONG>(), others.last_chunk::<TAIL>());
        if let (Some(begin), Some(end)) = ends {
            if let Some(place) = rest.last_chunk_mut() {
                *place = *end;
            }
            if let Some(place) = rest.first_chunk_mut() {
                *place = *begin;
            }
            *first = *own;
            return;
        }
    }
    put_short_header(place, header);
}

/// Not inlined: the compiler would make one call of all copies.
#[inline(never)]
fn put_short_header(place: &mut [u8], header: &[u8]) {
    put(place, header);
}

#[inline(always)]
fn put(place: &mut [u8], bytes: &[u8]) {
    // Both have one length where this is called, so all is copied.
    if let Some(bytes) = bytes.get(..place.len()) {
        place.copy_from_slice(bytes);
    }
}

/// Ends a frame with the sum of what is before, if the channel has sums.
#[inline(always)]
fn sign(frame: &mut [u8], sum: Checksum) -> Result<(), EncodeError> {
    if sum == Checksum::On {
        let (covered, place) =
            frame.split_last_chunk_mut::<SUM_LEN>().ok_or(EncodeError::NoRoom)?;
        *place = checksum_of_all(covered).to_le_bytes();
    }
    Ok(())
}
