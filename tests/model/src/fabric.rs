// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What lies between the two nodes, and what is known about every message: the oracle.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use lnd_core::id::{Incarnation, Nid, Tag};
use lnd_core::message::Lane;
use lnd_core::ports::{Returned, Sent};
use lnd_core::time::Instant;

use crate::device::{Device, Posted, Run};
use crate::setup::Setup;

/// Both nodes' ports hold it.
pub type Shared = Rc<RefCell<Fabric>>;

/// A frame under way, as bytes of the wire format.
#[derive(Clone, Debug, Hash)]
pub struct Letter {
    pub frame: Vec<u8>,
    /// The transfer whose short message it is, in the incarnation of its sender.
    pub tag: Option<Tag>,
    pub incarnation: Incarnation,
}

/// How a short message ended, before its sender has been told.
#[derive(Clone, Copy, Debug, Hash)]
pub struct End {
    pub tag: Tag,
    /// `None`: not yet known.
    pub sent: Option<Sent>,
}

/// One node as the fabric sees it.
#[derive(Clone, Debug, Hash)]
pub struct Place {
    pub device: Device,
    pub requests: VecDeque<Letter>,
    pub control: VecDeque<Letter>,
    pub ends: VecDeque<End>,
    pub incarnation: Incarnation,
    /// The link does not work.
    pub unplugged: bool,
}

/// Wires, engines, and the oracle.
#[derive(Debug)]
pub struct Fabric {
    pub places: [Place; 2],
    pub signalled: bool,
    /// Whether engines push the answers to GETs.
    pub pushes: bool,
    /// Whether engines have connections that can be stopped by themselves.
    pub connects: bool,
    /// A message has ended when the channel has taken it.
    pub ends_at_once: bool,
    /// Frames that a lane holds.
    pub room: usize,
    /// The first broken rule.
    pub broken: Option<String>,
    /// Transfers whose payload was moved as a whole: node and tag.
    pub moved: BTreeSet<(usize, Tag)>,
    /// Messages that the other upper layer has got, whole or as a request.
    pub arrived: BTreeSet<u32>,
    /// Messages of which a final status has said that they were not delivered.
    pub denied: BTreeSet<u32>,
    /// Transfers whose short message was reported OK: node and tag.
    pub notified: BTreeSet<(usize, Tag)>,
    /// The time.
    pub now: Instant,
    /// Until when each message may be sent.
    pub deadlines: BTreeMap<u32, Instant>,
    /// The sender of each message, its incarnation, and the incarnation of the receiver that the
    /// frame named.
    pub sent: BTreeMap<u32, (usize, Incarnation, Option<Incarnation>)>,
    /// Messages that the other upper layer has seen, whole or as a request.
    pub seen: BTreeSet<u32>,
    /// Messages of which a final status has said that they were delivered.
    pub promised: BTreeSet<u32>,
    /// What was staged and asked for, where engines do not invalidate: node, its incarnation, tag.
    pub taken_back: BTreeSet<(usize, Incarnation, Tag)>,
    /// What each node is submitting.
    pub submitting: [u32; 2],
    /// What is expected at a transfer, or lies there: node, tag, message.
    pub contents: BTreeSet<(usize, Tag, u32)>,
}

/// A node's NID.
pub fn nid(node: usize) -> Nid {
    Nid::from_raw((7 << 32) | (node as u64 + 1)).unwrap()
}

/// A node's incarnation number `n`.
pub fn incarnation(node: usize, n: u64) -> Incarnation {
    Incarnation::from_raw(100 * (node as u64 + 1) + n).unwrap()
}

impl Fabric {
    pub fn new(setup: &Setup) -> Self {
        let place = |node| Place {
            device: Device::default(),
            requests: VecDeque::new(),
            control: VecDeque::new(),
            ends: VecDeque::new(),
            incarnation: incarnation(node, 0),
            unplugged: false,
        };
        Self {
            places: [place(0), place(1)],
            signalled: setup.signalled,
            pushes: setup.pushes,
            connects: setup.connects,
            ends_at_once: setup.ends_at_once,
            room: 4,
            broken: None,
            moved: BTreeSet::new(),
            arrived: BTreeSet::new(),
            denied: BTreeSet::new(),
            notified: BTreeSet::new(),
            now: Instant::ORIGIN,
            deadlines: BTreeMap::new(),
            sent: BTreeMap::new(),
            seen: BTreeSet::new(),
            promised: BTreeSet::new(),
            taken_back: BTreeSet::new(),
            submitting: [0; 2],
            contents: BTreeSet::new(),
        }
    }

    pub fn lane(&mut self, from: usize, lane: Lane) -> &mut VecDeque<Letter> {
        match lane {
            Lane::Request => &mut self.places[from].requests,
            Lane::Control => &mut self.places[from].control,
        }
    }

    /// Notes a broken rule; the first one stays.
    pub fn breaks(&mut self, rule: impl Into<String>) {
        self.broken.get_or_insert(rule.into());
    }

    /// Demands that a rule holds.
    pub fn demand(&mut self, holds: bool, rule: &str) {
        if !holds {
            self.breaks(rule);
        }
    }

