// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Two nodes, each with one link of one descriptor, and what works on them.

use core::cell::Cell;
use core::ptr::NonNull;
use std::rc::Rc;

use lnd_core::fragment::Fragment;
use lnd_core::id::{LinkId, Nid, Tag};
use lnd_core::key::Key;
use lnd_core::ports::{Bd, Engine, Features, Motion};
use lnd_core::sync::AtomicU32;
use lnd_core::time::Instant;
use lnd_dma::driver::{CompletionQueue, ConnectingEngine, MmioEngine, Nodes};
use lnd_dma::memory::{LinkGeometry, LinkMemory};
use lnd_dma::regs::{ControlBits, LinkBits, StatusBits, MAGIC, VERSION};
use lnd_dma::soft::{BusAddress, BusFault, Fabric, Faults, Settings, SoftEngine};
use lnd_loom::Watched;
use loom::sync::Condvar;

pub const NOW: Instant = Instant::ORIGIN;
/// The only slot's first use.
pub const TAG: Tag = Tag { index: 0, generation: 1 };
/// Chunks in which a transfer is moved.
pub const CHUNKS: u32 = 2;

const GEOMETRY: LinkGeometry = LinkGeometry { descriptors: 1, lists: 0 };
/// Both engines have everything that is modelled.
const FEATURES: u32 = Features::REMOTE_COMPLETION.0
    | Features::KNOWS_UNTOUCHED.0
    | Features::ZERO_READ.0
    | Features::PUBLISHED_READ.0
    | Features::CONNECTIONS.0;

/// One line of link memory: loom's words are larger than the machine's.
#[repr(C, align(64))]
struct Line([AtomicU32; 16]);

/// The memory of both nodes.
pub struct Yard {
    turn: Condvar,
    links: [NonNull<[Line]>; 2],
    /// What node 0 stages, and what becomes of it at node 1.
    pub staged: Watched,
    pub arrived: Watched,
    /// Chunks moved. Not part of the model: only one engine counts.
    pub moved: Cell<u32>,
}

impl Yard {
    /// Two links that are up, with free-running indices that begin at `start`.
    pub fn new(start: u32) -> Rc<Self> {
        let link = |node: u32| {
            // As `docs/registers.md` says; every other word is zero.
            let ring = GEOMETRY.ring();
            let word = |at| match at {
                0 => MAGIC,
                1 => VERSION,
                2 => FEATURES,
                3 => GEOMETRY.descriptors,
                4 | 5 => GEOMETRY.ring(),
                7 => node,
                17 | 18 | 28 | 29 | 33 | 34 => start,
                32 => StatusBits::RUNNING.bits(),
                48 => LinkBits::UP.bits(),
                49 => ControlBits::ENABLE.bits(),
                // The sequence words of the completion ring: not yet.
                83 | 87 => start.wrapping_add(((at as u32 - 83) / 4).wrapping_sub(start) % ring),
                _ => 0,
            };
            let lines = GEOMETRY.bytes_needed().div_ceil(size_of::<Line>());
            let line = |n| Line(core::array::from_fn(|i| AtomicU32::new(word(n * 16 + i))));
            NonNull::from(Box::leak((0..lines).map(line).collect()))
        };
        Rc::new(Self {
            turn: Condvar::new(),
            links: [link(0), link(1)],
            staged: Watched::new(0),
            arrived: Watched::new(0),
            moved: Cell::new(0),
        })
    }

    /// As [`World::turn`](lnd_loom::World::turn).
    pub fn turn(&self) {
        self.turn.notify_one();
    }

