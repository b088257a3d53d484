// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The world: nodes, network, time, and the loop that takes one event after another.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use lnd_core::id::LinkId;
use lnd_core::sync::AtomicU32;
use lnd_core::time::{Instant, Span};

use super::byzantine::Byzantine;
use super::defect::Defect;
use super::event::Event;
use super::incarnation::{Host, HostIncarnation};
use super::setup::Setup;
use crate::fabric::Fabric;
use crate::node::{Arena, DeliveryOracle, Tracking};
use crate::rng::Rng;
use crate::simulator::book::Book;
use crate::simulator::fail::Violation;
use crate::simulator::fault_rates::EngineFaults;
use crate::simulator::network::Frame;
use crate::simulator::network::{Lane, Network, Post};
use crate::simulator::queue::Queue;
use crate::simulator::tally::{Mixer, Tally};

/// What lies under the world and outlives it.
#[derive(Clone, Copy)]
pub struct Ground<'m> {
    /// The fabric.
    pub fabric: &'m Fabric<'m>,
    /// Memory for drivers.
    pub arena: &'m Arena,
    /// Accesses that the memory oracle objected to.
    pub objections: &'m AtomicU32,
}

/// The world.
pub struct World<'m> {
    pub(super) ground: Ground<'m>,
    pub(super) setup: Setup,
    pub(super) defect: Option<Defect>,
    pub(super) now: Instant,
    pub(super) start: Instant,
    pub(super) step: u64,
    pub(super) queue: Queue<Event>,
    pub(super) net: Rc<RefCell<Network<'m>>>,
    pub(super) engine_faults: Rc<Cell<EngineFaults>>,
    /// Requests that upper layers keep, per million, and the longest such time in microseconds.
    pub(super) keep_rates: Rc<Cell<(u32, u32)>>,
    /// Follows every message from end to end.
    pub(super) tracking: Option<Tracking>,
    pub(super) tally: Tally,
    pub(super) hosts: Vec<Host<'m>>,
    pub(super) book: Book,
    /// The node that keeps to nothing.
    pub(super) byzantine: Option<Byzantine<'m>>,
    pub(super) rng: Rng,
    /// Decides what slow hosts do.
    pub(super) host_rng: Rng,
    pub(super) hash: Mixer,
    /// No more faults.
    pub(super) calm: bool,
    /// Users have ideas of their own.
    pub(super) traffic: bool,
}

impl<'m> World<'m> {
    /// A world in which nobody lives yet.
    pub fn new(ground: Ground<'m>, setup: Setup, mut rng: Rng, defect: Option<Defect>) -> Self {
        let tally = Tally::default();
        let mut network =
            Network::new(rng.fork(), tally.clone(), setup.room, defect == Some(Defect::WrongTag));
        network.preemptions = setup.preemptions;
        for a in 0..setup.nodes {
            for b in (0..setup.nodes).filter(|&b| setup.is_far(a, b)) {
                network.part(a, b);
            }
        }
        network.lawless = setup.lawless();
        network.nodes = setup.nodes;
        let start = setup.clock;
        let tracking: Option<Tracking> = setup
            .plan
            .pauses
            .unwrap_or(false)
            .then(|| Rc::new(RefCell::new(DeliveryOracle::new(start, setup.lawless()))));
        network.tracking.clone_from(&tracking);
        network.reliable = setup.plan.reliable.unwrap_or(false);
        network.ends_at_once = setup.plan.ends_at_once.unwrap_or(false);
        if let Some(oracle) = &tracking {
            oracle.borrow_mut().reliable = network.reliable;
        }
        Self {
            ground,
            hosts: (0..setup.nodes).map(|_| Host::new()).collect(),
            book: Book::new(setup.lawless()),
            setup,
            defect,
            now: start,
            start,
            step: 0,
            queue: Queue::default(),
            net: Rc::new(RefCell::new(network)),
            engine_faults: Rc::default(),
            keep_rates: Rc::default(),
            tracking,
            tally,
            byzantine: None,
            host_rng: Rng::new(rng.clone().next()),
            rng,
            hash: Mixer::default(),
            calm: false,
            traffic: true,
        }
    }

