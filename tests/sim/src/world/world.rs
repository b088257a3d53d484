// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Worlds of nodes that have one driver each, over several links.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use lnd_core::driver::Blocker;
use lnd_core::id::{LinkId, Nid};
use lnd_core::time::{Instant, Span};

use super::byzantine::Byzantine;
use super::defect::Defect;
use super::faults::Own;
use super::incarnation::HostIncarnation;
use super::plan::Scheduled;
use super::setup::Setup;
use crate::fabric::nid_of;
use crate::node::{DeliveryOracle, Tracking};
use crate::rng::Rng;
use crate::simulator::book::Book;
use crate::simulator::device::Pace;
use crate::simulator::fail::Violation;
use crate::simulator::fault_rates::EngineFaults;
use crate::simulator::layer::{Layer, Place};
use crate::simulator::mailbox::Lane;
use crate::simulator::network::Network;
use crate::simulator::tally::Tally;
use crate::simulator::world::{Beginning, Ground};

/// What such a world is besides nodes, time and users.
pub struct Links<'m> {
    pub(super) setup: Setup,
    pub(super) defect: Option<Defect>,
    /// The only network.
    pub(super) net: Rc<RefCell<Network<'m>>>,
    pub(super) engine_faults: Rc<Cell<EngineFaults>>,
    /// Requests that upper layers keep, per million, and the longest such time in microseconds.
    pub(super) keep_rates: Rc<Cell<(u32, u32)>>,
    /// Follows every message from end to end.
    pub(super) tracking: Option<Tracking>,
    /// The byzantine node.
    pub(super) byzantine: Option<Byzantine<'m>>,
    /// Decides what slow hosts do.
    pub(super) host_rng: Rng,
}

/// The world.
pub type World<'m> = crate::simulator::World<'m, Links<'m>>;

