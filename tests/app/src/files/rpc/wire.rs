// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The wire format of the messages.
//!
//! All numbers are little-endian. A field that a message does not use is zero and checked, so every
//! accepted message encodes to the very bytes it was decoded from (R32).
//!
//! | offset | bytes | content |
//! |---|---|---|
//! | 0 | 4 | [`MAGIC`] |
//! | 4 | 1 | [`VERSION`] |
//! | 5 | 1 | code: which message |
//! | 6 | 1 | refusal: why |
//! | 7 | 1 | zero |
//! | 8 | 8 | [`hash`](crate::files::hash()) of the message with this field zero |
//! | 16 | 8 | xid: which call, in the upper half the incarnation of its client; zero in a notice |
//! | 24 | 4 | file id |
//! | 28 | 4 | chunk size, or length of a window |
//! | 32 | 8 | size of the file; 1 = there are more names |
//! | 40 | 8 | word: offset, incarnation, or version of the file |
//! | 48 | 8 | checksum |
//! | 56 | 4 | bytes behind offset 64 |
//! | 60 | 4 | zero |
//! | 64 | … | name; echo; names, each with a zero byte behind it |

use crate::files::hash::hash;

use super::{Answer, Call, Refusal, Window, MAX_MESSAGE, MAX_NAME};

/// First four bytes of every message.
pub const MAGIC: u32 = 0x4c49_464c;
/// The only version. In version 1 the checksum was another one; in version 2 an xid named no
/// incarnation.
pub const VERSION: u8 = 3;
/// Bytes of the fixed part.
pub const FIXED_BYTES: usize = 64;

/// Why bytes are not a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RpcError {
    /// Shorter than the fixed part, longer than a message, or not as long as it says.
    Length,
    /// Another magic number.
    Magic,
    /// A version this node does not speak.
    Version,
    /// The bytes are not those that were sent.
    Checksum,
    /// Not a message of this direction.
    Code,
    /// A name or a refusal that cannot be.
    Content,
    /// A field that this message does not use is not zero.
    Reserved,
}

/// Every field of a message; those that it does not use stay zero.
#[derive(Debug, Default)]
struct Fields<'a> {
    code: u8,
    refusal: u8,
    id: u32,
    length: u32,
    size: u64,
    word: u64,
    checksum: u64,
    tail: &'a [u8],
}

const OPEN_WRITE: u8 = 1;
const COMMIT: u8 = 2;
const OPEN_READ: u8 = 3;
const CLOSE: u8 = 4;
const PING: u8 = 5;
const LIST: u8 = 6;
/// Set in the code of every answer.
const ANSWER: u8 = 0x80;
const LOST: u8 = 0x40 | ANSWER;
const REFUSED: u8 = 0x41 | ANSWER;
const BROKEN: u8 = 0x42 | ANSWER;

impl Call {
    /// The message's bytes.
    pub fn encode(&self, xid: u64) -> Vec<u8> {
        let none = Fields::default();
        let fields = match self {
            Self::OpenWrite { name, size, chunk } => {
                let tail = name.as_bytes();
                Fields { code: OPEN_WRITE, size: *size, length: *chunk, tail, ..none }
            }
            Self::Commit { id, checksum } => {
                Fields { code: COMMIT, id: *id, checksum: *checksum, ..none }
            }
            Self::OpenRead { name, offset } => {
                Fields { code: OPEN_READ, word: *offset, tail: name.as_bytes(), ..none }
            }
            Self::Close { id } => Fields { code: CLOSE, id: *id, ..none },
            Self::Ping { echo } => Fields { code: PING, tail: echo, ..none },
            Self::List { after } => Fields { code: LIST, tail: after.as_bytes(), ..none },
        };
        fields.encode(xid)
    }

    /// Reads a call and its xid. Never panics, whatever the bytes.
    ///
    /// # Errors
    /// The first rule that the bytes break.
    pub fn decode(bytes: &[u8]) -> Result<(u64, Self), RpcError> {
        let (xid, fields) = Fields::decode(bytes)?;
        let Fields { id, length, size, word, checksum, tail, .. } = fields;
        let call = match fields.code {
            OPEN_WRITE => Self::OpenWrite { name: name(tail)?, size, chunk: length },
            COMMIT => Self::Commit { id, checksum },
            OPEN_READ => Self::OpenRead { name: name(tail)?, offset: word },
            CLOSE => Self::Close { id },
            PING => Self::Ping { echo: tail.to_vec() },
            LIST => Self::List { after: name(tail)? },
            _ => return Err(RpcError::Code),
        };
        // What the fields above do not hold has to be zero: then encoding gives the bytes back.
        if call.encode(xid) == bytes {
            Ok((xid, call))
        } else {
            Err(RpcError::Reserved)
        }
    }
}

