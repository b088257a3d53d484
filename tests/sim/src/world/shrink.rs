// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! From a run that fails to the smallest plan that still makes it fail.
//!
//! The plan that the seed has drawn is written out and then made smaller, step by step: events are
//! taken out in halves, quarters and one by one, rates are set to zero or halved, nodes, links and
//! seconds are taken away. A step is kept if the run still breaks the same rule. The same seed
//! decides everything else, so that the result can be played again with `--seed` and `--faults`.

use super::fail::Failure;
use super::plan::{EngineFaults, MessageFaults, Plan, PlanError};
use super::setup::Setup;
use super::summary::Summary;
use super::{run_with, Defect, Options};
use crate::rng::Rng;

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
        let what = self.failure.what.replace('\n', " ");
        let seed = self.options.seed;
        format!("# {what}\n# lnd sim --seed {seed} --faults {file}\n{}", plan.to_toml())
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
    let failure = match run_with(options, defect) {
        Ok(summary) => return Err(Box::new(summary)),
        Err(failure) => failure,
    };
    let mut search = Search { defect, rule: rule(&failure), most_runs, runs: 1, best: None };
    let Some(explicit) = written_out(options) else {
        return Ok(Shrunk { options: options.clone(), failure, runs: 1 });
    };
    if !search.still_fails(explicit) {
        return Ok(Shrunk { options: options.clone(), failure, runs: search.runs });
    }
    while search.round() {}
    let (options, failure) = search.best.unwrap_or((options.clone(), failure));
    Ok(Shrunk { options, failure, runs: search.runs })
}

/// The rule that a failure breaks: its first words, without numbers and circumstances.
fn rule(failure: &Failure) -> String {
    failure.what.split(':').next().unwrap_or_default().to_owned()
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

/// The same run with everything in its plan that the seed would have drawn for it.
fn written_out(options: &Options) -> Option<Options> {
    let plan = Plan::drawn(options).ok()?;
    Some(Options { seed: options.seed, faults: Some(plan), ..Options::default() })
}

struct Search {
    defect: Option<Defect>,
    rule: String,
    most_runs: u32,
    runs: u32,
    best: Option<(Options, Failure)>,
}

impl Search {
    /// Runs a candidate; keeps it if it breaks the same rule.
    fn still_fails(&mut self, candidate: Options) -> bool {
        if self.runs >= self.most_runs {
            return false;
        }
        self.runs += 1;
        match run_with(&candidate, self.defect) {
            // A plan that names what there is not is refused, which breaks another rule.
            Err(failure) if rule(&failure) == self.rule => {
                self.best = Some((candidate, failure));
                true
            }
            _ => false,
        }
    }

    fn plan(&self) -> Plan {
        let options = self.best.as_ref().map(|(options, _)| options);
        options.and_then(|options| options.faults.clone()).unwrap_or_default()
    }

    /// Tries a change of the plan that is best so far.
    fn attempt(&mut self, change: impl FnOnce(&mut Plan)) -> bool {
        let before = self.plan();
        let mut plan = before.clone();
        change(&mut plan);
        let Some((options, _)) = &self.best else { return false };
        let candidate = Options { faults: Some(plan.clone()), ..options.clone() };
        plan != before && self.still_fails(candidate)
    }

    /// Every kind of step once; whether anything was kept.
    fn round(&mut self) -> bool {
        let before = self.plan();
        self.attempt(|plan| plan.byzantine = None);
        self.attempt(|plan| plan.wraps = Some(false));
        self.fewer_rates();
        self.fewer(|plan| &mut plan.events);
        self.fewer(|plan| &mut plan.windows);
        self.smaller_world();
        self.lower_rates();
        self.plan() != before
    }

    /// All rates at once, then each for itself.
    fn fewer_rates(&mut self) {
        self.attempt(|plan| plan.messages = MessageFaults::default());
        self.attempt(|plan| plan.engine = EngineFaults::default());
        for at in 0..self.plan().rates_mut().len() {
            self.attempt(|plan| set(plan, at, |_| 0));
        }
    }

    /// Takes out pieces of a list: all, halves, quarters, and so on.
    fn fewer<T>(&mut self, list: impl Fn(&mut Plan) -> &mut Vec<T>) {
        let mut piece = list(&mut self.plan()).len();
        while piece > 0 {
            let mut at = 0;
            while at < list(&mut self.plan()).len() {
                let gone = self.attempt(|plan| {
                    let list = list(plan);
                    let end = (at + piece).min(list.len());
                    list.drain(at..end);
                });
                at += if gone { 0 } else { piece };
            }
            piece /= 2;
        }
    }

    /// A shorter run with fewer nodes and links, and no router.
    fn smaller_world(&mut self) {
        self.attempt(|plan| plan.routed = Some(false));
        while self.attempt(|plan| plan.seconds = plan.seconds.map(|n| n.div_ceil(2))) {}
        self.attempt(|plan| plan.byzantine.iter_mut().for_each(|rates| rates.goes_on = false));
        while self.attempt(one_node_less) {}
        while self.attempt(|plan| plan.links = plan.links.map(|n| n.saturating_sub(1).max(1))) {}
    }

    fn lower_rates(&mut self) {
        for at in 0..self.plan().rates_mut().len() {
            while self.attempt(|plan| set(plan, at, |rate| if rate > 1 { rate / 2 } else { rate }))
            {
            }
        }
    }
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
