// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The world: one thread, virtual time, one event after another, one seed. It knows the links, the
//! turns and the user of each host. Everything else of a host is its layer's.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use lnd_core::sync::AtomicU32;
use lnd_core::time::{Instant, Span};

use super::book::Book;
use super::event::{Event, Fault};
use super::fail::{Failure, Violation};
use super::layer::{Host, Layer, Running};
use super::mailbox::Post;
use super::network::Network;
use super::queue::Queue;
use super::run_log::Logged;
use super::tally::Tally;
use crate::fabric::{Fabric, Mapping, Shape};
use crate::mixer::Mixer;
use crate::node::Arena;
use crate::rng::Rng;

/// Bytes of each host's payload window.
pub const WINDOW: u64 = 12 << 20;

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

/// Lets `run` play on a fabric of its own.
///
/// # Errors
/// There is no memory, or no such fabric.
pub fn on_ground<R>(shape: Shape, run: impl FnOnce(Ground<'_>) -> R) -> Result<R, String> {
    let mapping = Mapping::anonymous(shape.bytes_needed()).map_err(|error| error.to_string())?;
    let fabric = Fabric::format(&mapping, shape).map_err(|error| error.to_string())?;
    let (arena, objections) = (Arena::new(), AtomicU32::new(0));
    Ok(run(Ground { fabric: &fabric, arena: &arena, objections: &objections }))
}

/// The short-message networks.
pub type Networks<'m> = Rc<[Rc<RefCell<Network<'m>>>]>;

/// A host of a kind of world.
pub type HostOf<'m, L> = Host<
    <L as Layer<'m>>::HostIncarnation,
    <<L as Layer<'m>>::HostIncarnation as Running<'m>>::Past,
>;

/// An event of a kind of world.
pub type EventOf<'m, L> = Event<<L as Layer<'m>>::Scheduled, <L as Layer<'m>>::Own>;

/// The world.
pub struct World<'m, L: Layer<'m>> {
    pub(crate) ground: Ground<'m>,
    pub(crate) now: Instant,
    pub(crate) start: Instant,
    pub(crate) step: u64,
    pub(crate) queue: Queue<EventOf<'m, L>>,
    pub(crate) nets: Networks<'m>,
    pub(crate) tally: Tally,
    pub(crate) hosts: Vec<HostOf<'m, L>>,
    /// How many incarnations each host has begun.
    pub(crate) begun: Vec<u32>,
    /// Hosts whose engines may have something new to do that others have given them.
    pub(crate) stirred: BTreeSet<u32>,
    /// Hosts whose books have not changed since they were checked: only their engines have worked.
    pub(crate) checked: Vec<bool>,
    pub(crate) book: Book,
    pub(crate) rng: Rng,
    pub(crate) hash: Mixer,
    /// No more faults.
    pub(crate) calm: bool,
    /// Users have ideas of their own.
    pub(crate) traffic: bool,
    /// What this kind of world adds.
    pub(crate) layer: L,
}

/// With what a world begins.
pub struct Beginning<'m> {
    /// What lies under it.
    pub ground: Ground<'m>,
    /// The time.
    pub start: Instant,
    /// Its networks.
    pub nets: Networks<'m>,
    /// The count of what is done to it.
    pub tally: Tally,
    /// What users ask for.
    pub book: Book,
    /// Decides everything.
    pub rng: Rng,
    /// Users have ideas of their own.
    pub traffic: bool,
}

