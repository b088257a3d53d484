// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Frames with short heads to messages.

use crate::wire::checksum::{checksum_of_all, Checksum};
use crate::wire::decode::Frame;
use crate::wire::error::DecodeError;
use crate::wire::layout::short::{HEAD_LEN, SUM_LEN, TAG_LEN};
use crate::wire::layout::{class, kind, MAX_FRAME};
use lnd_core::id::{Incarnation, Nid, Tag};
use lnd_core::key::MAX_KEY;
use lnd_core::message::{Envelope, Message, NakReason, PullReady, MAX_HEADER};

/// A head, as it was read: nothing in it is checked yet.
#[derive(Clone, Copy)]
struct Head {
    class: u8,
    kind: u8,
    detail: u8,
    flags: u8,
    session: u32,
    from: u64,
    to: u64,
    sequence: u32,
    credits_of: u32,
    credits: u16,
    /// Bytes of the key, and a reserved byte.
    key: u16,
    length: u32,
}

impl Head {
    #[inline(always)]
    fn read(bytes: &[u8; HEAD_LEN]) -> Self {
        let mut words = [0; HEAD_LEN / 8];
        for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        }
        let [first, from, to, numbers, last] = words;
        // Each cast takes the lower bits.
        let [class, kind, detail, flags] = (first as u32).to_le_bytes();
        Self {
            class,
            kind,
            detail,
            flags,
            session: (first >> 32) as u32,
            from,
            to,
            sequence: numbers as u32,
            credits_of: (numbers >> 32) as u32,
            credits: last as u16,
            key: (last >> 16) as u16,
            length: (last >> 32) as u32,
        }
    }

    /// Bytes between the head and the checksum, by what the head says.
    #[inline(always)]
    fn body_len(&self) -> Result<usize, DecodeError> {
        match (self.class, self.kind) {
            (class::SHORT_LND, kind::IMMEDIATE) => self.inline_len(),
            (class::SHORT_LND, kind::PUT_REQ | kind::GET_REQ) => {
                Ok(TAG_LEN + self.header_len()? + self.key_len()?)
            }
            (class::SHORT_LND, kind::PUT_NAK | kind::PUT_DONE | kind::GET_NAK | kind::GET_DONE) => {
                Ok(TAG_LEN)
            }
            (class::SHORT_LND, kind::NOOP) => Ok(0),
            (class::SHORT_CONTROL, kind::PULL_READY) => Ok(2 * TAG_LEN + self.key_len()?),
            (class::SHORT_LND, kind::CANCEL_PUT | kind::CANCEL_GET | kind::CANCEL_PUSH) => {
                Ok(2 * TAG_LEN)
            }
            _ => Err(DecodeError::Kind),
        }
    }

    /// The same for an IMMEDIATE.
    #[inline(always)]
    fn inline_len(&self) -> Result<usize, DecodeError> {
        let payload = self.length as usize;
        if payload > MAX_FRAME {
            return Err(DecodeError::Oversize);
        }
        // Both are bounded: the sum cannot overflow.
        Ok(self.header_len()? + payload)
    }

    #[inline(always)]
    fn header_len(&self) -> Result<usize, DecodeError> {
        let header = usize::from(self.detail);
        if header > MAX_HEADER {
            Err(DecodeError::HeaderTooLong)
        } else {
            Ok(header)
        }
    }

    /// Bytes of the key of a message that has one.
    #[inline]
    fn key_len(&self) -> Result<usize, DecodeError> {
        // The lower byte; the upper one is reserved.
        let key = usize::from(self.key as u8);
        if key > MAX_KEY {
            Err(DecodeError::KeyTooLong)
        } else {
            Ok(key)
        }
    }

    /// `key`: what its bits may be.
    #[inline(always)]
    fn envelope(&self, from: Nid, to: Nid, key: u16) -> Result<Envelope, DecodeError> {
        if self.flags != 0 || self.key & !key != 0 {
            return Err(DecodeError::Reserved);
        }
        let to_incarnation = Incarnation::from_raw(self.to);
        if to_incarnation.is_none() {
            return Err(DecodeError::ZeroIncarnation);
        }
        Ok(Envelope {
            from,
            to,
            from_incarnation: Incarnation::from_raw(self.from)
                .ok_or(DecodeError::ZeroIncarnation)?,
            to_incarnation,
            session: self.session,
            sequence: self.sequence,
            credits: self.credits,
            credits_of: self.credits_of,
        })
    }

    /// Demands that what this kind of message does not use is zero.
    #[inline(always)]
    fn unused(&self, bits: u32) -> Result<(), DecodeError> {
        if bits == 0 {
            Ok(())
        } else {
            Err(DecodeError::Reserved)
        }
    }

    /// The message that `body` belongs to.
    fn message<'a>(&self, body: &'a [u8]) -> Result<Message<'a>, DecodeError> {
        let length = self.length;
        if (self.class, self.kind) == (class::SHORT_LND, kind::IMMEDIATE) {
            let parts = body.split_at_checked(usize::from(self.detail));
            let (header, payload) = parts.ok_or(DecodeError::Truncated)?;
            return Ok(Message::Immediate { header, payload });
        }
        if self.kind == kind::NOOP {
            self.unused(u32::from(self.detail) | u32::from(self.key) | length)?;
            return Ok(Message::Noop);
        }
        let (tag, body) = tag_of(body)?;
        Ok(match (self.class, self.kind) {
            (class::SHORT_CONTROL, _) => {
                self.unused(u32::from(self.detail))?;
                let (source, key) = tag_of(body)?;
                Message::PullReady(PullReady { sink: tag, source, length, key })
            }
            (_, kind::PUT_REQ | kind::GET_REQ) => {
                let parts = body.split_at_checked(usize::from(self.detail));
                let (header, key) = parts.ok_or(DecodeError::Truncated)?;
                if self.kind == kind::PUT_REQ {
                    Message::PutReq { header, source: tag, length, key }
                } else {
                    Message::GetReq { header, sink: tag, length, key }
                }
            }
            (_, kind::CANCEL_PUT | kind::CANCEL_GET | kind::CANCEL_PUSH) => {
                self.unused(u32::from(self.detail) | u32::from(self.key) | length)?;
                let (second, _) = tag_of(body)?;
                if self.kind == kind::CANCEL_GET {
                    Message::CancelGet { source: tag, sink: second }
                } else {
                    // What lies in place of a second tag.
                    let Tag { index: session, generation: sequence } = second;
                    if self.kind == kind::CANCEL_PUT {
                        Message::CancelPut { source: tag, session, sequence }
                    } else {
                        Message::CancelPush { sink: tag, session, sequence }
                    }
                }
            }
            // `body_len` has left these four.
            (_, answer) => match (answer, self.refusal()?) {
                (kind::PUT_DONE, failed) => Message::PutDone { source: tag, failed },
                (kind::GET_DONE, failed) => Message::GetDone { sink: tag, length, failed },
                (_, None) => return Err(DecodeError::BadRefusal),
                (kind::PUT_NAK, Some(why)) => Message::PutNak { source: tag, why },
                (_, Some(why)) => Message::GetNak { sink: tag, why },
            },
        })
    }

    fn refusal(&self) -> Result<Option<NakReason>, DecodeError> {
        // Only a push that went well has bytes to report.
        let pushed = self.kind == kind::GET_DONE && self.detail == 0;
        self.unused(u32::from(self.key) | if pushed { 0 } else { self.length })?;
        match self.detail {
            0 => Ok(None),
            wire => NakReason::from_wire(wire).map(Some).ok_or(DecodeError::BadRefusal),
        }
    }
}

