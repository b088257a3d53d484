// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A small world: nodes × links, each with its driver, its interrupt's queue and its engine.

mod block;
mod bus;
mod knobs;
mod transfers;

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::Mutex;

use lnd_core::fragment::Fragment;
use lnd_core::id::{LinkId, Tag};
use lnd_core::link::Quiesced;
use lnd_core::ports::{Engine, Features, Returned};
use lnd_core::time::{Instant, Span};
use lnd_dma::driver::{CompletionQueue, ConnectingEngine, MmioEngine};
use lnd_dma::memory::{LinkGeometry, LinkMemory};
use lnd_dma::regs::{LinkBits, Register, RegisterAccess};
use lnd_dma::soft::{let_go_of, Progress, Settings, SoftEngine};

pub use bus::{Access, Bus, Wire, WINDOW};
pub use knobs::{nid, Logged, Numbers, Random, Script};
pub use transfers::{tag, Buffer};

/// How long a pull tries to reach a source that does not answer: a round of steps a millisecond.
pub const RETRY_BOUND: Span = Span::from_millis(20);

/// How large a world is.
#[derive(Clone, Copy)]
pub struct Shape {
    pub nodes: usize,
    pub links: usize,
    pub descriptors: u32,
    pub lists: u32,
    /// Payload bytes of each node.
    pub window: usize,
    /// Where free-running indices begin.
    pub start: u32,
    pub settings: Settings,
}

impl Default for Shape {
    fn default() -> Self {
        Self {
            nodes: 2,
            links: 1,
            descriptors: 16,
            lists: 0,
            window: 1 << 14,
            start: 0,
            settings: Settings { retry_bound: RETRY_BOUND, ..Settings::default() },
        }
    }
}

impl Shape {
    /// With indirect lists. Miri's cost grows with the square of what is formatted.
    pub fn with_lists() -> Self {
        Self { lists: if cfg!(miri) { 3 } else { 16 }, ..Self::default() }
    }

    pub fn geometry(&self) -> LinkGeometry {
        LinkGeometry { descriptors: self.descriptors, lists: self.lists }
    }
}

/// The world's memory.
pub struct Plant {
    pub shape: Shape,
    pub bus: Bus,
    logs: Vec<Mutex<Vec<(Register, u32)>>>,
}

impl Plant {
    pub fn new(shape: Shape) -> Self {
        let link = shape.geometry().bytes_needed();
        Self {
            shape,
            bus: Bus::new(shape.nodes, shape.links, shape.window, link),
            logs: (0..shape.nodes * shape.links).map(|_| Mutex::default()).collect(),
        }
    }

    /// Prepares the memory of one link anew.
    pub fn format(&self, node: u32, link: usize) -> LinkMemory<'_> {
        let block = &self.bus.node_memories[node as usize].links[link];
        let reads = Features::ILLEGAL_READ | Features::ZERO_READ | Features::PUBLISHED_READ;
        let features =
            Features::REMOTE_COMPLETION | Features::KNOWS_UNTOUCHED | Features::CONNECTIONS | reads;
        let (geometry, start) = (self.shape.geometry(), self.shape.start);
        // SAFETY: the block lives as long as the plant and is only used as link memory; engines run
        // when the test steps them, not now.
        unsafe {
            LinkMemory::format(block.base(), block.len(), geometry, node, features.bits(), start)
        }
        .unwrap()
    }

    pub fn wire(&self, node: u32) -> Wire<'_> {
        Wire { bus: &self.bus, me: node, chunk: self.shape.settings.chunk }
    }

    fn port(&self, node: u32, link: usize) -> Port<'_> {
        let memory = self.format(node, link);
        let registers = Logged { memory, log: &self.logs[node as usize * self.shape.links + link] };
        let id = LinkId::new(link).unwrap();
        memory.write(Register::Link, LinkBits::UP.bits());
        Port {
            memory,
            driver: ConnectingEngine::new(MmioEngine::new(id, registers, memory, Numbers)),
            queue: CompletionQueue::new(registers, memory),
            engine: SoftEngine::new(
                node,
                id,
                memory,
                self.wire(node),
                Script::default(),
                self.shape.settings,
            ),
        }
    }

    pub fn world(&self) -> World<'_> {
        let (nodes, links) = (self.shape.nodes as u32, self.shape.links);
        let ports = (0..nodes).flat_map(|n| (0..links).map(move |l| (n, l)));
        World {
            plant: self,
            ports: ports.map(|(node, link)| self.port(node, link)).collect(),
            now: Instant::ORIGIN,
            budget: 16,
            next: vec![WINDOW; self.shape.nodes],
            live: BTreeMap::new(),
            ended: BTreeMap::new(),
        }
    }
}

