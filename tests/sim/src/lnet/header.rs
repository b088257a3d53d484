// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The upper layer's header: 72 bytes, opaque to the driver below.
//!
//! All numbers are little-endian. Bytes that a kind of message does not use are zero and checked,
//! so every accepted header encodes to the very bytes it was decoded from (R32).
//!
//! | offset | bytes | content | PUT | ACK | GET | REPLY |
//! |---|---|---|---|---|---|---|
//! | 0 | 4 | [`MAGIC`] | ✓ | ✓ | ✓ | ✓ |
//! | 4 | 1 | [`VERSION`] | ✓ | ✓ | ✓ | ✓ |
//! | 5 | 1 | kind: PUT 1, ACK 2, GET 3, REPLY 4 | ✓ | ✓ | ✓ | ✓ |
//! | 6 | 1 | flags: bit 0 = ACK wanted | ✓ | | | |
//! | 7 | 1 | routers passed | ✓ | ✓ | ✓ | ✓ |
//! | 8 | 8 | NID of the first sender | ✓ | ✓ | ✓ | ✓ |
//! | 16 | 8 | NID of the final destination | ✓ | ✓ | ✓ | ✓ |
//! | 24 | 8 | cookie of the request | if ACK wanted | ✓ | ✓ | ✓ |
//! | 32 | 8 | match bits | ✓ | | ✓ | |
//! | 40 | 8 | user's word | ✓ | | ✓ | |
//! | 48 | 4 | portal | ✓ | | ✓ | |
//! | 52 | 4 | offset | ✓ | | ✓ | |
//! | 56 | 4 | length | payload | bytes taken | bytes wanted | payload |
//! | 60 | 12 | zero | ✓ | ✓ | ✓ | ✓ |

use lnd_core::fragment::MAX_TRANSFER;
use lnd_core::id::{Nid, Tag};

/// Length of a header in bytes.
pub const HEADER_BYTES: usize = 72;
/// First four bytes of every header.
pub const MAGIC: u32 = 0x5550_4e4c;
/// The only version.
pub const VERSION: u8 = 1;

const ACK_WANTED: u8 = 1;

/// The four kinds of message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Kind {
    /// Carries data to the memory it names.
    Put = 1,
    /// Tells the sender of a PUT, end to end, what was taken.
    Ack = 2,
    /// Asks for data.
    Get = 3,
    /// Carries the data that a GET asked for.
    Reply = 4,
}

impl Kind {
    /// Every kind, in the order of its wire value.
    pub const ALL: [Self; 4] = [Self::Put, Self::Ack, Self::Get, Self::Reply];
}

/// Which memory of the destination a PUT or GET is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// The list of match entries to search.
    pub portal: u32,
    /// Compared with each entry's match bits.
    pub match_bits: u64,
    /// Where in the memory, if its owner lets the sender choose.
    pub offset: u32,
    /// A word for the destination's user; this layer does not look at it.
    pub data: u64,
}

/// What a message says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// `length` bytes of payload follow.
    Put {
        /// Where to put them.
        target: Target,
        /// Bytes of payload.
        length: u32,
        /// The request to name in an ACK; `None`: no ACK wanted.
        ack: Option<Tag>,
    },
    /// The answer to a PUT.
    Ack {
        /// The PUT.
        request: Tag,
        /// Bytes taken.
        length: u32,
    },
    /// Asks for `length` bytes.
    Get {
        /// Where to take them from.
        target: Target,
        /// Bytes wanted.
        length: u32,
        /// The request to name in the REPLY.
        request: Tag,
    },
    /// The answer to a GET: `length` bytes of payload follow.
    Reply {
        /// The GET.
        request: Tag,
        /// Bytes of payload.
        length: u32,
    },
}

impl Body {
    /// The kind of message.
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Put { .. } => Kind::Put,
            Self::Ack { .. } => Kind::Ack,
            Self::Get { .. } => Kind::Get,
            Self::Reply { .. } => Kind::Reply,
        }
    }

    /// The number in the length field.
    pub const fn length(&self) -> u32 {
        match *self {
            Self::Put { length, .. }
            | Self::Ack { length, .. }
            | Self::Get { length, .. }
            | Self::Reply { length, .. } => length,
        }
    }

    /// Bytes of payload that travel with the header.
    pub const fn payload(&self) -> u32 {
        match *self {
            Self::Put { length, .. } | Self::Reply { length, .. } => length,
            Self::Ack { .. } | Self::Get { .. } => 0,
        }
    }
}

