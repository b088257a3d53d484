// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! After a reset the rings begin anew, whatever the device or another has written into them
//! (S0-11).

use lnd_core::id::Tag;
use lnd_core::key::Key;
use lnd_core::ports::{Completions, Engine, Motion, Returned};
use lnd_core::sync::{AtomicU32, Ordering};
use lnd_core::time::Span;
use lnd_dma::descriptor::State;
use lnd_dma::driver::CompletionQueue;
use lnd_dma::regs::{LinkBits, Register, RegisterAccess, RegisterBlock};
use memoffset::offset_of;

use crate::harness::{nid, tag, Plant, Random, Shape, World};

const A: (u32, usize) = (0, 0);
const B: (u32, usize) = (1, 0);

/// Stops a link, takes everything away, and resets it.
fn recycle(world: &mut World<'_>, at: (u32, usize)) {
    world.port(at).driver.stop();
    let proof = world.proof(at);
    for index in 0..16 {
        for generation in 0..3 {
            world.reclaim(at, Tag { index, generation }, &proof);
        }
    }
    world.port(at).driver.reset(proof);
}

/// So many transfers, one after the other, from A to B.
fn works(world: &mut World<'_>, first: u32, count: u32, what: &str) {
    for n in first..first + count {
        let tag = Tag { index: n % 16, generation: 100 + n };
        world.transfer(A, B, tag, tag, 8);
        for _ in 0..5 {
            world.step_all();
            world.reap_all();
            world.now = world.now.after(Span::from_millis(1));
        }
        for at in [A, B] {
            assert_eq!(world.ends(at, tag), [Returned::Ok], "{what}: transfer {n} at {at:?}");
        }
    }
}

/// The words of a link, as a co-tenant of its memory reaches them.
fn word(world: &World<'_>, at: (u32, usize), offset: usize) -> &'static AtomicU32 {
    let block = &world.plant.bus.node_memories[at.0 as usize].links[at.1];
    // SAFETY: in bounds and aligned; an atomic is valid for every bit pattern, and the plant
    // outlives the use that is made of it here.
    unsafe { &*block.at(offset, 4).unwrap().cast::<AtomicU32>().as_ptr() }
}

/// Each word on its own, and all of them together.
#[test]
fn any_word_that_was_overwritten() {
    let values: &[u32] = if cfg!(miri) { &[u32::MAX] } else { &[u32::MAX, 0, 0xdead_beef, 7, 1] };
    let step = if cfg!(miri) { 97 } else { 1 };
    let fixed = offset_of!(RegisterBlock, control);
    let shape = Shape::default();
    let end = shape.geometry().bytes_needed();
    for &value in values {
        for at in [A, B] {
            for offset in (fixed..end).step_by(4 * step) {
                let plant = Plant::new(Shape { start: u32::MAX - 9, ..shape });
                let mut world = plant.world();
                works(&mut world, 0, 3, "before");
                word(&world, at, offset).store(value, Ordering::Relaxed);
                recycle(&mut world, at);
                world.memory(at).write(Register::Link, LinkBits::UP.bits());
                works(&mut world, 3, 18, &format!("{value:#x} at {offset} of {at:?}"));
            }
        }
    }
}

#[test]
fn rings_full_of_anything() {
    for seed in 1..=if cfg!(miri) { 1 } else { 200 } {
        let plant = Plant::new(Shape::default());
        let (mut world, mut random) = (plant.world(), Random(seed));
        works(&mut world, 0, 1 + random.below(40), "before");
        let at = if random.below(2) == 0 { A } else { B };
        for offset in
            (offset_of!(RegisterBlock, control)..plant.shape.geometry().bytes_needed()).step_by(4)
        {
            // No claim of a live puller: only its end lets the engine stop (REG-8).
            let value = random.next() as u32;
            let value = if value & 7 == State::Busy as u32 { value ^ 1 } else { value };
            word(&world, at, offset).store(value, Ordering::Relaxed);
        }
        recycle(&mut world, at);
        world.memory(at).write(Register::Link, LinkBits::UP.bits());
        works(&mut world, 50, 60, &format!("seed {seed}"));
    }
}

/// Completions that were not taken before the reset are not taken after it: the own words have
/// told.
#[test]
fn completions_of_before_are_gone() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    for n in 0..5 {
        world.transfer(A, B, tag(n), tag(n), 64);
    }
    for _ in 0..5 {
        world.step_all();
    }
    world.port(B).driver.stop();
    let proof = world.proof(B);
    for n in 0..5 {
        assert_eq!(world.reclaim(B, tag(n), &proof), Some(Returned::Ok));
    }
    world.port(B).driver.reset(proof);
    world.settle();
    assert_eq!((0..5).map(|n| world.ends(B, tag(n)).len()).sum::<usize>(), 0);
    works(&mut world, 0, 40, "after");
}

