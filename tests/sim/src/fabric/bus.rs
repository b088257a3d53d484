// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The fabric as engines and processors see it.

use lnd_core::fragment::Fragment;
use lnd_core::id::{LinkId, Nid};
use lnd_core::ports::{BadAddress, Memory};
use lnd_core::sync::{AtomicU32, Ordering};
use lnd_dma::driver::Nodes;
use lnd_dma::memory::LinkMemory;
use lnd_dma::soft::{BusFault, Fabric as EngineFabric, Place};

use super::join::NodeState;
use super::layout::node_of;
use super::oracle::{Lease, Violation};
use super::Fabric;

/// One engine's view.
#[derive(Debug)]
pub struct Bus<'m> {
    fabric: &'m Fabric<'m>,
    /// Link memories of the other nodes, attached once.
    peers: Vec<Vec<Option<LinkMemory<'m>>>>,
    /// Violations seen so far, and the first one.
    violations: u64,
    first: Option<Violation>,
    total: &'m AtomicU32,
}

impl<'m> Bus<'m> {
    /// A view; violations are also added to `total`.
    pub fn new(fabric: &'m Fabric<'m>, total: &'m AtomicU32) -> Self {
        let shape = fabric.shape();
        let peers = (0..shape.nodes)
            .map(|node| {
                (0..shape.links as usize)
                    .map(|l| fabric.link_memory(node, LinkId::new(l)?).ok())
                    .collect()
            })
            .collect();
        Self { fabric, peers, violations: 0, first: None, total }
    }

    /// Accesses that the memory oracle objected to, and the first of them.
    pub const fn violations(&self) -> (u64, Option<Violation>) {
        (self.violations, self.first)
    }

    fn check(&mut self, from: Place, to: Place, length: u32) {
        let oracle = self.fabric.oracle();
        for (place, access) in [(from, Lease::Read), (to, Lease::Write)] {
            if let Err(violation) = oracle.check(place.node, place.address, length, access) {
                self.violations += 1;
                self.first.get_or_insert(violation);
                self.total.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

impl<'m> EngineFabric<'m> for Bus<'m> {
    fn memory_of(&self, node: u32, link: LinkId) -> Option<LinkMemory<'m>> {
        match self.peers.get(node as usize)?.get(link.index())? {
            Some(memory) => Some(*memory),
            // It may have joined meanwhile.
            None => self.fabric.link_memory(node, link).ok(),
        }
    }

    fn alive(&self, node: u32) -> bool {
        matches!(self.fabric.state_of(node), NodeState::Alive | NodeState::Joining)
    }

    fn copy(&mut self, from: Place, to: Place, length: u32) -> Result<(), BusFault> {
        let (Some(source), Some(sink)) = (
            self.fabric.window_place(from.node, from.address, length),
            self.fabric.window_place(to.node, to.address, length),
        ) else {
            return Err(BusFault);
        };
        self.check(from, to, length);
        // SAFETY: both ranges are within their windows, which stay mapped for 'm. Payload memory is
        // never referenced, only copied by address, here and in `Window`; the protocol keeps its
        // owner away while it is lent, and the oracle says so when it does not.
        unsafe { core::ptr::copy(source.as_ptr(), sink.as_ptr(), length as usize) };
        self.check(from, to, length);
        Ok(())
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

/// One node's payload window, for its own processor.
#[derive(Clone, Copy, Debug)]
pub struct Window<'m> {
    fabric: &'m Fabric<'m>,
    node: u32,
}

impl<'m> Window<'m> {
    /// The window of `node`.
    pub const fn new(fabric: &'m Fabric<'m>, node: u32) -> Self {
        Self { fabric, node }
    }

    /// Bytes in the window.
    pub const fn bytes(&self) -> u64 {
        self.fabric.window_bytes()
    }
}

impl Memory for Window<'_> {
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), BadAddress> {
        let length = u32::try_from(into.len()).map_err(|_| BadAddress)?;
        let from = self.fabric.window_place(self.node, address, length).ok_or(BadAddress)?;
        // SAFETY: the range is within the window; `into` is memory of our own elsewhere.
        unsafe { core::ptr::copy_nonoverlapping(from.as_ptr(), into.as_mut_ptr(), into.len()) };
        Ok(())
    }

    fn write(&mut self, address: u64, from: &[u8]) -> Result<(), BadAddress> {
        let length = u32::try_from(from.len()).map_err(|_| BadAddress)?;
        let to = self.fabric.window_place(self.node, address, length).ok_or(BadAddress)?;
        // SAFETY: as in `read`.
        unsafe { core::ptr::copy_nonoverlapping(from.as_ptr(), to.as_ptr(), from.len()) };
        Ok(())
    }

    fn valid(&self, fragment: &Fragment) -> bool {
        self.fabric.window_place(self.node, fragment.address, fragment.length).is_some()
    }
}

impl<'m> Fabric<'m> {
    /// Where bytes of a window lie, if they are in it.
    pub(super) fn window_place(
        &self,
        node: u32,
        address: u64,
        length: u32,
    ) -> Option<core::ptr::NonNull<u8>> {
        let end = address.checked_add(u64::from(length))?;
        if node >= self.shape.nodes || end > self.shape.window {
            return None;
        }
        let window = self.offsets.windows + node as usize * self.shape.window as usize;
        Some(self.place(window + address as usize, length as usize))
    }
}

impl crate::files::WindowMemory for Window<'_> {
    fn read(&self, address: u64, into: &mut [u8]) {
        let done = Memory::read(self, address, into);
        assert!(done.is_ok(), "a buffer of this node's own window");
    }

    fn write(&mut self, address: u64, from: &[u8]) {
        let done = Memory::write(self, address, from);
        assert!(done.is_ok(), "a buffer of this node's own window");
    }
}
