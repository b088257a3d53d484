// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The world that a list of acts leads to: a sender, a receiver's window, and copies under way.

use std::fmt::Write;
use std::mem::MaybeUninit;

use lnd_core::id::{Incarnation, Nid};
use lnd_core::time::{Instant, Span};
use lnd_core::transfer::{Delivery, HealthClass as Class};
use lnd_health::attempts::{Attempts, Path, Terms};
use lnd_health::dedup::DedupWindow;
use lnd_health::node::{Action, End, Ended, HealthCounter, Next, PeerSettings};
use lnd_health::Backoff;
use lnd_health::{Health, HealthConfig, NiId, Number, Object, PeerId, PeerNiId, WindowCheck};

/// What can happen to a try.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InjectedFault {
    /// It was delivered, and the sender knows.
    Delivered,
    /// It never left: a local failure.
    LostHere,
    /// It surely did not arrive: a remote failure.
    LostThere,
    /// It is not known: it may have arrived, or may still do so.
    Unknown,
}

/// What is told of a recovery ping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// It was answered.
    Yes,
    /// It was not.
    No,
    /// Nothing, ever.
    Never,
}

/// One step of the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Act {
    /// A message's next try begins, or finds no path.
    Begin(u8),
    /// The copy of the try under way arrives.
    Arrive(u8),
    /// A copy that the sender has given up arrives after all.
    ArriveLate(u8),
    /// The try under way ends.
    End(u8, InjectedFault),
    /// A second passes.
    Tick,
    /// A recovery ping goes out.
    Ping(Answer),
    /// The peer starts anew.
    Restart,
}

/// A seeded defect: the check must find it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defect {
    /// The receiver delivers second copies.
    NoWindow,
    /// The sender's clock stands still when tries begin.
    NoClock,
    /// A message is begun over the path of its last try.
    SamePath,
    /// "Unknown" is taken for "surely not delivered".
    Optimist,
    /// An end that has been reported is reported again.
    Twice,
    /// What fails is not reported.
    Forget,
}

/// What is explored.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// Messages, all to the one peer.
    pub messages: u8,
    /// Networks: 1, or 2 of different fabrics with one rail each.
    pub networks: u32,
    /// The receiver recognises second copies.
    pub suppress: bool,
    /// Most resends of a message; [`UNTIL_DEADLINE`](lnd_health::attempts::UNTIL_DEADLINE): no
    /// limit.
    pub retries: u8,
    /// The messages' deadline, in seconds.
    pub deadline: u64,
    /// When the exploration ends, in seconds.
    pub horizon: u64,
    /// The peer may start anew, once.
    pub restart: bool,
    /// The ends of pings may never be told.
    pub silent: bool,
    /// What a failure costs.
    pub sensitivity: u16,
    /// The seeded defect.
    pub defect: Option<Defect>,
}

impl Setup {
    /// Two messages over 2 × 2 rails of one network, with suppression.
    pub const PLAIN: Self = Self {
        messages: 2,
        networks: 1,
        suppress: true,
        retries: 2,
        deadline: 2,
        horizon: 3,
        restart: false,
        silent: false,
        sensitivity: 500,
        defect: None,
    };
}

#[derive(Debug, Default)]
struct Message {
    attempts: Option<Attempts>,
    ends: Vec<Ended>,
    /// Copies that may still arrive, beside that of the try under way.
    late: u8,
    arrived: bool,
    delivered: u8,
    /// Each try's path, its second, and how many interfaces had come up by then.
    paths: Vec<(Path, u64, u64)>,
    number: Option<Number>,
    incarnation: u64,
}

/// What the acts so far have led to.
pub struct World<'m> {
    setup: Setup,
    health: Health<'m>,
    window: DedupWindow,
    incarnation: u64,
    seconds: u64,
    messages: Vec<Message>,
    /// The first check that failed.
    pub broken: Option<&'static str>,
}

fn at(seconds: u64) -> Instant {
    Instant::from_nanos(seconds * 1_000_000_000)
}

fn nid(network: u32, address: u32) -> Nid {
    Nid::from_raw(u64::from(network) << 32 | u64::from(address)).unwrap()
}

const PEER: PeerId = PeerId::new(0);

impl<'m> World<'m> {
    /// Bytes of memory for [`play`](Self::play).
    pub fn memory(setup: &Setup) -> Vec<MaybeUninit<u8>> {
        vec![MaybeUninit::uninit(); config(setup).bytes_needed()]
    }

    /// The world after `acts`.
    pub fn play(setup: Setup, memory: &'m mut [MaybeUninit<u8>], acts: &[Act]) -> Self {
        let mut health = Health::create(memory, config(&setup), at(0)).unwrap();
        let settings = PeerSettings { suppresses: setup.suppress, ..Default::default() };
        for n in 0..2 {
            health.add_local(nid(n % setup.networks, 1 + n)).unwrap();
        }
        health.add_peer(settings).unwrap();
        for n in 0..2 {
            health.add_peer_ni(PEER, nid(n % setup.networks, 10 + n)).unwrap();
        }
        health.peer_incarnation(PEER, Incarnation::from_raw(1).unwrap());
        let messages = (0..setup.messages).map(|n| Message {
            attempts: health.open(PEER, Terms::new(u64::from(n), at(setup.deadline))),
            ..Message::default()
        });
        let messages = messages.collect();
        let window = DedupWindow::new();
        let mut world =
            Self { setup, health, window, incarnation: 1, seconds: 0, messages, broken: None };
        for &act in acts {
            world.act(act);
        }
        world.check();
        world
    }

