// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file hashes everything on which a driver's future depends. Model checkers recognise known
//! states by it.

use core::hash::{Hash, Hasher};

use super::Driver;
use crate::machines::transfer::Phase;
use crate::ports::Ports;

impl<P: Ports> Driver<'_, P> {
    /// Feeds everything on which the driver's behaviour depends into `hasher`, except its ports.
    ///
    /// Left out are counters, times that are only recorded, and the contents of free slots. Of the
    /// deadlines only the times are included, not the order in which equal ones expire. Work linear
    /// in slots, peers and links. Context: the shard's owner.
    pub fn fingerprint(&self, hasher: &mut impl Hasher) {
        for slot in 0..self.slots.count() {
            let word = self.slots.word(slot);
            word.hash(hasher);
            self.slots.tag(slot).generation.hash(hasher);
            // A free slot keeps old values that no future step reads.
            if word.phase() != Phase::Free {
                self.slots.owner(slot).hash(hasher);
                self.slots.hash_slot(slot, hasher);
                self.slots.armed(slot).hash(hasher);
            }
        }
        for id in (0..self.peers.len() as u32).filter_map(|place| self.peers.id(place)) {
            self.peers.view(id).hash(hasher);
            self.peers.get(id).hash(hasher);
            self.peers.armed(id).hash(hasher);
        }
        self.slots.hash_state(hasher);
        self.peers.hash_state(hasher);
        self.links.hash_state(hasher);
        (&self.run, &self.replies, self.hellos_refused, self.offer).hash(hasher);
        (self.shared.attention_wanted(), self.nothing_to_report()).hash(hasher);
    }
}
