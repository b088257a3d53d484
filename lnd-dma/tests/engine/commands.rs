// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the thread's half of the driver writes, for each thing that the device may show.

use std::cell::{Cell, RefCell};

use lnd_core::id::{LinkId, Tag};
use lnd_core::key::Key;
use lnd_core::ports::{Bd, Engine, Motion, PostError};
use lnd_dma::descriptor::{Own, State};
use lnd_dma::driver::MmioEngine;
use lnd_dma::memory::LinkMemory;
use lnd_dma::regs::{ControlBits, Register, RegisterAccess, StatusBits};

use crate::harness::{nid, tag, Numbers, Plant, Shape};

const A: (u32, usize) = (0, 0);
const B: (u32, usize) = (1, 0);

/// A device that shows what a test wants in CONTROL and STATUS.
#[derive(Clone, Copy)]
struct Shown<'a> {
    memory: LinkMemory<'a>,
    control: &'a Cell<u32>,
    status: &'a Cell<u32>,
    written: &'a RefCell<Vec<u32>>,
}

impl RegisterAccess for Shown<'_> {
    fn read(&self, register: Register) -> u32 {
        match register {
            Register::Control => self.control.get(),
            Register::Status => self.status.get(),
            other => self.memory.read(other),
        }
    }

    fn write(&self, register: Register, value: u32) {
        if register == Register::Control {
            self.written.borrow_mut().push(value);
        } else {
            self.memory.write(register, value);
        }
    }
}

const ENABLE: u32 = 1;
const STOP: u32 = 2;
const RESET: u32 = 4;
const RUNNING: u32 = 1;
const STOPPED: u32 = 2;

const fn round(n: u32) -> u32 {
    n << 16
}

/// What the driver writes to CONTROL as it looks at the link, in turn, after a stop of round 1 and
/// the reset; where the completion ring begins then.
fn after_reset(shown: &[(u32, u32)]) -> (Vec<Vec<u32>>, u32) {
    let plant = Plant::new(Shape::default());
    let memory = plant.format(1, 0);
    let (control, status) = (Cell::new(0), Cell::new(0));
    let written = RefCell::default();
    let shows = Shown { memory, control: &control, status: &status, written: &written };
    let mut driver = MmioEngine::new(LinkId::new(0).unwrap(), shows, memory, Numbers);
    driver.stop();
    control.set(round(1) | STOP | ENABLE);
    status.set(round(1) | STOPPED);
    let proof = driver.quiesced().unwrap();
    driver.reset(proof);
    assert_eq!(
        *written.borrow(),
        [ENABLE, round(1) | STOP | ENABLE, round(1) | RESET | ENABLE],
        "the document's steps 1 and 7"
    );
    let looks = shown.iter().map(|&(shown_control, shown_status)| {
        control.set(shown_control);
        status.set(shown_status);
        written.borrow_mut().clear();
        assert!(!driver.link_up());
        written.borrow().clone()
    });
    let commands = looks.collect();
    (commands, memory.read(Register::CompletionStart))
}

/// A reset that the device does not show is repeated as it was only if the device is stopped still,
/// by the driver's own stop. Anything else is stopped again, in a round that is neither the
/// device's nor the driver's (INV-3).
#[test]
fn a_reset_is_repeated_or_preceded_by_a_stop() {
    let again = vec![round(1) | RESET | ENABLE];
    let stop = |n| vec![round(n) | STOP | ENABLE];
    let cases = [
        (round(1) | STOP | ENABLE, round(1) | STOPPED, again),
        (round(1) | STOP | ENABLE, RUNNING, stop(2)),
        (round(1) | STOP | ENABLE, round(2) | STOPPED, stop(2)),
        (round(2) | STOP | ENABLE, round(1) | STOPPED, stop(3)),
        (ENABLE, round(1) | STOPPED, stop(2)),
        (0, 0, stop(2)),
        (round(1), RUNNING, stop(2)),
        (round(0xffff) | ENABLE, RUNNING, stop(0)),
    ];
    for (control, status, expected) in cases {
        let (commands, _) = after_reset(&[(control, status)]);
        assert_eq!(commands, [expected], "CONTROL {control:#x}, STATUS {status:#x}");
    }
}

/// The second stop wants its own answer, and CONTROL as it was written.
#[test]
fn the_second_reset_waits_for_the_second_stop() {
    let lost = (0, 0);
    let stop = vec![round(2) | STOP | ENABLE];
    for not_yet in [
        (round(2) | STOP | ENABLE, RUNNING),
        (round(2) | STOP | ENABLE, round(1) | STOPPED),
        (round(2) | ENABLE, round(2) | STOPPED),
    ] {
        let (commands, start) = after_reset(&[lost, not_yet]);
        assert_eq!(commands, [stop.clone(), stop.clone()], "{not_yet:x?}");
        assert_eq!(start, 0x9e37_79b9);
    }
    let (commands, start) = after_reset(&[lost, (round(2) | STOP | ENABLE, round(2) | STOPPED)]);
    assert_eq!(commands, [stop, vec![round(2) | RESET | ENABLE]]);
    assert_eq!(start, 0x9e37_79b9_u32.wrapping_mul(2), "another ring than that of the first reset");
}

