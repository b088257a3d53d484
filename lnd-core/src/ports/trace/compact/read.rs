// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file reads records. Its input may be any bytes.

use super::kind;
use core::num::NonZeroU32;

use crate::base::id::{LinkId, Nid, Tag};
use crate::base::message::Lane;
use crate::base::time::Instant;
use crate::machines::link::{Connection, LinkState};
use crate::machines::peer::HelloState;
use crate::machines::transfer::{
    Cause, Debts, Delivery, Effect, Event, HealthClass, Place, Status, Word,
};
use crate::ports::trace::Trace;

/// Bytes that no encoder writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

crate::sentences! { Malformed { Self => "no encoder writes these bytes" }}

/// Reads the record at the front of `bytes`: its length, the time, and the event.
///
/// # Errors
/// [`Malformed`]. Also for a record that is longer or shorter than its own length.
pub fn decode(bytes: &[u8]) -> Result<(usize, Instant, Trace), Malformed> {
    // The length is checked against the input before anything else is read (R32).
    let length = usize::from(*bytes.first().ok_or(Malformed)?);
    let mut from = Reader { left: bytes.get(1..length).ok_or(Malformed)? };
    let kind = from.byte()?;
    let now = Instant::from_nanos(from.number()?);
    let trace = from.entry(kind)?;
    // A record that is longer than its fields comes from another version. Its meaning is unknown.
    if from.left.is_empty() {
        Ok((length, now, trace))
    } else {
        Err(Malformed)
    }
}

struct Reader<'b> {
    left: &'b [u8],
}

/// The entry of `all` with this number.
fn entry<T: Copy>(all: &[T], number: u8) -> Result<T, Malformed> {
    all.get(usize::from(number)).copied().ok_or(Malformed)
}

impl Reader<'_> {
    fn byte(&mut self) -> Result<u8, Malformed> {
        let (first, left) = self.left.split_first().ok_or(Malformed)?;
        self.left = left;
        Ok(*first)
    }

    fn number(&mut self) -> Result<u64, Malformed> {
        let mut number = 0;
        // Ten digits hold 64 bits. The bound keeps a hostile record from shifting further.
        for digit in 0..10 {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << (7 * digit);
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(Malformed)
    }

    fn word(&mut self) -> Result<u32, Malformed> {
        u32::try_from(self.number()?).map_err(|_| Malformed)
    }

    fn truth(&mut self) -> Result<bool, Malformed> {
        // Other values have no meaning and are refused, not rounded to `true`.
        entry(&[false, true], self.byte()?)
    }

    fn tag(&mut self) -> Result<Tag, Malformed> {
        Ok(Tag { index: self.word()?, generation: self.word()? })
    }

    fn nid(&mut self) -> Result<Nid, Malformed> {
        // Zero is no NID (R10).
        Nid::from_raw(self.number()?).ok_or(Malformed)
    }

    fn link(&mut self) -> Result<LinkId, Malformed> {
        LinkId::new(usize::from(self.byte()?)).ok_or(Malformed)
    }

    fn lane(&mut self) -> Result<Lane, Malformed> {
        entry(&[Lane::Request, Lane::Control], self.byte()?)
    }

    fn debts(&mut self) -> Result<Debts, Malformed> {
        Ok(Debts(self.byte()?))
    }

    /// Causes and places are numbered from one.
    fn cause(&mut self) -> Result<Cause, Malformed> {
        entry(&Cause::ALL, self.byte()?.wrapping_sub(1))
    }

    fn event(&mut self) -> Result<Event, Malformed> {
        Ok(match self.byte()? {
            0 => Event::Arm(self.debts()?),
            1 => Event::Withdraw(self.debts()?, self.cause()?),
            2 => Event::PayCpu,
            3 => Event::HwOk,
            4 => Event::HwUntouched,
            5 => Event::HwTouched,
            6 => Event::Stopped,
            7 => Event::MsgOk,
            8 => Event::MsgNotDelivered,
            9 => Event::MsgUnknown,
            10 => Event::Accepted,
            11 => Event::Done,
            12 => Event::Refused,
            13 => Event::Cancel(self.cause()?),
            _ => return Err(Malformed),
        })
    }

    fn effect(&mut self) -> Result<Effect, Malformed> {
        use Effect::*;
        let all = [None, Finalize, Invalidate, StartPull, Unqueue, TooLate, Late, Repeat, Misuse];
        entry(&all, self.byte()?)
    }

    fn status(&mut self) -> Result<Status, Malformed> {
        let deliveries =
            [Delivery::Delivered, Delivery::NotDelivered, Delivery::Unknown, Delivery::Sent];
        let errno = i32::try_from(self.word()?).map_err(|_| Malformed)?;
        let health = entry(&HealthClass::ALL, self.byte()?)?;
        let delivery = entry(&deliveries, self.byte()?.wrapping_sub(1))?;
        let resend = self.truth()?;
        let evidence = match (self.byte()?, self.byte()?) {
            (0, 0) => Option::None,
            (cause, place) => Some((
                entry(&Cause::ALL, cause.wrapping_sub(1))?,
                entry(&Place::ALL, place.wrapping_sub(1))?,
            )),
        };
        Result::Ok(Status { errno: errno.wrapping_neg(), health, delivery, resend, evidence })
    }

    fn hello(&mut self) -> Result<HelloState, Malformed> {
        use HelloState::*;
        entry(&[Unknown, Handshake, Good, Down], self.byte()?)
    }

    fn link_state(&mut self) -> Result<LinkState, Malformed> {
        use LinkState::*;
        entry(&[Up, Stalled, Stopping, Reclaiming, Down, Failed], self.byte()?)
    }

    fn entry(&mut self, kind: u8) -> Result<Trace, Malformed> {
        Ok(match kind {
            kind::ACCEPTED => {
                Trace::Accepted { tag: self.tag()?, peer: self.nid()?, length: self.word()? }
            }
            kind::STEP => Trace::Step {
                tag: self.tag()?,
                event: self.event()?,
                before: Word::from_bits(self.word()?),
                after: Word::from_bits(self.word()?),
                effect: self.effect()?,
            },
            kind::STALE => Trace::Stale { tag: self.tag()? },
            kind::POSTED => Trace::Posted { tag: self.tag()?, link: self.link()? },
            kind::INVALIDATED => Trace::Invalidated { tag: self.tag()?, link: self.link()? },
            kind::RECLAIMED => {
                Trace::Reclaimed { tag: self.tag()?, link: self.link()?, real: self.truth()? }
            }
            kind::SENT => Trace::Sent {
                to: self.nid()?,
                link: self.link()?,
                lane: self.lane()?,
                sequence: self.word()?,
            },
            kind::RECEIVED => Trace::Received {
                from: self.nid()?,
                lane: self.lane()?,
                sequence: self.word()?,
                taken: self.truth()?,
            },
            kind::PEER => Trace::Peer { peer: self.nid()?, state: self.hello()? },
            kind::LINK => Trace::Link { link: self.link()?, state: self.link_state()? },
            kind::CONNECTION => {
                let (link, peer, number) = (self.link()?, self.nid()?, self.word()?);
                let number = NonZeroU32::new(number).ok_or(Malformed)?;
                let connection = Connection { link, peer, number };
                Trace::Connection { connection, state: self.link_state()? }
            }
            kind::ENDED => Trace::Ended {
                peer: self.nid()?,
                sequence: self.word()?,
                length: self.word()?,
                status: self.status()?,
            },
            kind::FINALIZED => Trace::Finalized { tag: self.tag()?, status: self.status()? },
            _ => return Err(Malformed),
        })
    }
}
