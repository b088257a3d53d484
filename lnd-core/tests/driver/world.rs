// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Some nodes on one fabric, in virtual time.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use lnd_core::config::Config;
use lnd_core::counters::Counter;
use lnd_core::driver::{Kind, Report, Why};
use lnd_core::id::{Incarnation, LinkId, PeerId, Tag};
use lnd_core::peer::HelloState;
use lnd_core::time::{Instant, Span};

use super::device::Device;
use super::fabric::{nid, Ending, Fabric, InjectedFault, Shared};
use super::letter::{assert_kind, Letter};
use super::node::{NodeOf, Order};

/// Some nodes; `SAFE_INVALIDATE` is their engines'.
pub struct WorldOf<const SAFE_INVALIDATE: bool> {
    pub nodes: Vec<NodeOf<SAFE_INVALIDATE>>,
    pub fabric: Shared,
    pub now: Instant,
    pub config: Config,
    next_id: u64,
    next_incarnation: u64,
}

pub const LINK0: LinkId = LinkId::new(0).unwrap();
pub const LINK1: LinkId = LinkId::new(1).unwrap();

/// A configuration in the size of a test.
pub fn config() -> Config {
    let mut config = Config::new(16, 4, 2);
    config.immediate_max = 128;
    config.lists = 4;
    config
}

/// Some nodes of the usual kind.
pub type World = WorldOf<true>;

impl<const SAFE_INVALIDATE: bool> WorldOf<SAFE_INVALIDATE> {
    /// `nodes` nodes of the usual configuration, links up, no peer connected.
    pub fn new(nodes: usize) -> Self {
        Self::with(nodes, config())
    }

    pub fn with(nodes: usize, config: Config) -> Self {
        Self::on(Fabric::new(nodes, config.links as usize), nodes, config)
    }

    /// Nodes on a prepared fabric.
    pub fn on(fabric: Fabric, nodes: usize, config: Config) -> Self {
        let fabric = Rc::new(RefCell::new(fabric));
        let now = Instant::from_nanos(1_000_000_000);
        let mut world =
            Self { nodes: Vec::new(), fabric, now, config, next_id: 1, next_incarnation: 1 };
        for node in 0..nodes {
            let incarnation = world.incarnation();
            world.nodes.push(NodeOf::boot(&world.fabric, node, incarnation, config, now));
        }
        world.settle();
        world
    }

    /// Two nodes that have connected to each other.
    pub fn met() -> Self {
        Self::met_with(config())
    }

    pub fn met_with(config: Config) -> Self {
        let mut world = Self::with(2, config);
        world.put(0, 1, 0).unwrap();
        world.settle();
        assert_eq!(world.state(0, 1), HelloState::Good);
        assert_eq!(world.state(1, 0), HelloState::Good);
        world.node(0).done.clear();
        world.node(1).done.clear();
        world.fabric.borrow_mut().said.clear();
        world
    }

    fn incarnation(&mut self) -> u64 {
        self.next_incarnation += 1;
        self.next_incarnation
    }

    /// The incarnation that the node which restarts next will have.
    pub fn incarnation_to_come(&self) -> Incarnation {
        Incarnation::from_raw(self.next_incarnation + 1).unwrap()
    }

    pub fn id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    pub fn node(&mut self, node: usize) -> &mut NodeOf<SAFE_INVALIDATE> {
        &mut self.nodes[node]
    }

    /// Runs `change` on one device.
    pub fn device<R>(&self, node: usize, link: usize, change: impl FnOnce(&mut Device) -> R) -> R {
        change(self.fabric.borrow_mut().device(node, link))
    }

    pub fn peer(&self, node: usize, of: usize) -> Option<PeerId> {
        self.nodes[node].driver.peer(nid(of))
    }

    pub fn state(&self, node: usize, of: usize) -> HelloState {
        self.peer(node, of)
            .map_or(HelloState::Unknown, |peer| self.nodes[node].driver.peer_state(peer))
    }

    /// The platform tells a node that a peer is down or up.
    pub fn notify_peer(&mut self, node: usize, of: usize, up: bool) {
        let now = self.now;
        self.nodes[node].driver.on_peer(now, nid(of), up);
        self.nodes[node].check();
    }

    /// The fabric tells a node that a link is down or up, and so does the link register.
    pub fn notify_link(&mut self, node: usize, link: LinkId, up: bool) {
        let now = self.now;
        self.device(node, link.index(), |d| d.link_works = up);
        self.nodes[node].driver.on_link(now, link, up);
        self.nodes[node].check();
    }

    pub fn hold(&self, kind: &'static str) {
        assert_kind(kind);
        self.fabric.borrow_mut().held.insert(kind);
    }

    pub fn free(&self, kind: &'static str) {
        assert_kind(kind);
        self.fabric.borrow_mut().held.remove(kind);
    }

