// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a server is made with, and what it counts.

use lnd_core::id::Nid;
use lnd_core::time::Span;

use crate::files::pages::PAGE;
use crate::files::receive::Room;
use crate::files::rpc::MAX_MESSAGE;
use crate::files::store::StoreError;

/// What a server is made with.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// Another number for each incarnation: chunks that are meant for a former one are not taken.
    pub incarnation: u64,
    /// Longest chunk in bytes.
    pub max_chunk: u32,
    /// Memory for calls.
    pub calls: Room,
    /// Memory for chunks.
    pub chunks: Room,
    /// Most answers on their way; beyond, an answer is dropped and the client asks again.
    pub max_answers: usize,
    /// Most files written at a time.
    pub max_writes: usize,
    /// Most windows read at a time.
    pub max_reads: usize,
    /// Longest window in bytes.
    pub max_window: u32,
    /// Longest file in bytes.
    pub max_file: u64,
    /// Most chunks of a file: each takes one bit of memory.
    pub max_chunks: u32,
    /// What is not touched for so long is forgotten.
    pub idle: Span,
}

impl ServerConfig {
    /// Chunks of up to 4 MiB, 64 files written and 64 windows of up to 2 MiB read at a time. Memory
    /// for chunks is 32 MiB.
    pub fn new(incarnation: u64) -> Self {
        Self {
            incarnation,
            max_chunk: 4 << 20,
            calls: Room { buffers: 2, bytes: 64 << 10 },
            chunks: Room { buffers: 4, bytes: 8 << 20 },
            max_answers: 64,
            max_writes: 64,
            max_reads: 64,
            max_window: 2 << 20,
            max_file: 1 << 40,
            max_chunks: 1 << 24,
            idle: Span::from_secs(60),
        }
    }

    /// Bytes of the window that a server uses if it has them.
    pub fn memory(&self) -> u64 {
        let window = u64::from(self.max_window).next_multiple_of(PAGE);
        self.least_memory() + self.max_reads as u64 * window
    }

    /// Bytes of the window that a server needs; with so few, it reads no file. With more, but less
    /// than [`memory`](Self::memory), windows are shorter or fewer.
    pub fn least_memory(&self) -> u64 {
        let answers = self.max_answers as u64 * MAX_MESSAGE as u64;
        self.calls.total(MAX_MESSAGE as u32) + self.chunks.total(self.max_chunk) + answers
    }
}

/// The limits that can change while a server works; what is beyond a new one is let be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// [`ServerConfig::max_writes`].
    pub writes: usize,
    /// [`ServerConfig::max_reads`].
    pub reads: usize,
    /// [`ServerConfig::max_file`].
    pub file_bytes: u64,
    /// [`ServerConfig::idle`].
    pub idle: Span,
}

/// A failure of the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// For whom the store was used.
    pub client: Nid,
    /// The file.
    pub name: String,
    /// What the store said.
    pub error: StoreError,
}

/// Counts of everything since the server was made. None ever decreases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerStats {
    /// Calls understood.
    pub calls: u64,
    /// Messages on the call portal that made no sense or were cut or lost on the way.
    pub bad_calls: u64,
    /// Answers sent.
    pub answers: u64,
    /// Answers not sent: too many on their way, or the layer would not.
    pub answers_dropped: u64,
    /// Answers sent that did not leave.
    pub answers_lost: u64,
    /// Calls refused, other than [`busy`](Self::busy).
    pub refused: u64,
    /// Calls refused because there was too much at a time.
    pub busy: u64,
    /// Chunks stored.
    pub chunks: u64,
    /// Bytes of these.
    pub chunk_bytes: u64,
    /// Chunks that had come before; not stored again.
    pub duplicate_chunks: u64,
    /// Chunks for a file or an incarnation that is not known.
    pub stale_chunks: u64,
    /// Chunks that failed, or that do not fit their file.
    pub bad_chunks: u64,
    /// Files committed.
    pub commits: u64,
    /// Files that were not what their checksum said.
    pub mismatches: u64,
    /// Windows staged.
    pub windows: u64,
    /// GETs served.
    pub gets: u64,
    /// Bytes of these.
    pub get_bytes: u64,
    /// GETs that failed.
    pub gets_failed: u64,
    /// Files being written that were forgotten because they were not touched.
    pub expired_writes: u64,
    /// Windows that were forgotten because they were not touched.
    pub expired_reads: u64,
}
