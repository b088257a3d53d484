// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Everything at once: some drivers, an adversary's fabric, and fixed seeds (R72, R76).
//!
//! After the storm comes a quiet phase in which everything must drain (INV-15), no transfer may be
//! stuck, and each node that can be reached is reached. The ledgers, the audits and the memory
//! oracle of the harness watch all the time.

use lnd_core::config::Config;
use lnd_core::counters::Counter;
use lnd_core::driver::{Kind, RunState};
use lnd_core::id::{LinkId, Tag};
use lnd_core::message::NakReason;
use lnd_core::ports::{Features, NoTrace, Sent};
use lnd_core::time::Span;

use super::device::OnInvalidate;
use super::dice::Dice;
use super::fabric::{nid, Fabric, InjectedFault};
use super::letter::{Letter, KINDS};
use super::node::{Decision, Order, TAKE};
use super::observed::assert_observed;
use super::tally::Tally;
use super::world::WorldOf;

/// What the engines of a storm are like.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Engines {
    /// Only whole links can be stopped.
    Plain,
    /// They can stop their connections one by one.
    Connect,
    /// As much, and most of them push.
    Push,
}

struct Storm<const SAFE_INVALIDATE: bool> {
    w: WorldOf<SAFE_INVALIDATE>,
    dice: Dice,
    links: usize,
    /// The engines can stop their connections one by one.
    connects: bool,
    pushes: bool,
    sent: Vec<(usize, Tag)>,
}

/// Times that are short beside what a storm takes.
pub fn hurry(config: &mut Config) {
    config.hello_timeout = Span::from_millis(20);
    config.hello_tries = 3;
    config.credit_stall = Span::from_millis(50);
    config.drain_bound = Span::from_millis(30);
    config.decision_bound = Span::from_millis(100);
}

/// Every node reaches every other, after as many attempts as it takes to find out what has
/// happened.
pub fn assert_reach<const SAFE_INVALIDATE: bool>(w: &mut WorldOf<SAFE_INVALIDATE>) {
    let nodes = w.nodes.len();
    for (from, to) in (0..nodes * nodes).map(|it| (it / nodes, it % nodes)) {
        let mut ends = Vec::new();
        let ok = from == to
            || (0..3).any(|_| {
                let tag = w.put(from, to, 300);
                w.sleep(Span::from_secs(31));
                ends.push(tag.map(|tag| w.report(from, tag).status));
                matches!(ends.last(), Some(Ok(status)) if status.errno == 0)
            });
        if !ok {
            w.dump(&[from, to], 16);
        }
        assert!(ok, "{from} does not reach {to}: {ends:?}");
    }
}

fn small_config(dice: &mut Dice) -> Config {
    let slots = dice.pick(&[2, 5, 16, 64]);
    let mut config = Config::new(slots, 4, dice.pick(&[1, 2, 3]));
    config.lists = dice.pick(&[0, 1, slots.min(8) as u16, slots as u16]).min(slots as u16);
    config.immediate_max = dice.pick(&[0, 64, 200]);
    config.depth = dice.pick(&[1, 2, 8, 32]);
    config.pulls = config.depth.min(4);
    config.batch = dice.pick(&[1, 7, 256]);
    hurry(&mut config);
    config
}

impl<const SAFE_INVALIDATE: bool> Storm<SAFE_INVALIDATE> {
    fn new(seed: u64, engines: Engines) -> Self {
        let connects = engines != Engines::Plain;
        let mut dice = Dice(seed);
        let mut config = small_config(&mut dice);
        config.connections = if connects { [1, 2, 16][seed as usize % 3] } else { 0 };
        let (nodes, links) = (2 + dice.below(3), config.links as usize);
        let mut fabric = Fabric::new(nodes, links);
        fabric.default_room = dice.pick(&[[64, 64], [2, 2], [1, 1]]);
        for device in fabric.devices.values_mut() {
            device.connects = connects;
            if dice.once_in(4) {
                device.features &= !Features::REMOTE_COMPLETION.0;
            }
            // Dice of other storms fall as they did before there were pushes.
            if engines == Engines::Push && !dice.once_in(8) {
                device.features |= Features::PUSHES.0;
            }
        }
        fabric.ends_at_once = dice.once_in(3);
        fabric.reliable = dice.once_in(2);
        let mut w = WorldOf::on(fabric, nodes, config);
        for node in &mut w.nodes {
            node.polls = (seed >> 3) as usize & node.me & 1 != 0;
        }
        let pushes = engines == Engines::Push;
        Self { w, dice, links, connects, pushes, sent: Vec::new() }
    }

    fn node(&mut self) -> usize {
        self.dice.below(self.w.nodes.len())
    }

