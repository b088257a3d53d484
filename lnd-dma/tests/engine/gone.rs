// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A device that is not there, or says what no working device says: no proof and no event (INV-2,
//! INV-3, S0-10).

use std::cell::{Cell, RefCell};

use lnd_core::id::{LinkId, Tag};
use lnd_core::key::Key;
use lnd_core::ports::{Bd, Completions, Engine, Features, Motion, PostError, Returned};
use lnd_core::sync::Ordering;
use lnd_dma::descriptor::{Own, State};
use lnd_dma::driver::{CompletionQueue, MmioEngine};
use lnd_dma::memory::LinkMemory;
use lnd_dma::read::{ReadEnd, ReadError, ReadKind, RemoteReads};
use lnd_dma::regs::{ControlBits, InterruptBits, Register, RegisterAccess, StatusBits};

use crate::harness::{nid, tag, Numbers, Plant, Shape, World};

const A: (u32, usize) = (0, 0);
const B: (u32, usize) = (1, 0);

/// Changes what a read finds; `None`: writes are lost, too.
pub type Change = fn(Register, u32) -> u32;

/// A bus with faults.
#[derive(Clone, Copy)]
pub struct Bus<'a> {
    pub memory: LinkMemory<'a>,
    pub change: &'a Cell<Option<Change>>,
    pub lossy: &'a Cell<bool>,
    /// Writes that are still lost.
    pub lost: &'a Cell<u32>,
    /// Reads that are still right.
    pub right: &'a Cell<u32>,
    pub log: &'a RefCell<Vec<Register>>,
}

impl RegisterAccess for Bus<'_> {
    fn read(&self, register: Register) -> u32 {
        let value = self.memory.read(register);
        match self.change.get() {
            Some(change) if self.right.get() == 0 => change(register, value),
            _ => {
                self.right.set(self.right.get().saturating_sub(1));
                value
            }
        }
    }

    fn write(&self, register: Register, value: u32) {
        self.log.borrow_mut().push(register);
        let lost = self.lost.get();
        self.lost.set(lost.saturating_sub(1));
        if !self.lossy.get() && lost == 0 {
            self.memory.write(register, value);
        }
    }
}

impl Bus<'_> {
    pub fn breaks(&self, change: Change) {
        self.change.set(Some(change));
        self.lossy.set(true);
    }

    pub fn heals(&self) {
        self.change.set(None);
        self.lossy.set(false);
        self.right.set(0);
    }

    pub fn driver(&self) -> Driver<'_> {
        MmioEngine::new(LinkId::new(0).unwrap(), *self, self.memory, Numbers)
    }
}

pub type Driver<'a> = MmioEngine<'a, Bus<'a>, Numbers>;

pub const ONES: Change = |_, _| u32::MAX;
const ZEROS: Change = |_, _| 0;

/// A world whose node B is reached over a bus with faults.
pub fn on_bus(test: impl Fn(&mut World<'_>, Bus<'_>)) {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    let memory = world.memory(B);
    let (change, lossy, right) = (Cell::new(None), Cell::new(false), Cell::new(0));
    let (lost, log) = (Cell::new(0), RefCell::default());
    let bus = Bus { memory, change: &change, lossy: &lossy, lost: &lost, right: &right, log: &log };
    test(&mut world, bus);
    plant.bus.check();
}

fn pull<'a>(driver: &mut Driver<'a>, world: &mut World<'_>, sink: Tag, source: Tag) {
    let into = world.filled(1, 64);
    world.plant.bus.grant(1, &into.fragments, crate::harness::Access::Write);
    let motion = Motion::Pull { from: nid(0), source, key: Key::NONE };
    let bd = Bd { tag: sink, motion, length: 64, fragments: &into.fragments, list: None };
    driver.post(&bd).unwrap();
    driver.doorbell();
}

