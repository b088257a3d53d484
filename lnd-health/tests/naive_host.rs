// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A host as a newcomer writes it from `docs/health.md`: a plain loop, no books of its own about
//! numbers, copies or incarnations. What goes wrong here is the library's fault, or the document's.
//!
//! Two nodes with two rails. The rails lose, delay and reorder; ends of tries are lost; payloads
//! fail; handshakes come late; peers are removed and added again; nodes start anew and pause; links
//! go down. The oracle looks from end to end: no message is seen twice, and one whose sender knows
//! of its end was seen as that says.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::collections::{BTreeMap, VecDeque};

use common::*;
use lnd_core::id::Incarnation;
use lnd_core::transfer::{Delivery, HealthClass as Class};
use lnd_health::attempts::{Attempts, Terms};
use lnd_health::node::{Action, End, Ended, Next, PeerSettings, WhyEnded};
use lnd_health::{Health, NiId, PeerId, Stamp, WindowCheck};

/// A try on its way: the header's stamp, and which incarnations of the two drivers talk.
#[derive(Clone, Copy)]
struct Frame {
    id: u64,
    stamp: Option<Stamp>,
    rail: usize,
    session: (u64, u64),
}

struct Sender {
    health: Health<'static>,
    own: u64,
    /// The peer's first incarnation that it has seen.
    oldest: u64,
    peer: PeerId,
    locals: [NiId; 2],
    /// What the drivers have reported and the loop has not come to yet, in order.
    events: VecDeque<Incarnation>,
    /// Messages with a try under way, by name.
    trying: BTreeMap<u64, (Attempts, usize)>,
    /// Messages whose next try is to come.
    again: Vec<(u64, Attempts)>,
}

struct Receiver {
    health: Health<'static>,
    own: u64,
    /// The peer's first incarnation that it has seen.
    oldest: u64,
    peer: PeerId,
    /// Requests whose payload is coming.
    coming: Vec<Frame>,
    /// Requests that wait for the first copy's end.
    kept: Vec<Frame>,
}

#[derive(Default)]
struct Oracle {
    seen: BTreeMap<u64, u32>,
    ended: BTreeMap<u64, Ended>,
    /// What became of things, so that the test shows that it shows something.
    happened: BTreeMap<&'static str, u32>,
}

struct World {
    now: u64,
    random: u64,
    sender: Sender,
    receiver: Receiver,
    wire: Vec<Frame>,
    up: [bool; 2],
    next: u64,
    oracle: Oracle,
}

fn node(own: u64) -> (Health<'static>, PeerId, [NiId; 2]) {
    let mut config = plain(2, 2, 2);
    config.incarnation = Some(incarnation(own));
    let mut health = empty(config);
    let locals = [1, 2].map(|n| health.add_local(nid(0, n)).unwrap());
    let peer = add_peer(&mut health);
    (health, peer, locals)
}

fn add_peer(health: &mut Health<'_>) -> PeerId {
    let settings = PeerSettings { suppresses: true, ..PeerSettings::default() };
    let peer = health.add_peer(settings).unwrap();
    for n in [11, 12] {
        health.add_peer_ni(peer, nid(0, n)).unwrap();
    }
    peer
}

impl Sender {
    fn new(own: u64, oldest: u64) -> Self {
        let (health, peer, locals) = node(own);
        let (events, trying, again) = (VecDeque::new(), BTreeMap::new(), Vec::new());
        Self { health, own, oldest, peer, locals, events, trying, again }
    }
}

impl Receiver {
    fn new(own: u64, oldest: u64) -> Self {
        let (health, peer, _) = node(own);
        Self { health, own, oldest, peer, coming: Vec::new(), kept: Vec::new() }
    }
}

impl World {
    fn new(seed: u64) -> Self {
        Self {
            now: 1,
            random: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            sender: Sender::new(100, 200),
            receiver: Receiver::new(200, 100),
            wire: Vec::new(),
            up: [true; 2],
            next: 0,
            oracle: Oracle::default(),
        }
    }