    fn link(&mut self) -> LinkId {
        LinkId::new(self.dice.below(self.links)).unwrap()
    }

    fn step(&mut self) {
        match self.dice.below(100) {
            0..=17 => self.submit(),
            18..=42 => self.deliver(),
            43..=57 => self.act(),
            58..=64 => self.interrupt(),
            65..=71 => self.announce_ending(),
            72..=81 => self.on_time(),
            82..=86 => self.pass_time(),
            87..=90 => self.fetch(),
            91..=93 => self.decisions(),
            94..=96 => self.fault(),
            97 => self.withdraw(),
            98 => self.device_mood(),
            _ => self.disaster(),
        }
        let now = self.w.now;
        self.w.nodes.iter_mut().for_each(|n| n.now = now);
    }

    fn submit(&mut self) {
        let (from, to) = (self.node(), self.node());
        if from == to || !self.w.nodes[from].alive {
            return;
        }
        let kind = self.dice.pick(&[Kind::Put, Kind::Put, Kind::Get, Kind::Reply]);
        let length = self.dice.pick(&[0, 1, 60, 100, 190, 700, 4000]);
        let link = self.dice.once_in(4).then(|| self.link());
        let routed = self.dice.once_in(8);
        let span = Span::from_micros(100 + self.dice.next() % 200_000);
        let deadline = self.w.now.after(span);
        self.w.nodes[from].pieces = self.dice.pick(&[1, 1, 1, 1, 1, 9]);
        let order = Order { kind, to, length, routed, deadline, link };
        if let Ok(tag) = self.w.send(from, order) {
            self.sent.push((from, tag));
        }
    }

    fn deliver(&mut self) {
        let length = self.w.fabric.borrow().wire.len();
        if length == 0 {
            return;
        }
        let mut at = self.dice.below(length);
        let letter = self.w.letter(at).unwrap();
        let same = (letter.from, letter.to, letter.link, letter.lane);
        // Lanes keep their order, as a rule.
        if !self.dice.once_in(20) {
            let first = |l: &Letter| (l.from, l.to, l.link, l.lane) == same;
            at = self.w.fabric.borrow().wire.iter().position(first).unwrap();
        }
        let letter = self.w.letter(at).unwrap();
        let reliable = self.w.fabric.borrow().reliable;
        let lost = self.dice.once_in(50) && !reliable;
        if !lost && !self.w.hand(&letter) {
            return;
        }
        if !self.dice.once_in(60) || reliable {
            self.w.fabric.borrow_mut().wire.remove(at);
        }
    }

    fn act(&mut self) {
        let deeds = self.w.fabric.borrow().deeds();
        if !deeds.is_empty() {
            let (node, link, index, deed) = self.dice.pick(&deeds);
            self.w.fabric.borrow_mut().act(node, link, index, deed);
        }
    }

    fn interrupt(&mut self) {
        let (node, link) = (self.node(), self.dice.below(self.links));
        let (now, budget) = (self.w.now, self.dice.pick(&[1, 3, 100]));
        let node = self.w.node(node);
        if node.alive && node.polls {
            node.take_completions(link, budget);
        } else if node.alive {
            let _ = node.interrupts()[link].on_interrupt(now, budget, &mut NoTrace);
            node.check();
        }
    }

    fn announce_ending(&mut self) {
        let length = self.w.fabric.borrow().endings.len();
        if length > 0 {
            let at = self.dice.below(length);
            let ending = self.w.fabric.borrow_mut().endings.remove(at).unwrap();
            self.w.node(ending.node).on_sent(ending.tag, ending.sent);
        }
    }

    fn on_time(&mut self) {
        let node = self.node();
        if self.w.nodes[node].alive {
            self.w.node(node).on_time();
        }
    }

    fn fetch(&mut self) {
        let node = self.node();
        if self.w.nodes[node].alive {
            self.w.node(node).fetch();
        }
    }

    fn pass_time(&mut self) {
        let span = self.dice.pick(&[1_000, 100_000, 1_000_000, 10_000_000]);
        self.w.now = self.w.now.after(Span::from_nanos(self.dice.next() % span));
    }

    fn decisions(&mut self) {
        let node = self.node();
        let decision = match self.dice.below(8) {
            0..=2 => TAKE,
            3 => Decision::UpTo(self.dice.pick(&[0, 1, 50, 500])),
            4 => Decision::Refuse(NakReason::NoMatch),
            5 => Decision::Forget,
            _ => Decision::Keep,
        };
        let most = self.dice.pick(&[0, 77, 5000]);
        let refuses = self.dice.once_in(3);
        let (now, which) = (self.w.now, self.dice.below(3));
        let node = self.w.node(node);
        *[&mut node.put, &mut node.get, &mut node.inline][which] = decision;
        for _ in 0..4 {
            if node.alive && !node.kept.is_empty() {
                if refuses {
                    let kept = node.kept.remove(0);
                    node.driver.nak(now, kept.rx_request, NakReason::NoResources);
                } else {
                    let _ = node.answer_kept(most);
                }
                node.check();
            }
        }
    }

