// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A node in real time: joins a fabric, polls, and leaves in good order or is killed.

use std::fmt;
use std::sync::atomic::{AtomicU32 as SharedWord, Ordering};
use std::sync::Arc;
use std::time::Duration;

use lnd_core::config::{Config, ConfigError};
use lnd_core::counters::Counter;
use lnd_core::driver::{Identity, Interrupt, RunState};
use lnd_core::id::{LinkId, MAX_LINKS};
use lnd_core::link::LinkState;
use lnd_core::observe::IrqObserver;
use lnd_core::ports::{Completions, Engine};
use lnd_core::sync::AtomicU32;
use lnd_core::time::{Instant, Span};
use lnd_dma::driver::CompletionQueue;
use lnd_dma::soft::{NoFaults, Settings, SoftEngine};
use lnd_shortmsg::wire::Checksum;

use super::bells::{Bells, Idle};
use super::clock::Clock;
use super::engine::{EngineRef, Mover, OwnEngine};
use super::watch::Watch;
use crate::fabric::{
    nid_of, Bus, Fabric, Inbox, JoinError, Membership, NodeState, SharedTap, ShmChannel,
};
use crate::lnet::{self, Lnet};
use crate::node::{Arena, Node, Parts};

/// Frames taken out of a mailbox before another one is looked at.
const FRAMES: u32 = 16;
/// A busy thread looks into all mailboxes in each of so many rounds, else into those that have had
/// frames lately.
const WHOLE: u32 = 16;
/// How long links are waited for at the start: those that are not pulled open within some
/// microseconds.
pub const OPENING: Span = Span::from_millis(200);
/// Longest sleep: messages of other processes ring no bell.
const NAP: Duration = Duration::from_millis(1);

/// Why a station cannot be set up.
#[derive(Debug)]
pub enum StationError {
    /// The fabric does not let us in.
    Join(JoinError),
    /// The configuration cannot be.
    Config(ConfigError),
    /// The upper layer's configuration cannot be.
    Upper,
}

impl fmt::Display for StationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Join(error) => write!(f, "cannot join the fabric: {error}"),
            Self::Config(error) => write!(f, "bad configuration: {error:?}"),
            Self::Upper => f.write_str("bad configuration of the upper layer"),
        }
    }
}

impl std::error::Error for StationError {}

/// A node at work.
pub struct Station<'m> {
    /// The node.
    pub node: Node<'m, ShmChannel<'m>, Watch<'m>>,
    inbox: Inbox<'m>,
    membership: Membership<'m>,
    clock: Clock,
    bells: &'m Bells,
    idle: Idle,
    /// Doorbells rung and frames sent when the bells were rung last.
    rung: (u64, u64),
    /// Links whose engine has told of a change of its status: bit `n` is link `n`.
    link_event: Arc<SharedWord>,
    /// The engines that this thread steps.
    engines: Vec<OwnEngine<'m>>,
    polls: u32,
    /// Frames that had to stay in a mailbox.
    pub waited: u64,
}

impl<'m> Station<'m> {
    /// Shows every frame of the node to `tap` from now on.
    pub fn tap(&mut self, tap: &SharedTap) {
        self.node.driver.channel_mut().tap(tap.clone());
        self.inbox.tap(tap.clone());
    }

    /// Joins `fabric` as `node`; returns the station and its engines, which want a thread each.
    ///
    /// # Errors
    /// [`StationError`].
    pub fn join(
        arena: &'m Arena,
        fabric: &'m Fabric<'m>,
        node: u32,
        clock: Clock,
        config: Config,
        violations: &'m AtomicU32,
        bells: &'m Bells,
    ) -> Result<(Self, Vec<EngineRef<'m>>), StationError> {
        let joined = Self::join_with(arena, fabric, node, clock, config, violations, bells);
        let (mut station, irq_watch) = joined?;
        let own = std::mem::take(&mut station.engines).into_iter();
        let parts = own.filter_map(OwnEngine::into_parts);
        let apart = parts.map(|(engine, queue, link)| EngineRef {
            engine,
            interrupt: Interrupt::new(station.node.driver.irq_handle(), queue),
            irq_watch,
            bells,
            node,
            link,
            link_event: station.link_event.clone(),
        });
        let engine_refs = apart.collect();
        Ok((station, engine_refs))
    }

    /// As [`join`](Self::join), for a node that is alone in its process: [`poll`](Self::poll) steps
    /// its engines. A message then wakes no thread, and the driver shares its words with no other
    /// context (decision 0050). The mover has a thread to itself.
    ///
    /// # Errors
    /// [`StationError`].
    pub fn join_alone(
        arena: &'m Arena,
        fabric: &'m Fabric<'m>,
        node: u32,
        clock: Clock,
        config: Config,
        violations: &'m AtomicU32,
        bells: &'m Bells,
    ) -> Result<(Self, Mover<'m>), StationError> {
        let joined = Self::join_with(arena, fabric, node, clock, config, violations, bells);
        let (station, _) = joined?;
        let mover = Mover::new(&station.engines, bells, node);
        Ok((station, mover))
    }

