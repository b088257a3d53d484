// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Many seeds, one after another.

use std::collections::BTreeMap;
use std::fmt;

use lnd_core::counters::{Counter, Counters};
use lnd_shortmsg::wire::DecodeCounters;

use super::{run, Failure, Options, Summary};
use crate::node::Stats;

/// What many runs have come to.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// Runs in which nothing was broken.
    pub passed: u64,
    /// The others.
    pub failures: Vec<Failure>,
    /// Steps of all runs that passed.
    pub steps: u64,
    /// PUTs and GETs.
    pub requests: u64,
    /// PUTs delivered, each byte checked.
    pub delivered: u64,
    /// Faults injected.
    pub faults: BTreeMap<&'static str, u64>,
    /// How transfers ended.
    pub stats: Stats,
    /// All counters.
    pub counters: Counters,
    /// Frames refused, by cause.
    pub refused: DecodeCounters,
}

impl Totals {
    /// Adds a run.
    pub fn add(&mut self, result: Result<Summary, Failure>) {
        let summary = match result {
            Ok(summary) => summary,
            Err(failure) => {
                self.failures.push(failure);
                return;
            }
        };
        self.passed += 1;
        self.steps += summary.steps;
        self.requests += summary.requests;
        self.delivered += summary.delivered;
        self.stats.merge(&summary.stats());
        self.counters.merge(&summary.counters);
        self.refused.merge(&summary.refused);
        for (what, count) in summary.facts.faults {
            *self.faults.entry(what).or_default() += count;
        }
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for failure in &self.failures {
            writeln!(f, "{failure}")?;
        }
        let c = |counter| self.counters.value(counter);
        let ok: u64 = self.stats.roles.values().map(|outcomes| outcomes.ok).sum();
        write!(
            f,
            "{} of {} seeds passed: {} steps, {} requests, {ok} of {} transfers OK, {} faults; {} \
             descriptors invalidated ({} came back OK), {} reclaimed, {} asserted",
            self.passed,
            self.passed + self.failures.len() as u64,
            self.steps,
            self.requests,
            self.stats.finalized(),
            self.faults.values().sum::<u64>(),
            c(Counter::Invalidated),
            c(Counter::CameBackOk),
            c(Counter::Reclaimed),
            c(Counter::Asserted),
        )
    }
}

/// Runs `count` seeds from `options.seed` on. `each` hears of every run.
pub fn sweep(
    options: &Options,
    count: u64,
    mut each: impl FnMut(&Result<Summary, Failure>),
) -> Totals {
    let mut totals = Totals::default();
    for seed in (options.seed..).take(usize::try_from(count).unwrap_or(usize::MAX)) {
        let result = run(&Options { seed, ..options.clone() });
        each(&result);
        totals.add(result);
    }
    totals
}