    pub fn content(&self, node: usize, tag: Tag) -> u32 {
        let from = (node, tag, 0);
        let to = (node, tag, u32::MAX);
        // What is posted in the middle of its submission is not in the book yet.
        let found = self.contents.range(from..=to).next();
        found.map_or(self.submitting[node], |found| found.2)
    }

    /// The descriptor that a pull or push finds, if it may begin.
    pub fn source(&self, puller: usize, pull: &Posted) -> Option<&Posted> {
        let source = pull.source?;
        let device = &self.places[1 - puller].device;
        let staged = device.posted.get(&source.index)?;
        let fits = staged.tag == source
            && staged.source.is_none()
            && staged.pushes == pull.pushes
            && staged.rung
            && staged.done.is_none()
            && staged.length >= pull.length;
        (fits && device.moves()).then_some(staged)
    }

    /// Staged memory is asked for that must not be while it may be pulled: the other engine has no
    /// pull of it that has not ended, and gets none.
    pub fn take_back(&mut self, node: usize, tag: Tag) {
        let other = &self.places[1 - node].device;
        let pulls = |p: &Posted| p.source == Some(tag) && p.done.is_none();
        let pulled = other.moves() && other.posted.values().any(pulls);
        self.demand(!pulled, "asked for what the other engine may be moving");
        self.taken_back.insert((node, self.places[node].incarnation, tag));
    }

    /// Whether a source was asked for that `puller` is about to pull.
    pub fn was_taken_back(&self, puller: usize, source: Tag) -> bool {
        let owner = 1 - puller;
        self.taken_back.contains(&(owner, self.places[owner].incarnation, source))
    }

    /// How the engine may return a descriptor at this moment, of its own or as asked.
    pub fn returns(&self, node: usize, slot: u32, errors: bool) -> Vec<Returned> {
        let device = &self.places[node].device;
        let Some(posted) = device.posted.get(&slot) else { return Vec::new() };
        if !posted.rung || posted.done.is_some() || !device.moves() {
            return Vec::new();
        }
        let found = self.source(node, posted).is_some();
        let vain = posted.source.is_some() && !found;
        let mut ways = Vec::new();
        if found {
            ways.push(Returned::Ok);
        }
        if (posted.invalidated || vain) && !posted.pulled {
            ways.push(Returned::Untouched);
        }
        if errors || posted.invalidated && (found || posted.pulled) {
            ways.push(Returned::Touched);
        }
        ways
    }

    /// The engine returns a descriptor; a pull that ends well ends its source as well. Of a push
    /// its sink learns by a message alone.
    pub fn end(&mut self, node: usize, slot: u32, returned: Returned) {
        let posted = self.places[node].device.posted[&slot];
        if returned == Returned::Ok {
            let staged = *self.source(node, &posted).expect("an enabled action");
            let same = posted.content == staged.content;
            self.demand(same, "a pull met what another message has staged (R14, R31, LU-17841)");
            self.moved.insert((node, posted.tag));
            self.moved.insert((1 - node, staged.tag));
            self.arrive(posted.content);
            let source = self.places[1 - node].device.posted.get_mut(&staged.tag.index);
            source.expect("it was found").pulled = true;
            if self.signalled && !posted.pushes {
                self.places[1 - node].device.give_back(staged.tag.index, Returned::Ok);
            }
        }
        self.places[node].device.give_back(slot, returned);
    }

    /// The engine returns a descriptor that ended well, and says so twice.
    pub fn end_twice(&mut self, node: usize, slot: u32) {
        self.end(node, slot, Returned::Ok);
        let ring = &mut self.places[node].device.ring;
        let last = ring.back().copied();
        ring.extend(last);
    }

    /// A frame that carries a message leaves, for an incarnation of the other node.
    pub fn send(&mut self, message: u32, from: usize, to: Option<Incarnation>) {
        self.sent.insert(message, (from, self.places[from].incarnation, to));
        let late = self.deadlines.get(&message).is_some_and(|&at| at <= self.now);
        self.demand(!late, "sent after its deadline (LU-16303)");
    }

    /// An upper layer sees a message.
    pub fn see(&mut self, message: u32) {
        let first = self.seen.insert(message);
        self.demand(first, "one message is seen twice (INV-6)");
    }

    /// What was promised was seen, or the incarnation that it was sent to is over. The promise of
    /// an incarnation that ended without a goodbye is nothing. Asked when nothing moves.
    pub fn check_promises(&mut self) {
        let broken =
            self.promised.iter().filter(|message| !self.seen.contains(*message)).any(|it| {
                let Some(&(from, incarnation, to)) = self.sent.get(it) else { return true };
                incarnation == self.places[from].incarnation
                    && to == Some(self.places[1 - from].incarnation)
            });
        self.demand(
            !broken,
            "reported as delivered, not received by the other upper layer (S0-18)",
        );
    }

    /// A message has got to the other side.
    pub fn arrive(&mut self, message: u32) {
        self.arrived.insert(message);
        let denied = self.denied.contains(&message);
        self.demand(!denied, "delivered, after a status had said that it was not (S0-18)");
    }

    /// A node's power fails: its engine and what its channel would have told it are gone.
    pub fn power_off(&mut self, node: usize, restarted: Incarnation) {
        let place = &mut self.places[node];
        place.device = Device { run: Run::Running, ..Device::default() };
        place.ends.clear();
        place.incarnation = restarted;
    }
}
