// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file holds the handshake as a pure table (R3, R27).
//!
//! Two facts about a peer are separate. *Admitted*: its present incarnation has sent us a hello or
//! has answered ours, so its messages count (S0-13). Its requests count only within a session that
//! its own hello has opened. *Good*: it has answered **our** hello, so it has admitted us and we
//! may send. Between correct nodes a message therefore never arrives early. This machine keeps the
//! second fact. The first follows from its [`HelloEffect`]s and is kept in the gate.

/// How far our handshake with a peer has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum HelloState {
    /// No handshake yet, or nothing to send since.
    Unknown = 0,
    /// Our hello is unanswered. At most one is in flight (LU-16213, LU-17838).
    Handshake = 1,
    /// Our hello was answered: requests may be sent.
    Good = 2,
    /// Declared down: nothing is sent until the peer shows that it runs.
    Down = 3,
}

/// An event of the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HelloEvent {
    /// The upper layer has something to send.
    Wanted,
    /// A hello of the known incarnation, or of the first one.
    HelloSameIncarnation,
    /// A hello of an incarnation other than the known one, where the known one has never answered
    /// us.
    HelloNewIncarnation,
    /// A hello of an incarnation other than the one that has answered us: its successor's, or a
    /// delayed one.
    Claimed,
    /// The answer to our current hello.
    Answered,
    /// The answer to our current hello, without a common version.
    Incompatible,
    /// No answer yet, and tries are left.
    TryAgain,
    /// No answer, and no try is left.
    Exhausted,
    /// No answer, and no link of ours is open: the peer is not to blame (LU-17505, LU-20379).
    NoLink,
    /// The fabric, the prober or the operator reports the peer as down.
    Down,
    /// The fabric or the operator reports the peer as up.
    Up,
    /// The peer sent its goodbye.
    Closed,
    /// Credits have been stuck for too long, or the peer has lost its count. The hello of the
    /// session is repeated, and its answer brings the peer's count.
    Resync,
}

/// What the owner does about an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub enum HelloEffect {
    /// Nothing.
    None,
    /// Send a hello and arm its timer.
    StartHandshake,
    /// The former incarnation is gone: cancel its transfers, then start a handshake.
    SweepAndHandshake,
    /// Cancel the peer's transfers.
    Sweep,
    /// Fail what waits for the peer, so that the upper layer can choose another path (R53).
    FailQueue,
    /// Requests may be sent: send what waits.
    Flush,
    /// Not for this state: count it.
    Ignored,
}

impl HelloState {
    /// Every state.
    pub const ALL: [Self; 4] = [Self::Unknown, Self::Handshake, Self::Good, Self::Down];

    /// The state with this number.
    pub const fn from_bits(bits: u32) -> Self {
        match bits & 3 {
            0 => Self::Unknown,
            1 => Self::Handshake,
            2 => Self::Good,
            _ => Self::Down,
        }
    }
}

impl HelloEvent {
    /// Every event.
    pub const ALL: [Self; 13] = [
        Self::Wanted,
        Self::HelloSameIncarnation,
        Self::HelloNewIncarnation,
        Self::Claimed,
        Self::Answered,
        Self::Incompatible,
        Self::TryAgain,
        Self::Exhausted,
        Self::NoLink,
        Self::Down,
        Self::Up,
        Self::Closed,
        Self::Resync,
    ];
}

/// The table. Answering a hello is not in it: a hello is always answered (S0-14).
pub const fn hello_step(state: HelloState, event: HelloEvent) -> (HelloState, HelloEffect) {
    use HelloEffect as F;
    use HelloEvent as E;
    use HelloState as S;
    match (state, event) {
        (S::Unknown, E::Wanted) => (S::Handshake, F::StartHandshake),
        (S::Handshake | S::Good | S::Down, E::Wanted) => (state, F::Ignored),

        // A hello proves that the peer runs. A peer that was down starts over like an unknown one.
        // Two hellos that cross need no tie-break: each opens the session of its own direction
        // (R30).
        (S::Unknown | S::Down, E::HelloSameIncarnation) => (S::Handshake, F::StartHandshake),
        (S::Handshake | S::Good, E::HelloSameIncarnation) => (state, F::None),

        // Everything with the former incarnation is over, and the new one has no state of us
        // (S0-13, LU-16214).
        (_, E::HelloNewIncarnation) => (S::Handshake, F::SweepAndHandshake),
        // The answer to our hello decides which of the two incarnations runs.
        (_, E::Claimed) => (S::Handshake, F::StartHandshake),

        (S::Handshake, E::Answered) => (S::Good, F::Flush),
        // No answer, or no common version: the peer is down for its hold-off. A node without a
        // place for us refuses in the same way (S0-14).
        (S::Handshake, E::Incompatible | E::Exhausted) => (S::Down, F::Sweep),
        (S::Handshake, E::TryAgain) => (S::Handshake, F::StartHandshake),
        (S::Handshake, E::NoLink) => (S::Unknown, F::FailQueue),
        // Late answers and late timers are normal: the state has moved on meanwhile. They are
        // counted and change nothing.
        (_, E::Answered | E::Incompatible | E::Exhausted | E::TryAgain | E::NoLink) => {
            (state, F::Ignored)
        }

        (S::Down, E::Down | E::Closed) => (state, F::Ignored),
        (_, E::Down | E::Closed) => (S::Down, F::Sweep),

        // `Up` alone sends nothing. The next request, or the next hello of the peer, starts the
        // handshake.
        (S::Down, E::Up) => (S::Unknown, F::None),
        (_, E::Up) => (state, F::Ignored),

        // A resync repeats the handshake within the session, so nothing in flight is cancelled
        // (decision 0017).
        (S::Good | S::Handshake, E::Resync) => (S::Handshake, F::StartHandshake),
        (_, E::Resync) => (state, F::Ignored),
    }
}
