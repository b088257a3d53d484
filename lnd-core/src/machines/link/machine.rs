// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file holds the failure and recovery of a stop domain, a link or a connection, as a pure
//! table (R3, S0-10 to S0-12, S0-20).

/// The state of a link or another stop domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinkState {
    /// In service.
    Up,
    /// The gate is closed; a poster may still be inside.
    Stalled,
    /// The engine has been asked to stop.
    Stopping,
    /// The device does not identify itself, or its registers hold what no working device reports.
    /// Nothing is posted. The memory of what was posted stays lent (INV-2) until the device
    /// identifies itself *and* reports stopped, or the platform asserts that it has stopped.
    Failed,
    /// The engine is proven stopped. Descriptors are reclaimed, and their transfers are completed
    /// without the engine.
    Reclaiming,
    /// The engine has been reset; the link itself does not work yet.
    Down,
}

/// An event of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinkEvent {
    /// The fabric reports a failure, or the drain bound has run out.
    Failed,
    /// No poster is inside the closed gate.
    PostersOut,
    /// The engine's registers report stopped, or the platform asserts it.
    Quiesced,
    /// The device does not identify itself, or its registers hold what no working device reports.
    /// That is neither a proof nor a denial.
    Gone,
    /// The last descriptor was reclaimed.
    Reclaimed,
    /// The link register reports that the link works.
    Restored,
}

/// What the owner does about an event.
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
    /// Reclaim descriptors and settle their transfers without the engine.
    Reclaim,
    /// Reset the engine: this uses up the proof.
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
        // The engine is stopped only behind the last poster. A descriptor that is posted after the
        // stop could escape the reclaim.
        (S::Stalled, E::PostersOut) => (S::Stopping, F::StopEngine),
        (S::Stopping, E::Gone) => (S::Failed, F::Quarantine),
        // A device that cannot be read proves nothing: all ones may also be a device that still
        // writes (INV-3). `Failed` is left only by a proof.
        (S::Stopping | S::Failed, E::Quiesced) => (S::Reclaiming, F::Reclaim),
        // The reset comes last. It lets the engine move again, so every descriptor must be out
        // before (S0-12).
        (S::Reclaiming, E::Reclaimed) => (S::Down, F::ResetEngine),
        (S::Down, E::Restored) => (S::Up, F::OpenGate),
        // The domain is already on its way down, or the report is about a state that has passed.
        (same, _) => (same, F::Ignored),
    }
}
