// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! One life of a node: the shipped driver and upper layer, its engines, its interrupts, its user.

use std::cell::RefCell;
use std::rc::Rc;

use lnd_core::counters::Counters;
use lnd_core::driver::Interrupt;
use lnd_core::id::{LinkId, Nid};
use lnd_core::time::{Instant, Span};
use lnd_dma::driver::CompletionQueue;
use lnd_dma::memory::LinkMemory;
use lnd_dma::regs::{ControlBits, LinkBits, Register, RegisterAccess, StatusBits};
use lnd_dma::soft::SoftEngine;
use lnd_shortmsg::wire::DecodeCounters;

use super::defect::Wire;
use crate::fabric::{nid_of, Membership};
use crate::node::{Node, Registers, Stats};
use crate::simulator::adversary::Adversary;
use crate::simulator::channel::VirtualChannel;
use crate::simulator::tally::Recorder;
use crate::simulator::user::User;

/// Nodes that a world has at most.
const CONNECTED: u32 = 8;

/// One link of a living node, on a fabric that is seen through `F`.
pub struct Port<'m, F = Wire<'m>> {
    /// The device.
    pub engine: SoftEngine<'m, F, Adversary>,
    /// Its interrupt.
    pub interrupt: Interrupt<'m, CompletionQueue<'m, Registers<'m>>>,
    /// Its memory.
    pub memory: LinkMemory<'m>,
    /// When the engine works next.
    pub engine_at: Option<Instant>,
    /// When the interrupt comes.
    pub interrupt_at: Option<Instant>,
    /// The engine has something under way.
    pub busy: bool,
    /// Steps in a row that have moved nothing.
    pub idle: u32,
    /// The doorbells that it has heard.
    pub heard: [u32; 6],
}

impl<F> Port<'_, F> {
    /// Everything whose change means that there is something new to do.
    pub fn bells(&self) -> [u32; 6] {
        bells(&self.memory)
    }

    /// Whether the registers give the engine something to do.
    pub fn has_work(&self) -> bool {
        has_work(&self.memory, self.busy)
    }
}

/// The registers of an engine whose change means that there is something new to do.
pub fn bells(memory: &LinkMemory<'_>) -> [u32; 6] {
    use Register::{CutRound, InvalidateBell, Link, PostTail, StageBell};
    [PostTail, StageBell, InvalidateBell, Register::Control, Link, CutRound]
        .map(|register| memory.read(register))
}

/// Whether its registers give an engine something to do; `busy` if it has said so itself.
pub fn has_work(memory: &LinkMemory<'_>, busy: bool) -> bool {
    let control = ControlBits::from_bits_retain(memory.read(Register::Control));
    let status = StatusBits::from_bits_retain(memory.read(Register::Status));
    let link = LinkBits::from_bits_retain(memory.read(Register::Link));
    let stopped = status.contains(StatusBits::STOPPED);
    if control.contains(ControlBits::STOP) {
        return !stopped;
    }
    if control.contains(ControlBits::RESET) && stopped {
        return true;
    }
    // Cuts are served without the link's clock.
    let cut = memory.read(Register::CutLow) | memory.read(Register::CutHigh);
    if memory.read(Register::CutRound) != memory.read(Register::PartedRound) || (busy && cut != 0) {
        return true;
    }
    if !link.contains(LinkBits::UP) {
        return !status.contains(StatusBits::CLOCK_OFF);
    }
    if !control.contains(ControlBits::ENABLE) {
        return false;
    }
    busy || !status.contains(StatusBits::RUNNING)
        || memory.read(Register::PostTail) != memory.read(Register::PostHead)
        || memory.invalidates().any()
        || memory.dones().any()
}

/// A node that is shutting down in good order.
#[derive(Clone, Copy, Debug)]
pub struct Ending {
    /// It must have ended by then.
    pub bound: Instant,
    /// How long it stays away.
    pub away: Option<Span>,
}

