// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a seed decides before anything happens: topology, sizes, times, and the fault plan unless
//! the caller brings one. Every seed draws its own kinds of fault and its own rates ("swarm"), so
//! that a thousand seeds meet a thousand different adversaries.

use lnd_core::config::Config;
use lnd_core::id::LinkId;
use lnd_core::ports::Features;
use lnd_core::time::{Instant, Span};
use lnd_core::transfer::Policy;
use lnd_dma::soft::Settings;
use lnd_shortmsg::wire::max_immediate;

use super::byzantine::Rates;
use super::plan::Plan;
use super::swarm::{draw_connections, draw_pauses, swarm};
use super::{Options, ALL_TALK};
use crate::fabric::Shape;
use crate::rng::Rng;
use crate::simulator::device::Pace;
use crate::simulator::plan::PlanError;
use crate::simulator::user::Habits;
use crate::simulator::world::WINDOW;

/// Whether seeds draw pauses if they are not asked.
const PAUSES: bool = false;
/// Tells the generator of slow hosts from all others of the seed.
const SLOW: u64 = 0x510_0000_0000_0001;
/// Tells the generator of the channel's nature.
const RELIABLE: u64 = 0x5e1_0000_0000_0001;
/// Tells the generator of connections that fail.
const CONNECTIONS: u64 = 0xc0_0000_0000_0001;
const AT_ONCE: u64 = 0x5e1_0000_0000_0002;

/// Everything that a seed decides.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Number of nodes.
    pub nodes: u32,
    /// Links of each node.
    pub links: u32,
    /// Time of traffic and faults.
    pub traffic: Span,
    /// Node 1 routes between node 0 and the others.
    pub routed: bool,
    /// Sizes and times of every driver.
    pub config: Config,
    /// How the engines work.
    pub engine: Settings,
    /// Invalidations, returns and new pulls of one engine step.
    pub engine_budget: u32,
    /// What the engines can do.
    pub features: Features,
    /// Where all free-running indices of rings begin, and rounds of links; zero: nothing wraps.
    pub start: u32,
    /// Where the nodes' clock begins.
    pub clock: Instant,
    /// Bytes of the largest frame.
    pub frame: usize,
    /// Frames that a mailbox has room for: requests, control.
    pub room: [u32; 2],
    /// A message's time over all its waits.
    pub timeout: Span,
    /// Average time between two ideas of a user.
    pub pause: Span,
    /// Nanoseconds that an engine takes for a KiB.
    pub slowness: u64,
    /// Messages during whose sending an interrupt comes, per million.
    pub preemptions: u32,
    /// Transfers that users withdraw, per million ideas.
    pub withdrawals: u32,
    /// The adversary's plan.
    pub plan: Plan,
}

