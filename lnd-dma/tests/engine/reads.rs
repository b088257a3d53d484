// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Remote reads: each result is real (REG-16, S2-4 to S2-13, R56).

use std::sync::atomic::Ordering;

use lnd_core::ports::{Engine, Features, Returned};
use lnd_core::time::Span;
use lnd_dma::memory::LinkMemory;
use lnd_dma::read::{ReadEnd, ReadError, ReadKind, RemoteReads};
use lnd_dma::regs::{ControlBits, ErrorBits, LinkBits, Register, RegisterAccess, StatusBits};

use crate::harness::{tag, Plant, Shape, World};

const A: (u32, usize) = (0, 0);
const B: (u32, usize) = (1, 0);
const KINDS: [ReadKind; 3] = [ReadKind::Illegal, ReadKind::Zero, ReadKind::Published(7)];

fn reads<'p>(world: &mut World<'p>) -> RemoteReads<LinkMemory<'p>> {
    world.step_all();
    RemoteReads::new(world.memory(A))
}

/// The end of a read, and after how many milliseconds it came.
fn end(world: &mut World<'_>, reads: &mut RemoteReads<LinkMemory<'_>>) -> (Option<ReadEnd>, u32) {
    for waited in 0..200 {
        if let Some(end) = reads.poll() {
            assert_eq!(reads.poll(), None, "an end comes once");
            return (Some(end), waited);
        }
        world.step_all();
        world.now = world.now.after(Span::from_millis(1));
    }
    (None, 200)
}

fn read(world: &mut World<'_>, kind: ReadKind) -> (Option<ReadEnd>, u32) {
    let mut reads = reads(world);
    reads.begin(B.0, kind).unwrap();
    end(world, &mut reads)
}

#[test]
fn the_living_answer_each_kind() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    assert_eq!(read(&mut world, ReadKind::Illegal).0, Some(ReadEnd::AccessError));
    assert_eq!(read(&mut world, ReadKind::Zero).0, Some(ReadEnd::Ok(0)));
    assert_eq!(read(&mut world, ReadKind::Published(7)).0, Some(ReadEnd::AccessError));
    let mut peer = RemoteReads::new(world.memory(B));
    peer.publish(7, 0xfeed);
    assert_eq!(read(&mut world, ReadKind::Published(7)).0, Some(ReadEnd::Ok(0xfeed)));
    assert_eq!(read(&mut world, ReadKind::Published(8)).0, Some(ReadEnd::AccessError));
    assert_eq!(read(&mut world, ReadKind::Published(0)).0, Some(ReadEnd::AccessError));
    peer.publish(0, 0);
    assert_eq!(read(&mut world, ReadKind::Published(7)).0, Some(ReadEnd::AccessError));
}

/// S2-5: nothing listens there: full rings, no driver that looks; the engine answers all the same.
#[test]
fn a_silent_driver_is_no_dead_node() {
    let plant = Plant::new(Shape { descriptors: 2, ..Shape::default() });
    let mut world = plant.world();
    world.step_all();
    for index in 0..2 {
        world.transfer(A, B, tag(index), tag(index), 64);
    }
    for _ in 0..5 {
        world.step_all();
    }
    // Nothing takes completions at B: its ring is full.
    for kind in KINDS {
        let end = read(&mut world, kind).0;
        assert!(matches!(end, Some(ReadEnd::Ok(_) | ReadEnd::AccessError)), "{kind:?}: {end:?}");
    }
}

/// S2-6, S2-11: retry exhausted, and not before the retry bound.
#[test]
fn the_dead_exhaust_the_retries() {
    for kind in KINDS {
        for how in 0..4 {
            let plant = Plant::new(Shape::default());
            let mut world = plant.world();
            world.step_all();
            match how {
                0 => world.kill(B.0),
                1 => world.link(B, false),
                2 => plant.bus.node_memories[1].present.store(false, Ordering::Relaxed),
                _ => world.port(B).driver.stop(),
            }
            let (end, waited) = read(&mut world, kind);
            assert_eq!(end, Some(ReadEnd::RetryExhausted), "{kind:?} {how}");
            assert!((20..25).contains(&waited), "{kind:?} {how}: after {waited} ms");
        }
    }
}

/// S2-11: it ends at the bound, and at no earlier attempt.
#[test]
fn the_retries_end_at_their_bound() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    let mut reads = reads(&mut world);
    world.kill(B.0);
    let begun = world.now;
    reads.begin(B.0, ReadKind::Zero).unwrap();
    for waited in [Span::from_millis(0), Span::from_micros(19_999)] {
        world.now = begun.after(waited);
        world.step(A);
        assert_eq!(reads.poll(), None);
    }
    world.now = begun.after(Span::from_millis(20));
    world.step(A);
    assert_eq!(reads.poll(), Some(ReadEnd::RetryExhausted));
}

/// A read is under way from its beginning until its answer is there or it is given up.
#[test]
fn a_read_is_under_way_until_its_answer_is_there() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    let mut reads = reads(&mut world);
    assert!(!reads.is_under_way());
    assert_eq!(reads.begin(256, ReadKind::Zero), Err(ReadError::BadNode));
    reads.begin(255, ReadKind::Zero).expect("the last number that a node may have");
    assert!(reads.is_under_way());
    reads.give_up();
    assert!(!reads.is_under_way());
    world.settle();
    reads.begin(B.0, ReadKind::Zero).unwrap();
    assert!(reads.is_under_way());
    world.step(A);
    assert!(reads.has_answer() && !reads.is_under_way());
    assert_eq!(reads.poll(), Some(ReadEnd::Ok(0)));
    assert!(!reads.is_under_way());
}