    fn join_with(
        arena: &'m Arena,
        fabric: &'m Fabric<'m>,
        node: u32,
        clock: Clock,
        config: Config,
        violations: &'m AtomicU32,
        bells: &'m Bells,
    ) -> Result<(Self, IrqObserver<'m>), StationError> {
        let membership = fabric.join(node, random_word()).map_err(StationError::Join)?;
        let me = Identity { nid: nid_of(node), incarnation: membership.incarnation() };
        let channel = ShmChannel::new(&membership, Checksum::On);
        let inbox = Inbox::new(&membership);
        let mut upper = lnet::Config::new(me.nid);
        upper.first_generation = me.incarnation.raw() as u32;
        upper.acks = lnet::AckPolicy::ByEvent;
        let (watch, irq_watch) = Watch::new(arena, config.slots, config.peers);
        let parts = Parts {
            node,
            me,
            config,
            channel,
            tracer: watch,
            lnet: Lnet::new(upper).map_err(|_| StationError::Upper)?,
            timeout: Span::from_secs(10),
        };
        let node_ = Node::new(arena, fabric, parts).map_err(StationError::Config)?;
        let mut engines = Vec::new();
        for link in (0..config.links as usize).filter_map(LinkId::new) {
            let Ok(memory) = fabric.link_memory(node, link) else { continue };
            let bus = Bus::new(fabric, violations);
            let engine = SoftEngine::new(node, link, memory, bus, NoFaults, Settings::default());
            engines.push(OwnEngine::new(engine, CompletionQueue::new(memory, memory), link));
        }
        membership.announce();
        let station = Self {
            node: node_,
            inbox,
            membership,
            clock,
            bells,
            idle: Idle::default(),
            rung: (0, 0),
            link_event: Arc::new(SharedWord::new(0)),
            engines,
            polls: 0,
            waited: 0,
        };
        Ok((station, irq_watch))
    }

    /// The time.
    pub fn now(&self) -> Instant {
        self.clock.now()
    }

    /// The fabric.
    pub fn fabric(&self) -> &'m Fabric<'m> {
        self.membership.fabric()
    }

    /// Whether the node is still this process's: it was not declared dead.
    pub fn is_ours(&self) -> bool {
        self.membership.is_ours()
    }

    /// One round: takes messages in, reports, sends, and lets time pass. Returns whether there was
    /// anything to do.
    pub fn poll(&mut self, now: Instant) -> bool {
        self.look_at_links(now);
        let node = &mut self.node;
        self.polls = self.polls.wrapping_add(1);
        let likely = self.idle.spins() && !self.polls.is_multiple_of(WHOLE);
        let take = |link, from, frame: &_| node.on_frame(now, link, from, frame);
        let received = self.inbox.receive(FRAMES, likely, take);
        self.waited += u64::from(received.waiting);
        node.driver.ring();
        let mut busy = received.taken > 0;
        busy |= self.step_engines(now);
        let node = &mut self.node;
        busy |= node.send_all(now) > 0;
        let _ = node.driver.on_time(now);
        busy |= node.report_all(now) > 0;
        self.ring();
        if busy {
            self.idle.reset();
        }
        busy
    }

    /// A step of each engine that this thread steps. Returns whether there is more to do.
    fn step_engines(&mut self, now: Instant) -> bool {
        let mut busy = false;
        for own in &mut self.engines {
            let stepped = own.step(now);
            if stepped.link_event {
                // Relaxed: the same thread takes it.
                self.link_event.fetch_or(1 << own.link.index(), Ordering::Relaxed);
            }
            while let Some(completion) = own.queue.pop() {
                self.node.complete(now, own.link, completion);
                busy = true;
            }
            busy |= stepped.busy;
            if stepped.much {
                self.bells.ring_engines(self.membership.node());
            }
        }
        busy
    }

    /// Opens the links whose engines are at work, before a frame is sent or read. A peer chooses
    /// among the links that are open at its side; what it asks to be pulled by one that is not open
    /// here yet would be refused. Links that are pulled are waited for no longer than `bound`.
    pub fn open_links(&mut self, bound: Span) {
        let begin = self.now();
        loop {
            let now = self.now();
            self.step_engines(now);
            self.look_at_links(now);
            let _ = self.node.driver.on_time(now);
            let driver = &self.node.driver;
            let states =
                (0..MAX_LINKS).filter_map(LinkId::new).filter_map(|l| driver.link_state(l));
            let all = states.into_iter().all(|state| state == LinkState::Up);
            if all || now.since(begin) >= bound {
                return;
            }
            std::thread::sleep(NAP / 20);
        }
    }

