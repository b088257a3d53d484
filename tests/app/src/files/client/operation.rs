// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! One operation: what it does, where it stands, how it ended.

use lnd_core::id::Nid;
use lnd_core::time::{Instant, Span};
use lnd_sim::lnet::{RequestHandle, SendError, Target};

use crate::files::pages::Buffer;
use crate::files::rpc::Answer;

use super::records::{OpDone, OpKind};

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Sends a call and waits for its answer.
    Call,
    /// Sends a chunk and waits for its ACK.
    Send,
    /// Fetches the chunk with these match bits.
    Fetch(u64),
}

/// An operation to begin.
#[derive(Debug)]
pub(super) struct Begin {
    /// Whose it is; zero: no call waits for it.
    pub job: u64,
    pub to: Nid,
    pub part: Part,
    pub target: Target,
    /// Its memory, filled unless it fetches.
    pub buffer: Buffer,
    /// Most attempts; `None`: until the job ends it.
    pub attempts: Option<u32>,
}

/// How an operation ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// A call was answered.
    Answered(Answer),
    /// The chunk is where it was to go.
    Moved,
    /// Its attempts are used up.
    Failed,
    /// The layer will never take it.
    Impossible(SendError),
}

/// An operation that has ended, with its memory. One that was cancelled ends silently.
#[derive(Debug)]
pub(super) struct Finished {
    pub job: u64,
    pub part: Part,
    pub buffer: Buffer,
    pub end: End,
}

#[derive(Debug)]
pub(super) struct Operation {
    pub begin: Begin,
    pub attempt: u32,
    pub cancelled: bool,
    pub state: State,
}

#[derive(Debug)]
pub(super) enum State {
    /// To be tried at this time.
    Paused(Instant),
    Flying(Flight),
}

/// One attempt.
#[derive(Debug)]
pub(super) struct Flight {
    /// `None`: the layer is done with it.
    pub request: Option<RequestHandle>,
    pub started: Instant,
    /// When to give up; never, once that has been done.
    pub until: Instant,
    pub outcome: Outcome,
}

#[derive(Debug)]
pub(super) enum Outcome {
    Open,
    Good(End),
    Bad,
}

impl Flight {
    /// What has succeeded has: a failure that is told later, or was feared before, is none.
    pub fn fail(&mut self) {
        if matches!(self.outcome, Outcome::Open) {
            self.outcome = Outcome::Bad;
        }
    }
}

impl Operation {
    pub fn deadline(&self) -> Instant {
        match &self.state {
            State::Paused(until) => *until,
            State::Flying(flight) => flight.until,
        }
    }

    /// The request that has its memory.
    pub fn request(&self) -> Option<RequestHandle> {
        match &self.state {
            State::Paused(_) => None,
            State::Flying(flight) => flight.request,
        }
    }

    pub fn record(&self, kind: OpKind, started: Instant, ended: Instant, ok: bool) -> OpDone {
        OpDone { kind, bytes: self.begin.buffer.length(), started, ended, ok }
    }

    pub fn finish(self, end: End) -> Finished {
        let Begin { job, part, buffer, .. } = self.begin;
        Finished { job, part, buffer, end }
    }
}

impl Part {
    /// The record of its success or failure.
    pub fn kind(self) -> OpKind {
        match self {
            Self::Call => OpKind::Call,
            Self::Send => OpKind::Ack,
            Self::Fetch(_) => OpKind::Get,
        }
    }
}

/// How long to wait.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// For the end of one attempt.
    pub timeout: Span,
    /// For the answer, once the message has left; doubled with each attempt, up to `timeout`.
    pub answer: Span,
    /// Before the second attempt; doubled before each further one…
    pub first_pause: Span,
    /// …up to this.
    pub longest_pause: Span,
}

impl Patience {
    /// How long the answer to the `attempt`-th attempt may take once the message has left.
    pub fn for_answer(&self, attempt: u32) -> Span {
        self.answer.times(1 << attempt.saturating_sub(1).min(20)).min(self.timeout)
    }
}
