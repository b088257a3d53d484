// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a client is made with.

use lnd_core::time::Span;

use crate::files::pages::PAGE;
use crate::files::receive::Room;
use crate::files::rpc::MAX_MESSAGE;

use super::flow::Chunks;
use super::operations::PIECE;

/// What a client is made with.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    /// Another number for each incarnation: answers to a former one do not match. Also the seed of
    /// pauses.
    pub seed: u64,
    /// Memory for answers.
    pub answers: Room,
    /// Most chunks under way at a time, over all jobs; each holds its memory.
    pub max_outstanding: usize,
    /// Most payload bytes under way to or from one server. How many there are follows what arrives.
    pub max_bytes: u64,
    /// Most chunks of each kind under way to or from one server. Few keep a message from waiting
    /// for those before it: the driver sends a bounded number at a time to a peer, in order.
    pub max_chunks: Chunks,
    /// Bytes that are copied between files and the window before [`FileClient::poll`] returns.
    pub copied_at_a_time: u32,
    /// Most jobs under way at a time.
    pub max_jobs: usize,
    /// When an attempt is given up. Longer than the driver takes to give up its own.
    pub timeout: Span,
    /// When an answer is given up that was not sent or was lost; doubled with each attempt, up to
    /// `timeout`. Counted from when the message has left. A second call or chunk does no harm.
    pub answer_timeout: Span,
    /// Pause before a second attempt; doubled before each further one, a random half less…
    pub first_pause: Span,
    /// …up to this.
    pub longest_pause: Span,
    /// Attempts at fetching a chunk before its window is opened anew.
    pub fetch_attempts: u32,
    /// Most [`OpDone`] kept for the user; beyond, the oldest are dropped.
    pub max_records: usize,
}

impl ClientConfig {
    /// 64 chunks of any kind, 16 MiB and 16 jobs at a time.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            answers: Room { buffers: 2, bytes: 64 << 10 },
            max_outstanding: 64,
            max_bytes: 16 << 20,
            max_chunks: Chunks { small: usize::MAX, large: usize::MAX },
            copied_at_a_time: PIECE,
            max_jobs: 16,
            timeout: Span::from_secs(10),
            answer_timeout: Span::from_millis(200),
            first_pause: Span::from_millis(1),
            longest_pause: Span::from_secs(1),
            fetch_attempts: 3,
            max_records: 1 << 16,
        }
    }

    /// Bytes of the window that a client needs for this, with chunks of `chunk` bytes.
    pub fn memory(&self, chunk: u32) -> u64 {
        let whole = |bytes: u32| u64::from(bytes).next_multiple_of(PAGE);
        let calls = (self.max_jobs as u64 + 4) * whole(MAX_MESSAGE as u32);
        self.answers.total(MAX_MESSAGE as u32) + calls + self.max_outstanding as u64 * whole(chunk)
    }
}
