// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! One interface (NI) of a node: a driver of its own, with its engine, its interrupt, its mailboxes
//! and its remote reads.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use lnd_core::counters::Counters;
use lnd_core::driver::{Driver, Identity, Interrupt};
use lnd_core::id::LinkId;
use lnd_dma::driver::{CompletionQueue, ConnectingEngine, MmioEngine};
use lnd_dma::memory::LinkMemory;
use lnd_dma::read::RemoteReads;
use lnd_dma::regs::{LinkBits, Register, RegisterAccess};
use lnd_dma::soft::SoftEngine;
use lnd_shortmsg::dispatch::Receiver;
use lnd_shortmsg::wire::Checksum;

use super::bus::HomeBus;
use super::kind::Kind;
use crate::fabric::{nid_of, Bus, Membership, MemoryWindow, NodeNumbers};
use crate::node::{NodePorts, Registers};
use crate::rng::Rng;
use crate::simulator::adversary::Adversary;
use crate::simulator::channel::VirtualChannel;
use crate::simulator::device::{Device, Port};
use crate::simulator::fault_rates::EngineFaults;
use crate::simulator::tally::{Recorder, Tally};
use crate::simulator::waiting::Waiting;
use crate::simulator::world::{Ground, Networks};

/// What all interfaces have in common.
#[derive(Clone)]
pub struct Common<'m> {
    /// Link memories, windows, oracle: interfaces are its nodes.
    pub ground: Ground<'m>,
    /// Whose window each interface uses.
    pub homes: Rc<[u32]>,
    /// The short-message network of each network.
    pub nets: Networks<'m>,
    /// Kind of each network.
    pub kinds: Rc<[Kind]>,
    /// What happens to engines.
    pub faults: Rc<Cell<EngineFaults>>,
    /// What has happened.
    pub tally: Tally,
}

/// Transfer slots of each driver.
pub const SLOTS: u32 = 64;

/// The ports of an interface's driver.
pub type RailPorts<'m> = NodePorts<'m, VirtualChannel<'m>, Recorder>;

/// A living interface.
pub struct Rail<'m> {
    /// Its number in the fabric.
    pub number: u32,
    /// Its network.
    pub net: usize,
    /// Mailboxes whose first frame waits.
    pub waiting: Waiting,
    /// Its driver.
    pub driver: Driver<'m, RailPorts<'m>>,
    /// The frames' dispatcher.
    pub receiver: Receiver,
    /// Its link.
    pub port: Port<'m, HomeBus<'m>>,
    /// Its remote reads.
    pub reads: RemoteReads<LinkMemory<'m>>,
    /// What interrupts of the channel have counted.
    pub counters: Rc<RefCell<Counters>>,
    /// Its place in the fabric.
    pub membership: Membership<'m>,
}

/// The key under which every interface publishes a word for probes.
pub const PUBLISHED: u32 = 0x1e57;

/// The one link of each interface.
pub fn the_link() -> LinkId {
    match LinkId::new(0) {
        Some(link) => link,
        None => unreachable!("there is a first link"),
    }
}

impl<'m> Rail<'m> {
    /// Interface `number` on network `net` begins an incarnation.
    ///
    /// # Errors
    /// In words.
    pub fn new(
        common: &Common<'m>,
        number: u32,
        net: usize,
        rng: &mut Rng,
        recorder: Recorder,
    ) -> Result<Self, String> {
        let kind = *common.kinds.get(net).ok_or("no such network")?;
        let (ground, link) = (common.ground, the_link());
        let random = rng.next() as u32;
        let membership = ground
            .fabric
            .join_with(number, random, kind.features(), 0)
            .map_err(|error| error.to_string())?;
        let memory =
            ground.fabric.link_memory(number, link).map_err(|error| format!("{error:?}"))?;
        let registers = Registers::new(memory, Rc::default());
        let channel = VirtualChannel::new(
            number,
            kind.frame(),
            common.nets.get(net).ok_or("no such network")?.clone(),
        );
        let config = kind.config(SLOTS, common.homes.len() as u32);
        let home = common.homes.get(number as usize).copied().unwrap_or(number);
        let driver = Driver::create(
            ground.arena.block(config.bytes_needed()),
            config,
            Identity { nid: nid_of(number), incarnation: membership.incarnation() },
            [ConnectingEngine::new(MmioEngine::new(link, registers.clone(), memory, NodeNumbers))],
            channel,
            MemoryWindow::new(ground.fabric, home),
            recorder,
        )
        .map_err(|error| format!("{error:?}"))?;
        let bus = HomeBus::new(Bus::new(ground.fabric, ground.objections), common.homes.clone());
        let adversary = Adversary::new(rng.fork(), common.faults.clone(), common.tally.clone());
        let engine = SoftEngine::new(number, link, memory, bus, adversary, kind.engine());
        let interrupt =
            Interrupt::new(driver.irq_handle(), CompletionQueue::new(registers, memory));
        let port = Port::new(Device::new(engine, memory), interrupt);
        membership.announce();
        let mut reads = RemoteReads::new(memory);
        reads.publish(PUBLISHED, number);
        Ok(Self {
            number,
            net,
            waiting: Waiting::default(),
            driver,
            receiver: Receiver::new(Checksum::On),
            port,
            reads,
            counters: Rc::default(),
            membership,
        })
    }

    /// Whether its link has a clock: its own register says so.
    pub fn has_clock(&self) -> bool {
        let bits = LinkBits::from_bits_retain(self.port.device.memory.read(Register::Link));
        bits.contains(LinkBits::UP)
    }

    /// All counters.
    pub fn all_counters(&self) -> Counters {
        let mut all = self.driver.counters().clone();
        all.merge(&self.counters.borrow());
        all.merge(self.port.interrupt.counters());
        all
    }
}
