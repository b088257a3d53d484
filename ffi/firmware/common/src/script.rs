// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The work of the image: traffic of all sizes, a link that fails, a peer that goes down, a
//! shutdown; and its checks.

use lnd_core::counters::{Counter, Counters};
use lnd_core::driver::RunState;
use lnd_core::link::LinkState;
use lnd_core::ports::Engine;
use lnd_core::time::{Instant, Span};
use lnd_core::transfer::Cause;

use crate::job::{Job, Op, LARGEST};
use crate::node::{nid, Node, LINK};
use crate::print::Text;

/// The board's part of the script. Context: thread.
pub trait Board: Text {
    /// The time.
    fn now(&mut self) -> Instant;

    /// Sleeps until the given time, or until an interrupt reports work.
    fn sleep(&mut self, until: Instant);

    /// Pulls the cable of a node's link, or puts it back. The link's interrupt reports a failure to
    /// the driver.
    fn cable(&mut self, node: u32, plugged: bool);

    /// Holds the pulls of a node's engine, or lets them continue.
    fn stall(&mut self, node: u32, stalled: bool);

    /// Stops a node's engine for ever, and then reports that to the other node.
    fn kill(&mut self, node: u32);

    /// The counts of a node's interrupt, and its number of calls.
    fn interrupts(&mut self, node: u32) -> (Counters, u32);
}

/// Sizes of payloads: around every boundary.
const SIZES: [u32; 16] =
    [1, 2, 3, 63, 64, 65, 511, 512, 513, 1000, 4095, 4096, 4097, 32_768, 65_535, LARGEST];
/// Transfers of a burst, side by side in a region.
const BURST: u32 = 6;
/// A burst's payloads.
const PIECE: u32 = LARGEST / 8;
/// No step of the script takes longer.
const PATIENCE: Span = Span::from_secs(5);

/// The error that was found.
pub type Wrong = &'static str;

/// The pair and its board.
pub struct Script<B, E: Engine + 'static> {
    board: B,
    nodes: [&'static mut Node<E>; 2],
    /// A dead node is no longer polled.
    alive: [bool; 2],
    number: u32,
    arrivals: u32,
}

