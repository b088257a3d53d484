// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Worlds and nodes come and go.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use lnd_core::sync::AtomicU32;
use lnd_core::time::{Instant, Span};

use super::health_view::HealthView;
use super::host::{Counts, Host, HostIncarnation};
use super::oracle::{Defect, Oracle};
use super::plan::{Plan, Profile};
use super::rail::{Ground, Rail};
use super::rules::Rules;
use super::world::{number_all, Event, NiSpec, World};
use crate::fabric::{nid_of, Fabric, Mapping, MemoryWindow, Shape};
use crate::lnet::{Config, Lnet, Routes, Unlisted};
use crate::node::{Arena, Stats};
use crate::rng::Rng;
use crate::simulator::book::Book;
use crate::simulator::fail::Violation;
use crate::simulator::network::Network;
use crate::simulator::plan::FaultPlan;
use crate::simulator::queue::Queue;
use crate::simulator::tally::{Mixer, Recorder, Tally};
use crate::simulator::user::{Habits, User};
use crate::world::setup::{Setup, WINDOW};
use crate::world::Options;

/// Transfer slots of each driver.
const SLOTS: u32 = 64;

/// Builds the world of a plan and lets `run` play with it.
///
/// # Errors
/// A plan that cannot be, or a node that cannot be born.
pub fn with<R>(
    plan: &Plan,
    seed: u64,
    defect: Option<Defect>,
    run: impl FnOnce(&mut World<'_>) -> R,
) -> Result<R, String> {
    plan.check_alone().map_err(|error| error.to_string())?;
    let specs: Rc<[NiSpec]> = number_all(plan).into();
    let mut rng = Rng::new(seed);
    let setup = setup_of(plan, seed, &mut rng)?;
    let shape = Shape::new(specs.len() as u32, 1, SLOTS, WINDOW);
    let mapping = Mapping::anonymous(shape.bytes_needed()).map_err(|error| error.to_string())?;
    let fabric = Fabric::format(&mapping, shape).map_err(|error| error.to_string())?;
    let (arena, objections) = (Arena::new(), AtomicU32::new(0));
    let tally = Tally::default();
    let nets = nets_of(plan, &specs, &mut rng, &tally);
    let ground = Ground {
        fabric: &fabric,
        arena: &arena,
        objections: &objections,
        homes: specs.iter().map(|spec| spec.host).collect(),
        nets,
        kinds: plan.networks.iter().map(|net| net.kind).collect(),
        faults: Rc::default(),
        tally,
        slots: SLOTS,
    };
    let mut world = World::new(ground, plan.clone(), setup, specs, rng, defect);
    for host in 0..plan.hosts.len() as u32 {
        world.start(host).map_err(|violation| violation.what)?;
    }
    world.schedule_plan();
    Ok(run(&mut world))
}

/// What the nodes' users go by.
fn setup_of(plan: &Plan, seed: u64, rng: &mut Rng) -> Result<Setup, String> {
    let options = Options {
        seed,
        nodes: Some(plan.hosts.len() as u32),
        links: Some(1),
        seconds: Some(1),
        routed: Some(false),
        byzantine: Some(false),
        wraps: None,
        pauses: Some(false),
        connections: None,
        faults: Some(crate::world::Plan::default()),
    };
    let mut setup = Setup::draw(&options, rng).map_err(|error| error.to_string())?;
    setup.timeout = Span::from_millis(u64::from(plan.timeout_ms));
    // What no kind of fabric sends inline.
    setup.config.immediate_max = 4096;
    setup.frame = 4480;
    Ok(setup)
}

fn nets_of<'m>(
    plan: &Plan,
    specs: &[NiSpec],
    rng: &mut Rng,
    tally: &Tally,
) -> Rc<[Rc<RefCell<Network<'m>>>]> {
    let net = |(number, net): (usize, &super::plan::Net)| {
        let mut network = Network::new(rng.fork(), tally.clone(), net.kind.room(), false);
        network.watched = false;
        for (a, one) in specs.iter().enumerate() {
            for (b, other) in specs.iter().enumerate() {
                if one.net != number || other.net != number {
                    network.part(a as u32, b as u32);
                }
            }
        }
        Rc::new(RefCell::new(network))
    };
    plan.networks.iter().enumerate().map(net).collect()
}

impl<'m> World<'m> {
    fn new(
        ground: Ground<'m>,
        plan: Plan,
        setup: Setup,
        specs: Rc<[NiSpec]>,
        rng: Rng,
        defect: Option<Defect>,
    ) -> Self {
        let start = Instant::from_nanos(1_000_000_000);
        Self {
            hosts: (0..plan.hosts.len()).map(|_| Host::new()).collect(),
            rules: Rules::new(&plan.rules, start),
            oracle: Oracle::new(plan.most_tries(), plan.profile == Profile::Seed),
            ground,
            setup,
            defect,
            specs,
            now: start,
            start,
            step: 0,
            queue: Queue::default(),
            book: Book::default(),
            rng,
            hash: Mixer::default(),
            calm: false,
            traffic: plan.pause_ms > 0,
            plan,
        }
    }

    /// Whether a node has no network in common with another.
    pub(super) fn is_far(&self, from: u32, to: u32) -> bool {
        let nets = |host: u32| {
            let of = self.specs.iter().filter(move |s| s.host == host);
            of.map(|s| s.net).collect::<BTreeSet<_>>()
        };
        from != to && nets(from).is_disjoint(&nets(to))
    }

    /// A router with a network in common with both, if there is one.
    fn router_between(&self, from: u32, to: u32) -> Option<u32> {
        let routers = (0_u32..).zip(&self.plan.hosts).filter(|(_, host)| host.router);
        let mut routers = routers.map(|(number, _)| number);
        routers.find(|&r| !self.is_far(from, r) && !self.is_far(r, to))
    }

