// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What arrives from peers, beside a book of what has arrived.

use lnd_core::id::Incarnation;
use lnd_health::{Number, PeerId, Stamp, WindowCheck};

use super::Book;

impl Book {
    /// R45: a message is coming or received once, and a second copy is one of what was received.
    pub(super) fn arrived(&mut self, from: PeerId, incarnation: Incarnation, bits: u32) {
        let number = Number::new(1 + (bits >> 16 & 1), bits % 2000).expect("not epoch 0");
        let to = (bits >> 19 & 1 == 1).then_some(incarnation);
        let stamp = Stamp { from: incarnation, to, number };
        let (key, present) = ((from, number), self.health.peer(from).and_then(|p| p.incarnation()));
        let ours = present == Some(incarnation)
            && (to.is_none() || to == self.health.config().incarnation);
        let before = self.arrived.get(&key).copied().filter(|_| ours);
        let remembered = self.remembered.contains(&from);
        match bits >> 17 & 3 {
            2 => {
                let was = self.health.message_received(from, stamp);
                assert!(!was || before == Some(false) || remembered, "received without a copy");
                if was {
                    self.arrived.insert(key, true);
                }
            }
            3 => {
                let was = self.health.message_not_received(from, stamp);
                assert!(!was || before == Some(false) || remembered, "failed without a copy");
                if was {
                    self.arrived.remove(&key);
                }
            }
            _ => match self.health.arrived(from, stamp) {
                WindowCheck::First => {
                    assert!(ours && before.is_none(), "delivered twice");
                    self.arrived.insert(key, false);
                }
                WindowCheck::Coming => assert!(before == Some(false) || remembered, "not coming"),
                WindowCheck::Second => assert!(before == Some(true) || remembered, "no copy"),
                WindowCheck::Outside => assert!(ours),
                WindowCheck::Stale => assert!(!ours),
            },
        }
    }
}