    /// What can happen next.
    pub fn options(&self) -> Vec<Act> {
        let mut options = Vec::new();
        for (n, message) in (0..).zip(&self.messages) {
            let under_way = message.attempts.as_ref().map(Attempts::under_way);
            match under_way {
                // While it pauses its host does nothing.
                Some(false) if self.pauses(message) => {}
                Some(false) => options.push(Act::Begin(n)),
                Some(true) => {
                    if message.arrived {
                        options.push(Act::End(n, InjectedFault::Delivered));
                    } else {
                        let injected_faults = [InjectedFault::LostHere, InjectedFault::LostThere];
                        options.extend(injected_faults.map(|injected| Act::End(n, injected)));
                        if message.incarnation == self.incarnation {
                            options.push(Act::Arrive(n));
                        }
                    }
                    options.push(Act::End(n, InjectedFault::Unknown));
                }
                None => {}
            }
            if message.late > 0 {
                options.push(Act::ArriveLate(n));
            }
        }
        if self.health.next_deadline() <= at(self.seconds) {
            options.extend([Answer::Yes, Answer::No].map(Act::Ping));
            options.extend(self.setup.silent.then_some(Act::Ping(Answer::Never)));
        }
        if self.seconds < self.setup.horizon {
            options.push(Act::Tick);
        }
        if self.setup.restart && self.incarnation == 1 {
            options.push(Act::Restart);
        }
        options
    }

    fn pauses(&self, message: &Message) -> bool {
        let attempts = message.attempts.as_ref();
        attempts.is_some_and(|j| self.health.next_try(j) > at(self.seconds))
    }

    fn act(&mut self, act: Act) {
        match act {
            Act::Tick => self.seconds += 1,
            Act::Begin(n) => self.begin(n.into()),
            Act::Arrive(n) => {
                self.messages[usize::from(n)].arrived = true;
                self.arrive(n.into());
            }
            Act::ArriveLate(n) => {
                self.messages[usize::from(n)].late -= 1;
                self.arrive(n.into());
            }
            Act::End(n, injected) => self.end(n.into(), injected),
            Act::Ping(answer) => {
                let now = at(self.seconds);
                // Without a path it is put off instead.
                if let Some(Action::Ping(ping)) = self.health.next_action(now) {
                    match answer {
                        Answer::Yes => self.health.answered(now, ping, Class::Ok),
                        Answer::No => self.health.answered(now, ping, Class::NetworkTimeout),
                        Answer::Never => drop(ping),
                    }
                }
            }
            Act::Restart => {
                self.incarnation += 1;
                // What was sent to the former incarnation reaches no node.
                self.messages.iter_mut().for_each(|message| message.late = 0);
                self.window = DedupWindow::new();
                self.health
                    .peer_incarnation(PEER, Incarnation::from_raw(self.incarnation).unwrap());
            }
        }
    }

    fn begin(&mut self, n: usize) {
        let still = self.setup.defect == Some(Defect::NoClock);
        let now = at(if still { 0 } else { self.seconds });
        let message = &mut self.messages[n];
        let mut attempts = message.attempts.take().unwrap();
        let mut choice = match self.health.choose(&attempts, &[]) {
            Ok(choice) => choice,
            Err(why) => {
                message.ends.push(self.health.give_up(attempts, why));
                return;
            }
        };
        if let (Some(Defect::SamePath), Some(&(path, ..))) =
            (self.setup.defect, message.paths.last())
        {
            choice.path = path;
        }
        if !self.health.begin(now, &mut attempts, &choice) {
            let why = lnd_health::node::WhyEnded::Deadline;
            message.ends.push(self.health.give_up(attempts, why));
            return;
        }
        if self.seconds >= self.setup.deadline {
            self.broken = Some("a try begins at or past the deadline");
        }
        // A pause is a second long, or ends when an interface comes up (S4-19).
        let taken = (choice.path, self.seconds, self.health.tally().value(HealthCounter::CameUp));
        if message.paths.contains(&taken) {
            self.broken = Some("a path is tried twice");
        }
        message.paths.push(taken);
        message.arrived = false;
        (message.number, message.incarnation) = (attempts.number(), self.incarnation);
        message.attempts = Some(attempts);
    }

    /// A copy reaches the receiver.
    fn arrive(&mut self, n: usize) {
        let message = &mut self.messages[n];
        let first = match message.number {
            Some(number) => {
                let first = self.window.arrive(number) == WindowCheck::First;
                first && self.window.received(number)
            }
            None => true,
        };
        if first || self.setup.defect == Some(Defect::NoWindow) {
            message.delivered += 1;
        }
    }

