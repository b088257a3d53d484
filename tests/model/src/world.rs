// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Two nodes and what lies between them: applies actions, and says which are possible.

use std::cell::RefCell;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::mem::MaybeUninit;
use std::rc::Rc;

use lnd_core::driver::RunState;
use lnd_core::id::PeerId;
use lnd_core::message::{Lane, NakReason};
use lnd_core::ports::{NoTrace, Sent};
use lnd_core::time::Instant;

use crate::action::{Action, Decision};
use crate::device::Run;
use crate::fabric::{incarnation, nid, End, Fabric, Letter, Shared};
use crate::facts::Facts;
use crate::node::Node;
use crate::ports::LINK;
use crate::setup::{Faults, Order, Setup};

/// Ticks after which a run counts as endless.
const MANY: u32 = 60;

pub struct World<'m, 's, const SAFE_INVALIDATE: bool> {
    pub(crate) setup: &'s Setup,
    pub(crate) fabric: Shared,
    pub(crate) nodes: [Node<'m, SAFE_INVALIDATE>; 2],
    spare: Vec<&'m mut [MaybeUninit<u8>]>,
    pub(crate) now: Instant,
    pub(crate) left: Faults,
    /// How many orders of the list each node has looked at.
    pub(crate) submitted: [usize; 2],
    incarnations: [u64; 2],
    pub(crate) ticks: u32,
    /// Ticks when a link was unplugged last.
    pub(crate) unplugged_at: u32,
    facts: Facts,
}

impl<'m, 's, const SAFE_INVALIDATE: bool> World<'m, 's, SAFE_INVALIDATE> {
    /// Memory for four incarnations is needed: two of each node.
    ///
    /// `handshake` is how the two have met, if they have: what [`meet`](Self::meet) returned.
    pub fn new(
        setup: &'s Setup,
        handshake: &[Action],
        memory: &'m mut [Vec<MaybeUninit<u8>>],
    ) -> Self {
        let mut spare: Vec<_> = memory.iter_mut().map(Vec::as_mut_slice).collect();
        let fabric = Rc::new(RefCell::new(Fabric::new(setup)));
        let mut boot = |node| {
            let memory = spare.pop().expect("memory for a life");
            Node::boot(memory, setup, &fabric, node, incarnation(node, 0))
        };
        let nodes = [boot(0), boot(1)];
        let mut world = Self {
            setup,
            fabric,
            nodes,
            spare,
            now: Instant::from_nanos(1_000_000_000),
            left: Faults::default(),
            submitted: [0; 2],
            incarnations: [0; 2],
            ticks: 0,
            unplugged_at: 0,
            facts: Facts::default(),
        };
        for node in 0..2 {
            world.nodes[node].look(world.now, &mut world.facts);
        }
        if setup.met {
            world.begin_to_meet();
            for &action in handshake {
                world.apply(action);
            }
            world.submitted = [0; 2];
            world.ticks = 0;
        }
        world.facts = Facts::default();
        world.left = setup.faults;
        world
    }

    /// A small message each way, one thing after the other: what then happens, in one order.
    pub fn meet(setup: &Setup, memory: &mut [Vec<MaybeUninit<u8>>]) -> Vec<Action> {
        let strangers = Setup { met: false, faults: Faults::default(), ..setup.clone() };
        let mut world = World::<SAFE_INVALIDATE>::new(&strangers, &[], memory);
        world.begin_to_meet();
        let mut handshake = Vec::new();
        while let Some(&action) = world.actions().first() {
            world.apply(action);
            handshake.push(action);
        }
        handshake
    }

    fn begin_to_meet(&mut self) {
        self.submitted = [self.setup.orders.len(); 2];
        for node in 0..2 {
            let order = Order { node, kind: lnd_core::driver::Kind::Put, length: 1 };
            self.nodes[node].submit(self.now, u32::MAX - node as u32, order);
            self.look(node);
        }
    }

    fn look(&mut self, node: usize) {
        self.nodes[node].look(self.now, &mut self.facts);
    }