impl Answer {
    /// The message's bytes.
    pub fn encode(&self, xid: u64) -> Vec<u8> {
        let none = Fields::default();
        let joined;
        let fields = match self {
            Self::Writing { id, incarnation } => {
                Fields { code: OPEN_WRITE | ANSWER, id: *id, word: *incarnation, ..none }
            }
            Self::Committed => Fields { code: COMMIT | ANSWER, ..none },
            Self::Reading(Window { id, length, size, version, checksum }) => Fields {
                code: OPEN_READ | ANSWER,
                id: *id,
                length: *length,
                size: *size,
                word: *version,
                checksum: *checksum,
                ..none
            },
            Self::Closed => Fields { code: CLOSE | ANSWER, ..none },
            Self::Pong { echo } => Fields { code: PING | ANSWER, tail: echo, ..none },
            Self::Names { names, more } => {
                joined = names.iter().flat_map(|n| n.bytes().chain([0])).collect::<Vec<u8>>();
                Fields { code: LIST | ANSWER, size: (*more).into(), tail: &joined, ..none }
            }
            Self::Lost { id } => Fields { code: LOST, id: *id, ..none },
            Self::Broken { id, why } => {
                Fields { code: BROKEN, id: *id, refusal: *why as u8, ..none }
            }
            Self::Refused(why) => Fields { code: REFUSED, refusal: *why as u8, ..none },
        };
        fields.encode(xid)
    }

    /// Reads an answer and its xid. Never panics, whatever the bytes.
    ///
    /// # Errors
    /// The first rule that the bytes break.
    pub fn decode(bytes: &[u8]) -> Result<(u64, Self), RpcError> {
        let (xid, fields) = Fields::decode(bytes)?;
        let Fields { refusal, id, length, size, word, checksum, tail, .. } = fields;
        if fields.code & ANSWER == 0 {
            return Err(RpcError::Code);
        }
        let answer = match fields.code {
            LOST => Self::Lost { id },
            REFUSED => Self::Refused(refusal_of(refusal)?),
            BROKEN => Self::Broken { id, why: refusal_of(refusal)? },
            code => match code & !ANSWER {
                OPEN_WRITE => Self::Writing { id, incarnation: word },
                COMMIT => Self::Committed,
                OPEN_READ => Self::Reading(Window { id, length, size, version: word, checksum }),
                CLOSE => Self::Closed,
                PING => Self::Pong { echo: tail.to_vec() },
                LIST => Self::Names { names: names(tail)?, more: size == 1 },
                _ => return Err(RpcError::Code),
            },
        };
        if answer.encode(xid) == bytes {
            Ok((xid, answer))
        } else {
            Err(RpcError::Reserved)
        }
    }
}

impl<'a> Fields<'a> {
    fn encode(&self, xid: u64) -> Vec<u8> {
        let mut bytes = vec![0; FIXED_BYTES];
        bytes[0..4].copy_from_slice(&MAGIC.to_le_bytes());
        bytes[4..7].copy_from_slice(&[VERSION, self.code, self.refusal]);
        bytes[16..24].copy_from_slice(&xid.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.id.to_le_bytes());
        bytes[28..32].copy_from_slice(&self.length.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.size.to_le_bytes());
        bytes[40..48].copy_from_slice(&self.word.to_le_bytes());
        bytes[48..56].copy_from_slice(&self.checksum.to_le_bytes());
        bytes[56..60].copy_from_slice(&(self.tail.len() as u32).to_le_bytes());
        bytes.extend_from_slice(self.tail);
        let check = hash(&bytes);
        bytes[8..16].copy_from_slice(&check.to_le_bytes());
        bytes
    }

    fn decode(bytes: &'a [u8]) -> Result<(u64, Self), RpcError> {
        let (fixed, tail) = bytes.split_first_chunk::<FIXED_BYTES>().ok_or(RpcError::Length)?;
        if u32_at(fixed, 0) != MAGIC {
            return Err(RpcError::Magic);
        }
        if fixed[4] != VERSION {
            return Err(RpcError::Version);
        }
        if bytes.len() > MAX_MESSAGE || u32_at(fixed, 56) as usize != tail.len() {
            return Err(RpcError::Length);
        }
        let mut unchecked = bytes.to_vec();
        unchecked[8..16].fill(0);
        if hash(&unchecked) != u64_at(fixed, 8) {
            return Err(RpcError::Checksum);
        }
        let fields = Self {
            code: fixed[5],
            refusal: fixed[6],
            id: u32_at(fixed, 24),
            length: u32_at(fixed, 28),
            size: u64_at(fixed, 32),
            word: u64_at(fixed, 40),
            checksum: u64_at(fixed, 48),
            tail,
        };
        Ok((u64_at(fixed, 16), fields))
    }
}

fn refusal_of(byte: u8) -> Result<Refusal, RpcError> {
    Refusal::ALL.into_iter().find(|why| *why as u8 == byte).ok_or(RpcError::Content)
}

fn name(bytes: &[u8]) -> Result<String, RpcError> {
    if bytes.len() > MAX_NAME {
        return Err(RpcError::Content);
    }
    String::from_utf8(bytes.to_vec()).map_err(|_| RpcError::Content)
}

fn names(mut bytes: &[u8]) -> Result<Vec<String>, RpcError> {
    let mut names = Vec::new();
    while let Some(end) = bytes.iter().position(|byte| *byte == 0) {
        names.push(name(&bytes[..end])?);
        bytes = &bytes[end + 1..];
    }
    if bytes.is_empty() {
        Ok(names)
    } else {
        Err(RpcError::Content)
    }
}

fn u32_at(bytes: &[u8; FIXED_BYTES], offset: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|i| bytes[offset + i]))
}

fn u64_at(bytes: &[u8; FIXED_BYTES], offset: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|i| bytes[offset + i]))
}
