// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The bus: each node's payload memory, and whose each byte is at any time (R76).

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Mutex;

use lnd_core::fragment::Fragment;
use lnd_core::id::LinkId;
use lnd_dma::memory::LinkMemory;
use lnd_dma::soft::{BusAddress, BusFault, Fabric};

use super::block::Block;

/// Bus address of each node's first payload byte: addresses cross the 32-bit boundary soon.
pub const WINDOW: u64 = 0xffff_f000;

/// What an engine may do with a piece of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// This node's engine may read it.
    Read { by: u32 },
    /// Its own node's engine may write it.
    Write,
}

#[derive(Debug)]
struct Grant {
    length: u32,
    access: Access,
}

/// One node as the bus sees it.
pub struct NodeMemory {
    pub payload: Block,
    /// One per link.
    pub links: Vec<Block>,
    pub present: AtomicBool,
    pub alive: AtomicBool,
}

/// The bus and its rules.
pub struct Bus {
    pub node_memories: Vec<NodeMemory>,
    grants: Mutex<BTreeMap<(u32, u64), Grant>>,
    wrong: Mutex<Vec<String>>,
    /// Whether each copy must be covered by grants.
    pub strict: AtomicBool,
    pub copied: AtomicU64,
    /// Who was woken, by whom: the engine of the first by that of the second.
    pub woken: Mutex<Vec<(u32, u32)>>,
    /// What happens elsewhere while an engine is at its next copy.
    pub meanwhile: Mutex<Option<fn(&Bus)>>,
}

impl Bus {
    pub fn new(nodes: usize, links: usize, window: usize, link: usize) -> Self {
        let node_memories = (0..nodes).map(|_| NodeMemory {
            payload: Block::new(window),
            links: (0..links).map(|_| Block::new(link)).collect(),
            present: AtomicBool::new(true),
            alive: AtomicBool::new(true),
        });
        Self {
            node_memories: node_memories.collect(),
            grants: Mutex::default(),
            wrong: Mutex::default(),
            strict: AtomicBool::new(true),
            copied: AtomicU64::new(0),
            woken: Mutex::default(),
            meanwhile: Mutex::default(),
        }
    }

    /// The memory of one node's link.
    pub fn memory(&self, node: u32, link: usize) -> Option<LinkMemory<'_>> {
        let block = self.node_memories.get(node as usize)?.links.get(link)?;
        // SAFETY: the block lives as long as the bus and is only accessed through `LinkMemory`.
        unsafe { LinkMemory::attach(block.base(), block.len()) }.ok()
    }

    /// From now on the engine may use these fragments.
    pub fn grant(&self, node: u32, fragments: &[Fragment], access: Access) {
        let mut grants = self.grants.lock().unwrap();
        for fragment in fragments {
            let grant = Grant { length: fragment.length, access };
            let before = grants.insert((node, fragment.address), grant);
            assert!(before.is_none(), "the test has granted {fragment:?} twice");
        }
    }

    /// From now on it may not.
    pub fn revoke(&self, node: u32, fragments: &[Fragment]) {
        let mut grants = self.grants.lock().unwrap();
        for fragment in fragments {
            grants.remove(&(node, fragment.address)).expect("was granted");
        }
    }

    /// Fails the test if the engine has touched what it may not.
    pub fn check(&self) {
        let wrong = self.wrong.lock().unwrap();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    fn covered(&self, place: BusAddress, length: u32, wanted: Access) -> bool {
        let grants = self.grants.lock().unwrap();
        let below = grants.range((place.node, 0)..=(place.node, place.address)).next_back();
        below.is_some_and(|(&(_, start), grant)| {
            grant.access == wanted
                && place.address + u64::from(length) <= start + u64::from(grant.length)
        })
    }

    fn piece(&self, place: BusAddress, length: u32) -> Option<*mut u8> {
        let offset = usize::try_from(place.address.checked_sub(WINDOW)?).ok()?;
        let node_memory = self.node_memories.get(place.node as usize)?;
        Some(node_memory.payload.at(offset, length as usize)?.as_ptr())
    }

    fn complain(&self, what: &str, from: BusAddress, to: BusAddress, length: u32) {
        self.wrong.lock().unwrap().push(format!("{what}: {from:?} -> {to:?}, {length} bytes"));
    }
}

/// The bus as one node's engine sees it.
#[derive(Clone, Copy)]
pub struct Wire<'p> {
    pub bus: &'p Bus,
    pub me: u32,
    /// Longest copy that the engine may ask for.
    pub chunk: u32,
}

impl<'p> Fabric<'p> for Wire<'p> {
    fn memory_of(&self, node: u32, link: LinkId) -> Option<LinkMemory<'p>> {
        let node_memory = self.bus.node_memories.get(node as usize)?;
        if !node_memory.present.load(Ordering::Relaxed) {
            return None;
        }
        self.bus.memory(node, link.index())
    }

    fn alive(&self, node: u32) -> bool {
        self.bus.node_memories.get(node as usize).is_some_and(|s| s.alive.load(Ordering::Relaxed))
    }

    fn copy(&mut self, from: BusAddress, to: BusAddress, length: u32) -> Result<(), BusFault> {
        let bus = self.bus;
        if to.node != self.me {
            bus.complain("writes another node's memory", from, to, length);
        }
        if length == 0 || length > self.chunk {
            bus.complain("a chunk of the wrong size", from, to, length);
        }
        let source = bus.piece(from, length).ok_or(BusFault)?;
        let sink = bus.piece(to, length).ok_or(BusFault)?;
        if bus.strict.load(Ordering::Relaxed) {
            if !bus.covered(from, length, Access::Read { by: self.me }) {
                bus.complain("reads what it may not", from, to, length);
            }
            if !bus.covered(to, length, Access::Write) {
                bus.complain("writes what it may not", from, to, length);
            }
        }
        let meanwhile = bus.meanwhile.lock().unwrap().take();
        if let Some(happens) = meanwhile {
            happens(bus);
        }
        bus.copied.fetch_add(u64::from(length), Ordering::Relaxed);
        // SAFETY: both pieces are in bounds; `copy` allows them to overlap.
        unsafe { std::ptr::copy(source, sink, length as usize) };
        Ok(())
    }

    fn returned(&mut self, node: u32) {
        self.bus.woken.lock().unwrap().push((node, self.me));
    }
}
