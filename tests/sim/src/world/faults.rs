// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a plan can do to a host of this kind, and the rates of the moment.

use lnd_core::id::LinkId;
use lnd_core::sync::Ordering;
use lnd_core::time::Instant;

use super::plan::{Scheduled, What};
use super::world::World;
use crate::fabric::nid_of;
use crate::simulator::event::{Event, Fault};
use crate::simulator::fail::Violation;
use crate::simulator::faults::ms;
use crate::simulator::layer::Running;
use crate::simulator::run_log::{words_of, Logged};

/// What else happens in a world of this kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Own {
    /// The rates may have changed.
    Rates,
    /// A node is told that its link has failed.
    LinkNotice(u32, LinkId),
    /// A node is told that all its links have failed.
    LinksNotice(u32),
    /// The registers of a link can be read again.
    RegistersBack(u32, LinkId),
    /// A node is told of a peer: node, peer, up.
    Notice(u32, u32, bool),
    /// The byzantine node has an idea.
    Idea,
    /// The engine of a link of the byzantine node has time to work.
    Unlawful(LinkId),
}

impl Own {
    /// The node that this changes, if it is one.
    const fn touched(self) -> Option<u32> {
        match self {
            Self::RegistersBack(node, _) => Some(node),
            _ => self.notified(),
        }
    }

    /// The node whose software is called for this, if one is.
    const fn notified(self) -> Option<u32> {
        match self {
            Self::LinkNotice(node, _) | Self::LinksNotice(node) | Self::Notice(node, ..) => {
                Some(node)
            }
            _ => None,
        }
    }
}

impl Scheduled {
    /// It begins: for the log.
    fn as_logged(&self) -> Logged {
        let about_link = matches!(
            self.what,
            What::LinkDown
                | What::LinkAlarm
                | What::ConnectionDown
                | What::BlankRegisters
                | What::Scribble
        );
        let about_peer =
            matches!(self.what, What::ConnectionDown | What::PeerAlarm | What::Partition);
        let at_once = matches!(self.what, What::LinkAlarm | What::Scribble);
        Logged::Event {
            name: words_of(&format!("{:?}", self.what)),
            host: self.node,
            link: about_link.then_some(self.link),
            peer: self.peer.filter(|_| about_peer),
            for_ms: if at_once { 0 } else { self.for_ms },
        }
    }

    /// The node whose software is called for this, if one is.
    const fn notified(&self) -> Option<u32> {
        match self.what {
            What::LinkAlarm | What::ConnectionDown | What::PeerAlarm | What::Restart => {
                Some(self.node)
            }
            _ => None,
        }
    }
}