    fn fault(&mut self) {
        // A goodbye is not tampered with, nor what is never sent.
        let first = usize::from(!self.pushes);
        let kinds = match (self.pushes, SAFE_INVALIDATE) {
            (_, true) => &KINDS[first..11],
            (false, false) => &KINDS[first..13],
            (true, false) => &KINDS[first..14],
        };
        let kind = self.dice.pick(kinds);
        let sent = self.dice.pick(&[Sent::Ok, Sent::NotDelivered, Sent::Unknown]);
        // A reliable channel says of what it loses that it does not know, and repeats nothing.
        let reliable = self.w.fabric.borrow().reliable;
        let sent = if reliable && sent == Sent::Ok { Sent::Unknown } else { sent };
        let injected = self.dice.pick(&[
            InjectedFault::Lost(sent),
            InjectedFault::DeliveredUnknown,
            InjectedFault::Twice,
            InjectedFault::Full,
        ]);
        let injected = if reliable && injected == InjectedFault::Twice {
            InjectedFault::Full
        } else {
            injected
        };
        let mut fabric = self.w.fabric.borrow_mut();
        let injected_faults = fabric.injected_faults.entry(kind).or_default();
        if injected_faults.len() < 2 {
            injected_faults.push_back(injected);
        }
    }

    fn withdraw(&mut self) {
        if let Some((node, tag)) = self.sent.pop() {
            let now = self.w.now;
            let node = self.w.node(node);
            if node.alive {
                node.driver.withdraw(now, tag);
                node.check();
            }
        }
    }

    fn device_mood(&mut self) {
        let (node, link) = (self.node(), self.dice.below(self.links));
        let on_invalidate = self.dice.pick(&[
            OnInvalidate::Honest,
            OnInvalidate::Honest,
            OnInvalidate::Touched,
            OnInvalidate::Wins,
            OnInvalidate::Never,
        ]);
        let (hangs, mute, frozen) =
            (self.dice.once_in(3), self.dice.once_in(8), self.dice.once_in(6));
        let (slow, refuse) = (self.dice.once_in(4), usize::from(self.dice.once_in(4)));
        self.w.device(node, link, |d| {
            (d.on_invalidate, d.hangs, d.mute, d.frozen) = (on_invalidate, hangs, mute, frozen);
            (d.slow_stop, d.refuse_posts) = (slow, refuse);
            d.stopped |= d.stop_asked && !slow;
            d.slow_connections = slow && d.connects;
            if !slow {
                d.stopping.values_mut().for_each(|stopped| *stopped = true);
            }
        });
    }

    fn disaster(&mut self) {
        let (node, other, link) = (self.node(), self.node(), self.link());
        let up = self.dice.once_in(2);
        let which = self.dice.below(10);
        if !self.w.nodes[node].alive {
            self.w.reboot(node);
            return;
        }
        if self.connects && self.dice.once_in(2) {
            let now = self.w.now;
            let nid = nid(other);
            self.w.nodes[node].driver.on_connection_down(now, link, nid);
            self.w.nodes[node].check();
            return;
        }
        match which {
            0..=2 => self.w.notify_peer(node, other, up),
            3 => {
                if let Some(peer) = self.w.peer(node, other) {
                    self.w.nodes[node].driver.irq_handle().peer_down(peer);
                }
            }
            4..=6 => self.w.notify_link(node, link, up),
            7 => {
                self.w.device(node, link.index(), |d| d.link_works = up);
                self.w.nodes[node].driver.irq_handle().link_failed(link);
            }
            8 => self.w.reboot(node),
            _ => self.w.kill(node),
        }
        self.w.nodes[node].check();
    }

    /// Every fault ends; every node lives.
    fn calm(&mut self) {
        for node in 0..self.w.nodes.len() {
            if !self.w.nodes[node].alive {
                self.w.reboot(node);
            }
            let node = self.w.node(node);
            node.kept.clear();
            (node.put, node.get, node.inline, node.pieces) = (TAKE, TAKE, TAKE, 1);
        }
        let mut fabric = self.w.fabric.borrow_mut();
        fabric.injected_faults.clear();
        for device in fabric.devices.values_mut() {
            (device.link_works, device.slow_stop, device.frozen) = (true, false, false);
            (device.mute, device.hangs, device.refuse_posts) = (false, false, 0);
            device.on_invalidate = OnInvalidate::Honest;
            device.stopped |= device.stop_asked;
            device.slow_connections = false;
            device.stopping.values_mut().for_each(|stopped| *stopped = true);
        }
    }

