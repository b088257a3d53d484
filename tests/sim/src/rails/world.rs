// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The world of nodes with several interfaces: virtual time, one event after another, one seed.

use std::rc::Rc;

use lnd_core::time::{Instant, Span};

use super::chaos::Blow;
use super::host::{Host, HostIncarnation};
use super::oracle::{Defect, Oracle};
use super::plan::Plan;
use super::rail::{the_link, Ground, Rail};
use super::rules::Rules;
use crate::rng::Rng;
use crate::simulator::book::Book;
use crate::simulator::fail::Violation;
use crate::simulator::network::Lane;
use crate::simulator::network::{Frame, Post};
use crate::simulator::queue::Queue;
use crate::simulator::tally::Mixer;
use crate::world::setup::Setup;

/// A thing that will happen. Interfaces go by their numbers in the fabric.
#[derive(Clone, Debug)]
pub(super) enum Event {
    /// A frame reaches its mailbox.
    Frame(usize, Lane, Frame),
    /// A short message of a network completes.
    Sent(usize, u64),
    /// An interface's engine has time to work.
    Engine(u32),
    /// An interface raises its interrupt.
    Interrupt(u32),
    /// A node's thread runs.
    Thread(u32),
    /// A node's user does something.
    User(u32),
    /// The adversary strikes, or lets go.
    Blow(Blow),
}

/// Who an interface is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NiSpec {
    /// Its node.
    pub host: u32,
    /// Its place among the node's interfaces.
    pub ni: u32,
    /// Its network.
    pub net: usize,
}

/// All interfaces, by number: first the first ones of all nodes, so that a node's number is the number
/// of its first interface (its primary NID); then the others.
pub(super) fn number_all(plan: &Plan) -> Vec<NiSpec> {
    let spec = |host: usize, ni: usize, name: &String| {
        Some(NiSpec { host: host as u32, ni: ni as u32, net: plan.net(name)? })
    };
    let all = || {
        plan.hosts.iter().enumerate().flat_map(move |(host, it)| {
            it.nis.iter().enumerate().filter_map(move |(ni, name)| spec(host, ni, name))
        })
    };
    all().filter(|s| s.ni == 0).chain(all().filter(|s| s.ni > 0)).collect()
}

/// The world.
pub struct World<'m> {
    pub(super) ground: Ground<'m>,
    pub(super) plan: Plan,
    pub(super) setup: Setup,
    pub(super) defect: Option<Defect>,
    pub(super) specs: Rc<[NiSpec]>,
    pub(super) now: Instant,
    pub(super) start: Instant,
    pub(super) step: u64,
    pub(super) queue: Queue<Event>,
    pub(super) hosts: Vec<Host<'m>>,
    pub(super) book: Book,
    pub(super) rules: Rules,
    pub(super) oracle: Oracle,
    pub(super) rng: Rng,
    pub(super) hash: Mixer,
    /// No more faults.
    pub(super) calm: bool,
    /// Users have ideas of their own.
    pub(super) traffic: bool,
}

