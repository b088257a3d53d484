// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What health does of its own accord, while the ends of some of it are never told: two interfaces
//! of a peer are probed and connected to, one attempt at a time, and each end comes when it comes,
//! or never.

use std::hash::{Hash, Hasher};
use std::mem::MaybeUninit;

use lnd_core::id::Nid;
use lnd_core::time::{Instant, Span};
use lnd_core::transfer::HealthClass as Class;
use lnd_health::node::{Action, Connect, Ping, Probe};
use lnd_health::prober::ProbeEnd;
use lnd_health::reconnect::{Connected, Connectivity};
use lnd_health::Backoff;
use lnd_health::{Health, HealthConfig, PeerId, PeerNiId, ProbeKinds};
use stateright::{Checker, Model, Property};

const PEER: PeerId = PeerId::new(0);
/// Seconds that an attempt to connect may take.
const BOUND: u64 = 2;
/// Seconds between two attempts, and between two probes.
const AGAIN: u64 = 1;

/// One step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// What is due is asked for. Its end is not told yet, and perhaps never.
    Next,
    /// The end of an action is told, early or late.
    Tell(usize, bool),
    /// A connection is lost.
    Lost(u32),
    /// A second passes.
    Tick,
}

/// An action whose end was not told.
#[derive(Debug)]
enum Held {
    Ping(Ping),
    Probe(Probe),
    Connect(Connect),
}

/// What is explored.
#[derive(Clone, Copy, Debug)]
pub struct Untold {
    /// Seconds.
    pub horizon: u64,
    /// Actions in all.
    pub actions: usize,
    /// The interfaces are probed, too.
    pub probes: bool,
}

struct World<'m> {
    health: Health<'m>,
    seconds: u64,
    /// With the second in which each was handed out.
    held: Vec<(Option<Held>, u64)>,
    lost: [bool; 2],
    /// A probe has failed: what is dead is not probed for ever.
    dead: bool,
    broken: Option<&'static str>,
}

fn at(seconds: u64) -> Instant {
    Instant::from_nanos(0).after(Span::from_secs(100 + seconds))
}

fn nid(number: u32) -> Nid {
    Nid::from_raw(1 << 32 | u64::from(number)).unwrap()
}

fn config() -> HealthConfig {
    let mut config = HealthConfig::new(1, 1, 2);
    let second = Span::from_secs(AGAIN);
    (config.journal, config.routes) = (0, 0);
    config.recovery = Backoff { first: second, cap: second, jitter: 0 };
    config.reconnect.backoff = Backoff { first: second, cap: second, jitter: 0 };
    (config.reconnect.at_once, config.reconnect.bound) = (1, Span::from_secs(BOUND));
    (config.reconnect.negative, config.probe.jitter) = (second, 0);
    (config.probe.idle, config.probe.again, config.probe.hold_off) = (second, second, second);
    (config.action_every, config.action_burst) = (Span::from_micros(1), 1000);
    config
}

impl<'m> World<'m> {
    fn play(setup: Untold, memory: &'m mut [MaybeUninit<u8>], steps: &[Step]) -> Self {
        let mut health = Health::create(memory, config(), at(0)).unwrap();
        health.add_local(nid(1)).unwrap();
        health.add_peer(Default::default()).unwrap();
        for n in 0..2 {
            let id = health.add_peer_ni(PEER, nid(10 + n)).unwrap();
            if setup.probes {
                health.watch(at(0), id, false);
            }
        }
        *health.probe_kinds() = ProbeKinds::offered(true, false, false, false);
        let mut world = Self {
            health,
            seconds: 0,
            held: Vec::new(),
            lost: [false; 2],
            dead: false,
            broken: None,
        };
        for &step in steps {
            world.step(step);
        }
        world.check(setup);
        world
    }

    fn options(&self, setup: Untold) -> Vec<Step> {
        let mut options = Vec::new();
        if self.health.next_deadline() <= at(self.seconds) && self.held.len() < setup.actions {
            options.push(Step::Next);
        }
        for (n, (held, _)) in self.held.iter().enumerate() {
            if held.is_some() {
                options.extend([true, false].map(|good| Step::Tell(n, good)));
            }
        }
        options.extend((0..2).filter(|&n| !self.lost[n as usize]).map(Step::Lost));
        if self.seconds < setup.horizon {
            options.push(Step::Tick);
        }
        options
    }

    fn step(&mut self, step: Step) {
        let now = at(self.seconds);
        match step {
            Step::Tick => self.seconds += 1,
            Step::Lost(n) => {
                self.lost[n as usize] = true;
                self.health.connection_lost(now, PeerNiId::new(n));
            }
            Step::Next => {
                let held = match self.health.next_action(now) {
                    None => {
                        if self.health.next_deadline() <= now {
                            self.broken = Some("what is due never comes");
                        }
                        return;
                    }
                    Some(Action::Ping(ping)) => Held::Ping(ping),
                    Some(Action::Probe(probe)) => Held::Probe(probe),
                    Some(Action::Connect(attempt)) => {
                        if self.young().is_some() {
                            self.broken = Some("two attempts at once");
                        }
                        Held::Connect(attempt)
                    }
                };
                self.held.push((Some(held), self.seconds));
            }
            Step::Tell(n, good) => self.tell(n, good),
        }
    }

