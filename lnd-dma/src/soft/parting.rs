// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! An engine's progress with connections that are cut.

/// Progress with the cuts of one round. A set has one bit for each node.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Parting {
    pub round: u32,
    /// Nodes whose connections are cut in this round.
    pub cut: u64,
    /// Nodes whose connections have stopped.
    pub parted: u64,
    /// Nodes of the current pass, and those of them that still hold a descriptor.
    pub pass: u64,
    pub held: u64,
    /// The next descriptor to check.
    pub at: u32,
}

impl Parting {
    /// The state before the first round: its round differs from that in the registers.
    pub const fn before(round: u32) -> Self {
        Self { round: round.wrapping_sub(1), cut: 0, parted: 0, pass: 0, held: 0, at: 0 }
    }

    /// Nodes that are cut and have not stopped.
    pub const fn left(&self) -> u64 {
        self.cut & !self.parted
    }
}
