// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Completions that the adversary holds back.

use lnd_core::id::Tag;
use lnd_core::time::Instant;

/// Most completions that an adversary holds back at once.
pub(super) const HELD: usize = 8;

/// Completions held back by the adversary.
#[derive(Debug, Default)]
pub(super) struct Held(pub [Option<(Instant, Tag, u32)>; HELD]);

impl Held {
    pub fn any(&self) -> bool {
        self.0.iter().any(Option::is_some)
    }

    pub fn clear(&mut self) {
        self.0 = Default::default();
    }
}