/// Entries that were written so that they would be valid in the ring to come.
#[test]
fn completions_of_the_ring_to_come_are_gone() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    works(&mut world, 0, 3, "before");
    let memory = world.memory(B);
    let start = 0x9e37_79b9;
    for due in (0..16).map(|n: u32| start + n) {
        let entry = memory.completion(due);
        entry.index.store(5, Ordering::Relaxed);
        entry.generation.store(1, Ordering::Relaxed);
        entry.status.store(1, Ordering::Relaxed);
        entry.sequence.store(due.wrapping_add(1), Ordering::Relaxed);
    }
    recycle(&mut world, B);
    world.settle();
    assert_eq!(memory.read(Register::CompletionStart), start, "where the document says");
    assert_eq!(world.ends(B, tag(5)), []);
    works(&mut world, 3, 40, "after");
}

/// Descriptors that were not reclaimed are free after the reset, and their entries are gone.
#[test]
fn descriptors_of_before_are_free() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    let into = world.filled(1, 8);
    world.pull(B, tag(3), &into, 0, tag(3), 8);
    world.port(B).driver.stop();
    let proof = world.proof(B);
    world.port(B).driver.reset(proof);
    for index in 0..16 {
        assert!(world.memory(B).descriptor(index).unwrap().own().is(State::Free));
    }
    world.forget(B);
    works(&mut world, 0, 40, "after");
}

/// The interrupt's half is late: it has not looked since the reset, and the new ring is nearly
/// full.
#[test]
fn an_interrupt_that_is_late_finds_the_new_ring() {
    for before in 0..17 {
        let plant = Plant::new(Shape::default());
        let mut world = plant.world();
        if before > 0 {
            works(&mut world, 0, before, "before");
        }
        recycle(&mut world, B);
        for n in 0..16 {
            let late = Tag { index: n, generation: 500 };
            world.transfer(A, B, late, late, 8);
        }
        for _ in 0..40 {
            world.step_all();
            world.reap(A);
        }
        assert!(!world.port(B).queue.is_empty());
        world.settle();
        for n in 0..16 {
            assert_eq!(world.once(B, Tag { index: n, generation: 500 }), Returned::Ok);
        }
        assert!(world.port(B).queue.is_empty());
    }
}

/// It is so late that it writes the head of before over the register: the engine goes on.
#[test]
fn a_head_of_before_does_not_hold_up_the_new_ring() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    works(&mut world, 0, 3, "before");
    recycle(&mut world, B);
    world.step(B);
    world.memory(B).write(Register::CompletionHead, 4);
    works(&mut world, 3, 40, "after");
    let error = &world.memory(B).registers().error;
    assert_eq!(error.load(Ordering::Relaxed), 0);
}

/// A second reset before the interrupt has seen the first.
#[test]
fn two_resets_are_as_one() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    works(&mut world, 0, 3, "before");
    recycle(&mut world, B);
    world.settle();
    recycle(&mut world, B);
    recycle(&mut world, B);
    works(&mut world, 3, 40, "after");
}

/// A consumer that is made after a reset, or in the middle of one.
#[test]
fn a_new_consumer_finds_the_ring() {
    for stopped in [false, true] {
        let plant = Plant::new(Shape::default());
        let mut world = plant.world();
        works(&mut world, 0, 3, "before");
        if !stopped {
            recycle(&mut world, B);
            works(&mut world, 3, 2, "between");
        } else {
            world.port(B).driver.stop();
        }
        let memory = world.memory(B);
        let mut queue = CompletionQueue::new(memory, memory);
        assert_eq!(queue.pop(), None);
        if stopped {
            let proof = world.proof(B);
            world.port(B).driver.reset(proof);
            world.settle();
        }
        let [_, into] = [world.filled(0, 8), world.filled(1, 8)];
        let motion = Motion::Pull { from: nid(0), source: tag(0), key: Key::NONE };
        world.post(B, Tag { index: 7, generation: 9 }, motion, &into, 8).unwrap();
        world.port(B).driver.doorbell();
        for _ in 0..5 {
            world.step_all();
        }
        assert_eq!(queue.pop().map(|end| end.tag.index), Some(7), "{stopped}");
        assert_eq!(queue.pop(), None);
    }
}