/// A living node.
pub struct HostIncarnation<'m> {
    /// Driver and upper layer.
    pub node: Node<'m, VirtualChannel<'m>, Recorder>,
    /// Its place in the fabric.
    pub membership: Membership<'m>,
    /// Its links.
    pub ports: Vec<Port<'m>>,
    /// Its user.
    pub user: User<'m>,
    /// What interrupts of the channel have counted.
    pub counters: Rc<RefCell<Counters>>,
    /// When the thread runs next.
    pub thread_at: Option<Instant>,
    /// When the user has its next idea.
    pub user_at: Option<Instant>,
    /// Thread and user stand still until then.
    pub frozen: Instant,
    /// Everything that is software stands still until then.
    pub paused: Instant,
    /// It is shutting down.
    pub ending: Option<Ending>,
}

impl<'m> HostIncarnation<'m> {
    /// One link.
    pub fn port(&mut self, link: LinkId) -> Option<&mut Port<'m>> {
        self.ports.get_mut(link.index())
    }

    /// Until when thread and user stand still, if they do.
    pub fn stands_still(&self, now: Instant) -> Option<Instant> {
        let until = self.frozen.max(self.paused);
        (until > now).then_some(until)
    }

    /// All counters: the thread's, the channel's and the links' interrupts'.
    pub fn all_counters(&self) -> Counters {
        let mut all = self.node.driver.counters().clone();
        all.merge(&self.counters.borrow());
        for port in &self.ports {
            all.merge(port.interrupt.counters());
        }
        all
    }

    /// Connections that are out of service.
    fn connections_out(&self) -> usize {
        let links = || (0..self.ports.len()).filter_map(LinkId::new);
        let out = |peer| links().filter(move |&link| self.is_out(link, peer)).count();
        (0..CONNECTED).map(out).sum()
    }

    fn is_out(&self, link: LinkId, peer: u32) -> bool {
        self.node.driver.connection_state(link, nid_of(peer)).is_some()
    }

    /// Whether nothing is under way and everything is in service. What is under way with `except` does
    /// not count.
    pub fn at_rest(&self, except: Option<Nid>) -> bool {
        let driver = &self.node.driver;
        let links = (0..self.ports.len()).filter_map(LinkId::new);
        let nothing = || {
            self.node.lnet.idle()
                && driver.in_use() == (0, 0)
                && driver.nothing_to_report()
                && self.node.outstanding() == 0
                && self.node.keeps() == 0
        };
        self.ending.is_none()
            && self.user.waiting() == 0
            && except.map_or_else(nothing, |peer| self.node.rests_but_for(peer))
            && links
                .map(|link| driver.link_state(link))
                .all(|state| state == Some(lnd_core::link::LinkState::Up))
            && self.connections_out() == 0
    }
}

/// A node over all its lives.
pub struct Host<'m> {
    /// The present life; `None`: dead or away.
    pub incarnation: Option<HostIncarnation<'m>>,
    /// Lives begun.
    pub incarnations: u32,
    /// Its trace.
    pub recorder: Recorder,
    /// How the transfers of former lives ended.
    pub stats: Stats,
    /// What former lives have counted.
    pub counters: Counters,
    /// Messages of others that former lives have passed on.
    pub forwarded: u64,
    /// Frames that former lives have refused, by cause.
    pub refused: DecodeCounters,
}

impl<'m> Host<'m> {
    /// Ends the present life and keeps what is to be told of it.
    pub fn end_incarnation(&mut self) -> Option<HostIncarnation<'m>> {
        let incarnation = self.incarnation.take()?;
        self.stats.merge(&incarnation.node.stats);
        self.counters.merge(&incarnation.all_counters());
        self.forwarded += incarnation.node.lnet.ledger().forwarded;
        self.refused.merge(incarnation.node.receiver().errors());
        Some(incarnation)
    }

    /// A node that was never alive.
    pub fn new() -> Self {
        Self {
            incarnation: None,
            incarnations: 0,
            recorder: Recorder::new(4096),
            stats: Stats::default(),
            counters: Counters::new(),
            forwarded: 0,
            refused: DecodeCounters::new(),
        }
    }
}