    fn end(&mut self, n: usize, injected: InjectedFault) {
        let message = &mut self.messages[n];
        let attempts = message.attempts.take().unwrap();
        let optimist = self.setup.defect == Some(Defect::Optimist);
        let unknown = if optimist { Delivery::NotDelivered } else { Delivery::Unknown };
        let end = match injected {
            InjectedFault::Delivered => End::OK,
            InjectedFault::LostHere => End::failed(Class::LocalDropped, Delivery::NotDelivered),
            InjectedFault::LostThere => End::failed(Class::RemoteDropped, Delivery::NotDelivered),
            InjectedFault::Unknown => End::failed(Class::NetworkTimeout, unknown),
        };
        if injected == InjectedFault::Unknown
            && !message.arrived
            && message.incarnation == self.incarnation
        {
            message.late += 1;
        }
        match self.health.outcome(at(self.seconds), attempts, end) {
            Next::Again(attempts) => message.attempts = Some(attempts),
            Next::Later(attempts, when) => {
                if when <= at(self.seconds) || when >= at(self.setup.deadline) {
                    self.broken = Some("a pause without length, or past the deadline");
                }
                message.attempts = Some(attempts);
            }
            Next::Ended(ended) => {
                let times = match self.setup.defect {
                    Some(Defect::Twice) => 2,
                    Some(Defect::Forget) if ended.class != Class::Ok => 0,
                    _ => 1,
                };
                message.ends.extend(std::iter::repeat_n(ended, times));
            }
        }
    }

    fn check(&mut self) {
        let over = self.options().is_empty();
        for message in &self.messages {
            let problem = match (&message.ends[..], message.delivered) {
                (_, 2..) => Some("two deliveries"),
                ([_, _, ..], _) => Some("two ends"),
                ([], _) if over => Some("no end"),
                ([e], 0) if e.class == Class::Ok => Some("success without delivery"),
                ([e], 1) if e.delivery == Delivery::NotDelivered => Some("delivered after all"),
                ([_], _) if message.attempts.is_some() => Some("it goes on after its end"),
                _ => None,
            };
            self.broken = self.broken.or(problem);
        }
        if self.health.audit().is_err() {
            self.broken = self.broken.or(Some("audit"));
        }
        let mut nis = Self::objects().into_iter().filter_map(|o| self.health.ni(o));
        if over && (self.health.remaining() > 0 || nis.any(|ni| ni.in_flight() > 0)) {
            self.broken = self.broken.or(Some("something is still counted as under way"));
        }
    }

    fn objects() -> [Object; 4] {
        let [a, b] = [0, 1].map(|n| Object::Local(NiId::new(n).unwrap()));
        let [c, d] = [0, 1].map(|n| Object::Peer(PeerNiId::new(n)));
        [a, b, c, d]
    }

    /// All that what follows depends on, and nothing else.
    pub fn print(&self) -> String {
        let mut out = format!("{} {} {:?};", self.seconds, self.incarnation, self.broken);
        let nis = Self::objects().map(|o| *self.health.ni(o).unwrap());
        // Only the order of turns matters, not their numbers.
        let mut turns: Vec<u32> = nis.iter().map(|ni| ni.last_turn()).collect();
        turns.extend(self.health.view().nets.iter().take(2).map(|net| net.last_turn()));
        let order: Vec<usize> =
            turns.iter().map(|t| turns.iter().filter(|other| *other < t).count()).collect();
        let _ = write!(out, "{order:?};");
        for (place, ni) in (0..).zip(&nis) {
            let due = self.health.recovery().due(place);
            let count = self.health.recovery().count(place);
            let (health, status) = (ni.health().get(), ni.status());
            let _ = write!(out, "{health} {status:?} {} {due:?} {count},", ni.in_flight());
        }
        let queue: Vec<u32> = self.health.recovery().entries().collect();
        let _ = write!(out, "{queue:?};");
        for m in &self.messages {
            // What was tried in earlier seconds may be tried again.
            let paths = m.paths.iter().filter(|(_, second, _)| *second == self.seconds);
            let (ends, paths) = (&m.ends, paths.collect::<Vec<_>>());
            let _ = write!(out, "{:?} {ends:?} {} {}", m.attempts, m.late, m.arrived);
            let _ = write!(out, "{} {paths:?} {:?} {},", m.delivered, m.number, m.incarnation);
        }
        let _ = write!(out, "{:?}", self.window);
        out
    }
}

fn config(setup: &Setup) -> HealthConfig {
    let mut config = HealthConfig::new(2, 1, 2);
    (config.recovery.jitter, config.journal, config.routes) = (0, 0, 0);
    config.incarnation = Incarnation::from_raw(1);
    (config.retries, config.sensitivity) = (setup.retries, setup.sensitivity);
    let second = Span::from_secs(1);
    config.resend = Backoff { first: second, cap: second, jitter: 0 };
    (config.action_every, config.action_burst) = (Span::from_micros(1), 1000);
    config
}
