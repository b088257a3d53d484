// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The state of a node that survives its removal: incarnations, and which of its messages have
//! arrived (R45).
//!
//! A peer that is removed and added again may have copies under way. So its entry keeps this state
//! under the peer's first address, until another node needs the entry. Entries are reused in the
//! order in which they became free.

use crate::dedup::DedupWindow;
use lnd_core::id::{Incarnation, Nid};

/// Number of former incarnations that are stored.
const FORMER: usize = 4;

/// The stored state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Remembered {
    /// The address that names the node, if one was added.
    nid: Option<Nid>,
    incarnation: Option<Incarnation>,
    /// The incarnations before it; the oldest is at `oldest` and overwritten first.
    former: [Option<Incarnation>; FORMER],
    oldest: u8,
    window: DedupWindow,
}

impl Remembered {
    pub const fn new(nid: Option<Nid>) -> Self {
        let window = DedupWindow::new();
        Self { nid, incarnation: None, former: [None; FORMER], oldest: 0, window }
    }

    pub const fn incarnation(&self) -> Option<Incarnation> {
        self.incarnation
    }

    /// Whether there is state to keep.
    pub const fn is_known(&self) -> bool {
        self.incarnation.is_some()
    }

    /// Whether it is the state of the node with this address.
    pub fn is_of(&self, nid: Nid) -> bool {
        self.is_known() && self.nid == Some(nid)
    }

    /// The window of the current incarnation's numbers.
    pub fn window(&mut self) -> &mut DedupWindow {
        &mut self.window
    }

    /// Records the node's current incarnation.
    pub fn starts(&mut self, new: Incarnation) -> Start {
        if self.incarnation == Some(new) {
            return Start::Known;
        }
        if self.former.contains(&Some(new)) {
            return Start::Late;
        }
        let former = self.incarnation.replace(new);
        self.window = DedupWindow::new();
        if former.is_none() {
            return Start::First;
        }
        if let Some(place) = self.former.get_mut(usize::from(self.oldest)) {
            *place = former;
        }
        self.oldest = if usize::from(self.oldest) + 1 < FORMER { self.oldest + 1 } else { 0 };
        Start::Anew
    }
}

/// The result of a handshake.
pub(super) enum Start {
    /// The known incarnation.
    Known,
    /// A former one: the handshake was delayed.
    Late,
    /// The first one.
    First,
    /// A new one.
    Anew,
}