    pub fn injected(&self, kind: &'static str, injected: InjectedFault) {
        assert_kind(kind);
        self.fabric.borrow_mut().injected_faults.entry(kind).or_default().push_back(injected);
    }

    /// How many messages of a kind were ever sent from one node to another.
    pub fn said(&self, from: usize, to: usize, kind: &str) -> usize {
        assert_kind(kind);
        self.fabric.borrow().said.iter().filter(|s| **s == (from, to, kind)).count()
    }

    pub fn count(&self, node: usize, counter: Counter) -> u64 {
        self.nodes[node].count(counter)
    }

    pub fn submit(&mut self, kind: Kind, from: usize, to: usize, length: u32) -> Result<Tag, Why> {
        self.send(from, self.order(kind, to, length))
    }

    /// The usual: direct, by any link, with half a minute's time.
    pub fn order(&self, kind: Kind, to: usize, length: u32) -> Order {
        let deadline = self.now.after(Span::from_secs(30));
        Order { kind, to, length, routed: false, deadline, link: None }
    }

    pub fn send(&mut self, from: usize, order: Order) -> Result<Tag, Why> {
        let id = self.id();
        self.node(from).send(id, order)
    }

    pub fn put(&mut self, from: usize, to: usize, length: u32) -> Result<Tag, Why> {
        self.submit(Kind::Put, from, to, length)
    }

    pub fn get(&mut self, from: usize, to: usize, length: u32) -> Result<Tag, Why> {
        self.submit(Kind::Get, from, to, length)
    }

    /// The one report that a node has for a tag.
    pub fn report(&self, node: usize, tag: Tag) -> Report {
        let mut found = self.nodes[node].done.iter().filter(|r| r.tag == tag);
        let report =
            *found.next().unwrap_or_else(|| panic!("node {node} has no report of {tag:?}"));
        assert!(found.next().is_none());
        report
    }

    pub fn reported(&self, node: usize, tag: Tag) -> bool {
        self.nodes[node].done.iter().any(|r| r.tag == tag)
    }

    /// Calls every driver's `on_time`; returns whether one wants to go on at once.
    pub fn tick(&mut self) -> bool {
        let now = self.now;
        let mut busy = false;
        for node in self.nodes.iter_mut().filter(|n| n.alive) {
            node.now = now;
            busy |= node.on_time() == Some(now);
        }
        busy
    }

    /// Delivers every letter that is not held; returns how many left the wire.
    pub fn deliver(&mut self) -> usize {
        let mut full = BTreeSet::new();
        let (mut at, mut delivered) = (0, 0);
        loop {
            let Some(letter) = self.letter(at) else { return delivered };
            let lane = (
                letter.from,
                letter.to,
                letter.link,
                letter.lane == lnd_core::message::Lane::Request,
            );
            let held = self.fabric.borrow().held.contains(letter.kind());
            if held || full.contains(&lane) {
                at += 1;
            } else if self.hand(&letter) {
                self.fabric.borrow_mut().wire.remove(at);
                delivered += 1;
                assert!(delivered < 20_000, "each message brings another");
            } else {
                full.insert(lane);
                at += 1;
            }
        }
    }

    pub fn letter(&self, at: usize) -> Option<Letter> {
        self.fabric.borrow().wire.get(at).cloned()
    }

    /// Hands one letter to its receiver; `false` if it cannot take it now.
    pub fn hand(&mut self, letter: &Letter) -> bool {
        let link = letter.link.index();
        let passes = self.device(letter.from, link, |d| d.link_works)
            && self.device(letter.to, link, |d| d.link_works);
        let now = self.now;
        let reliable = self.fabric.borrow().reliable;
        let to = &mut self.nodes[letter.to];
        if !passes || !to.alive {
            // A reliable channel has it when the link works again; a dead node's is gone.
            return !reliable || !to.alive;
        }
        to.now = now;
        let taken = to.receive(letter);
        to.driver.ring();
        taken
    }

    /// Runs every device until it has nothing to do; returns how much was done.
    pub fn devices(&mut self) -> usize {
        let mut done = 0;
        loop {
            let Some((node, link, index, deed)) = self.fabric.borrow().deeds().first().copied()
            else {
                return done;
            };
            self.fabric.borrow_mut().act(node, link, index, deed);
            done += 1;
        }
    }

    /// Runs all interrupts; returns how many completions were taken.
    pub fn interrupts(&mut self) -> u32 {
        let now = self.now;
        let mut taken = 0;
        for node in self.nodes.iter_mut().filter(|n| n.alive) {
            node.now = now;
            taken += node.interrupt();
        }
        taken
    }

