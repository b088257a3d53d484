// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A file service on the upper layer: PUT takes files to a server, GET brings them back.
//!
//! ```text
//!   FileClient                                FileServer
//!   ── OpenWrite{name, size, chunk} ──────▶              calls and answers: small PUTs
//!   ◀─────── Writing{id, incarnation} ────
//!   ── PUT id:0, id:1, … (ACK wanted) ────▶  draft       chunks: bulk PUTs, any order, any number
//!   ── Commit{id, checksum} ──────────────▶  file
//!   ── OpenRead{name, offset} ────────────▶              a window of the file, in memory
//!   ◀── Reading{id, length, checksum} ────
//!   ── GET id:0, id:1, … ─────────────────▶              bulk GETs, any order, any number
//!   ── Close{id} ─────────────────────────▶
//! ```
//!
//! Like the layer below it is pure: no clock, no thread, no callback into the layer; the same calls
//! in the same order give the same answers. Both ends share a node with other users of its layer:
//! what is not theirs they hand back from `on_event`.
//!
//! - **Everything may be lost, at any time, even a server's memory.** Every operation of a client
//!   is tried again, with growing pauses, until the job's deadline. Chunks may come twice (each has
//!   its place), calls too (each has its xid). A server that has restarted does not know the ids of
//!   its former incarnation and says so; the client begins the file anew.
//! - **Nothing is trusted.** A file is what its checksum says, from end to end: the server reads
//!   back what it has stored before it commits, the client checks every window, and its sink makes
//!   nothing known before all have been checked. Messages carry a checksum of their own.
//! - **Nothing is unbounded** (INV-14): files open, windows, answers, operations and memory have
//!   limits at both ends, and what is not touched is forgotten.
//! - **Memory** ([`Buffer`]) is given back when the layer says so and never before (INV-2).

mod behind;
mod bytes;
mod client;
mod hash;
mod local;
mod pages;
mod receive;
mod rpc;
mod server;
mod store;
#[cfg(test)]
mod tests;
mod window;
mod words;

pub use behind::WriteBehind;
pub use bytes::Bytes;
pub use client::{
    Chunks, ClientConfig, ClientStats, FileClient, Job, JobDone, JobError, JobId, OpDone, OpKind,
    Work,
};
pub use hash::{hash, Hash};
pub use local::{Discard, FileSink, FileSource, SharedSink, Sink, Source};
pub use pages::{Buffer, Pages, TooSmall, WindowMemory, PAGE};
pub use receive::Room;
pub use rpc::{
    Answer, Call, Refusal, RpcError, Window, FIXED_BYTES, MAGIC, MAX_MESSAGE, MAX_NAME, VERSION,
};
pub use server::{FileServer, Limits, ServerConfig, ServerStats, Trouble};
pub use store::{parts, DirStore, Info, MemoryStore, ReadBack, Store, StoreError};
pub use words::WORD_MARK;

use lnd_core::time::Instant;
use lnd_sim::lnet::Lnet;

/// Calls to a server. Match bits: the xid.
pub const PORTAL_CALL: u32 = 20;
/// Answers to a client. Match bits: the xid of the call; zero: a notice.
pub const PORTAL_ANSWER: u32 = 21;
/// Chunks of files being written. Match bits: [`window_bits`]; the user's word is the server's
/// incarnation.
pub const PORTAL_CHUNK: u32 = 22;
/// Windows of files being read. Match bits: [`window_bits`]; the offset is within the window.
pub const PORTAL_WINDOW: u32 = 23;

/// The match bits of a chunk: file id in the upper half, number of the chunk in the lower.
pub const fn window_bits(id: u32, chunk: u32) -> u64 {
    (id as u64) << 32 | chunk as u64
}

/// What every step needs: the time, the layer, and the memory of its node.
struct At<'a, M> {
    now: Instant,
    lnet: &'a mut Lnet,
    memory: &'a mut M,
}
