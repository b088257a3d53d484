// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Health: any order of messages, evidence, actions, incarnations, maintenance and clocks, beside a
//! naive book.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::MaybeUninit;

use arbitrary::{Arbitrary, Unstructured};
use lnd_core::id::{Incarnation, Nid};
use lnd_core::time::{Instant, Span};
use lnd_core::transfer::{Delivery, HealthClass as Class};
use lnd_health::attempts::{Attempts, Path, Terms, MAX_TRIES, UNTIL_DEADLINE};
use lnd_health::node::{Action, End, Next, PeerSettings, WhyEnded};
use lnd_health::prober::ProbeEnd;
use lnd_health::reconnect::Connected;
use lnd_health::{
    Charge, Health, HealthConfig, HealthValue, NiId, Number, Object, PeerId, PeerNiId, ProbeKinds,
    Refusal,
};

mod copies;

const CLASSES: [Class; 11] = [
    Class::Ok,
    Class::LocalInterrupt,
    Class::LocalDropped,
    Class::LocalAborted,
    Class::LocalNoRoute,
    Class::LocalError,
    Class::LocalTimeout,
    Class::RemoteError,
    Class::RemoteDropped,
    Class::RemoteTimeout,
    Class::NetworkTimeout,
];

#[derive(Arbitrary, Debug)]
enum Op {
    AddLocal(u8),
    RemoveLocal(u8),
    AddPeer { suppresses: bool, router: bool },
    RemovePeer(u8),
    AddPeerNi { peer: u8, address: u8 },
    AddRoute { far: u8, gateway: u8 },
    RemoveRoute(u8),
    Open { peer: u8, seconds: u8, resend: bool, suppress: bool, to: Option<u8> },
    Begin(u8),
    End { attempts: u8, class: u8, unknown: bool, curable: bool },
    Refused { attempts: u8, class: Option<u8> },
    GiveUp(u8),
    Received { from: u8, over: Option<u8> },
    Fatal { local: u8, fatal: bool },
    DrainLocal { local: u8, drain: bool },
    DrainPeer { peer: u8, drain: bool },
    SetHealth { peer: bool, index: u8, health: u16 },
    Sensitivity { peer: bool, index: u8, sensitivity: Option<u16> },
    Act,
    Answer { action: u8, class: u8 },
    Incarnation { peer: u8, incarnation: u8 },
    Arrived { peer: u8, incarnation: u8, number: u32 },
    Lost(u8),
    Watch { ni: u8, one_way: bool },
    State { ni: u8, active: bool, used: bool, urge: bool },
    Pass(u32),
    ClockBack(u16),
    ShutDown,
}

struct Book {
    health: Health<'static>,
    now: u64,
    /// Messages on their way: the shipped value, when it opened, the paths it took, tries.
    attempts: Vec<(Attempts, Instant, Vec<Path>)>,
    actions: Vec<Action>,
    /// What each peer has sent in its present incarnation: whether it was received.
    arrived: BTreeMap<(PeerId, Number), bool>,
    /// Peers that were removed before: they may have sent more.
    remembered: BTreeSet<PeerId>,
    stopping: bool,
    /// Every name that was ever given.
    locals: BTreeSet<NiId>,
    peers: BTreeSet<PeerId>,
    peer_nis: BTreeSet<PeerNiId>,
}

/// R44, R45, R47, R50, INV-9, INV-15: the audit holds after every step; what is on its way is
/// counted right; no path is tried twice without a pause where classes ask for another one; no try
/// begins after the deadline; no number is taken twice; nothing acts before it said so.
pub fn health(data: &[u8]) {
    let mut input = Unstructured::new(data);
    let Ok((lnet, limit)) = <(bool, bool)>::arbitrary(&mut input) else { return };
    let mut config = HealthConfig::new(3, 3, 6);
    config.routes = 2;
    config.incarnation = Some(incarnation(0));
    if lnet {
        config = config.lnet_compat();
    }
    if limit {
        config.recovery_limit = Span::from_secs(20);
    }
    let mut memory = vec![MaybeUninit::<u8>::uninit(); config.bytes_needed()];
    let memory: &mut [MaybeUninit<u8>] = &mut memory;
    // SAFETY: the book, which alone has it, is gone before the memory is.
    let memory: &'static mut [MaybeUninit<u8>] = unsafe { &mut *std::ptr::from_mut(memory) };
    let health =
        Health::create(memory, config, Instant::ORIGIN).expect("the configuration is sound");
    let (attempts, actions) = (Vec::new(), Vec::new());
    let mut book = Book {
        health,
        now: 0,
        attempts,
        actions,
        arrived: BTreeMap::new(),
        remembered: BTreeSet::new(),
        stopping: false,
        locals: BTreeSet::new(),
        peers: BTreeSet::new(),
        peer_nis: BTreeSet::new(),
    };
    *book.health.probe_kinds() = ProbeKinds::offered(true, false, true, true);
    while let Ok(op) = Op::arbitrary(&mut input) {
        book.play(op);
        book.check();
        if input.is_empty() {
            break;
        }
    }
    book.end();
}

