// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Stopping an engine, and what the proof is worth (INV-3, S0-10 to S0-12, S0-20, S0-21).

use lnd_core::id::Tag;
use lnd_core::ports::{Engine, Returned};
use lnd_dma::memory::LinkMemory;
use lnd_dma::regs::{ControlBits, Register, RegisterAccess, StatusBits};

use crate::harness::{tag, Plant, Shape, World};

const A: (u32, usize) = (0, 0);
const B: (u32, usize) = (1, 0);
const LENGTH: u32 = 4096;

/// Half of the bytes are moved.
fn half_way(world: &mut World<'_>) {
    world.script(B).chunk = Some(LENGTH / 4);
    world.transfer(A, B, tag(0), tag(0), LENGTH);
    world.step(B);
    world.step(B);
}

fn copied(world: &World<'_>) -> u64 {
    world.plant.bus.copied.load(std::sync::atomic::Ordering::Relaxed)
}

#[test]
fn no_proof_without_a_stop() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    assert!(world.port(A).driver.quiesced().is_none(), "fresh");
    world.step_all();
    assert!(world.port(A).driver.quiesced().is_none(), "running");
    assert!(world.port(A).driver.link_up());
    world.port(A).driver.stop();
    assert!(world.port(A).driver.quiesced().is_none(), "asked, but it has not answered");
    let memory = world.memory(A);
    let round = ControlBits(memory.read(Register::Control)).round();
    memory.write(Register::Status, StatusBits::RUNNING.in_round(round).bits());
    assert!(world.port(A).driver.quiesced().is_none(), "the round alone is no answer");
    world.step_all();
    assert!(world.port(A).driver.quiesced().is_some());
    assert!(!world.port(A).driver.link_up());
    // STOPPED without STOP is an error of the device.
    let memory = world.memory(B);
    memory.write(Register::Status, StatusBits::STOPPED.bits());
    assert!(world.port(B).driver.quiesced().is_none());
}

/// The puller's own engine: it lets go at once, and says how far it was.
#[test]
fn stopping_the_puller() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    half_way(&mut world);
    world.port(B).driver.stop();
    let proof = world.proof(B);
    let before = copied(&world);
    assert_eq!(world.reclaim(B, tag(0), &proof), Some(Returned::Touched));
    assert_eq!(world.reclaim(B, tag(0), &proof), None, "it is gone");
    world.settle();
    assert_eq!(copied(&world), before);
    assert_eq!(world.ends(B, tag(0)), [], "a stopped engine posts nothing");
    assert_eq!(world.once(A, tag(0)), Returned::Touched);
}

/// The source's engine: STOPPED is not shown while a live puller may read.
#[test]
fn stopping_the_source() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    half_way(&mut world);
    world.port(A).driver.stop();
    for _ in 0..20 {
        world.step(A);
        assert!(world.port(A).driver.quiesced().is_none(), "a live puller holds a descriptor");
    }
    // The puller looks between two chunks and lets go.
    let before = copied(&world);
    world.step(B);
    assert_eq!(copied(&world), before, "the puller has seen STOP");
    let proof = world.proof(A);
    assert_eq!(world.reclaim(A, tag(0), &proof), Some(Returned::Touched));
    world.settle();
    assert_eq!(world.once(B, tag(0)), Returned::Touched);
    assert_eq!(copied(&world), before);
}

/// Nothing that is posted at a source that stops is claimed any more.
#[test]
fn a_stopping_source_is_not_claimed() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    world.transfer(A, B, tag(0), tag(0), LENGTH);
    world.port(A).driver.stop();
    world.step(B);
    world.reap(B);
    assert_eq!(world.once(B, tag(0)), Returned::Untouched);
    assert_eq!(copied(&world), 0);
    let proof = world.proof(A);
    assert_eq!(world.reclaim(A, tag(0), &proof), None, "it was never begun");
}