/// An IMMEDIATE with its envelope: upper-layer header and payload.
pub type Inline<'a> = (Envelope, &'a [u8], &'a [u8]);

/// Decodes exactly one frame that is a correct IMMEDIATE with a short head. `None`: it is not, for
/// the reason that [`decode`] gives.
#[inline]
pub fn decode_inline(frame: &[u8], sum: Checksum, from: Nid, to: Nid) -> Option<Inline<'_>> {
    let (bytes, rest) = frame.split_first_chunk::<HEAD_LEN>()?;
    let head = Head::read(bytes);
    let usual = head.class == class::SHORT_LND && head.kind == kind::IMMEDIATE;
    if !usual || usize::from(head.detail) > MAX_HEADER || frame.len() > MAX_FRAME {
        return None;
    }
    let envelope = head.envelope(from, to, 0).ok()?;
    let body = if sum == Checksum::On { summed(frame, rest)? } else { rest };
    let (header, payload) = body.split_at_checked(usize::from(head.detail))?;
    (payload.len() == head.length as usize).then_some((envelope, header, payload))
}

/// The body of a frame with a correct checksum. `rest`: what is behind the head.
#[inline(never)]
fn summed<'a>(frame: &[u8], rest: &'a [u8]) -> Option<&'a [u8]> {
    let (body, _) = rest.split_last_chunk::<SUM_LEN>()?;
    check_sum(frame).is_ok().then_some(body)
}

