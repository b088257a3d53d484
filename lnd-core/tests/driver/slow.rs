// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Worlds in which nothing is lost and every lane keeps its order, but lanes stand still for long
//! while nodes end, begin again, declare each other down, and forget each other for want of room
//! (S0-18). Some of them have successions: a node ends in good order or crashes, and its successor
//! connects while its predecessors' hellos and goodbyes are still on their way.

use lnd_core::config::Config;
use lnd_core::driver::{Kind, RunState};
use lnd_core::id::LinkId;
use lnd_core::message::Lane;
use lnd_core::time::Span;

use super::dice::Dice;
use super::fabric::Fabric;
use super::letter::Letter;
use super::node::{Decision, Order, TAKE};
use super::random::{assert_reach, hurry};
use super::world::World;

/// From, to, link, and whether it is the request lane.
type Line = (usize, usize, usize, bool);

struct Slow {
    w: World,
    dice: Dice,
    links: usize,
    /// What stands still now.
    stuck: Vec<Line>,
    /// All nodes but the first end and begin again, often.
    successions: bool,
    /// How often a node has ended in good order.
    goodbyes: usize,
    steps: usize,
}

impl Slow {
    /// `turnover`: there are fewer places for peers than peers.
    fn new(seed: u64, turnover: bool) -> Self {
        Self::with_links(seed, turnover, &[2, 3])
    }

    fn with_links(seed: u64, turnover: bool, links: &[u8]) -> Self {
        let mut dice = Dice(seed);
        let nodes = 2 + usize::from(turnover) + dice.below(2);
        let peers = if turnover { 1 + dice.below(2) as u32 } else { 4 };
        let mut config = Config::new(64, peers, dice.pick(links));
        config.lists = 8;
        config.immediate_max = 200;
        config.depth = dice.pick(&[1, 2, 8, 32]);
        config.pulls = 4;
        hurry(&mut config);
        let links = config.links as usize;
        let mut fabric = Fabric::new(nodes, links);
        fabric.ends_at_once = seed % 2 == 1;
        let w = World::on(fabric, nodes, config);
        Self { w, dice, links, stuck: Vec::new(), successions: false, goodbyes: 0, steps: 3000 }
    }

    /// A world in which incarnations follow each other, short and with more links: what is late
    /// comes in many orders.
    fn with_successions(seed: u64, turnover: bool) -> Self {
        let slow = Self::with_links(seed, turnover, &[3, 4]);
        Self { successions: true, steps: 600, ..slow }
    }

    fn node(&mut self) -> usize {
        self.dice.below(self.w.nodes.len())
    }

    fn link(&mut self) -> LinkId {
        LinkId::new(self.dice.below(self.links)).unwrap()
    }

    fn step(&mut self) {
        if self.successions && self.dice.once_in(50) {
            self.succeed();
        }
        match self.dice.below(1000) {
            0..=199 => self.submit(),
            200..=499 if self.successions => {}
            200..=699 => self.deliver(),
            700..=749 => {
                self.w.devices();
                self.w.interrupts();
            }
            750..=799 => {
                self.w.endings();
            }
            800..=899 => {
                let node = self.node();
                if self.w.nodes[node].alive {
                    self.w.node(node).on_time();
                    self.w.node(node).fetch();
                }
            }
            900..=939 => {
                let span = self.dice.pick(&[1_000, 100_000, 1_000_000, 20_000_000]);
                self.w.now = self.w.now.after(Span::from_nanos(self.dice.next() % span));
            }
            940..=959 => self.stop_a_line(),
            960..=974 => {
                if !self.stuck.is_empty() {
                    let at = self.dice.below(self.stuck.len());
                    self.stuck.swap_remove(at);
                }
            }
            975..=984 => {
                let (node, other, up) = (self.node(), self.node(), self.dice.once_in(3));
                if self.w.nodes[node].alive {
                    self.w.notify_peer(node, other, up);
                }
            }
            985..=991 => self.answer(),
            992..=995 => {
                let node = self.node();
                if node > 0 || !self.successions {
                    self.w.reboot(node);
                }
            }
            _ => {
                let (node, link, up) = (self.node(), self.link(), self.dice.once_in(2));
                if self.w.nodes[node].alive {
                    self.w.notify_link(node, link, up);
                }
            }
        }
        let now = self.w.now;
        self.w.nodes.iter_mut().for_each(|node| node.now = now);
    }

    fn submit(&mut self) {
        let (from, to) = (self.node(), self.node());
        if from == to || !self.w.nodes[from].alive {
            return;
        }
        let length = self.dice.pick(&[1, 60, 100, 190, 4000]);
        let link = if self.dice.once_in(3) { Some(self.link()) } else { None };
        let span = Span::from_micros(100 + self.dice.next() % 300_000);
        let deadline = self.w.now.after(span);
        let order = Order { kind: Kind::Put, to, length, routed: false, deadline, link };
        // Refused where there is no room, or the peer is down: as often as not.
        let _ = self.w.send(from, order);
    }

    /// A node ends, as a rule in good order, and begins again. What it has said stays on its way,
    /// and one of its control lanes stands still, as often as not.
    fn succeed(&mut self) {
        let node = 1 + self.dice.below(self.w.nodes.len() - 1);
        if self.dice.once_in(2) && self.stuck.len() < 6 {
            let (to, link) = (self.node(), self.dice.below(self.links));
            self.stuck.push((node, to, link, false));
        }
        // Who does not answer for so long is down.
        let pause = Span::from_millis(30);
        self.w.now = self.w.now.after(pause);
        self.w.tick();
        if self.dice.once_in(4) {
            self.w.reboot(node);
            return;
        }
        let now = self.w.now;
        self.w.nodes[node].driver.shutdown(now, now);
        for _ in 0..20 {
            self.w.node(node).on_time();
            self.w.devices();
            self.w.interrupts();
            self.w.endings();
            self.w.node(node).fetch();
        }
        // One whose device has to be waited for ends without a goodbye.
        let over = self.w.nodes[node].driver.run_state() == RunState::Quiescent;
        self.goodbyes += usize::from(over);
        self.w.reboot(node);
    }

