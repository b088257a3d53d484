// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a pull costs in locked operations and full fences, in both engines and both drivers:
//! counted, not timed.
//!
//! The counts are process wide:
//! `cargo test -p lnd-dma --features count-ops --release --test counts -- --test-threads=1`
#![cfg(feature = "count-ops")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::ptr::NonNull;

use lnd_core::fragment::Fragment;
use lnd_core::id::{LinkId, Nid, Tag};
use lnd_core::key::Key;
use lnd_core::ports::{Bd, Completions, Engine, Motion, Returned};
use lnd_core::sync::tally;
use lnd_core::time::Instant;
use lnd_dma::driver::{CompletionQueue, MmioEngine, Nodes};
use lnd_dma::memory::{LinkGeometry, LinkMemory};
use lnd_dma::regs::{InterruptBits, LinkBits, Register, RegisterAccess};
use lnd_dma::soft::{BusAddress, BusFault, Fabric, NoFaults, Settings, SoftEngine};

const GEOMETRY: LinkGeometry = LinkGeometry { descriptors: 16, lists: 0 };
const LINK: LinkId = LinkId::new(0).unwrap();
const NOW: Instant = Instant::ORIGIN;

#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line(#[allow(dead_code)] [u32; 16]);

/// Node `n` has the NID `n + 1`. Nothing is moved: what is counted is all but the copy.
#[derive(Clone, Copy)]
struct World([LinkMemory<'static>; 2]);

impl Nodes for World {
    fn node_of(&self, nid: Nid) -> Option<u32> {
        u32::try_from(nid.raw() - 1).ok()
    }
}

impl Fabric<'static> for World {
    fn memory_of(&self, node: u32, _link: LinkId) -> Option<LinkMemory<'static>> {
        self.0.get(node as usize).copied()
    }

    fn alive(&self, _node: u32) -> bool {
        true
    }

    fn copy(&mut self, _from: BusAddress, _to: BusAddress, _length: u32) -> Result<(), BusFault> {
        Ok(())
    }
}

fn memory(node: u32) -> LinkMemory<'static> {
    let lines = vec![Line([0; 16]); GEOMETRY.bytes_needed().div_ceil(64)].leak();
    let bytes = size_of_val(lines);
    let base = NonNull::from(lines).cast();
    // SAFETY: leaked, aligned memory of its own, which nothing else uses.
    let memory = unsafe { LinkMemory::format(base, bytes, GEOMETRY, node, 3, 0) }.unwrap();
    memory.write(Register::Link, LinkBits::UP.bits());
    memory
}

/// One node's driver, interrupt and engine.
struct End {
    memory: LinkMemory<'static>,
    driver: MmioEngine<'static, LinkMemory<'static>, World>,
    queue: CompletionQueue<'static, LinkMemory<'static>>,
    engine: SoftEngine<'static, World, NoFaults>,
}

impl End {
    fn new(node: u32, world: World) -> Self {
        let memory = world.0[node as usize];
        let mut end = Self {
            memory,
            driver: MmioEngine::new(LINK, memory, memory, world),
            queue: CompletionQueue::new(memory, memory),
            engine: SoftEngine::new(node, LINK, memory, world, NoFaults, Settings::default()),
        };
        end.engine.step(NOW, 1);
        assert!(end.driver.link_up());
        end
    }

    fn post(&mut self, tag: Tag, motion: Motion) {
        let fragments = [Fragment::new(0x1000, 4096)];
        let bd = Bd { tag, motion, length: 4096, fragments: &fragments, list: None };
        self.driver.post(&bd).unwrap();
        self.driver.doorbell();
    }

    /// The engine's step, and the interrupt: completions.
    fn serve(&mut self) -> u32 {
        self.engine.step(NOW, 32);
        self.queue.acknowledge().unwrap();
        let ends = core::iter::from_fn(|| self.queue.pop());
        ends.map(|end| assert_eq!(end.returned, Returned::Ok)).count() as u32
    }
}

/// Locked operations and full fences of each `together` pulls, from the posts to both completions.
fn cost(together: u32, armed: InterruptBits) -> (usize, usize) {
    let world = World([0, 1].map(memory));
    let mut ends = [0, 1].map(|node| End::new(node, world));
    for end in &mut ends {
        end.memory.write(Register::InterruptMask, armed.bits());
        end.queue.acknowledge().unwrap();
    }
    let [source, puller] = &mut ends;
    let [to, from] = [2, 1].map(|nid| Nid::from_raw(nid).unwrap());
    let mut costs = Vec::new();
    for generation in 1..6 {
        let _ = tally::take();
        for index in 0..together {
            let tag = Tag { index, generation };
            source.post(tag, Motion::Stage { to });
            puller.post(tag, Motion::Pull { from, source: tag, key: Key::NONE });
        }
        assert_eq!(puller.serve(), together);
        assert_eq!(source.serve(), together);
        costs.push(tally::take());
        // What is left over for the next step.
        source.serve();
    }
    let last = costs[costs.len() - 1];
    assert!(costs[1..].iter().all(|cost| *cost == last), "{costs:?}");
    last
}

/// Claim and settle by the puller. Once for what it tells together: bits and summary by the puller,
/// both again by the source's engine. The fence lies between claim and the look at STOP.
#[test]
fn a_pull_costs_at_most_six_locked_operations_and_one_full_fence() {
    let (locked, fences) = cost(1, InterruptBits::empty());
    println!("one pull: {locked} locked, {fences} full fences");
    assert!(locked <= 6, "{locked}");
    assert_eq!(fences, 1);
    let (locked, fences) = cost(8, InterruptBits::empty());
    println!("eight pulls: {locked} locked, {fences} full fences");
    assert!(locked <= 8 * 2 + 4, "{locked}");
    assert_eq!(fences, 8);
}

/// An interrupt that is armed is raised and acknowledged, once a step at each end.
#[test]
fn an_armed_interrupt_costs_two_more_at_each_end() {
    for together in [1, 8] {
        let (polled, _) = cost(together, InterruptBits::empty());
        let (armed, _) = cost(together, InterruptBits::COMPLETION);
        assert_eq!(armed - polled, 4);
    }
}
