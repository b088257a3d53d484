// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The desk: one node's `lnd-health` with the names that this world uses. Interfaces go by their
//! numbers in the fabric, nodes by theirs.

mod view;

pub use view::NiHealth;

use std::collections::{BTreeMap, BTreeSet};

use lnd_core::id::{Incarnation, Nid, Tag};
use lnd_core::time::{Instant, Span};
use lnd_core::transfer::Status;
use lnd_health::attempts::{Attempts, Path, Terms};
use lnd_health::node::{Action, End, Ended, Next, PeerSettings, Ping, Probe};
use lnd_health::prober::{Finding, ProbeEnd};
use lnd_health::select::{Choice, NoPath};
use lnd_health::tracker::{TrackEnd, Tracking, Wants};
use lnd_health::{
    Health, HealthConfig, HealthValue, NiId, Object, PeerId, PeerNiId, ProbeKinds, Profile,
    Refusal, Stamp, WindowCheck,
};

use super::kind::Kind;
use super::plan::{self, Plan};
use super::world::NiSpec;
use crate::node::Arena;

/// Ways back that are remembered at most.
const WAYS_BACK: usize = 4096;

/// A path: the place of our interface, and the number of the next hop's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// Ours.
    pub local: usize,
    /// The next hop's.
    pub hop: u32,
}

/// A path that was chosen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chosen {
    pub route: Route,
    choice: Choice,
}

/// One node's health.
pub struct HealthView<'m> {
    /// The health itself.
    pub health: Health<'m>,
    locals: Vec<NiId>,
    /// By node.
    peers: BTreeMap<u32, PeerId>,
    /// By number.
    peer_nis: BTreeMap<u32, PeerNiId>,
    numbers: BTreeMap<u32, u32>,
    back: BTreeMap<(u32, Tag), Route>,
    tracking: Tracking,
    compat: bool,
}

/// The address that health knows an interface by: its network is in the upper half.
fn nid(number: u32, net: usize) -> Result<Nid, String> {
    let raw = (net as u64 + 1) << 32 | u64::from(number + 1);
    Nid::from_raw(raw).ok_or_else(|| "NID zero".into())
}

fn config(
    plan: &Plan,
    (host, incarnation): (u32, u32),
    specs: &[NiSpec],
    seed: u32,
) -> HealthConfig {
    let locals = specs.iter().filter(|s| s.host == host).count() as u8;
    let mut config = HealthConfig::new(locals, plan.hosts.len() as u32, specs.len() as u32);
    if plan.profile == plan::Profile::LnetCompat {
        config = config.lnet_compat();
    }
    config.retries = plan.retries.unwrap_or(config.retries);
    config.sensitivity = plan.sensitivity;
    config.recovery_limit = Span::from_secs(u64::from(plan.recovery_limit_s));
    config.routing = plan.hosts.get(host as usize).is_some_and(|h| h.router);
    config.probe.idle = Span::from_millis(100);
    config.probe.again = Span::from_millis(250);
    config.probe.hold_off = Span::from_millis(600);
    config.seed = seed;
    config.incarnation = incarnation_from(incarnation);
    config
}

impl<'m> HealthView<'m> {
    /// The health view of node `host` in one incarnation, which knows all interfaces and routes.
    ///
    /// # Errors
    /// In words.
    pub fn new(
        arena: &'m Arena,
        (host, incarnation): (u32, u32),
        plan: &Plan,
        specs: &[NiSpec],
        now: Instant,
        seed: u32,
    ) -> Result<Self, String> {
        let config = config(plan, (host, incarnation), specs, seed);
        let memory = arena.block(config.bytes_needed());
        let health = Health::create(memory, config, now).map_err(|e| format!("{e:?}"))?;
        let mut this = Self {
            health,
            locals: Vec::new(),
            peers: BTreeMap::new(),
            peer_nis: BTreeMap::new(),
            numbers: BTreeMap::new(),
            back: BTreeMap::new(),
            tracking: Tracking::Both,
            compat: config.profile == Profile::LnetCompat,
        };
        let fail = |error: lnd_health::node::Full| format!("{error:?}");
        for (number, spec) in (0_u32..).zip(specs) {
            let address = nid(number, spec.net)?;
            if spec.host == host {
                this.locals.push(this.health.add_local(address).map_err(fail)?);
                continue;
            }
            let peer = match this.peers.get(&spec.host) {
                Some(&peer) => peer,
                None => {
                    let router = plan.hosts.get(spec.host as usize).is_some_and(|h| h.router);
                    let settings = PeerSettings { router, suppresses: true, bound: None };
                    let peer = this.health.add_peer(settings).map_err(fail)?;
                    this.peers.insert(spec.host, peer);
                    peer
                }
            };
            let ni = this.health.add_peer_ni(peer, address).map_err(fail)?;
            this.peer_nis.insert(number, ni);
            this.numbers.insert(ni.raw(), number);
        }
        this.add_routes(host, plan, specs)?;
        this.watch_all(host, plan, specs, now);
        Ok(this)
    }

