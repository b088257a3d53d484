// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What can be left out of a multi-rail plan: rules and events, seconds, interfaces and nodes.

use super::plan::Plan;
use super::{run_with, Defect};
use crate::simulator::shrink::{shrink as search, Search, Shrunk};

/// Makes a failing plan as small as `most_runs` runs allow. `None`: the run does not fail.
pub fn shrink(
    plan: &Plan,
    seed: u64,
    defect: Option<Defect>,
    most_runs: u32,
) -> Option<Shrunk<Plan>> {
    let plan = Plan { name: None, ..plan.clone() };
    let whole = run_with(&plan, seed, defect).err()?;
    Some(search(plan, whole, 1, most_runs, |plan| run_with(plan, seed, defect).err()))
}

/// Every kind of step once.
pub(super) fn make_smaller(search: &mut Search<'_, Plan>) {
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
