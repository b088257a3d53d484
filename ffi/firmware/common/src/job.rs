// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The messages of the nodes: jobs, and payloads that follow from their numbers.

use lnd_core::fragment::Fragment;

use crate::memory::Window;

/// Largest payload.
pub const LARGEST: u32 = 64 * 1024;
/// A region of the window, with room after the largest payload for bytes that must not be written.
const REGION: u64 = LARGEST as u64 + 64;
/// Bytes of a node's payload window: see [`Region`].
pub const WINDOW: usize = 4 * REGION as usize;
/// The content of memory before a payload arrives, and always of the bytes after it.
const EMPTY: u8 = 0xee;

/// The content of a message: the upper layer's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// PUT, GET or REPLY.
    pub op: Op,
    /// Its number, which determines the payload.
    pub number: u32,
    /// Its offset in a region.
    pub offset: u32,
    /// Bytes.
    pub length: u32,
}

/// The operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Send a payload.
    Put,
    /// Request a payload.
    Get,
    /// The answer to a GET of a small payload.
    Reply,
}

impl Job {
    /// The job as the upper layer's header.
    pub fn header(&self) -> [u8; 16] {
        let op = match self.op {
            Op::Put => 1,
            Op::Get => 2,
            Op::Reply => 3,
        };
        let mut header = [0; 16];
        let words = [op, self.number, self.offset, self.length];
        for (bytes, word) in header.chunks_exact_mut(4).zip(words) {
            for (to, from) in bytes.iter_mut().zip(word.to_le_bytes()) {
                *to = from;
            }
        }
        header
    }

    /// The job of a header, if the header is valid.
    pub fn parse(header: &[u8]) -> Option<Self> {
        let word = |at: usize| {
            let bytes = header.get(at..)?.first_chunk::<4>()?;
            Some(u32::from_le_bytes(*bytes))
        };
        let op = match word(0)? {
            1 => Op::Put,
            2 => Op::Get,
            3 => Op::Reply,
            _ => return None,
        };
        let job = Self { op, number: word(4)?, offset: word(8)?, length: word(12)? };
        (job.offset.checked_add(job.length)? <= LARGEST).then_some(job)
    }

    /// The payload's byte at an offset.
    pub const fn byte(&self, at: u32) -> u8 {
        (at.wrapping_mul(7) ^ (at >> 8) ^ self.number.wrapping_mul(37)) as u8
    }
}

/// The parts of a node's window.
#[derive(Clone, Copy, Debug)]
pub enum Region {
    /// Sources of this node's PUTs.
    Out = 0,
    /// Sinks of this node's GETs.
    In = 1,
    /// Sources of the peer's GETs.
    Show = 2,
    /// Sinks of the peer's PUTs.
    Take = 3,
}

impl Window {
    /// A job's place in a region.
    pub fn fragment(&self, region: Region, job: &Job) -> Fragment {
        let base = self.base() + region as u64 * REGION;
        Fragment::new(base + u64::from(job.offset), job.length)
    }

    /// Writes a job's payload.
    pub fn fill(&self, at: Fragment, job: &Job) {
        for byte in 0..at.length {
            self.poke(at.address + u64::from(byte), job.byte(byte));
        }
    }

    /// Empties a sink and the 16 bytes after it.
    pub fn empty(&self, at: Fragment) {
        for byte in 0..at.length + 16 {
            self.poke(at.address + u64::from(byte), EMPTY);
        }
    }

    /// Whether a payload has arrived whole, without a byte after it. Those bytes are checked where
    /// no other payload can be.
    pub fn arrived(&self, at: Fragment, job: &Job) -> bool {
        let peek = |byte: u32| self.peek(at.address + u64::from(byte));
        let all = (0..at.length).all(|byte| peek(byte) == Some(job.byte(byte)));
        all && (at.length..at.length + 16).all(|byte| peek(byte) == Some(EMPTY))
    }
}
