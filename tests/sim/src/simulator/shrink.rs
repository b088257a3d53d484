// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! From a run that fails to the smallest plan that still makes it fail: the search.
//!
//! A plan is made smaller step by step. A step is kept if the run still fails in the same way, which
//! whoever searches tells.

/// Plays a plan: how it fails, if it fails in the way that is looked for.
pub type Play<'a, P, F> = Box<dyn FnMut(&P) -> Option<F> + 'a>;

/// A search among plans.
pub struct Search<'a, P, F> {
    play: Play<'a, P, F>,
    most_runs: u32,
    runs: u32,
    best: (P, F),
    /// Smaller plans that do not fail so.
    unused: Vec<P>,
}

impl<'a, P: Clone + PartialEq, F> Search<'a, P, F> {
    /// Begins with a plan that fails, after so many of `most_runs` runs.
    pub fn new(plan: P, failure: F, runs: u32, most_runs: u32, play: Play<'a, P, F>) -> Self {
        Self { play, most_runs, runs, best: (plan, failure), unused: Vec::new() }
    }

    /// The smallest plan so far, how it fails, and the runs that it took, those before included.
    pub fn ended(self) -> (P, F, u32) {
        (self.best.0, self.best.1, self.runs)
    }

    /// The smallest plan so far.
    pub fn plan(&self) -> P {
        self.best.0.clone()
    }

    /// Takes all steps again and again, until none is kept.
    pub fn repeat(&mut self, steps: impl Fn(&mut Self)) {
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