/// A world in which no host has started.
pub fn begin<'m>(
    ground: Ground<'m>,
    setup: Setup,
    mut rng: Rng,
    defect: Option<Defect>,
    tally: Tally,
) -> World<'m> {
    let confuses = defect == Some(Defect::WrongTag);
    let mut network = Network::new(rng.fork(), tally.clone(), setup.room, confuses);
    network.preemptions = setup.preemptions;
    for a in 0..setup.nodes {
        for b in setup.far(a) {
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
    let net = Rc::new(RefCell::new(network));
    let host_rng = Rng::new(rng.clone().next());
    let book = Book::new(setup.lawless());
    let beginning =
        Beginning { ground, start, nets: [net.clone()].into(), tally, book, rng, traffic: true };
    let nodes = setup.nodes;
    let layer = Links {
        setup,
        defect,
        net,
        engine_faults: Rc::default(),
        keep_rates: Rc::default(),
        tracking,
        byzantine: None,
        host_rng,
    };
    World::new(beginning, nodes, layer)
}

impl<'m> Layer<'m> for Links<'m> {
    type HostIncarnation = HostIncarnation<'m>;
    type Scheduled = Scheduled;
    type Own = Own;

    const LOOKS_OFTEN: bool = true;
    const USERS_STAY: bool = true;

    fn places(&self, host: u32) -> Vec<Place> {
        self.setup.all_links().map(|link| Place { number: host, link, net: 0 }).collect()
    }

    fn number_of(&self, host: u32, _at: usize) -> u32 {
        host
    }

    fn host_of(&self, number: u32) -> Option<u32> {
        Some(number)
    }

    fn pace(&self, _host: u32, _at: usize) -> Pace {
        self.setup.pace()
    }

    fn slots(&self) -> u32 {
        self.setup.config.slots
    }

    fn pause(&self) -> Span {
        self.setup.pause
    }

    fn latency(rng: &mut Rng) -> Span {
        if rng.below(100) == 0 {
            Span::from_nanos(rng.below(3_000_000))
        } else {
            Span::from_nanos(200 + rng.below(10_000))
        }
    }

    fn is_at_rest(&self, incarnation: &HostIncarnation<'m>) -> bool {
        incarnation.at_rest(self.goes_on())
    }

    fn lawless(&self) -> Option<u32> {
        self.setup.lawless()
    }

    fn interrupt_budget(rng: &mut Rng) -> u32 {
        rng.between(1, 16) as u32
    }

    fn notified_by_thread(rng: &mut Rng) -> bool {
        rng.below(2) == 0
    }

    fn paused(&self, host: Option<&HostIncarnation<'m>>, now: Instant) -> Option<Instant> {
        host.map(|incarnation| incarnation.paused).filter(|&until| until > now)
    }

    fn on_time(&mut self, now: Instant) {
        if let Some(oracle) = &self.tracking {
            oracle.borrow_mut().now = now;
        }
    }

    fn kick_own(world: &mut World<'m>, host: u32) -> bool {
        let lawless = world.is_lawless(host);
        if lawless {
            world.kick_byzantine();
        }
        lawless
    }

    fn on_frame(world: &mut World<'m>, _net: usize, lane: Lane) {
        // Frames stay in a node's mailboxes until its thread runs, if it does not listen to
        // interrupts.
        let waits = world.paused(lane.to).is_some() || world.layer.setup.plan.hosts.polls;
        if waits && !world.is_lawless(lane.to) {
            world.wake(lane.to);
        } else {
            world.read(lane, u32::MAX);
        }
    }

    fn thread(world: &mut World<'m>, host: u32) -> Result<Option<u32>, Violation> {
        world.thread(host)
    }

    fn after_idea(world: &mut World<'m>, host: u32) {
        if world.traffic && world.rng.chance(world.layer.setup.withdrawals) {
            // Some transfer or other that is under way.
            let from = world.rng.below(u64::from(world.layer.setup.config.slots)) as u32;
            let now = world.now;
            let Some(incarnation) = world.incarnation(host) else { return };
            if let Some(Blocker::Transfer { tag, .. }) = incarnation.node.driver.blocker(from) {
                incarnation.node.driver.withdraw(now, tag);
                world.tally.count("transfers withdrawn");
            }
        }
    }

    fn own(world: &mut World<'m>, event: Own) -> Result<Option<u32>, Violation> {
        world.own(event)
    }

    fn begin(world: &mut World<'m>, it: Scheduled) {
        world.begin(it);
    }

    fn link_up(world: &mut World<'m>, host: u32, at: usize) {
        if let Some(link) = LinkId::new(at) {
            world.turn_link(host, link, true);
        }
    }

    fn new_incarnation(world: &mut World<'m>, host: u32) -> Result<HostIncarnation<'m>, String> {
        world.new_incarnation(host)
    }

    fn forget(world: &mut World<'m>, host: u32) {
        if let Some(oracle) = &world.layer.tracking {
            oracle.borrow_mut().incarnations(host, None);
        }
    }

    fn check(world: &mut World<'m>, host: u32) -> Result<(), Violation> {
        world.check(host)
    }
}

impl World<'_> {
    /// A node reads a mailbox, as far as it can take what is in it, but at most `budget` frames.
    pub(super) fn read(&mut self, lane: Lane, budget: u32) {
        if self.is_lawless(lane.to) {
            self.hear(lane);
            return;
        }
        let (now, net) = (self.now, self.layer.net.clone());
        let Some(incarnation) = self.incarnation(lane.to) else { return };
        if incarnation.waiting.holds(lane) {
            return;
        }
        let reading = Network::read(&net, lane, budget, |bytes| {
            incarnation.node.on_frame(now, lane.link, lane.from, bytes)
        });
        incarnation.node.driver.ring();
        incarnation.waiting.note(lane, reading);
        // A frame that waits may have given the driver something to do, too.
        self.wake(lane.to);
    }
}

impl Links<'_> {
    /// The byzantine node, if it goes on although the faults have ended.
    pub(super) fn goes_on(&self) -> Option<Nid> {
        let rates = self.setup.plan.byzantine.filter(|rates| rates.goes_on)?;
        Some(nid_of(rates.node))
    }
}