/// One transfer over the link works.
pub fn works(
    driver: &mut Driver<'_>,
    queue: &mut impl Completions,
    world: &mut World<'_>,
    at: u32,
) {
    let (source, sink) = (Tag { index: 9, generation: at }, Tag { index: 5, generation: at });
    let out = world.filled(0, 64);
    world.stage(A, source, &out, 1);
    pull(driver, world, sink, source);
    for _ in 0..4 {
        world.step_all();
    }
    world.reap(A);
    let end = queue.pop().expect("a completion");
    assert_eq!((end.tag, end.returned), (sink, Returned::Ok));
    assert_eq!(world.once(A, source), Returned::Ok);
}

#[test]
fn each_word_of_a_proof_must_be_right() {
    const NEARLY: [(&str, Change); 11] = [
        ("all ones", ONES),
        ("all zeros", ZEROS),
        ("no identification", |r, v| if r == Register::Magic { u32::MAX } else { v }),
        ("another's", |r, v| if r == Register::Magic { v ^ 1 } else { v }),
        ("status all ones", |r, v| if r == Register::Status { u32::MAX } else { v }),
        ("control all ones", |r, v| if r == Register::Control { u32::MAX } else { v }),
        ("both all ones", |r, v| if r == Register::Magic { v } else { u32::MAX }),
        ("a bit without a name", |r, v| if r == Register::Status { v | 8 } else { v }),
        ("stopped and running", |r, v| if r == Register::Status { v | 1 } else { v }),
        ("stopped and no clock", |r, v| if r == Register::Status { v | 4 } else { v }),
        ("another round", |r, v| if r == Register::Status { v ^ (1 << 31) } else { v }),
    ];
    for (what, change) in NEARLY {
        on_bus(|world, bus| {
            let mut driver = bus.driver();
            driver.stop();
            for _ in 0..3 {
                world.step_all();
            }
            bus.change.set(Some(change));
            assert!(driver.quiesced().is_none(), "{what}");
            assert_eq!(driver.is_gone(), !matches!(what, "another round" | "control all ones"));
            bus.change.set(None);
            assert!(driver.quiesced().is_some(), "{what}: it is stopped all the time");
            assert!(!driver.is_gone());
        });
    }
}

/// The bus may fail, or recover, between any two of the reads.
#[test]
fn a_bus_that_fails_between_two_reads_gives_no_proof() {
    for right in 0..4 {
        on_bus(|world, bus| {
            let mut driver = bus.driver();
            bus.lossy.set(true);
            driver.stop();
            world.step_all();
            bus.change.set(Some(ONES));
            bus.right.set(right);
            assert!(driver.quiesced().is_none(), "after {right} reads");
            assert!(driver.is_gone(), "after {right} reads");
        });
    }
}

/// The device does not know of the stop: it works on. The driver says it again.
#[test]
fn a_stop_that_was_lost_is_repeated() {
    on_bus(|world, bus| {
        let mut driver = bus.driver();
        let mut queue = CompletionQueue::new(bus, bus.memory);
        world.step_all();
        bus.breaks(ONES);
        driver.stop();
        assert!(driver.quiesced().is_none() && driver.is_gone());
        world.step_all();
        bus.heals();
        assert!(driver.quiesced().is_none(), "it runs");
        assert_ne!(bus.memory.read(Register::Status) & StatusBits::RUNNING.bits(), 0);
        world.step_all();
        let proof = driver.quiesced().expect("it was told again");
        driver.reset(proof);
        world.step_all();
        assert!(driver.link_up());
        works(&mut driver, &mut queue, world, 1);
    });
}

#[test]
fn a_reset_that_was_lost_is_repeated() {
    on_bus(|world, bus| {
        let mut driver = bus.driver();
        let mut queue = CompletionQueue::new(bus, bus.memory);
        world.step_all();
        works(&mut driver, &mut queue, world, 1);
        driver.stop();
        world.step_all();
        world.step_all();
        let proof = driver.quiesced().unwrap();
        bus.breaks(ONES);
        driver.reset(proof);
        assert!(!driver.link_up() && driver.is_gone());
        world.step_all();
        bus.heals();
        assert!(!driver.link_up(), "it is stopped still");
        world.step_all();
        assert!(driver.link_up() && !driver.is_gone());
        works(&mut driver, &mut queue, world, 2);
    });
}