    fn below(&mut self, n: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 20) as usize % n.max(1)
    }

    fn happened(&mut self, what: &'static str) {
        *self.oracle.happened.entry(what).or_default() += 1;
    }

    /// docs/health.md: open, then choose, begin, send.
    fn open(&mut self) {
        let terms = Terms::new(self.next, at(self.now + 200));
        let attempts = self.sender.health.open(self.sender.peer, terms).unwrap();
        self.attempt(self.next, attempts);
        self.next += 1;
    }

    fn attempt(&mut self, id: u64, mut attempts: Attempts) {
        let now = at(self.now);
        let sender = &mut self.sender;
        let choice = match sender.health.choose(&attempts, &[]) {
            Ok(choice) => choice,
            Err(why) => {
                let ended = sender.health.give_up(attempts, why);
                return self.end(id, ended);
            }
        };
        if !sender.health.begin(now, &mut attempts, &choice) {
            if now < attempts.deadline() && now < sender.health.next_try(&attempts) {
                sender.again.push((id, attempts));
                return;
            }
            let ended = sender.health.give_up(attempts, WhyEnded::NotResendable);
            return self.end(id, ended);
        }
        // The driver: a handshake if need be, then the request, which carries the stamp.
        let present = incarnation(self.receiver.own);
        if sender.events.back() != Some(&present) {
            sender.events.push_back(present);
        }
        let rail = choice.path.local.index();
        let stamp = sender.health.stamp(&attempts);
        let frame = Frame { id, stamp, rail, session: (sender.own, self.receiver.own) };
        sender.trying.insert(id, (attempts, rail));
        if self.up[rail] {
            self.wire.push(frame);
        } else {
            self.tried(id, End::failed(Class::LocalDropped, Delivery::NotDelivered));
        }
    }

    /// A try has ended.
    fn tried(&mut self, id: u64, end: End) {
        let Some((attempts, _)) = self.sender.trying.remove(&id) else { return };
        match self.sender.health.outcome(at(self.now), attempts, end) {
            Next::Again(attempts) | Next::Later(attempts, _) => {
                self.sender.again.push((id, attempts))
            }
            Next::Ended(ended) => self.end(id, ended),
        }
    }

    fn end(&mut self, id: u64, ended: Ended) {
        assert!(self.oracle.ended.insert(id, ended).is_none(), "message {id} ended twice");
    }

    /// A reply of the receiver's driver: it ends the try if that still waits on that rail.
    fn reply(&mut self, frame: Frame, end: End) {
        let waits = self.sender.trying.get(&frame.id).is_some_and(|(_, rail)| *rail == frame.rail);
        if waits && frame.session.0 == self.sender.own && self.below(4) != 0 {
            self.tried(frame.id, end);
        }
    }

    /// A request arrives at the receiver.
    fn arrive(&mut self, frame: Frame) {
        if frame.session.1 != self.receiver.own {
            return; // The driver drops what belongs to another session.
        }
        let refused = End { curable: false, ..surely(Class::RemoteError) };
        let receiver = &mut self.receiver;
        receiver.health.peer_incarnation(receiver.peer, incarnation(frame.session.0));
        let check = match frame.stamp {
            Some(stamp) => receiver.health.arrived(receiver.peer, stamp),
            None => WindowCheck::First,
        };
        match check {
            WindowCheck::First => receiver.coming.push(frame),
            WindowCheck::Coming => {
                self.happened("coming");
                if self.below(2) == 0 {
                    self.receiver.kept.push(frame);
                } else {
                    self.reply(frame, refused);
                }
            }
            WindowCheck::Second => {
                self.happened("second");
                self.reply(frame, End::OK);
            }
            WindowCheck::Outside | WindowCheck::Stale => {
                self.happened("stale");
                self.reply(frame, refused);
            }
        }
    }

    /// The payload of a request has come, or has failed to.
    fn payload(&mut self, good: bool) {
        if self.receiver.coming.is_empty() {
            return;
        }
        let which = self.below(self.receiver.coming.len());
        let frame = self.receiver.coming.swap_remove(which);
        let receiver = &mut self.receiver;
        if good {
            *self.oracle.seen.entry(frame.id).or_default() += 1;
        }
        if let Some(stamp) = frame.stamp {
            if good {
                receiver.health.message_received(receiver.peer, stamp);
            } else {
                receiver.health.message_not_received(receiver.peer, stamp);
            }
        }
        self.reply(frame, if good { End::OK } else { surely(Class::RemoteDropped) });
        for kept in std::mem::take(&mut self.receiver.kept) {
            self.arrive(kept);
        }
    }

    /// What is due, and everything in its time.
    fn upkeep(&mut self) {
        let now = at(self.now);
        for health in [&mut self.sender.health, &mut self.receiver.health] {
            while let Some(action) = health.next_action(now) {
                match action {
                    Action::Ping(ping) => health.answered(now, ping, Class::Ok),
                    other => panic!("nothing else was asked for: {other:?}"),
                }
            }
        }
        for (id, attempts) in std::mem::take(&mut self.sender.again) {
            self.attempt(id, attempts);
        }
    }

    /// A peer is removed and added again, as an operator does.
    fn remove_and_add(&mut self, at_the_sender: bool) {
        if at_the_sender {
            let sender = &mut self.sender;
            if sender.health.remove_peer(sender.peer).is_ok() {
                sender.peer = add_peer(&mut sender.health);
                // Its drivers still know the peer, and report it again.
                sender.events.push_back(incarnation(self.receiver.own));
                self.happened("sender removed its peer");
            }
        } else {
            let receiver = &mut self.receiver;
            if receiver.health.remove_peer(receiver.peer).is_ok() {
                receiver.peer = add_peer(&mut receiver.health);
                self.happened("receiver removed its peer");
            }
        }
    }

    /// A node starts anew: all that it had in memory is gone.
    fn restart(&mut self, the_sender: bool) {
        if the_sender {
            self.sender = Sender::new(self.sender.own + 1, self.receiver.own);
        } else {
            self.receiver = Receiver::new(self.receiver.own + 1, self.sender.own);
        }
    }

    fn step(&mut self) {
        match self.below(400) {
            0..=59 if self.sender.trying.len() + self.sender.again.len() < 30 => self.open(),
            60..=169 if !self.wire.is_empty() => {
                let which = self.below(self.wire.len());
                let frame = self.wire.swap_remove(which);
                self.arrive(frame);
            }
            170..=179 if !self.wire.is_empty() => {
                let which = self.below(self.wire.len());
                self.wire.swap_remove(which);
            }
            180..=259 => self.payload(true),
            260..=279 => self.payload(false),
            // The driver's patience is over: nothing is known of that try. A copy may still come.
            280..=299 => {
                let which = self.below(self.sender.trying.len());
                let id = self.sender.trying.keys().nth(which).copied();
                id.into_iter().for_each(|id| self.tried(id, perhaps(Class::NetworkTimeout)));
            }
            300..=349 => {
                if let Some(shown) = self.sender.events.pop_front() {
                    self.sender.health.peer_incarnation(self.sender.peer, shown);
                }
                self.now += 1;
                self.upkeep();
            }
            350..=359 => {
                // A report of a former handshake was on its way for long.
                let (from, to) = (self.below(3) as u64, self.below(3) as u64);
                let from = self.sender.own.saturating_sub(from).max(self.receiver.oldest);
                let to = self.receiver.own.saturating_sub(to).max(self.sender.oldest);
                self.receiver.health.peer_incarnation(self.receiver.peer, incarnation(from));
                self.sender.events.push_back(incarnation(to));
                self.happened("late handshake");
            }
            360..=364 => self.remove_and_add(true),
            365..=369 => self.remove_and_add(false),
            370..=371 => self.restart(true),
            372..=374 => self.restart(false),
            375..=384 => {
                let rail = self.below(2);
                self.up[rail] = !self.up[rail];
                let (now, down) = (at(self.now), !self.up[rail]);
                let local = self.sender.locals[rail];
                self.sender.health.fatal(now, local, down);
            }
            // Nothing runs for a while.
            385..=387 => self.now += 20,
            _ => {}
        }
    }

    fn check(&self, seed: u64) {
        for (id, times) in &self.oracle.seen {
            assert!(*times <= 1, "seed {seed}: message {id} was seen {times} times");
        }
        for (id, ended) in &self.oracle.ended {
            let seen = self.oracle.seen.get(id).copied().unwrap_or(0);
            match ended.delivery {
                Delivery::Delivered => assert_eq!(seen, 1, "seed {seed}: {id} is lost: {ended:?}"),
                Delivery::NotDelivered => assert_eq!(seen, 0, "seed {seed}: {id}: {ended:?}"),
                Delivery::Unknown | Delivery::Sent => {}
            }
        }
    }
}

