// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What an engine knows of connections that are cut.

/// How far the engine has come with the cuts of one round. A set has one bit for each node.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Parting {
    pub round: u32,
    /// Whose connections are cut in this round.
    pub cut: u64,
    /// Whose have stopped.
    pub parted: u64,
    /// Whom the present pass is about, and who of them still holds something.
    pub pass: u64,
    pub held: u64,
    /// The next descriptor to look at.
    pub at: u32,
}

impl Parting {
    /// What is to be begun anew, whatever is in the registers: its round is not that of `round`.
    pub const fn before(round: u32) -> Self {
        Self { round: round.wrapping_sub(1), cut: 0, parted: 0, pass: 0, held: 0, at: 0 }
    }

    /// Who is cut and has not stopped.
    pub const fn left(&self) -> u64 {
        self.cut & !self.parted
    }
}
