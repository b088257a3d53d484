// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A device, or its bus, that changes between two reads of one call (INV-2, INV-3, S0-11).

use lnd_core::id::LinkId;
use lnd_core::ports::{Completions, Engine, Returned};
use lnd_core::sync::Ordering;
use lnd_dma::driver::CompletionQueue;
use lnd_dma::regs::{ControlBits, Register, RegisterAccess, StatusBits};

use crate::gone::{on_bus, recycle, works, Bus, Change, Driver, ONES};
use crate::harness::{tag, Plant, Shape, World};

/// Where the next ring begins, counted from the last one (docs/registers.md leaves it to the
/// driver).
const NEXT: u32 = 0x9e37_79b9;

/// CONTROL changes between the two looks at it: where the ring begins is not known yet.
#[test]
fn a_start_that_is_being_written_begins_no_ring() {
    const ANOTHER_ROUND: Change =
        |register, value| if register == Register::Control { value ^ (1 << 31) } else { value };
    on_bus(|world, bus| {
        let mut driver = bus.driver();
        let mut queue = CompletionQueue::new(bus, bus.memory);
        world.step_all();
        recycle(&mut driver, world);
        bus.log.borrow_mut().clear();
        bus.change.set(Some(ANOTHER_ROUND));
        bus.right.set(1);
        assert_eq!(queue.pop(), None);
        assert!(bus.log.borrow().is_empty(), "the head was moved");
        bus.heals();
        works(&mut driver, &mut queue, world, 1);
    });
}

/// The head that the interrupt wrote last happens to be where the next ring would begin: a late
/// write of it would be taken for one of the new ring.
#[test]
fn no_ring_begins_near_the_head_that_was_written_last() {
    const AHEAD: Change = |register, value| {
        if register == Register::CompletionHead {
            value.wrapping_add(NEXT)
        } else {
            value
        }
    };
    on_bus(|world, bus| {
        let mut driver = bus.driver();
        let mut queue = CompletionQueue::new(bus, bus.memory);
        world.step_all();
        works(&mut driver, &mut queue, world, 1);
        driver.stop();
        world.step_all();
        world.step_all();
        let proof = driver.quiesced().unwrap();
        let head = bus.memory.read(Register::CompletionHead).wrapping_add(NEXT);
        bus.change.set(Some(AHEAD));
        driver.reset(proof);
        bus.heals();
        let ahead = bus.memory.read(Register::CompletionStart).wrapping_sub(head);
        assert!(ahead.min(ahead.wrapping_neg()) > 1 << 20, "begins {ahead:#x} behind the head");
        world.step_all();
        works(&mut driver, &mut queue, world, 2);
    });
}

/// The engine has stopped, the proof was given, and the reset did not reach the device.
fn lose_the_reset(driver: &mut Driver<'_>, world: &mut World<'_>, bus: Bus<'_>) {
    world.step_all();
    driver.stop();
    world.step_all();
    world.step_all();
    let proof = driver.quiesced().unwrap();
    bus.breaks(ONES);
    driver.reset(proof);
    bus.heals();
}

/// Looks at the link until it is up; the engine takes a step after each look.
fn comes_up(driver: &mut Driver<'_>, world: &mut World<'_>) {
    for _ in 0..8 {
        if driver.link_up() {
            return;
        }
        world.step_all();
    }
    panic!("the link does not come up");
}

#[test]
fn a_bus_that_fails_during_a_look_is_not_written_to() {
    on_bus(|world, bus| {
        let mut driver = bus.driver();
        let mut queue = CompletionQueue::new(bus, bus.memory);
        lose_the_reset(&mut driver, world, bus);
        for right in 0..4 {
            bus.log.borrow_mut().clear();
            bus.change.set(Some(ONES));
            bus.right.set(right);
            assert!(!driver.link_up(), "after {right} reads");
            assert!(bus.log.borrow().is_empty(), "after {right} reads");
        }
        bus.heals();
        comes_up(&mut driver, world);
        works(&mut driver, &mut queue, world, 1);
    });
}

/// CONTROL is not what it was when the engine stopped: STOPPED is no answer any more. The engine is
/// stopped in another round, and reset then.
#[test]
fn a_reset_is_not_repeated_into_another_state() {
    let forgotten: fn(ControlBits) -> ControlBits =
        |stopped| stopped.difference(ControlBits::STOP).in_round(5);
    let later: fn(ControlBits) -> ControlBits =
        |stopped| stopped.in_round(stopped.round().wrapping_add(1));
    for (what, change) in [("no stop", forgotten), ("another round", later)] {
        on_bus(|world, bus| {
            let mut driver = bus.driver();
            let mut queue = CompletionQueue::new(bus, bus.memory);
            lose_the_reset(&mut driver, world, bus);
            let stopped = ControlBits(bus.memory.read(Register::Control));
            assert!(stopped.contains(ControlBits::STOP));
            bus.memory.write(Register::Control, change(stopped).bits());
            assert!(!driver.link_up(), "{what}");
            let now = ControlBits(bus.memory.read(Register::Control));
            assert!(
                now.contains(ControlBits::STOP) && !now.contains(ControlBits::RESET),
                "{what}: {now:?}"
            );
            comes_up(&mut driver, world);
            works(&mut driver, &mut queue, world, 1);
        });
    }
}

/// The stop before a repeated reset is repeated, too, until the engine answers it.
#[test]
fn a_stop_before_a_reset_waits_for_its_answer() {
    for lost in [false, true] {
        on_bus(|world, bus| {
            let mut driver = bus.driver();
            let mut queue = CompletionQueue::new(bus, bus.memory);
            world.step_all();
            bus.breaks(ONES);
            driver.stop();
            // SAFETY: node B posts nothing to it, and nothing is staged there.
            let proof =
                unsafe { lnd_core::link::Quiesced::assert_stopped(LinkId::new(0).unwrap()) };
            driver.reset(proof);
            bus.heals();
            bus.lossy.set(lost);
            assert!(!driver.link_up());
            bus.lossy.set(false);
            // No answer yet: the engine has taken no step.
            assert!(!driver.link_up());
            let control = ControlBits(bus.memory.read(Register::Control));
            assert!(control.contains(ControlBits::STOP) && !control.contains(ControlBits::RESET));
            assert_ne!(bus.memory.read(Register::Status) & StatusBits::RUNNING.bits(), 0);
            comes_up(&mut driver, world);
            works(&mut driver, &mut queue, world, 1);
        });
    }
}

/// The post ring names a pull that has begun once more (R77).
#[test]
fn an_entry_that_is_repeated_begins_no_second_pull() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    let (a, b) = ((0, 0), (1, 0));
    world.step_all();
    let (source, sink) = (tag(3), tag(4));
    let (out, into) = (world.filled(0, 64), world.filled(1, 64));
    // The source's link is down: the pull has begun and stays.
    world.stage(a, source, &out, 1);
    world.link(a, false);
    world.pull(b, sink, &into, 0, source, 64);
    world.step(b);
    assert_eq!(world.ends(b, sink), []);
    let memory = world.memory(b);
    let tail = memory.read(Register::PostTail);
    memory.post(tail).store(sink.index, Ordering::Relaxed);
    memory.write(Register::PostTail, tail.wrapping_add(1));
    world.step(b);
    assert_eq!(memory.read(Register::PostHead), tail.wrapping_add(1), "it was looked at");
    world.link(a, true);
    world.settle();
    world.both((a, source), (b, sink), Returned::Ok);
    assert_eq!(world.bytes(&into), world.bytes(&out));
    plant.bus.check();
}