#[test]
fn a_naive_host_loses_and_doubles_nothing() {
    let (seeds, steps) = if cfg!(miri) { (1, 400) } else { (100, 3_000) };
    let mut all: BTreeMap<&str, u32> = BTreeMap::new();
    for seed in 1..=seeds {
        let mut world = World::new(seed);
        for step in 0..steps {
            world.step();
            if step % 100 == 0 {
                world.check(seed);
            }
        }
        // Whatever still waits ends: no message is lost.
        for (id, (attempts, _)) in std::mem::take(&mut world.sender.trying) {
            let ended = world.sender.health.give_up(attempts, WhyEnded::NotResendable);
            world.end(id, ended);
        }
        for (id, attempts) in std::mem::take(&mut world.sender.again) {
            let ended = world.sender.health.give_up(attempts, WhyEnded::NotResendable);
            world.end(id, ended);
        }
        world.check(seed);
        assert_eq!(world.sender.health.remaining(), 0);
        assert_eq!((world.sender.health.audit(), world.receiver.health.audit()), (Ok(()), Ok(())));
        for (what, times) in world.oracle.happened {
            *all.entry(what).or_default() += times;
        }
        for ended in world.oracle.ended.values() {
            *all.entry(if ended.tries > 1 { "repaired or not" } else { "one try" }).or_default() +=
                1;
            let good = ended.delivery == Delivery::Delivered;
            *all.entry(if good { "delivered" } else { "not known or not" }).or_default() += 1;
        }
    }
    let shown = ["coming", "second", "stale", "late handshake", "repaired or not", "delivered"];
    for what in shown.into_iter().chain(["sender removed its peer", "receiver removed its peer"]) {
        assert!(cfg!(miri) || all.get(what).is_some_and(|&times| times > 100), "{what}: {all:?}");
    }
}
