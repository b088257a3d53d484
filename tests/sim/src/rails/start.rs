// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A world of a plan, and a host of it, start.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use lnd_core::time::Instant;
use lnd_shortmsg::wire::max_immediate;

use super::health_view::HealthView;
use super::host::{Counts, HostIncarnation};
use super::oracle::{Defect, Oracle};
use super::plan::{Plan, Profile};
use super::rail::{Common, Rail, SLOTS};
use super::rules::Rules;
use super::world::{number_all, NiSpec, Rails, World};
use crate::fabric::{nid_of, MemoryWindow, Shape};
use crate::lnet::{Config, Lnet, Routes, Unlisted};
use crate::node::Stats;
use crate::rng::Rng;
use crate::simulator::book::Book;
use crate::simulator::layer::{Layer, Turns};
use crate::simulator::network::Network;
use crate::simulator::plan::{FaultPlan, PlanError};
use crate::simulator::tally::Tally;
use crate::simulator::user::{Habits, User};
use crate::simulator::world::{on_ground, Beginning, Ground, Networks, WINDOW};
use crate::world::setup::Setup;
use crate::world::Options;

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
    with_tally(plan, seed, defect, Tally::default(), run)
}

/// As [`with`]; faults are counted in `tally`, which may log all else, too.
pub(super) fn with_tally<R>(
    plan: &Plan,
    seed: u64,
    defect: Option<Defect>,
    tally: Tally,
    run: impl FnOnce(&mut World<'_>) -> R,
) -> Result<R, String> {
    plan.check_alone().map_err(|error| error.to_string())?;
    let specs: Rc<[NiSpec]> = number_all(plan).into();
    let mut rng = Rng::new(seed);
    skip_draws(plan, seed, &mut rng).map_err(|error| error.to_string())?;
    let shape = Shape::new(specs.len() as u32, 1, SLOTS, WINDOW).without_mailboxes();
    on_ground(shape, |ground| {
        let mut world = begin(ground, plan, specs, (rng, tally), defect);
        world.all().try_for_each(|host| world.start_host(host)).map_err(|broken| broken.what)?;
        world.schedule(plan.events.iter().map(|&event| (event.at_ms, event)));
        Ok(run(&mut world))
    })?
}

/// A world in which no host has started.
fn begin<'m>(
    ground: Ground<'m>,
    plan: &Plan,
    specs: Rc<[NiSpec]>,
    (mut rng, tally): (Rng, Tally),
    defect: Option<Defect>,
) -> World<'m> {
    let nets = nets_of(plan, &specs, &mut rng, &tally);
    let start = Instant::from_nanos(1_000_000_000);
    let layer = Rails {
        common: Common {
            ground,
            homes: specs.iter().map(|spec| spec.host).collect(),
            nets: nets.clone(),
            kinds: plan.networks.iter().map(|net| net.kind).collect(),
            faults: Rc::default(),
            tally: tally.clone(),
        },
        rules: Rules::new(&plan.rules, start),
        oracle: Oracle::new(plan.most_tries(), plan.profile == Profile::Seed),
        plan: plan.clone(),
        defect,
        specs,
    };
    let (book, traffic) = (Book::default(), plan.pause_ms > 0);
    let beginning = Beginning { ground, start, nets, tally, book, rng, traffic };
    World::new(beginning, plan.hosts.len() as u32, layer)
}

/// Takes from the generator what a world of the other kind would draw. Multi-rail worlds once began
/// with that, and a seed has to stay the run that it was.
fn skip_draws(plan: &Plan, seed: u64, rng: &mut Rng) -> Result<(), PlanError> {
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
    Setup::draw(&options, rng).map(|_| ())
}

fn nets_of<'m>(plan: &Plan, specs: &[NiSpec], rng: &mut Rng, tally: &Tally) -> Networks<'m> {
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
    /// Whether a node has no network in common with another.
    pub(super) fn is_far(&self, from: u32, to: u32) -> bool {
        let nets = |host: u32| {
            let of = self.layer.specs.iter().filter(move |s| s.host == host);
            of.map(|s| s.net).collect::<BTreeSet<_>>()
        };
        from != to && nets(from).is_disjoint(&nets(to))
    }

    /// A router with a network in common with both, if there is one.
    fn router_between(&self, from: u32, to: u32) -> Option<u32> {
        let routers = (0_u32..).zip(&self.layer.plan.hosts).filter(|(_, host)| host.router);
        let mut routers = routers.map(|(number, _)| number);
        routers.find(|&r| !self.is_far(from, r) && !self.is_far(r, to))
    }

    /// A host starts.
    pub(super) fn new_incarnation(&mut self, host: u32) -> Result<HostIncarnation<'m>, String> {
        let (ground, common) = (self.ground, self.layer.common.clone());
        let place = self.hosts.get(host as usize).ok_or("no such node")?;
        let (number, recorder) = (place.incarnations + 1, place.recorder.clone());
        let window = MemoryWindow::new(ground.fabric, host);
        let far: Vec<u32> = self.all().filter(|&to| self.is_far(host, to)).collect();
        let habits = Habits {
            nodes: self.hosts.len() as u32,
            others: self.hosts.len() as u32 - 1,
            // What every kind of fabric sends inline, at most.
            inline: max_immediate(4480).min(4096),
            patience: self.layer.timeout().times(3),
            far: far.clone(),
        };
        let mut user = User::new(host, window, self.rng.fork(), habits);
        let mut rails = Vec::new();
        for it in self.layer.places(host) {
            let recorder = recorder.of_unit(it.number);
            rails.push(Rail::new(&common, it.number, it.net, &mut self.rng, recorder)?);
        }
        let lnet = self.new_lnet(host, &far, &mut user)?;
        let specs = self.layer.specs.clone();
        let health_view = HealthView::new(
            ground.arena,
            (host, number),
            &self.layer.plan,
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
            turns: Turns::default(),
            stats: Stats::default(),
            counts: Counts::default(),
            specs,
            timeout: self.layer.timeout(),
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
            defect: self.layer.defect,
            ending: false,
        })
    }

    fn new_lnet(&mut self, host: u32, far: &[u32], user: &mut User<'m>) -> Result<Lnet, String> {
        let routes = self.routes_of(host, far)?;
        let router = self.layer.plan.hosts.get(host as usize).is_some_and(|h| h.router);
        let config = Config {
            first_generation: self.rng.next() as u32,
            routes,
            router: router.then(|| user.router()),
            ..Config::new(nid_of(host))
        };
        let mut lnet = Lnet::new(config).map_err(|error| format!("{error:?}"))?;
        user.furnish(&mut lnet);
        Ok(lnet)
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
}
