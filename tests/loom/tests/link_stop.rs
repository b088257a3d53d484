// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Posting against the stop of the link (INV-2, S0-20, R11, R12).
//!
//! Protocol, a Dekker pair: the poster enters, fences, looks whether it is admitted, posts, and
//! leaves; the stopper closes the gate, which fences, and waits until no poster is inside. Only
//! then is the engine stopped and are its descriptors taken away.
//!
//! Property: no access to the ring by a poster is concurrent with, or later than, the stopper's
//! after it saw the posters out; every descriptor that was posted is found by the stopper, and its
//! transfer ends exactly once, after which no thread touches the ring entry.
#![cfg(loom)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::rc::Rc;

use lnd_core::sync::{fence, Ordering};
use lnd_core::transfer::{Cause, Debts, Effect, Event, Phase, Word};
use lnd_loom::{count, explore, spin_until, Bound, Watched, World};
use loom::thread;

/// What the stopper and the next owner of the memory write to the ring entry.
const TAKEN_AWAY: u32 = u32::MAX;

/// Enters, posts `value` if admitted, and leaves. Whether it has posted.
fn post(world: &World, ring: &Watched, value: u32) -> bool {
    let gate = world.link_gate();
    let inside = gate.enter();
    // Partner: the fence in `LinkGate::close`.
    fence(Ordering::SeqCst);
    let posts = gate.admitted(&inside);
    if posts {
        ring.set(value);
    }
    gate.exit(inside);
    posts
}

#[test]
fn inv_2_nothing_is_posted_after_the_posters_are_out() {
    let ends = explore("two posts ‖ link stop", Bound::Exhaustive, || {
        let world = World::new(1);
        world.link_gate().open();
        let stopper = thread::spawn({
            let world = Rc::clone(&world);
            move || {
                world.link_gate().close();
                spin_until(|| world.link_gate().posters_out());
                // loom finds here any post that is not over, and any later one.
                let posted = world.slot_state(0).get();
                world.slot_state(0).set(TAKEN_AWAY);
                posted
            }
        });
        let first = post(&world, world.slot_state(0), 1);
        let second = post(&world, world.slot_state(0), 2);
        let found = stopper.join().unwrap();
        let posted = match (first, second) {
            (_, true) => 2,
            (true, false) => 1,
            (false, false) => 0,
        };
        assert_eq!(found, posted, "the stopper sees exactly what was posted");
        posted
    });
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), [0, 1, 2]);
}

/// The end of a transfer: its memory is the upper layer's, which may do anything with it.
fn finalize(world: &World, effect: Option<Effect>) {
    if effect == Some(Effect::Finalize) {
        assert_eq!(world.take_completed(), [0]);
        world.slot_state(0).set(TAKEN_AWAY);
    }
}

/// Submits one staged transfer. Whether it was posted, and what each step did.
fn submit(world: &World) -> (bool, Vec<Option<Effect>>) {
    let gate = world.link_gate();
    let tag = world.claim();
    let inside = gate.enter();
    world.shared().publish(tag, Word::live(tag.generation, Debts::HW));
    // Partner: the fence in `LinkGate::close`.
    fence(Ordering::SeqCst);
    let posts = gate.admitted(&inside);
    let mut effects = Vec::new();
    if posts {
        world.slot_state(tag.index).set(1);
    } else {
        world.turn();
        effects.push(world.effect(tag, Event::Withdraw(Debts::HW, Cause::LinkDown)));
    }
    gate.exit(inside);
    world.turn();
    effects.push(world.effect(tag, Event::PayCpu));
    finalize(world, effects.last().copied().flatten());
    (posts, effects)
}

/// Closes, waits, and settles by hand what the link still owes. What that did, if it owed.
fn stop(world: &World) -> Option<Effect> {
    world.link_gate().close();
    spin_until(|| world.link_gate().posters_out());
    // The engine has stopped: reclaim.
    let word = world.word(0);
    if word.phase() != Phase::Live || !word.owes(Debts::HW) {
        return None;
    }
    world.turn();
    let effect = world.effect(world.shared().tag(0), Event::Stopped);
    finalize(world, effect);
    effect
}

#[test]
fn inv_2_submit_against_link_stop_ends_once_and_after_the_last_access() {
    let ends = explore("submit ‖ link stop by hand", Bound::Exhaustive, || {
        let world = World::new(1);
        world.link_gate().open();
        let stopper = thread::spawn({
            let world = Rc::clone(&world);
            move || stop(&world)
        });
        let (posted, mut effects) = submit(&world);
        let theirs = stopper.join().unwrap();
        let asserted = theirs == Some(Effect::Finalize);
        effects.push(theirs);

        assert_eq!(count(&effects, Effect::Finalize), 1, "{effects:?}");
        assert_eq!(world.slot_state(0).get(), TAKEN_AWAY);
        let word = world.word(0);
        assert_eq!((word.phase(), word.lost()), (Phase::Done, true), "{word}");
        (posted, asserted)
    });
    // A transfer that was not posted may also be settled by hand, as long as it owes `HW`.
    let all = [(false, false), (true, false), (true, true)];
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), all);
}