impl<'m, L: Layer<'m>> World<'m, L> {
    /// A world of `hosts` hosts, none of which has started.
    pub fn new(it: Beginning<'m>, hosts: u32, layer: L) -> Self {
        if let Some(log) = it.tally.log() {
            log.set_now(it.start);
        }
        Self {
            ground: it.ground,
            now: it.start,
            start: it.start,
            step: 0,
            queue: Queue::default(),
            nets: it.nets,
            hosts: (0..hosts).map(|host| Host::logged(host, it.tally.log().cloned())).collect(),
            begun: vec![0; hosts as usize],
            stirred: BTreeSet::new(),
            checked: vec![false; hosts as usize],
            tally: it.tally,
            book: it.book,
            rng: it.rng,
            hash: Mixer::default(),
            calm: false,
            traffic: it.traffic,
            layer,
        }
    }

    /// The numbers of all nodes.
    pub(crate) fn all(&self) -> std::ops::Range<u32> {
        0..self.hosts.len() as u32
    }

    /// The incarnation of a host that is up.
    pub(crate) fn incarnation(&mut self, host: u32) -> Option<&mut L::HostIncarnation> {
        self.hosts.get_mut(host as usize)?.incarnation.as_mut()
    }

    /// The incarnation of a host that is up, shared.
    pub(crate) fn alive(&self, host: u32) -> Option<&L::HostIncarnation> {
        self.hosts.get(host as usize)?.incarnation.as_ref()
    }

    /// Anything may have changed at one host.
    pub(crate) fn stir(&mut self, host: u32) {
        self.stirred.insert(host);
        self.open_books(Some(host));
    }

    /// Anything may have changed at any host.
    pub(crate) fn stir_all(&mut self) {
        self.stirred.extend(self.all());
        self.checked.fill(false);
    }

    /// The books of a host may change.
    fn open_books(&mut self, host: Option<u32>) {
        if let Some(checked) = host.and_then(|host| self.checked.get_mut(host as usize)) {
            *checked = false;
        }
    }

    /// Until when no software of a host runs, if it does not.
    pub(crate) fn paused(&self, host: u32) -> Option<Instant> {
        self.layer.paused(self.alive(host), self.now)
    }

    /// Time until a thread, an interrupt or an engine runs that has to.
    pub(super) fn latency(&mut self) -> Span {
        L::latency(&mut self.rng)
    }

    /// Schedules a host's thread.
    pub(crate) fn wake(&mut self, host: u32) {
        let at = self.now.after(self.latency());
        self.run_thread_at(host, at);
    }

    pub(crate) fn run_thread_at(&mut self, host: u32, at: Instant) {
        let Some(incarnation) = self.incarnation(host) else { return };
        let turns = incarnation.turns();
        if turns.thread_at.is_none_or(|already| at < already) {
            turns.thread_at = Some(at);
            self.queue.push(at, Event::Thread(host));
        }
    }

    /// Takes events until `done` says so, or `bound` has passed. Returns whether it said so.
    pub(crate) fn run_until(
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
            for net in self.nets.iter() {
                net.borrow_mut().now = at;
            }
            self.layer.on_time(at);
            if let Some(log) = self.tally.log() {
                log.set_now(at);
            }
            if let Some(host) = self.take(event)? {
                self.step += 1;
                self.hash.add(at.as_nanos() ^ u64::from(host) << 56);
                self.kick(host);
                L::check(self, host)?;
            }
            self.collect();
        }
    }

    /// A part of the run begins.
    pub(crate) fn begin_phase(&self, name: &'static str) {
        if let Some(log) = self.tally.log() {
            log.set_now(self.now);
            log.add(Logged::Phase { name });
        }
    }

    /// Takes over what the networks have scheduled.
    fn collect(&mut self) {
        for number in 0..self.nets.len() {
            let Some(net) = self.nets.get(number) else { continue };
            let mut net = net.borrow_mut();
            // Most steps send nothing.
            if net.posts.is_empty() && net.wakes.is_empty() {
                continue;
            }
            let mut posts = std::mem::take(&mut net.posts);
            let wakes = std::mem::take(&mut net.wakes);
            drop(net);
            for (at, post) in posts.drain(..) {
                let event = match post {
                    Post::Frame(lane, frame) => Event::Frame(number, lane, frame),
                    Post::Sent(message) => Event::Sent(number, message),
                };
                self.queue.push(at, event);
            }
            for host in wakes {
                self.wake(host);
            }
            // The room is used again: nothing is posted meanwhile.
            if let Some(net) = self.nets.get(number) {
                net.borrow_mut().posts = posts;
            }
        }
    }

    /// Handles one event. The host that it has changed, unless the event was out of date.
    fn take(&mut self, event: EventOf<'m, L>) -> Result<Option<u32>, Violation> {
        let touched = match event {
            Event::Frame(net, lane, frame) => {
                if self.nets.get(net).is_some_and(|net| net.borrow_mut().arrive(lane, frame)) {
                    L::on_frame(self, net, lane);
                }
                Ok(self.layer.host_of(lane.to))
            }
            Event::Sent(net, number) => Ok(self.sent(net, number)),
            Event::Engine(host, at) => return self.engine(host, at),
            Event::Interrupt(host, at) => Ok(self.interrupt(host, at)),
            Event::Thread(host) => L::thread(self, host),
            Event::User(host) => Ok(self.user(host)),
            Event::Fault(fault) => {
                self.apply(fault)?;
                self.stir_all();
                return Ok(None);
            }
            Event::Own(event) => return L::own(self, event),
        };
        if let Ok(host) = touched {
            self.open_books(host);
        }
        touched
    }

    /// Schedules the beginning or the end of a fault.
    pub(crate) fn later(&mut self, after: Span, fault: Fault<L::Scheduled>) {
        self.queue.push(self.now.after(after), Event::Fault(fault));
    }

    /// Schedules an event of this kind of world.
    pub(crate) fn own_later(&mut self, after: Span, event: L::Own) {
        self.queue.push(self.now.after(after), Event::Own(event));
    }

    /// A rule was broken, with everything needed to see it again.
    pub(crate) fn failure(
        &self,
        seed: u64,
        command: String,
        broken: &Violation,
        last: Vec<String>,
    ) -> Failure {
        let node = broken.node.map_or(String::new(), |node| format!(" (node {node})"));
        let what = format!("{}{node}", broken.what);
        let faults = self.tally.counts();
        Failure { seed, step: self.step, at: self.now, what, last, faults, command }
    }
}
