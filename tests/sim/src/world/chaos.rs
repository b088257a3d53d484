// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Links fail, nodes die, alarms are false: the adversary's blows against the world.

use lnd_core::id::LinkId;
use lnd_core::sync::Ordering;
use lnd_core::time::{Instant, Span};
use lnd_dma::descriptor::State;
use lnd_dma::regs::{ControlBits, Register, RegisterAccess};

use super::event::Event;
use super::plan::{Scheduled, What};
use super::world::World;
use crate::fabric::{nid_of, NodeState};
use crate::simulator::fail::Violation;

/// One blow, or its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blow {
    /// The rates may have changed.
    Rates,
    /// A scheduled happening begins.
    Begin(Scheduled),
    /// A node is told that its link has failed.
    LinkNotice(u32, LinkId),
    /// A node is told that all its links have failed.
    LinksNotice(u32),
    /// The link works again.
    LinkUp(u32, LinkId),
    /// The registers of a link can be read again.
    RegistersBack(u32, LinkId),
    /// A dead node is proven dead.
    Proven(u32),
    /// A node is told of a peer: node, peer, up.
    Notice(u32, u32, bool),
    /// A dead node comes back.
    Restart(u32),
    /// Two nodes can talk again.
    Joined(u32, u32),
}

impl Blow {
    /// The node whose software is called for this, if one is.
    const fn notified(&self) -> Option<u32> {
        match self {
            Self::LinkNotice(node, _) | Self::LinksNotice(node) | Self::Notice(node, ..) => {
                Some(*node)
            }
            Self::Begin(it) => match it.what {
                What::LinkAlarm | What::ConnectionDown | What::PeerAlarm | What::Restart => {
                    Some(it.node)
                }
                _ => None,
            },
            _ => None,
        }
    }
}

const fn ms(n: u32) -> Span {
    Span::from_millis(n as u64)
}

