// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a running node counts, for Prometheus: a page on a TCP port, rendered from the core's own
//! table of metrics.
//!
//! The node's thread publishes a snapshot now and then; the page's thread renders the latest one.
//! So a reader never holds the node up.

mod page;
mod render;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lnd_core::config::Config;
use lnd_core::counters::Counters;
use lnd_core::driver::{Blocker, Driver};
use lnd_core::observe::{effective_bounds, EffectiveBound, GaugeValues, Measures};
use lnd_core::ports::Ports;
use lnd_core::time::{Instant, Span};
use lnd_sim::runtime::Station;

pub use page::Page;
pub use render::{render, series};

/// So often a snapshot is taken.
const EVERY: Span = Span::from_millis(100);
/// Failed transfers that are explained.
const FAILED: usize = 16;
/// Lines of what has not ended.
const BLOCKERS: usize = 64;

/// What a node has counted at one moment.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// The driver's counters.
    pub counters: Counters,
    /// Its gauges.
    pub gauges: GaugeValues,
    /// What its observer has measured.
    pub measures: Measures,
    /// The latest transfers that failed, in words.
    pub failed: Vec<String>,
    /// What has not ended, and what it needs.
    pub blockers: Vec<String>,
    /// The bounds in effect, and where each comes from.
    pub bounds: Vec<String>,
}

/// The latest snapshot, for any thread.
#[derive(Clone, Debug, Default)]
pub struct Board {
    latest: Arc<Mutex<Snapshot>>,
    taken: Option<Instant>,
    finished: u64,
}

impl Board {
    fn lock(&self) -> MutexGuard<'_, Snapshot> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A copy of the latest snapshot.
    pub fn latest(&self) -> Snapshot {
        self.lock().clone()
    }

    /// Takes a snapshot of a node, if the last one is old enough.
    pub fn publish(&mut self, now: Instant, station: &mut Station<'_>) {
        if self.taken.is_some_and(|taken| now.since(taken) < EVERY) {
            return;
        }
        self.taken = Some(now);
        let driver = &mut station.node.driver;
        let (counters, gauges) = (driver.counters().clone(), GaugeValues::read(driver));
        let observer = &driver.tracer_mut().observer;
        // Texts are made only if a transfer has ended since.
        let failed = (observer.finished() != self.finished).then(|| {
            let lost = observer.ended().filter(|it| it.evidence().is_some()).take(FAILED);
            lost.filter_map(|it| Some(observer.explain(it.tag())?.to_string())).collect()
        });
        self.finished = observer.finished();
        let (gauges, measures) = (gauges.with(now, observer), observer.measures().clone());
        let (blockers, bounds) = (blockers(driver), bounds(driver.config()));
        let mut latest = self.lock();
        let failed = failed.unwrap_or_else(|| std::mem::take(&mut latest.failed));
        *latest = Snapshot { counters, gauges, measures, failed, blockers, bounds };
    }
}

/// What keeps a driver from being idle, a line each.
fn blockers<P: Ports>(driver: &Driver<'_, P>) -> Vec<String> {
    let (mut lines, mut from) = (Vec::new(), 0);
    while let Some(blocker) = driver.blocker(from).filter(|_| lines.len() < BLOCKERS) {
        lines.push(format!("{blocker}\n"));
        from = match blocker {
            Blocker::Transfer { tag, .. } | Blocker::Unreported { tag } => tag.index + 1,
            // Links come behind all transfers, one at a time.
            Blocker::Link { .. } => break,
        };
    }
    lines
}

/// The bounds in effect, a line each.
fn bounds(config: &Config) -> Vec<String> {
    let line = |it: EffectiveBound| {
        let ms = it.span.as_nanos() as f64 / 1e6;
        format!("{} {ms} ms, {}: {}\n", it.name, it.origin.name(), it.help)
    };
    effective_bounds(config).map(line).into()
}

/// Reads where a page shall be: `127.0.0.1:9464`, `[::1]:9464`, or a port alone, on this machine
/// only.
///
/// # Errors
/// It is neither.
pub fn parse_address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(port) = text.parse::<u16>() {
        return Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    }
    text.parse().map_err(|_| "an address looks like 127.0.0.1:9464; a port alone is enough".into())
}