fn nid(address: u8) -> Nid {
    let network = u64::from(address % 2);
    Nid::from_raw(network << 32 | u64::from(1 + address % 12)).expect("not zero")
}

fn incarnation(incarnation: u8) -> Incarnation {
    Incarnation::from_raw(u64::from(incarnation % 3) + 1).expect("not zero")
}

/// A name of one of the first uses of an entry: stale ones are among them (R14).
fn peer(index: u8) -> PeerId {
    PeerId::from_parts(u32::from(index % 4), 1 + u32::from(index / 4 % 3)).expect("not zero")
}

fn ni(index: u8) -> PeerNiId {
    PeerNiId::from_parts(u32::from(index % 7), 1 + u32::from(index / 7 % 3)).expect("not zero")
}

fn local(index: u8) -> NiId {
    NiId::from_parts(usize::from(index % 4), 1 + u32::from(index / 4 % 3)).expect("few")
}

fn object(of_a_peer: bool, index: u8) -> Object {
    if of_a_peer {
        Object::Peer(ni(index))
    } else {
        Object::Local(local(index))
    }
}

impl Book {
    fn at(&self) -> Instant {
        Instant::from_nanos(self.now)
    }

    fn play(&mut self, op: Op) {
        match op {
            Op::Open { .. }
            | Op::Begin(_)
            | Op::End { .. }
            | Op::Refused { .. }
            | Op::GiveUp(_) => {
                self.message(op);
            }
            Op::Act | Op::Answer { .. } => self.action(&op),
            Op::Pass(millis) => self.now += u64::from(millis) * 1_000_000,
            Op::ClockBack(millis) => {
                self.now = self.now.saturating_sub(u64::from(millis) * 1_000_000);
            }
            Op::Arrived { peer: from, incarnation: in_incarnation, number } => {
                self.arrived(peer(from), incarnation(in_incarnation), number);
            }
            Op::Incarnation { peer: of, incarnation: new } => {
                if self.health.peer_incarnation(peer(of), incarnation(new)) {
                    self.arrived.retain(|entry, _| entry.0 != peer(of));
                    self.remembered.remove(&peer(of));
                }
            }
            other => self.table(&other),
        }
    }