impl World<'_> {
    /// Puts the whole plan into the queue.
    pub(super) fn schedule_plan(&mut self) {
        let plan = self.layer.setup.plan.clone();
        self.schedule(plan.events.iter().map(|&event| (event.at_ms, event)));
        for edge in plan.edges() {
            self.own_later(ms(edge), Own::Rates);
        }
        self.set_rates();
    }

    /// The rates of this moment, or none once all is calm.
    pub(super) fn set_rates(&mut self) {
        let since = self.now.since(self.start).as_nanos() / 1_000_000;
        let (messages, engine) =
            if self.calm { Default::default() } else { self.layer.setup.plan.rates_at(since) };
        self.layer.net.borrow_mut().faults = messages;
        let hosts = if self.calm { Default::default() } else { self.layer.setup.plan.hosts };
        self.layer.keep_rates.set((hosts.keep, hosts.keep_us));
        self.layer.engine_faults.set(engine);
    }

    /// Something of this kind of world happens; the node that it has touched.
    pub(super) fn own(&mut self, event: Own) -> Result<Option<u32>, Violation> {
        if let Some(until) = event.notified().and_then(|node| self.paused(node)) {
            self.queue.push(until, Event::Own(event));
            return Ok(None);
        }
        match event {
            Own::Rates => {
                self.set_rates();
                self.stir_all();
            }
            Own::LinkNotice(node, link) if !self.calm => self.link_failed(node, link),
            Own::Notice(node, peer, up) if up || !self.calm => self.notice(node, peer, up),
            Own::LinksNotice(node) if !self.calm => self.cut_off(node),
            Own::LinkNotice(..) | Own::Notice(..) | Own::LinksNotice(_) => {}
            Own::RegistersBack(node, link) => self.set_blank(node, link, false),
            Own::Idea | Own::Unlawful(_) => {
                let touched = match event {
                    Own::Unlawful(link) => self.byzantine_engine(link),
                    _ => Ok(self.idea()),
                };
                self.stir_all();
                return touched;
            }
        }
        if let Some(node) = event.touched() {
            self.stir(node);
        }
        Ok(None)
    }

    pub(super) fn begin(&mut self, it: Scheduled) {
        if let Some(until) = it.notified().and_then(|node| self.paused(node)) {
            self.queue.push(until, Event::Fault(Fault::Begin(it)));
            return;
        }
        let Some(link) = LinkId::new(it.link as usize) else { return };
        let node = it.node;
        if let Some(log) = self.tally.log() {
            log.add(it.as_logged());
        }
        match it.what {
            What::LinkDown => {
                self.tally.count("links down");
                self.turn_link(node, link, false);
                self.later(ms(it.for_ms), Fault::LinkUp(node, link.index()));
                if let Some(noticed) = it.noticed_ms {
                    self.own_later(ms(noticed), Own::LinkNotice(node, link));
                }
            }
            What::LinkAlarm => {
                self.tally.count("false link alarms");
                self.link_failed(node, link);
            }
            What::Death => self.node_dies(it),
            What::Restart => {
                self.tally.count("restarts");
                self.begin_to_end(node, ms(it.grace_ms), Some(ms(it.for_ms)));
            }
            What::PeerAlarm => {
                let Some(peer) = it.peer else { return };
                self.tally.count("false peer alarms");
                self.notice(node, peer, false);
                self.own_later(ms(it.for_ms), Own::Notice(node, peer, true));
            }
            What::ConnectionDown => self.connection_down(it),
            What::LinksDown => self.links_down(it),
            What::BlankRegisters => {
                self.tally.count("registers that read all ones");
                self.set_blank(node, link, true);
                self.own_later(ms(it.for_ms), Own::RegistersBack(node, link));
            }
            What::Scribble => self.scribble(node, link),
            What::Pause | What::Freeze => self.stand_still(it),
            What::Partition => {
                let Some(peer) = it.peer else { return };
                self.tally.count("partitions");
                self.cut(node, peer, true);
                self.later(ms(it.for_ms), Fault::Joined(node, peer));
            }
        }
    }

    /// A node's software, or only its thread and its user, do not run for a while.
    fn stand_still(&mut self, it: Scheduled) {
        let until = self.now.after(ms(it.for_ms));
        let Some(incarnation) = self.incarnation(it.node) else { return };
        if it.what == What::Pause {
            incarnation.paused = incarnation.paused.max(until);
            self.tally.count("pauses");
        } else {
            incarnation.frozen = until;
            self.tally.count("freezes");
        }
    }

    /// A node dies. Its peers are notified, if the plan says so.
    fn node_dies(&mut self, it: Scheduled) {
        if !self.die(it.node, it.proven_ms, it.for_ms) {
            return;
        }
        if let Some(noticed) = it.noticed_ms {
            for peer in self.all().filter(|&peer| peer != it.node) {
                self.own_later(ms(noticed), Own::Notice(peer, it.node, false));
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
        let (entry, word) = (self.layer.host_rng.next() as u32, self.layer.host_rng.next() as u32);
        if let Some(port) =
            self.incarnation(node).and_then(|incarnation| incarnation.port(link.index()))
        {
            port.device.memory.completion(entry).sequence.store(word, Ordering::Relaxed);
            self.tally.count("ring entries scribbled");
        }
    }

    /// All links of a node fail.
    fn links_down(&mut self, it: Scheduled) {
        self.tally.count("nodes without links");
        for link in self.layer.setup.all_links() {
            self.turn_link(it.node, link, false);
            self.later(ms(it.for_ms), Fault::LinkUp(it.node, link.index()));
        }
        if let Some(noticed) = it.noticed_ms {
            self.own_later(ms(noticed), Own::LinksNotice(it.node));
        }
    }

    /// A node is told that its links have failed; those that are down still.
    fn cut_off(&mut self, node: u32) {
        let down = self.layer.net.borrow().links_down(node);
        for &link in &down {
            self.link_failed(node, link);
        }
        if let Some(oracle) = self
            .layer
            .tracking
            .as_ref()
            .filter(|_| down.len() == self.layer.setup.all_links().count())
        {
            oracle.borrow_mut().cut_off(node, true);
        }
    }

    pub(super) fn turn_link(&mut self, node: u32, link: LinkId, up: bool) {
        if let Some(oracle) = self.layer.tracking.as_ref().filter(|_| up) {
            oracle.borrow_mut().cut_off(node, false);
        }
        self.set_link(node, link.index(), up);
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
        if let Some(oracle) = self.layer.tracking.as_ref().filter(|_| !up) {
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

    /// All faults end: links work, no node is cut off, and the dead will be back.
    pub(super) fn calm_down(&mut self) {
        self.calm = true;
        self.set_rates();
        self.join_all();
        for node in 0..self.layer.setup.nodes {
            for link in self.layer.setup.all_links() {
                self.turn_link(node, link, true);
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
        self.start.after(self.layer.setup.traffic)
    }
}
