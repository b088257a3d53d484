// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The handshake as a pure table (R3, R27).
//!
//! Two facts about a peer are kept apart. *Admitted*: its present life has sent us a hello or has
//! answered ours, so its messages count (S0-13); its requests count only within a session
//! that its own hello has opened. *Good*: it has answered **ours**, so it has admitted us and we may
//! send. Between correct nodes a message therefore never arrives early. This machine is about the
//! second fact; the first follows from [`HelloEffect`]s and lives in the gate.

/// How far our handshake with a peer has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum HelloState {
    /// No handshake yet, or nothing to send since.
    Unknown = 0,
    /// Our hello is out; one is in flight at most (LU-16213, LU-17838).
    Handshake = 1,
    /// Our hello was answered: requests may be sent.
    Good = 2,
    /// Declared down: nothing is sent until there is news of life.
    Down = 3,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HelloEvent {
    /// The upper layer has something to send.
    Wanted,
    /// A hello of the life we know, or of the first one we hear of.
    HelloSameIncarnation,
    /// A hello of another life than the one we know, which has never answered us.
    HelloNewIncarnation,
    /// A hello of another life than the one that has answered us: its successor's, or late.
    Claimed,
    /// The answer to our current hello.
    Answered,
    /// The answer to our current hello: the versions do not meet.
    Incompatible,
    /// No answer yet, and tries are left.
    TryAgain,
    /// No answer, and no try is left.
    Exhausted,
    /// No answer, and no link of ours is open: the peer is not to blame (LU-17505, LU-20379).
    NoLink,
    /// The fabric, the prober or the operator says: down.
    Down,
    /// The fabric or the operator says: up.
    Up,
    /// The peer said goodbye.
    Closed,
    /// Credits have been stuck for too long, or the peer has lost its count: the hello of the session
    /// is repeated, and its answer brings the peer's count.
    Resync,
}

/// What to do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub enum HelloEffect {
    /// Nothing.
    None,
    /// Send a hello and arm its timer.
    StartHandshake,
    /// The former life is gone: cancel its transfers, then greet.
    SweepAndHandshake,
    /// Cancel the peer's transfers.
    Sweep,
    /// Fail what waits for the peer, so that the upper layer may choose another way (R53).
    FailQueue,
    /// Requests may go out: send what waits.
    Flush,
    /// Not for this state. Count it.
    Ignored,
}

impl HelloState {
    /// Every state.
    pub const ALL: [Self; 4] = [Self::Unknown, Self::Handshake, Self::Good, Self::Down];

    /// The state of its number.
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

        // It speaks, so it lives. Having been down it is greeted like a stranger. Two hellos that cross
        // need no arbiter: each opens the session of its own direction (R30).
        (S::Unknown | S::Down, E::HelloSameIncarnation) => (S::Handshake, F::StartHandshake),
        (S::Handshake | S::Good, E::HelloSameIncarnation) => (state, F::None),

        // Whatever we had with the former life is over (S0-13, LU-16214); it has forgotten us.
        (_, E::HelloNewIncarnation) => (S::Handshake, F::SweepAndHandshake),
        // The answer to our hello tells which of the two is there.
        (_, E::Claimed) => (S::Handshake, F::StartHandshake),

        (S::Handshake, E::Answered) => (S::Good, F::Flush),
        (S::Handshake, E::Incompatible | E::Exhausted) => (S::Down, F::Sweep),
        (S::Handshake, E::TryAgain) => (S::Handshake, F::StartHandshake),
        (S::Handshake, E::NoLink) => (S::Unknown, F::FailQueue),
        (_, E::Answered | E::Incompatible | E::Exhausted | E::TryAgain | E::NoLink) => {
            (state, F::Ignored)
        }

        (S::Down, E::Down | E::Closed) => (state, F::Ignored),
        (_, E::Down | E::Closed) => (S::Down, F::Sweep),

        (S::Down, E::Up) => (S::Unknown, F::None),
        (_, E::Up) => (state, F::Ignored),

        (S::Good | S::Handshake, E::Resync) => (S::Handshake, F::StartHandshake),
        (_, E::Resync) => (state, F::Ignored),
    }
}
