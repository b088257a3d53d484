// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Defects found from outside; see README.md.
use lnd_core::id::{LinkId, Tag};
use lnd_core::key::Key;
use lnd_core::ports::Engine;
use lnd_dma::driver::MmioEngine;
use lnd_dma::memory::LinkMemory;
use lnd_dma::regs::{Register, RegisterAccess};
use std::cell::Cell;

use crate::harness::{tag, Numbers, Plant, Shape};

/// A bus whose reads fail (completion timeout): all ones. Writes are lost.
#[derive(Clone, Copy)]
struct Bus<'a> {
    memory: LinkMemory<'a>,
    dead: &'a Cell<bool>,
}
impl RegisterAccess for Bus<'_> {
    fn read(&self, register: Register) -> u32 {
        if self.dead.get() {
            u32::MAX
        } else {
            self.memory.read(register)
        }
    }
    fn write(&self, register: Register, value: u32) {
        if !self.dead.get() {
            self.memory.write(register, value)
        }
    }
}

/// S0-10: only an engine that has stopped gives the proof.
#[test]
fn a_bus_that_reads_all_ones_is_no_proof() {
    let dead = Cell::new(false);
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    let memory = world.memory((1, 0));
    let bus = Bus { memory, dead: &dead };
    let mut driver = MmioEngine::new(LinkId::new(0).unwrap(), bus, memory, Numbers);
    // A pull of 4 KiB is under way in the device; a quarter is moved.
    world.script((1, 0)).chunk = Some(1024);
    world.transfer((0, 0), (1, 0), tag(0), tag(0), 4096);
    world.step((1, 0));
    let copied = || plant.bus.copied.load(std::sync::atomic::Ordering::Relaxed);
    let before = copied();
    assert!(before > 0);
    // The bus does not answer for a moment: the driver asks for a stop and looks for the proof.
    dead.set(true);
    driver.stop();
    let proof = driver.quiesced();
    let minted = proof.is_some();
    let reclaimed = proof.as_ref().map(|p| driver.reclaim(tag(0), p));
    // The device goes on moving bytes: it was not stopped.
    world.step((1, 0));
    world.step((1, 0));
    eprintln!(
        "minted={minted} reclaimed={reclaimed:?} moved after the proof: {}",
        copied() - before
    );
    assert!(
        !minted,
        "INV-3: a proof from a device that never said stopped; {} more bytes moved",
        copied() - before
    );
    let _ = Tag { index: 0, generation: 0 };
}

/// LU-9943: a healthy transfer always finds room in the ring, whatever was invalidated before.
#[test]
fn lu9943_invalidates_do_not_use_up_the_post_ring() {
    use crate::harness::nid;
    use lnd_core::ports::{Motion, Returned};
    use lnd_core::time::Span;
    use lnd_dma::soft::Settings;
    let settings = Settings { retry_bound: Span::from_secs(3600), ..Settings::default() };
    let plant = Plant::new(Shape { nodes: 3, settings, ..Shape::default() });
    let mut world = plant.world();
    let (a, b) = ((0, 0), (1, 0));
    // Eight pulls from a node whose link is down: all of the engine's places, for a long while.
    world.link(a, false);
    for n in 0..8 {
        let into = world.filled(1, 8);
        world.pull(b, tag(n), &into, 0, tag(n), 8);
    }
    world.step(b);
    // A ninth is posted, invalidated by its deadline and comes back, again and again.
    let into = world.filled(1, 8);
    for generation in 1..100_u32 {
        let nine = Tag { index: 8, generation };
        let motion = Motion::Pull { from: nid(2), source: tag(0), key: Key::NONE };
        let posted = world.post(b, nine, motion, &into, 8);
        assert_eq!(posted, Ok(()), "post number {generation}: 9 of 16 descriptors are out");
        world.port(b).driver.doorbell();
        world.invalidate(b, nine);
        world.step(b);
        world.reap(b);
        assert_eq!(world.once(b, nine), Returned::Untouched);
    }
}

/// A device that scribbles until it is stopped (design 8) has scribbled on the completion ring:
/// after stop, proof, reclaim and reset the link works again.
#[test]
fn a_scribbled_completion_does_not_outlive_the_reset() {
    scribbled(true);
}

#[test]
fn a_scribbled_control() {
    scribbled(false);
}

fn scribbled(scribble: bool) {
    use std::sync::atomic::Ordering;
    let plant = Plant::new(Shape::default());
    let mut world = plant.world();
    let (a, b) = ((0, 0), (1, 0));
    world.transfer(a, b, tag(0), tag(0), 64);
    for _ in 0..10 {
        world.step_all();
    }
    // B's completion is posted and not taken yet; one word of the ring is overwritten.
    let memory = world.memory(b);
    let head = memory.read(Register::CompletionHead);
    if scribble {
        memory.completion(head).sequence.store(0xdead_beef, Ordering::Relaxed);
    }
    world.reap_all();
    // Nothing comes: the drain bound stops the engine, and it is reset.
    world.port(b).driver.stop();
    let proof = world.proof(b);
    world.reclaim(b, tag(0), &proof);
    world.port(b).driver.reset(proof);
    world.settle();
    let mut good = 0;
    for n in 1..200_u32 {
        let tags = Tag { index: n % 16, generation: 1 + n };
        let into = world.filled(1, 8);
        let out = world.filled(0, 8);
        world.stage(a, tags, &out, 1);
        let motion = lnd_core::ports::Motion::Pull {
            from: crate::harness::nid(0),
            source: tags,
            key: Key::NONE,
        };
        if world.post(b, tags, motion, &into, 8).is_err() {
            break;
        }
        world.port(b).driver.doorbell();
        for _ in 0..50 {
            world.step_all();
            world.reap_all();
        }
        good += u32::from(!world.ends(b, tags).is_empty());
    }
    eprintln!("{good} of 199 transfers came back after the reset");
    assert_eq!(good, 199);
}
