// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! An invalidation in each phase of a transfer's life, from each side (S0-6 to S0-8, S0-15, S0-16,
//! S0-19): every descriptor comes back exactly once, and what it says is true.

use lnd_core::id::Tag;
use lnd_core::ports::{Engine, Returned};
use lnd_core::sync::Ordering;
use lnd_dma::descriptor::State;
use lnd_dma::regs::ErrorBits;

use crate::harness::{tag, Buffer, Bus, Plant, Shape, World};

const A: (u32, usize) = (0, 0);
const B: (u32, usize) = (1, 0);
const SOURCE: Tag = tag(1);
const SINK: Tag = tag(2);
const LENGTH: u32 = if cfg!(miri) { 512 } else { 4096 };

/// A transfer that takes eight chunks.
fn begun(world: &mut World<'_>) -> [Buffer; 2] {
    world.script(B).chunk = Some(LENGTH / 8);
    world.transfer(A, B, SOURCE, SINK, LENGTH)
}

#[test]
fn staged_only() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    let out = world.filled(0, LENGTH);
    world.stage(A, SOURCE, &out, 1);
    world.settle();
    assert_eq!(world.ends(A, SOURCE), [], "the driver has not asked for it");
    world.invalidate(A, SOURCE);
    world.settle();
    assert_eq!(world.once(A, SOURCE), Returned::Untouched);
}

#[test]
fn the_source_before_the_pull_is_fetched() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    let [_, into] = begun(&mut world);
    let before = world.bytes(&into);
    world.invalidate(A, SOURCE);
    world.settle();
    world.both((A, SOURCE), (B, SINK), Returned::Untouched);
    assert_eq!(world.bytes(&into), before);
}

#[test]
fn the_pull_posted_but_not_fetched() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    begun(&mut world);
    world.invalidate(B, SINK);
    world.settle();
    assert_eq!(world.once(B, SINK), Returned::Untouched);
    assert_eq!(world.ends(A, SOURCE), [], "the source is still staged");
    // It can still be pulled.
    let into = world.filled(1, LENGTH);
    world.pull(B, tag(9), &into, 0, SOURCE, LENGTH);
    world.settle();
    world.both((A, SOURCE), (B, tag(9)), Returned::Ok);
}

/// Fetched, but the source's link does not answer yet.
#[test]
fn the_pull_fetched_but_not_claimed() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    begun(&mut world);
    world.link(A, false);
    world.step(B);
    world.invalidate(B, SINK);
    world.step_all();
    world.reap(B);
    assert_eq!(world.once(B, SINK), Returned::Untouched);
    // The engine has forgotten it: nothing is pulled when the link is back.
    world.link(A, true);
    world.settle();
    assert_eq!(world.ends(A, SOURCE), []);
    world.invalidate(A, SOURCE);
    world.settle();
    assert_eq!(world.once(A, SOURCE), Returned::Untouched);
}

/// Claimed, and not a byte moved.
#[test]
fn claimed_before_the_first_byte() {
    for from in [A, B] {
        let plant = Plant::new(Shape::default());
        let mut world = plant.world();
        begun(&mut world);
        world.script(B).chunk = Some(0);
        world.step(B);
        let wanted = if from == A { SOURCE } else { SINK };
        world.invalidate(from, wanted);
        world.settle();
        world.both((A, SOURCE), (B, SINK), Returned::Untouched);
        assert_eq!(world.plant.bus.copied.load(std::sync::atomic::Ordering::Relaxed), 0);
    }
}

#[test]
fn between_two_chunks() {
    for from in [A, B] {
        for chunks in 1..8 {
            let plant = Plant::new(Shape::default());
            let mut world = plant.world();
            begun(&mut world);
            for _ in 0..chunks {
                assert_eq!(world.step(B).bytes, LENGTH / 8);
            }
            world.invalidate(from, if from == A { SOURCE } else { SINK });
            world.settle();
            world.both((A, SOURCE), (B, SINK), Returned::Touched);
        }
    }
}

