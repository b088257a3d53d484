// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Nodes with several interfaces on networks of different fabrics, in virtual time (S4, R42 to
//! R60).
//!
//! ```text
//!    user · Lnet (one upper layer a node, primary NIDs)
//!      │ message                                ▲ one end
//!    send ── health_view: lnd-health ──── receive     numbers, attempts, trackers, pings, probes
//!      │ try: (own interface, next hop's)       ▲ report
//!    rail 0 │ rail 1 │ …     a shipped driver and engine each, on a network of its own kind
//! ```
//!
//! All interfaces of a node share its payload memory. Fault rules as in LNet hit messages between
//! the health view and the driver; the plan's events hit links, paths and nodes. The oracle watches
//! every message. The clock, the queue and what hosts of all worlds do is `simulator/`.

mod bus;
mod class;
mod envelope;
mod faults;
mod health_view;
mod host;
mod kind;
mod oracle;
mod plan;
mod play;
mod rail;
mod receive;
mod report;
mod rules;
mod send;
mod shrink;
mod start;
mod swarm;
mod upkeep;
mod world;

pub use health_view::NiHealth;
pub use host::{Counts, HostIncarnation};
pub use kind::Kind;
pub use oracle::Defect;
pub use plan::{Host, Net, Plan, Profile, Scheduled, What};
pub use report::{NodeReport, Report, Sample};
pub use rules::{Class, InjectedFault, Rule, Type, Who};
pub use shrink::shrink;
pub use start::with;
pub use swarm::swarm;
pub use world::{NiSpec, World};

use crate::simulator::fail::Failure;
use crate::simulator::tally::Tally;
use crate::simulator::RunLog;

/// The interfaces of a plan, by number.
pub fn specs(plan: &Plan) -> Vec<NiSpec> {
    world::number_all(plan)
}

/// The command that runs a plan.
pub fn command(plan: &Plan, seed: u64, defect: Option<Defect>) -> String {
    let file = plan.name.as_ref().map_or(String::new(), |name| format!(" --faults {name}"));
    let seeded = defect.map_or(String::new(), |defect| format!(" --defect {}", defect.name()));
    format!("lnd sim --rails --seed {seed}{file}{seeded}")
}

/// Runs a plan to its end.
///
/// # Errors
/// The first rule that was broken, or a plan that cannot be.
pub fn run(plan: &Plan, seed: u64) -> Result<Report, Failure> {
    run_with(plan, seed, None)
}

/// As [`run`], with a defect seeded: to show that the checks bite.
///
/// # Errors
/// As for [`run`].
pub fn run_with(plan: &Plan, seed: u64, defect: Option<Defect>) -> Result<Report, Failure> {
    run_logged(plan, seed, defect, None)
}

/// As [`run_with`]; all that happens goes into `log`. The run is the same with and without one.
///
/// # Errors
/// As for [`run`].
pub fn run_logged(
    plan: &Plan,
    seed: u64,
    defect: Option<Defect>,
    log: Option<&RunLog>,
) -> Result<Report, Failure> {
    let command = command(plan, seed, defect);
    let tally = Tally::logged(log.cloned());
    let played = start::with_tally(plan, seed, defect, tally, |world| {
        let played = world.play(seed);
        played.map_err(|broken| world.failure(seed, command.clone(), &broken, Vec::new()))
    });
    played.map_err(|what| Failure::refused(seed, what, command))?
}
