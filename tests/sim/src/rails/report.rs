// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a run of a multi-rail world was like.

use std::fmt;
use std::ops::Deref;

use super::host::Counts;
use super::plan::Plan;
use super::rules::Class;
use super::world::NiSpec;
use crate::simulator::Facts;

/// Health at one time: for each node, its view of every interface; `None`: the node was away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Milliseconds since the start.
    pub ms: u64,
    /// By node, then by interface.
    pub values: Vec<Vec<Option<u16>>>,
}

/// One node's run.
#[derive(Clone, Debug)]
pub struct NodeReport {
    /// Lives that it has had.
    pub incarnations: u32,
    /// What they have counted.
    pub counts: Counts,
    /// The last changes of health, with their evidence.
    pub journal: Vec<String>,
}

/// A run in which no rule was broken.
#[derive(Clone, Debug)]
pub struct Report {
    /// What every run tells.
    pub facts: Facts,
    /// The plan.
    pub plan: Plan,
    /// The interfaces.
    pub specs: Vec<NiSpec>,
    /// When every interface had recovered, in milliseconds since the start.
    pub healed_ms: u64,
    /// Messages that each rule has matched, and hit.
    pub rules: Vec<(u64, u32)>,
    /// Health over time.
    pub samples: Vec<Sample>,
    /// The nodes.
    pub nodes: Vec<NodeReport>,
}

impl Deref for Report {
    type Target = Facts;

    fn deref(&self) -> &Facts {
        &self.facts
    }
}

impl Report {
    /// What all nodes have counted.
    pub fn counts(&self) -> Counts {
        let mut all = Counts::default();
        self.nodes.iter().for_each(|node| all.merge(&node.counts));
        all
    }

    /// Everything that was counted, by group and name; what did not occur is zero.
    pub fn events(&self) -> Vec<(&'static str, String, u64)> {
        let c = self.counts();
        let health = [
            ("messages", c.messages),
            ("resends", c.resends),
            ("resends that ended OK", c.resent_ok),
            ("resends that failed", c.resent_failed),
            ("messages that failed", c.failed),
            ("failures past the deadline", c.late),
            ("recovery pings", c.pings.0),
            ("recovery pings answered", c.pings.1),
            ("answers that did not come", c.response_timeouts),
            ("second copies", c.second_copies),
            ("probes: alive", c.probes[0]),
            ("probes: dead", c.probes[1]),
            ("probes: unknown", c.probes[2]),
            ("peers found down", c.found_down),
        ];
        let mut all: Vec<_> =
            health.into_iter().map(|(name, count)| ("health", name.to_owned(), count)).collect();
        let faults = self.faults.iter();
        all.extend(faults.map(|(what, count)| ("fault", (*what).to_owned(), *count)));
        all
    }

    /// One line.
    pub fn line(&self) -> String {
        let c = self.counts();
        format!(
            "seed {} ok: {} nodes, {} interfaces, {} steps, {} requests, {} answered; {} messages, \
             {} resends ({} ended OK, {} failed), hash {:016x}",
            self.seed,
            self.nodes.len(),
            self.specs.len(),
            self.steps,
            self.requests,
            self.answered,
            c.messages,
            c.resends,
            c.resent_ok,
            c.resent_failed,
            self.hash,
        )
    }

    fn name(&self, spec: &NiSpec) -> String {
        let net = self.plan.networks.get(spec.net);
        net.map_or(String::new(), |net| {
            format!("{}.{} on {} ({:?})", spec.host, spec.ni, net.name, net.kind).to_lowercase()
        })
    }

    /// One row an interface: who sees it fall below full health at any time, its owner first.
    fn health_over_time(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "  health over time, ms: {:>22}", "")?;
        for sample in &self.samples {
            write!(f, " {:>5}", sample.ms)?;
        }
        writeln!(f)?;
        for (number, spec) in self.specs.iter().enumerate() {
            for seen_by in (0..self.nodes.len()).filter(|&by| self.row_matters(by, number, spec)) {
                let who = if seen_by as u32 == spec.host {
                    "itself".into()
                } else {
                    format!("node {seen_by}")
                };
                write!(f, "    {:<26} by {who:<12}", self.name(spec))?;
                for sample in &self.samples {
                    match sample.value(seen_by, number) {
                        Some(value) => write!(f, " {value:>5}")?,
                        None => write!(f, "     -")?,
                    }
                }
                writeln!(f)?;
            }
        }
        Ok(())
    }

    fn row_matters(&self, seen_by: usize, number: usize, spec: &NiSpec) -> bool {
        let fallen = |s: &Sample| s.value(seen_by, number).is_some_and(|value| value < 1000);
        seen_by as u32 == spec.host || self.samples.iter().any(fallen)
    }
}

impl Sample {
    fn value(&self, seen_by: usize, number: usize) -> Option<u16> {
        self.values.get(seen_by)?.get(number).copied().flatten()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.line())?;
        writeln!(f, "  PUTs delivered, every byte checked: {}", self.delivered)?;
        self.health_over_time(f)?;
        writeln!(f, "  every interface had recovered at {} ms", self.healed_ms)?;
        for (number, node) in self.nodes.iter().enumerate() {
            writeln!(f, "  node {number}, {} incarnations: {}", node.incarnations, node.counts)?;
            for line in &node.journal {
                writeln!(f, "    {line}")?;
            }
        }
        for (at, (matched, hit)) in self.rules.iter().enumerate() {
            writeln!(f, "  rule {}: {matched} messages matched, {hit} were hit", at + 1)?;
        }
        for (what, count) in &self.faults {
            writeln!(f, "  {what}: {count}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} messages, {} resends ({} ended OK, {} failed), {} failed, {} late, \
             {} second copies; pings {} sent {} answered; {} response timeouts",
            self.messages,
            self.resends,
            self.resent_ok,
            self.resent_failed,
            self.failed,
            self.late,
            self.second_copies,
            self.pings.0,
            self.pings.1,
            self.response_timeouts,
        )?;
        let (recovered, time) = self.recovered_after;
        if let Some(mean) = time.checked_div(recovered) {
            write!(f, "; a resend took {} us on average", mean / 1_000)?;
        }
        if self.probes != [0; 3] {
            let [alive, dead, unknown] = self.probes;
            write!(
                f,
                "; probes: {alive} alive, {dead} dead, {unknown} unknown, {} found down",
                self.found_down + self.cleaned_up
            )?;
        }
        let mut classes = Class::ALL.iter().filter_map(|class| {
            let count = self.classes.get(&(class.health() as u8))?;
            Some((class, count))
        });
        classes.try_for_each(|(class, count)| write!(f, "; {:?} {count}", class.health()))
    }
}
