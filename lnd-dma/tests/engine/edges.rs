// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Memory of the wrong size, indices of nothing, and descriptors that no driver writes: each single
//! check that random words (`garbage`) may or may not meet.

use lnd_core::fragment::{Fragment, MAX_FRAGMENT, MAX_FRAGMENTS};
use lnd_core::id::Tag;
use lnd_core::ports::{Engine, Returned};
use lnd_core::sync::Ordering;
use lnd_dma::descriptor::{Content, Flags};
use lnd_dma::memory::{LayoutError, LinkGeometry, LinkMemory};
use lnd_dma::regs::{ErrorBits, Register, RegisterAccess};

use crate::harness::{tag, Plant, Shape, World};

const A: (u32, usize) = (0, 0);
const B: (u32, usize) = (1, 0);

fn error(world: &mut World<'_>) -> ErrorBits {
    ErrorBits(world.memory(B).registers().error.load(Ordering::Relaxed))
}

#[test]
fn memory_that_does_not_fit_is_refused() {
    let plant = Plant::new(Shape::default());
    let block = &plant.bus.node_memories[0].links[0];
    let (base, whole) = (block.base(), plant.shape.geometry());
    let format = |offset: usize, len: usize, descriptors: u32| {
        let (base, geometry) =
            (block.at(offset, len).unwrap(), LinkGeometry { descriptors, ..whole });
        // SAFETY: within the block; it lives as long as the plant, and no engine works on it.
        unsafe { LinkMemory::format(base, len, geometry, 0, 0, 0) }.err()
    };
    assert_eq!(format(0, block.len(), 0), Some(LayoutError::Geometry));
    assert_eq!(format(4, block.len() - 4, 1), Some(LayoutError::Size));
    assert_eq!(format(0, block.len() - 1, whole.descriptors), Some(LayoutError::Size));
    assert_eq!(format(0, block.len(), whole.descriptors), None);
    // SAFETY: as above.
    let attach = |len: usize| unsafe { LinkMemory::attach(base, len) }.err();
    assert_eq!(attach(255), Some(LayoutError::Size));
    assert_eq!(attach(block.len() - 1), Some(LayoutError::Size));
    assert_eq!(attach(block.len()), None);
}

#[test]
fn indices_beyond_the_tables_name_nothing() {
    let plant = Plant::new(Shape::with_lists());
    let mut world = plant.world();
    let (memory, lists) = (world.memory(B), plant.shape.lists);
    let fragment = Fragment::new(64, 64);
    for (list, at) in [(lists, 0), (0, MAX_FRAGMENTS), (u32::MAX, usize::MAX)] {
        assert!(!memory.write_fragment(list, at, &fragment), "{at} of {list}");
        assert_eq!(memory.read_fragment(list, at), None);
    }
    assert!(memory.write_fragment(lists - 1, MAX_FRAGMENTS - 1, &fragment));
    assert_eq!(memory.read_fragment(lists - 1, MAX_FRAGMENTS - 1), Some(fragment));
    // No request is made for a descriptor that is not there.
    world.port(B).driver.invalidate(tag(16));
    assert_eq!(world.written(B, Register::InvalidateBell), []);
    // A ring entry of a stranger is passed over, and counted.
    memory.post(0).store(16, Ordering::Relaxed);
    memory.write(Register::PostTail, 1);
    world.settle();
    assert_eq!(error(&mut world), ErrorBits::BAD_DESCRIPTOR);
}

/// Pulls 1,024 bytes with a descriptor that was changed by `change` behind its driver's back.
fn forged(pieces: usize, change: fn(Content) -> Content) -> (Returned, ErrorBits) {
    let plant = Plant::new(Shape::with_lists());
    let mut world = plant.world();
    let out = world.filled(0, 2000);
    let into = world.buffer(1, &vec![1024 / pieces as u32; pieces]);
    world.stage(A, tag(0), &out, 1);
    world.pull(B, tag(1), &into, 0, tag(0), 1024);
    let descriptor = world.memory(B).descriptor(1).unwrap();
    descriptor.write(&change(descriptor.read()));
    world.settle();
    let returned = world.once(B, tag(1));
    assert_eq!(world.once(A, tag(0)), returned);
    (returned, error(&mut world))
}

