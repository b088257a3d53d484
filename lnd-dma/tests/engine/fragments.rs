// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Fragment lists of different shapes on the two sides.

use lnd_core::ports::Returned;

use crate::harness::{tag, Plant, Random, Shape, World};

const A: (u32, usize) = (0, 0);
const B: (u32, usize) = (1, 0);

fn moves(world: &mut World<'_>, index: u32, out: &[u32], into: &[u32], seed: u64) {
    let (out, into) = (world.buffer(0, out), world.buffer(1, into));
    world.fill(&out, seed);
    let length = out.len().min(into.len());
    world.stage(A, tag(index), &out, 1);
    world.pull(B, tag(index), &into, 0, tag(index), length);
    world.settle();
    world.both((A, tag(index)), (B, tag(index)), Returned::Ok);
    let cut = length as usize;
    assert!(world.bytes(&out)[..cut] == world.bytes(&into)[..cut], "seed {seed}");
}

#[test]
fn two_hundred_and_fifty_six_odd_fragments_on_both_sides() {
    let (most, window) = if cfg!(miri) { (9, 1 << 13) } else { (3001, 2 << 20) };
    let plant = Plant::new(Shape { window, ..Shape::with_lists() });
    let mut world = plant.world();
    let mut random = Random(256);
    let pieces = if cfg!(miri) { 40 } else { 256 };
    let mut odd = || (0..pieces).map(|_| random.below(most) | 1).collect::<Vec<_>>();
    let (out, into) = (odd(), odd());
    moves(&mut world, 0, &out, &into, 1);
}

#[test]
fn any_split_against_any_other() {
    let (rounds, total, most) = if cfg!(miri) { (6, 300, 40) } else { (200, 40_000, 900) };
    for round in 0..rounds {
        let mut random = Random(round);
        let window = if cfg!(miri) { 1 << 11 } else { 1 << 17 };
        let plant = Plant::new(Shape { window, ..Shape::with_lists() });
        let mut world = plant.world();
        // From one piece a side to many.
        let most = [most, 1 + random.below(most), total][round as usize % 3];
        let mut split = || loop {
            let most = most.max(total / 100);
            let pieces = random.split(total, most);
            if pieces.len() <= 256 {
                return pieces;
            }
        };
        let (out, into) = (split(), split());
        world.script(B).chunk = (round % 2 == 1).then_some(777);
        moves(&mut world, 0, &out, &into, round);
    }
}

/// 256 fragments of one byte against one of 256 bytes: more crossings than one chunk allows.
#[test]
fn one_byte_fragments() {
    let plant = Plant::new(Shape::with_lists());
    let mut world = plant.world();
    let ones = &[1; 256][..if cfg!(miri) { 40 } else { 256 }];
    let one = &[ones.len() as u32];
    moves(&mut world, 0, ones, one, 1);
    moves(&mut world, 1, one, ones, 2);
    moves(&mut world, 2, ones, ones, 3);
}

/// Fragments that hold more than the transfer is long.
#[test]
fn fragments_may_hold_more_than_the_length() {
    let plant = Plant::new(Shape::with_lists());
    let mut world = plant.world();
    moves(&mut world, 0, &[100, 100, 100], &[50, 70], 1);
    moves(&mut world, 1, &[33, 44], &[100, 100, 100], 2);
}