    /// A node begins a life.
    pub(super) fn start(&mut self, host: u32) -> Result<(), Violation> {
        let incarnation = self
            .new_incarnation(host)
            .map_err(|what| Violation::at(host, format!("birth: {what}")))?;
        if let Some(place) = self.hosts.get_mut(host as usize) {
            place.incarnation = Some(incarnation);
            place.incarnations += 1;
        }
        let first = self.now.after(Span::from_micros(self.rng.below(5_000)));
        if self.traffic {
            if let Some(incarnation) = self.incarnation(host) {
                incarnation.user_at = Some(first);
            }
            self.queue.push(first, Event::User(host));
        }
        self.wake(host);
        self.kick(host);
        Ok(())
    }

    fn new_incarnation(&mut self, host: u32) -> Result<HostIncarnation<'m>, String> {
        let ground = self.ground.clone();
        let recorder = self.hosts.get(host as usize).map(|h| h.recorder.clone());
        let recorder = recorder.ok_or("no such node")?;
        let number = self.hosts.get(host as usize).map_or(1, |h| h.incarnations + 1);
        let window = MemoryWindow::new(ground.fabric, host);
        let far: Vec<u32> =
            (0..self.hosts.len() as u32).filter(|&to| self.is_far(host, to)).collect();
        let habits = Habits { far: far.clone(), ..self.setup.habits(host) };
        let mut user = User::new(host, window, self.rng.fork(), habits);
        let mut rails = Vec::new();
        let specs = self.specs.clone();
        let own = (0_u32..).zip(specs.iter()).filter(|(_, spec)| spec.host == host);
        for (number, spec) in own {
            rails.push(Rail::new(&ground, number, spec.net, &mut self.rng, recorder.clone())?);
        }
        let routes = self.routes_of(host, &far)?;
        let router = self.plan.hosts.get(host as usize).is_some_and(|h| h.router);
        let config = Config {
            first_generation: self.rng.next() as u32,
            routes,
            router: router.then(|| user.router()),
            ..Config::new(nid_of(host))
        };
        let mut lnet = Lnet::new(config).map_err(|error| format!("{error:?}"))?;
        user.furnish(&mut lnet);
        let health_view = HealthView::new(
            ground.arena,
            (host, number),
            &self.plan,
            &specs,
            self.now,
            self.rng.next() as u32,
        )?;
        Ok(HostIncarnation {
            host,
            number,
            rails,
            lnet,
            user,
            health_view,
            thread_at: None,
            user_at: None,
            stats: Stats::default(),
            counts: Counts::default(),
            specs,
            timeout: self.setup.timeout,
            memory: ground.fabric.oracle(),
            loans: BTreeMap::new(),
            work: BTreeMap::new(),
            next_work: 1,
            messages: BTreeMap::new(),
            again: VecDeque::new(),
            delayed: BTreeSet::new(),
            trackers: BTreeMap::new(),
            probes: BTreeMap::new(),
            pings: BTreeMap::new(),
            pongs: Vec::new(),
            defect: self.defect,
            ending: false,
        })
    }

    /// Next hops to the nodes behind a router.
    fn routes_of(&self, host: u32, far: &[u32]) -> Result<Routes, String> {
        let mut routes = Routes::new(Unlisted::Direct);
        for &to in far {
            let via = self.router_between(host, to).ok_or("no way between two nodes")?;
            routes = routes.with(nid_of(to), nid_of(via));
        }
        Ok(routes)
    }

    /// A node's life ends, now, in whatever state it is.
    pub(super) fn mark_dead(&mut self, host: u32) {
        let Some(place) = self.hosts.get_mut(host as usize) else { return };
        place.end_incarnation();
        self.book.mark_dead(host);
        self.oracle.mark_dead(host);
        for (number, spec) in self.specs.iter().enumerate().filter(|(_, s)| s.host == host) {
            if let Some(net) = self.ground.nets.get(spec.net) {
                net.borrow_mut().forget(number as u32);
            }
        }
    }
}

impl<'m> Host<'m> {
    fn new() -> Self {
        Self {
            incarnation: None,
            incarnations: 0,
            recorder: Recorder::new(4096),
            stats: Stats::default(),
            counts: Counts::default(),
        }
    }

    /// Ends the present life and keeps what is to be told of it.
    pub(super) fn end_incarnation(&mut self) -> Option<HostIncarnation<'m>> {
        let incarnation = self.incarnation.take()?;
        self.stats.merge(&incarnation.stats);
        self.counts.merge(&incarnation.counts);
        Some(incarnation)
    }

    /// What all lives have counted, the present one included.
    pub fn all_counts(&self) -> Counts {
        let mut all = self.counts.clone();
        if let Some(incarnation) = &self.incarnation {
            all.merge(&incarnation.counts);
        }
        all
    }
}

impl Counts {
    /// Adds others.
    pub fn merge(&mut self, other: &Self) {
        self.messages += other.messages;
        self.resends += other.resends;
        self.resent_ok += other.resent_ok;
        self.resent_failed += other.resent_failed;
        self.failed += other.failed;
        self.late += other.late;
        self.pings.0 += other.pings.0;
        self.pings.1 += other.pings.1;
        self.response_timeouts += other.response_timeouts;
        self.second_copies += other.second_copies;
        self.found_down += other.found_down;
        self.cleaned_up += other.cleaned_up;
        for (mine, theirs) in self.probes.iter_mut().zip(other.probes) {
            *mine += theirs;
        }
        for (&class, count) in &other.classes {
            *self.classes.entry(class).or_default() += count;
        }
        self.recovered_after.0 += other.recovered_after.0;
        self.recovered_after.1 += other.recovered_after.1;
    }
}
