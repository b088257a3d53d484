// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! From a run that fails to the smallest plan that still makes it fail.
//!
//! The plan that the seed has drawn is written out and then made smaller, step by step: events are
//! taken out in halves, quarters and one by one, rates are set to zero or halved, nodes, links and
//! seconds are taken away. A step is kept if the run still breaks the same rule. The same seed
//! decides everything else, so that the result can be played again with `--seed` and `--faults`.

use super::plan::{Plan, PlanError};
use super::setup::Setup;
use super::summary::Summary;
use super::{run_with, Defect, Options};
use crate::rng::Rng;
use crate::simulator::fail::Failure;
use crate::simulator::fault_rates::{EngineFaults, MessageFaults};

type Search<'a> = crate::simulator::shrink::Search<'a, Plan, Failure>;

/// The smallest failing run that was found.
#[derive(Clone, Debug)]
pub struct Shrunk {
    /// The run: the same seed, with a plan of its own.
    pub options: Options,
    /// How it fails.
    pub failure: Failure,
    /// Runs that it took to find.
    pub runs: u32,
}

impl Shrunk {
    /// The plan as a file, which says at its head what it shows and how.
    pub fn to_toml(&self, file: &str) -> String {
        let plan = self.options.faults.clone().unwrap_or_default();
        self.failure.as_plan(file, &plan.to_toml())
    }
}

/// Makes the plan of a failing run as small as `most_runs` runs allow.
///
/// # Errors
/// The run does not fail: its summary.
pub fn shrink(
    options: &Options,
    defect: Option<Defect>,
    most_runs: u32,
) -> Result<Shrunk, Box<Summary>> {
    let whole = match run_with(options, defect) {
        Ok(summary) => return Err(Box::new(summary)),
        Err(failure) => failure,
    };
    let (seed, rule) = (options.seed, whole.rule().to_owned());
    let with = |plan| Options { seed, faults: Some(plan), ..Options::default() };
    // A plan that names what there is not is refused, which breaks another rule.
    let play = |plan: &Plan| {
        let failure = run_with(&with(plan.clone()), defect).err();
        failure.filter(|failure| failure.rule() == rule)
    };
    let drawn = Plan::drawn(options).ok();
    let Some((plan, failure)) = drawn.and_then(|plan| play(&plan).map(|failure| (plan, failure)))
    else {
        return Ok(Shrunk { options: options.clone(), failure: whole, runs: 2 });
    };
    let mut search = Search::new(plan, failure, 2, most_runs, Box::new(play));
    search.repeat(steps);
    let (plan, failure, runs) = search.ended();
    Ok(Shrunk { options: with(plan), failure, runs })
}

impl Plan {
    /// The plan that these options' seed draws; theirs, if they have one.
    ///
    /// # Errors
    /// Options that cannot be.
    pub fn drawn(options: &Options) -> Result<Self, PlanError> {
        let setup = Setup::draw(options, &mut Rng::new(options.seed))?;
        Ok(Self {
            nodes: Some(setup.nodes),
            links: Some(setup.links),
            seconds: Some((setup.traffic.as_nanos() / 1_000_000_000) as u32),
            routed: Some(setup.routed),
            ..setup.plan
        })
    }
}

/// Every kind of step once.
fn steps(search: &mut Search<'_>) {
    search.attempt(|plan| plan.byzantine = None);
    search.attempt(|plan| plan.wraps = Some(false));
    search.attempt(|plan| plan.hosts.polls = false);
    search.attempt(|plan| plan.hosts.small = false);
    fewer_rates(search);
    search.fewer(|plan| &mut plan.events);
    search.fewer(|plan| &mut plan.windows);
    smaller_world(search);
    lower_rates(search);
}

/// All rates at once, then each for itself.
fn fewer_rates(search: &mut Search<'_>) {
    search.attempt(|plan| plan.messages = MessageFaults::default());
    search.attempt(|plan| plan.engine = EngineFaults::default());
    for at in 0..search.plan().rates_mut().len() {
        search.attempt(|plan| set(plan, at, |_| 0));
    }
}

/// A shorter run with fewer nodes and links, and no router.
fn smaller_world(search: &mut Search<'_>) {
    search.attempt(|plan| plan.routed = Some(false));
    while search.attempt(half_as_long) {}
    search.attempt(|plan| plan.byzantine.iter_mut().for_each(|rates| rates.goes_on = false));
    while search.attempt(one_node_less) {}
    while search.attempt(|plan| plan.links = plan.links.map(|n| n.saturating_sub(1).max(1))) {}
}

fn lower_rates(search: &mut Search<'_>) {
    for at in 0..search.plan().rates_mut().len() {
        while search.attempt(|plan| set(plan, at, |rate| if rate > 1 { rate / 2 } else { rate })) {}
    }
}

/// Half of the time, and only the events in it: the others would have no effect.
fn half_as_long(plan: &mut Plan) {
    plan.seconds = plan.seconds.map(|n| n.div_ceil(2));
    let end = plan.seconds.map_or(u32::MAX, |n| n.saturating_mul(1000));
    plan.events.retain(|event| event.at_ms < end);
    plan.windows.retain(|window| window.from_ms < end);
}

/// Takes the last node away; a byzantine one takes the place before it.
fn one_node_less(plan: &mut Plan) {
    plan.nodes = plan.nodes.map(|n| n.saturating_sub(1).max(2));
    let last = plan.nodes.map_or(u32::MAX, |n| n - 1);
    plan.byzantine.iter_mut().for_each(|rates| rates.node = rates.node.min(last));
}

fn set(plan: &mut Plan, at: usize, new: impl FnOnce(u32) -> u32) {
    if let Some(rate) = plan.rates_mut().into_iter().nth(at) {
        *rate = new(*rate);
    }
}
