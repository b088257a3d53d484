// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A completion ring whose consumer cannot go on (INV-15): the thread's half says so, and says it
//! of no other ring.

use lnd_core::id::Tag;
use lnd_core::ports::{Completions, Engine, Returned};
use lnd_core::sync::Ordering;
use lnd_dma::driver::MmioEngine;
use lnd_dma::regs::{LinkBits, Register, RegisterAccess};

use crate::harness::{tag, At, Numbers, Plant, Shape, World};

const A: At = (0, 0);
const B: At = (1, 0);

fn is_stuck(world: &mut World<'_>) -> bool {
    world.port(A).driver.is_stuck()
}

/// Pulls by A that A's engine has ended and whose completions wait in the ring.
fn ended(world: &mut World<'_>, tags: &[Tag]) {
    for &tag in tags {
        world.transfer(B, A, tag, tag, 8);
    }
    for _ in 0..10 {
        world.step_all();
    }
}

/// Stops A's link, takes everything away, and resets it.
fn recycle(world: &mut World<'_>, tags: &[Tag]) {
    world.port(A).driver.stop();
    let proof = world.proof(A);
    for &tag in tags {
        world.reclaim(A, tag, &proof);
    }
    world.port(A).driver.reset(proof);
    world.memory(A).write(Register::Link, LinkBits::UP.bits());
    world.step(A);
    assert!(world.port(A).driver.link_up());
}

/// Entries that wait for the engine, in the first lap and later, and entries that wait for the
/// consumer; wherever the indices begin.
#[test]
fn a_ring_at_work_is_not_stuck() {
    for start in [0, 5, u32::MAX - 9] {
        let plant = Plant::new(Shape { start, ..Shape::default() });
        let mut world = plant.world();
        assert!(!is_stuck(&mut world));
        for n in 0..40 {
            let tag = Tag { index: n % 16, generation: 1 + n };
            ended(&mut world, &[tag]);
            assert!(!is_stuck(&mut world), "{n} of {start}: it is there to be taken");
            world.reap_all();
            assert_eq!(world.ends(A, tag), [Returned::Ok]);
            assert!(!is_stuck(&mut world), "{n} of {start}: there is none");
        }
    }
}

/// A reset moves the ring on. Until the interrupt comes, its head is that of the old ring.
#[test]
fn a_ring_that_the_consumer_has_not_seen_yet_is_not_stuck() {
    for taken in 0..5 {
        let plant = Plant::new(Shape::default());
        let mut world = plant.world();
        for n in 0..taken {
            ended(&mut world, &[tag(n)]);
            world.reap_all();
        }
        recycle(&mut world, &[]);
        assert!(!is_stuck(&mut world), "{taken}: nothing in it");
        for n in 0..16 {
            ended(&mut world, &[Tag { index: n, generation: 9 }]);
            assert!(!is_stuck(&mut world), "{taken}: {n} in it");
        }
        for _ in 0..5 {
            world.reap_all();
            assert!(!is_stuck(&mut world), "{taken}");
            world.step_all();
        }
        assert_eq!(world.ends(A, Tag { index: 15, generation: 9 }), [Returned::Ok]);
    }
}

/// An entry that was overwritten before it was taken. The consumer stays there, a reset ends it.
#[test]
fn inv_15_an_overwritten_entry_is_a_stuck_ring_until_the_reset() {
    for word in [0, 7, 0xdead_beef, u32::MAX] {
        let plant = Plant::new(Shape { start: 100, ..Shape::default() });
        let mut world = plant.world();
        ended(&mut world, &[tag(0), tag(1)]);
        world.memory(A).completion(100).sequence.store(word, Ordering::Relaxed);
        assert!(world.port(A).queue.pop().is_none());
        assert!(is_stuck(&mut world), "{word:#x}");
        ended(&mut world, &[tag(2)]);
        world.reap_all();
        assert!(world.ends(A, tag(2)).is_empty() && is_stuck(&mut world), "{word:#x}: for ever");
        // An entry behind the head says nothing of it, and another node's ring is its own.
        assert!(!world.port(B).driver.is_stuck());
        recycle(&mut world, &[tag(0), tag(1), tag(2)]);
        assert!(!is_stuck(&mut world), "{word:#x}");
        ended(&mut world, &[Tag { index: 3, generation: 7 }]);
        world.reap_all();
        assert_eq!(world.ends(A, Tag { index: 3, generation: 7 }), [Returned::Ok]);
        assert!(!is_stuck(&mut world));
    }
}

/// The consumer's writes of the head are lost while the registers do not work. The engine fills the
/// ring and posts no more, so no interrupt comes in which the head would be written again.
#[test]
fn inv_15_a_ring_whose_head_was_lost_is_stuck_once_it_is_full() {
    for start in [0, u32::MAX - 4] {
        let plant = Plant::new(Shape { descriptors: 8, start, ..Shape::default() });
        let mut world = plant.world();
        let head = world.memory(A).read(Register::CompletionHead);
        for n in 0..8 {
            let tag = Tag { index: n, generation: 1 };
            ended(&mut world, &[tag]);
            // The ring has room for all but one.
            assert_eq!(is_stuck(&mut world), n >= 6, "{n} of {start}");
            world.reap_all();
            assert_eq!(world.ends(A, tag).len(), usize::from(n < 7), "{n} of {start}");
            world.memory(A).write(Register::CompletionHead, head);
        }
        let tags: Vec<Tag> = (0..8).map(|index| Tag { index, generation: 1 }).collect();
        recycle(&mut world, &tags);
        assert!(!is_stuck(&mut world));
        let next = Tag { index: 3, generation: 7 };
        ended(&mut world, &[next]);
        world.reap_all();
        assert_eq!(world.ends(A, next), [Returned::Ok]);
        assert!(!is_stuck(&mut world));
    }
}

/// What a device that is not there reads as is no ring.
#[test]
fn a_device_that_is_not_there_says_nothing_of_its_ring() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    ended(&mut world, &[tag(0)]);
    let memory = world.memory(A);
    memory.completion(0).sequence.store(0xdead_beef, Ordering::Relaxed);
    let engine = MmioEngine::new(lnd_core::id::LinkId::new(0).unwrap(), memory, memory, Numbers);
    assert!(engine.is_stuck());
    memory.registers().magic.store(u32::MAX, Ordering::Relaxed);
    assert!(!engine.is_stuck());
}