    /// Lets one thing happen.
    pub fn apply(&mut self, action: Action) {
        self.spend(action);
        self.fabric.borrow_mut().now = self.now;
        match action {
            Action::Submit(node) => {
                let Some((at, order)) = self.next_order(node) else { return };
                self.submitted[node] = at + 1;
                self.nodes[node].submit(self.now, at as u32 + 1, order);
                self.look(node);
            }
            Action::Deliver(from, lane, decision) => {
                self.deliver(from, lane, decision, Sent::Ok, true)
            }
            Action::DeliverTwice(from, lane, decision) => {
                self.deliver(from, lane, decision, Sent::Ok, false);
            }
            Action::Unverified(from, lane) => {
                self.deliver(from, lane, Decision::Take, Sent::Unknown, true);
            }
            Action::Lose(from, lane, sent) => {
                let letter = self.fabric.borrow_mut().lane(from, lane).pop_front();
                if let Some(letter) = letter {
                    self.ended(from, &letter, sent);
                }
                self.look(from);
            }
            Action::Told(node) => self.notified(node),
            Action::Decide(node, decision) => self.decide(node, decision),
            Action::Return(node, slot, way) => self.fabric.borrow_mut().end(node, slot, way),
            Action::Repeat(node, slot) => self.fabric.borrow_mut().end_twice(node, slot),
            Action::Interrupt(node) => {
                self.nodes[node].interrupt.on_interrupt(self.now, 1, &mut NoTrace);
                self.nodes[node].dirty = true;
            }
            Action::Stopped(node) => {
                self.fabric.borrow_mut().places[node].device.run = Run::Stopped;
                self.look(node);
            }
            Action::Disconnected(node) => {
                self.fabric.borrow_mut().places[node].device.connection = Run::Stopped;
                self.look(node);
            }
            Action::OnTime(node) => self.look(node),
            Action::Tick => {
                self.ticks += 1;
                self.now = self.deadline().map_or(self.now, |at| self.now.max(at));
                self.fabric.borrow_mut().now = self.now;
                for node in (0..2).filter(|&node| !self.nodes[node].paused).collect::<Vec<_>>() {
                    self.look(node);
                }
            }
            _ => self.strike(action),
        }
    }

    fn decide(&mut self, node: usize, decision: Decision) {
        let (rx_request, id) = self.nodes[node].kept.remove(0);
        match decision {
            Decision::Refuse => {
                self.nodes[node].driver.nak(self.now, rx_request, NakReason::NoMatch)
            }
            _ => self.nodes[node].take(self.now, rx_request, id),
        }
        self.look(node);
    }

    fn strike(&mut self, action: Action) {
        match action {
            Action::PeerDown(node) => {
                if let Some(peer) = self.peer(node) {
                    self.nodes[node].driver.irq_handle().peer_down(peer);
                    self.nodes[node].was_notified_down = true;
                    self.nodes[node].dirty = true;
                }
            }
            Action::Withdraw(node) => {
                if let Some((&tag, _)) = self.nodes[node].open.first_key_value() {
                    self.nodes[node].driver.withdraw(self.now, tag);
                    self.look(node);
                }
            }
            Action::LinkDown(node) => {
                self.nodes[node].driver.irq_handle().link_failed(LINK);
                self.nodes[node].dirty = true;
            }
            Action::ConnectionDown(node) => {
                self.nodes[node].driver.on_connection_down(self.now, LINK, nid(1 - node));
                self.look(node);
            }
            Action::Restarted(node) => {
                self.nodes[node].tell(&mut self.facts);
                self.incarnations[node] += 1;
                let restarted = incarnation(node, self.incarnations[node]);
                self.fabric.borrow_mut().power_off(node, restarted);
                let memory = self.spare.pop().expect("memory for another life");
                self.nodes[node] = Node::boot(memory, self.setup, &self.fabric, node, restarted);
                self.look(node);
            }
            Action::Shutdown(node) => {
                self.nodes[node].driver.shutdown(self.now, self.now);
                self.look(node);
            }
            Action::Pause(node) => self.nodes[node].paused = true,
            Action::Resume(node) => {
                // Time has passed, and the thread has not looked.
                (self.nodes[node].paused, self.nodes[node].dirty) = (false, true);
            }
            Action::Unplug(node) => {
                self.fabric.borrow_mut().places[node].unplugged = true;
                self.unplugged_at = self.ticks;
                self.nodes[node].driver.irq_handle().link_failed(LINK);
                self.nodes[node].dirty = true;
            }
            Action::Plug(node) => {
                self.fabric.borrow_mut().places[node].unplugged = false;
                self.nodes[node].dirty = true;
            }
            _ => {}
        }
    }

    fn peer(&self, node: usize) -> Option<PeerId> {
        self.nodes[node].driver.peer(nid(1 - node))
    }

    fn spend(&mut self, action: Action) {
        // Only these can be both, a fault and not.
        let either = matches!(action, Action::Return(..) | Action::Tick);
        let fair = if either { self.fair() } else { Vec::new() };
        let slow = !self.only_waits(&fair);
        let left = &mut self.left;
        let budget = match action {
            Action::Deliver(_, _, Decision::Refuse) | Action::Decide(_, Decision::Refuse) => {
                &mut left.refused
            }
            Action::Deliver(_, _, Decision::Later) => &mut left.put_off,
            Action::DeliverTwice(..) => &mut left.twice,
            Action::Lose(..) => &mut left.lost,
            Action::Unverified(..) => &mut left.unverified,
            Action::Return(..) if !fair.contains(&action) => &mut left.broken,
            Action::Repeat(..) => &mut left.repeated,
            Action::Tick if slow => &mut left.slow,
            Action::Withdraw(node) => &mut left.withdrawn[node],
            Action::PeerDown(node) => &mut left.peer_down[node],
            Action::LinkDown(node) => &mut left.link_down[node],
            Action::ConnectionDown(node) => &mut left.connection_down[node],
            Action::Restarted(node) => &mut left.restarted[node],
            Action::Shutdown(node) => &mut left.shutdown[node],
            Action::Pause(node) => &mut left.pause[node],
            Action::Unplug(node) => &mut left.unplug[node],
            _ => return,
        };
        *budget = budget.saturating_sub(1);
    }

