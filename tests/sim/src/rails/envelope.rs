// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What this layer adds to the upper layer's header on each hop, so that the next hop recognises a
//! second copy (R45): 24 bytes behind it, little-endian.

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
    /// Its life, counted from 1.
    pub life: u32,
    /// The receiver's life as the sender knows it; 0: it does not.
    pub to_life: u32,
    /// The number by which a second copy is recognised.
    pub number: Option<u32>,
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
        let flags = self.to_life << 3 | bit(self.number.is_some(), NUMBERED) | kind;
        let words = [self.host, self.life, self.number.unwrap_or(0), flags];
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
        let envelope = Self {
            host: word(0)?,
            life: word(1)?,
            to_life: flags >> 3,
            number: (flags & NUMBERED != 0).then_some(word(2)?),
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
        for number in [None, Some(0), Some(u32::MAX)] {
            for ping in [false, true] {
                let envelope = Envelope {
                    host: 3,
                    life: 9,
                    to_life: 7,
                    number,
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