/// Decodes exactly one frame that has a short head and that `from` has sent to `to`. Header and
/// payload are not copied.
///
/// # Errors
/// The first thing that is wrong with the frame. A kind that has no short head is unknown.
pub fn decode(frame: &[u8], sum: Checksum, from: Nid, to: Nid) -> Result<Frame<'_>, DecodeError> {
    let (head, body) = open(frame, sum)?;
    let key = if head.kind == kind::IMMEDIATE { 0 } else { 0xff };
    let envelope = head.envelope(from, to, key)?;
    Ok(match head.message(body)? {
        Message::PullReady(ready) => Frame::Control(envelope, ready),
        message => Frame::Lnd(envelope, message),
    })
}

/// The head of a whole frame, and the bytes between it and the checksum. The head states their
/// number.
#[inline(always)]
fn open(frame: &[u8], sum: Checksum) -> Result<(Head, &[u8]), DecodeError> {
    let (head, rest) = frame.split_first_chunk::<HEAD_LEN>().ok_or(DecodeError::Truncated)?;
    let head = Head::read(head);
    let body = head.body_len()?;
    // Before the checksum is computed: the time of the control layer is constant.
    expect_length(frame.len(), HEAD_LEN + body + sum.short_len())?;
    if sum == Checksum::On {
        check_sum(frame)?;
    }
    Ok((head, rest.get(..body).ok_or(DecodeError::Truncated)?))
}

/// Compares the length that the head states with the bytes that are there.
#[inline(always)]
fn expect_length(there: usize, stated: usize) -> Result<(), DecodeError> {
    if stated > MAX_FRAME {
        Err(DecodeError::Oversize)
    } else if there < stated {
        Err(DecodeError::Truncated)
    } else if there > stated {
        Err(DecodeError::Trailing)
    } else {
        Ok(())
    }
}

/// Not inlined: channels in memory have no sums.
#[inline(never)]
fn check_sum(frame: &[u8]) -> Result<(), DecodeError> {
    let (covered, sum) = frame.split_last_chunk::<SUM_LEN>().ok_or(DecodeError::Truncated)?;
    if u32::from_le_bytes(*sum) == checksum_of_all(covered) {
        Ok(())
    } else {
        Err(DecodeError::Checksum)
    }
}

#[inline]
fn tag_of(body: &[u8]) -> Result<(Tag, &[u8]), DecodeError> {
    let (cookie, rest) = body.split_first_chunk().ok_or(DecodeError::Truncated)?;
    Ok((Tag::from_cookie(u64::from_le_bytes(*cookie)), rest))
}