    fn answer(&mut self) {
        let node = self.node();
        let decision = self.dice.pick(&[TAKE, TAKE, Decision::Keep]);
        let node = self.w.node(node);
        (node.put, node.inline) = (decision, decision);
        let kept = if node.alive { node.kept.len() } else { 0 };
        for _ in 0..kept {
            // What was kept may have ended meanwhile.
            let _ = node.answer_kept(5000);
        }
    }

    fn stop_a_line(&mut self) {
        let line = (self.node(), self.node(), self.dice.below(self.links), self.dice.once_in(2));
        if self.stuck.len() < 3 {
            self.stuck.push(line);
        }
    }

    /// Hands over the first letter of a line that moves.
    fn deliver(&mut self) {
        let line_of = |it: &Letter| (it.from, it.to, it.link.index(), it.lane == Lane::Request);
        let wire: Vec<Line> = self.w.fabric.borrow().wire.iter().map(line_of).collect();
        let mut lines = wire.clone();
        lines.sort_unstable();
        lines.dedup();
        lines.retain(|line| !self.stuck.contains(line));
        if lines.is_empty() {
            return;
        }
        let line = self.dice.pick(&lines);
        let at = wire.iter().position(|it| *it == line).unwrap();
        let letter = self.w.letter(at).unwrap();
        if self.w.hand(&letter) {
            self.w.fabric.borrow_mut().wire.remove(at);
            self.assert_seen(&letter);
        }
    }

    /// What its sender was told is delivered has been seen when it has left its lane, unless one of
    /// the two incarnations is over. At the end of the world most are.
    fn assert_seen(&self, letter: &Letter) {
        let fabric = self.w.fabric.borrow();
        let Some(id) = letter.id().filter(|id| fabric.promised.contains(id)) else { return };
        let present =
            |(node, incarnation): &(usize, u64)| fabric.incarnations[node] == *incarnation;
        let ends = fabric.addressed[&id];
        let owed = ends.iter().all(present);
        assert!(
            !owed || fabric.seen.contains(&(ends[1].1, id)),
            "message {id} is lost: {letter:?}"
        );
    }

    /// Everything moves again and is taken.
    fn calm(&mut self) {
        self.stuck.clear();
        for node in 0..self.w.nodes.len() {
            let node = self.w.node(node);
            (node.put, node.get, node.inline) = (TAKE, TAKE, TAKE);
            node.kept.clear();
        }
        for device in self.w.fabric.borrow_mut().devices.values_mut() {
            device.link_works = true;
        }
    }

    /// INV-11: without time passing, what can happen comes to an end.
    fn assert_no_storm(&mut self) {
        for _ in 0..2000 {
            let mut busy = self.w.tick();
            busy |= self.w.deliver() > 0;
            busy |= self.w.devices() > 0;
            busy |= self.w.interrupts() > 0;
            busy |= self.w.endings() > 0;
            busy |= self.w.fetch() > 0;
            if !busy {
                return;
            }
        }
        let said = self.w.fabric.borrow().said.len();
        panic!("there is always something more to say; so far {said} letters");
    }
}

fn slow(seed: u64, turnover: bool) {
    println!("seed {seed} turnover {turnover}");
    run(Slow::new(seed, turnover), turnover);
}

/// Returns how often a node has ended in good order.
fn successions(seed: u64, turnover: bool) -> usize {
    println!("seed {seed} turnover {turnover}, with successions");
    run(Slow::with_successions(seed, turnover), turnover)
}

fn run(mut slow: Slow, turnover: bool) -> usize {
    for _ in 0..slow.steps {
        slow.step();
    }
    slow.calm();
    slow.assert_no_storm();
    slow.w.sleep(Span::from_secs(20));
    slow.w.assert_drained();
    slow.w.assert_deliveries();
    if !turnover {
        assert_reach(&mut slow.w);
    }
    slow.goodbyes
}

/// Under Miri one takes minutes.
const SEEDS: u64 = if cfg!(miri) { 2 } else { 200 };

#[test]
fn s0_18_slow_lanes_lose_nothing() {
    (0..SEEDS).for_each(|seed| slow(seed, false));
}

#[test]
fn s0_18_slow_lanes_and_few_places_lose_nothing() {
    (0..SEEDS).for_each(|seed| slow(seed, true));
}

#[test]
fn s0_18_incarnations_that_follow_each_other_lose_nothing() {
    let ended = |seed| successions(seed, false) + successions(seed, true);
    let goodbyes: usize = (0..SEEDS).map(ended).sum();
    assert!(goodbyes as u64 > 10 * SEEDS, "{goodbyes}");
}

#[test]
#[ignore = "as long as you like: set SEED to the first seed and COUNT to their number"]
fn s0_18_more_successions() {
    let number = |name| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
    let first = number("SEED").unwrap_or(1000);
    for seed in first..first + number("COUNT").unwrap_or(1000) {
        successions(seed, false);
        successions(seed, true);
    }
}

#[test]
#[ignore = "as long as you like: set SEED to the first seed and COUNT to their number"]
fn s0_18_more_slow_lanes() {
    let number = |name| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
    let first = number("SEED").unwrap_or(1000);
    for seed in first..first + number("COUNT").unwrap_or(1000) {
        slow(seed, false);
        slow(seed, true);
    }
}