impl Setup {
    /// What `options` and the seed say together.
    ///
    /// # Errors
    /// The plan names what there is not, or a number is out of range.
    pub fn draw(options: &Options, rng: &mut Rng) -> Result<Self, PlanError> {
        let given = options.faults.as_ref();
        let many = rng.below(8) == 0;
        let drawn = (if many { rng.between(5, 8) } else { rng.between(2, 4) }, rng.between(1, 4));
        let drawn = (drawn.0 as u32, drawn.1 as u32);
        let nodes = options.nodes.or(given.and_then(|plan| plan.nodes)).unwrap_or(drawn.0);
        let links = options.links.or(given.and_then(|plan| plan.links)).unwrap_or(drawn.1);
        let seconds = options.seconds.or(given.and_then(|plan| plan.seconds)).unwrap_or(2);
        let routed = rng.below(4) == 0;
        let asked = options.routed.or(given.and_then(|plan| plan.routed));
        let is_free = options.nodes.or(given.and_then(|plan| plan.nodes)).is_none();
        // A router that is asked for has two others to stand between.
        let nodes = if is_free && asked == Some(true) { nodes.max(3) } else { nodes };
        let routed = asked.unwrap_or(routed) && nodes > 2;
        super::check_ranges(nodes, links, seconds)?;
        // Drawn from generators of their own, and always: a plan that is written out and given back
        // gives the same run.
        let (mut own, mut rogue, mut wrap) = (rng.fork(), rng.fork(), rng.fork());
        let mut plan = match given {
            Some(plan) => plan.clone(),
            None => swarm(&mut own, nodes, links, seconds),
        };
        let is_drawn = given.is_none() && nodes > 2 && rogue.below(4) == 0;
        plan.byzantine = match plan.byzantine {
            _ if options.byzantine == Some(false) => None,
            None if is_drawn || options.byzantine.is_some() => {
                Some(Rates::draw(&mut rogue, nodes, routed))
            }
            planned => planned,
        };
        let pauses = options.pauses.or(plan.pauses).unwrap_or(PAUSES);
        plan.pauses = Some(pauses);
        let reliable = pauses && Rng::new(options.seed ^ RELIABLE).below(2) == 0;
        plan.reliable = Some(plan.reliable.unwrap_or(reliable));
        let at_once = pauses && Rng::new(options.seed ^ AT_ONCE).below(2) == 0;
        plan.ends_at_once = Some(plan.ends_at_once.unwrap_or(at_once));
        if pauses && given.is_none() {
            let mut slow = Rng::new(options.seed ^ SLOW);
            draw_pauses(&mut plan, &mut slow, nodes, links, seconds);
        }
        if options.connections == Some(true) && given.is_none() {
            let mut own = Rng::new(options.seed ^ CONNECTIONS);
            draw_connections(&mut plan, &mut own, nodes, links, seconds);
        }
        plan.check(nodes, links, routed)?;
        let (start, counting_from, clock) = draw_starts(&mut wrap, options.wraps.or(plan.wraps));
        plan.wraps = Some(start != 0);
        let mut config = draw_config(rng, nodes, links);
        config.counting_from = counting_from;
        if plan.hosts.small {
            small_tables(&mut config, &mut Rng::new(options.seed ^ SLOW));
        }
        let connects = plan.connections.unwrap_or(0);
        config.connections = connects;
        let mut features = draw_features(rng);
        if connects > 0 {
            features |= Features::CONNECTIONS;
        }
        Ok(Self {
            nodes,
            links,
            traffic: Span::from_secs(u64::from(seconds)),
            routed,
            config,
            engine: Settings {
                chunk: 1 << rng.between(12, 18),
                retry_bound: Span::from_millis(rng.between(10, 200)),
            },
            engine_budget: 1 << rng.between(0, 6),
            features,
            start,
            clock,
            frame: 384 + 64 * rng.below(68) as usize,
            room: [1 << rng.between(1, 6), 1 << rng.between(2, 8)],
            timeout: Span::from_millis(match rng.below(3) {
                0 => rng.between(40, 100),
                _ => rng.between(200, 1200),
            }),
            slowness: 16 << rng.below(11),
            preemptions: one_in(2, 20_000, rng),
            withdrawals: one_in(3, 50_000, rng),
            pause: Span::from_micros(u64::from(nodes.min(ALL_TALK)) * rng.between(2_500, 10_000)),
            plan,
        })
    }

    /// The node that keeps to nothing.
    pub const fn lawless(&self) -> Option<u32> {
        match self.plan.byzantine {
            Some(rates) => Some(rates.node),
            None => None,
        }
    }

    /// The longest payload that travels inline between any two of these nodes.
    pub fn inline(&self) -> u32 {
        self.config.immediate_max.min(max_immediate(self.frame))
    }

    /// Whether only the router, node 1, leads from one node to another.
    pub const fn is_far(&self, from: u32, to: u32) -> bool {
        self.routed && from != to && from != 1 && to != 1 && (from == 0 || to == 0)
    }

    /// What a node's user goes by.
    pub fn habits(&self, node: u32) -> Habits {
        Habits {
            nodes: self.nodes,
            others: self.others(),
            inline: self.inline(),
            patience: self.timeout.times(3),
            far: self.far(node).collect(),
        }
    }

    /// How many nodes a node talks to: those that follow it.
    pub fn others(&self) -> u32 {
        (self.nodes - 1).min(ALL_TALK)
    }

    /// The nodes that a node reaches by the router only.
    pub fn far(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        let all = if self.routed { 0..self.nodes } else { 0..0 };
        all.filter(move |&other| self.is_far(node, other))
    }

