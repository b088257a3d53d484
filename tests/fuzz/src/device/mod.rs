// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The MMIO driver and the software engine of two nodes: buses that do not answer for a while, and
//! memory in which any side writes anything.
//!
//! The oracle is on the engines' side. It does not ask the registers whether a proof is right: it
//! looks whether a byte moves after the proof, and whether each byte that moves is lent. At the end
//! the buses are healed, and every link must be proven stopped, be reset, and work.

mod bus;

use std::cell::{Cell, RefCell};
use std::ptr::NonNull;
use std::rc::Rc;

use arbitrary::{Arbitrary, Unstructured};
use lnd_core::fragment::Fragment;
use lnd_core::id::{LinkId, Nid, Tag};
use lnd_core::key::Key;
use lnd_core::link::Quiesced;
use lnd_core::ports::{Bd, Completions, Engine, Motion, PostError, Returned};
use lnd_core::sync::{AtomicU32, Ordering};
use lnd_core::time::{Instant, Span};
use lnd_dma::descriptor::State;
use lnd_dma::driver::{CompletionQueue, MmioEngine, Nodes};
use lnd_dma::memory::{LinkGeometry, LinkMemory};
use lnd_dma::regs::{LinkBits, Register, RegisterAccess, MAGIC, VERSION};
use lnd_dma::soft::{NoFaults, Settings, SoftEngine};
use lnd_shortmsg::mailbox::Line;

use bus::{Bus, Fault, Registers, Rules, NODES, WINDOW};

const GEOMETRY: LinkGeometry = LinkGeometry { descriptors: 6, lists: 6 };
/// Payload of each slot, and of each fragment in it.
const SLOT: (u64, u64) = (640, 150);
/// Words of the register block.
const REGISTERS: usize = 64;
/// Registers that say where rings stand, by word: what is lost with them is found again.
const RINGS: [usize; 7] = [17, 18, 19, 20, 28, 33, 34];

/// Who writes memory besides drivers and engines.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq)]
enum World {
    /// No node.
    Faults,
    /// A co-tenant: rings, descriptors, lists and bitmaps.
    Rings,
    /// A co-tenant: any word. It may forge what a device says.
    Anything,
}

#[derive(Arbitrary, Debug)]
enum Op {
    /// One half of a transfer.
    Post {
        node: bool,
        slot: u8,
        source: u8,
        pull: bool,
        pieces: u8,
        length: u16,
    },
    /// Both halves, from `node` to the other one, and both doorbells.
    Transfer {
        node: bool,
        slot: u8,
        sink: u8,
        pieces: u8,
    },
    Doorbell(bool),
    Invalidate {
        node: bool,
        slot: u8,
        older: u8,
    },
    Stop(bool),
    /// Looks for the proof.
    Look(bool),
    Reclaim {
        node: bool,
        slot: u8,
        older: u8,
    },
    Reset(bool),
    /// Stop, steps, proof, reclaims, reset: as far as it gets.
    Recover(bool),
    /// How the bus to a node's registers behaves from now on.
    Fault {
        node: bool,
        fault: Fault,
    },
    /// A well-formed entry with any content where the next completion is expected.
    Complete {
        node: bool,
        slot: u32,
        generation: u32,
        status: u32,
    },
    Pop(bool),
    /// The interrupt is acknowledged.
    Acknowledge(bool),
    /// A word of a node's link memory.
    Write {
        node: bool,
        word: u16,
        value: u32,
    },
    /// A value that leads further in: small numbers, own words, near the wrap.
    WriteKnown {
        node: bool,
        word: u16,
        value: u8,
        shift: u8,
    },
    Link {
        node: bool,
        up: bool,
    },
    /// The engines work.
    Step {
        node: bool,
        budget: u8,
        micros: u16,
    },
}

struct Numbers;

impl Nodes for Numbers {
    fn node_of(&self, nid: Nid) -> Option<u32> {
        Some((nid.raw() - 1) as u32)
    }
}

/// One node.
struct Node<'m> {
    memory: LinkMemory<'m>,
    base: NonNull<u8>,
    fault: Rc<Cell<Fault>>,
    driver: MmioEngine<'m, Registers<'m>, Numbers>,
    queue: CompletionQueue<'m, Registers<'m>>,
    engine: SoftEngine<'m, Bus<'m>, NoFaults>,
    proof: Option<Quiesced>,
    /// The last use of each slot.
    generation: u32,
    tags: [Tag; GEOMETRY.descriptors as usize],
}

struct Plant<'m> {
    world: World,
    nodes: [Node<'m>; NODES],
    rules: Rc<RefCell<Rules>>,
    alive: Rc<Cell<bool>>,
    now: Instant,
}