/// One link of one node.
pub struct Port<'p> {
    pub memory: LinkMemory<'p>,
    pub driver: ConnectingEngine<'p, Logged<'p>, Numbers>,
    pub queue: CompletionQueue<'p, Logged<'p>>,
    pub engine: SoftEngine<'p, Wire<'p>, Script<'p>>,
}

/// A place to post to: node and link.
pub type At = (u32, usize);

/// Nodes × links at work.
pub struct World<'p> {
    pub plant: &'p Plant,
    ports: Vec<Port<'p>>,
    pub now: Instant,
    pub budget: u32,
    next: Vec<u64>,
    /// What the engines have, and the memory that goes with it.
    live: BTreeMap<(At, Tag), Vec<Fragment>>,
    /// How each descriptor came back.
    ended: BTreeMap<(At, Tag), Vec<Returned>>,
}

impl<'p> World<'p> {
    pub fn port(&mut self, (node, link): At) -> &mut Port<'p> {
        &mut self.ports[node as usize * self.plant.shape.links + link]
    }

    pub fn memory(&mut self, at: At) -> LinkMemory<'p> {
        self.port(at).memory
    }

    pub fn read(&mut self, at: At, register: Register) -> u32 {
        self.memory(at).read(register)
    }

    /// What the driver has written to this register since the last call for any register.
    pub fn written(&mut self, (node, link): At, register: Register) -> Vec<u32> {
        let mut log =
            self.plant.logs[node as usize * self.plant.shape.links + link].lock().unwrap();
        log.drain(..).filter(|(r, _)| *r == register).map(|(_, value)| value).collect()
    }

    pub fn script(&mut self, at: At) -> &mut Script<'p> {
        self.port(at).engine.faults_mut()
    }

    pub fn step(&mut self, at: At) -> Progress {
        let (now, budget) = (self.now, self.budget);
        self.port(at).engine.step(now, budget)
    }

    fn alive(&self, node: u32) -> bool {
        self.plant.bus.node_memories[node as usize].alive.load(Ordering::Relaxed)
    }

    /// Every living node's links, in order.
    pub fn places(&self) -> Vec<At> {
        let Shape { nodes, links, .. } = self.plant.shape;
        (0..nodes as u32)
            .filter(|&node| self.alive(node))
            .flat_map(|node| (0..links).map(move |link| (node, link)))
            .collect()
    }

    /// Every living engine makes one step.
    pub fn step_all(&mut self) -> Progress {
        let mut sum = Progress::default();
        for at in self.places() {
            let progress = self.step(at);
            sum.bytes += progress.bytes;
            sum.completions += progress.completions;
            sum.busy |= progress.busy;
        }
        sum
    }

    /// Steps and takes completions until nothing happens any more. Time passes, a millisecond a
    /// round.
    pub fn settle(&mut self) {
        let mut quiet = 0;
        for _ in 0..20_000 {
            let progress = self.step_all();
            let reaped = self.reap_all();
            self.now = self.now.after(Span::from_millis(1));
            let idle = !progress.busy && progress.completions == 0 && reaped == 0;
            quiet = if idle { quiet + 1 } else { 0 };
            // One engine's last step gives another engine its next reason.
            if quiet == 3 {
                self.plant.bus.check();
                return;
            }
        }
        panic!("does not settle");
    }

    /// The node is dead: it does nothing more, and every node knows.
    pub fn kill(&mut self, node: u32) {
        self.plant.bus.node_memories[node as usize].alive.store(false, Ordering::Relaxed);
    }

    /// The node begins another incarnation, with memory as new.
    pub fn restart(&mut self, node: u32) {
        for (other, link) in self.places().into_iter().filter(|&(other, _)| other != node) {
            let_go_of(&self.memory((other, link)), node);
        }
        for link in 0..self.plant.shape.links {
            *self.port((node, link)) = self.plant.port(node, link);
        }
        let node_memory = &self.plant.bus.node_memories[node as usize];
        node_memory.alive.store(true, Ordering::Relaxed);
    }

    pub fn link(&mut self, at: At, up: bool) {
        let bits = if up { LinkBits::UP.bits() } else { 0 };
        self.memory(at).write(Register::Link, bits);
    }

    /// Lets the engines work until this one's registers say stopped.
    pub fn proof(&mut self, at: At) -> Quiesced {
        for _ in 0..10_000 {
            if let Some(proof) = self.port(at).driver.quiesced() {
                return proof;
            }
            self.step_all();
        }
        panic!("does not stop");
    }
}