/// The bus comes back in the middle of a reset. Without its start indices a reset would let the
/// engine and the consumer go on in two different rings.
#[test]
fn inv_15_a_reset_of_which_a_part_was_lost_is_repeated_as_a_whole() {
    for lost in 1..=6 {
        on_bus(|world, bus| {
            let mut driver = bus.driver();
            let mut queue = CompletionQueue::new(bus, bus.memory);
            world.step_all();
            works(&mut driver, &mut queue, world, 1);
            // All connections are cut, as they may be when their link is reset.
            bus.memory.write(Register::CutLow, u32::MAX);
            bus.memory.write(Register::CutHigh, u32::MAX);
            let features =
                Features(bus.memory.read(Register::Features)).union(Features::CONNECTIONS);
            bus.memory.write(Register::Features, features.0);
            driver.stop();
            world.step_all();
            world.step_all();
            let proof = driver.quiesced().unwrap();
            bus.lost.set(lost);
            driver.reset(proof);
            bus.lost.set(0);
            for _ in 0..4 {
                driver.link_up();
                world.step_all();
            }
            assert!(driver.link_up(), "{lost}");
            let cut = (bus.memory.read(Register::CutLow), bus.memory.read(Register::CutHigh));
            assert_eq!(cut, (0, 0), "{lost}");
            for at in 2..5 {
                works(&mut driver, &mut queue, world, at);
            }
        });
    }
}

/// The platform has asserted the stop, and what comes back does not remember it: it runs.
#[test]
fn a_device_that_comes_back_running_is_stopped_and_reset() {
    on_bus(|world, bus| {
        let mut driver = bus.driver();
        let mut queue = CompletionQueue::new(bus, bus.memory);
        world.step_all();
        bus.breaks(ONES);
        driver.stop();
        // SAFETY: node B posts nothing to it, and nothing is staged there.
        let proof = unsafe { lnd_core::link::Quiesced::assert_stopped(LinkId::new(0).unwrap()) };
        driver.reset(proof);
        bus.heals();
        let mut looks = 0;
        while !driver.link_up() {
            assert!(looks < 5);
            looks += 1;
            world.step_all();
        }
        assert!(looks > 1, "stopped, and then reset");
        works(&mut driver, &mut queue, world, 1);
    });
}

/// The driver's stop, its proof, and the reset; the engine has executed it.
pub fn recycle(driver: &mut Driver<'_>, world: &mut World<'_>) {
    driver.stop();
    world.step_all();
    world.step_all();
    let proof = driver.quiesced().unwrap();
    driver.reset(proof);
    world.step_all();
}

/// The interrupt has found the new ring, and what it wrote of it was lost.
#[test]
fn a_lost_head_does_not_bring_a_ring_back() {
    on_bus(|world, bus| {
        let mut driver = bus.driver();
        let mut queue = CompletionQueue::new(bus, bus.memory);
        world.step_all();
        works(&mut driver, &mut queue, world, 1);
        for n in 2..40 {
            recycle(&mut driver, world);
            bus.lossy.set(true);
            assert_eq!(queue.pop(), None);
            bus.lossy.set(false);
            // It has taken the first of that ring already, as far as it knows.
            let start = bus.memory.read(Register::CompletionStart);
            let entry = bus.memory.completion(start);
            entry.index.store(99, Ordering::Relaxed);
            entry.sequence.store(start.wrapping_add(1), Ordering::Relaxed);
            bus.lossy.set(true);
            assert_eq!(queue.pop(), None);
            bus.lossy.set(false);
            recycle(&mut driver, world);
            works(&mut driver, &mut queue, world, n);
        }
    });
}