/// INV-2, INV-3, INV-10, R77, S0-11: no panic, no access outside of memory, bounded work; no byte
/// moves after a proof; no index beyond the table is ever passed on; what was lost or overwritten
/// is over with the reset.
pub fn device(data: &[u8]) {
    let mut input = Unstructured::new(data);
    let start = u32::arbitrary(&mut input).unwrap_or(0);
    let world = World::arbitrary(&mut input).unwrap_or(World::Faults);
    let lines = GEOMETRY.bytes_needed().div_ceil(64);
    let mut blocks = [vec![Line::ZERO; lines], vec![Line::ZERO; lines]];
    let bases = blocks.each_mut().map(|block| NonNull::from(block.as_mut_slice()).cast::<u8>());
    let mut plant = Plant::new(world, bases, lines * 64, start);
    while let Ok(op) = Op::arbitrary(&mut input) {
        plant.apply(&op);
        if input.is_empty() {
            break;
        }
    }
    plant.end();
}

impl<'m> Plant<'m> {
    fn new(world: World, bases: [NonNull<u8>; NODES], bytes: usize, start: u32) -> Self {
        let link = LinkId::new(0).expect("there is a first link");
        let memories = [0, 1].map(|node: usize| {
            // SAFETY: the block outlives the plant and is accessed by words only; no engine runs.
            unsafe { LinkMemory::format(bases[node], bytes, GEOMETRY, node as u32, 3, start) }
                .expect("the block is large enough")
        });
        memories.iter().for_each(|memory| memory.write(Register::Link, LinkBits::UP.bits()));
        let (strict, forged) = (world == World::Faults, world == World::Anything);
        let rules = Rc::new(RefCell::new(Rules { strict, forged, ..Rules::default() }));
        let alive = Rc::new(Cell::new(true));
        let payloads = Rc::new(RefCell::new([vec![1; 4096], vec![2; 4096]]));
        let bus = Bus { memories, payloads, rules: Rc::clone(&rules), alive: Rc::clone(&alive) };
        let settings = Settings { chunk: 16, retry_bound: Span::from_millis(1) };
        let node = |number: usize| {
            let (memory, fault) = (memories[number], Rc::new(Cell::new(Fault::None)));
            let registers = Registers { memory, fault: Rc::clone(&fault) };
            let (n, bus) = (number as u32, bus.clone());
            Node {
                memory,
                base: bases[number],
                fault,
                driver: MmioEngine::new(link, registers.clone(), memory, Numbers),
                queue: CompletionQueue::new(registers, memory),
                engine: SoftEngine::new(n, link, memory, bus, NoFaults, settings),
                proof: None,
                generation: 0,
                tags: std::array::from_fn(|slot| Tag { index: slot as u32, generation: 0 }),
            }
        };
        Self { world, nodes: [node(0), node(1)], rules, alive, now: Instant::ORIGIN }
    }

    fn apply(&mut self, op: &Op) {
        match *op {
            Op::Post { node, slot, source, pull, pieces, length } => {
                let source = self.nodes[usize::from(!node)].tag(source, 0);
                self.post(usize::from(node), slot, pull.then_some(source), pieces, length);
            }
            Op::Transfer { node, slot, sink, pieces } => {
                let (from, to) = (usize::from(node), usize::from(!node));
                self.post(from, slot, None, pieces, u16::MAX);
                let source = self.nodes[from].tag(slot, 0);
                self.post(to, sink, Some(source), pieces, u16::MAX);
                self.nodes.iter_mut().for_each(|node| node.driver.doorbell());
            }
            Op::Doorbell(node) => self.node(node).driver.doorbell(),
            Op::Invalidate { node, slot, older } => {
                let tag = self.node(node).tag(slot, older);
                self.node(node).driver.invalidate(tag);
            }
            Op::Stop(node) => self.node(node).driver.stop(),
            Op::Look(node) => self.look(usize::from(node)),
            Op::Reclaim { node, slot, older } => {
                let tag = self.node(node).tag(slot, older);
                self.reclaim(usize::from(node), tag);
            }
            Op::Reset(node) => self.reset(usize::from(node)),
            Op::Recover(node) => {
                self.node(node).driver.stop();
                (0..4).for_each(|_| self.step_both());
                self.look(usize::from(node));
                self.reclaim_all(usize::from(node));
                self.reset(usize::from(node));
            }
            Op::Fault { node, fault } => self.node(node).fault.set(fault),
            Op::Complete { node, slot, generation, status } => {
                self.complete(usize::from(node), slot, generation, status);
            }
            Op::Pop(node) => self.pop_all(usize::from(node)),
            Op::Acknowledge(node) => {
                if let Some(bits) = self.node(node).queue.acknowledge() {
                    assert_eq!(bits.bits() & !3, 0, "{bits:?}");
                }
            }
            Op::Write { node, word, value } => self.set(usize::from(node), word, value),
            Op::WriteKnown { node, word, value, shift } => {
                let value = u32::from(value).rotate_left(u32::from(shift));
                self.set(usize::from(node), word, value);
            }
            Op::Link { node, up } => {
                let bits = if up { LinkBits::UP.bits() } else { 0 };
                self.node(node).memory.write(Register::Link, bits);
            }
            Op::Step { node, budget, micros } => {
                self.now = self.now.after(Span::from_micros(u64::from(micros)));
                self.step(usize::from(node), u32::from(budget));
            }
        }
        for node in &mut self.nodes {
            let _ = (node.driver.features(), node.driver.is_gone(), node.queue.is_empty());
        }
    }

