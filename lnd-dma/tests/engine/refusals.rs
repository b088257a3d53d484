// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Pulls of what is not there, or not for us: not a byte moves, and the pull comes back.

use lnd_core::id::Tag;
use lnd_core::ports::Returned;
use lnd_core::time::Span;
use lnd_dma::descriptor::Content;
use lnd_dma::regs::ErrorBits;

use crate::harness::{tag, Plant, Shape, World, RETRY_BOUND, WINDOW};

const A: (u32, usize) = (0, 0);
const B: (u32, usize) = (1, 0);
const C: (u32, usize) = (2, 0);

fn errors(world: &mut World<'_>, at: (u32, usize)) -> ErrorBits {
    ErrorBits(world.memory(at).registers().error.load(std::sync::atomic::Ordering::Relaxed))
}

fn three() -> Plant {
    Plant::new(Shape { nodes: 3, ..Shape::default() })
}

/// Pulls something and checks that it was refused.
fn refused(world: &mut World<'_>, at: (u32, usize), source: Tag, length: u32) {
    let into = world.filled(at.0, 1000);
    let before = world.bytes(&into);
    world.pull(at, tag(5), &into, 0, source, length);
    world.settle();
    assert_eq!(world.once(at, tag(5)), Returned::Untouched);
    assert_eq!(world.bytes(&into), before);
    assert_eq!(errors(world, at), ErrorBits::REMOTE_ACCESS);
}

#[test]
fn not_staged() {
    // S3-1: the receiver may not begin first.
    refused(&mut three().world(), B, tag(0), 64);
}

#[test]
fn no_such_descriptor() {
    refused(&mut three().world(), B, tag(16), 64);
    refused(&mut three().world(), B, tag(u32::MAX), 64);
}

#[test]
fn staged_for_another_node_or_use_or_shorter() {
    let with = |generation| Tag { index: 3, generation };
    for (at, source, length) in [
        (C, with(0x1_0001), 100),
        (B, with(0x1_0000), 100),
        (B, with(0x1_0002), 100),
        // Same lower half: only the whole generation tells.
        (B, with(0x2_0001), 100),
        (B, with(1), 100),
        (B, with(0x1_0001), 101),
    ] {
        let plant = three();
        let mut world = plant.world();
        let out = world.filled(0, 100);
        world.stage(A, with(0x1_0001), &out, 1);
        refused(&mut world, at, source, length);
        // It is still there for the right one.
        let into = world.filled(1, 100);
        world.pull(B, tag(6), &into, 0, with(0x1_0001), 100);
        world.settle();
        world.both((A, with(0x1_0001)), (B, tag(6)), Returned::Ok);
    }
}

#[test]
fn pulled_by_somebody_already_or_done() {
    let plant = three();
    let mut world = plant.world();
    world.script(B).chunk = Some(0);
    world.transfer(A, B, tag(0), tag(0), 100);
    world.step(B);
    let second = world.filled(1, 100);
    world.pull(B, tag(1), &second, 0, tag(0), 100);
    world.step(B);
    world.reap(B);
    assert_eq!(world.once(B, tag(1)), Returned::Untouched);
    world.script(B).chunk = None;
    world.settle();
    world.both((A, tag(0)), (B, tag(0)), Returned::Ok);
    let third = world.filled(1, 100);
    world.pull(B, tag(2), &third, 0, tag(0), 100);
    world.settle();
    assert_eq!(world.once(B, tag(2)), Returned::Untouched);
    assert_eq!(world.ends(A, tag(0)).len(), 1);
}

/// Not even by the node that it pulls from.
#[test]
fn a_pull_cannot_be_pulled() {
    let plant = three();
    let mut world = plant.world();
    let into = world.filled(0, 100);
    // It stays where it is: the other node does not answer.
    world.plant.bus.node_memories[1].present.store(false, std::sync::atomic::Ordering::Relaxed);
    world.pull(A, tag(0), &into, 1, tag(0), 100);
    world.step(A);
    let other = world.filled(1, 100);
    world.pull(B, tag(1), &other, 0, tag(0), 100);
    world.settle();
    assert_eq!(world.once(B, tag(1)), Returned::Untouched);
    assert_eq!(world.once(A, tag(0)), Returned::Untouched);
    assert_eq!(errors(&mut world, B), ErrorBits::REMOTE_ACCESS);
    assert_eq!(errors(&mut world, A), ErrorBits::UNREACHABLE);
}

