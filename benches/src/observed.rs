// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The tracer of the nodes: none, or with feature `observe` an observer, so that its price can be
//! counted.

#[cfg(not(feature = "observe"))]
pub use lnd_core::ports::NoTrace as Traces;

#[cfg(feature = "observe")]
pub use lnd_core::observe::Observer;

/// The tracer of a node.
#[cfg(feature = "observe")]
pub type Traces = Observer<'static>;

/// The tracer of a node with `slots` slots.
#[cfg(not(feature = "observe"))]
pub fn traces(_slots: u32) -> Traces {
    Traces
}

/// The tracer of a node with `slots` slots. Its memory is never freed.
#[cfg(feature = "observe")]
pub fn traces(slots: u32) -> Traces {
    use lnd_core::observe::{Account, PeerLog, Room};
    Observer::new(Room {
        slots: vec![Account::EMPTY; slots as usize].leak(),
        journal: vec![Account::EMPTY; 256].leak(),
        peers: vec![PeerLog::EMPTY; 4].leak(),
        stamps: &[],
    })
}
