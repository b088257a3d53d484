// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The failure and recovery of a link, or of another stop domain, as a pure table (R3, S0-10 to S0-12,
//! S0-20).

/// Where a link stands, or another stop domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinkState {
    /// In service.
    Up,
    /// The gate is closed; a poster may still be inside.
    Stalled,
    /// The engine has been asked to stop.
    Stopping,
    /// The device does not identify itself, or it says what no working device says. Nothing is posted,
    /// and the memory of what was posted stays lent (INV-2), until the device identifies itself *and*
    /// says stopped, or the platform asserts that it has stopped.
    Failed,
    /// The engine is proven stopped; descriptors are being yanked and completed by hand.
    Reclaiming,
    /// The engine has been reset; the link itself does not work yet.
    Down,
}

/// What happened to a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinkEvent {
    /// The fabric reports a failure, or the drain bound has run out.
    Failed,
    /// No poster is inside the closed gate.
    PostersOut,
    /// The engine's registers say stopped, or the platform asserts it.
    Quiesced,
    /// The device does not identify itself, or it says what no working device says: neither a proof
    /// nor a denial.
    Gone,
    /// The last descriptor has been yanked.
    Reclaimed,
    /// The link register says that the link works.
    Restored,
}

/// What to do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub enum LinkEffect {
    /// Nothing.
    None,
    /// Close the gate and cancel what waits on this link.
    CloseGate,
    /// Ask the engine to stop.
    StopEngine,
    /// Keep what the device has and look for a proof.
    Quarantine,
    /// Yank descriptors and settle their transfers by hand.
    Reclaim,
    /// Reset the engine: the proof is used up.
    ResetEngine,
    /// Open the gate.
    OpenGate,
    /// Nothing: the event does not apply here. Count it.
    Ignored,
}

impl LinkState {
    /// Every state.
    pub const ALL: [Self; 6] =
        [Self::Up, Self::Stalled, Self::Stopping, Self::Failed, Self::Reclaiming, Self::Down];
}

impl LinkEvent {
    /// Every event.
    pub const ALL: [Self; 6] = [
        Self::Failed,
        Self::PostersOut,
        Self::Quiesced,
        Self::Gone,
        Self::Reclaimed,
        Self::Restored,
    ];
}

/// The table.
pub const fn link_step(state: LinkState, event: LinkEvent) -> (LinkState, LinkEffect) {
    use LinkEffect as F;
    use LinkEvent as E;
    use LinkState as S;
    match (state, event) {
        (S::Up, E::Failed | E::Gone) => (S::Stalled, F::CloseGate),
        (S::Stalled, E::PostersOut) => (S::Stopping, F::StopEngine),
        (S::Stopping, E::Gone) => (S::Failed, F::Quarantine),
        (S::Stopping | S::Failed, E::Quiesced) => (S::Reclaiming, F::Reclaim),
        (S::Reclaiming, E::Reclaimed) => (S::Down, F::ResetEngine),
        (S::Down, E::Restored) => (S::Up, F::OpenGate),
        // Already on the way down, or a report about a state that has passed.
        (same, _) => (same, F::Ignored),
    }
}
