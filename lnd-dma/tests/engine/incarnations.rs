// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Nodes die, are away for a while, and begin another incarnation, at every moment of a pull
//! (S0-9).

use std::sync::atomic::Ordering;

use lnd_core::ports::{Engine, Returned};
use lnd_dma::descriptor::State;

use crate::harness::{tag, Plant, Shape, World};

const A: (u32, usize) = (0, 0);
const B: (u32, usize) = (1, 0);
const LENGTH: u32 = if cfg!(miri) { 512 } else { 4096 };

fn after_steps(world: &mut World<'_>, steps: u32) {
    world.script(B).chunk = Some(LENGTH / 4);
    world.transfer(A, B, tag(0), tag(0), LENGTH);
    for _ in 0..steps {
        world.step(B);
    }
}

#[test]
fn the_source_dies() {
    for steps in 1..4 {
        let plant = Plant::new(Shape::default());
        let mut world = plant.world();
        after_steps(&mut world, steps);
        world.kill(0);
        world.settle();
        assert_eq!(world.once(B, tag(0)), Returned::Touched);
    }
}

#[test]
fn the_puller_dies() {
    for steps in 0..4 {
        let plant = Plant::new(Shape::default());
        let mut world = plant.world();
        after_steps(&mut world, steps);
        world.kill(1);
        world.settle();
        assert_eq!(world.ends(A, tag(0)), [], "the driver has not asked");
        world.invalidate(A, tag(0));
        world.settle();
        let expected = if steps == 0 { Returned::Untouched } else { Returned::Touched };
        assert_eq!(world.once(A, tag(0)), expected);
        world.invalidate(A, tag(0));
        world.settle();
        assert_eq!(world.once(A, tag(0)), expected);
    }
}

/// The invalidation waits for a live puller; then the puller dies.
#[test]
fn the_puller_dies_while_it_is_asked() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    after_steps(&mut world, 2);
    world.invalidate(A, tag(0));
    for _ in 0..10 {
        world.step(A);
        assert_eq!(world.reap(A), 0, "a live puller may be reading");
    }
    world.kill(1);
    world.settle();
    assert_eq!(world.once(A, tag(0)), Returned::Touched);
}

/// A puller that begins a new incarnation has forgotten what it held: the source gets it back by
/// itself, or by a stop.
#[test]
fn the_puller_begins_another_incarnation() {
    for stop in [false, true] {
        let plant = Plant::new(Shape::default());
        let mut world = plant.world();
        after_steps(&mut world, 2);
        if stop {
            world.port(A).driver.stop();
        }
        world.restart(1);
        if stop {
            let proof = world.proof(A);
            assert_eq!(world.reclaim(A, tag(0), &proof), Some(Returned::Touched));
        } else {
            world.settle();
            assert_eq!(world.once(A, tag(0)), Returned::Touched);
        }
    }
}

/// Only what that node held goes back.
#[test]
fn another_pullers_new_incarnation() {
    let plant = Plant::new(Shape { nodes: 3, ..Shape::default() });
    let mut world = plant.world();
    after_steps(&mut world, 2);
    let c = (2, 0);
    world.script(c).chunk = Some(8);
    world.transfer(A, c, tag(1), tag(1), 64);
    world.step(c);
    world.restart(2);
    world.settle();
    world.both((A, tag(0)), (B, tag(0)), Returned::Ok);
    assert_eq!(world.once(A, tag(1)), Returned::Touched);
}

/// The puller has ended the source's part and dies before it can say so: an invalidation finds it.
#[test]
fn the_puller_dies_with_the_event() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    after_steps(&mut world, 4);
    // As if it had never been set.
    assert_eq!(world.memory(A).dones().take_one(), Some(0));
    world.kill(1);
    world.settle();
    assert_eq!(world.ends(A, tag(0)), []);
    world.invalidate(A, tag(0));
    world.settle();
    assert_eq!(world.once(A, tag(0)), Returned::Ok);
}

/// A source that begins a new incarnation stages the same descriptor again: the old pull does not
/// go on.
#[test]
fn the_source_begins_another_incarnation() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    after_steps(&mut world, 2);
    world.restart(0);
    world.forget(A);
    let out = world.filled(0, LENGTH);
    world.stage(A, tag(0), &out, 1);
    world.settle();
    assert_eq!(world.once(B, tag(0)), Returned::Touched);
    assert_eq!(world.ends(A, tag(0)), [], "the new incarnation's descriptor is its own");
    let into = world.filled(1, LENGTH);
    world.pull(B, tag(1), &into, 0, tag(0), LENGTH);
    world.settle();
    world.both((A, tag(0)), (B, tag(1)), Returned::Ok);
    assert_eq!(world.bytes(&out), world.bytes(&into));
}

/// The source is out of sight for longer than the bound, but is up: it gets its descriptor back.
#[test]
fn the_source_is_out_of_sight_for_long() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    after_steps(&mut world, 2);
    plant.bus.node_memories[0].present.store(false, Ordering::Relaxed);
    world.settle();
    assert_eq!(world.once(B, tag(0)), Returned::Touched);
    plant.bus.node_memories[0].present.store(true, Ordering::Relaxed);
    world.settle();
    assert_eq!(world.once(A, tag(0)), Returned::Touched);
}

/// The source's node has proof that we are dead, and takes its descriptor back, while we are at the
/// last chunk: what we have read may not be what was staged.
#[test]
fn the_source_is_taken_back_during_the_last_chunk() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    after_steps(&mut world, 3);
    *plant.bus.meanwhile.lock().unwrap() = Some(|bus| {
        let memory = bus.memory(0, 0).unwrap();
        let descriptor = memory.descriptor(0).unwrap();
        let own = descriptor.own();
        assert!(own.is(State::Busy) && descriptor.swap(own, own.into(State::Touched)));
    });
    world.settle();
    assert_eq!(world.once(B, tag(0)), Returned::Touched);
}

/// The source's link fails in the middle and is stopped; the puller's half comes back by itself.
#[test]
fn the_sources_link_fails() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    after_steps(&mut world, 2);
    world.link(A, false);
    world.step_all();
    world.port(A).driver.stop();
    let proof = world.proof(A);
    assert_eq!(world.reclaim(A, tag(0), &proof), Some(Returned::Touched));
    world.settle();
    assert_eq!(world.once(B, tag(0)), Returned::Touched);
    assert_eq!(world.ends(A, tag(0)), []);
}