    fn table(&mut self, op: &Op) {
        let (now, health) = (self.at(), &mut self.health);
        match *op {
            Op::AddLocal(address) => {
                if let Ok(id) = health.add_local(nid(address)) {
                    assert!(self.locals.insert(id), "R14: a name is given twice");
                }
            }
            Op::RemoveLocal(index) => {
                let _ = health.remove_local(local(index));
            }
            Op::AddPeer { suppresses, router } => {
                let settings = PeerSettings { suppresses, router, bound: None };
                if let Ok(id) = health.add_peer(settings) {
                    assert!(self.peers.insert(id), "R14: a name is given twice");
                }
            }
            Op::RemovePeer(index) => {
                let open = self.attempts.iter().any(|j| j.0.peer() == peer(index));
                assert!(health.remove_peer(peer(index)).is_err() || !open, "still on their way");
            }
            Op::AddPeerNi { peer: to, address } => {
                if let Ok(id) = health.add_peer_ni(peer(to), nid(address)) {
                    let first = self.arrived.keys().all(|entry| entry.0 != peer(to));
                    let known = health.peer(peer(to)).is_some_and(|p| p.incarnation().is_some());
                    if first && known {
                        self.remembered.insert(peer(to));
                    }
                    assert!(self.peer_nis.insert(id), "R14: a name is given twice");
                }
            }
            Op::AddRoute { far, gateway } => {
                let _ = health.add_route(u32::from(far % 4), ni(gateway));
            }
            Op::RemoveRoute(index) => {
                let id = lnd_health::RouteId::new(u32::from(index % 3));
                let _ = health.remove_route(id);
            }
            Op::Received { from, over } => health.received(now, ni(from), over.map(local)),
            Op::Fatal { local: index, fatal } => health.fatal(now, local(index), fatal),
            Op::DrainLocal { local: index, drain } => {
                health.drain_local(now, local(index), drain);
            }
            Op::DrainPeer { peer: index, drain } => health.drain_peer(now, peer(index), drain),
            Op::SetHealth { peer, index, health: value } => {
                health.set_health(now, object(peer, index), HealthValue::new(value));
            }
            Op::Sensitivity { peer, index, sensitivity } => {
                health.set_sensitivity(object(peer, index), sensitivity.map(|s| s % 1001));
            }
            Op::Lost(index) => health.connection_lost(now, ni(index)),
            Op::Watch { ni: index, one_way } => health.watch(now, ni(index), one_way),
            Op::State { ni: index, active, used, urge } => {
                match used {
                    true => health.add_user(ni(index)),
                    false => health.remove_user(ni(index)),
                }
                if active {
                    health.active(ni(index));
                }
                if urge {
                    health.urge(ni(index));
                }
            }
            Op::ShutDown => {
                health.shut_down();
                self.stopping = true;
            }
            _ => {}
        }
    }

    fn message(&mut self, op: Op) {
        let now = self.at();
        match op {
            Op::Open { peer: to, seconds, resend, suppress, to: ni_index } => {
                let deadline = now.after(Span::from_secs(u64::from(seconds)));
                let mut terms = Terms::new(7, deadline);
                (terms.resend, terms.suppress) = (resend, suppress);
                terms.destination = ni_index.map(ni);
                if self.attempts.len() < 12 {
                    let attempts = self.health.open(peer(to), terms);
                    self.attempts.extend(attempts.map(|j| (j, deadline, Vec::new())));
                }
            }
            Op::Begin(at) => self.begin(at),
            Op::End { attempts, class, unknown, curable } => {
                let Some((attempts, deadline, paths)) = self.take(attempts) else { return };
                let class = CLASSES[usize::from(class) % CLASSES.len()];
                let delivery = if unknown { Delivery::Unknown } else { Delivery::NotDelivered };
                let end = match class {
                    Class::Ok => End::OK,
                    _ => End { curable, ..End::failed(class, delivery) },
                };
                let next = self.health.outcome(now, attempts, end);
                self.goes_on(next, deadline, paths);
            }
            Op::Refused { attempts, class } => {
                let Some((attempts, deadline, paths)) = self.take(attempts) else { return };
                let class = class.map(|class| CLASSES[1 + usize::from(class) % 10]);
                let charges = [Charge::None, Charge::OurNi, Charge::PeerNi, Charge::Path];
                let refusal = class.map_or(Refusal::CALLER, |class| Refusal {
                    class,
                    charge: charges[class as usize % 4],
                    again: true,
                    full: class as usize & 1 == 0,
                });
                let next = self.health.refused(now, attempts, refusal);
                self.goes_on(next, deadline, paths);
            }
            Op::GiveUp(at) => {
                let Some((attempts, ..)) = self.take(at) else { return };
                let ended = self.health.give_up(attempts, WhyEnded::NotResendable);
                assert_ne!(ended.class, Class::Ok, "given up is not delivered");
            }
            _ => {}
        }
    }

    fn take(&mut self, at: u8) -> Option<(Attempts, Instant, Vec<Path>)> {
        let count = self.attempts.len();
        (count > 0).then(|| self.attempts.swap_remove(usize::from(at) % count))
    }