impl World<'_> {
    /// Puts the whole plan into the queue.
    pub(super) fn schedule_plan(&mut self) {
        let start = self.now;
        let plan = self.setup.plan.clone();
        for event in &plan.events {
            self.queue.push(start.after(ms(event.at_ms)), Event::Blow(Blow::Begin(*event)));
        }
        for edge in plan.edges() {
            self.queue.push(start.after(ms(edge)), Event::Blow(Blow::Rates));
        }
        self.set_rates();
    }

    /// The rates of this moment, or none once all is calm.
    pub(super) fn set_rates(&mut self) {
        let since = self.now.since(self.start).as_nanos() / 1_000_000;
        let (messages, engine) =
            if self.calm { Default::default() } else { self.setup.plan.rates_at(since) };
        self.net.borrow_mut().faults = messages;
        let hosts = if self.calm { Default::default() } else { self.setup.plan.hosts };
        self.keep_rates.set((hosts.keep, hosts.keep_us));
        self.engine_faults.set(engine);
    }

    /// Deals a blow.
    pub(super) fn strike(&mut self, blow: Blow) -> Result<(), Violation> {
        if let Some(until) = blow.notified().and_then(|node| self.paused(node)) {
            self.queue.push(until, Event::Blow(blow));
            return Ok(());
        }
        match blow {
            Blow::Rates => self.set_rates(),
            Blow::Begin(it) if !self.calm => self.begin(it),
            Blow::LinkNotice(node, link) if !self.calm => self.link_failed(node, link),
            Blow::Notice(node, peer, up) if up || !self.calm => self.notice(node, peer, up),
            Blow::LinksNotice(node) if !self.calm => self.cut_off(node),
            Blow::Begin(_) | Blow::LinkNotice(..) | Blow::Notice(..) | Blow::LinksNotice(_) => {}
            Blow::LinkUp(node, link) => self.set_link(node, link, true),
            Blow::RegistersBack(node, link) => self.set_blank(node, link, false),
            Blow::Proven(node) => {
                let dead = self.hosts.get(node as usize).is_some_and(|h| h.incarnation.is_none());
                if dead && self.ground.fabric.state_of(node) == NodeState::Alive {
                    self.ground.fabric.declare_dead(node);
                }
            }
            Blow::Restart(node) => self.restart(node)?,
            Blow::Joined(a, b) => self.net.borrow_mut().cut(a, b, false),
        }
        Ok(())
    }

    fn later(&mut self, after: Span, blow: Blow) {
        self.queue.push(self.now.after(after), Event::Blow(blow));
    }

    fn begin(&mut self, it: Scheduled) {
        let Some(link) = LinkId::new(it.link as usize) else { return };
        let node = it.node;
        match it.what {
            What::LinkDown => {
                self.tally.count("links down");
                self.set_link(node, link, false);
                self.later(ms(it.for_ms), Blow::LinkUp(node, link));
                if let Some(noticed) = it.noticed_ms {
                    self.later(ms(noticed), Blow::LinkNotice(node, link));
                }
            }
            What::LinkAlarm => {
                self.tally.count("false link alarms");
                self.link_failed(node, link);
            }
            What::Death => self.die(it),
            What::Restart => {
                self.tally.count("restarts");
                self.begin_to_end(node, ms(it.grace_ms), Some(ms(it.for_ms)));
            }
            What::PeerAlarm => {
                let Some(peer) = it.peer else { return };
                self.tally.count("false peer alarms");
                self.notice(node, peer, false);
                self.later(ms(it.for_ms), Blow::Notice(node, peer, true));
            }
            What::ConnectionDown => self.connection_down(it),
            What::LinksDown => self.links_down(it),
            What::BlankRegisters => {
                self.tally.count("registers that read all ones");
                self.set_blank(node, link, true);
                self.later(ms(it.for_ms), Blow::RegistersBack(node, link));
            }
            What::Scribble => self.scribble(node, link),
            What::Pause => {
                let until = self.now.after(ms(it.for_ms));
                if let Some(incarnation) = self.incarnation(node) {
                    incarnation.paused = incarnation.paused.max(until);
                    self.tally.count("pauses");
                }
            }
            What::Freeze => {
                let until = self.now.after(ms(it.for_ms));
                if let Some(incarnation) = self.incarnation(node) {
                    incarnation.frozen = until;
                    self.tally.count("freezes");
                }
            }
            What::Partition => {
                let Some(peer) = it.peer else { return };
                self.tally.count("partitions");
                self.net.borrow_mut().cut(node, peer, true);
                self.later(ms(it.for_ms), Blow::Joined(node, peer));
            }
        }
    }

    /// A node dies on the spot: driver, engines and user are gone; its memory stays until the next
    /// life begins, and its peers may be reading it.
    fn die(&mut self, it: Scheduled) {
        let node = it.node;
        if self.hosts.get(node as usize).is_none_or(|host| host.incarnation.is_none()) {
            return;
        }
        self.tally.count("deaths");
        self.mark_dead(node);
        self.later(ms(it.proven_ms), Blow::Proven(node));
        self.later(ms(it.proven_ms.max(it.for_ms)), Blow::Restart(node));
        if let Some(noticed) = it.noticed_ms {
            for peer in (0..self.setup.nodes).filter(|&peer| peer != node) {
                self.later(ms(noticed), Blow::Notice(peer, node, false));
            }
        }
    }

    /// The bus of a link stops answering, or answers again.
    fn set_blank(&mut self, node: u32, link: LinkId, is_blank: bool) {
        let blank = self
            .incarnation(node)
            .and_then(|incarnation| incarnation.node.blank.get(link.index()).cloned());
        if let Some(blank) = blank {
            blank.set(is_blank);
            self.wake(node);
        }
    }

    /// Overwrites the number of one entry of a link's completion ring.
    fn scribble(&mut self, node: u32, link: LinkId) {
        let (entry, word) = (self.host_rng.next() as u32, self.host_rng.next() as u32);
        if let Some(port) = self.incarnation(node).and_then(|incarnation| incarnation.port(link)) {
            port.memory.completion(entry).sequence.store(word, Ordering::Relaxed);
            self.tally.count("ring entries scribbled");
        }
    }

    fn links(&self) -> impl Iterator<Item = LinkId> {
        (0..self.setup.links as usize).filter_map(LinkId::new)
    }

    /// All links of a node fail.
    fn links_down(&mut self, it: Scheduled) {
        self.tally.count("nodes without links");
        for link in self.links() {
            self.set_link(it.node, link, false);
            self.later(ms(it.for_ms), Blow::LinkUp(it.node, link));
        }
        if let Some(noticed) = it.noticed_ms {
            self.later(ms(noticed), Blow::LinksNotice(it.node));
        }
    }

    /// A node is told that its links have failed; those that are down still.
    fn cut_off(&mut self, node: u32) {
        let down = self.net.borrow().links_down(node);
        for &link in &down {
            self.link_failed(node, link);
        }
        if let Some(oracle) = self.tracking.as_ref().filter(|_| down.len() == self.links().count())
        {
            oracle.borrow_mut().cut_off(node, true);
        }
    }

    fn set_link(&mut self, node: u32, link: LinkId, up: bool) {
        if let Some(oracle) = self.tracking.as_ref().filter(|_| up) {
            oracle.borrow_mut().cut_off(node, false);
        }
        self.net.borrow_mut().set_link(node, link, up);
        self.ground.fabric.set_link(node, link, up);
        // Those who pull from here look at the link, too.
        for node in 0..self.setup.nodes {
            self.kick(node);
        }
    }

    /// A node is told, by its thread or by an interrupt, that a link has failed.
    fn link_failed(&mut self, node: u32, link: LinkId) {
        let (now, by_thread) = (self.now, self.rng.below(2) == 0);
        let Some(incarnation) = self.incarnation(node) else { return };
        if by_thread {
            incarnation.node.driver.on_link(now, link, false);
        } else {
            incarnation.node.driver.irq_handle().link_failed(link);
        }
        self.wake(node);
    }

    fn notice(&mut self, node: u32, peer: u32, up: bool) {
        let (now, by_thread) = (self.now, self.rng.below(2) == 0);
        if let Some(oracle) = self.tracking.as_ref().filter(|_| !up) {
            oracle.borrow_mut().alarmed(node, peer);
        }
        let Some(incarnation) = self.incarnation(node) else { return };
        let driver = &mut incarnation.node.driver;
        match driver.peer(nid_of(peer)) {
            Some(peer) if !up && !by_thread => {
                driver.irq_handle().peer_down(peer);
            }
            _ => driver.on_peer(now, nid_of(peer), up),
        }
        self.wake(node);
    }

    /// A dead or absent node comes back, as soon as its peers have let go of its memory.
    fn restart(&mut self, node: u32) -> Result<(), Violation> {
        let gone = self.ground.fabric.state_of(node) != NodeState::Alive;
        if self.hosts.get(node as usize).is_none_or(|host| host.incarnation.is_some()) || !gone {
            return Ok(());
        }
        if self.still_read(node) {
            // Its engines stop; those who read from here see it.
            for peer in 0..self.setup.nodes {
                self.kick(peer);
            }
            self.later(ms(1), Blow::Restart(node));
            return Ok(());
        }
        self.start(node)
    }

    /// Stops a dead node's links; whether a live engine still reads from one.
    fn still_read(&self, node: u32) -> bool {
        let fabric = self.ground.fabric;
        let links = (0..self.setup.links as usize).filter_map(LinkId::new);
        let mut read = false;
        for memory in links.filter_map(|link| fabric.link_memory(node, link).ok()) {
            memory.write(Register::Control, ControlBits::STOP.bits());
            let owns = (0..self.setup.config.slots).filter_map(|at| memory.descriptor(at));
            read |= owns.map(|d| d.own()).any(|own| {
                own.is(State::Busy) && fabric.state_of(own.puller()) == NodeState::Alive
            });
        }
        read
    }

    /// All faults end: links work, nobody is cut off, and the dead will be back.
    pub(super) fn calm_down(&mut self) {
        self.calm = true;
        self.set_rates();
        for node in 0..self.setup.nodes {
            for link in (0..self.setup.links as usize).filter_map(LinkId::new) {
                self.set_link(node, link, true);
            }
            for peer in 0..node {
                self.net.borrow_mut().cut(node, peer, false);
            }
            if let Some(incarnation) = self.incarnation(node) {
                incarnation.paused = Instant::ORIGIN;
                incarnation.node.blank.iter().for_each(|blank| blank.set(false));
            }
            self.wake(node);
        }
    }

    /// When the traffic ends.
    pub(super) fn end_of_traffic(&self) -> Instant {
        self.start.after(self.setup.traffic)
    }
}
