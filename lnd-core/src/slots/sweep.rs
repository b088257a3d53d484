// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file holds the position of the sweep over all slots.

/// One pass over the table at a time, in index order, in steps of any size.
#[derive(Debug, Default, Hash)]
pub(crate) struct Sweep {
    at: u32,
    left: u32,
}

impl Sweep {
    /// Requests one whole pass over `slots` slots from here.
    pub fn request(&mut self, slots: u32) {
        // A request during a pass restarts the count: every slot is visited after the latest
        // request. Requests do not add up.
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
