// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What lies between the drivers and the engines: the bus to the registers, with faults, and the
//! bus to payload, which knows whose each byte is and whether an engine may move at all.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use arbitrary::Arbitrary;
use lnd_core::fragment::Fragment;
use lnd_core::id::LinkId;
use lnd_dma::memory::LinkMemory;
use lnd_dma::regs::{Register, RegisterAccess};
use lnd_dma::soft::{BusAddress, BusFault, Fabric};

pub const NODES: usize = 2;
/// Where each node's payload begins, and how long it is.
pub const WINDOW: (u64, u64) = (0x1_0000, 4096);

/// How a bus to registers behaves.
#[derive(Arbitrary, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fault {
    #[default]
    None,
    /// Reads are all ones, writes are lost.
    Ones,
    /// The same, with zeros.
    Zeros,
    /// So many reads are right, then all ones; writes arrive.
    OnesAfter(u8),
    /// Writes are lost.
    Deaf,
}

/// One node's registers.
#[derive(Clone)]
pub struct Registers<'m> {
    pub memory: LinkMemory<'m>,
    pub fault: Rc<Cell<Fault>>,
}

impl RegisterAccess for Registers<'_> {
    fn read(&self, register: Register) -> u32 {
        match self.fault.get() {
            Fault::Ones | Fault::OnesAfter(0) => u32::MAX,
            Fault::Zeros => 0,
            Fault::OnesAfter(n) => {
                self.fault.set(Fault::OnesAfter(n - 1));
                self.memory.read(register)
            }
            Fault::None | Fault::Deaf => self.memory.read(register),
        }
    }

    fn write(&self, register: Register, value: u32) {
        if matches!(self.fault.get(), Fault::None | Fault::OnesAfter(_)) {
            self.memory.write(register, value);
        }
    }
}

/// What an engine may do at this time. It knows nothing of registers.
#[derive(Debug, Default)]
pub struct Rules {
    /// A proof that this node's engine has stopped is out.
    pub proof: [bool; NODES],
    /// The fragments of every descriptor that is out, by node and slot, and whether they are a
    /// sink.
    pub lent: BTreeMap<(usize, u32), (Vec<Fragment>, bool)>,
    /// Each byte that moves must be lent: the drivers alone write descriptors.
    pub strict: bool,
    /// A forged status may give a proof.
    pub forged: bool,
}

impl Rules {
    fn covers(&self, place: BusAddress, length: u32, sink: bool) -> bool {
        let (from, to) = (place.address, place.address + u64::from(length));
        self.lent.iter().any(|(&(node, _), (fragments, is_sink))| {
            let inside = |f: &Fragment| f.address <= from && to <= f.address + u64::from(f.length);
            node == place.node as usize && *is_sink == sink && fragments.iter().any(inside)
        })
    }

    /// A byte moves from one node to another.
    fn check(&self, from: BusAddress, to: BusAddress, length: u32) {
        for node in [from.node, to.node] {
            let stopped = self.proof[node as usize] && !self.forged;
            assert!(!stopped, "INV-3: {length} bytes of node {node} moved after the proof");
        }
        if self.strict {
            assert!(self.covers(from, length, false), "INV-2: read {length} of {from:?}, not lent");
            assert!(self.covers(to, length, true), "INV-2: written {length} of {to:?}, not lent");
        }
    }
}

/// The bus to payload.
#[derive(Clone)]
pub struct Bus<'m> {
    pub memories: [LinkMemory<'m>; NODES],
    pub payloads: Rc<RefCell<[Vec<u8>; NODES]>>,
    pub rules: Rc<RefCell<Rules>>,
    /// What is known of the nodes.
    pub alive: Rc<Cell<bool>>,
}

impl Bus<'_> {
    /// The bounds are this function's own: an engine that asks for more gets a fault.
    fn range(place: BusAddress, length: u32) -> Option<Range<usize>> {
        let from = place.address.checked_sub(WINDOW.0)?;
        let to = from.checked_add(u64::from(length)).filter(|&to| to <= WINDOW.1)?;
        ((place.node as usize) < NODES).then_some(from as usize..to as usize)
    }
}

impl<'m> Fabric<'m> for Bus<'m> {
    fn memory_of(&self, node: u32, _link: LinkId) -> Option<LinkMemory<'m>> {
        self.memories.get(node as usize).copied()
    }

    fn alive(&self, _node: u32) -> bool {
        self.alive.get()
    }

    fn copy(&mut self, from: BusAddress, to: BusAddress, length: u32) -> Result<(), BusFault> {
        let source = Self::range(from, length).ok_or(BusFault)?;
        let sink = Self::range(to, length).ok_or(BusFault)?;
        self.rules.borrow().check(from, to, length);
        let mut payloads = self.payloads.borrow_mut();
        let bytes = payloads[from.node as usize][source].to_vec();
        payloads[to.node as usize][sink].copy_from_slice(&bytes);
        Ok(())
    }
}
