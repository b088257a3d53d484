// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a driver's future depends on, as a hash: for model checkers, which must know again a state
//! that they have seen.

use core::hash::{Hash, Hasher};

use super::Driver;
use crate::id::LinkId;
use crate::ports::Ports;
use crate::transfer::Phase;

impl<P: Ports> Driver<'_, P> {
    /// Feeds everything that the driver's behaviour depends on into `hasher`, its ports excepted.
    ///
    /// Left out: counters, times of mere record, and what free slots still hold. Of the deadlines
    /// only the times are in, not the order in which equal ones expire. Work linear in slots, peers
    /// and links. Context: the shard's owner.
    pub fn fingerprint(&self, hasher: &mut impl Hasher) {
        for slot in 0..self.config.slots {
            let word = self.shared.word(slot);
            word.hash(hasher);
            self.shared.tag(slot).generation.hash(hasher);
            if word.phase() != Phase::Free {
                self.shared.whose(slot).hash(hasher);
                self.details.get(slot as usize).hash(hasher);
                self.timers.armed(slot).hash(hasher);
            }
        }
        for number in 0..self.peers.len() as u32 {
            self.shared.peer_gate(number as usize).map(|gate| gate.view()).hash(hasher);
            self.peers.id(number).and_then(|id| self.peers.get(id)).hash(hasher);
            self.timers.armed(self.config.slots + number).hash(hasher);
        }
        for (number, link) in self.links.iter().enumerate() {
            let gate = LinkId::new(number).and_then(|id| self.shared.link(id));
            gate.map(|gate| gate.is_open()).hash(hasher);
            link.hash_state(hasher);
        }
        (&self.sweep, &self.run, &self.answers, &self.cursor).hash(hasher);
        (self.shared.attention_wanted(), self.nothing_to_report()).hash(hasher);
        (self.active, self.passive, self.next_session, self.rotor).hash(hasher);
        (self.next_hello, self.turned_away, self.unheard.is_empty()).hash(hasher);
        (self.places.state(), self.offer).hash(hasher);
    }
}
