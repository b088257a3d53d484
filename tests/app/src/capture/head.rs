// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What comes before each frame of a capture: the channel's part of the message. A frame alone does
//! not name its lane, and with the short head not its ends either.
//!
//! All numbers are big-endian.
//!
//! | offset | size | field | |
//! |---:|---:|---|---|
//! | 0 | 1 | version | 1 |
//! | 1 | 1 | lane | 0 request, 1 control |
//! | 2 | 1 | link | its number, from 0 |
//! | 3 | 1 | channel | bit 0: it has checksums; bit 1: it has short heads; else zero |
//! | 4 | 4 | | zero |
//! | 8 | 8 | source | NID of the node that the channel says has sent the frame |
//! | 16 | 8 | destination | NID of the node that it was sent to |

use lnd_core::id::Nid;
use lnd_shortmsg::wire::{Checksum, Heads, Wire};

/// Bytes of the head.
pub const HEAD_BYTES: usize = 24;

const VERSION: u8 = 1;
const CHECKSUMS: u8 = 1;
const SHORT_HEADS: u8 = 2;

/// What the channel knows of a frame.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    /// The control lane, else requests.
    pub control: bool,
    /// The link's number.
    pub link: u8,
    /// How the channel's frames look.
    pub wire: Wire,
    /// Who has sent it.
    pub source: Nid,
    /// Who is meant.
    pub destination: Nid,
}

impl Head {
    /// Its bytes.
    pub fn encode(&self) -> [u8; HEAD_BYTES] {
        let mut channel = 0;
        if self.wire.checksum == Checksum::On {
            channel |= CHECKSUMS;
        }
        if self.wire.heads == Heads::Short {
            channel |= SHORT_HEADS;
        }
        let mut bytes = [0; HEAD_BYTES];
        let numbers = [VERSION, u8::from(self.control), self.link, channel];
        let nids = [self.source.raw().to_be_bytes(), self.destination.raw().to_be_bytes()];
        for (place, byte) in bytes.iter_mut().zip(numbers) {
            *place = byte;
        }
        for (place, byte) in bytes.iter_mut().skip(8).zip(nids.concat()) {
            *place = byte;
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_is_as_the_table_says() {
        let nid = |raw| Nid::from_raw(raw).unwrap();
        let head = Head {
            control: true,
            link: 3,
            wire: Wire::short(Checksum::On),
            source: nid(0x0102_0304_0506_0708),
            destination: nid(0x1112_1314_1516_1718),
        };
        let expected = [
            1, 1, 3, 3, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16,
            0x17, 0x18,
        ];
        assert_eq!(head.encode(), expected);
        let plain = Head { control: false, wire: Wire::named(Checksum::Off), ..head };
        assert_eq!(plain.encode()[..4], [1, 0, 3, 0]);
    }
}