impl<B: Board, E: Engine + 'static> Script<B, E> {
    /// The script of these two.
    pub const fn new(board: B, nodes: [&'static mut Node<E>; 2]) -> Self {
        Self { board, nodes, alive: [true; 2], number: 0, arrivals: 0 }
    }

    /// The board and the nodes.
    pub fn parts(&mut self) -> (&mut B, &mut [&'static mut Node<E>; 2]) {
        (&mut self.board, &mut self.nodes)
    }

    /// Runs the script, prints the ledger and the error. Returns whether there was none.
    pub fn tell(&mut self) -> bool {
        let notified = self.chapters();
        let balanced = self.balance();
        for wrong in [notified.err(), balanced.err()].into_iter().flatten() {
            self.board.text("wrong: ");
            self.board.text(wrong);
            self.board.text("\n");
        }
        notified.is_ok() && balanced.is_ok()
    }

    fn chapters(&mut self) -> Result<(), Wrong> {
        self.traffic()?;
        self.say("traffic");
        self.burst()?;
        self.say("burst");
        self.nothing_was_late()?;
        self.link_failure()?;
        self.say("link failure");
        self.halfway()?;
        self.say("stopped halfway");
        self.peer_death()?;
        self.say("peer death");
        self.shutdown()?;
        self.say("shutdown");
        Ok(())
    }

    fn say(&mut self, chapter: &str) {
        self.board.text("done: ");
        self.board.text(chapter);
        self.board.text("\n");
    }

    /// Lets both nodes work until `done` returns true.
    fn until(
        &mut self,
        wrong: Wrong,
        done: impl Fn(&[&'static mut Node<E>; 2]) -> bool,
    ) -> Result<(), Wrong> {
        let end = self.board.now().after(PATIENCE);
        let mut quiet = 0;
        while !done(&self.nodes) {
            if self.board.now() > end {
                return Err(wrong);
            }
            let (busy, next) = self.turn();
            quiet = if busy { 0 } else { quiet + 1 };
            // Each node has received all messages of the other.
            if quiet >= 2 && !done(&self.nodes) {
                self.board.sleep(next.map_or(end, |due| due.min(end)));
            }
        }
        Ok(())
    }

    /// Gives the hardware time.
    fn pause(&mut self) {
        let end = self.board.now().after(Span::from_millis(2));
        while self.board.now() < end {
            let (busy, next) = self.turn();
            if !busy {
                self.board.sleep(next.map_or(end, |due| due.min(end)));
            }
        }
    }

    /// Lets each node work. Returns whether there was any work, and the time of the next call.
    fn turn(&mut self) -> (bool, Option<Instant>) {
        let now = self.board.now();
        let (mut any, mut next) = (false, None);
        for (node, _) in self.nodes.iter_mut().zip(self.alive).filter(|(_, alive)| *alive) {
            let (busy, due) = node.poll(now);
            any |= busy;
            next = [next, due].into_iter().flatten().min();
        }
        (any, next)
    }

    fn start(&mut self, from: usize, op: Op, offset: u32, length: u32) -> Result<(), Wrong> {
        self.number += 1;
        let job = Job { op, number: self.number, offset, length };
        let now = self.board.now();
        let node = self.nodes.get_mut(from).ok_or("there are two nodes")?;
        if node.start(now, job) {
            Ok(())
        } else {
            Err("a transfer was refused")
        }
    }

    /// Waits until everything has ended and `more` payloads have arrived.
    fn arrive(&mut self, more: u32) -> Result<(), Wrong> {
        self.arrivals += more;
        let expected = self.arrivals;
        self.until("a transfer did not end", |[a, b]| {
            a.is_idle() && b.is_idle() && a.ledger.arrived + b.ledger.arrived >= expected
        })
    }

    /// Every size as PUT and GET, in both directions at once.
    fn traffic(&mut self) -> Result<(), Wrong> {
        for op in [Op::Put, Op::Get] {
            for length in SIZES {
                self.start(0, op, 0, length)?;
                self.start(1, op, 0, length)?;
                self.arrive(2)?;
            }
        }
        Ok(())
    }

    /// As many at once as both sides have room for.
    fn burst(&mut self) -> Result<(), Wrong> {
        for round in 0..4 {
            for piece in 0..BURST {
                let op = if (piece + round) % 2 == 0 { Op::Put } else { Op::Get };
                // Not up to the next piece's first byte: the bytes after a payload stay empty.
                self.start((piece % 2) as usize, op, piece * PIECE, PIECE - 16)?;
            }
            self.arrive(BURST)?;
        }
        Ok(())
    }

    /// No deadline was needed so far: every completion arrived by itself.
    fn nothing_was_late(&mut self) -> Result<(), Wrong> {
        for node in &self.nodes {
            let counters = node.driver.counters();
            let late = [Counter::Deadlines, Counter::LinksFailed, Counter::Invalidated];
            if node.ledger.failed > 0 || late.iter().any(|&c| counters.value(c) > 0) {
                return Err("a completion was lost");
            }
        }
        Ok(())
    }

    /// Node 0 loses its link while its PUT waits for node 1's decision.
    fn link_failure(&mut self) -> Result<(), Wrong> {
        let [_, b] = &mut self.nodes;
        b.hold = true;
        self.start(0, Op::Put, 0, LARGEST)?;
        self.until("the request did not arrive", |[_, b]| !b.held.is_empty())?;
        self.board.cable(0, false);
        self.until("the PUT did not end with its link", |[a, _]| a.is_idle())?;
        let [a, b] = &mut self.nodes;
        if (a.ledger.failed, a.ledger.cause) != (1, Some(Cause::LinkDown)) {
            return Err("the PUT did not fail with its link");
        }
        // Invalidated before its engine stops (S0-20): an engine that still receives that returns
        // it.
        if taken_back(a.driver.counters()) == 0 {
            return Err("no descriptor was taken back");
        }
        b.let_go(self.board.now());
        self.until("the pull from a dead link did not end", |[_, b]| b.is_idle())?;
        self.board.cable(0, true);
        self.until("the link did not come back", |[a, _]| {
            a.driver.link_state(LINK) == Some(LinkState::Up)
        })?;
        for length in [1, LARGEST] {
            self.start(0, Op::Put, 0, length)?;
            self.start(1, Op::Get, 0, length)?;
            self.arrive(2)?;
        }
        Ok(())
    }

    /// Node 1's pulls are held. One is invalidated by its source, the next by the failure of its
    /// link; an engine that does not receive that is stopped, and the descriptor reclaimed. Both
    /// sides of both end, and afterwards data moves again.
    fn halfway(&mut self) -> Result<(), Wrong> {
        self.board.stall(1, true);
        self.pull_stuck()?;
        let now = self.board.now();
        let [a, _] = &mut self.nodes;
        a.withdraw(now);
        self.both_failed(Cause::Withdrawn, Cause::Device)?;

        self.pull_stuck()?;
        let [_, b] = &self.nodes;
        let before = taken_back(b.driver.counters());
        self.board.cable(1, false);
        self.both_failed(Cause::Device, Cause::LinkDown)?;
        let [_, b] = &self.nodes;
        if taken_back(b.driver.counters()) <= before {
            return Err("the pull was not taken back");
        }
        self.board.stall(1, false);
        self.board.cable(1, true);
        self.until("the link did not come back", |[_, b]| {
            b.driver.link_state(LINK) == Some(LinkState::Up)
        })?;
        self.start(0, Op::Put, 0, LARGEST)?;
        self.start(0, Op::Get, 0, LARGEST)?;
        self.arrive(2)
    }

    /// A PUT of node 0 whose pull is in node 1's engine.
    fn pull_stuck(&mut self) -> Result<(), Wrong> {
        let [_, b] = &self.nodes;
        let posted = b.driver.counters().value(Counter::Posted);
        self.start(0, Op::Put, 0, LARGEST)?;
        self.until("the pull was not posted", |[_, b]| {
            b.driver.counters().value(Counter::Posted) > posted
        })?;
        self.pause();
        Ok(())
    }

    /// One transfer of each node ends, with these causes.
    fn both_failed(&mut self, first: Cause, second: Cause) -> Result<(), Wrong> {
        let failed = self.failed();
        self.until("what was stopped halfway did not end", |[a, b]| a.is_idle() && b.is_idle())?;
        let [a, b] = &self.nodes;
        let causes = (a.ledger.cause, b.ledger.cause);
        if self.failed() != failed + 2 || causes != (Some(first), Some(second)) {
            return Err("what was stopped halfway ended otherwise");
        }
        Ok(())
    }

    fn failed(&self) -> u32 {
        self.nodes.iter().map(|node| node.ledger.failed).sum()
    }

    /// Node 1 goes down while a PUT and a GET wait for its decisions.
    fn peer_death(&mut self) -> Result<(), Wrong> {
        let [a, b] = &mut self.nodes;
        b.hold = true;
        let failed = a.ledger.failed;
        self.start(0, Op::Put, 0, LARGEST)?;
        self.start(0, Op::Get, 0, LARGEST)?;
        self.until("the requests did not arrive", |[_, b]| b.held.len() == 2)?;
        self.alive = [true, false];
        self.board.kill(1);
        let now = self.board.now();
        let [a, _] = &mut self.nodes;
        a.driver.on_peer(now, nid(1), false);
        self.until("what waited for the dead did not end", |[a, _]| a.is_idle())?;
        let [a, _] = &self.nodes;
        if a.ledger.failed != failed + 2 {
            return Err("something was delivered to the dead");
        }
        if self.start(0, Op::Put, 0, 1).is_ok() {
            return Err("a PUT to the dead was accepted");
        }
        Ok(())
    }

    fn shutdown(&mut self) -> Result<(), Wrong> {
        let now = self.board.now();
        let [a, _] = &mut self.nodes;
        a.driver.shutdown(now, now.after(Span::from_millis(10)));
        self.until("the shutdown did not end", |[a, _]| a.driver.run_state() == RunState::Quiescent)
    }

    /// The ledger: every accepted transfer has been reported, once.
    fn balance(&mut self) -> Result<(), Wrong> {
        let mut wrong = None;
        for (number, node) in (0..).zip(&self.nodes) {
            let (irq, taken) = self.board.interrupts(number);
            print_ledger(&mut self.board, number, node, &irq, taken);
            let ledger = node.ledger;
            let left =
                if self.alive.get(number as usize) == Some(&true) { 0 } else { node.under_way() };
            let broken = [
                (ledger.corrupt > 0, "a payload was corrupt"),
                (ledger.violations > 0, "something ended twice or made no sense"),
                (
                    ledger.accepted != ledger.ok + ledger.failed + left,
                    "the ledger does not balance",
                ),
                (node.driver.audit().is_err(), "the driver's books do not add up"),
                (taken == 0, "no completion came by interrupt"),
            ];
            wrong = wrong.or(broken.iter().find(|(is, _)| *is).map(|(_, why)| *why));
        }
        let [a, _] = &self.nodes;
        if a.driver.in_use() != (0, 0) || a.driver.blocker(0).is_some() {
            wrong = wrong.or(Some("something was left over"));
        }
        wrong.map_or(Ok(()), Err)
    }
}

/// Descriptors that came back without a good end: after an invalidation, or reclaimed from a
/// stopped engine.
fn taken_back(counters: &Counters) -> u64 {
    counters.value(Counter::CameBackError) + counters.value(Counter::Reclaimed)
}

fn print_ledger<E: Engine + 'static>(
    board: &mut impl Text,
    number: u32,
    node: &Node<E>,
    irq: &Counters,
    taken: u32,
) {
    let ledger = &node.ledger;
    board.text("ledger");
    for (name, value) in [
        ("node", number),
        ("accepted", ledger.accepted),
        ("ok", ledger.ok),
        ("failed", ledger.failed),
        ("open", node.under_way()),
        ("refused", ledger.refused),
        ("arrived", ledger.arrived),
        ("corrupt", ledger.corrupt),
        ("violations", ledger.violations),
        ("interrupts", taken),
    ] {
        board.field(name, value);
    }
    board.text("\ncounters");
    board.field("node", number);
    for &counter in Counter::ALL {
        let value = node.driver.counters().value(counter) + irq.value(counter);
        if value > 0 {
            board.field(counter.name(), value as u32);
        }
    }
    board.text("\n");
}
