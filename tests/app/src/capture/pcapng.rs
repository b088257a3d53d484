// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A writer of pcapng files (draft-ietf-opsawg-pcapng): one section, little-endian, times in
//! nanoseconds.

use std::io::{self, Write};

/// The link type of all interfaces, LINKTYPE_USER0. What it means here is this crate's
/// [`head`](super::head).
pub const LINK_TYPE: u16 = 147;

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
const BYTE_ORDER: u32 = 0x1a2b_3c4d;
const NO_LENGTH: u64 = u64::MAX;

const COMMENT: u16 = 1;
const APPLICATION: u16 = 4;
const INTERFACE_NAME: u16 = 2;
const INTERFACE_TEXT: u16 = 3;
const TIME_RESOLUTION: u16 = 9;
const PACKET_FLAGS: u16 = 2;
const PACKET_ID: u16 = 5;

/// Which way a packet went at its interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// It was received.
    In = 1,
    /// It was sent.
    Out = 2,
}

/// A packet.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    /// Its interface, as [`Writer::interface`] has numbered it.
    pub interface: u32,
    /// When it was seen, in nanoseconds.
    pub at: u64,
    /// Which way it went.
    pub direction: Direction,
    /// The same for all copies of a packet; zero: none.
    pub id: u64,
    /// For the reader; empty: none.
    pub comment: &'a str,
    /// What comes before its bytes.
    pub head: &'a [u8],
    /// Its bytes.
    pub bytes: &'a [u8],
}

/// Writes a file.
#[derive(Debug)]
pub struct Writer<W: Write> {
    out: W,
    interfaces: u32,
}

impl<W: Write> Writer<W> {
    /// Begins a file. `application` has written it; `comment` is about all of it.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn new(out: W, application: &str, comment: &str) -> io::Result<Self> {
        let mut this = Self { out, interfaces: 0 };
        let mut body = Vec::new();
        body.extend(BYTE_ORDER.to_le_bytes());
        body.extend([1, 0, 0, 0]);
        body.extend(NO_LENGTH.to_le_bytes());
        option(&mut body, COMMENT, comment.as_bytes());
        option(&mut body, APPLICATION, application.as_bytes());
        this.block(SECTION_HEADER, body)?;
        Ok(this)
    }

    /// Describes an interface; its number. It has to be described before its first packet.
    ///
    /// # Errors
    /// Those of the output.
    pub fn interface(&mut self, name: &str, text: &str) -> io::Result<u32> {
        let mut body = Vec::new();
        body.extend(LINK_TYPE.to_le_bytes());
        body.extend([0; 2]);
        // No limit on what is kept of a packet.
        body.extend(0_u32.to_le_bytes());
        option(&mut body, INTERFACE_NAME, name.as_bytes());
        option(&mut body, INTERFACE_TEXT, text.as_bytes());
        option(&mut body, TIME_RESOLUTION, &[9]);
        self.block(INTERFACE_DESCRIPTION, body)?;
        self.interfaces += 1;
        Ok(self.interfaces - 1)
    }

    /// Writes a packet.
    ///
    /// # Errors
    /// Those of the output; a packet of more than 4 GiB.
    pub fn packet(&mut self, it: &Packet<'_>) -> io::Result<()> {
        let length = u32::try_from(it.head.len() + it.bytes.len()).map_err(io::Error::other)?;
        let mut body = Vec::new();
        body.extend(it.interface.to_le_bytes());
        body.extend(((it.at >> 32) as u32).to_le_bytes());
        body.extend((it.at as u32).to_le_bytes());
        body.extend(length.to_le_bytes());
        body.extend(length.to_le_bytes());
        body.extend(it.head);
        body.extend(it.bytes);
        pad(&mut body);
        option(&mut body, COMMENT, it.comment.as_bytes());
        option(&mut body, PACKET_FLAGS, &(it.direction as u32).to_le_bytes());
        if it.id != 0 {
            option(&mut body, PACKET_ID, &it.id.to_le_bytes());
        }
        self.block(ENHANCED_PACKET, body)
    }

    /// Has all that was written reach the output.
    ///
    /// # Errors
    /// Those of the output.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Ends the file.
    ///
    /// # Errors
    /// Those of the output.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }

    /// A block with options, which end here.
    fn block(&mut self, kind: u32, mut body: Vec<u8>) -> io::Result<()> {
        body.extend([0; 4]);
        let length = u32::try_from(body.len() + 12).map_err(io::Error::other)?;
        self.out.write_all(&kind.to_le_bytes())?;
        self.out.write_all(&length.to_le_bytes())?;
        self.out.write_all(&body)?;
        self.out.write_all(&length.to_le_bytes())
    }
}