    /// An attempt whose end may still come in time.
    fn young(&self) -> Option<u32> {
        self.held.iter().find_map(|(held, since)| match held {
            Some(Held::Connect(attempt)) if self.seconds < since + BOUND => {
                Some(attempt.peer_ni.raw())
            }
            _ => None,
        })
    }

    fn tell(&mut self, n: usize, good: bool) {
        let now = at(self.seconds);
        let since = self.held[n].1;
        let newer = |it: &(Option<Held>, u64), of: u32| match &it.0 {
            Some(Held::Connect(other)) => other.peer_ni.raw() == of,
            _ => false,
        };
        match self.held[n].0.take() {
            Some(Held::Ping(ping)) => {
                let class = if good { Class::Ok } else { Class::NetworkTimeout };
                self.health.answered(now, ping, class);
            }
            Some(Held::Probe(probe)) => {
                let end = if good { ProbeEnd::Success } else { ProbeEnd::RetryExceeded };
                self.dead |= !good;
                let _ = self.health.probed(now, probe, end);
            }
            Some(Held::Connect(attempt)) => {
                let of = attempt.peer_ni.raw();
                let superseded = self.held[n + 1..].iter().any(|it| newer(it, of));
                let how = if good { Connected::Yes } else { Connected::No };
                let taken = self.health.connected(now, attempt, how);
                if taken && superseded {
                    self.broken = Some("the end of an earlier attempt is taken");
                }
                if !taken && self.seconds < since + BOUND {
                    self.broken = Some("an end that came in time is not taken");
                }
            }
            None => {}
        }
    }

    fn check(&mut self, setup: Untold) {
        let trying = |n: &u32| self.health.connection(PeerNiId::new(*n)) == Connectivity::Trying;
        let waits = (0..2).any(|n| trying(&n));
        // What is due is asked for at once, so nothing is later than one pause from now.
        let soon = self.health.next_deadline() <= at(self.seconds + AGAIN);
        if waits && self.young().is_none() && !soon {
            self.broken = Some("an end that never comes keeps others from connecting");
        }
        if self.young().is_some_and(|n| !trying(&n)) {
            self.broken = Some("an attempt under way is forgotten");
        }
        if setup.probes
            && !self.dead
            && self.health.next_deadline() > at(self.seconds + AGAIN.max(BOUND))
        {
            self.broken = Some("an end that never comes keeps others from being probed");
        }
        if self.health.audit().is_err() {
            self.broken = Some("audit");
        }
    }

    fn print(&self) -> String {
        format!(
            "{} {:?} {:?} {:?} {:?}",
            self.seconds, self.held, self.lost, self.broken, self.health
        )
    }
}

/// A state: how it came about and what can follow.
#[derive(Clone, Debug)]
pub struct Seen {
    steps: Vec<Step>,
    print: String,
    options: Vec<Step>,
    broken: Option<&'static str>,
}

impl PartialEq for Seen {
    fn eq(&self, other: &Self) -> bool {
        self.print == other.print
    }
}

impl Eq for Seen {}

impl Hash for Seen {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.print.hash(state);
    }
}

impl Untold {
    fn after(self, steps: Vec<Step>) -> Seen {
        let mut memory = vec![MaybeUninit::uninit(); config().bytes_needed()];
        let world = World::play(self, &mut memory, &steps);
        let (print, options, broken) = (world.print(), world.options(self), world.broken);
        Seen { steps, print, options, broken }
    }

    /// Explores everything, and returns the number of states. A failed check is shown with the
    /// shortest way to it.
    pub fn explore(self) -> usize {
        let checker = self.checker().threads(1).spawn_bfs().join();
        if let Some(path) = checker.discovery("every check holds") {
            let broken = path.last_state().broken;
            panic!("{self:?}: {broken:?}\n{:#?}", path.into_actions());
        }
        checker.assert_any_discovery("one is never told");
        println!("{self:?}: {} states", checker.unique_state_count());
        checker.unique_state_count()
    }
}

impl Model for Untold {
    type State = Seen;
    type Action = Step;

    fn init_states(&self) -> Vec<Seen> {
        vec![self.after(Vec::new())]
    }

    fn actions(&self, state: &Seen, actions: &mut Vec<Step>) {
        if state.broken.is_none() {
            actions.extend(&state.options);
        }
    }

    fn next_state(&self, last: &Seen, step: Step) -> Option<Seen> {
        let mut steps = last.steps.clone();
        steps.push(step);
        Some(self.after(steps))
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("every check holds", |_, seen: &Seen| seen.broken.is_none()),
            Property::sometimes("one is never told", |setup: &Self, seen: &Seen| {
                let ticks = seen.steps.iter().filter(|&&step| step == Step::Tick).count() as u64;
                let notified = seen.steps.iter().any(|step| matches!(step, Step::Tell(..)));
                ticks == setup.horizon && !notified && seen.steps.contains(&Step::Next)
            }),
        ]
    }
}