    /// Tells the driver of links that have lost their clock or have it again. Without that it finds
    /// out when a transfer has waited for its whole time.
    fn look_at_links(&mut self, now: Instant) {
        // Relaxed: the swap below orders it.
        if self.link_event.load(Ordering::Relaxed) == 0 {
            return;
        }
        // Acquire: partner is the engine's Release; its registers are read behind it.
        let event = self.link_event.swap(0, Ordering::Acquire);
        let driver = &mut self.node.driver;
        for link in (0..u32::BITS as usize).filter_map(LinkId::new) {
            if event & (1 << link.index()) == 0 {
                continue;
            }
            if let Some(up) = driver.engine_mut(link).map(|engine| engine.link_up()) {
                driver.on_link(now, link, up);
            }
        }
    }

    /// Sends what the upper layer has just begun, and reports what has ended with that. Returns
    /// whether anything has.
    pub fn flush(&mut self, now: Instant) -> bool {
        let sent = self.node.send_all(now) > 0;
        self.node.driver.ring();
        self.ring();
        sent && self.node.report_all(now) > 0
    }

    /// Wakes the threads that have something to do by what this node has just done.
    fn ring(&mut self) {
        // A node that is alone in its process steps its engines itself.
        if !self.engines.is_empty() {
            return;
        }
        let counters = self.node.driver.counters();
        let now = (counters.value(Counter::Doorbells), counters.value(Counter::Sent));
        let before = std::mem::replace(&mut self.rung, now);
        let node = self.membership.node();
        if now.0 != before.0 {
            self.bells.ring_engines(node);
        }
        if now.1 != before.1 {
            self.bells.ring_other_hosts(node);
        }
    }

    /// Waits until woken, until there is something to do, or for a nap. The thread has
    /// [adopted](super::Wake::adopt) the bell of its node.
    pub fn rest(&mut self) {
        let mut most = NAP;
        // A thread that only spins looks again sooner than the time could be found out.
        if !self.idle.spins() {
            let now = self.now();
            if let Some(next) = self.node.driver.wake_up_at(now) {
                most = most.min(Duration::from_nanos(next.since(now).as_nanos()));
            }
        }
        self.idle.rest(self.bells.host(self.membership.node()), most);
    }

    /// Shuts down in good order: everything ends, peers are told, engines stop. The engines'
    /// threads must be running. Returns whether it came to an end within `bound`.
    pub fn shut_down(mut self, bound: Span, mut each: impl FnMut(&mut Self)) -> bool {
        self.node.lnet.shut_down();
        let begin = self.now();
        let grace = begin.after(Span::from_nanos(bound.as_nanos() / 4));
        self.node.driver.shutdown(begin, grace);
        while self.node.driver.run_state() != RunState::Quiescent {
            let now = self.now();
            if now.since(begin) > bound {
                return false;
            }
            let busy = self.poll(now);
            each(&mut self);
            if !busy {
                std::thread::yield_now();
            }
        }
        self.membership.leave();
        true
    }
}

/// Looks now and then whether peers have died.
#[derive(Debug)]
pub struct Monitor {
    every: Span,
    last: Instant,
    seen: Vec<NodeState>,
}

impl Monitor {
    /// A monitor that looks every `every`.
    pub fn new(every: Span) -> Self {
        Self { every, last: Instant::ORIGIN, seen: Vec::new() }
    }

    /// Looks, if it is time, and tells the driver of deaths. Returns the nodes found dead now.
    pub fn look(&mut self, now: Instant, station: &mut Station<'_>) -> Vec<u32> {
        if now.since(self.last) < self.every {
            return Vec::new();
        }
        self.last = now;
        let fabric = station.fabric();
        let nodes = fabric.shape().nodes;
        self.seen.resize(nodes as usize, NodeState::Absent);
        let mut dead = Vec::new();
        let me = station.node.driver.identity().nid;
        for node in (0..nodes).filter(|&n| nid_of(n) != me) {
            fabric.probe_death(node);
            let state = fabric.state_of(node);
            let before = std::mem::replace(&mut self.seen[node as usize], state);
            if state == NodeState::Dead && before != NodeState::Dead {
                station.node.driver.on_peer(now, nid_of(node), false);
                dead.push(node);
            }
        }
        dead
    }
}

/// A number that differs from incarnation to incarnation.
pub fn random_word() -> u32 {
    use std::hash::{BuildHasher, Hasher};
    // The standard library's hasher keys are random for each process and counter.
    let mut hasher = std::collections::hash_map::RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    (hasher.finish() >> 16) as u32
}