/// An option that has a value.
fn option(body: &mut Vec<u8>, code: u16, value: &[u8]) {
    // No option of ours is as long; what is longer is cut.
    let value = value.get(..value.len().min(usize::from(u16::MAX))).unwrap_or_default();
    if value.is_empty() {
        return;
    }
    body.extend(code.to_le_bytes());
    body.extend((value.len() as u16).to_le_bytes());
    body.extend(value);
    pad(body);
}

/// Fills up to a multiple of four bytes.
fn pad(body: &mut Vec<u8>) {
    body.resize(body.len().next_multiple_of(4), 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The blocks of a file: kind and body. Lengths at both ends agree.
    fn blocks(mut file: &[u8]) -> Vec<(u32, Vec<u8>)> {
        let word = |bytes: &[u8]| u32::from_le_bytes(bytes[..4].try_into().unwrap());
        let mut found = Vec::new();
        while !file.is_empty() {
            let length = word(&file[4..]) as usize;
            assert_eq!((length % 4, word(&file[length - 4..])), (0, length as u32));
            found.push((word(file), file[8..length - 4].to_vec()));
            file = &file[length..];
        }
        found
    }

    #[test]
    fn a_file_has_a_section_an_interface_and_a_packet() {
        let mut writer = Writer::new(Vec::new(), "lnd", "seed 1").unwrap();
        assert_eq!(writer.interface("node0 link0", "").unwrap(), 0);
        assert_eq!(writer.interface("node1 link0", "far").unwrap(), 1);
        let packet = Packet {
            interface: 1,
            at: 0x0001_0002_0003_0004,
            direction: Direction::Out,
            id: 7,
            comment: "lost",
            head: &[1, 2],
            bytes: &[3, 4, 5],
        };
        writer.packet(&packet).unwrap();
        let file = writer.finish().unwrap();
        let blocks = blocks(&file);
        let kinds: Vec<u32> = blocks.iter().map(|it| it.0).collect();
        assert_eq!(kinds, [SECTION_HEADER, 1, 1, 6]);
        // Figures 9, 10 and 11 of the draft.
        assert_eq!(blocks[0].1[..8], [0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0]);
        assert_eq!(blocks[0].1[8..16], [0xff; 8]);
        assert_eq!(blocks[0].1[16..], *b"\x01\0\x06\0seed 1\0\0\x04\0\x03\0lnd\0\0\0\0\0");
        assert_eq!(
            blocks[1].1,
            *b"\x93\0\0\0\0\0\0\0\x02\0\x0b\0node0 link0\0\x09\0\x01\0\x09\0\0\0\0\0\0\0"
        );
        let mut body = vec![1, 0, 0, 0, 2, 0, 1, 0, 4, 0, 3, 0, 5, 0, 0, 0, 5, 0, 0, 0];
        body.extend([1, 2, 3, 4, 5, 0, 0, 0]);
        body.extend(
            b"\x01\0\x04\0lost\x02\0\x04\0\x02\0\0\0\x05\0\x08\0\x07\0\0\0\0\0\0\0\0\0\0\0",
        );
        assert_eq!(blocks[3].1, body);
    }
}
