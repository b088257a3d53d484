// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file holds the table of everything that is counted: name, unit, kind and help. All that
//! renders counters, for programs or for people, reads it.

use super::gauges::Gauge;
use super::unit::Unit;
use crate::base::counters::Counter;

/// How a metric changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MetricKind {
    /// It only grows, and wraps.
    Counter,
    /// It rises and falls.
    Gauge,
}

impl MetricKind {
    /// The kind in words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
        }
    }
}

/// What a metric is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetricInfo {
    /// Lower case, underscores; unique in this table. It does not change between versions.
    pub name: &'static str,
    /// What it counts.
    pub unit: Unit,
    /// How it changes.
    pub kind: MetricKind,
    /// What it means, in a sentence.
    pub help: &'static str,
}

/// Something that is counted or gauged.
///
/// ```
/// use lnd_core::counters::Counter;
/// use lnd_core::observe::{Metric, MetricKind};
///
/// let info = Metric::Counter(Counter::LostRaces).info();
/// assert_eq!((info.name, info.kind), ("lost_races", MetricKind::Counter));
/// assert!(Metric::all().all(|it| !it.info().help.is_empty()));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Metric {
    /// A counter of the driver.
    Counter(Counter),
    /// A gauge of the driver.
    Gauge(Gauge),
}

impl Metric {
    /// Every metric: the counters in their order, then the gauges.
    pub fn all() -> impl Iterator<Item = Self> {
        let counters = Counter::ALL.iter().map(|counter| Self::Counter(*counter));
        counters.chain(Gauge::ALL.into_iter().map(Self::Gauge))
    }

    /// What it is.
    pub const fn info(self) -> MetricInfo {
        match self {
            Self::Counter(it) => MetricInfo {
                name: it.name(),
                unit: unit(it),
                kind: MetricKind::Counter,
                help: it.help(),
            },
            Self::Gauge(it) => MetricInfo {
                name: it.name(),
                unit: it.unit(),
                kind: MetricKind::Gauge,
                help: it.help(),
            },
        }
    }
}

/// What a counter counts. Without a default: a new counter needs a unit.
const fn unit(counter: Counter) -> Unit {
    use Counter::*;
    match counter {
        Accepted | Requests | FinalizedOk | FinalizedError | LostRaces | Refused | Asserted
        | Waited | Deadlines | DecisionLate => Unit::Transfers,
        Cancels | CancelsHeard | Sent | Hellos | Misrouted | Early | WrongIncarnation
        | WrongSession | Duplicate | OutsideWindow | LostRequests | StaleAnswer | WrongAnswer
        | Protocol | BadCredits | IgnoredHellos | UnheardHellos | HellosRefused | NoRoom
        | SendFailed | FinalsWaited | Unsaid | StalePeer => Unit::Messages,
        PullsWaited | Posted | Invalidated | CameBackOk | CameBackError | Reclaimed
        | ReclaimedReal | PostFailed => Unit::Descriptors,
        PeersDown | PeersRestarted | PeersFull => Unit::Peers,
        LinksFailed | DrainBoundHit | LinksRestored | ConnectionsFailed | ConnectionsReset
        | DevicesGone | StopsAsserted => Unit::Links,
        Doorbells | StaleCompletion | LateEvent | ForeignCompletion | Resyncs
        | ImpossibleStatus => Unit::Events,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_every_metric_says_what_it_is() {
        let mut names = BTreeSet::new();
        for info in Metric::all().map(Metric::info) {
            assert!(names.insert(info.name), "{} twice", info.name);
            let plain = |c: char| c.is_ascii_lowercase() || c == '_' || c.is_ascii_digit();
            assert!(info.name.chars().all(plain), "{}", info.name);
            let sentence = info.help.ends_with('.') && info.help.len() > 8 && info.help.len() < 192;
            assert!(sentence && info.help.trim() == info.help, "{}: {}", info.name, info.help);
            assert!(!info.help.contains("  ") && !info.help.contains('['), "{}", info.help);
        }
        assert_eq!(names.len(), Counter::ALL.len() + Gauge::ALL.len());
    }
}
