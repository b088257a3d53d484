// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a good run tells.

use std::fmt;
use std::ops::Deref;

use lnd_core::counters::{Counter, Counters};
use lnd_shortmsg::wire::DecodeCounters;

use crate::node::Stats;
use crate::simulator::fail::Seconds;
use crate::simulator::Facts;

/// One node, over all its incarnations.
#[derive(Clone, Debug)]
pub struct NodeSummary {
    /// Lives it has had.
    pub incarnations: u32,
    /// Events in its trace.
    pub traced: u64,
    /// How its transfers ended.
    pub stats: Stats,
    /// What it has counted.
    pub counters: Counters,
    /// Messages of others that it has passed on, as a router.
    pub forwarded: u64,
}

/// A run in which nothing was broken.
#[derive(Clone, Debug)]
pub struct Summary {
    /// What every run tells.
    pub facts: Facts,
    /// Links of each node.
    pub links: u32,
    /// Node 1 was a router.
    pub routed: bool,
    /// Requests that were answered between nodes whose connections did not fail, where nothing else
    /// did.
    pub beside: u64,
    /// The nodes.
    pub nodes: Vec<NodeSummary>,
    /// All counters of all nodes.
    pub counters: Counters,
    /// Frames that were refused, by cause, at all nodes.
    pub refused: DecodeCounters,
    /// The node that kept to nothing.
    pub byzantine: Option<u32>,
}

impl Deref for Summary {
    type Target = Facts;

    fn deref(&self) -> &Facts {
        &self.facts
    }
}

impl Summary {
    /// How all nodes' transfers ended.
    pub fn stats(&self) -> Stats {
        let mut all = Stats::default();
        self.nodes.iter().for_each(|node| all.merge(&node.stats));
        all
    }

    /// Everything that was counted, by group and name; what did not occur is zero.
    pub fn events(&self) -> Vec<(&'static str, String, u64)> {
        let counter = |it: &Counter| ("counter", it.name().to_owned(), self.counters.value(*it));
        let mut all: Vec<_> = Counter::ALL.iter().map(counter).collect();
        let refused = self.refused.iter();
        all.extend(refused.map(|(error, count)| ("refused frame", error.to_string(), count)));
        let faults = self.faults.iter();
        all.extend(faults.map(|(what, count)| ("fault", (*what).to_owned(), *count)));
        for ((errno, class), count) in self.stats().failures {
            all.push(("failure", format!("{class} {errno}"), count));
        }
        all
    }

    /// One line.
    pub fn line(&self) -> String {
        let faults: u64 = self.faults.values().sum();
        let stats = self.stats();
        let ok: u64 = stats.roles.values().map(|o| o.ok).sum();
        format!(
            "seed {} ok: {} nodes, {} links, {} steps, {} requests, {ok} of {} transfers OK, \
             {faults} faults, hash {:016x}",
            self.seed,
            self.nodes.len(),
            self.links,
            self.steps,
            self.requests,
            stats.finalized(),
            self.hash,
        )
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.line())?;
        let byzantine = self.byzantine.map(|n| format!(", node {n} is byzantine"));
        let way = if self.routed { ", node 1 routes for node 0" } else { "" };
        writeln!(
            f,
            "  virtual time {}{way}{}",
            Seconds(self.ended),
            byzantine.unwrap_or_default()
        )?;
        writeln!(f, "  requests: {} begun, {} answered", self.requests, self.answered)?;
        writeln!(f, "  PUTs delivered, every byte checked: {}", self.delivered)?;
        if self.beside > 0 {
            writeln!(f, "  answered beside connections that failed: {}", self.beside)?;
        }
        let c = |counter| self.counters.value(counter);
        writeln!(
            f,
            "  descriptors: {} posted, {} invalidated ({} came back OK, {} with an error), \
             {} reclaimed ({} with their real end), {} asserted",
            c(Counter::Posted),
            c(Counter::Invalidated),
            c(Counter::CameBackOk),
            c(Counter::CameBackError),
            c(Counter::Reclaimed),
            c(Counter::ReclaimedReal),
            c(Counter::Asserted),
        )?;
        writeln!(f, "  ends by role:")?;
        let stats = self.stats();
        for (role, o) in &stats.roles {
            let lost = o.lost_races;
            writeln!(
                f,
                "    {role:<16} {:>6} OK ({lost} after a cancel), {:>6} failed",
                o.ok, o.failed
            )?;
        }
        for ((errno, class), count) in &stats.failures {
            writeln!(f, "    errno {errno:>4} {class:<16} {count:>6}")?;
        }
        writeln!(f, "  faults injected:")?;
        for (what, count) in &self.faults {
            writeln!(f, "    {what:<32} {count:>6}")?;
        }
        write!(f, "  frames refused:")?;
        for (error, count) in self.refused.iter().filter(|(_, count)| *count > 0) {
            write!(f, " {error}: {count},")?;
        }
        write!(f, " {} in all", self.refused.total())?;
        for (number, node) in self.nodes.iter().enumerate() {
            write!(
                f,
                "\n  node {number}, {} incarnations, {} transitions",
                node.incarnations, node.traced
            )?;
            write_counters(f, &node.counters)?;
        }
        Ok(())
    }
}

/// Counters that are not zero, in lines of a terminal's width.
fn write_counters(f: &mut fmt::Formatter<'_>, counters: &Counters) -> fmt::Result {
    const WIDTH: usize = 100;
    let mut column = WIDTH;
    for &counter in Counter::ALL {
        let value = counters.value(counter);
        if value == 0 {
            continue;
        }
        let shown = format!(" {}={value}", counter.name());
        if column + shown.len() > WIDTH {
            write!(f, "\n   ")?;
            column = 3;
        }
        f.write_str(&shown)?;
        column += shown.len();
    }
    Ok(())
}
