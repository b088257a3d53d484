// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the interrupt's half reads and writes: a ring that is empty costs no register access, and a
//! new ring begins once the reset is there.

use std::cell::{Cell, RefCell};

use lnd_core::ports::Completions;
use lnd_core::sync::Ordering;
use lnd_dma::driver::CompletionQueue;
use lnd_dma::memory::LinkMemory;
use lnd_dma::regs::{ControlBits, InterruptBits, Register, RegisterAccess, MAGIC};

use crate::harness::{tag, Plant, Shape};

const A: (u32, usize) = (0, 0);
const B: (u32, usize) = (1, 0);

/// Registers whose reads are counted, and of which some say what a test wants.
struct Said<'a> {
    memory: LinkMemory<'a>,
    reads: Cell<u32>,
    /// The next two reads of CONTROL, again and again.
    controls: Cell<[u32; 2]>,
    magic: Cell<u32>,
    written: RefCell<Vec<(Register, u32)>>,
}

impl<'a> Said<'a> {
    fn new(memory: LinkMemory<'a>) -> Self {
        Self {
            memory,
            reads: Cell::default(),
            controls: Cell::default(),
            magic: Cell::new(MAGIC),
            written: RefCell::default(),
        }
    }
}

impl RegisterAccess for &Said<'_> {
    fn read(&self, register: Register) -> u32 {
        self.reads.set(self.reads.get() + 1);
        match register {
            Register::Control => {
                let [first, second] = self.controls.get();
                self.controls.set([second, first]);
                first
            }
            Register::Magic => self.magic.get(),
            other => self.memory.read(other),
        }
    }

    fn write(&self, register: Register, value: u32) {
        self.written.borrow_mut().push((register, value));
    }
}

#[test]
fn an_empty_ring_is_looked_at_in_memory_alone() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    let memory = world.memory(B);
    // The first lap, its end, and later ones.
    for n in 0..40 {
        let said = Said::new(memory);
        let mut queue = CompletionQueue::new(&said, memory);
        said.reads.set(0);
        assert!(queue.is_empty());
        assert_eq!(queue.pop(), None);
        assert_eq!(said.reads.get(), 0, "after {n} completions");
        let tag = lnd_core::id::Tag { index: n % 16, generation: n + 1 };
        world.transfer(A, B, tag, tag, 8);
        world.settle();
    }
}

/// S0-11: before and after the look at COMPLETION_START, CONTROL says that no stop is under way;
/// and the device is there.
#[test]
fn a_new_ring_begins_when_the_stop_is_over() {
    const RUNS: u32 = 0x7_0001;
    const STOPS: u32 = 0x7_0003;
    let cases: [([u32; 2], bool, u32, bool); 7] = [
        ([RUNS, RUNS], true, MAGIC, true),
        ([STOPS, STOPS], true, MAGIC, false),
        ([STOPS, RUNS], true, MAGIC, false),
        ([RUNS, STOPS], true, MAGIC, false),
        ([RUNS, RUNS | ControlBits::RESET.bits()], true, MAGIC, false),
        ([RUNS, RUNS], false, MAGIC, false),
        ([RUNS, RUNS], true, u32::MAX, false),
    ];
    for (controls, moved, magic, begins) in cases {
        let plant = Plant::new(Shape::default());
        let mut world = plant.world();
        world.transfer(A, B, tag(0), tag(0), 8);
        world.settle();
        let memory = world.memory(B);
        let said = Said::new(memory);
        let mut queue = CompletionQueue::new(&said, memory);
        // Neither as new nor of the last lap.
        memory.completion(1).sequence.store(0x1234, Ordering::Relaxed);
        if moved {
            memory.write(Register::CompletionStart, 0x9e37_79b9);
        }
        said.controls.set(controls);
        said.magic.set(magic);
        let what = format!("{controls:x?} {moved} {magic:#x}");
        assert_eq!(queue.is_empty(), !begins, "{what}");
        assert_eq!(queue.pop(), None, "{what}");
        let head = (Register::CompletionHead, 0x9e37_79b9);
        assert_eq!(*said.written.borrow(), if begins { vec![head] } else { vec![] }, "{what}");
    }
}

fn is_raised(memory: &LinkMemory<'_>) -> bool {
    InterruptBits::from_bits_retain(memory.read(Register::Interrupt))
        .contains(InterruptBits::COMPLETION)
}

/// A driver that polls is not interrupted. Once it arms the interrupt, it is, for what was posted
/// before and was not taken: it may sleep.
#[test]
fn a_completion_is_pending_only_where_it_is_armed() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    let memory = world.memory(A);
    let arm = |bits: InterruptBits| memory.write(Register::InterruptMask, bits.bits());
    arm(InterruptBits::LINK);
    world.transfer(A, B, tag(0), tag(0), 64);
    (0..4).for_each(|_| _ = world.step_all());
    assert!(!is_raised(&memory), "it is not armed");
    arm(InterruptBits::COMPLETION);
    assert!(!is_raised(&memory), "the engine raises it, in its next step");
    world.step(A);
    assert!(is_raised(&memory));
    // Once for what was posted.
    memory.write(Register::Interrupt, InterruptBits::COMPLETION.bits());
    world.step(A);
    assert!(!is_raised(&memory));
    // While it is armed, with the completion itself.
    world.settle();
    world.transfer(A, B, tag(1), tag(1), 64);
    (0..4).for_each(|_| _ = world.step_all());
    assert!(is_raised(&memory));
}

/// What the driver has found by polling wakes it not afterwards.
#[test]
fn what_was_taken_raises_no_interrupt() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    let memory = world.memory(A);
    world.transfer(A, B, tag(0), tag(0), 64);
    world.settle();
    memory.write(Register::InterruptMask, InterruptBits::COMPLETION.bits());
    world.step(A);
    assert!(!is_raised(&memory));
    world.transfer(A, B, tag(1), tag(1), 64);
    (0..4).for_each(|_| _ = world.step_all());
    assert!(is_raised(&memory), "the next one does");
}
