// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What this layer adds to the upper layer's header on each hop, so that the next hop recognises a
//! second copy (R45): 24 bytes behind it, little-endian.

use lnd_core::id::Incarnation;
use lnd_health::{Number, Stamp};

use crate::lnet::HEADER_BYTES;

/// Bytes of both headers together.
pub const BYTES: usize = HEADER_BYTES + 24;

const _: () = assert!(BYTES <= lnd_core::message::MAX_HEADER);

const NUMBERED: u32 = 1;
const PING: u32 = 2;
const PONG: u32 = 4;

/// One hop's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// The node that sends it on this hop.
    pub host: u32,
    /// Its incarnation, counted from 1.
    pub incarnation: u32,
    /// By what a second copy is recognised: the lives are small numbers here, the epochs too.
    pub stamp: Option<Stamp>,
    /// A recovery ping: there is nothing behind it.
    pub ping: bool,
    /// The answer to one.
    pub pong: bool,
    /// A ping's name. Else the message's number in the whole world, for the oracle alone.
    pub serial: u64,
}

impl Envelope {
    /// The upper layer's header with this behind it.
    pub fn wrap(&self, header: &[u8; HEADER_BYTES]) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        let bit = |on: bool, bit: u32| if on { bit } else { 0 };
        let kind = bit(self.ping, PING) | bit(self.pong, PONG);
        let to = self.stamp.and_then(|stamp| stamp.to).map_or(0, |to| to.raw() as u32);
        let flags = to << 3 | bit(self.stamp.is_some(), NUMBERED) | kind;
        let (epoch, count) = self.stamp.map_or((0, 0), |s| (s.number.epoch(), s.number.count()));
        let words = [epoch << 8 | self.host & 0xff, self.incarnation, count, flags];
        let (inner, outer) = bytes.split_at_mut(HEADER_BYTES);
        inner.copy_from_slice(header);
        let (words_at, serial_at) = outer.split_at_mut(16);
        for (place, word) in words_at.chunks_exact_mut(4).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        serial_at.copy_from_slice(&self.serial.to_le_bytes());
        bytes
    }

    /// Takes both apart; `None` if the length is not theirs.
    pub fn unwrap(bytes: &[u8]) -> Option<(&[u8; HEADER_BYTES], Self)> {
        let (inner, outer) = bytes.split_first_chunk::<HEADER_BYTES>()?;
        let outer: &[u8; BYTES - HEADER_BYTES] = outer.try_into().ok()?;
        let word = |at: usize| -> Option<u32> {
            outer.get(4 * at..4 * at + 4)?.try_into().ok().map(u32::from_le_bytes)
        };
        let flags = word(3)?;
        let stamp = Stamp {
            from: Incarnation::from_raw(u64::from(word(1)?))?,
            to: Incarnation::from_raw(u64::from(flags >> 3)),
            // One that is not numbered has epoch 0.
            number: Number::new((word(0)? >> 8).max(1), word(2)?)?,
        };
        let envelope = Self {
            host: word(0)? & 0xff,
            incarnation: word(1)?,
            stamp: (flags & NUMBERED != 0).then_some(stamp),
            ping: flags & PING != 0,
            pong: flags & PONG != 0,
            serial: u64::from(word(4)?) | u64::from(word(5)?) << 32,
        };
        Some((inner, envelope))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_headers_come_back() {
        let incarnation = |n| Incarnation::from_raw(n);
        for (epoch, count, to) in
            [(1, 0, None), (1, u32::MAX, incarnation(7)), (0xff_ffff, 3, incarnation(1))]
        {
            let number = Number::new(epoch, count).unwrap();
            let stamp = Some(Stamp { from: incarnation(9).unwrap(), to, number });
            for ping in [false, true] {
                let envelope = Envelope {
                    host: 3,
                    incarnation: 9,
                    stamp: stamp.filter(|_| !ping),
                    ping,
                    pong: !ping,
                    serial: u64::MAX - 2,
                };
                let wrapped = envelope.wrap(&[7; HEADER_BYTES]);
                assert_eq!(Envelope::unwrap(&wrapped), Some((&[7; HEADER_BYTES], envelope)));
                assert_eq!(Envelope::unwrap(&wrapped[..BYTES - 1]), None);
            }
        }
    }
}
