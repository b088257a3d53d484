// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a job needs to go on, and what it says of how it goes.

use lnd_core::id::Nid;
use lnd_sim::lnet::Target;

use crate::files::pages::{Buffer, WindowMemory};
use crate::files::rpc::Call;
use crate::files::{At, PORTAL_CALL, PORTAL_CHUNK, PORTAL_WINDOW};

use super::flow::is_small;
use super::job::JobError;
use super::operations::{Begin, Operations, Part};

/// What it takes to send a message, in bytes that could be copied meanwhile. So a poll begins a few
/// messages at most, and the first does not wait for many others to be ready.
const MESSAGE: u32 = 4096;
/// Attempts at something that no call waits for.
const COURTESY: u32 = 3;

/// Everything outside the job.
pub(super) struct JobContext<'a, 'b, M> {
    pub at: &'a mut At<'b, M>,
    pub operations: &'a mut Operations,
    /// Most chunks under way at a time.
    pub max_outstanding: usize,
    /// Bytes that may still be copied before the node has to look at its messages again.
    pub budget: &'a mut u32,
    /// A large chunk waits for the window of its server: no other overtakes it.
    pub large_waits: bool,
    /// Attempts at fetching a chunk before its window is opened anew.
    pub fetch_attempts: u32,
}

/// Whether a job could begin an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// It has begun one and may want another.
    Begun,
    /// It waits for events or time.
    Waits,
    /// Its large chunk waits for the window, and other large ones shall not overtake it.
    Queues,
    /// It needs memory, and others shall not take it before.
    Starves,
}

/// What follows from the end of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The job goes on.
    On,
    /// The job has been set back, and goes on after a pause.
    Pause,
    /// The job has succeeded.
    Done,
    /// The job has failed.
    Fail(JobError),
}

impl<M: WindowMemory> JobContext<'_, '_, M> {
    /// Begins a call.
    pub fn call(&mut self, job: u64, to: Nid, call: &Call) -> Progress {
        self.begin_call(job, to, call, None)
    }

    /// Tells the server that an id is of no use any more. Without it the server finds out in time.
    pub fn close(&mut self, to: Nid, id: u32) {
        self.begin_call(0, to, &Call::Close { id }, Some(COURTESY));
    }

    /// Counts what has been done against the budget: so many bytes, or what a message costs.
    pub fn spend(&mut self, bytes: u32) {
        *self.budget = self.budget.saturating_sub(bytes.max(MESSAGE));
    }

    /// Memory for a chunk, if another one may be outstanding.
    pub fn take(&mut self, to: Nid, length: u32) -> Result<Buffer, Progress> {
        if self.operations.chunks() >= self.max_outstanding {
            return Err(Progress::Waits);
        }
        if !is_small(length) && self.large_waits || !self.operations.admits(to, length) {
            return Err(if is_small(length) { Progress::Waits } else { Progress::Queues });
        }
        self.operations.pages.alloc(length).ok_or(Progress::Starves)
    }

    /// Sends a chunk.
    pub fn send(&mut self, job: u64, to: Nid, bits: u64, incarnation: u64, buffer: Buffer) {
        let target =
            Target { portal: PORTAL_CHUNK, match_bits: bits, offset: 0, data: incarnation };
        let begin = Begin { job, to, part: Part::Send, target, buffer, attempts: None };
        self.operations.begin(self.at.now, begin);
    }

    /// Fetches a chunk.
    pub fn fetch(&mut self, job: u64, to: Nid, bits: u64, offset: u32, buffer: Buffer) {
        let target = Target { portal: PORTAL_WINDOW, match_bits: bits, offset, data: 0 };
        let attempts = Some(self.fetch_attempts);
        let part = Part::Fetch(bits);
        let begin = Begin { job, to, part, target, buffer, attempts };
        self.operations.begin(self.at.now, begin);
        self.spend(0);
    }

    fn begin_call(&mut self, job: u64, to: Nid, call: &Call, attempts: Option<u32>) -> Progress {
        let xid = self.operations.next_xid();
        let bytes = call.encode(xid);
        let Some(buffer) = self.operations.pages.alloc(bytes.len() as u32) else {
            return Progress::Starves;
        };
        self.at.memory.write(buffer.address(), &bytes);
        let target = Target { portal: PORTAL_CALL, match_bits: xid, ..Target::default() };
        let begin = Begin { job, to, part: Part::Call, target, buffer, attempts };
        self.operations.begin(self.at.now, begin);
        self.spend(0);
        Progress::Begun
    }
}