    /// A living node.
    pub(super) fn incarnation(&mut self, node: u32) -> Option<&mut HostIncarnation<'m>> {
        self.hosts.get_mut(node as usize)?.incarnation.as_mut()
    }

    /// How long it takes until somebody gets round to something.
    fn latency(&mut self) -> Span {
        if self.rng.below(100) == 0 {
            Span::from_nanos(self.rng.below(3_000_000))
        } else {
            Span::from_nanos(200 + self.rng.below(10_000))
        }
    }

    /// Has a node's thread run soon.
    pub(super) fn wake(&mut self, node: u32) {
        let at = self.now.after(self.latency());
        self.run_thread_at(node, at);
    }

    pub(super) fn run_thread_at(&mut self, node: u32, at: Instant) {
        let Some(incarnation) = self.incarnation(node) else { return };
        if incarnation.thread_at.is_none_or(|already| at < already) {
            incarnation.thread_at = Some(at);
            self.queue.push(at, Event::Thread(node));
        }
    }

    /// Has a node's engines work soon, if their doorbells were rung or something has come back.
    pub(super) fn kick(&mut self, node: u32) {
        if self.is_lawless(node) {
            self.kick_byzantine();
            return;
        }
        for link in (0..self.setup.links as usize).filter_map(LinkId::new) {
            let Some(port) = self.incarnation(node).and_then(|incarnation| incarnation.port(link))
            else {
                continue;
            };
            let bells = port.bells();
            let event = port.engine_at.is_none() || port.heard != bells;
            if event && port.has_work() {
                port.heard = bells;
                let at = self.now.after(self.latency());
                self.run_engine_at(node, link, at);
            }
        }
    }

    fn run_engine_at(&mut self, node: u32, link: LinkId, at: Instant) {
        let Some(port) = self.incarnation(node).and_then(|incarnation| incarnation.port(link))
        else {
            return;
        };
        if port.engine_at.is_none_or(|already| at < already) {
            port.engine_at = Some(at);
            self.queue.push(at, Event::Engine(node, link));
        }
    }

    /// Takes events until `done` says so, or `bound` has passed. Returns whether it said so.
    pub(super) fn run_until(
        &mut self,
        bound: Instant,
        mut done: impl FnMut(&Self) -> bool,
    ) -> Result<bool, Violation> {
        loop {
            if done(self) {
                return Ok(true);
            }
            if self.queue.next_at().is_none_or(|at| at > bound) {
                self.now = bound;
                return Ok(false);
            }
            let Some((at, event)) = self.queue.pop() else { return Ok(false) };
            self.now = at;
            self.net.borrow_mut().now = at;
            if let Some(oracle) = &self.tracking {
                oracle.borrow_mut().now = at;
            }
            if let Some(node) = self.take(event)? {
                self.step += 1;
                self.hash.add(at.as_nanos() ^ u64::from(node) << 56);
                self.kick(node);
                self.check(node)?;
            }
            let posts = std::mem::take(&mut self.net.borrow_mut().posts);
            for (at, post) in posts {
                let event = match post {
                    Post::Frame(lane, frame) => Event::Frame(lane, frame),
                    Post::Sent(number) => Event::Sent(number),
                };
                self.queue.push(at, event);
            }
            let wakes = std::mem::take(&mut self.net.borrow_mut().wakes);
            for node in wakes {
                self.wake(node);
            }
        }
    }

    /// Takes one event; the node that it has touched, if it still meant something.
    fn take(&mut self, event: Event) -> Result<Option<u32>, Violation> {
        match event {
            Event::Frame(lane, frame) => Ok(self.arrive(lane, frame)),
            Event::Sent(number) => Ok(self.sent(number)),
            Event::Engine(node, link) if self.is_lawless(node) => self.byzantine_engine(link),
            Event::Engine(node, link) => self.engine(node, link),
            Event::Interrupt(node, link) => Ok(self.interrupt(node, link)),
            Event::Thread(node) => self.thread(node),
            Event::User(node) => Ok(self.user(node)),
            Event::Idea => Ok(self.idea()),
            Event::Blow(blow) => {
                self.strike(blow)?;
                Ok(None)
            }
        }
    }

    fn arrive(&mut self, lane: Lane, frame: Frame) -> Option<u32> {
        if self.net.borrow_mut().arrive(lane, frame) {
            if self.leaves_in_mailbox(lane.to) {
                self.wake(lane.to);
            } else {
                self.read(lane, u32::MAX);
            }
        }
        Some(lane.to)
    }

    /// Whether frames stay in a node's mailboxes until its thread runs.
    fn leaves_in_mailbox(&mut self, node: u32) -> bool {
        let (now, polls) = (self.now, self.setup.plan.hosts.polls);
        let paused = self.incarnation(node).is_some_and(|incarnation| incarnation.paused > now);
        (paused || polls) && !self.is_lawless(node)
    }

    /// Until when a node does not run at all, if it does not.
    pub(super) fn paused(&mut self, node: u32) -> Option<Instant> {
        let now = self.now;
        self.incarnation(node).map(|incarnation| incarnation.paused).filter(|&until| until > now)
    }

    /// A node reads a mailbox, as far as it can take what is in it, but at most `budget` frames.
    pub(super) fn read(&mut self, lane: Lane, budget: u32) {
        let now = self.now;
        if self.is_lawless(lane.to) {
            self.hear(lane);
            return;
        }
        let Some(incarnation) =
            self.hosts.get_mut(lane.to as usize).and_then(|h| h.incarnation.as_mut())
        else {
            return;
        };
        for _ in 0..budget {
            let Some(frame) = self.net.borrow_mut().take(lane) else { break };
            if !incarnation.node.on_frame(now, lane.link, lane.from, &frame.bytes) {
                self.net.borrow_mut().put_back(lane, frame);
                break;
            }
            self.net.borrow_mut().release(lane, &frame);
            self.net.borrow().tell_taken(lane, &frame.bytes);
        }
        incarnation.node.driver.ring();
        self.wake(lane.to);
    }

    /// A short message has ended: told by an interrupt or by the thread.
    fn sent(&mut self, number: u64) -> Option<u32> {
        let now = self.now;
        let by_thread = self.rng.below(2) == 0;
        let sender = self.net.borrow().sender_of(number);
        if let Some(until) = sender.and_then(|node| self.paused(node)) {
            self.queue.push(until, Event::Sent(number));
            return None;
        }
        let pending = self.net.borrow_mut().complete(number)?;
        let host = self.hosts.get_mut(pending.node as usize)?;
        let incarnation = host.incarnation.as_mut()?;
        let (tag, sent) = (pending.tag, pending.sent);
        let wake = if by_thread {
            incarnation.node.driver.on_sent(now, tag, sent);
            true
        } else {
            let irq_handle = incarnation.node.driver.irq_handle();
            irq_handle.on_sent(
                now,
                tag,
                sent,
                &mut *incarnation.counters.borrow_mut(),
                &mut host.recorder,
            )
        };
        if wake {
            self.wake(pending.node);
        }
        Some(pending.node)
    }

    fn engine(&mut self, node: u32, link: LinkId) -> Result<Option<u32>, Violation> {
        let (now, budget) = (self.now, self.setup.engine_budget);
        let slowness = self.setup.slowness;
        let Some(port) = self.incarnation(node).and_then(|incarnation| incarnation.port(link))
        else {
            return Ok(None);
        };
        if port.engine_at != Some(now) {
            return Ok(None);
        }
        port.engine_at = None;
        port.engine.fabric_mut().misbehave();
        let progress = port.engine.step(now, budget);
        if !port.engine.faults_mut().stalled() {
            port.busy = progress.busy;
        }
        let moved = progress.bytes > 0 || progress.completions > 0;
        port.idle = if moved { 0 } else { port.idle.saturating_add(1) };
        let pause = if moved {
            1_000 + ((u64::from(progress.bytes) * slowness) >> 10)
        } else {
            2_000 << port.idle.min(8)
        };
        let again = port.has_work();
        let objection = port.engine.fabric_mut().first_violation();
        if again {
            self.run_engine_at(node, link, now.after(Span::from_nanos(pause)));
        }
        if progress.completions > 0 {
            let at = now.after(self.latency());
            self.interrupt_at(node, link, at);
        }
        // What the engine gives back to others is theirs to see.
        for other in (0..self.setup.nodes).filter(|&other| other != node) {
            self.kick(other);
        }
        match objection {
            Some(it) => {
                Err(Violation::at(node, format!("INV-2: the memory oracle objects: {it:?}")))
            }
            None => Ok(Some(node)),
        }
    }

    fn interrupt_at(&mut self, node: u32, link: LinkId, at: Instant) {
        let Some(port) = self.incarnation(node).and_then(|incarnation| incarnation.port(link))
        else {
            return;
        };
        if port.interrupt_at.is_none_or(|already| at < already) {
            port.interrupt_at = Some(at);
            self.queue.push(at, Event::Interrupt(node, link));
        }
    }

    fn interrupt(&mut self, node: u32, link: LinkId) -> Option<u32> {
        let (now, budget) = (self.now, self.rng.between(1, 16) as u32);
        let paused = self.paused(node);
        let host = self.hosts.get_mut(node as usize)?;
        let port = host.incarnation.as_mut()?.port(link)?;
        if port.interrupt_at != Some(now) {
            return None;
        }
        port.interrupt_at = None;
        if let Some(until) = paused {
            self.interrupt_at(node, link, until);
            return None;
        }
        let served = port.interrupt.on_interrupt(now, budget, &mut host.recorder);
        if served.more {
            self.interrupt_at(node, link, now.after(Span::from_nanos(500)));
        }
        if served.wake {
            self.wake(node);
        }
        Some(node)
    }
}