    fn memory(&self, node: u32) -> LinkMemory<'static> {
        let link = self.links[node as usize];
        let bytes = link.len() * size_of::<Line>();
        // SAFETY: made of atomics, and all that is done to it goes through `LinkMemory`; its
        // holder has the yard as well.
        unsafe { LinkMemory::attach(link.cast(), bytes) }.unwrap()
    }

    pub fn driver(self: &Rc<Self>, node: u32) -> Driver {
        let memory = self.memory(node);
        let engine = MmioEngine::new(LinkId::new(0).unwrap(), memory, memory, Names);
        Driver { engine, yard: Rc::clone(self) }
    }

    /// The driver of a node whose connections are stopped one by one.
    pub fn connecting(self: &Rc<Self>, node: u32) -> Connecting {
        let engine = ConnectingEngine::new(self.driver(node).engine);
        Connecting { engine, node, yard: Rc::clone(self) }
    }

    pub fn queue(&self, node: u32) -> CompletionQueue<'static, LinkMemory<'static>> {
        CompletionQueue::new(self.memory(node), self.memory(node))
    }

    pub fn registers(&self, node: u32) -> LinkMemory<'static> {
        self.memory(node)
    }

    pub fn engine(self: &Rc<Self>, node: u32) -> SoftEngine<'static, Bus, Bus> {
        let bus = || Bus(Rc::clone(self));
        let settings = Settings { chunk: 1, ..Settings::default() };
        let link = LinkId::new(0).unwrap();
        SoftEngine::new(node, link, self.memory(node), bus(), bus(), settings)
    }
}

impl Drop for Yard {
    fn drop(&mut self) {
        for link in self.links {
            // SAFETY: from `Box::leak` in `new`; every driver, queue and engine is gone.
            drop(unsafe { Box::from_raw(link.as_ptr()) });
        }
    }
}

/// The driver of one node's engine.
pub struct Driver {
    pub engine: MmioEngine<'static, LinkMemory<'static>, Names>,
    pub yard: Rc<Yard>,
}

impl Driver {
    /// Node 0: what it has written is staged.
    pub fn stage(&mut self, tag: Tag) {
        self.yard.staged.set(tag.generation);
        self.post(tag, Motion::Stage { to: nid(1) });
    }

    /// Node 1: into memory that it has written itself before.
    pub fn pull(&mut self, tag: Tag) {
        self.yard.arrived.set(0);
        self.post(tag, Motion::Pull { from: nid(0), source: tag, key: Key::NONE });
    }

    fn post(&mut self, tag: Tag, motion: Motion) {
        post(&mut self.engine, tag, motion);
    }
}

/// The driver of one node's engine, which has connections.
pub struct Connecting {
    pub engine: ConnectingEngine<'static, LinkMemory<'static>, Names>,
    pub node: u32,
    yard: Rc<Yard>,
}

impl Connecting {
    /// What it stages, it has written.
    pub fn post(&mut self, tag: Tag, motion: Motion) {
        if matches!(motion, Motion::Stage { .. }) {
            self.yard.staged.set(tag.generation);
        }
        post(&mut self.engine, tag, motion);
    }
}

fn post(engine: &mut impl Engine, tag: Tag, motion: Motion) {
    let fragments = [Fragment::new(0x1000, CHUNKS)];
    let bd = Bd { tag, motion, length: CHUNKS, fragments: &fragments, list: None };
    engine.post(&bd).unwrap();
    engine.doorbell();
}

/// What connects the engines; and places to take turns.
pub struct Bus(Rc<Yard>);

impl Fabric<'static> for Bus {
    fn memory_of(&self, node: u32, _link: LinkId) -> Option<LinkMemory<'static>> {
        self.0.turn();
        Some(self.0.memory(node))
    }

    fn alive(&self, _node: u32) -> bool {
        true
    }

    fn copy(&mut self, from: BusAddress, to: BusAddress, length: u32) -> Result<(), BusFault> {
        assert_eq!((from.node, to.node, length), (0, 1, 1));
        // loom finds here a chunk that moves after the memory was given back.
        let found = self.0.staged.get();
        assert_eq!(found, TAG.generation, "not what was to be pulled");
        self.0.arrived.set(found);
        self.0.moved.set(self.0.moved.get() + 1);
        Ok(())
    }
}

impl Faults for Bus {
    fn claimed(&mut self, _source: Tag) {
        self.0.turn();
    }

    fn overlooks_invalidate(&mut self, _tag: Tag) -> bool {
        self.0.turn();
        false
    }

    fn chunk(&mut self, chunk: u32) -> u32 {
        self.0.turn();
        chunk
    }
}

/// Node `n` has NID `n + 1`.
pub struct Names;

impl Nodes for Names {
    fn node_of(&self, nid: Nid) -> Option<u32> {
        u32::try_from(nid.raw() - 1).ok()
    }
}

pub fn nid(node: u32) -> Nid {
    Nid::from_raw(u64::from(node) + 1).unwrap()
}
