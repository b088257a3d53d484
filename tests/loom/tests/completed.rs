// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The completed list: pushes against take-all, and a walk against the slot's next use (INV-1).
//!
//! Protocol: the context that is told to finalize pushes the slot, by compare-and-swap, in any
//! context; the one thread that reports swaps the whole list out and walks it, oldest first. Tokens
//! are made only by an applied step, so the pushes here are last completions.
//!
//! Property: nothing is lost, nothing comes twice, what one context has finished comes in order
//! (R9), and what it wrote before is visible to the one who reports. A slot may be released and
//! used again as soon as the walk has passed it.
#![cfg(loom)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::rc::Rc;

use lnd_core::id::Tag;
use lnd_core::transfer::{Debts, Effect, Event, Word};
use lnd_loom::{explore, Bound, World};
use loom::thread::{self, JoinHandle};

/// A context that finishes transfers, one after the other.
fn pusher(world: &Rc<World>, tags: &[Tag]) -> JoinHandle<()> {
    let (world, tags) = (Rc::clone(world), tags.to_vec());
    thread::spawn(move || {
        for tag in tags {
            world.slot_state(tag.index).set(tag.index + 1);
            world.turn();
            assert_eq!(world.effect(tag, Event::HwOk), Some(Effect::Finalize));
        }
    })
}

/// Takes the list and looks at what the pushers wrote.
fn take(world: &World, taken: &mut Vec<u32>) {
    for slot in world.take_completed() {
        assert_eq!(world.slot_state(slot).get(), slot + 1);
        taken.push(slot);
    }
}

/// `ours` and `theirs` are finished by two contexts while a third takes twice.
fn push_against_take(ours: usize, theirs: usize) -> (usize, Vec<u32>) {
    let world = World::new(ours + theirs);
    let tags: Vec<_> = (0..ours + theirs).map(|_| world.posted(Debts::HW)).collect();
    let (a, b) = tags.split_at(ours);
    let pushers = [pusher(&world, a), pusher(&world, b)];
    let mut taken = Vec::new();
    take(&world, &mut taken);
    take(&world, &mut taken);
    let early = taken.len();
    for pusher in pushers {
        pusher.join().unwrap();
    }
    take(&world, &mut taken);

    for tags in [a, b] {
        let order: Vec<_> = tags.iter().map(|tag| tag.index).collect();
        let mut seen = taken.clone();
        seen.retain(|slot| order.contains(slot));
        assert_eq!(seen, order, "each once, in order: {taken:?}");
    }
    (early, taken)
}

#[test]
fn inv_1_two_pushers_against_take() {
    let ends = explore("push ‖ push ‖ take", Bound::Exhaustive, || push_against_take(1, 1));
    // How many were taken while the pushers ran, and the order.
    let all: Vec<_> = (0..=2).flat_map(|n| [(n, vec![0, 1]), (n, vec![1, 0])]).collect();
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), all);
}

#[test]
fn inv_1_two_pushers_of_two_against_take() {
    let ends =
        explore("2 pushes ‖ 2 pushes ‖ take", Bound::Between(3, 4), || push_against_take(2, 2));
    let mut orders: Vec<_> = ends.into_keys().map(|(_, taken)| taken).collect();
    orders.sort_unstable();
    orders.dedup();
    assert_eq!(orders.len(), 6, "all ways to mix two and two: {orders:?}");
}

#[test]
fn inv_1_walk_against_next_use_of_a_walked_slot() {
    let ends = explore("walk ‖ push of a walked slot", Bound::Exhaustive, || {
        let world = World::new(2);
        let tags = [world.posted(Debts::HW), world.posted(Debts::HW)];
        for tag in tags {
            assert_eq!(world.effect(tag, Event::HwOk), Some(Effect::Finalize));
        }
        let next_use = Tag { generation: tags[0].generation + 1, ..tags[0] };
        let interrupt = thread::spawn({
            let world = Rc::clone(&world);
            move || {
                world.turn();
                world.effect(next_use, Event::HwOk)
            }
        });
        let mut batch = world.shared().take_completed();
        assert_eq!(world.shared().next_completed(&mut batch), Some(0));
        world.shared().release(tags[0]);
        assert_eq!(world.claim(), next_use);
        world.turn();
        world.shared().publish(next_use, Word::live(next_use.generation, Debts::HW));
        world.turn();
        let paid = world.effect(next_use, Event::PayCpu);
        // The slot may be on the list again by now.
        world.turn();
        assert_eq!(world.shared().next_completed(&mut batch), Some(1));
        assert_eq!(world.shared().next_completed(&mut batch), None);

        let finished = match interrupt.join().unwrap() {
            // It came before the publication.
            None => false,
            Some(effect) => {
                assert!((effect == Effect::Finalize) != (paid == Some(Effect::Finalize)));
                true
            }
        };
        let expected: &[u32] = if finished { &[0] } else { &[] };
        assert_eq!(world.take_completed(), expected);
        finished
    });
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), [false, true]);
}