/// The invalidation of the source is noted while the last chunk is under way: it has lost the race,
/// and the transfer is a success on both sides (S0-16).
#[test]
fn an_invalidate_that_loses_the_race_is_a_success() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    let [out, into] = begun(&mut world);
    for _ in 0..8 {
        assert_eq!(world.step(B).bytes, LENGTH / 8);
        // The source's engine knows nothing of the end yet.
    }
    world.invalidate(A, SOURCE);
    world.invalidate(B, SINK);
    world.settle();
    world.both((A, SOURCE), (B, SINK), Returned::Ok);
    assert_eq!(world.bytes(&out), world.bytes(&into));
}

/// The same, with the invalidation noted in the own word while the puller is at its last chunk.
#[test]
fn an_invalidate_noted_during_the_last_chunk_is_a_success() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    let [out, into] = begun(&mut world);
    for _ in 0..7 {
        world.step(B);
    }
    *plant.bus.meanwhile.lock().unwrap() = Some(|bus| {
        let descriptor = bus.memory(0, 0).unwrap().descriptor(SOURCE.index).unwrap();
        let own = descriptor.own();
        assert!(descriptor.swap(own, own.invalidating()));
    });
    world.settle();
    world.both((A, SOURCE), (B, SINK), Returned::Ok);
    assert_eq!(world.bytes(&out), world.bytes(&into));
}

#[test]
fn after_the_end_nothing_more_comes() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    begun(&mut world);
    world.settle();
    world.both((A, SOURCE), (B, SINK), Returned::Ok);
    world.invalidate(A, SOURCE);
    world.invalidate(B, SINK);
    world.settle();
    world.both((A, SOURCE), (B, SINK), Returned::Ok);
}

/// R18: asking twice, from both sides, at every moment, is asking once.
#[test]
fn asking_often_is_asking_once() {
    let some = if cfg!(miri) { 4 } else { 1 };
    for first in (0..10).step_by(some) {
        for second in (first..10).step_by(some) {
            let plant = Plant::new(Shape::default());
            let mut world = plant.world();
            let [out, into] = begun(&mut world);
            for step in 0..12 {
                if step == first || step == second {
                    world.invalidate(A, SOURCE);
                    world.invalidate(A, SOURCE);
                    world.invalidate(B, SINK);
                }
                world.step_all();
            }
            world.settle();
            let (at_a, at_b) = (world.once(A, SOURCE), world.once(B, SINK));
            assert_eq!(at_a, at_b, "asked at {first} and {second}");
            if at_a == Returned::Ok {
                assert_eq!(world.bytes(&out), world.bytes(&into));
            }
        }
    }
}

/// Who pulls is told why: the other side wants it back, or it is not there any more (S0-19).
#[test]
fn the_puller_is_told_why() {
    for (freed, cause) in [(false, ErrorBits::INVALIDATED), (true, ErrorBits::REMOTE_ACCESS)] {
        let plant = Plant::new(Shape::default());
        let mut world = plant.world();
        begun(&mut world);
        world.step(B);
        if freed {
            world.memory(A).descriptor(SOURCE.index).unwrap().free();
        } else {
            world.invalidate(A, SOURCE);
            world.step(A);
        }
        world.step(B);
        let status = world.memory(B).completion(0).status.load(Ordering::Relaxed);
        assert_eq!(status >> 16, cause.bits());
        world.reap(B);
        assert_eq!(world.once(B, SINK), Returned::Touched);
    }
}

/// S0-6: a puller claims the descriptor while its engine looks at the invalidation. It is the
/// puller's then, and the invalidation is noted there.
#[test]
fn claimed_while_the_invalidate_is_looked_at() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    let out = world.filled(0, LENGTH);
    world.stage(A, SOURCE, &out, 1);
    world.step(A);
    world.invalidate(A, SOURCE);
    let descriptor = world.memory(A).descriptor(SOURCE.index).unwrap();
    world.script(A).during_invalidate = Some(Box::new(move || {
        let own = descriptor.own();
        assert!(descriptor.swap(own, own.busy(1)));
    }));
    world.step(A);
    let held = descriptor.own();
    assert!(held.is(State::Busy) && !held.invalidated());
    world.step(A);
    assert_eq!(descriptor.own(), held.invalidating(), "it was looked at again");
    world.reap(A);
    assert_eq!(world.ends(A, SOURCE), []);
}

