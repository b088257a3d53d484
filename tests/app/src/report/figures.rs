// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a run says of itself.

use lnd_sim::rails::Report;
use lnd_sim::simulator::fail::Seconds;
use lnd_sim::simulator::{Facts, Failure};
use lnd_sim::world::Summary;
use serde::Serialize;

/// How a run has ended.
#[derive(Clone, Copy, Debug)]
pub enum Outcome<'a> {
    /// No rule was broken in a world of nodes with one driver.
    World(&'a Summary),
    /// No rule was broken in a multi-rail world.
    Rails(&'a Report),
    /// One was.
    Failed(&'a Failure),
}

/// One figure: its name in the page, what it is, its value.
#[derive(Debug, Serialize)]
pub struct Figure {
    name: &'static str,
    label: &'static str,
    value: String,
}

impl<'a> Outcome<'a> {
    /// The outcome of a world of nodes with one driver.
    pub const fn of_world(played: &'a Result<Summary, Failure>) -> Self {
        match played {
            Ok(summary) => Self::World(summary),
            Err(failure) => Self::Failed(failure),
        }
    }

    /// The outcome of a multi-rail world.
    pub const fn of_rails(played: &'a Result<Report, Failure>) -> Self {
        match played {
            Ok(report) => Self::Rails(report),
            Err(failure) => Self::Failed(failure),
        }
    }

    /// Whether no rule was broken.
    pub const fn is_ok(self) -> bool {
        !matches!(self, Self::Failed(_))
    }

    /// As the program prints it.
    pub fn printed(self) -> String {
        match self {
            Self::World(summary) => summary.to_string(),
            Self::Rails(report) => report.to_string(),
            Self::Failed(failure) => failure.to_string(),
        }
    }

    /// The broken rule; empty: none.
    pub fn broken(self) -> &'a str {
        match self {
            Self::Failed(failure) => &failure.what,
            Self::World(_) | Self::Rails(_) => "",
        }
    }

    /// The figures of a page's head.
    pub fn figures(self) -> Vec<Figure> {
        let mut all = Vec::new();
        let mut put = |name, label, value: String| all.push(Figure { name, label, value });
        match self {
            Self::World(summary) => {
                let stats = summary.stats();
                let ok: u64 = stats.roles.values().map(|it| it.ok).sum();
                put("nodes", "Nodes", summary.nodes.len().to_string());
                put("links", "Links of each node", summary.links.to_string());
                put("ok", "Transfers that ended OK", ok.to_string());
                put("ends", "Transfers that ended", stats.finalized().to_string());
                facts(&summary.facts, &mut put);
                put("refused", "Frames refused", summary.refused.total().to_string());
            }
            Self::Rails(report) => {
                let counts = report.counts();
                put("nodes", "Nodes", report.nodes.len().to_string());
                put("interfaces", "Interfaces", report.specs.len().to_string());
                put("messages", "Messages", counts.messages.to_string());
                put("resends", "Resends", counts.resends.to_string());
                put("resent-ok", "Resends that ended OK", counts.resent_ok.to_string());
                put("healed", "All healthy at", format!("{} ms", report.healed_ms));
                facts(&report.facts, &mut put);
            }
            Self::Failed(failure) => {
                put("seed", "Seed", failure.seed.to_string());
                put("steps", "Steps", failure.step.to_string());
                put("time", "Virtual time of the failure", Seconds(failure.at).to_string());
            }
        }
        all
    }
}

fn facts(facts: &Facts, put: &mut impl FnMut(&'static str, &'static str, String)) {
    put("requests", "Requests begun", facts.requests.to_string());
    put("answered", "Requests answered", facts.answered.to_string());
    put("delivered", "PUTs delivered, every byte checked", facts.delivered.to_string());
    put("faults", "Faults injected", facts.faults.values().sum::<u64>().to_string());
    put("seed", "Seed", facts.seed.to_string());
    put("steps", "Steps", facts.steps.to_string());
    put("time", "Virtual time at the end", Seconds(facts.ended).to_string());
    put("hash", "Hash", format!("{:016x}", facts.hash));
}
