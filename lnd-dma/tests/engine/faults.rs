// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The adversary's faults (R71), one by one.

use lnd_core::ports::{Completions, Engine, Returned};
use lnd_core::sync::Ordering;
use lnd_core::time::{Instant, Span};
use lnd_dma::soft::CompletionFault;

use crate::harness::{tag, Plant, Shape};

const A: (u32, usize) = (0, 0);
const B: (u32, usize) = (1, 0);

#[test]
fn lost() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    world.script(B).completion_faults.push_back(CompletionFault::Lose);
    world.transfer(A, B, tag(0), tag(0), 64);
    world.settle();
    assert_eq!(world.ends(B, tag(0)), []);
    assert_eq!(world.once(A, tag(0)), Returned::Ok);
    // An invalidation does not bring it back (it came back, and that was its one return); a stop
    // does.
    world.invalidate(B, tag(0));
    world.settle();
    assert_eq!(world.ends(B, tag(0)), []);
    world.port(B).driver.stop();
    let proof = world.proof(B);
    assert_eq!(world.reclaim(B, tag(0), &proof), Some(Returned::Ok));
}

#[test]
fn twice() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    world.script(A).completion_faults.push_back(CompletionFault::Twice);
    world.transfer(A, B, tag(0), tag(0), 64);
    world.settle();
    assert_eq!(world.ends(A, tag(0)), [Returned::Ok; 2]);
    assert_eq!(world.once(B, tag(0)), Returned::Ok);
}

#[test]
fn held_and_overtaken() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    let until = Instant::ORIGIN.after(Span::from_millis(50));
    world.script(B).completion_faults.push_back(CompletionFault::Hold(until));
    world.transfer(A, B, tag(0), tag(0), 64);
    world.transfer(A, B, tag(1), tag(1), 64);
    world.step_all();
    assert_eq!(world.port(B).queue.pop().map(|c| c.tag), Some(tag(1)));
    assert!(world.step(B).busy, "something is held back");
    assert_eq!(world.port(B).queue.pop(), None);
    world.now = until;
    world.step(B);
    assert_eq!(world.port(B).queue.pop().map(|c| c.tag), Some(tag(0)));
    assert_eq!(world.port(B).queue.pop(), None);
}

/// A stop drops held completions: the descriptors' own words tell.
#[test]
fn held_at_a_stop() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    world.script(B).completion_faults.push_back(CompletionFault::Hold(Instant::NEVER));
    world.transfer(A, B, tag(0), tag(0), 64);
    world.step_all();
    world.port(B).driver.stop();
    let proof = world.proof(B);
    assert_eq!(world.reclaim(B, tag(0), &proof), Some(Returned::Ok));
    world.port(B).driver.reset(proof);
    world.now = Instant::NEVER;
    world.settle();
    assert_eq!(world.ends(B, tag(0)), []);
}

/// More held back than there is room for: the rest is delivered at once, none is lost.
#[test]
fn more_held_than_fit() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    let until = Instant::ORIGIN.after(Span::from_millis(5));
    world.script(B).completion_faults.extend([CompletionFault::Hold(until); 12]);
    for n in 0..12 {
        world.transfer(A, B, tag(n), tag(n), 64);
    }
    world.settle();
    for n in 0..12 {
        world.both((A, tag(n)), (B, tag(n)), Returned::Ok);
    }
}

/// A status of no meaning: the descriptor is back, and the worst is assumed.
#[test]
fn garbled() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    world.script(B).completion_faults.push_back(CompletionFault::Garble);
    world.transfer(A, B, tag(0), tag(0), 64);
    world.settle();
    assert_eq!(world.once(B, tag(0)), Returned::Touched);
    assert_eq!(world.port(B).queue.nonsense(), 1);
}

/// An index of no descriptor: counted and skipped, a bounded number a call.
#[test]
fn completions_of_nothing() {
    let plant = Plant::new(Shape { descriptors: 64, ..Shape::default() });
    let mut world = plant.world();
    let memory = world.memory(B);
    for n in 0..40 {
        let entry = memory.completion(n);
        entry.status.store(1, Ordering::Relaxed);
        entry.index.store(if n == 39 { 63 } else { 64 + n }, Ordering::Relaxed);
        entry.generation.store(1, Ordering::Relaxed);
        entry.sequence.store(n + 1, Ordering::Relaxed);
    }
    let queue = &mut world.port(B).queue;
    assert!(!queue.is_empty());
    assert_eq!(queue.pop(), None);
    assert_eq!(queue.nonsense(), 16);
    assert_eq!(queue.pop(), None);
    assert_eq!(queue.pop().map(|c| c.tag), Some(tag(63)));
    assert_eq!(queue.nonsense(), 39);
    assert!(queue.is_empty());
}

/// A driver that takes a descriptor away from an engine at work gets no completion for it, and what
/// it posts instead is left alone.
#[test]
fn taken_away_without_a_stop() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    world.script(B).chunk = Some(32);
    world.transfer(A, B, tag(0), tag(0), 64);
    world.step(B);
    world.memory(B).descriptor(0).unwrap().free();
    world.settle();
    assert_eq!(world.once(A, tag(0)), Returned::Ok);
    assert_eq!(world.ends(B, tag(0)), []);
    assert_eq!(world.memory(B).descriptor(0).unwrap().own().0, 0);
}

#[test]
fn overlooked_invalidates_are_seen_later() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    let out = world.filled(0, 8);
    world.stage(A, tag(0), &out, 1);
    world.script(A).overlook = 7;
    world.invalidate(A, tag(0));
    for _ in 0..7 {
        assert_eq!(world.step(A).completions, 0);
    }
    assert_eq!(world.step(A).completions, 1);
    world.settle();
    assert_eq!(world.once(A, tag(0)), Returned::Untouched);
}

/// A stalled engine does nothing but stop.
#[test]
fn stalled() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    world.script(B).stalled_until = Instant::NEVER;
    world.transfer(A, B, tag(0), tag(0), 64);
    world.invalidate(B, tag(0));
    for _ in 0..20 {
        let progress = world.step(B);
        assert_eq!((progress.bytes, progress.completions), (0, 0));
    }
    world.port(B).driver.stop();
    let proof = world.proof(B);
    assert_eq!(world.reclaim(B, tag(0), &proof), None);
}
