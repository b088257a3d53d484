// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The state space: lists of acts, told apart by what they lead to.

use std::hash::{Hash, Hasher};

use stateright::{Checker, Model, Property};

use crate::world::{Act, Defect, Setup, World};

/// A state: how it came about, what it looks like, what can follow, and what is wrong with it.
#[derive(Clone, Debug)]
pub struct Seen {
    acts: Vec<Act>,
    print: String,
    options: Vec<Act>,
    /// The check that failed, if one did.
    pub broken: Option<&'static str>,
}

impl PartialEq for Seen {
    fn eq(&self, other: &Self) -> bool {
        self.print == other.print
    }
}

impl Eq for Seen {}

impl Hash for Seen {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.print.hash(state);
    }
}

/// The model.
#[derive(Clone, Debug)]
pub struct Rails(pub Setup);

impl Rails {
    fn after(&self, acts: Vec<Act>) -> Seen {
        let mut memory = World::memory(&self.0);
        let world = World::play(self.0, &mut memory, &acts);
        let (print, options, broken) = (world.print(), world.options(), world.broken);
        drop(world);
        Seen { acts, print, options, broken }
    }
}

impl Model for Rails {
    type State = Seen;
    type Action = Act;

    fn init_states(&self) -> Vec<Seen> {
        vec![self.after(Vec::new())]
    }

    fn actions(&self, state: &Seen, actions: &mut Vec<Act>) {
        if state.broken.is_none() {
            actions.extend(&state.options);
        }
    }

    fn next_state(&self, last: &Seen, act: Act) -> Option<Seen> {
        let mut acts = last.acts.clone();
        acts.push(act);
        Some(self.after(acts))
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("every check holds", |_, seen: &Seen| seen.broken.is_none()),
            Property::sometimes("everything can end", |_, seen: &Seen| seen.options.is_empty()),
        ]
    }
}

/// Explores everything, and returns the number of states. A failed check is shown with the shortest
/// way to it.
pub fn explore(setup: Setup) -> usize {
    let checker = Rails(setup).checker().threads(2).spawn_bfs().join();
    if let Some(path) = checker.discovery("every check holds") {
        let broken = path.last_state().broken;
        panic!("{setup:?}: {broken:?}\n{:#?}", path.into_actions());
    }
    checker.assert_any_discovery("everything can end");
    assert!(checker.is_done());
    println!("{setup:?}: {} states", checker.unique_state_count());
    checker.unique_state_count()
}

/// Explores until the defect shows, and returns how.
pub fn find(setup: Setup, defect: Defect) -> &'static str {
    let setup = Setup { defect: Some(defect), ..setup };
    let checker = Rails(setup).checker().threads(2).spawn_bfs().join();
    let path = checker.discovery("every check holds").expect("the seeded defect was not found");
    path.last_state().broken.unwrap()
}