    /// Through every router that we have a network in common with, to all its other networks.
    fn add_routes(&mut self, host: u32, plan: &Plan, specs: &[NiSpec]) -> Result<(), String> {
        let nets = |of: u32| specs.iter().filter(move |s| s.host == of).map(|s| s.net);
        for (number, spec) in (0_u32..).zip(specs) {
            let router = plan.hosts.get(spec.host as usize).is_some_and(|h| h.router);
            if !router || spec.host == host || !nets(host).any(|net| net == spec.net) {
                continue;
            }
            let Some(&gateway) = self.peer_nis.get(&number) else { continue };
            let far: BTreeSet<usize> =
                nets(spec.host).filter(|&net| nets(host).all(|own| own != net)).collect();
            for net in far {
                let added = self.health.add_route(net as u32 + 1, gateway);
                added.map_err(|error| format!("{error:?}"))?;
            }
        }
        Ok(())
    }

    fn watch_all(&mut self, host: u32, plan: &Plan, specs: &[NiSpec], now: Instant) {
        *self.health.probe_kinds() = ProbeKinds::offered(true, false, true, false);
        if !plan.probes {
            return;
        }
        for (number, &ni) in self.peer_nis.clone().iter() {
            let Some(spec) = specs.get(*number as usize) else { continue };
            let shared = specs.iter().any(|s| s.host == host && s.net == spec.net);
            // Where the fabric has no remote reads there is nothing to probe with (R56).
            let kind = plan.networks.get(spec.net).map(|net| net.kind);
            if shared && kind.is_some_and(|kind| kind != Kind::Stream) {
                self.health.published(ni, true);
                self.health.add_user(ni);
                self.health.watch(now, ni, false);
            }
        }
    }

    /// The name of an interface of a peer.
    pub fn peer_ni(&self, number: u32) -> Option<PeerNiId> {
        self.peer_nis.get(&number).copied()
    }

    /// The name of one of ours.
    pub fn local(&self, ni: usize) -> Option<NiId> {
        self.locals.get(ni).copied()
    }

    fn route_of(&self, path: Path) -> Option<Route> {
        let local = self.locals.iter().position(|&id| id == path.local)?;
        Some(Route { local, hop: *self.numbers.get(&path.hop.raw())? })
    }

    /// Opens a message's attempts; `back`: it answers what came by that path.
    pub(super) fn open(
        &mut self,
        to: u32,
        cookie: u64,
        deadline: Instant,
        back: Option<Route>,
    ) -> Option<Attempts> {
        let peer = *self.peers.get(&to)?;
        let destination = back.and_then(|route| self.peer_ni(route.hop));
        let any = Terms::new(cookie, deadline);
        let attempts = self.health.open(peer, Terms { destination, ..any })?;
        if destination.is_none() || self.health.choose(&attempts, &[]).is_ok() {
            return Some(attempts);
        }
        // The way back is no way any more.
        let _ = self.health.give_up(attempts, NoPath::Unusable);
        self.health.open(peer, any)
    }

    /// What the header of a message's try carries.
    pub(super) fn stamp(&self, attempts: &Attempts) -> Option<Stamp> {
        self.health.stamp(attempts)
    }

    /// The path of the next try.
    pub(super) fn choose(&self, attempts: &Attempts) -> Result<Chosen, NoPath> {
        let choice = self.health.choose(attempts, &[])?;
        let route = self.route_of(choice.path).ok_or(NoPath::Unknown)?;
        Ok(Chosen { route, choice })
    }

    /// A try begins at `clock`, which is `now` but for a seeded defect. Until when it may take;
    /// `None`: no more tries may begin.
    pub(super) fn begin(
        &mut self,
        now: Instant,
        clock: Instant,
        attempts: &mut Attempts,
        chosen: &Chosen,
    ) -> Option<Instant> {
        self.health.begin(clock, attempts, &chosen.choice).then(|| self.health.slice(now, attempts))
    }

    /// A try has ended.
    pub(super) fn ended(&mut self, now: Instant, attempts: Attempts, status: &Status) -> Next {
        self.health.outcome(now, attempts, End::of(status))
    }

    /// A try was refused at the call (R46).
    pub(super) fn refused(&mut self, now: Instant, attempts: Attempts, why: Refusal) -> Next {
        self.health.refused(now, attempts, why)
    }

