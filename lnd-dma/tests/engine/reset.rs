// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! After the stop: reset, and use again (S0-11, S0-12).

use lnd_core::id::Tag;
use lnd_core::key::Key;
use lnd_core::ports::{Engine, Motion, Returned};
use lnd_dma::regs::{InterruptBits, Register, RegisterAccess};

use crate::harness::{nid, tag, Plant, Shape, World};

const A: (u32, usize) = (0, 0);
const B: (u32, usize) = (1, 0);

const fn later(index: u32) -> Tag {
    Tag { index, generation: 2 }
}

/// Stops a link, takes everything away and resets it. The engine has not seen the reset yet.
fn recycle(world: &mut World<'_>, at: (u32, usize)) {
    world.port(at).driver.stop();
    let proof = world.proof(at);
    for index in 0..16 {
        world.reclaim(at, tag(index), &proof);
    }
    world.port(at).driver.reset(proof);
}

#[test]
fn reset_then_reuse() {
    for at in [A, B] {
        let plant = Plant::new(Shape { start: u32::MAX - 3, ..Shape::default() });
        let mut world = plant.world();
        world.script(B).chunk = Some(16);
        for n in 0..12 {
            world.transfer(A, B, tag(n), tag(n), 64);
        }
        world.step_all();
        world.step_all();
        recycle(&mut world, at);
        // What was posted and not fetched is not begun any more.
        assert_eq!(world.read(at, Register::PostHead), world.read(at, Register::PostTail));
        world.settle();
        assert!(world.port(at).driver.link_up());
        // The other side's half of each is back; ours was taken away.
        let other = if at == A { B } else { A };
        for n in 0..12 {
            if world.ends(other, tag(n)).is_empty() {
                world.invalidate(other, tag(n));
            }
        }
        world.settle();
        for n in 0..12 {
            world.once(other, tag(n));
        }
        for n in 0..12 {
            let [out, into] = world.transfer(A, B, later(n), later(n), 64);
            world.settle();
            world.both((A, later(n)), (B, later(n)), Returned::Ok);
            assert_eq!(world.bytes(&out), world.bytes(&into));
        }
    }
}

/// The engine comes to the reset late: what the driver has posted and invalidated since is not
/// lost.
#[test]
fn posts_and_invalidates_between_reset_and_its_execution() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    world.transfer(A, B, tag(0), tag(0), 64);
    recycle(&mut world, B);
    let out = world.filled(0, 64);
    let (one, two) = (world.filled(1, 64), world.filled(1, 64));
    world.stage(A, later(1), &out, 1);
    world.pull(B, later(0), &one, 0, tag(0), 64);
    world.pull(B, later(1), &two, 0, later(1), 64);
    world.invalidate(B, later(1));
    world.settle();
    assert_eq!(world.once(B, later(0)), Returned::Ok);
    assert_eq!(world.once(B, later(1)), Returned::Untouched);
}

/// Another node pulls between the reset and its execution: the source hears of it.
#[test]
fn a_pull_between_reset_and_its_execution() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    recycle(&mut world, A);
    world.transfer(A, B, tag(0), tag(0), 64);
    world.step(B);
    world.settle();
    world.both((A, tag(0)), (B, tag(0)), Returned::Ok);
}

/// STOPPED of an earlier stop is no answer to this one: the engine may be about to start again.
#[test]
fn an_old_stopped_is_not_a_proof() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    recycle(&mut world, A);
    world.port(A).driver.stop();
    assert!(world.port(A).driver.quiesced().is_none());
    world.step(A);
    assert!(world.port(A).driver.quiesced().is_some());
    // Asking again does not start the wait anew.
    world.port(A).driver.stop();
    assert!(world.port(A).driver.quiesced().is_some());
}

/// Posted but not rung before the stop: never seen by the device, and not seen after the reset.
#[test]
fn posts_without_a_doorbell_are_forgotten() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    for n in 0..16 {
        let motion = Motion::Pull { from: nid(0), source: tag(n), key: Key::NONE };
        let into = world.buffer(1, &[8]);
        world.post(B, tag(n), motion, &into, 8).unwrap();
    }
    recycle(&mut world, B);
    world.port(B).driver.doorbell();
    world.settle();
    for n in 0..16 {
        assert_eq!(world.ends(B, tag(n)), []);
        // The ring has room for all of them again.
        world.transfer(A, B, later(n), later(n), 8);
    }
    world.settle();
    for n in 0..16 {
        world.both((A, later(n)), (B, later(n)), Returned::Ok);
    }
}

#[test]
fn the_error_registers_begin_anew() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    let into = world.filled(1, 64);
    world.pull(B, tag(0), &into, 0, tag(0), 64);
    world.settle();
    let registers = world.memory(B).registers();
    let read = |word: &lnd_core::sync::AtomicU32| word.load(std::sync::atomic::Ordering::Relaxed);
    assert_ne!(read(&registers.error), 0);
    assert_eq!(read(&registers.errors), 1);
    recycle(&mut world, B);
    world.settle();
    assert_eq!(read(&registers.error), 0);
    assert_eq!(read(&registers.errors), 0);
    // The reset is executed once, though its bit stays.
    world.pull(B, later(0), &into, 0, tag(0), 64);
    world.settle();
    assert_eq!(read(&registers.errors), 1);
}

/// Interrupt bits stay until the driver writes them back.
#[test]
fn pending_interrupts_are_cleared_by_writing_them() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    world.step_all();
    let memory = world.memory(A);
    memory.write(Register::InterruptMask, InterruptBits::COMPLETION.bits());
    let pending = memory.read(Register::Interrupt);
    assert_eq!(pending & InterruptBits::COMPLETION.bits(), 0);
    world.transfer(A, B, tag(0), tag(0), 64);
    world.settle();
    assert_ne!(memory.read(Register::Interrupt) & InterruptBits::COMPLETION.bits(), 0);
    memory.write(Register::Interrupt, InterruptBits::COMPLETION.bits());
    assert_eq!(memory.read(Register::Interrupt) & InterruptBits::COMPLETION.bits(), 0);
    assert_eq!(memory.read(Register::Interrupt), pending, "no other bit was touched");
}
