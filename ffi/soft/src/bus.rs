// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! One engine's view of the fabric: the other nodes' links, their incarnations, and payload memory.

use lnd_core::id::{LinkId, Nid};
use lnd_core::sync::{AtomicU32, Ordering};
use lnd_dma::driver::Nodes;
use lnd_dma::memory::LinkMemory;
use lnd_dma::soft::{BusAddress, BusFault, Fabric as EngineFabric};

use crate::fabric::SoftFabric;
use crate::nodes::NodeState;
use crate::oracle::{Lease, Violation};
use crate::set::NodeSet;
use crate::shape::node_of;

/// One engine's view.
#[derive(Debug)]
pub struct Bus<'m> {
    fabric: SoftFabric<'m>,
    /// Nodes whose descriptors this engine has returned since the last call of `signals`.
    signals: NodeSet,
    violations: u64,
    first: Option<Violation>,
    total: Option<&'m AtomicU32>,
}

impl<'m> Bus<'m> {
    /// A view. Accesses that the memory oracle rejects are also added to `total`.
    pub const fn new(fabric: &SoftFabric<'m>, total: &'m AtomicU32) -> Self {
        Self { total: Some(total), ..Self::alone(fabric) }
    }

    /// A view that counts its violations only itself.
    pub const fn alone(fabric: &SoftFabric<'m>) -> Self {
        let signals = NodeSet::EMPTY;
        Self { fabric: *fabric, signals, violations: 0, first: None, total: None }
    }

    /// The number of accesses that the memory oracle rejected, and the first of them.
    pub const fn violations(&self) -> (u64, Option<Violation>) {
        (self.violations, self.first)
    }

    /// Nodes to ring, because this engine has returned descriptors of theirs. Each is returned
    /// once.
    pub fn signals(&mut self) -> NodeSet {
        self.signals.take()
    }

    fn check(&mut self, from: BusAddress, to: BusAddress, length: u32) {
        let oracle = self.fabric.oracle();
        for (place, access) in [(from, Lease::Read), (to, Lease::Write)] {
            if !oracle.watches(place.node) {
                continue;
            }
            if let Err(violation) = oracle.check(place.node, place.address, length, access) {
                self.violations = self.violations.saturating_add(1);
                self.first.get_or_insert(violation);
                if let Some(total) = self.total {
                    // Relaxed: a count.
                    total.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
    }
}

impl<'m> EngineFabric<'m> for Bus<'m> {
    fn memory_of(&self, node: u32, link: LinkId) -> Option<LinkMemory<'m>> {
        self.fabric.link_memory(node, link).ok()
    }

    fn alive(&self, node: u32) -> bool {
        matches!(self.fabric.state_of(node), NodeState::Alive | NodeState::Joining)
    }

    fn copy(&mut self, from: BusAddress, to: BusAddress, length: u32) -> Result<(), BusFault> {
        let (Some(source), Some(sink)) = (
            self.fabric.window_place(from.node, from.address, length),
            self.fabric.window_place(to.node, to.address, length),
        ) else {
            return Err(BusFault);
        };
        self.check(from, to, length);
        // SAFETY: both ranges are within their windows, which stay mapped for 'm. Payload memory is
        // never referenced, only copied by address, here and in `MemoryWindow`. The protocol keeps
        // its owner away while it is lent, and the oracle reports a violation.
        unsafe { core::ptr::copy(source.as_ptr(), sink.as_ptr(), length as usize) };
        self.check(from, to, length);
        Ok(())
    }

    fn returned(&mut self, node: u32) {
        self.signals = self.signals.with(node);
    }
}

/// The numbers of nodes, for engines' drivers.
#[derive(Clone, Copy, Debug)]
pub struct NodeNumbers;

impl Nodes for NodeNumbers {
    fn node_of(&self, nid: Nid) -> Option<u32> {
        node_of(nid)
    }
}
