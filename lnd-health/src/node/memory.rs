// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What is remembered of a node across a removal: incarnations, and which of its messages have
//! arrived (R45).
//!
//! A peer that is removed and added again may have copies on their way. So its entry keeps what was
//! learned, under the peer's first address, until the entry is needed for another node. Entries are
//! used again in the order in which they became free.

use crate::dedup::DedupWindow;
use lnd_core::id::{Incarnation, Nid};

/// Former incarnations that are told from new ones.
const FORMER: usize = 4;

/// What is remembered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Remembered {
    /// The address that names the node, if one was added.
    nid: Option<Nid>,
    incarnation: Option<Incarnation>,
    /// The last incarnations before it, the oldest to be overwritten at `oldest`.
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

    /// Whether it is worth keeping.
    pub const fn is_known(&self) -> bool {
        self.incarnation.is_some()
    }

    /// Whether it is of the node with this address.
    pub fn is_of(&self, nid: Nid) -> bool {
        self.is_known() && self.nid == Some(nid)
    }

    /// The window of the present incarnation's numbers.
    pub fn window(&mut self) -> &mut DedupWindow {
        &mut self.window
    }

    /// The node is in this incarnation.
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

/// What a handshake has shown.
pub(super) enum Start {
    /// The incarnation that is known already.
    Known,
    /// One that is over: the handshake was on its way for long.
    Late,
    /// The first one that we hear of.
    First,
    /// A new one.
    Anew,
}