    /// Tells senders how their short messages ended.
    pub fn endings(&mut self) -> usize {
        let endings: Vec<Ending> = self.fabric.borrow_mut().endings.drain(..).collect();
        for ending in &endings {
            let now = self.now;
            let node = self.node(ending.node);
            node.now = now;
            node.on_sent(ending.tag, ending.sent);
        }
        endings.len()
    }

    pub fn fetch(&mut self) -> usize {
        let now = self.now;
        let fetch = |n: &mut NodeOf<SAFE_INVALIDATE>| {
            n.now = now;
            n.fetch()
        };
        self.nodes.iter_mut().filter(|n| n.alive).map(fetch).sum()
    }

    /// Lets everything happen that can happen without time passing.
    pub fn settle(&mut self) {
        self.settle_but(false);
    }

    /// As [`settle`](Self::settle), but no node is told how messages ended.
    pub fn settle_untold(&mut self) {
        self.settle_but(true);
    }

    fn settle_but(&mut self, untold: bool) {
        for _ in 0..100_000 {
            let mut busy = self.tick();
            busy |= self.deliver() > 0;
            busy |= self.devices() > 0;
            busy |= self.interrupts() > 0;
            busy |= !untold && self.endings() > 0;
            busy |= self.fetch() > 0;
            // What was offered and not taken may have armed a timer.
            if !busy && !self.tick() {
                return;
            }
        }
        panic!("does not settle");
    }

    /// Sleeps from one announced time to the next until `end`, or until nothing waits for time.
    pub fn sleep_until(&mut self, end: Instant) {
        self.settle();
        for _ in 0..1_000_000 {
            let next = self.nodes.iter().filter(|n| n.alive).filter_map(|n| n.next).min();
            match next.filter(|&n| n <= end) {
                Some(next) => {
                    // A host that runs all the time has run shortly before.
                    self.run_at(Instant::from_nanos(
                        next.as_nanos() - self.config.link_poll.as_nanos().min(next.as_nanos()),
                    ));
                    self.now = self.now.max(next);
                }
                None => break,
            }
            self.settle();
        }
        self.now = self.now.max(end);
        self.settle();
    }

    /// Lets every driver run at a time before which none has anything to do, if it is still to
    /// come.
    pub fn run_at(&mut self, at: Instant) {
        if at > self.now {
            self.now = at;
            self.tick();
        }
    }

    pub fn sleep(&mut self, span: Span) {
        self.sleep_until(self.now.after(span));
    }

    /// A node dies without a word.
    pub fn kill(&mut self, node: usize) {
        self.nodes[node].alive = false;
        self.fabric.borrow_mut().power_off(node);
    }

    /// A node begins a new incarnation.
    pub fn reboot(&mut self, node: usize) {
        self.kill(node);
        let incarnation = self.incarnation();
        self.nodes[node] = NodeOf::boot(&self.fabric, node, incarnation, self.config, self.now);
    }

    /// Prints the last events of some nodes, to find the cause of a failure.
    pub fn dump(&mut self, nodes: &[usize], last: usize) {
        for &node in nodes {
            let log = &self.nodes[node].driver.tracer_mut().0;
            for (at, trace) in &log[log.len().saturating_sub(last)..] {
                println!("node {node} at {} ns: {trace:?}", at.as_nanos());
            }
        }
    }

    /// No sender was told that a message was not delivered that was (S0-17, S0-18).
    pub fn assert_deliveries(&self) {
        let fabric = self.fabric.borrow();
        // S0-18: what ended as delivered was seen, unless one of the two incarnations is over.
        let unseen = |id: &&u64| {
            let ends = fabric.addressed[*id];
            let incarnations =
                ends.iter().all(|(node, incarnation)| fabric.incarnations[node] == *incarnation);
            incarnations && !fabric.seen.contains(&(ends[1].1, **id))
        };
        let broken: Vec<_> = fabric.promised.iter().filter(unseen).collect();
        assert!(broken.is_empty(), "ended as delivered and never seen: {broken:?}");
        let both: Vec<_> = fabric.delivered.intersection(&fabric.not_delivered).collect();
        assert!(both.is_empty(), "delivered all the same: {both:?}");
    }

    /// No node ever had more pulls under way from another than it may (R25).
    pub fn assert_pulls(&self) {
        let fabric = self.fabric.borrow();
        for (pair, &most) in &fabric.most_pulls {
            assert!(most <= usize::from(self.config.pulls), "{pair:?}: {most} pulls");
        }
    }

    /// Nothing is owed.
    pub fn assert_drained(&self) {
        for node in self.nodes.iter().filter(|n| n.alive) {
            assert_eq!(
                node.open(),
                0,
                "node {}: not reported: {:?}",
                node.me,
                node.driver.blocker(0)
            );
            assert_eq!(
                node.driver.in_use(),
                (0, 0),
                "node {}: {:?}",
                node.me,
                node.driver.blocker(0)
            );
            assert_eq!(node.driver.blocker(0), None);
        }
    }
}
