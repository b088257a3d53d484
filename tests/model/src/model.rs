// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The model: states are runs, known again by a digest of where they lead.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::mem::MaybeUninit;

use stateright::{Model, Property};

use crate::action::Action;
use crate::facts::{Case, Facts};
use crate::setup::Setup;
use crate::world::World;

/// Two drivers over an adversarial network and two adversarial engines.
///
/// A driver lives in memory that is lent to it and cannot be copied. So a state is the list of
/// actions that lead to it; to go on from it, the drivers run through them again.
#[derive(Clone)]
pub struct Pair {
    setup: Setup,
    /// How the two nodes have met.
    handshake: Vec<Action>,
    wanted: Vec<Case>,
}

impl fmt::Debug for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.setup.fmt(f)
    }
}

/// A state.
#[derive(Clone, Debug)]
pub struct Seen {
    run: Vec<Action>,
    next: Vec<Action>,
    digest: u64,
    /// The rule that it breaks.
    pub broken: Option<String>,
    /// What the run has been through.
    pub facts: Facts,
}

impl PartialEq for Seen {
    fn eq(&self, other: &Self) -> bool {
        self.digest == other.digest
    }
}

impl Eq for Seen {}

impl Hash for Seen {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.digest.hash(hasher);
    }
}

impl Pair {
    /// A model of `setup`.
    pub fn new(setup: Setup) -> Self {
        let handshake = match (setup.met, setup.safe_invalidate) {
            (false, _) => Vec::new(),
            (true, true) => World::<true>::meet(&setup, &mut memory(&setup)),
            (true, false) => World::<false>::meet(&setup, &mut memory(&setup)),
        };
        Self { setup, handshake, wanted: Vec::new() }
    }

    /// With a case that must be reached.
    #[must_use]
    pub fn reaches(mut self, case: &Case) -> Self {
        self.wanted.push(*case);
        self
    }

    /// Name of the property that nothing breaks.
    pub const RULES: &'static str = "no rule is broken";

    fn seen(&self, run: Vec<Action>) -> Seen {
        if self.setup.safe_invalidate {
            self.seen_with::<true>(run)
        } else {
            self.seen_with::<false>(run)
        }
    }

    fn seen_with<const SAFE_INVALIDATE: bool>(&self, run: Vec<Action>) -> Seen {
        let mut memory = memory(&self.setup);
        let mut world = World::<SAFE_INVALIDATE>::new(&self.setup, &self.handshake, &mut memory);
        for &action in &run {
            world.apply(action);
        }
        let broken = world.broken();
        let next = if broken.is_none() { world.actions() } else { Vec::new() };
        Seen { next, digest: world.digest(), broken, facts: world.facts(), run }
    }
}

/// Memory for two incarnations of each node.
fn memory(setup: &Setup) -> Vec<Vec<MaybeUninit<u8>>> {
    vec![vec![MaybeUninit::uninit(); setup.config().bytes_needed()]; 4]
}

impl Model for Pair {
    type State = Seen;
    type Action = Action;

    fn init_states(&self) -> Vec<Seen> {
        vec![self.seen(Vec::new())]
    }

    fn actions(&self, state: &Seen, actions: &mut Vec<Action>) {
        actions.extend(&state.next);
    }

    fn next_state(&self, state: &Seen, action: Action) -> Option<Seen> {
        let mut run = Vec::with_capacity(state.run.len() + 1);
        run.extend(&state.run);
        run.push(action);
        Some(self.seen(run))
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let rules = Property::always(Self::RULES, |_, seen: &Seen| seen.broken.is_none());
        let wanted = self.wanted.iter().map(|case| Property::sometimes(case.0, case.1));
        std::iter::once(rules).chain(wanted).collect()
    }
}
