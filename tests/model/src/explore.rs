// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Runs a model through every state it can get into.

use std::fmt::Write as _;
use std::time::Instant;

use stateright::{Checker, HasDiscoveries, Model, Path};

use crate::facts::Case;
use crate::model::{Pair, Seen};
use crate::setup::Setup;

/// Explores every run of `setup` and demands that no rule is ever broken, that every case of
/// `cases` occurs, and that there are `states` different states: a number that changes shows that
/// what is explored has changed. Prints one line.
///
/// # Panics
/// With the shortest run that breaks a rule, with the cases that did not occur, or with the number
/// of states.
pub fn explore(setup: Setup, cases: &[Case], states: usize) {
    let name = setup.name;
    let begun = Instant::now();
    let pair = cases.iter().fold(Pair::new(setup), Pair::reaches);
    let broken = HasDiscoveries::AnyOf([Pair::RULES].into());
    // One thread: the order of the search, and with it what is reported, is always the same.
    let checker = pair.checker().threads(1).finish_when(broken).spawn_bfs().join();
    if let Some(path) = checker.discovery(Pair::RULES) {
        panic!("{name}: {}", script(path));
    }
    let missing: Vec<_> =
        cases.iter().map(|case| case.0).filter(|case| checker.discovery(case).is_none()).collect();
    let found = checker.unique_state_count();
    let depth = checker.max_depth();
    let steps = checker.state_count();
    println!("{name}: {found} states, {steps} steps, depth {depth}, {:.1?}", begun.elapsed());
    assert!(missing.is_empty(), "{name}: never seen: {missing:?}");
    assert_eq!(found, states, "{name}: the number of states has changed");
}

/// A run that breaks a rule, one action a line.
fn script(path: Path<Seen, crate::Action>) -> String {
    let mut text = path.last_state().broken.clone().unwrap_or_default();
    for action in path.into_actions() {
        let _ = write!(text, "\n    {action:?}");
    }
    text
}
