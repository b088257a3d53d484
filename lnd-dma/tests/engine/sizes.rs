// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Stage, then pull (S3-1, S3-4): every size, byte for byte.

use lnd_core::id::Tag;
use lnd_core::ports::Returned;

use crate::harness::{tag, Plant, Random, Shape};

const A: (u32, usize) = (0, 0);
const B: (u32, usize) = (1, 0);

/// Lengths to move. Miri copies slowly.
const LENGTHS: &[u32] = if cfg!(miri) {
    &[0, 1, 2, 63, 64, 65, 4095, 4096, 4097]
} else {
    &[0, 1, 2, 63, 64, 65, 4095, 4096, 4097, 65_537, 262_143, 262_144, 262_145, 1 << 20]
};

#[test]
fn every_length_arrives() {
    let longest = *LENGTHS.last().unwrap();
    for &length in LENGTHS {
        let plant = Plant::new(Shape { window: longest as usize * 2 + 64, ..Shape::default() });
        let mut world = plant.world();
        let [out, into] = world.transfer(A, B, tag(3), tag(7), length);
        world.settle();
        world.both((A, tag(3)), (B, tag(7)), Returned::Ok);
        assert!(world.bytes(&out) == world.bytes(&into), "{length} bytes");
    }
}

#[test]
fn four_mebibytes_arrive() {
    if cfg!(miri) {
        return;
    }
    let plant = Plant::new(Shape { window: 5 << 20, ..Shape::with_lists() });
    let mut world = plant.world();
    let out = world.buffer(0, &[1 << 20; 4]);
    let into = world.buffer(1, &[1 << 20; 4]);
    world.fill(&out, 4);
    world.stage(A, tag(0), &out, 1);
    world.pull(B, tag(0), &into, 0, tag(0), 4 << 20);
    world.settle();
    world.both((A, tag(0)), (B, tag(0)), Returned::Ok);
    assert!(world.bytes(&out) == world.bytes(&into));
}

#[test]
fn a_pull_may_be_shorter_than_what_is_staged() {
    for short in [0, 1, 700] {
        let plant = Plant::new(Shape::default());
        let mut world = plant.world();
        let out = world.filled(0, 1000);
        let into = world.filled(1, 1000);
        let before = world.bytes(&into);
        world.stage(A, tag(0), &out, 1);
        world.pull(B, tag(0), &into, 0, tag(0), short);
        world.settle();
        world.both((A, tag(0)), (B, tag(0)), Returned::Ok);
        let (cut, bytes) = (short as usize, world.bytes(&into));
        assert_eq!(bytes[..cut], world.bytes(&out)[..cut]);
        assert_eq!(bytes[cut..], before[cut..], "bytes beyond the pull's length were written");
    }
}

#[test]
fn a_node_may_pull_from_itself() {
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    let [out, into] = world.transfer(A, A, tag(0), tag(1), 5000);
    world.settle();
    world.both((A, tag(0)), (A, tag(1)), Returned::Ok);
    assert_eq!(world.bytes(&out), world.bytes(&into));
}

/// Three nodes, two links, every node to every other, indices that wrap on the way.
#[test]
fn rings_wrap() {
    let laps = if cfg!(miri) { 3 } else { 12 };
    for start in [u32::MAX, u32::MAX - 1, u32::MAX - 17, u32::MAX - 31, 0] {
        let plant = Plant::new(Shape { nodes: 3, links: 2, start, ..Shape::default() });
        let mut world = plant.world();
        let mut random = Random(7);
        for generation in 1..=laps {
            let mut moved = Vec::new();
            for (from, to) in (0..3_u32).flat_map(|from| (0..3_u32).map(move |to| (from, to))) {
                let link = (generation + from + to) as usize % 2;
                let source = ((from, link), Tag { index: to, generation });
                let sink = ((to, link), Tag { index: 15 - from, generation });
                let length = random.below(200);
                let buffers = world.transfer(source.0, sink.0, source.1, sink.1, length);
                moved.push((source, sink, buffers));
            }
            world.settle();
            for (source, sink, [out, into]) in moved {
                world.both(source, sink, Returned::Ok);
                assert_eq!(world.bytes(&out), world.bytes(&into), "from {start}");
            }
        }
    }
}

/// The smallest table: one descriptor on each side.
#[test]
fn one_descriptor_is_enough() {
    let plant = Plant::new(Shape { descriptors: 1, ..Shape::default() });
    let mut world = plant.world();
    for generation in 1..=5 {
        let tag = Tag { index: 0, generation };
        let [out, into] = world.transfer(A, B, tag, tag, 100 * generation);
        world.settle();
        world.both((A, tag), (B, tag), Returned::Ok);
        assert_eq!(world.bytes(&out), world.bytes(&into));
    }
}

/// Many at once: more than the engine works on at a time, over every descriptor there is.
/// S3-12, R25: more pulls than the engine works on at a time.
#[test]
fn every_descriptor_at_once() {
    let descriptors = if cfg!(miri) { 40 } else { 1000 };
    let window = descriptors as usize * 512;
    let plant = Plant::new(Shape { descriptors, window, ..Shape::default() });
    let mut world = plant.world();
    let buffers: Vec<_> = (0..descriptors)
        .map(|n| world.transfer(A, B, tag(n), tag(descriptors - 1 - n), 1 + n % 256))
        .collect();
    world.settle();
    for (n, [out, into]) in (0..).zip(&buffers) {
        world.both((A, tag(n)), (B, tag(descriptors - 1 - n)), Returned::Ok);
        assert_eq!(world.bytes(out), world.bytes(into));
    }
}
