// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The bus between interfaces: all interfaces of a node reach the same payload memory, the window
//! of its first one.

use std::rc::Rc;

use lnd_core::id::LinkId;
use lnd_dma::memory::LinkMemory;
use lnd_dma::soft::{BusAddress, BusFault, Fabric as EngineFabric};

use crate::fabric::{Bus, Violation};
use crate::simulator::device::WatchedBus;

/// The bus as one interface's engine sees it.
#[derive(Debug)]
pub struct HomeBus<'m> {
    bus: Bus<'m>,
    /// Whose window each interface uses.
    homes: Rc<[u32]>,
    /// Interfaces whose descriptors were given back.
    given_back: Vec<u32>,
}

impl<'m> HomeBus<'m> {
    /// A view in which interface `n` uses the window of `homes[n]`.
    pub const fn new(bus: Bus<'m>, homes: Rc<[u32]>) -> Self {
        Self { bus, homes, given_back: Vec::new() }
    }

    fn home(&self, place: BusAddress) -> BusAddress {
        let node = self.homes.get(place.node as usize).copied().unwrap_or(place.node);
        BusAddress { node, ..place }
    }
}

impl<'m> WatchedBus<'m> for HomeBus<'m> {
    fn first_violation(&self) -> Option<Violation> {
        self.bus.violations().1
    }

    fn given_back(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.given_back)
    }
}

impl<'m> EngineFabric<'m> for HomeBus<'m> {
    fn memory_of(&self, node: u32, link: LinkId) -> Option<LinkMemory<'m>> {
        self.bus.memory_of(node, link)
    }

    fn alive(&self, node: u32) -> bool {
        self.bus.alive(node)
    }

    fn copy(&mut self, from: BusAddress, to: BusAddress, length: u32) -> Result<(), BusFault> {
        self.bus.copy(self.home(from), self.home(to), length)
    }

    fn returned(&mut self, node: u32) {
        self.given_back.push(node);
    }
}