/// A puller that is slow between its claim and its look at STOP. The stop's search has passed the
/// descriptor before: the puller must see that there is a stop, or that there was one.
#[test]
fn a_slow_claim_sees_the_stop() {
    type Meanwhile = fn(LinkMemory<'_>);
    let stops: Meanwhile = |memory| {
        let control = ControlBits(memory.read(Register::Control));
        memory.write(Register::Control, control.stopping().bits());
    };
    let forgets_the_round: Meanwhile = |memory| {
        let control = ControlBits(memory.read(Register::Control));
        memory.write(Register::Control, (control | ControlBits::STOP).bits());
    };
    let is_over: Meanwhile = |memory| {
        let stop = ControlBits(memory.read(Register::Control)).stopping();
        memory.write(Register::Control, stop.bits());
        memory.write(Register::Status, StatusBits::STOPPED.in_round(stop.round()).bits());
        memory.descriptor(0).unwrap().free();
        let reset = stop.difference(ControlBits::STOP) | ControlBits::RESET;
        memory.write(Register::Control, reset.bits());
    };
    for meanwhile in [stops, forgets_the_round, is_over] {
        let plant = Plant::new(Shape::default());
        let mut world = plant.world();
        world.transfer(A, B, tag(0), tag(0), LENGTH);
        let memory = world.memory(A);
        world.script(B).after_claim = Some(Box::new(move || meanwhile(memory)));
        world.step(B);
        world.reap(B);
        assert_eq!(world.once(B, tag(0)), Returned::Untouched);
        assert_eq!(copied(&world), 0, "the source's memory may belong to other data by now");
    }
}

/// The same at a new incarnation of the source's node: formatting is a stop that no engine answers.
#[test]
fn a_slow_claim_sees_the_new_incarnation() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    world.transfer(A, B, tag(0), tag(0), LENGTH);
    let formatted = &plant;
    world.script(B).after_claim = Some(Box::new(move || {
        formatted.format(0, 0).write(Register::Link, 1);
    }));
    world.step(B);
    world.reap(B);
    assert_eq!(world.once(B, tag(0)), Returned::Untouched);
    assert_eq!(copied(&world), 0);
}

#[test]
fn a_dead_puller_does_not_hold_up_the_stop() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    half_way(&mut world);
    world.port(A).driver.stop();
    world.step(A);
    assert!(world.port(A).driver.quiesced().is_none());
    world.kill(1);
    let proof = world.proof(A);
    assert_eq!(world.reclaim(A, tag(0), &proof), Some(Returned::Touched));
}

/// S0-9: the claim of a puller that is dead already ends in the first pass.
#[test]
fn a_dead_pullers_claim_ends_at_once() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    half_way(&mut world);
    world.kill(1);
    world.port(A).driver.stop();
    world.step(A);
    let proof = world.port(A).driver.quiesced().expect("one pass over sixteen descriptors");
    assert_eq!(world.reclaim(A, tag(0), &proof), Some(Returned::Touched));
}

/// S0-10: no clock, nothing moves; and the engine can still be proven stopped.
#[test]
fn a_link_without_clock_does_nothing_and_stops() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    half_way(&mut world);
    world.link(B, false);
    let before = copied(&world);
    world.invalidate(B, tag(0));
    for _ in 0..20 {
        let progress = world.step(B);
        assert_eq!((progress.bytes, progress.completions), (0, 0));
    }
    assert_eq!(copied(&world), before);
    assert!(!world.port(B).driver.link_up());
    assert!(world.port(B).driver.quiesced().is_none(), "no clock is not a proof: it may return");
    world.port(B).driver.stop();
    let proof = world.proof(B);
    assert_eq!(world.reclaim(B, tag(0), &proof), Some(Returned::Touched));
    world.settle();
    assert_eq!(world.once(A, tag(0)), Returned::Touched);
}

