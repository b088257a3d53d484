// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! How far the recovery of each stop domain has come.

use core::hash::{Hash, Hasher};

use crate::base::time::Instant;
use crate::machines::link::{LinkState, Quiesced};

/// The recovery of one stop domain.
pub(crate) struct Recovery {
    pub state: LinkState,
    pub proof: Option<Quiesced>,
    /// The next slot to invalidate, then the next one to reclaim.
    pub at: u32,
    pub failed_at: Instant,
    pub quiesced_at: Option<Instant>,
}

impl Recovery {
    /// Of a domain that is in `state`.
    pub const fn of(state: LinkState) -> Self {
        Self { state, proof: None, at: 0, failed_at: Instant::ORIGIN, quiesced_at: None }
    }

    /// The domain fails.
    pub fn begin(&mut self, now: Instant) {
        (self.failed_at, self.at, self.quiesced_at) = (now, 0, None);
    }

    /// The domain is proven stopped; its slots are looked at from the first one on.
    pub fn reclaim(&mut self, now: Instant) {
        (self.at, self.quiesced_at) = (0, Some(now));
    }

    /// What its future depends on.
    pub fn hash_state(&self, hasher: &mut impl Hasher) {
        (self.state, self.proof.is_some(), self.at).hash(hasher);
    }
}
