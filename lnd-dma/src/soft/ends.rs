// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The ends of pulls. The sources' engines are notified of several ends together.

use super::{Fabric, Faults, SoftEngine};
use crate::memory::LinkMemory;

/// Bytes after which the sources' engines are notified.
pub(super) const TOGETHER: u32 = 64 * 1024;

/// Returned descriptors of one node, in one word of its bitmap.
struct Returns<'m> {
    node: u32,
    memory: LinkMemory<'m>,
    word: u32,
    mask: u32,
}

impl<'m> Returns<'m> {
    fn notify(&self, fabric: &mut impl Fabric<'m>) {
        self.memory.dones().set_many(self.word, self.mask);
        fabric.returned(self.node);
    }
}

impl<'m, F: Fabric<'m>, A: Faults> SoftEngine<'m, F, A> {
    /// Reports the ends of pulls: first to the sources' engines, then to the own driver as far as
    /// there is room.
    pub(super) fn end_all(&mut self) {
        self.notify_ended();
        for at in 0..self.pulls.len() {
            let ended = self.pulls.get(at).and_then(Option::as_ref);
            let ended = ended.and_then(|pull| pull.end.map(|end| (pull.index(), end)));
            let Some((index, (state, cause))) = ended else { continue };
            if self.room_for(2) {
                self.give_back(index, state, cause);
                if let Some(place) = self.pulls.get_mut(at) {
                    *place = None;
                }
            }
        }
        // Every step looks at all places, several times: a table without empty ones at its end is
        // passed sooner. Which place a pull gets is the same.
        while let Some(None) = self.pulls.last() {
            let _ = self.pulls.pop();
        }
    }

    /// Notifies the sources' engines: one write for each node and word of its bitmap.
    fn notify_ended(&mut self) {
        let mut together: Option<Returns<'m>> = None;
        for pull in self.pulls.iter_mut().flatten().filter(|pull| pull.end.is_some()) {
            let node = pull.node();
            let Some((memory, index)) = pull.take_untold() else { continue };
            let (word, bit) = (index / 32, 1 << (index % 32));
            match &mut together {
                Some(returns) if returns.node == node && returns.word == word => {
                    returns.mask |= bit
                }
                _ => {
                    let next = Returns { node, memory, word, mask: bit };
                    if let Some(full) = together.replace(next) {
                        full.notify(&mut self.fabric);
                    }
                }
            }
        }
        if let Some(last) = together {
            last.notify(&mut self.fabric);
        }
    }
}