#[test]
fn fragments_that_are_none() {
    let more = |c: Content| Content { length: 1025, fragments: c.fragments + 1, ..c };
    // The list is full: what lies behind it is another's.
    assert_eq!(forged(MAX_FRAGMENTS, more), (Returned::Touched, ErrorBits::BAD_DESCRIPTOR));
    // There is room for one fragment in the descriptor itself.
    assert_eq!(forged(1, more), (Returned::Touched, ErrorBits::BAD_DESCRIPTOR));
    let nowhere = |c: Content| Content { list: u32::MAX, ..c };
    assert_eq!(forged(2, nowhere), (Returned::Untouched, ErrorBits::BAD_DESCRIPTOR));
    let direct = |c: Content| Content { flags: Flags::PULL, fragment: 0, ..c };
    assert_eq!(forged(2, direct), (Returned::Untouched, ErrorBits::BAD_DESCRIPTOR));
}

/// A fragment has 1 byte to 1 MiB.
#[test]
fn fragments_of_no_length_or_too_long_a_one() {
    for (at, length) in [(0, 0), (1, 0), (0, MAX_FRAGMENT + 1), (1, MAX_FRAGMENT + 1)] {
        let plant = Plant::new(Shape::with_lists());
        let mut world = plant.world();
        let (out, into) = (world.filled(0, 100), world.buffer(1, &[50, 30, 20]));
        world.stage(A, tag(0), &out, 1);
        world.pull(B, tag(1), &into, 0, tag(0), 100);
        let memory = world.memory(B);
        let fragment = memory.read_fragment(1, at).unwrap();
        assert!(memory.write_fragment(1, at, &Fragment::new(fragment.address, length)));
        world.settle();
        let moved = if at == 0 { Returned::Untouched } else { Returned::Touched };
        world.both((A, tag(0)), (B, tag(1)), moved);
        assert_eq!(error(&mut world), ErrorBits::BAD_DESCRIPTOR, "{length} at {at}");
    }
}

/// Entries that name nothing are passed over a few at a time, and the engine says that there are
/// more.
#[test]
fn entries_that_are_left_keep_the_engine_busy() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    world.step_all();
    let memory = world.memory(B);
    for entry in 0..3 {
        memory.post(entry).store(entry, Ordering::Relaxed);
    }
    memory.write(Register::PostTail, 3);
    world.budget = 1;
    let busy: Vec<bool> = (0..3).map(|_| world.step(B).busy).collect();
    assert_eq!(busy, [true, true, false]);
}

/// A list that changes while it is walked: an address just below the end of all addresses.
#[test]
fn an_address_that_wraps_between_two_chunks() {
    let plant = Plant::new(Shape::with_lists());
    let mut world = plant.world();
    world.script(B).chunk = Some(10);
    let (out, into) = (world.filled(0, 100), world.buffer(1, &[50, 50]));
    world.stage(A, tag(0), &out, 1);
    world.pull(B, tag(1), &into, 0, tag(0), 100);
    world.step(B);
    assert!(world.memory(B).write_fragment(1, 0, &Fragment::new(u64::MAX - 5, 50)));
    world.settle();
    world.both((A, tag(0)), (B, tag(1)), Returned::Touched);
    assert_eq!(error(&mut world), ErrorBits::BAD_DESCRIPTOR);
}

/// R17: a stop leaves a descriptor alone that is not the engine's any more, no matter who took it.
#[test]
fn a_stop_does_not_return_what_was_taken_away() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    world.script(B).chunk = Some(0);
    world.transfer(A, B, tag(0), tag(1), 100);
    world.step(B);
    let descriptor = world.memory(B).descriptor(1).unwrap();
    descriptor.free();
    let taken = descriptor.own();
    world.port(B).driver.stop();
    let proof = world.proof(B);
    assert_eq!(descriptor.own(), taken);
    assert_eq!(world.port(B).driver.reclaim(Tag { index: 1, generation: 1 }, &proof), None);
}
