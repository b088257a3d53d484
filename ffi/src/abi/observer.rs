// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What an observer knows.

/// Points of enum lnd_point.
pub const LND_POINTS: usize = 7;
/// Waits of enum lnd_wait.
pub const LND_WAITS: usize = 7;
/// Buckets of struct lnd_histogram. The last one is always 0.
pub const LND_BUCKETS: usize = 42;

/// enum lnd_point - A point on the way of a transfer, with the same meaning on every transport.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_point {
    /// It was accepted.
    LND_POINT_QUEUED = 0,
    /// The engine accepted its descriptor.
    LND_POINT_POSTED = 1,
    /// Its message was handed to the channel.
    LND_POINT_SENT = 2,
    /// The channel has done its part.
    LND_POINT_LEFT = 3,
    /// The peer's first answer arrived.
    LND_POINT_ANSWERED = 4,
    /// Its last debt was settled: no device reads or writes its memory any more.
    LND_POINT_COMPLETED = 5,
    /// It was reported.
    LND_POINT_REPORTED = 6,
}

/// enum lnd_wait - What a transfer waits for. The times of all waits add up to its whole time.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_wait {
    /// In a queue: for a handshake, a credit, a link, or its turn to pull.
    LND_WAIT_QUEUE = 0,
    /// For the thread that posts it.
    LND_WAIT_POST = 1,
    /// For the channel, which has its message.
    LND_WAIT_SEND = 2,
    /// For the peer's answer.
    LND_WAIT_ANSWER = 3,
    /// For the engine: its own pull, or the peer's.
    LND_WAIT_ENGINE = 4,
    /// It is being given up: for what still has it.
    LND_WAIT_DRAIN = 5,
    /// For its report.
    LND_WAIT_REPORT = 6,
    /// In place of a wait: from acceptance to report.
    LND_WAIT_WHOLE = 7,
    /// In place of a wait: from the deadline to the report, of those that were late.
    LND_WAIT_LATE = 8,
}

/// struct lnd_account - Where a transfer spent its time, who gave it up, and on what evidence.
/// @size: sizeof(struct lnd_account).
/// @wait: enum lnd_wait: what it waits for. LND_WAIT_REPORT if @ended.
/// @nid: the other side.
/// @points: when it passed each point of enum lnd_point. LND_NEVER: not yet, or not on its way.
/// @waits: ns that it spent in each wait of enum lnd_wait, until its last event.
/// @since: when its present wait began, or when it was reported.
/// @given_up: when it was cancelled or first lost something, or LND_NEVER.
/// @deadline: when its deadline passed, if it was late, or LND_NEVER.
/// @given_up_in: enum lnd_wait: what it waited for when it was given up.
/// @len: bytes.
/// @steps: its transitions.
/// @ended: 1 if it was reported.
/// @error: the negated errno of its report, or 0.
/// @health_class: enum lnd_health_class of its report.
/// @cause: enum lnd_cause: why it was lost, or 0.
/// @place: enum lnd_place: how far it had come, or 0.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct lnd_account {
    /// Bytes of this struct.
    pub size: u32,
    /// Present wait.
    pub wait: u32,
    /// Other side.
    pub nid: u64,
    /// Points.
    pub points: [u64; LND_POINTS],
    /// Waits.
    pub waits: [u64; LND_WAITS],
    /// Begin of the present wait.
    pub since: u64,
    /// When it was given up.
    pub given_up: u64,
    /// When its deadline passed.
    pub deadline: u64,
    /// What it waited for then.
    pub given_up_in: u32,
    /// Bytes.
    pub len: u32,
    /// Transitions.
    pub steps: u32,
    /// Whether it was reported.
    pub ended: u32,
    /// Errno.
    pub error: u32,
    /// Health class.
    pub health_class: u32,
    /// Why.
    pub cause: u32,
    /// Where.
    pub place: u32,
}

/// struct lnd_histogram - Times by powers of two.
/// @size: sizeof(struct lnd_histogram).
/// @reserved: 0.
/// @count: how many times.
/// @sum: their sum in ns. It wraps.
/// @min: the shortest, 0 if there is none.
/// @max: the longest, 0 if there is none.
/// @buckets: bucket 0 counts 0 ns, bucket n counts times from 2^(n-1) to 2^n - 1; bucket 40 also
/// all longer ones. They wrap at 32 bits.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct lnd_histogram {
    /// Bytes of this struct.
    pub size: u32,
    /// Zero.
    pub reserved: u32,
    /// Number.
    pub count: u64,
    /// Sum.
    pub sum: u64,
    /// Least.
    pub min: u64,
    /// Most.
    pub max: u64,
    /// Buckets.
    pub buckets: [u32; LND_BUCKETS],
}
