// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A completion ring that is full, or whose head makes no sense: completions are held back, none is
//! lost.

use lnd_core::id::Tag;
use lnd_core::ports::{Engine, Motion, Returned};
use lnd_core::sync::Ordering;
use lnd_dma::descriptor::State;
use lnd_dma::regs::{ErrorBits, Register, RegisterAccess};

use crate::harness::{nid, tag, Plant, Shape};

const A: (u32, usize) = (0, 0);
const B: (u32, usize) = (1, 0);

/// Eight descriptors on each side, all ended, and nothing takes a completion; then one at a time.
#[test]
fn a_full_ring_holds_completions_back() {
    for start in [0, u32::MAX - 4] {
        let plant = Plant::new(Shape { descriptors: 8, start, ..Shape::default() });
        let mut world = plant.world();
        for n in 0..8 {
            world.transfer(A, B, tag(n), tag(n), 64);
        }
        for _ in 0..50 {
            world.step_all();
        }
        // Seven of eight have found room: a completion is posted only where there is room for two.
        let posted = |w: &mut crate::harness::World<'_>, at| {
            let tail = &w.memory(at).registers().completion_tail;
            tail.load(Ordering::Relaxed).wrapping_sub(start)
        };
        assert_eq!((posted(&mut world, A), posted(&mut world, B)), (7, 7));
        world.settle();
        for n in 0..8 {
            world.both((A, tag(n)), (B, tag(n)), Returned::Ok);
        }
    }
}

/// More invalidations than the ring has entries.
#[test]
fn invalidates_wait_for_room_too() {
    let plant = Plant::new(Shape { descriptors: 8, ..Shape::default() });
    let mut world = plant.world();
    for generation in 1..=2 {
        for index in 0..8 {
            let tag = Tag { index, generation };
            let out = world.buffer(0, &[8]);
            // The last one waits for room, so that it is out the second time.
            if world.post(A, tag, Motion::Stage { to: nid(1) }, &out, 8).is_ok() {
                world.invalidate(A, tag);
            }
        }
        for _ in 0..50 {
            world.step(A);
        }
    }
    let tail = world.memory(A).registers().completion_tail.load(Ordering::Relaxed);
    assert_eq!(tail, 7, "the ring has eight entries, and room for two is asked for");
    world.settle();
    for index in 0..8 {
        assert_eq!(world.once(A, tag(index)), Returned::Untouched);
    }
    for index in 0..7 {
        assert_eq!(world.once(A, Tag { index, generation: 2 }), Returned::Untouched);
    }
}

/// A puller whose own driver takes no completions does not hold up the source's node: neither the
/// source's return, nor its invalidation, nor its stop (INV-11).
#[test]
fn a_pullers_full_ring_does_not_hold_up_the_source() {
    for stop in [false, true] {
        let plant = Plant::new(Shape::default());
        let mut world = plant.world();
        world.step_all();
        world.memory(B).write(Register::CompletionHead, 1000);
        world.script(B).chunk = Some(32);
        world.transfer(A, B, tag(0), tag(0), 64);
        world.transfer(A, B, tag(1), tag(1), 640);
        for _ in 0..4 {
            world.step_all();
        }
        assert_eq!(world.reap(A), 1);
        assert_eq!(world.once(A, tag(0)), Returned::Ok);
        if stop {
            world.port(A).driver.stop();
            let proof = world.proof(A);
            assert_eq!(world.reclaim(A, tag(1), &proof), Some(Returned::Touched));
        } else {
            world.invalidate(A, tag(1));
            for _ in 0..4 {
                world.step_all();
            }
            world.reap(A);
            assert_eq!(world.once(A, tag(1)), Returned::Touched);
        }
        world.memory(B).write(Register::CompletionHead, 0);
        world.settle();
        assert_eq!(world.once(B, tag(0)), Returned::Ok);
        assert_eq!(world.once(B, tag(1)), Returned::Touched);
    }
}

/// Ended, not yet reported: an invalidation and a stop of the puller find the real outcome.
#[test]
fn an_end_that_waits_for_room_is_not_forgotten() {
    for stop in [false, true] {
        let plant = Plant::new(Shape::default());
        let mut world = plant.world();
        world.memory(B).write(Register::CompletionHead, 1000);
        world.transfer(A, B, tag(0), tag(0), 64);
        world.step_all();
        if stop {
            world.port(B).driver.stop();
            let proof = world.proof(B);
            assert_eq!(world.reclaim(B, tag(0), &proof), Some(Returned::Ok));
        } else {
            world.invalidate(B, tag(0));
            world.step_all();
            world.memory(B).write(Register::CompletionHead, 0);
            world.settle();
            assert_eq!(world.once(B, tag(0)), Returned::Ok);
        }
    }
}

#[test]
fn a_head_that_makes_no_sense_is_a_full_ring() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    world.step_all();
    world.memory(B).write(Register::CompletionHead, 1000);
    world.transfer(A, B, tag(0), tag(0), 64);
    for _ in 0..20 {
        assert_eq!(world.step(B).completions, 0);
    }
    let error = &world.memory(B).registers().error;
    assert_eq!(ErrorBits(error.load(Ordering::Relaxed)), ErrorBits::BAD_INDEX);
    world.memory(B).write(Register::CompletionHead, 0);
    world.settle();
    world.both((A, tag(0)), (B, tag(0)), Returned::Ok);
}

#[test]
fn a_tail_that_makes_no_sense_fetches_nothing() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    world.step_all();
    world.memory(B).write(Register::PostTail, 1000);
    world.step(B);
    let error = &world.memory(B).registers().error;
    assert_eq!(ErrorBits(error.load(Ordering::Relaxed)), ErrorBits::BAD_INDEX);
    world.memory(B).write(Register::PostTail, 0);
    world.transfer(A, B, tag(0), tag(0), 64);
    world.settle();
    world.both((A, tag(0)), (B, tag(0)), Returned::Ok);
}

/// S3-12, R25: what an engine has claimed of other nodes at a time is bounded, by eight pulls; the
/// others wait, and all of them end.
#[test]
fn s3_12_eight_pulls_at_a_time() {
    let plant = Plant::new(Shape { descriptors: 32, ..Shape::default() });
    let mut world = plant.world();
    world.budget = 32;
    world.script(B).chunk = Some(1);
    for n in 0..32 {
        world.transfer(A, B, tag(n), tag(n), 4);
    }
    let mut most = 0;
    for _ in 0..40 {
        let progress = world.step(B);
        assert!(progress.bytes <= 8, "a byte of each pull");
        let memory = world.memory(A);
        let claimed = (0..32).filter_map(|index| memory.descriptor(index));
        let claimed = claimed.filter(|descriptor| descriptor.own().is(State::Busy)).count();
        assert!(claimed <= 8, "{claimed} claimed");
        most = most.max(claimed);
        world.step(A);
        world.reap_all();
    }
    assert_eq!(most, 8);
    for n in 0..32 {
        world.both((A, tag(n)), (B, tag(n)), Returned::Ok);
    }
}