/// One header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LnetHeader {
    /// Routers passed.
    pub hops: u8,
    /// Who sent the message first.
    pub source: Nid,
    /// Who is meant in the end; the next hop is the driver's business.
    pub destination: Nid,
    /// What it says.
    pub body: Body,
}

/// Why bytes are not a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderError {
    /// Not [`HEADER_BYTES`] long.
    Length,
    /// Another magic number.
    Magic,
    /// A version this node does not speak.
    Version,
    /// Unknown kind of message.
    Kind,
    /// A flag that is unknown, or that this kind of message does not have.
    Flags,
    /// A NID of zero.
    Nid,
    /// Longer than any transfer.
    TooLong,
    /// A byte that this kind of message does not use is not zero.
    Reserved,
}

impl LnetHeader {
    /// The header's bytes.
    pub fn encode(&self) -> [u8; HEADER_BYTES] {
        let (target, request) = match self.body {
            Body::Put { target, ack, .. } => (target, ack),
            Body::Get { target, request, .. } => (target, Some(request)),
            Body::Ack { request, .. } | Body::Reply { request, .. } => {
                (Target::default(), Some(request))
            }
        };
        let flags = match self.body {
            Body::Put { ack: Some(_), .. } => ACK_WANTED,
            _ => 0,
        };
        let mut bytes = [0; HEADER_BYTES];
        bytes[0..4].copy_from_slice(&MAGIC.to_le_bytes());
        bytes[4..8].copy_from_slice(&[VERSION, self.body.kind() as u8, flags, self.hops]);
        bytes[8..16].copy_from_slice(&self.source.raw().to_le_bytes());
        bytes[16..24].copy_from_slice(&self.destination.raw().to_le_bytes());
        bytes[24..32].copy_from_slice(&request.map_or(0, Tag::to_cookie).to_le_bytes());
        bytes[32..40].copy_from_slice(&target.match_bits.to_le_bytes());
        bytes[40..48].copy_from_slice(&target.data.to_le_bytes());
        bytes[48..52].copy_from_slice(&target.portal.to_le_bytes());
        bytes[52..56].copy_from_slice(&target.offset.to_le_bytes());
        bytes[56..60].copy_from_slice(&self.body.length().to_le_bytes());
        bytes
    }

    /// Reads a header. Never panics, whatever the bytes.
    ///
    /// # Errors
    /// The first rule that the bytes break.
    pub fn decode(bytes: &[u8]) -> Result<Self, HeaderError> {
        let bytes: &[u8; HEADER_BYTES] = bytes.try_into().map_err(|_| HeaderError::Length)?;
        if u32_at(bytes, 0) != MAGIC {
            return Err(HeaderError::Magic);
        }
        if bytes[4] != VERSION {
            return Err(HeaderError::Version);
        }
        let header = Self {
            hops: bytes[7],
            source: Nid::from_raw(u64_at(bytes, 8)).ok_or(HeaderError::Nid)?,
            destination: Nid::from_raw(u64_at(bytes, 16)).ok_or(HeaderError::Nid)?,
            body: decode_body(bytes)?,
        };
        // What the fields above do not hold has to be zero: then encoding gives the bytes back.
        if header.encode() == *bytes {
            Ok(header)
        } else {
            Err(HeaderError::Reserved)
        }
    }
}

fn decode_body(bytes: &[u8; HEADER_BYTES]) -> Result<Body, HeaderError> {
    let kind =
        Kind::ALL.into_iter().find(|kind| *kind as u8 == bytes[5]).ok_or(HeaderError::Kind)?;
    let flags = bytes[6];
    if flags & !ACK_WANTED != 0 || (flags != 0 && kind != Kind::Put) {
        return Err(HeaderError::Flags);
    }
    let length = u32_at(bytes, 56);
    if length > MAX_TRANSFER {
        return Err(HeaderError::TooLong);
    }
    let request = Tag::from_cookie(u64_at(bytes, 24));
    let target = Target {
        match_bits: u64_at(bytes, 32),
        data: u64_at(bytes, 40),
        portal: u32_at(bytes, 48),
        offset: u32_at(bytes, 52),
    };
    Ok(match kind {
        Kind::Put => Body::Put { target, length, ack: (flags != 0).then_some(request) },
        Kind::Ack => Body::Ack { request, length },
        Kind::Get => Body::Get { target, length, request },
        Kind::Reply => Body::Reply { request, length },
    })
}

fn u32_at(bytes: &[u8; HEADER_BYTES], offset: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|i| bytes[offset + i]))
}

fn u64_at(bytes: &[u8; HEADER_BYTES], offset: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|i| bytes[offset + i]))
}