impl<'m> World<'m> {
    pub(super) fn incarnation(&mut self, host: u32) -> Option<&mut HostIncarnation<'m>> {
        self.hosts.get_mut(host as usize)?.incarnation.as_mut()
    }

    pub(super) fn spec(&self, number: u32) -> Option<NiSpec> {
        self.specs.get(number as usize).copied()
    }

    fn rail(&mut self, number: u32) -> Option<&mut Rail<'m>> {
        let spec = self.spec(number)?;
        self.incarnation(spec.host)?.rails.get_mut(spec.ni as usize)
    }

    /// How long it takes until somebody gets round to something.
    fn latency(&mut self) -> Span {
        Span::from_nanos(200 + self.rng.below(10_000))
    }

    /// Has a node's thread run soon.
    pub(super) fn wake(&mut self, host: u32) {
        let at = self.now.after(self.latency());
        self.run_thread_at(host, at);
    }

    pub(super) fn run_thread_at(&mut self, host: u32, at: Instant) {
        let Some(incarnation) = self.incarnation(host) else { return };
        if incarnation.thread_at.is_none_or(|already| at < already) {
            incarnation.thread_at = Some(at);
            self.queue.push(at, Event::Thread(host));
        }
    }

    /// Has a node's engines work soon, if their doorbells were rung or something has come back.
    pub(super) fn kick(&mut self, host: u32) {
        let Some(incarnation) = self.incarnation(host) else { return };
        let wanted: Vec<u32> = incarnation
            .rails
            .iter_mut()
            .filter_map(|rail| {
                let bells = rail.port.bells();
                let port = &mut rail.port;
                let reads = rail.reads.is_under_way();
                let event = port.engine_at.is_none() || port.heard != bells;
                let work = event && (port.has_work() || reads);
                port.heard = if work { bells } else { port.heard };
                work.then_some(rail.number)
            })
            .collect();
        for number in wanted {
            let at = self.now.after(self.latency());
            self.run_engine_at(number, at);
        }
    }

    fn run_engine_at(&mut self, number: u32, at: Instant) {
        let Some(rail) = self.rail(number) else { return };
        if rail.port.engine_at.is_none_or(|already| at < already) {
            rail.port.engine_at = Some(at);
            self.queue.push(at, Event::Engine(number));
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
            for net in self.ground.nets.iter() {
                net.borrow_mut().now = at;
            }
            if let Some(host) = self.take(event)? {
                self.step += 1;
                self.hash.add(at.as_nanos() ^ u64::from(host) << 56);
                self.kick(host);
                self.check(host)?;
            }
            self.collect();
        }
    }

    /// What the networks have arranged.
    fn collect(&mut self) {
        for (number, net) in self.ground.nets.clone().iter().enumerate() {
            let posts = std::mem::take(&mut net.borrow_mut().posts);
            for (at, event) in posts {
                let event = match event {
                    Post::Frame(lane, frame) => Event::Frame(number, lane, frame),
                    Post::Sent(message) => Event::Sent(number, message),
                };
                self.queue.push(at, event);
            }
        }
    }

    /// Takes one event; the node that it has touched, if it still meant something.
    fn take(&mut self, event: Event) -> Result<Option<u32>, Violation> {
        match event {
            Event::Frame(net, lane, frame) => Ok(self.arrive(net, lane, frame)),
            Event::Sent(net, message) => Ok(self.sent(net, message)),
            Event::Engine(number) => self.engine(number),
            Event::Interrupt(number) => Ok(self.interrupt(number)),
            Event::Thread(host) => self.thread(host),
            Event::User(host) => Ok(self.user(host)),
            Event::Blow(blow) => {
                self.strike(blow)?;
                Ok(None)
            }
        }
    }

    fn arrive(&mut self, net: usize, lane: Lane, frame: Frame) -> Option<u32> {
        let host = self.spec(lane.to)?.host;
        if self.ground.nets.get(net)?.borrow_mut().arrive(lane, frame) {
            self.wake(host);
        }
        Some(host)
    }

    /// A short message has ended.
    fn sent(&mut self, net: usize, message: u64) -> Option<u32> {
        let now = self.now;
        let pending = self.ground.nets.get(net)?.borrow_mut().complete(message)?;
        let host = self.spec(pending.node)?.host;
        self.rail(pending.node)?.driver.on_sent(now, pending.tag, pending.sent);
        self.wake(host);
        Some(host)
    }

    fn engine(&mut self, number: u32) -> Result<Option<u32>, Violation> {
        let now = self.now;
        let Some(spec) = self.spec(number) else { return Ok(None) };
        let slowness = self.ground.kinds.get(spec.net).map_or(0, |kind| kind.slowness());
        let Some(rail) = self.rail(number) else { return Ok(None) };
        let port = &mut rail.port;
        if port.engine_at != Some(now) {
            return Ok(None);
        }
        port.engine_at = None;
        let progress = port.engine.step(now, 16);
        if !port.engine.faults_mut().stalled() {
            port.busy = progress.busy;
        }
        let moved = progress.bytes > 0 || progress.completions > 0;
        port.idle = if moved { 0 } else { port.idle.saturating_add(1) };
        let pause = if moved {
            1_000 + ((u64::from(progress.bytes) * slowness) >> 10)
        } else {
            2_000 << port.idle.min(10)
        };
        let again = port.has_work() || rail.reads.is_under_way();
        let objection = port.engine.fabric_mut().first_violation();
        let answered = rail.reads.has_answer();
        if again {
            self.run_engine_at(number, now.after(Span::from_nanos(pause)));
        }
        if progress.completions > 0 {
            let at = now.after(self.latency());
            self.interrupt_at(number, at);
        }
        if answered {
            self.wake(spec.host);
        }
        // What the engine gives back to others is theirs to see.
        if moved {
            for other in (0..self.hosts.len() as u32).filter(|&other| other != spec.host) {
                self.kick(other);
            }
        }
        match objection {
            Some(it) => {
                let what = format!("INV-2: the memory oracle objects: {it:?}");
                Err(Violation::at(spec.host, what))
            }
            None => Ok(Some(spec.host)),
        }
    }

    fn interrupt_at(&mut self, number: u32, at: Instant) {
        let Some(rail) = self.rail(number) else { return };
        if rail.port.interrupt_at.is_none_or(|already| at < already) {
            rail.port.interrupt_at = Some(at);
            self.queue.push(at, Event::Interrupt(number));
        }
    }

    fn interrupt(&mut self, number: u32) -> Option<u32> {
        let now = self.now;
        let spec = self.spec(number)?;
        let host = self.hosts.get_mut(spec.host as usize)?;
        let port = &mut host.incarnation.as_mut()?.rails.get_mut(spec.ni as usize)?.port;
        if port.interrupt_at != Some(now) {
            return None;
        }
        port.interrupt_at = None;
        let served = port.interrupt.on_interrupt(now, 16, &mut host.recorder);
        if served.more {
            self.interrupt_at(number, now.after(Span::from_nanos(500)));
        }
        if served.wake {
            self.wake(spec.host);
        }
        Some(spec.host)
    }

    /// Reads what waits in the mailboxes of a node; whether something had to stay there.
    pub(super) fn read_all(&mut self, host: u32) -> bool {
        let now = self.now;
        let nets = self.ground.nets.clone();
        let mut left = false;
        let Some(incarnation) =
            self.hosts.get_mut(host as usize).and_then(|h| h.incarnation.as_mut())
        else {
            return false;
        };
        for ni in 0..incarnation.rails.len() {
            let Some((number, net)) = incarnation.rails.get(ni).map(|r| (r.number, r.net)) else {
                break;
            };
            let Some(net) = nets.get(net) else { continue };
            let waiting = net.borrow().waiting(number);
            for lane in waiting {
                loop {
                    let Some(frame) = net.borrow_mut().take(lane) else { break };
                    if !incarnation.on_frame(now, ni, lane.from, &frame.bytes, &mut self.oracle) {
                        net.borrow_mut().put_back(lane, frame);
                        left = true;
                        break;
                    }
                    net.borrow_mut().release(lane, &frame);
                }
            }
        }
        left
    }

    fn user(&mut self, host: u32) -> Option<u32> {
        let now = self.now;
        let incarnations: Vec<u32> = self.hosts.iter().map(|host| host.incarnations).collect();
        let pause = u64::from(self.plan.pause_ms) * 1_000_000;
        let pause = Span::from_nanos(self.rng.between(pause / 4, pause * 7 / 4).max(1_000));
        if !self.traffic {
            return None;
        }
        let incarnation = self.hosts.get_mut(host as usize)?.incarnation.as_mut();
        let incarnation = incarnation.filter(|incarnation| incarnation.user_at == Some(now))?;
        incarnation.user.act(&mut incarnation.lnet, now, &mut self.book, &incarnations);
        incarnation.user_at = Some(now.after(pause));
        self.queue.push(now.after(pause), Event::User(host));
        self.wake(host);
        Some(host)
    }

    /// The link of an interface works or does not.
    pub(super) fn set_link(&mut self, number: u32, up: bool) {
        let Some(spec) = self.spec(number) else { return };
        if let Some(net) = self.ground.nets.get(spec.net) {
            net.borrow_mut().set_link(number, the_link(), up);
        }
        self.ground.fabric.set_link(number, the_link(), up);
        for host in 0..self.hosts.len() as u32 {
            self.kick(host);
        }
        self.wake(spec.host);
    }
}