    /// How fast engines are.
    pub const fn pace(&self) -> Pace {
        Pace { budget: self.engine_budget, slowness: self.slowness, doublings: 8 }
    }

    /// All links of a node.
    pub fn all_links(&self) -> impl Iterator<Item = LinkId> {
        (0..self.links as usize).filter_map(LinkId::new)
    }

    /// The fabric's shape.
    pub const fn shape(&self) -> Shape {
        let mut shape = Shape::new(self.nodes, self.links, self.config.slots, WINDOW);
        shape.lists = self.config.lists as u32;
        // Frames go by the network of the simulator.
        shape.without_mailboxes()
    }

    /// Time within which a world without faults must come to rest: every bound there is, several
    /// times over.
    pub const fn patience(&self) -> Span {
        let c = &self.config;
        let handshake = c.hello_timeout.as_nanos() * c.hello_tries as u64;
        let bounds = self.timeout.as_nanos() + c.drain_bound.as_nanos() + c.credit_stall.as_nanos();
        Span::from_nanos(8 * (handshake + bounds) + 1_000_000_000)
    }

    /// Time for which a peer that was declared down is not asked again.
    pub const fn hold_off(&self) -> Span {
        self.config.hello_timeout.times(self.config.hello_tries as u32)
    }
}

/// A rate in one of `n` seeds, else zero.
fn one_in(n: u64, rate: u32, rng: &mut Rng) -> u32 {
    if rng.below(n) == 0 {
        rate
    } else {
        0
    }
}

fn draw_features(rng: &mut Rng) -> Features {
    if rng.below(4) == 0 {
        Features::KNOWS_UNTOUCHED
    } else {
        Features::REMOTE_COMPLETION | Features::KNOWS_UNTOUCHED
    }
}

/// Where ring indices, then sessions, numbers and credits of requests and lives of peers, and the
/// clock begin: at their beginning, or a few steps before they wrap at 32 bits, at 16, or from
/// positive to negative.
fn draw_starts(rng: &mut Rng, wraps: Option<bool>) -> (u32, u32, Instant) {
    let drawn = rng.below(2) == 0;
    let start = u32::MAX - rng.below(40) as u32;
    let ends = [u32::MAX, u32::MAX, 0xffff, 1 << 31];
    let first = ends[rng.below(4) as usize] - rng.below(40) as u32;
    let clock = [1 << 32, 1 << 53, 1 << 63][rng.below(3) as usize] - rng.below(2_000_000_000);
    if wraps.unwrap_or(drawn) {
        (start, first, Instant::from_nanos(clock))
    } else {
        (0, 0, Instant::from_nanos(1_000_000_000))
    }
}

fn draw_config(rng: &mut Rng, nodes: u32, links: u32) -> Config {
    let slots = rng.between(8, 72) as u32;
    let mut config = Config::new(slots, nodes + rng.below(3) as u32, links as u8);
    config.passive_slots = rng.between(1, u64::from(slots / 2)) as u32;
    config.lists = rng.between(2, u64::from(slots)) as u16;
    config.immediate_max = 1 << rng.between(6, 12);
    config.depth = rng.between(1, 16) as u16;
    config.pulls = config.depth;
    config.drain_bound = Span::from_millis(rng.between(60, 400));
    config.hello_timeout = Span::from_millis(rng.between(10, 80));
    config.hello_tries = rng.between(2, 5) as u8;
    config.credit_stall = Span::from_millis(rng.between(20, 200));
    config.link_poll = Span::from_micros(rng.between(200, 2_000));
    config.decision_bound = Span::from_secs(1);
    config.batch = 1 << rng.between(1, 8);
    config.policy = if rng.below(8) == 0 { Policy::O2ibCompat } else { Policy::Seed };
    config
}

/// Small tables, as a controller has them.
fn small_tables(config: &mut Config, rng: &mut Rng) {
    config.slots = rng.between(6, 16) as u32;
    config.passive_slots = rng.between(1, u64::from(config.slots / 2)) as u32;
    config.lists = rng.between(1, 4) as u16;
    config.depth = rng.between(1, 8) as u16;
    config.pulls = config.depth;
}
