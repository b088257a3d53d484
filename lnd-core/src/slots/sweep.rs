// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Where the pass over all slots stands.

/// One pass over the table at a time, in index order, in as many steps as its owner likes.
#[derive(Debug, Default, Hash)]
pub(crate) struct Sweep {
    at: u32,
    left: u32,
}

impl Sweep {
    /// Asks for one whole pass over `slots` slots from here.
    pub fn request(&mut self, slots: u32) {
        self.left = slots;
    }

    /// Whether no pass is under way.
    pub const fn is_done(&self) -> bool {
        self.left == 0
    }

    /// The next of `slots` slots, if a pass is under way.
    pub fn next(&mut self, slots: u32) -> Option<u32> {
        self.left = self.left.checked_sub(1)?;
        let slot = self.at;
        self.at = if slot + 1 < slots { slot + 1 } else { 0 };
        Some(slot)
    }
}