/// The ring of a reset begins far from where the interrupt may still be: more than a ring, either
/// way.
#[test]
fn a_new_ring_begins_far_from_a_late_head() {
    const NEXT: u32 = 0x9e37_79b9;
    for (ahead, far) in [(0, false), (65_536, false), (-65_536, false), (1 << 30, true)] {
        let plant = Plant::new(Shape::default());
        let mut world = plant.world();
        world.port(B).driver.stop();
        let proof = world.proof(B);
        let memory = world.memory(B);
        memory.write(Register::CompletionHead, NEXT.wrapping_add_signed(ahead));
        world.port(B).driver.reset(proof);
        let start = if far { NEXT } else { NEXT.wrapping_mul(2) };
        assert_eq!(memory.read(Register::CompletionStart), start, "{ahead}");
    }
}

/// Between the reset and its execution the old STOPPED is still shown: it is no proof any more
/// (INV-3).
#[test]
fn after_the_reset_the_stop_is_no_proof() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    world.port(B).driver.stop();
    let proof = world.proof(B);
    world.port(B).driver.reset(proof);
    let round = ControlBits(world.read(B, Register::Control)).round();
    assert_eq!(StatusBits(world.read(B, Register::Status)), StatusBits::STOPPED.in_round(round));
    assert!(world.port(B).driver.quiesced().is_none());
}

#[test]
fn to_ask_for_the_proof_writes_nothing_while_the_stop_stands() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    world.port(B).driver.stop();
    assert_eq!(world.written(B, Register::Control).len(), 2, "made, and stopped");
    assert!(world.port(B).driver.quiesced().is_none());
    world.step_all();
    assert!(world.port(B).driver.quiesced().is_some());
    assert_eq!(world.written(B, Register::Control), []);
}

/// R14: only the use that the tag names is invalidated, and only if it is out.
#[test]
fn what_is_not_out_is_not_invalidated() {
    let (is, was) = (tag(3).generation, tag(3).generation + 1);
    let cases = [
        (Own::new(State::Owned, is), true),
        (Own::new(State::Owned, is).busy(0), true),
        (Own::new(State::Owned, is).busy(0).invalidating(), true),
        (Own::new(State::Touched, is), true),
        (Own::new(State::Done, is).reporting(), false),
        (Own::new(State::Free, is), false),
        (Own::new(State::Owned, was), false),
        (Own::new(State::Owned, was).busy(0), false),
        (Own::new(State::Done, was).reporting(), false),
        (Own::new(State::Free, was), false),
    ];
    for (own, invalidated) in cases {
        let plant = Plant::new(Shape::default());
        let mut world = plant.world();
        let descriptor = world.memory(A).descriptor(3).unwrap();
        assert!(descriptor.swap(descriptor.own(), own));
        world.invalidate(A, tag(3));
        assert_eq!(world.memory(A).invalidates().any(), invalidated, "{own:x?}");
        assert_eq!(world.written(A, Register::InvalidateBell).len(), usize::from(invalidated));
    }
}

/// Until the engine is seen running, what its registers hold of before counts for nothing.
#[test]
fn a_head_counts_once_the_engine_was_seen_running() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    world.port(B).driver.stop();
    let proof = world.proof(B);
    world.port(B).driver.reset(proof);
    assert!(!world.port(B).driver.link_up(), "it has not executed the reset");
    world.memory(B).write(Register::PostHead, 0x5555);
    let into = world.filled(1, 8);
    let motion = Motion::Pull { from: nid(0), source: tag(0), key: Key::NONE };
    world.post(B, tag(1), motion, &into, 8).unwrap();
    assert!(!world.port(B).driver.is_gone());
}

/// A device that has shown nonsense is gone until a reset, though its link seems up.
#[test]
fn nonsense_is_not_forgiven_without_a_reset() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    world.step_all();
    assert!(world.port(A).driver.link_up());
    let descriptor = world.memory(A).descriptor(0).unwrap();
    assert!(descriptor.swap(descriptor.own(), Own(6)));
    let out = world.filled(0, 8);
    let bd = Bd {
        tag: Tag { index: 0, generation: 1 },
        motion: Motion::Stage { to: nid(1) },
        length: 8,
        fragments: &out.fragments,
        list: None,
    };
    assert_eq!(world.port(A).driver.post(&bd), Err(PostError::Gone));
    assert!(world.port(A).driver.link_up());
    assert!(world.port(A).driver.is_gone());
    assert!(ControlBits(world.read(A, Register::Control)).contains(ControlBits::ENABLE));
}