    /// Every node reaches every other, at the latest at the third try.
    fn shut_down(&mut self) {
        let now = self.w.now;
        for node in &mut self.w.nodes {
            node.driver.shutdown(now, now.after(Span::from_millis(5)));
        }
        self.w.sleep(Span::from_secs(1));
        for node in &self.w.nodes {
            assert_eq!(
                node.driver.run_state(),
                RunState::Quiescent,
                "{:?}",
                node.driver.blocker(0)
            );
            assert_eq!(node.driver.audit(), Ok(()));
        }
    }
}

/// Returns how many transfers were pushed.
fn storm<const SAFE_INVALIDATE: bool>(seed: u64, engines: Engines, tally: &mut Tally) -> usize {
    println!("seed {seed}");
    let mut storm = Storm::<SAFE_INVALIDATE>::new(seed, engines);
    for _ in 0..2000 {
        storm.step();
    }
    storm.calm();
    // A request that was parked is taken up to 64 hold-offs later, and has a deadline of its own.
    storm.w.sleep(Span::from_secs(700));
    storm.w.assert_drained();
    assert_reach(&mut storm.w);
    storm.w.assert_drained();
    storm.w.assert_deliveries();
    storm.w.assert_pulls();
    storm.shut_down();
    assert_observed(&mut storm.w);
    tally.add(&storm.w);
    let pushed = storm.w.fabric.borrow().pushed.len();
    pushed
}

fn storms<const SAFE_INVALIDATE: bool>(seeds: std::ops::Range<u64>, engines: Engines) {
    let (mut tally, mut pushed) = (Tally::new(), 0);
    for seed in seeds {
        pushed += storm::<SAFE_INVALIDATE>(seed, engines, &mut tally);
    }
    tally.assert_rough();
    assert_eq!(pushed > 200, engines == Engines::Push, "{pushed} pushed");
    let connects = engines != Engines::Plain;
    let [said, heard] = [Counter::Cancels, Counter::CancelsHeard].map(|it| tally.value(it));
    assert_eq!(
        (said > 300, heard > 150),
        (!SAFE_INVALIDATE, !SAFE_INVALIDATE),
        "{said} said, {heard} heard"
    );
    let reset = tally.value(Counter::ConnectionsReset);
    // The storms of pushes are half as many.
    let few = if engines == Engines::Push { 500 } else { 1000 };
    assert!(if connects { reset > few } else { reset == 0 }, "{reset} connections reset");
}

/// Storms in each half. Under Miri a storm takes minutes.
const SEEDS: u64 = if cfg!(miri) { 20 } else { 400 };

#[test]
fn r72_storms_first_half() {
    storms::<true>(0..SEEDS, Engines::Plain);
}

#[test]
fn r72_storms_second_half() {
    storms::<true>(SEEDS..2 * SEEDS, Engines::Plain);
}

/// Engines that can stop their connections one by one.
#[test]
fn r72_storms_over_connections() {
    storms::<true>(0..SEEDS, Engines::Connect);
}

/// Engines that must not take staged memory back while it may be pulled.
#[test]
fn r72_storms_without_invalidates() {
    storms::<false>(0..SEEDS / 2, Engines::Plain);
    storms::<false>(SEEDS / 2..SEEDS, Engines::Connect);
}

/// Engines that push, where both sides' do (S3-11).
#[test]
fn s3_11_storms_of_pushes() {
    storms::<true>(0..SEEDS / 2, Engines::Push);
    storms::<false>(SEEDS / 2..SEEDS, Engines::Push);
}

/// A peer that does not count our session names none of it in its requests. Its own session was
/// unverified here, after a delayed hello: its requests were dropped for ever.
#[test]
fn s0_18_a_storm_after_which_no_request_was_taken() {
    storm::<false>(6291, Engines::Plain, &mut Tally::new());
}

#[test]
#[ignore = "as long as you like: set SEED to the first seed and COUNT to their number"]
fn r72_more_storms() {
    let number = |name| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
    let first = number("SEED").unwrap_or(1000);
    for seed in first..first + number("COUNT").unwrap_or(1000) {
        let engines = [Engines::Plain, Engines::Connect, Engines::Push][seed as usize % 3];
        storm::<true>(seed, engines, &mut Tally::new());
        storm::<false>(seed, engines, &mut Tally::new());
    }
}