    fn deliver(&mut self, from: usize, lane: Lane, decision: Decision, sent: Sent, once: bool) {
        let letter = self.fabric.borrow_mut().lane(from, lane).pop_front();
        let Some(letter) = letter else { return };
        let to = 1 - from;
        if !self.nodes[to].receive(self.now, &letter.frame, decision) {
            self.nodes[to].full = true;
            self.fabric.borrow_mut().lane(from, lane).push_front(letter);
            return;
        }
        self.nodes[to].full &= lane == Lane::Request;
        self.ended(from, &letter, sent);
        if !once {
            self.fabric.borrow_mut().lane(from, lane).push_front(letter);
        }
        self.look(to);
    }

    /// How a letter's way ended is known from now on, if its sender still lives and waits.
    fn ended(&mut self, from: usize, letter: &Letter, sent: Sent) {
        let mut fabric = self.fabric.borrow_mut();
        let place = &mut fabric.places[from];
        let Some(tag) = letter.tag.filter(|_| letter.incarnation == place.incarnation) else {
            return;
        };
        if let Some(end) = place.ends.iter_mut().find(|e| e.tag == tag && e.sent.is_none()) {
            end.sent = Some(sent);
        }
    }

    fn notified(&mut self, node: usize) {
        let mut fabric = self.fabric.borrow_mut();
        let ends = &mut fabric.places[node].ends;
        let Some(at) = ends.iter().position(|end| end.sent.is_some()) else { return };
        let Some(End { tag, sent: Some(sent) }) = ends.remove(at) else { return };
        if sent == Sent::Ok {
            fabric.notified.insert((node, tag));
        }
        drop(fabric);
        self.nodes[node].notified(self.now, tag, sent);
        self.look(node);
    }

    /// The first broken rule, if there is one. Completes the facts.
    pub fn broken(&mut self) -> Option<String> {
        for node in &self.nodes {
            node.tell(&mut self.facts);
        }
        if self.ticks > MANY {
            self.fabric.borrow_mut().breaks("the clock runs on for ever (INV-9)");
        }
        if self.fair().is_empty() && self.deadline().is_none() {
            self.check_end();
        }
        self.fabric.borrow().broken.clone()
    }

    /// Nothing moves and nothing waits for time: nothing may be left.
    fn check_end(&mut self) {
        let mut fabric = self.fabric.borrow_mut();
        fabric.check_promises();
        for node in &self.nodes {
            let run = node.driver.run_state();
            self.facts.quiescent |= run == RunState::Quiescent;
            let ended = matches!(run, RunState::Running | RunState::Quiescent);
            let none = node.open.is_empty() && node.driver.in_use() == (0, 0);
            fabric.demand(none, "nothing moves, and a transfer has not ended (INV-9, INV-11)");
            fabric.demand(ended, "nothing moves, and the shutdown has not ended (INV-15)");
            let waiting =
                fabric.places[1 - node.me].requests.is_empty() || run != RunState::Running;
            fabric.demand(waiting, "nothing moves, and a request waits for a slot (INV-11)");
        }
    }

    /// What the run has been through.
    pub fn facts(&self) -> Facts {
        self.facts
    }

    /// A hash of everything that the future depends on.
    pub fn digest(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        let fabric = self.fabric.borrow();
        fabric.places.hash(&mut hasher);
        (&fabric.moved, &fabric.arrived, &fabric.denied, &fabric.notified).hash(&mut hasher);
        fabric.broken.hash(&mut hasher);
        fabric.taken_back.hash(&mut hasher);
        (&fabric.seen, &fabric.promised, &fabric.sent, &fabric.deadlines).hash(&mut hasher);
        for node in &self.nodes {
            node.driver.fingerprint(&mut hasher);
            (&node.open, node.looked).hash(&mut hasher);
            (node.next, node.dirty, node.full, node.was_notified_down, node.paused)
                .hash(&mut hasher);
            for (rx_request, message) in &node.kept {
                (rx_request.tag(), message).hash(&mut hasher);
            }
        }
        (self.now, self.left, self.submitted, self.facts).hash(&mut hasher);
        hasher.finish()
    }
}