/// A puller that breaks off wakes the engine of the node that it pulls from, and no other one.
#[test]
fn breaking_off_wakes_the_source() {
    for stops in [false, true] {
        let plant = Plant::new(Shape { nodes: 4, ..Shape::default() });
        let mut world = plant.world();
        let (out, into) = (world.filled(3, LENGTH), world.filled(1, LENGTH));
        world.script(B).chunk = Some(LENGTH / 8);
        world.stage((3, 0), SOURCE, &out, 1);
        world.pull(B, SINK, &into, 3, SOURCE, LENGTH);
        world.step(B);
        assert_eq!(*plant.bus.woken.lock().unwrap(), []);
        if stops {
            world.port(B).driver.stop();
        } else {
            world.invalidate(B, SINK);
        }
        world.step(B);
        assert_eq!(*plant.bus.woken.lock().unwrap(), [(3, 1)]);
    }
}

/// Ends of short pulls are told together; a long one does not keep the others waiting.
#[test]
fn returns_are_told_together_and_soon() {
    // What the first node sees of its own done bits while the second one's next copy begins.
    fn see(bus: &Bus) {
        SEEN.with_borrow_mut(|seen| seen.push(bus.memory(0, 0).unwrap().dones().any()));
        *bus.meanwhile.lock().unwrap() = Some(see);
    }
    thread_local! {
        static SEEN: std::cell::RefCell<Vec<bool>> = const { std::cell::RefCell::new(Vec::new()) };
    }
    for (length, seen) in [(1000, [false, false, false]), (65_536, [false, true, true])] {
        let plant = Plant::new(Shape { window: 1 << 18, ..Shape::default() });
        let mut world = plant.world();
        world.step_all();
        (0..3).for_each(|n| _ = world.transfer(A, B, tag(n), tag(n), length));
        *plant.bus.meanwhile.lock().unwrap() = Some(see);
        world.step(B);
        assert_eq!(SEEN.take(), seen, "{length}");
        *plant.bus.meanwhile.lock().unwrap() = None;
        assert!(world.memory(A).dones().any(), "at the end of the step at the latest");
        world.settle();
        (0..3).for_each(|n| world.both((A, tag(n)), (B, tag(n)), Returned::Ok));
    }
}

/// Ends of one step that belong to several nodes and several words of a bitmap: each node is told
/// of all of its own, and is woken. The owner reports as many as its budget allows, and keeps the
/// rest.
#[test]
fn returns_of_several_nodes_and_words_are_all_told() {
    const C: (u32, usize) = (2, 0);
    let plant = Plant::new(Shape { nodes: 3, descriptors: 96, ..Shape::default() });
    let mut world = plant.world();
    world.step_all();
    // Two that lie in one word, then another node's, then the first one's again, in two more words.
    let order = [(A, 0), (A, 31), (C, 1), (A, 30), (A, 40), (A, 95)];
    for (sink, (from, index)) in (0..).zip(order) {
        world.transfer(from, B, tag(index), tag(sink), 64);
    }
    world.step(B);
    let woken = plant.bus.woken.lock().unwrap().clone();
    assert_eq!(woken, [(0, 1), (2, 1), (0, 1), (0, 1), (0, 1)], "once for what is told at once");
    world.budget = 1;
    for reported in 1..=5 {
        assert_eq!(world.step(A).completions, 1, "{reported}");
    }
    assert_eq!(world.step(A).completions, 0);
    world.settle();
    for (sink, (from, index)) in (0..).zip(order) {
        world.both((from, tag(index)), (B, tag(sink)), Returned::Ok);
    }
}
