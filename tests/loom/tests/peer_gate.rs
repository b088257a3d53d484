// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The peer gate: changes from several contexts (S0-13, R27).
//!
//! Protocol: state, admission and incarnation of a peer lie in one word; any context changes its
//! part of it by compare-and-swap.
//!
//! Property: no change is lost, and each context learns what its own change replaced. A change by
//! the id of a peer that was forgotten never meets the next peer in its place (R14). A gate is on
//! the list of those with an undelivered hello at most once, and the hello noted last is heard of
//! (LU-14536).
#![cfg(loom)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::rc::Rc;

use lnd_core::peer::{GateView, HelloState};
use lnd_loom::{explore, Bound, World};
use loom::thread;

#[test]
fn s0_13_admission_against_peer_down() {
    let ends = explore("admission, Good ‖ Down", Bound::Exhaustive, || {
        let world = World::new(1);
        let interrupt = thread::spawn({
            let world = Rc::clone(&world);
            move || world.peer_gate().change(|view| view.with_state(HelloState::Down))
        });
        world.peer_gate().change(|view| view.with_admission(true));
        let before = world.peer_gate().change(|view| view.with_state(HelloState::Good));
        assert!(before.admitted());
        let replaced = interrupt.join().unwrap();

        let gate = world.peer_gate().view();
        assert!(gate.admitted(), "the admission was lost");
        // The last one is shown, and had seen the other.
        let down_last = gate.state() == HelloState::Down;
        let (first, second) = if down_last { (before, replaced) } else { (replaced, before) };
        assert_eq!(first.state(), HelloState::Unknown);
        assert_ne!(second.state(), HelloState::Unknown);
        (down_last, replaced.admitted())
    });
    let all = [(false, false), (false, true), (true, true)];
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), all);
}

#[test]
fn r27_new_incarnations_are_counted_one_by_one() {
    let ends = explore("new life ‖ new life ‖ Down", Bound::Exhaustive, || {
        let world = World::new(1);
        let changes: [fn(GateView) -> GateView; 2] =
            [GateView::next_incarnation, |view| view.with_state(HelloState::Down)];
        let others = changes.map(|change| {
            let world = Rc::clone(&world);
            thread::spawn(move || world.peer_gate().change(change))
        });
        let mine = world.peer_gate().change(GateView::next_incarnation);
        let [theirs, down] = others.map(|other| other.join().unwrap());

        let gate = world.peer_gate().view();
        assert_eq!((gate.state(), gate.incarnation()), (HelloState::Down, 2));
        let mut incarnations = [mine.incarnation(), theirs.incarnation()];
        incarnations.sort_unstable();
        assert_eq!(incarnations, [0, 1], "each replaced another life");
        (mine.incarnation(), down.incarnation())
    });
    let all: Vec<_> = (0..2).flat_map(|mine| (0..3).map(move |down| (mine, down))).collect();
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), all);
}

#[test]
fn r14_down_by_an_id_against_the_next_peer_in_the_place() {
    let ends = explore("Down by id ‖ forgotten, renewed", Bound::Exhaustive, || {
        let world = World::new(1);
        let interrupt = thread::spawn({
            let world = Rc::clone(&world);
            move || {
                let down = |view: GateView| view.with_state(HelloState::Down);
                world.peer_gate().change_of(0, down).is_some()
            }
        });
        world.peer_gate().renew(1);
        let changed = interrupt.join().unwrap();

        let gate = world.peer_gate();
        assert_eq!((gate.view().state(), gate.generation()), (HelloState::Unknown, 1));
        changed
    });
    // The id was good still, or it named nothing any more.
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), [false, true]);
}

/// What the owner finds on the list now.
fn heard(world: &World) -> Vec<u32> {
    world.turn();
    let mut batch = world.shared().take_unheard();
    let next = || world.shared().next_unheard(&mut batch);
    std::iter::from_fn(next).map(|(place, number)| (assert_eq!(place, 0), number).1).collect()
}

#[test]
fn lu14536_two_undelivered_hellos_against_the_owner() {
    let ends = explore("unheard ‖ unheard ‖ take", Bound::Exhaustive, || {
        let world = World::new(1);
        let others = [1, 2].map(|number| {
            let world = Rc::clone(&world);
            thread::spawn(move || {
                world.shared().hello_unheard(0, number);
                world.turn();
            })
        });
        let early = heard(&world);
        others.into_iter().for_each(|other| other.join().unwrap());
        let late = heard(&world);

        assert!(!early.contains(&0) && !late.contains(&0), "on the list without a hello");
        assert!(early.len() <= 1 && late.len() <= 1, "on the list twice");
        assert!(!early.is_empty() || !late.is_empty(), "not heard of");
        assert!(heard(&world).is_empty(), "heard of again");
        (early, late)
    });
    let seen: Vec<_> = ends.into_keys().collect();
    let all = [
        (vec![], vec![1]),
        (vec![], vec![2]),
        (vec![1], vec![]),
        (vec![1], vec![2]),
        (vec![2], vec![]),
        (vec![2], vec![1]),
    ];
    assert_eq!(seen, all);
}