/// The device has begun, and its new ring was found; then it loses what was written to it. The ring
/// of the second reset is another.
#[test]
fn a_device_that_forgets_its_reset_gets_another_ring() {
    on_bus(|world, bus| {
        let mut driver = bus.driver();
        let mut queue = CompletionQueue::new(bus, bus.memory);
        world.step_all();
        works(&mut driver, &mut queue, world, 1);
        recycle(&mut driver, world);
        assert_eq!(queue.pop(), None);
        works(&mut driver, &mut queue, world, 2);
        // As `link_up` has not seen it running, the driver takes it for one that never began.
        let control = ControlBits(bus.memory.read(Register::Control));
        bus.memory.write(Register::Control, control.in_round(77).bits());
        for _ in 0..5 {
            driver.link_up();
            world.step_all();
        }
        assert!(driver.link_up());
        works(&mut driver, &mut queue, world, 3);
    });
}

/// Driver and interrupt are made while the bus does not answer.
#[test]
fn a_device_that_is_late_is_taken_charge_of() {
    for change in [ONES, ZEROS] {
        on_bus(|world, bus| {
            bus.breaks(change);
            let mut driver = bus.driver();
            let mut queue = CompletionQueue::new(bus, bus.memory);
            assert!(driver.is_gone());
            assert_eq!(driver.features(), Features::empty(), "nothing is promised");
            assert!(!driver.link_up());
            assert_eq!(queue.pop(), None);
            world.step_all();
            bus.heals();
            for _ in 0..4 {
                driver.link_up();
                world.step_all();
            }
            assert!(driver.link_up() && !driver.is_gone());
            assert_ne!(driver.features(), Features::empty());
            works(&mut driver, &mut queue, world, 1);
        });
    }
}

#[test]
fn a_link_is_not_up_by_what_none_says() {
    const NOT_UP: [(&str, Change); 6] = [
        ("all ones", ONES),
        ("no identification", |r, v| if r == Register::Magic { 0 } else { v }),
        ("link all ones", |r, v| if r == Register::Link { u32::MAX } else { v }),
        ("status all ones", |r, v| if r == Register::Status { u32::MAX } else { v }),
        ("running and stopped", |r, v| if r == Register::Status { v | 2 } else { v }),
        ("control lost", |r, v| if r == Register::Control { 0 } else { v }),
    ];
    for (what, change) in NOT_UP {
        on_bus(|world, bus| {
            let mut driver = bus.driver();
            world.step_all();
            assert!(driver.link_up());
            bus.change.set(Some(change));
            assert!(!driver.link_up(), "{what}");
            assert_eq!(driver.is_gone(), matches!(what, "all ones" | "no identification"));
        });
    }
    // A round that is left over in STATUS means something with STOPPED only.
    on_bus(|world, bus| {
        let mut driver = bus.driver();
        world.step_all();
        bus.change.set(Some(|r, v| if r == Register::Status { v | 0x70000 } else { v }));
        assert!(driver.link_up());
    });
}

#[test]
fn an_impossible_interrupt_status_is_not_acknowledged() {
    on_bus(|world, bus| {
        let mut driver = bus.driver();
        let mut queue = CompletionQueue::new(bus, bus.memory);
        world.step_all();
        works(&mut driver, &mut queue, world, 1);
        let pending = bus.memory.read(Register::Interrupt);
        assert_ne!(pending, 0);
        for change in [ONES, |r, v| if r == Register::Interrupt { v | 4 } else { v }] {
            bus.change.set(Some(change));
            bus.log.borrow_mut().clear();
            assert_eq!(queue.acknowledge(), None);
            assert!(bus.log.borrow().is_empty(), "nothing is written back");
        }
        bus.change.set(None);
        assert_eq!(queue.acknowledge().map(|bits| bits.bits()), Some(pending));
        assert_eq!(bus.memory.read(Register::Interrupt), 0);
        assert_eq!(queue.acknowledge(), Some(InterruptBits::empty()));
        assert_eq!(bus.log.borrow().len(), 1, "nothing to acknowledge");
    });
}