/// A link that comes back without a stop goes on where it was.
#[test]
fn a_link_that_returns_goes_on() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    half_way(&mut world);
    world.link(B, false);
    for _ in 0..5 {
        world.step_all();
    }
    world.link(B, true);
    world.settle();
    world.both((A, tag(0)), (B, tag(0)), Returned::Ok);
}

/// What the descriptors' own memory says, for each way that one may stand at the stop.
#[test]
fn a_reclaim_tells_real_outcomes_and_only_those() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    // 0: staged, never pulled. 1: pulled to the end, its completion lost. 2: pulled, not reported.
    let staged = world.filled(0, 8);
    world.stage(A, tag(0), &staged, 1);
    world.script(A).completion_faults.push_back(lnd_dma::soft::CompletionFault::Lose);
    world.transfer(A, B, tag(1), tag(1), 64);
    world.settle();
    assert_eq!(world.ends(A, tag(1)), []);
    world.transfer(A, B, tag(2), tag(2), 64);
    world.step(B);
    world.port(A).driver.stop();
    let proof = world.proof(A);
    assert_eq!(world.reclaim(A, tag(0), &proof), None);
    assert_eq!(world.reclaim(A, tag(1), &proof), Some(Returned::Ok));
    assert_eq!(world.reclaim(A, Tag { index: 2, generation: 9 }, &proof), None, "not this one's");
    assert_eq!(world.reclaim(A, tag(2), &proof), Some(Returned::Ok));
    assert_eq!(world.reclaim(A, tag(3), &proof), None, "never posted");
    assert_eq!(world.reclaim(A, tag(1000), &proof), None, "no such descriptor");
    world.settle();
    for n in 0..3 {
        assert_eq!(world.ends(A, tag(n)), [], "taken away and reported as well");
    }
}

/// S0-11: nor does it reset the engine.
#[test]
fn another_links_proof_is_worth_nothing() {
    let plant = Plant::new(Shape { links: 2, ..Shape::default() });
    let mut world = plant.world();
    let other = (0, 1);
    world.transfer(A, B, tag(0), tag(0), 64);
    world.port(other).driver.stop();
    let proof = world.proof(other);
    assert_eq!(world.port(A).driver.reclaim(tag(0), &proof), None);
    world.port(A).driver.reset(proof);
    assert_eq!(world.read(A, Register::Control) & ControlBits::RESET.bits(), 0);
    world.settle();
    world.both((A, tag(0)), (B, tag(0)), Returned::Ok);
}

/// A search that was given up does not count for the next stop.
#[test]
fn each_stop_searches_the_whole_table() {
    let plant = Plant::new(Shape { descriptors: 200, ..Shape::default() });
    let mut world = plant.world();
    world.port(A).driver.stop();
    world.step(A);
    // The stop is withdrawn.
    let memory = world.memory(A);
    let control = ControlBits(memory.read(Register::Control));
    memory.write(Register::Control, control.difference(ControlBits::STOP).bits());
    world.step(A);
    world.script(B).chunk = Some(8);
    world.transfer(A, B, tag(0), tag(0), 64);
    world.step(B);
    world.port(A).driver.stop();
    for _ in 0..20 {
        world.step(A);
        assert!(world.port(A).driver.quiesced().is_none(), "a live puller holds a descriptor");
    }
    world.step(B);
    let _ = world.proof(A);
}

/// A large table is searched in bounded pieces.
#[test]
fn the_search_for_pullers_is_bounded() {
    let descriptors = if cfg!(miri) { 200 } else { 5000 };
    let plant = Plant::new(Shape { descriptors, ..Shape::default() });
    let mut world = plant.world();
    let last = descriptors - 1;
    world.script(B).chunk = Some(8);
    world.transfer(A, B, tag(last), tag(0), 64);
    world.step(B);
    world.port(A).driver.stop();
    let mut steps = 0;
    while world.port(A).driver.quiesced().is_none() {
        world.step(A);
        steps += 1;
        if steps == descriptors {
            world.step(B);
        }
        assert!(steps < descriptors * 2);
    }
    assert!(steps > descriptors);
}
