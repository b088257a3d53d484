// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file holds the recovery state of a stop domain.

use core::hash::{Hash, Hasher};

use crate::base::time::Instant;
use crate::machines::link::{LinkState, Quiesced};

/// The recovery of one stop domain.
pub(crate) struct Recovery {
    pub state: LinkState,
    pub proof: Option<Quiesced>,
    /// The next slot to invalidate, and after the stop the next one to reclaim.
    pub at: u32,
    pub failed_at: Instant,
    pub quiesced_at: Option<Instant>,
}

impl Recovery {
    /// The recovery of a domain in `state`.
    pub const fn of(state: LinkState) -> Self {
        Self { state, proof: None, at: 0, failed_at: Instant::ORIGIN, quiesced_at: None }
    }

    /// Starts the recovery of a domain that fails.
    pub fn begin(&mut self, now: Instant) {
        // The former stop proves nothing about this failure.
        (self.failed_at, self.at, self.quiesced_at) = (now, 0, None);
    }

    /// Starts the reclaim: the domain is proven stopped, and its slots are walked from the first
    /// one.
    pub fn reclaim(&mut self, now: Instant) {
        (self.at, self.quiesced_at) = (0, Some(now));
    }

    /// Hashes the state on which its future depends.
    pub fn hash_state(&self, hasher: &mut impl Hasher) {
        (self.state, self.proof.is_some(), self.at).hash(hasher);
    }
}