#[test]
fn a_descriptor_in_no_state_is_not_posted() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    let out = world.filled(0, 8);
    for word in [u32::MAX, 6] {
        let descriptor = world.memory(A).descriptor(0).unwrap();
        let own = descriptor.own();
        assert!(descriptor.swap(own, Own(word)));
        let posted = world.post(A, tag(0), Motion::Stage { to: nid(1) }, &out, 8);
        assert_eq!(posted, Err(PostError::Gone));
        assert!(world.port(A).driver.is_gone());
        assert_eq!(descriptor.own(), Own(word));
    }
    assert!(!world.memory(A).descriptor(0).unwrap().own().is(State::Owned));
}

/// A full ring on a bus that does not answer is not a full ring.
#[test]
fn a_ring_that_is_full_of_ones_is_a_device_that_is_gone() {
    on_bus(|world, bus| {
        let mut driver = bus.driver();
        world.step_all();
        assert!(driver.link_up());
        for n in 0..15 {
            pull(&mut driver, world, tag(n), tag(n));
        }
        bus.change.set(Some(ONES));
        let into = world.filled(1, 8);
        let motion = Motion::Pull { from: nid(0), source: tag(0), key: Key::NONE };
        let bd = Bd { tag: tag(15), motion, length: 8, fragments: &into.fragments, list: None };
        assert_eq!(driver.post(&bd), Err(PostError::Gone));
        assert!(driver.is_gone());
    });
}

#[test]
fn unknown_bits_of_a_bus_that_fails_are_not_written() {
    on_bus(|world, bus| {
        let mut driver = bus.driver();
        world.step_all();
        let before = ControlBits(bus.memory.read(Register::Control));
        // Reads fail, writes arrive.
        bus.change.set(Some(ONES));
        driver.stop();
        let after = ControlBits(bus.memory.read(Register::Control));
        assert_eq!(after, before.stopping());
        bus.change.set(None);
        driver.stop();
        assert_eq!(ControlBits(bus.memory.read(Register::Control)), after);
    });
}

#[test]
fn a_remote_read_ends_with_what_a_device_says_that_is_there() {
    on_bus(|world, bus| {
        world.step_all();
        let mut reads = RemoteReads::new(bus);
        assert!(reads.supports(ReadKind::Zero));
        reads.begin(0, ReadKind::Zero).unwrap();
        for _ in 0..3 {
            world.step_all();
        }
        assert!(reads.has_answer());
        // The answer is there, and the bus fails while it is fetched.
        bus.change.set(Some(ONES));
        bus.right.set(2);
        assert_eq!(reads.poll(), Some(ReadEnd::Aborted));
        assert!(!reads.supports(ReadKind::Zero));
        assert_eq!(reads.begin(0, ReadKind::Zero), Err(ReadError::NotSupported));
        bus.change.set(None);
        // A ring that is lost is no reason never to ask again.
        bus.lossy.set(true);
        reads.begin(0, ReadKind::Zero).unwrap();
        assert_eq!(reads.begin(0, ReadKind::Zero), Err(ReadError::Busy));
        bus.lossy.set(false);
        world.step_all();
        assert_eq!(reads.poll(), None);
        reads.give_up();
        reads.begin(0, ReadKind::Zero).unwrap();
        for _ in 0..3 {
            world.step_all();
        }
        assert_eq!(reads.poll(), Some(ReadEnd::Ok(0)));
    });
}

/// Ring memory that reads all ones has no completion in it.
#[test]
fn a_ring_of_ones_has_nothing_to_take() {
    let start = u32::MAX - 1;
    let plant = Plant::new(Shape { start, ..Shape::default() });
    let mut world = plant.world();
    let entry = world.memory(A).completion(start);
    for word in [&entry.status, &entry.index, &entry.generation, &entry.sequence] {
        word.store(u32::MAX, Ordering::Relaxed);
    }
    // The one place where all ones is a valid sequence word: an index beyond the table.
    assert_eq!(world.port(A).queue.pop(), None);
    assert_eq!(world.port(A).queue.nonsense(), 1);
}