/// S2-8: a break that is shorter than the retries is not seen at all.
#[test]
fn a_path_that_migrates_in_time_is_alive() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    let mut reads = reads(&mut world);
    world.link(B, false);
    reads.begin(B.0, ReadKind::Zero).unwrap();
    for _ in 0..15 {
        world.step_all();
        world.now = world.now.after(Span::from_millis(1));
        assert_eq!(reads.poll(), None);
    }
    world.link(B, true);
    assert_eq!(end(&mut world, &mut reads).0, Some(ReadEnd::Ok(0)));
}

/// S2-13: what happens on the own side says nothing of the other one.
#[test]
fn own_trouble_is_unknown() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    let mut reads = reads(&mut world);
    world.link(A, false);
    reads.begin(B.0, ReadKind::Zero).unwrap();
    assert_eq!(end(&mut world, &mut reads).0, None, "no clock, no answer");
    assert_eq!(reads.begin(B.0, ReadKind::Zero), Err(ReadError::Busy));
    // With the clock back the attempts begin; the time without them does not count.
    world.link(B, false);
    world.link(A, true);
    let (answer, waited) = end(&mut world, &mut reads);
    assert_eq!(answer, Some(ReadEnd::RetryExhausted));
    assert!(waited >= 20, "after {waited} ms");
    // A stop.
    reads.begin(B.0, ReadKind::Zero).unwrap();
    world.step_all();
    world.port(A).driver.stop();
    assert_eq!(end(&mut world, &mut reads).0, Some(ReadEnd::Aborted));
}

#[test]
fn an_answer_that_none_waits_for_is_nobodys() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    let mut reads = reads(&mut world);
    reads.begin(B.0, ReadKind::Illegal).unwrap();
    reads.give_up();
    assert_eq!(reads.poll(), None);
    assert_eq!(reads.begin(B.0, ReadKind::Zero), Err(ReadError::Busy));
    world.step_all();
    assert_eq!(reads.poll(), None);
    reads.begin(B.0, ReadKind::Zero).unwrap();
    assert_eq!(end(&mut world, &mut reads).0, Some(ReadEnd::Ok(0)));
}

#[test]
fn what_the_engine_lacks_is_refused() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    let memory = world.memory(A);
    memory.write(Register::Features, (Features::REMOTE_COMPLETION | Features::ZERO_READ).bits());
    let mut reads = reads(&mut world);
    assert_eq!(reads.begin(B.0, ReadKind::Illegal), Err(ReadError::NotSupported));
    assert_eq!(reads.begin(B.0, ReadKind::Published(7)), Err(ReadError::NotSupported));
    assert_eq!(reads.begin(256, ReadKind::Zero), Err(ReadError::BadNode));
    assert_eq!(reads.begin(B.0, ReadKind::Zero), Ok(()));
}

/// S2-4, REG-16: a read takes nothing from the transfers, on either side.
#[test]
fn transfers_go_on_meanwhile() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    let mut reads = reads(&mut world);
    for round in 0..10 {
        let it = lnd_core::id::Tag { index: 0, generation: round + 1 };
        reads.begin(B.0, ReadKind::Illegal).unwrap();
        world.transfer(B, A, it, it, 1024);
        world.settle();
        world.both((B, it), (A, it), Returned::Ok);
        assert_eq!(reads.poll(), Some(ReadEnd::AccessError));
    }
    assert_eq!(world.read(B, Register::ReadDone), 0, "nothing of it at the other end");
    let error = ErrorBits::from_bits_retain(
        plant.bus.memory(0, 0).unwrap().registers().error.load(lnd_core::sync::Ordering::Relaxed),
    );
    assert_eq!(error, ErrorBits::REMOTE_ACCESS);
}

/// S2-12: hardware that a bad read breaks; a stop and a reset mend it.
#[test]
fn a_fragile_engine_is_found_out() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    world.script(A).fragile = true;
    assert_eq!(read(&mut world, ReadKind::Illegal).0, Some(ReadEnd::AccessError));
    world.step_all();
    assert!(!world.port(A).driver.link_up(), "the check at the start sees this");
    assert_eq!(read(&mut world, ReadKind::Zero).0, None, "it does nothing any more");
    world.port(A).driver.stop();
    let proof = world.proof(A);
    world.port(A).driver.reset(proof);
    world.step_all();
    assert!(world.port(A).driver.link_up());
    assert_eq!(read(&mut world, ReadKind::Zero).0, Some(ReadEnd::Ok(0)));
}

/// Nothing in the registers is trusted (REG-8).
#[test]
fn nonsense_ends_as_well() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    world.step_all();
    let memory = world.memory(A);
    for (node, key, length) in
        [(9999, 0, 4), (0, 7, 4), (1, 7, 5), (1, 0, u32::MAX), (u32::MAX, 1, 0)]
    {
        memory.write(Register::ReadNode, node);
        memory.write(Register::ReadKey, key);
        memory.write(Register::ReadLength, length);
        memory.write(Register::ReadBell, memory.read(Register::ReadDone).wrapping_sub(5));
        world.settle();
        assert_eq!(memory.read(Register::ReadDone), memory.read(Register::ReadBell));
        assert!((1..=4).contains(&memory.read(Register::ReadEnd)));
    }
    memory.write(Register::ReadEnd, 99);
    assert!(ControlBits(memory.read(Register::Control)).contains(ControlBits::ENABLE));
    assert!(StatusBits(memory.read(Register::Status)).contains(StatusBits::RUNNING));
    assert!(LinkBits(memory.read(Register::Link)).contains(LinkBits::UP));
}