    fn begin(&mut self, at: u8) {
        let (now, count) = (self.at(), self.attempts.len());
        if count == 0 {
            return;
        }
        let (attempts, deadline, paths) = &mut self.attempts[usize::from(at) % count];
        let Ok(choice) = self.health.choose(attempts, &[]) else { return };
        let again = self.health.choose(attempts, &[]).expect("chosen a moment ago");
        assert_eq!((choice.path, choice.route), (again.path, again.route), "R52");
        if self.health.begin(now, attempts, &choice) {
            assert!(now < *deadline, "INV-9: a try begins after the deadline");
            let anew = self.health.config().profile == lnd_health::Profile::LnetCompat;
            assert!(anew || !paths.contains(&choice.path), "R44: a path again without a pause");
            paths.push(choice.path);
            assert!(paths.len() <= MAX_TRIES, "no hot spinning");
            let limit = self.health.config().retries;
            let spent = limit != UNTIL_DEADLINE && attempts.tries() > 1 + u32::from(limit);
            assert!(!spent, "the operator's limit");
        }
    }

    fn goes_on(&mut self, next: Next, deadline: Instant, paths: Vec<Path>) {
        match next {
            Next::Again(attempts) => {
                assert!(!self.stopping, "no resend during a shutdown");
                self.attempts.push((attempts, deadline, paths));
            }
            Next::Later(attempts, at) => {
                assert!(!self.stopping, "no resend during a shutdown");
                assert!(at > self.at() && at < deadline, "S4-19: between now and the deadline");
                // After the pause a path may be tried again, unless others are still untried.
                let tried = attempts.tried().collect();
                self.attempts.push((attempts, deadline, tried));
            }
            Next::Ended(ended) => {
                let good = ended.class == Class::Ok && ended.why == WhyEnded::Delivered;
                assert_eq!(good, ended.delivery == Delivery::Delivered, "{ended:?}");
            }
        }
    }

    fn action(&mut self, op: &Op) {
        let now = self.at();
        match *op {
            Op::Act => {
                let due = self.health.next_deadline();
                let action = self.health.next_action(now);
                assert!(action.is_none() || due <= now, "R39: before {due:?}, {action:?}");
                assert!(action.is_none() || !self.stopping, "after shutdown: {action:?}");
                if self.actions.len() < 12 {
                    self.actions.extend(action);
                }
            }
            Op::Answer { action, class } if !self.actions.is_empty() => {
                let at = usize::from(action) % self.actions.len();
                let class = usize::from(class);
                match self.actions.swap_remove(at) {
                    Action::Ping(ping) => {
                        self.health.answered(now, ping, CLASSES[class % CLASSES.len()]);
                    }
                    Action::Probe(probe) => {
                        let ends = [
                            ProbeEnd::Success,
                            ProbeEnd::AccessError,
                            ProbeEnd::RetryExceeded,
                            ProbeEnd::Other,
                        ];
                        self.health.probed(now, probe, ends[class % 4]);
                    }
                    Action::Connect(attempt) => {
                        let ends = [Connected::Yes, Connected::No, Connected::NobodyListens];
                        self.health.connected(now, attempt, ends[class % 3]);
                    }
                }
            }
            _ => {}
        }
    }

    fn check(&self) {
        assert_eq!(self.health.audit(), Ok(()));
        assert_eq!(self.health.remaining() as usize, self.attempts.len());
        let under_way = |object: Object| {
            let over = |path: Path| match object {
                Object::Local(id) => path.local == id,
                Object::Peer(id) => path.hop == id,
            };
            let flying = self.attempts.iter().filter(|j| j.0.under_way());
            flying.filter_map(|j| j.0.last_path()).filter(|&path| over(path)).count()
        };
        let objects = (0..4).map(|n| object(false, n)).chain((0..7).map(|n| object(true, n)));
        for object in objects {
            let counted = self.health.ni(object).map_or(0, |ni| ni.in_flight());
            assert_eq!(counted as usize, under_way(object), "{object:?}");
        }
    }

    /// INV-15: everything ends.
    fn end(mut self) {
        self.health.shut_down();
        for (attempts, ..) in self.attempts.drain(..) {
            let _ = self.health.give_up(attempts, WhyEnded::NotResendable);
        }
        assert_eq!(self.health.remaining(), 0);
        assert_eq!(self.health.next_deadline(), Instant::NEVER);
        assert!(self.health.prober().is_empty());
        assert_eq!((self.health.recovery().len(), self.health.reconnects().waiting()), (0, 0));
    }
}
