// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lnd sim`: the same nodes in virtual time, one thread, against an adversary (R71 to R76).
//!
//! ```text
//!            one seed
//!   setup ─────┴───── plan          queue: (time, order) ─▶ one event at a time
//!     │                 │                     │
//!   nodes: driver, upper layer, user   frame · completion · engine · interrupt · thread · fault
//!     │                                       │
//!   network, engines, adversary        checks after every step ─▶ violation ─▶ failure
//! ```
//!
//! A run has five parts: traffic with faults; calm, in which everything must come to rest; every
//! node reaches every other; what the two ends of each PUT were told is compared; every node shuts
//! down. The same options give the same run, down to the hash over every transition. See
//! `docs/simulator.md`. The clock, the queue and what hosts of all worlds do is `simulator/`; here
//! is what a host with one driver over several links consists of, its oracles, and what a seed
//! draws.

pub(crate) mod byzantine;
mod checks;
mod connections;
mod defect;
mod faults;
pub(crate) mod incarnation;
mod phases;
mod plan;
pub(crate) mod setup;
mod shrink;
mod start;
mod summary;
mod swarm;
mod sweep;
mod thread;
#[allow(clippy::module_inception)]
mod world;

pub use crate::simulator::fail::Failure;
pub use crate::simulator::fault_rates::{EngineFaults, MessageFaults};
pub use byzantine::Rates;
pub use defect::Defect;
pub use plan::{HostFaults, Plan, Scheduled, What, Window};
pub use shrink::shrink;
pub use summary::{NodeSummary, Summary};
pub use sweep::{sweep, Totals};

use crate::node::{tag_words, words};
use crate::rng::Rng;
use crate::simulator::fail::{self, Violation};
use crate::simulator::plan::{in_range, PlanError};
use crate::simulator::tally::Tally;
use crate::simulator::world::on_ground;
use crate::simulator::RunLog;
use setup::Setup;
use world::World;

/// Most nodes of a world: those that a fabric has.
pub use lnd_soft::shape::MAX_NODES;
/// Most nodes of a world in which each talks to each. In a larger one a node talks to as many that
/// follow it, so that what a node costs does not grow with the world.
const ALL_TALK: u32 = 8;
/// Transitions printed about a failure.
const PRINTED: usize = 30;

/// What to run. What is left open is drawn from the seed.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Decides everything else.
    pub seed: u64,
    /// Number of nodes, `2..=64`.
    pub nodes: Option<u32>,
    /// Links of each node, `1..=8`.
    pub links: Option<u32>,
    /// Seconds of traffic and faults, `1..=3600`.
    pub seconds: Option<u32>,
    /// Whether node 1 routes between node 0 and the others; needs three nodes.
    pub routed: Option<bool>,
    /// Whether one node is byzantine.
    pub byzantine: Option<bool>,
    /// Whether everything that wraps begins just before it does.
    pub wraps: Option<bool>,
    /// Whether nodes pause, requests are kept, links of one's own fail, and every message is
    /// followed from end to end.
    pub pauses: Option<bool>,
    /// Whether engines stop connections one by one, and some fail.
    pub connections: Option<bool>,
    /// The adversary's plan.
    pub faults: Option<Plan>,
}

impl Options {
    /// The command that runs this.
    pub fn command(&self) -> String {
        self.command_with(None)
    }

    /// The command that runs it with a defect seeded.
    pub fn command_with(&self, defect: Option<Defect>) -> String {
        let mut text = format!("lnd sim --seed {}", self.seed);
        let numbers = [("nodes", self.nodes), ("links", self.links), ("seconds", self.seconds)];
        for (name, value) in numbers {
            if let Some(value) = value {
                text += &format!(" --{name} {value}");
            }
        }
        let choices = [
            ("routed", self.routed),
            ("byzantine", self.byzantine),
            ("wraps", self.wraps),
            ("pauses", self.pauses),
            ("connections", self.connections),
        ];
        for (name, value) in choices {
            if let Some(value) = value {
                text += &format!(" --{name} {value}");
            }
        }
        if let Some(plan) = &self.faults {
            text += &format!(" --faults {}", plan.name.as_deref().unwrap_or("PLAN.toml"));
        }
        if let Some(defect) = defect {
            text += &format!(" --defect {}", defect.name());
        }
        text
    }
}

impl Options {
    /// Checks that what the options and their plan ask for can be, and has an effect.
    ///
    /// # Errors
    /// The first that cannot be or has none.
    pub fn check(&self) -> Result<(), PlanError> {
        let setup = Setup::draw(self, &mut Rng::new(self.seed))?;
        if self.routed == Some(true) && !setup.routed {
            return Err(PlanError::from("routed: a router needs three nodes"));
        }
        let seconds = setup.traffic.as_nanos() / 1_000_000_000;
        self.faults.as_ref().map_or(Ok(()), |plan| plan.check_times(seconds))
    }
}

fn check_ranges(nodes: u32, links: u32, seconds: u32) -> Result<(), PlanError> {
    in_range("nodes", nodes, 2, MAX_NODES)?;
    in_range("links", links, 1, 8)?;
    in_range("seconds", seconds, 1, 3600)
}

/// Runs a world to its end.
///
/// # Errors
/// [`Failure`]: the first rule that was broken, or options that cannot be.
pub fn run(options: &Options) -> Result<Summary, Failure> {
    run_with(options, None)
}

/// As [`run`], with a defect seeded: to show that the checks bite.
///
/// # Errors
/// [`Failure`].
pub fn run_with(options: &Options, defect: Option<Defect>) -> Result<Summary, Failure> {
    run_logged(options, defect, None)
}

/// As [`run_with`]; all that happens goes into `log`, also of a run that fails. The run is the same
/// with and without one.
///
/// # Errors
/// [`Failure`].
pub fn run_logged(
    options: &Options,
    defect: Option<Defect>,
    log: Option<&RunLog>,
) -> Result<Summary, Failure> {
    let command = options.command_with(defect);
    let refuse = |what| Failure::refused(options.seed, what, command.clone());
    let mut rng = Rng::new(options.seed);
    let setup = Setup::draw(options, &mut rng).map_err(|e| refuse(e.to_string()))?;
    setup.config.check().map_err(|error| refuse(format!("configuration: {error:?}")))?;
    let played = on_ground(setup.shape(), |ground| {
        let mut world = world::begin(ground, setup, rng, defect, Tally::logged(log.cloned()));
        world.play(options.seed).map_err(|broken| {
            let last = last_transitions(&world, &broken);
            world.failure(options.seed, command.clone(), &broken, last)
        })
    });
    played.map_err(refuse)?
}

/// The last transitions of the transfer or the node that is concerned, or of all nodes.
fn last_transitions(world: &World<'_>, violation: &Violation) -> Vec<String> {
    let mut lines = Vec::new();
    for (number, host) in world.hosts.iter().enumerate() {
        if violation.node.is_some_and(|node| node as usize != number) {
            continue;
        }
        for tag in [violation.tag, None] {
            let of = tag.map_or(String::new(), |tag| format!(", transfer {}", tag_words(tag)));
            lines.push(format!("the last events of node {number}{of}:"));
            for (at, trace) in host.recorder.last(tag, PRINTED) {
                lines.push(format!("  {} {}", fail::Seconds(at), words(&trace)));
            }
            if violation.tag.is_none() {
                break;
            }
        }
    }
    lines
}
