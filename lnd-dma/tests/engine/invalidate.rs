// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Invalidations that are many, late, or of an earlier use of the descriptor.

use lnd_core::id::Tag;
use lnd_core::ports::Returned;

use crate::harness::{tag, Plant, Shape};

const A: (u32, usize) = (0, 0);
const B: (u32, usize) = (1, 0);

const fn later(index: u32) -> Tag {
    Tag { index, generation: 2 }
}

#[test]
fn ten_thousand_at_once() {
    let many = if cfg!(miri) { 100 } else { 10_000 };
    let plant = Plant::new(Shape { descriptors: many, ..Shape::default() });
    let mut world = plant.world();
    for n in 0..many {
        let out = world.buffer(0, &[8]);
        world.stage(A, tag(n), &out, 1);
    }
    for n in 0..many {
        world.invalidate(A, tag(n));
    }
    world.settle();
    for n in 0..many {
        assert_eq!(world.once(A, tag(n)), Returned::Untouched);
    }
}

/// One step deals with a bounded number of invalidations.
#[test]
fn a_step_is_bounded() {
    let plant = Plant::new(Shape { descriptors: 128, ..Shape::default() });
    let mut world = plant.world();
    for n in 0..64 {
        let out = world.filled(0, 8);
        world.stage(A, tag(n), &out, 1);
        world.invalidate(A, tag(n));
    }
    world.budget = 5;
    for _ in 0..12 {
        let progress = world.step(A);
        assert_eq!(progress.completions, 5);
        assert!(progress.busy);
    }
    assert_eq!(world.step(A).completions, 4);
    assert_eq!(world.step(A).completions, 0);
}

/// The invalidation is written, the descriptor comes back by itself, and is in use again before the
/// engine looks at invalidations: it is not the next use that was invalidated (R14, R18).
#[test]
fn a_late_invalidate_does_not_touch_the_next_use() {
    for at in [A, B] {
        let plant = Plant::new(Shape::default());
        let mut world = plant.world();
        world.transfer(A, B, tag(0), tag(0), 64);
        world.script(at).overlook = 1;
        if at == A {
            // The puller has ended, the source's engine does not know: it sees both at once.
            world.step(B);
            world.invalidate(A, tag(0));
        } else {
            world.invalidate(B, tag(0));
            world.step(B);
        }
        world.step(A);
        world.reap_all();
        world.both((A, tag(0)), (B, tag(0)), Returned::Ok);
        world.transfer(A, B, later(0), later(0), 64);
        world.settle();
        world.both((A, later(0)), (B, later(0)), Returned::Ok);
        // The next use can be invalidated as well.
        let out = world.filled(0, 8);
        let third = Tag { index: 0, generation: 3 };
        world.stage(A, third, &out, 1);
        world.invalidate(A, tag(0));
        world.settle();
        assert_eq!(world.ends(A, third), []);
        world.invalidate(A, third);
        world.settle();
        assert_eq!(world.once(A, third), Returned::Untouched);
    }
}

/// A bit without an invalidation: left over, or a stranger's.
#[test]
fn a_bit_alone_invalidates_nothing() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    let out = world.filled(0, 8);
    world.stage(A, tag(0), &out, 1);
    world.memory(A).invalidates().set(0);
    world.memory(A).dones().set(0);
    world.settle();
    assert_eq!(world.ends(A, tag(0)), []);
    world.transfer(A, B, tag(1), tag(1), 64);
    world.settle();
    for _ in 0..3 {
        world.memory(A).dones().set(1);
        world.memory(B).dones().set(1);
        world.settle();
    }
    world.both((A, tag(1)), (B, tag(1)), Returned::Ok);
}

/// The pull was invalidated before its fetch, and its ring entry is still there when the descriptor
/// is posted again: two entries, one transfer.
#[test]
fn a_stale_ring_entry_does_not_pull_twice() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    // Eight pulls of which nothing moves: the engine has no room to fetch another.
    world.script(B).chunk = Some(0);
    for n in 0..8 {
        world.transfer(A, B, tag(n), tag(n), 64);
    }
    world.step(B);
    world.transfer(A, B, tag(8), tag(8), 64);
    world.invalidate(B, tag(8));
    world.step(B);
    world.reap(B);
    assert_eq!(world.once(B, tag(8)), Returned::Untouched);
    let into = world.filled(1, 64);
    world.pull(B, later(8), &into, 0, tag(8), 64);
    world.script(B).chunk = Some(32);
    world.settle();
    world.both((A, tag(8)), (B, later(8)), Returned::Ok);
    for n in 0..8 {
        world.both((A, tag(n)), (B, tag(n)), Returned::Ok);
    }
}

/// The same, and the descriptor is staged the next time: no engine pulls by what it says.
#[test]
fn a_stale_ring_entry_does_not_pull_what_is_staged() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    world.script(B).chunk = Some(0);
    for n in 0..8 {
        world.transfer(A, B, tag(n), tag(n), 64);
    }
    world.step(B);
    world.transfer(A, B, tag(8), tag(8), 64);
    world.invalidate(B, tag(8));
    world.step(B);
    world.reap(B);
    let out = world.filled(1, 64);
    world.stage(B, later(8), &out, 0);
    world.script(B).chunk = None;
    world.settle();
    assert_eq!(world.ends(B, later(8)), []);
    let into = world.filled(0, 64);
    world.pull(A, tag(9), &into, 1, later(8), 64);
    world.settle();
    world.both((B, later(8)), (A, tag(9)), Returned::Ok);
}

/// Invalidations that must wait for a puller do not hold up the others.
#[test]
fn invalidates_that_wait_do_not_starve_others() {
    for budget in [1, 16] {
        let plant =
            Plant::new(Shape { nodes: 7, descriptors: 64, window: 1 << 14, ..Shape::default() });
        let mut world = plant.world();
        world.budget = 16;
        // Forty-eight pullers hold descriptors and get no further.
        for n in 0..48 {
            let puller = (1 + n / 8, 0);
            world.script(puller).chunk = Some(0);
            world.transfer(A, puller, tag(n), tag(n), 64);
        }
        world.step_all();
        for n in 48..64 {
            let out = world.filled(0, 8);
            world.stage(A, tag(n), &out, 1);
        }
        world.budget = budget;
        for n in 0..64 {
            world.invalidate(A, tag(n));
        }
        // Only our own engine runs.
        for _ in 0..64 * 2 {
            world.step(A);
            world.reap(A);
        }
        for n in 48..64 {
            assert_eq!(world.once(A, tag(n)), Returned::Untouched, "budget {budget}");
        }
        world.settle();
        for n in 0..48 {
            world.both((A, tag(n)), ((1 + n / 8, 0), tag(n)), Returned::Untouched);
        }
    }
}