/// Fragments outside of memory: on either side, in the first fragment or in the second.
#[test]
fn addresses_outside_of_memory() {
    for wild in [0, WINDOW - 1, 1 << 40, u64::MAX - 60] {
        for (side, at) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            let plant = Plant::new(Shape::with_lists());
            let mut world = plant.world();
            let mut buffers = [world.buffer(0, &[50, 50]), world.buffer(1, &[50, 50])];
            buffers[side].fragments[at].address = wild;
            let [out, into] = &buffers;
            world.stage(A, tag(0), out, 1);
            world.pull(B, tag(0), into, 0, tag(0), 100);
            world.settle();
            let expected = [Returned::Untouched, Returned::Touched][at];
            world.both((A, tag(0)), (B, tag(0)), expected);
            assert_eq!(errors(&mut world, B), ErrorBits::ADDRESS);
        }
    }
}

/// A descriptor that says more bytes than its fragments hold: the list's next entry is not its own.
#[test]
fn more_bytes_than_the_fragments_hold() {
    for wrong in [A, B] {
        let plant = Plant::new(Shape::with_lists());
        let mut world = plant.world();
        let (out, into) = (world.buffer(0, &[50, 50]), world.buffer(1, &[50, 50]));
        world.stage(A, tag(0), &out, 1);
        world.pull(B, tag(0), &into, 0, tag(0), 100);
        let descriptor = world.memory(wrong).descriptor(0).unwrap();
        descriptor.write(&Content { fragments: 1, ..descriptor.read() });
        world.settle();
        world.both((A, tag(0)), (B, tag(0)), Returned::Touched);
        assert_eq!(errors(&mut world, B), ErrorBits::BAD_DESCRIPTOR);
        assert_eq!(world.plant.bus.copied.load(std::sync::atomic::Ordering::Relaxed), 50);
    }
}

/// A node that does not answer: the pull gives up after its bound, and not before.
#[test]
fn nobody_there() {
    type Break = fn(&mut World<'_>);
    let absent: Break = |w| {
        w.plant.bus.node_memories[0].present.store(false, std::sync::atomic::Ordering::Relaxed);
    };
    let dead: Break = |w| w.kill(0);
    let unplugged: Break = |w| w.link(A, false);
    for broken in [absent, dead, unplugged] {
        let plant = Plant::new(Shape::default());
        let mut world = plant.world();
        let out = world.filled(0, 64);
        world.stage(A, tag(0), &out, 1);
        broken(&mut world);
        let into = world.filled(1, 64);
        world.pull(B, tag(0), &into, 0, tag(0), 64);
        world.step(B);
        world.now = world.now.after(Span::from_nanos(RETRY_BOUND.as_nanos() - 1));
        assert!(world.step(B).busy);
        assert_eq!(world.reap(B), 0, "it still tries");
        world.now = world.now.after(Span::from_nanos(1));
        world.step(B);
        world.reap(B);
        assert_eq!(world.once(B, tag(0)), Returned::Untouched);
        assert_eq!(errors(&mut world, B), ErrorBits::UNREACHABLE);
    }
}

/// A node that answers again within the bound.
#[test]
fn back_in_time() {
    let plant = three();
    let mut world = plant.world();
    world.link(A, false);
    let [out, into] = world.transfer(A, B, tag(0), tag(0), 64);
    world.step_all();
    world.now = world.now.after(Span::from_nanos(RETRY_BOUND.as_nanos() - 1));
    world.step_all();
    world.link(A, true);
    world.settle();
    world.both((A, tag(0)), (B, tag(0)), Returned::Ok);
    assert_eq!(world.bytes(&out), world.bytes(&into));
}
