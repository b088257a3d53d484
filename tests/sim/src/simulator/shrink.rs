// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! From a run that fails to the smallest plan that still makes it fail.
//!
//! A plan is made smaller step by step: events are taken out in halves, quarters and one by one,
//! and what else each kind of plan knows. A step is kept if the run still breaks the same rule. The
//! same seed decides everything else, so that the result can be played again with `--seed` and
//! `--faults`.

use super::fail::Failure;
use super::plan::FaultPlan;

/// The smallest failing plan that was found.
#[derive(Clone, Debug)]
pub struct Shrunk<P> {
    /// The plan.
    pub plan: P,
    /// How its run fails.
    pub failure: Failure,
    /// Runs that it took to find.
    pub runs: u32,
}

impl<P: FaultPlan> Shrunk<P> {
    /// The plan as a file, which says at its head what it shows and how.
    pub fn to_toml(&self, file: &str) -> String {
        self.failure.as_plan(file, &self.plan.to_toml())
    }
}

/// Makes the plan of a failing run as small as `most_runs` runs allow, `runs` of which have been.
/// `run` plays a plan. A plan that names what there is not is refused, which breaks another rule.
pub fn shrink<P: FaultPlan>(
    plan: P,
    failure: Failure,
    runs: u32,
    most_runs: u32,
    mut run: impl FnMut(&P) -> Option<Failure>,
) -> Shrunk<P> {
    let rule = failure.rule().to_owned();
    let play = move |plan: &P| run(plan).filter(|failure| failure.rule() == rule);
    let mut search =
        Search { play: Box::new(play), most_runs, runs, best: (plan, failure), unused: Vec::new() };
    search.repeat(P::make_smaller);
    let Search { best: (plan, failure), runs, .. } = search;
    Shrunk { plan, failure, runs }
}

/// Plays a plan: how it fails, if it fails in the way that is looked for.
type Play<'a, P> = Box<dyn FnMut(&P) -> Option<Failure> + 'a>;

/// A search among plans.
pub struct Search<'a, P> {
    play: Play<'a, P>,
    most_runs: u32,
    runs: u32,
    best: (P, Failure),
    /// Smaller plans that do not fail so.
    unused: Vec<P>,
}

impl<P: Clone + PartialEq> Search<'_, P> {
    /// The smallest plan so far.
    pub fn plan(&self) -> P {
        self.best.0.clone()
    }

    /// Takes all steps again and again, until none is kept.
    fn repeat(&mut self, steps: impl Fn(&mut Self)) {
        loop {
            let before = self.plan();
            steps(self);
            if self.best.0 == before {
                return;
            }
        }
    }

    /// Tries one step. Whether it was kept.
    pub fn attempt(&mut self, step: impl FnOnce(&mut P)) -> bool {
        let mut plan = self.plan();
        step(&mut plan);
        let known = plan == self.best.0 || self.unused.contains(&plan);
        if known || self.runs >= self.most_runs {
            return false;
        }
        self.runs += 1;
        let Some(failure) = (self.play)(&plan) else {
            self.unused.push(plan);
            return false;
        };
        self.best = (plan, failure);
        true
    }

    /// Takes out pieces of a list: all, halves, quarters, and so on.
    pub fn fewer<T>(&mut self, list: impl Fn(&mut P) -> &mut Vec<T>) {
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
}
