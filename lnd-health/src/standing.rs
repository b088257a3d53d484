// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The states of an interface: whether it may be used, whether it is alive, and the reasons against
//! its use.

/// Whether an interface may be used, as other nodes see it (`LNET_NI_STATUS_UP`, `…_DOWN`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NiStatus {
    /// It may.
    Up,
    /// It is consistently down: its health has fallen to the lower threshold and not yet risen
    /// to the upper one (LU-19476).
    Down,
}

/// Whether the far end is alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Aliveness {
    /// No message has ever arrived.
    Unknown,
    /// A message arrived at the time stored with it.
    Alive,
    /// The prober has found it dead, and no message has arrived since.
    Dead,
}

/// The health values at which an interface goes down and comes up again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// At this health or less it goes down. LNet: 0.
    pub down: u16,
    /// At this health or more it comes up. LNet: 1000.
    pub up: u16,
}

/// Reasons not to use an interface, as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Shut(pub(crate) u8);

impl Shut {
    /// The entry is not in use.
    pub const UNUSED: u8 = 1 << 0;
    /// It is being drained for maintenance.
    pub const DRAINING: u8 = 1 << 1;
    /// The fabric reports it as unusable.
    pub const FATAL: u8 = 1 << 2;
    /// Its status is down.
    pub const DOWN: u8 = 1 << 3;

    /// Whether any of the reasons in `mask` holds.
    pub const fn has(self, mask: u8) -> bool {
        self.0 & mask != 0
    }

    pub(crate) fn set(&mut self, bit: u8, on: bool) {
        self.0 = if on { self.0 | bit } else { self.0 & !bit };
    }
}
