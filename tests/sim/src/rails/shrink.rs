// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! From a multi-rail run that fails to the smallest plan that still makes it fail: fewer rules and
//! happenings, a shorter run, fewer interfaces and nodes. The same seed decides everything else.

use super::plan::Plan;
use super::{run_with, Defect};
use crate::simulator::fail::Failure;

type Search<'a> = crate::simulator::shrink::Search<'a, Plan, Failure>;

/// The smallest failing plan that was found.
#[derive(Clone, Debug)]
pub struct Shrunk {
    /// The plan.
    pub plan: Plan,
    /// How its run fails.
    pub failure: Failure,
    /// Runs that it took to find.
    pub runs: u32,
}

impl Shrunk {
    /// The plan as a file, which says at its head what it shows and how.
    pub fn to_toml(&self, file: &str) -> String {
        self.failure.as_plan(file, &self.plan.to_toml())
    }
}

/// Makes a failing plan as small as `most_runs` runs allow. `None`: the run does not fail.
pub fn shrink(plan: &Plan, seed: u64, defect: Option<Defect>, most_runs: u32) -> Option<Shrunk> {
    let plan = Plan { name: None, ..plan.clone() };
    let whole = run_with(&plan, seed, defect).err()?;
    let rule = whole.rule().to_owned();
    // A plan that names what there is not is refused, which breaks another rule.
    let play = |plan: &Plan| {
        let failure = run_with(plan, seed, defect).err();
        failure.filter(|failure| failure.rule() == rule)
    };
    let mut search = Search::new(plan, whole, 1, most_runs, Box::new(play));
    search.repeat(steps);
    let (plan, failure, runs) = search.ended();
    Some(Shrunk { plan, failure, runs })
}

/// Every kind of step once.
fn steps(search: &mut Search<'_>) {
    search.fewer(|plan| &mut plan.events);
    search.fewer(|plan| &mut plan.rules);
    search.attempt(|plan| plan.probes = false);
    // An event behind the end has no effect.
    while search.attempt(|plan| {
        plan.seconds = plan.seconds.div_ceil(2);
        let end = plan.seconds.saturating_mul(1000);
        plan.events.retain(|event| event.at_ms < end);
    }) {}
    while search.attempt(|plan| _ = plan.hosts.pop()) {}
    for host in 0..search.plan().hosts.len() {
        search.attempt(|plan| plan.hosts[host].router = false);
        while search.attempt(|plan| _ = plan.hosts[host].nis.pop()) {}
    }
    search.attempt(|plan| {
        let hosts = &plan.hosts;
        plan.networks.retain(|net| hosts.iter().any(|host| host.nis.contains(&net.name)));
    });
}
