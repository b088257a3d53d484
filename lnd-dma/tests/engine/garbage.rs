// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Random words in everything that a device or a peer can write: no panic, no copy that an engine
//! may not ask for, bounded work. What memory says is never trusted (INV-10, R77).

use lnd_core::fragment::Fragment;
use lnd_core::id::Tag;
use lnd_core::key::Key;
use lnd_core::ports::{Bd, Completions, Engine, Motion};
use lnd_core::sync::{AtomicU32, Ordering};
use lnd_core::time::Span;
use lnd_dma::descriptor::{Own, State};
use lnd_dma::regs::{ControlBits, LinkBits, MAGIC, VERSION};
use lnd_dma::soft::Settings;

use crate::harness::{nid, At, Plant, Random, Shape, World, RETRY_BOUND, WINDOW};

const NODES: u32 = 3;
const STEPS: u32 = if cfg!(miri) { 300 } else { 100_000 };

/// A word: any, or one that leads further in.
fn word(random: &mut Random) -> u32 {
    match random.below(12) {
        0 => random.below(20),
        1 => (WINDOW as u32).wrapping_add(random.below(0x2000)),
        2 => Own::new(State::Owned, random.below(3)).0,
        3 => Own::new(State::Owned, random.below(3)).busy(random.below(NODES)).0,
        4 => Own::new(State::Done, random.below(3)).0,
        5 => 1 | (random.below(4) << 16),
        6 => 3 | (random.below(300) << 16),
        7 => 1 << random.below(32),
        8 => u32::MAX - random.below(20),
        _ => random.next() as u32,
    }
}

/// Writes one random word somewhere in a link's memory, registers included.
fn scribble(world: &World<'_>, random: &mut Random) {
    let block = &world.plant.bus.node_memories[random.below(NODES) as usize].links[0];
    let offset = random.below(block.len() as u32 / 4) as usize * 4;
    // SAFETY: in bounds and aligned; an atomic is valid for every bit pattern.
    let place = unsafe { block.at(offset, 4).unwrap().cast::<AtomicU32>().as_ref() };
    place.store(word(random), Ordering::Relaxed);
}

/// Posts a descriptor with one to five fragments in list `tag.index`.
fn post(world: &mut World<'_>, random: &mut Random, at: At, tag: Tag, motion: Motion) {
    let fragments: Vec<_> = (0..1 + random.below(5))
        .map(|_| Fragment::new(WINDOW + u64::from(random.below(4000)), 1 + random.below(900)))
        .collect();
    let held = fragments.iter().map(|f| f.length).sum::<u32>();
    let length = match motion {
        Motion::Stage { .. } => held,
        _ => random.below(held + 1),
    };
    let list = Some(tag.index as u16);
    let driver = &mut world.port(at).driver;
    // Refused at times: the descriptor may be out, or the memory say so.
    let _ = driver.post(&Bd { tag, motion, length, fragments: &fragments, list });
    driver.doorbell();
}

/// Something that a driver may do at any time.
fn drive(world: &mut World<'_>, random: &mut Random, at: At) {
    let tag = Tag { index: random.below(16), generation: random.below(3) };
    match random.below(8) {
        0..=2 => {
            let (other, source) = (random.below(NODES), tag);
            post(world, random, at, source, Motion::Stage { to: nid(other) });
            let sink = Tag { index: random.below(16), generation: random.below(3) };
            let motion = Motion::Pull { from: nid(at.0), source, key: Key::NONE };
            post(world, random, (other, 0), sink, motion);
        }
        3 => world.invalidate(at, tag),
        4 => {
            let driver = &mut world.port(at).driver;
            driver.stop();
            if let Some(proof) = driver.quiesced() {
                let _ = driver.reclaim(tag, &proof);
                driver.reset(proof);
            }
        }
        _ => while world.port(at).queue.pop().is_some() {},
    }
}

/// Brings an engine back into reach as a driver would: stop, reclaim, reset. First the registers
/// that only an intruder changes.
fn repair(world: &mut World<'_>, at: At) {
    let shape = world.plant.shape;
    let memory = world.memory(at);
    let registers = memory.registers();
    let tail = registers.completion_tail.load(Ordering::Relaxed);
    for (word, value) in [
        (&registers.magic, MAGIC),
        (&registers.version, VERSION),
        (&registers.descriptors, shape.descriptors),
        (&registers.lists, shape.lists),
        (&registers.link, LinkBits::UP.bits()),
        (&registers.control, ControlBits::ENABLE.bits()),
        (&registers.status, 0),
        (&registers.completion_head, tail),
    ] {
        word.store(value, Ordering::Relaxed);
    }
    world.port(at).driver.stop();
    for _ in 0..3 {
        world.step(at);
    }
    // Held up by a peer, or by words that say so.
    let Some(proof) = world.port(at).driver.quiesced() else { return };
    for index in 0..shape.descriptors {
        for generation in 0..3 {
            let _ = world.port(at).driver.reclaim(Tag { index, generation }, &proof);
        }
    }
    world.port(at).driver.reset(proof);
}

fn chaos(seed: u64) -> (u64, u64) {
    let settings = Settings { chunk: 500, retry_bound: RETRY_BOUND };
    let shape = Shape { nodes: NODES as usize, window: 1 << 13, settings, ..Shape::with_lists() };
    let plant = Plant::new(shape);
    plant.bus.strict.store(false, std::sync::atomic::Ordering::Relaxed);
    let mut world = plant.world();
    let mut random = Random(seed);
    let mut completions = 0;
    for _ in 0..STEPS {
        for _ in 0..random.below(3) {
            scribble(&world, &mut random);
        }
        let at = (random.below(NODES), 0);
        if random.below(8) == 0 {
            repair(&mut world, (random.below(NODES), 0));
        }
        drive(&mut world, &mut random, at);
        world.now = world.now.after(Span::from_micros(u64::from(random.below(3000))));
        let progress = world.step(at);
        completions += u64::from(progress.completions);
        // Invalidations and returns up to the budget each, and one per active pull.
        assert!(progress.completions <= 16 + 16 + 8);
    }
    plant.bus.check();
    (plant.bus.copied.load(std::sync::atomic::Ordering::Relaxed), completions)
}

#[test]
fn random_words_everywhere() {
    for seed in 1..=if cfg!(miri) { 1 } else { 2 } {
        let (bytes, completions) = chaos(seed);
        // It has not stopped at the first check.
        if !cfg!(miri) {
            assert!(bytes > 1_000_000, "seed {seed}: {bytes} bytes");
            assert!(completions > 10_000, "seed {seed}: {completions} completions");
        }
    }
}