    fn node(&mut self, node: bool) -> &mut Node<'m> {
        &mut self.nodes[usize::from(node)]
    }

    fn step(&mut self, node: usize, budget: u32) {
        let progress = self.nodes[node].engine.step(self.now, budget);
        let most = budget * 2 + 64;
        assert!(progress.completions <= most, "{} completions", progress.completions);
    }

    fn step_both(&mut self) {
        self.now = self.now.after(Span::from_millis(1));
        (0..NODES).for_each(|node| self.step(node, 8));
    }

    /// Posts in a slot, unless the driver's user has still to hear of its last use.
    fn post(&mut self, node: usize, slot: u8, source: Option<Tag>, pieces: u8, length: u16) {
        // One beyond the table is possible.
        let slot = u32::from(slot) % (GEOMETRY.descriptors + 1);
        if self.rules.borrow().lent.contains_key(&(node, slot)) {
            return;
        }
        let place = |n: u8| WINDOW.0 + u64::from(slot) * SLOT.0 + u64::from(n) * SLOT.1;
        let fragment = |n: u8| Fragment::new(place(n), 1 + u32::from(n) * 40);
        let fragments: Vec<_> = (0..pieces % 5).map(fragment).collect();
        let held = fragments.iter().map(|f| f.length).sum::<u32>();
        let length = if length == u16::MAX { held } else { u32::from(length) };
        let peer = Nid::from_raw(2 - node as u64).expect("not zero");
        let motion = match source {
            Some(source) => Motion::Pull { from: peer, source, key: Key::NONE },
            None => Motion::Stage { to: peer },
        };
        let it = &mut self.nodes[node];
        it.generation = it.generation.wrapping_add(1);
        let tag = Tag { index: slot, generation: it.generation };
        let own = it.memory.descriptor(slot).map(|descriptor| descriptor.own());
        let bd = Bd { tag, motion, length, fragments: &fragments, list: Some(slot as u16) };
        let posted = it.driver.post(&bd);
        match own {
            None => assert_eq!(posted, Err(PostError::Invalid), "beyond the table"),
            Some(own) if own.is(State::Owned) || own.is(State::Busy) => {
                assert_eq!(posted, Err(PostError::Busy), "R17: the device still has it");
            }
            Some(_) => assert_ne!(posted, Err(PostError::Busy)),
        }
        if posted.is_ok() {
            it.tags[slot as usize] = tag;
            self.rules.borrow_mut().lent.insert((node, slot), (fragments, source.is_some()));
        }
    }

    /// The memory of a slot's last use is its user's again.
    fn give_back(&mut self, node: usize, tag: Tag) {
        if self.nodes[node].tags.get(tag.index as usize) == Some(&tag) {
            self.rules.borrow_mut().lent.remove(&(node, tag.index));
        }
    }

    fn look(&mut self, node: usize) {
        if self.nodes[node].proof.is_none() {
            self.nodes[node].proof = self.nodes[node].driver.quiesced();
        }
        self.rules.borrow_mut().proof[node] = self.nodes[node].proof.is_some();
    }

    fn reclaim(&mut self, node: usize, tag: Tag) {
        let it = &mut self.nodes[node];
        if let Some(proof) = &it.proof {
            it.driver.reclaim(tag, proof);
            self.give_back(node, tag);
        }
    }

    fn reclaim_all(&mut self, node: usize) {
        for tag in self.nodes[node].tags {
            self.reclaim(node, tag);
        }
    }

    /// All that was out before is the users' again.
    fn reset(&mut self, node: usize) {
        let it = &mut self.nodes[node];
        let Some(proof) = it.proof.take() else { return };
        it.driver.reset(proof);
        let mut rules = self.rules.borrow_mut();
        rules.proof[node] = false;
        rules.lent.retain(|&(owner, _), _| owner != node);
    }

    fn complete(&self, node: usize, slot: u32, generation: u32, status: u32) {
        if self.world == World::Faults {
            return;
        }
        let memory = &self.nodes[node].memory;
        let tail = memory.read(Register::CompletionHead);
        let entry = memory.completion(tail);
        entry.index.store(slot, Ordering::Relaxed);
        entry.generation.store(generation, Ordering::Relaxed);
        entry.status.store(status, Ordering::Relaxed);
        entry.sequence.store(tail.wrapping_add(1), Ordering::Release);
    }

    /// Takes all completions; their tags and ends.
    fn take(&mut self, node: usize) -> Vec<(Tag, Returned)> {
        let mut taken = Vec::new();
        // Every entry is given at most once: its sequence word fits one lap only.
        while let Some(completion) = self.nodes[node].queue.pop() {
            assert!(completion.tag.index < GEOMETRY.descriptors, "{completion:?}");
            taken.push((completion.tag, completion.returned));
            assert!(taken.len() <= GEOMETRY.ring() as usize, "more than the ring holds");
            self.give_back(node, completion.tag);
        }
        taken
    }

    fn pop_all(&mut self, node: usize) {
        let _ = self.take(node);
    }

    fn set(&self, node: usize, word: u16, value: u32) {
        let words = GEOMETRY.bytes_needed() / 4;
        // The lists are long and dull: most writes go to what lies before them.
        let at = usize::from(word) % if word & 0x8000 == 0 { words.min(256) } else { words };
        let allowed = match self.world {
            World::Faults => false,
            World::Rings => at >= REGISTERS || RINGS.contains(&at),
            World::Anything => true,
        };
        if allowed {
            self.store(node, at, value);
        }
    }

    fn store(&self, node: usize, at: usize, value: u32) {
        assert!(at < GEOMETRY.bytes_needed() / 4);
        // SAFETY: within the block, checked above.
        let place = unsafe { self.nodes[node].base.cast::<AtomicU32>().add(at) };
        // SAFETY: aligned and alive; an atomic is valid for every bit pattern.
        unsafe { place.as_ref() }.store(value, Ordering::Relaxed);
    }

    /// The buses answer, constants are what they were, cables are plugged: each link is proven
    /// stopped, is reset, and works.
    fn end(&mut self) {
        let constants = [MAGIC, VERSION, 3, GEOMETRY.descriptors, GEOMETRY.ring(), GEOMETRY.ring()];
        for node in 0..NODES {
            self.nodes[node].fault.set(Fault::None);
            for (at, value) in constants.into_iter().enumerate() {
                self.store(node, at, value);
            }
            self.nodes[node].memory.write(Register::Link, LinkBits::UP.bits());
            self.look(node);
            self.reclaim_all(node);
            self.reset(node);
        }
        self.nodes.iter_mut().for_each(|node| node.driver.stop());
        // A claim that was forged is ended as that of a dead node.
        self.alive.set(self.world == World::Faults);
        for _ in 0..8 {
            self.step_both();
        }
        for node in 0..NODES {
            for _ in 0..8 {
                self.look(node);
                self.step_both();
            }
            assert!(self.nodes[node].proof.is_some(), "node {node} is not proven stopped");
        }
        for node in 0..NODES {
            self.reclaim_all(node);
            self.reset(node);
        }
        self.alive.set(true);
        self.rules.borrow_mut().forged = false;
        self.rules.borrow_mut().strict = true;
        for node in 0..NODES {
            let mut up = false;
            for _ in 0..8 {
                self.step_both();
                up |= self.nodes[node].driver.link_up();
            }
            assert!(up, "node {node} does not come up");
            assert_eq!(self.take(node), [], "S0-11: of before the reset");
        }
        self.work();
    }

    /// More transfers than the rings hold, in both directions.
    fn work(&mut self) {
        for n in 0..3 * GEOMETRY.ring() {
            let (from, to) = (n as usize % 2, (n as usize + 1) % 2);
            let (slot, sink) = ((n % 6) as u8, (n / 2 % 6) as u8);
            self.apply(&Op::Transfer { node: from == 1, slot, sink, pieces: 2 });
            let tags = (self.nodes[from].tag(slot, 0), self.nodes[to].tag(sink, 0));
            let mut ends = [Vec::new(), Vec::new()];
            for _ in 0..8 {
                self.step_both();
                (0..NODES).for_each(|node| ends[node].extend(self.take(node)));
            }
            assert_eq!(ends[from], [(tags.0, Returned::Ok)], "S0-11: source of transfer {n}");
            assert_eq!(ends[to], [(tags.1, Returned::Ok)], "S0-11: sink of transfer {n}");
        }
    }
}

impl Node<'_> {
    /// The tag of a slot's last use, or of an older one.
    fn tag(&self, slot: u8, older: u8) -> Tag {
        let index = u32::from(slot) % (GEOMETRY.descriptors + 1);
        let last = self.tags.get(index as usize).map_or(0, |tag| tag.generation);
        Tag { index, generation: last.wrapping_sub(u32::from(older % 3)) }
    }
}
