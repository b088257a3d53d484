// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What storms have done, so that none passes for one that is a breeze.

use lnd_core::counters::{Counter, Counters};

use super::world::WorldOf;

/// What storms have done in all.
pub struct Tally {
    ok: usize,
    failed: usize,
    counters: Counters,
}

impl Tally {
    pub const fn new() -> Self {
        Self { ok: 0, failed: 0, counters: Counters::new() }
    }

    pub fn add<const SAFE_INVALIDATE: bool>(&mut self, world: &WorldOf<SAFE_INVALIDATE>) {
        for node in &world.nodes {
            let ok = node.done.iter().filter(|r| r.status.errno == 0).count();
            self.ok += ok;
            self.failed += node.done.len() - ok;
            self.counters.merge(node.driver.counters());
        }
    }

    /// How often something was counted.
    pub fn value(&self, counter: Counter) -> u64 {
        self.counters.value(counter)
    }

    /// A storm is worth its name if much goes wrong, and much gets through all the same.
    pub fn assert_rough(&self) {
        assert!(self.ok > 1000 && self.failed > 500, "{} ok, {} failed", self.ok, self.failed);
        for counter in [
            Counter::LostRaces,
            Counter::CameBackError,
            Counter::ReclaimedReal,
            Counter::Asserted,
            Counter::DrainBoundHit,
            Counter::Early,
            Counter::WrongIncarnation,
            Counter::Duplicate,
            Counter::Waited,
            Counter::Resyncs,
            Counter::PeersDown,
            Counter::PeersRestarted,
            Counter::Deadlines,
            Counter::DecisionLate,
            Counter::PostFailed,
            Counter::SendFailed,
        ] {
            assert!(self.counters.value(counter) > 0, "never: {}", counter.name());
        }
    }
}
