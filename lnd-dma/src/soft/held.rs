// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the adversary holds back.

use lnd_core::id::Tag;
use lnd_core::time::Instant;

/// Completions that an adversary may hold back at once.
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