    /// There is no path.
    pub(super) fn give_up(&mut self, attempts: Attempts, why: NoPath) -> Ended {
        self.health.give_up(attempts, why)
    }

    /// Whether an answer is waited for.
    pub(super) fn tracks(&self, wants: Wants) -> bool {
        self.tracking.tracks(wants, false, None)
    }

    /// An answer did not come in time.
    pub(super) fn no_answer(&mut self, now: Instant, number: u64, end: &TrackEnd) {
        self.health.no_response(now, *end, number);
    }

    /// Something has come from a peer's interface by one of ours.
    pub(super) fn heard(&mut self, now: Instant, ni: usize, number: u32) {
        if let Some(from) = self.peer_ni(number) {
            self.health.received(now, from, self.local(ni));
        }
    }

    /// A message with a stamp has come from a peer (R45).
    pub(super) fn arrived(&mut self, host: u32, stamp: Stamp) -> WindowCheck {
        let peer = self.peers.get(&host);
        peer.map_or(WindowCheck::Stale, |&peer| self.health.arrived(peer, stamp))
    }

    /// A frame shows which incarnation a peer is in.
    pub(super) fn incarnation_shown(&mut self, host: u32, incarnation: u32) {
        if let (Some(&peer), Some(incarnation)) =
            (self.peers.get(&host), incarnation_from(incarnation))
        {
            self.health.peer_incarnation(peer, incarnation);
        }
    }

    /// A message that has come was received, or was not after all.
    pub(super) fn received(&mut self, (host, stamp): (u32, Stamp), received: bool) {
        let Some(&peer) = self.peers.get(&host) else { return };
        if received {
            self.health.message_received(peer, stamp);
        } else {
            self.health.message_not_received(peer, stamp);
        }
    }

    /// Answers go back where their request came from.
    pub(super) fn note_way_back(&mut self, host: u32, request: Tag, route: Route) {
        if self.back.len() >= WAYS_BACK {
            self.back.pop_first();
        }
        self.back.insert((host, request), route);
    }

    /// The path that a request has come by.
    pub(super) fn way_back(&mut self, host: u32, request: Tag) -> Option<Route> {
        self.back.remove(&(host, request))
    }

    /// What health does of its own accord now.
    pub(super) fn next_action(&mut self, now: Instant) -> Option<Action> {
        self.health.next_action(now)
    }

    /// The path of a ping; `None`: one of ours pings itself.
    pub(super) fn ping_route(&self, ping: &Ping) -> Option<Route> {
        ping.path.and_then(|path| self.route_of(path))
    }

    /// The number of a probe's interface.
    pub(super) fn probed_number(&self, probe: &Probe) -> Option<u32> {
        self.numbers.get(&probe.peer_ni.raw()).copied()
    }

    /// How a ping ended.
    pub(super) fn pinged(&mut self, now: Instant, ping: Ping, end: impl Into<End>) {
        self.health.answered(now, ping, end);
    }

    /// How a probe ended.
    pub(super) fn probed(&mut self, now: Instant, probe: Probe, end: ProbeEnd) -> Finding {
        self.health.probed(now, probe, end)
    }

    /// When there is something to do again.
    pub(super) fn next(&self) -> Option<Instant> {
        let next = self.health.next_deadline();
        (next != Instant::NEVER).then_some(next)
    }

    /// The fabric says that one of ours is unusable.
    pub(super) fn fatal(&mut self, now: Instant, ni: usize, fatal: bool) {
        if let Some(id) = self.local(ni) {
            self.health.fatal(now, id, fatal);
        }
    }

    /// An operator sets the health of one of ours.
    pub(super) fn set_health(&mut self, now: Instant, ni: usize, value: u16) {
        if let Some(id) = self.local(ni) {
            self.health.set_health(now, Object::Local(id), HealthValue::new(value));
        }
    }

    /// One of ours takes nothing new, or takes work again.
    pub(super) fn drain(&mut self, now: Instant, ni: usize, drain: bool) {
        if let Some(id) = self.local(ni) {
            self.health.drain_local(now, id, drain);
        }
    }

    /// The transport moves the path to a peer's interface, or has done so (S2-8).
    pub(super) fn migrating(&mut self, number: u32, migrating: bool) {
        if let Some(id) = self.peer_ni(number) {
            self.health.migrating(id, migrating);
        }
    }

    /// Begins to end.
    pub(super) fn shut_down(&mut self) {
        self.health.shut_down();
    }
}

fn incarnation_from(incarnation: u32) -> Option<Incarnation> {
    Incarnation::from_raw(u64::from(incarnation))
}
