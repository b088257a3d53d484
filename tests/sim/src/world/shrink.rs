// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What can be left out of a plan: the plan that the seed has drawn is written out, then events are
//! taken out, rates are set to zero or halved, nodes, links and seconds are taken away.

use super::plan::Plan;
use super::setup::Setup;
use super::summary::Summary;
use super::{run_with, Defect, Options};
use crate::rng::Rng;
use crate::simulator::fault_rates::{EngineFaults, MessageFaults};
use crate::simulator::plan::PlanError;
use crate::simulator::shrink::{shrink as search, Search, Shrunk};

/// Makes the plan of a failing run as small as `most_runs` runs allow.
///
/// # Errors
/// The run does not fail: its summary.
pub fn shrink(
    options: &Options,
    defect: Option<Defect>,
    most_runs: u32,
) -> Result<Shrunk<Plan>, Box<Summary>> {
    let whole = match run_with(options, defect) {
        Ok(summary) => return Err(Box::new(summary)),
        Err(failure) => failure,
    };
    let with = |plan| Options { seed: options.seed, faults: Some(plan), ..Options::default() };
    let play = |plan: &Plan| run_with(&with(plan.clone()), defect).err();
    let drawn = Plan::drawn(options).ok();
    let drawn = drawn.and_then(|plan| play(&plan).map(|failure| (plan, failure)));
    match drawn.filter(|(_, failure)| failure.rule() == whole.rule()) {
        Some((plan, failure)) => Ok(search(plan, failure, 2, most_runs, play)),
        None => {
            let plan = options.faults.clone().unwrap_or_default();
            Ok(Shrunk { plan, failure: whole, runs: 2 })
        }
    }
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
pub(super) fn make_smaller(search: &mut Search<'_, Plan>) {
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
fn fewer_rates(search: &mut Search<'_, Plan>) {
    search.attempt(|plan| plan.messages = MessageFaults::default());
    search.attempt(|plan| plan.engine = EngineFaults::default());
    for at in 0..search.plan().rates_mut().len() {
        search.attempt(|plan| set(plan, at, |_| 0));
    }
}

/// A shorter run with fewer nodes and links, and no router.
fn smaller_world(search: &mut Search<'_, Plan>) {
    search.attempt(|plan| plan.routed = Some(false));
    while search.attempt(half_as_long) {}
    search.attempt(|plan| plan.byzantine.iter_mut().for_each(|rates| rates.goes_on = false));
    while search.attempt(one_node_less) {}
    while search.attempt(|plan| plan.links = plan.links.map(|n| n.saturating_sub(1).max(1))) {}
}

fn lower_rates(search: &mut Search<'_, Plan>) {
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
