// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The short-message network between the nodes, and what the adversary does to messages.
//!
//! Messages travel in their wire format. Each sender, receiver, link and lane has a mailbox with
//! bounded room; without faults a mailbox keeps the order.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use lnd_core::counters::Counters;
use lnd_core::driver::IrqHandle;
use lnd_core::id::{LinkId, PeerId, Tag};
use lnd_core::message::{Envelope, Message};
use lnd_core::ports::Sent;
use lnd_core::time::{Instant, Span};

use super::fault_rates::MessageFaults;
use super::mailbox::{Frame, Lane, Mailbox, Pending, Post};
use super::run_log::Logged;
use super::tally::{Recorder, Tally};
use super::waiting::Reading;
use crate::lnet::LnetHeader;
use crate::mixer::Mixer;
use crate::node::Tracking;
use crate::rng::Rng;

/// Frames that the adversary remembers for replays.
pub(crate) const MEMORY: usize = 64;

/// What an interrupt of a node has in hand.
#[derive(Debug)]
pub struct Nerve<'m> {
    /// The shard's words.
    pub irq_handle: IrqHandle<'m>,
    /// The peers that the driver knows, by node, if messages are interrupted.
    pub peers: Vec<(u32, PeerId)>,
    /// Where it is traced.
    pub recorder: Recorder,
    /// Where it is counted.
    pub counters: Rc<RefCell<Counters>>,
}

/// The network.
#[derive(Debug)]
pub struct Network<'m> {
    /// The time; the channel's port does not tell it.
    pub now: Instant,
    /// The faults in force.
    pub faults: MessageFaults,
    /// What is to happen in consequence.
    pub posts: Vec<(Instant, Post)>,
    /// Rules that were broken.
    pub violations: Vec<String>,
    /// The hash over all decisions.
    pub hash: Mixer,
    pub(crate) rng: Rng,
    pub(crate) tally: Tally,
    pub(crate) room: [u32; 2],
    pub(crate) boxes: BTreeMap<Lane, Mailbox>,
    /// Mailboxes that hold a frame, by receiver.
    pub(super) unread: BTreeMap<u32, BTreeSet<Lane>>,
    /// Places taken and frames in mailboxes, but for those from and to the byzantine node.
    pub(super) occupied: u64,
    pending: BTreeMap<u64, Pending>,
    next: u64,
    pub(crate) down: BTreeSet<(u32, LinkId)>,
    pub(crate) cut: BTreeSet<(u32, u32)>,
    strangers: BTreeSet<(u32, u32)>,
    /// The channels call themselves reliable: nothing that they called sent is lost, whatever the
    /// plan.
    pub reliable: bool,
    /// A message has ended when the channel has taken it.
    pub ends_at_once: bool,
    /// Nodes that there are: to any other there is no way.
    pub nodes: u32,
    /// GET_REQs seen: who may be sent a PULL_READY, and for which transfer. One that is still under
    /// way when its sender dies is answered all the same.
    gets: BTreeSet<(u32, Tag)>,
    pub(crate) old: VecDeque<(Lane, Vec<u8>)>,
    /// A defect: the end of one message is now and then reported in the name of another.
    confuses: bool,
    /// How to interrupt each node that lives.
    pub nerves: BTreeMap<u32, Nerve<'m>>,
    /// Nodes whose thread an interrupt wants to have woken.
    pub wakes: Vec<u32>,
    /// Messages during whose sending an interrupt comes, per million.
    pub preemptions: u32,
    /// Whether headers are the upper layer's own, and looked at.
    pub watched: bool,
    /// A byzantine node, which hears every frame that is sent; no oracle watches what is said to
    /// it.
    pub lawless: Option<u32>,
    /// What it has heard and not yet looked at.
    pub overheard: VecDeque<(Lane, Vec<u8>)>,
    /// Follows every message from end to end.
    pub tracking: Option<Tracking>,
}

impl<'m> Network<'m> {
    /// A network without faults.
    pub fn new(rng: Rng, tally: Tally, room: [u32; 2], confuses: bool) -> Self {
        Self {
            now: Instant::ORIGIN,
            faults: MessageFaults::default(),
            posts: Vec::new(),
            violations: Vec::new(),
            hash: Mixer::default(),
            rng,
            tally,
            room,
            boxes: BTreeMap::new(),
            unread: BTreeMap::new(),
            occupied: 0,
            pending: BTreeMap::new(),
            next: 0,
            down: BTreeSet::new(),
            cut: BTreeSet::new(),
            strangers: BTreeSet::new(),
            reliable: false,
            ends_at_once: false,
            nodes: u32::MAX,
            gets: BTreeSet::new(),
            old: VecDeque::new(),
            confuses,
            nerves: BTreeMap::new(),
            wakes: Vec::new(),
            preemptions: 0,
            watched: true,
            lawless: None,
            overheard: VecDeque::new(),
            tracking: None,
        }
    }

    /// There is no way between these two nodes, ever.
    pub fn part(&mut self, a: u32, b: u32) {
        self.strangers.extend([(a, b), (b, a)]);
    }

    /// Messages between these two nodes are lost, or no longer.
    pub fn cut(&mut self, a: u32, b: u32, on: bool) {
        for way in [(a, b), (b, a)] {
            if on {
                self.cut.insert(way);
            } else {
                self.cut.remove(&way);
            }
        }
    }

    /// A node's link works or does not.
    pub fn set_link(&mut self, node: u32, link: LinkId, up: bool) {
        if up {
            self.down.remove(&(node, link));
        } else {
            self.down.insert((node, link));
        }
    }

    /// Links of a node that do not work.
    pub fn links_down(&self, node: u32) -> Vec<LinkId> {
        self.down.iter().filter(|(n, _)| *n == node).map(|&(_, link)| link).collect()
    }

    /// Whether there is a way between two nodes.
    pub fn neighbours(&self, a: u32, b: u32) -> bool {
        a != b && b < self.nodes && !self.strangers.contains(&(a, b))
    }

    /// Forgets the messages of a node that has died.
    pub fn forget(&mut self, node: u32) {
        self.pending.retain(|_, pending| pending.node != node);
        self.nerves.remove(&node);
    }

    /// A short message's end is due; `None`: it was settled by other means.
    pub fn complete(&mut self, number: u64) -> Option<Pending> {
        let pending = self.pending.remove(&number)?;
        if self.confuses {
            let other = self.pending.values().find(|p| p.node == pending.node);
            if let Some(&Pending { tag, .. }) = other {
                return Some(Pending { tag, ..pending });
            }
        }
        Some(pending)
    }

    /// Whether a transfer's short message has neither ended nor been given up with a proof (INV-5).
    pub fn still_out(&self, node: u32, tag: Tag) -> bool {
        self.pending.values().any(|p| p.node == node && p.tag == tag)
    }

    /// A frame has arrived; whether it is there to be read.
    pub fn arrive(&mut self, lane: Lane, frame: Frame) -> bool {
        let broken = self.down.contains(&(lane.from, lane.link))
            || self.down.contains(&(lane.to, lane.link));
        let lost = broken && self.rng.below(2) == 0 && !self.reliable;
        let mailbox = self.boxes.entry(lane).or_default();
        if lost {
            mailbox.taken -= u32::from(frame.placed);
            self.vacate(lane, u32::from(frame.placed));
            self.tally.count("frames lost with their link");
            if let Some(log) = self.tally.log() {
                log.add(Logged::Lost { frame: frame.id, lane });
            }
            return false;
        }
        if let Some(log) = self.tally.log() {
            let Frame { id, fault, ref bytes, .. } = frame;
            log.add(Logged::Arrived { frame: id, lane, bytes: bytes.clone(), fault });
        }
        mailbox.inbox.push_back(frame);
        self.unread.entry(lane.to).or_default().insert(lane);
        self.occupy(lane, 1);
        true
    }

    /// Has a node read a mailbox, at most `budget` frames, until `take` cannot take one.
    pub fn read(
        this: &RefCell<Self>,
        lane: Lane,
        budget: u32,
        mut take: impl FnMut(&[u8]) -> bool,
    ) -> Reading {
        let mut taken = 0;
        while taken < budget {
            let Some(frame) = this.borrow_mut().take(lane) else { break };
            let log = this.borrow().tally.log().cloned();
            if let Some(log) = &log {
                log.reads(frame.id);
            }
            let is_taken = take(&frame.bytes);
            if let Some(log) = &log {
                log.reads(0);
            }
            if !is_taken {
                this.borrow_mut().put_back(lane, frame);
                return Reading { taken, waits: true };
            }
            taken += 1;
            this.borrow_mut().release(lane, &frame);
            this.borrow().tell_taken(lane, &frame.bytes);
        }
        Reading { taken, waits: false }
    }

    pub(crate) fn latency(&mut self) -> Span {
        Span::from_nanos(500 + self.rng.below(20_000))
    }

    /// A message of a correct node; how it ended, if that is known at once.
    pub(crate) fn send(
        &mut self,
        lane: Lane,
        bytes: Vec<u8>,
        tag: Option<Tag>,
        closes: bool,
    ) -> Option<Sent> {
        let (delivered, sent) = self.hand_over(lane, bytes, tag);
        match tag {
            Some(tag) if !self.ends_at_once => self.end_later(lane, tag, sent),
            _ => {}
        }
        if let Some(oracle) = self.tracking.as_ref().filter(|_| closes && delivered) {
            oracle.borrow_mut().goodbye(lane.from, lane.to);
        }
        if self.strikes(self.preemptions, "sends interrupted") {
            self.interrupt(lane, tag);
        }
        self.ends_at_once.then_some(sent)
    }

    /// An interrupt, or another processor, comes while the driver's thread is in the middle of
    /// sending: the message ends already, or a peer or link is reported down.
    fn interrupt(&mut self, lane: Lane, tag: Option<Tag>) {
        let (now, what) = (self.now, self.rng.below(64));
        let Some(nerve) = self.nerves.get_mut(&lane.from) else { return };
        match (what, nerve.peers.iter().find(|&&(node, _)| node == lane.to)) {
            (0, Some(&(_, peer))) if self.faults != MessageFaults::default() => {
                nerve.irq_handle.peer_down(peer);
                if let Some(oracle) = &self.tracking {
                    oracle.borrow_mut().alarmed(lane.from, lane.to);
                }
            }
            (1, _) if self.faults != MessageFaults::default() => {
                nerve.irq_handle.link_failed(lane.link);
            }
            _ => {
                let Some(tag) = tag else { return };
                let mut pending = self.pending.iter();
                let number = pending.find(|(_, p)| p.node == lane.from && p.tag == tag);
                let Some((&number, &Pending { sent, .. })) = number else { return };
                self.pending.remove(&number);
                let counters = &mut nerve.counters.borrow_mut();
                nerve.irq_handle.on_sent(now, tag, sent, &mut **counters, &mut nerve.recorder);
            }
        }
        self.wakes.push(lane.from);
    }

    /// Whether it arrives, and what its sender is told.
    fn hand_over(&mut self, lane: Lane, bytes: Vec<u8>, tag: Option<Tag>) -> (bool, Sent) {
        self.hash.add(self.now.as_nanos() ^ (bytes.len() as u64) << 48);
        if self.lawless.is_some() {
            if self.overheard.len() == MEMORY {
                self.overheard.pop_front();
            }
            self.overheard.push_back((lane, bytes.clone()));
        }
        self.set_out(lane, bytes, tag)
    }

    /// Puts a frame on its way, if it leaves at all. Whether it does, and what its sender is told.
    fn set_out(&mut self, lane: Lane, bytes: Vec<u8>, tag: Option<Tag>) -> (bool, Sent) {
        let id = self.tally.log().map_or(0, |log| log.number_frame());
        let (leaves, told) = self.injected(lane);
        if let Some(log) = self.tally.log() {
            let (bytes, fault) = (bytes.clone(), log.last_fault());
            log.add(Logged::Sent { frame: id, lane, tag, bytes, leaves, told, fault });
        }
        if leaves {
            self.deliver(lane, bytes, id);
        }
        (leaves, told)
    }

    fn end_later(&mut self, lane: Lane, tag: Tag, sent: Sent) {
        let number = self.next;
        self.next += 1;
        self.pending
            .insert(number, Pending { node: lane.from, tag, link: lane.link, to: lane.to, sent });
        let lost = self.faults.lost_completion;
        if self.strikes(lost, "message completions lost") {
            return;
        }
        let mut at = self.now.after(self.latency());
        let delay = self.faults.delay;
        if self.strikes(delay, "message completions delayed") {
            at = at.after(self.late());
        }
        self.posts.push((at, Post::Sent(number)));
    }

    /// A frame of a byzantine node. Its mailboxes have no more room than others'.
    pub fn inject(&mut self, lane: Lane, bytes: Vec<u8>) {
        let room = if lane.control { self.room[1] } else { self.room[0] };
        let taken = self.boxes.get(&lane).map_or(0, |mailbox| mailbox.taken);
        if self.neighbours(lane.from, lane.to) && taken < room {
            self.hash.add(self.now.as_nanos() ^ (bytes.len() as u64) << 48);
            self.set_out(lane, bytes, None);
        }
    }

    /// Watches for what may never be said (S3-14).
    pub(crate) fn watch(&mut self, lane: Lane, envelope: &Envelope, message: &Message<'_>) {
        match message {
            _ if !self.watched || self.lawless == Some(lane.to) => {}
            Message::GetReq { header, sink, .. } => {
                let straight = LnetHeader::decode(header)
                    .is_ok_and(|h| h.source == envelope.from && h.destination == envelope.to);
                if !straight {
                    self.violations.push(format!("S3-14: {sink:?} is a routed GET and optimised"));
                }
                self.gets.insert((lane.from, *sink));
            }
            Message::PullReady(ready) if !self.gets.contains(&(lane.to, ready.sink)) => {
                let sink = ready.sink;
                self.violations.push(format!("S3-14: PULL_READY for {sink:?}, which is no GET"));
            }
            _ => {}
        }
    }

    /// The sender of a short message whose end is due.
    pub fn sender_of(&self, number: u64) -> Option<u32> {
        self.pending.get(&number).map(|pending| pending.node)
    }

    /// A link was stopped, or its connection with `peer`: nothing handed over on it is reported any
    /// more.
    pub(crate) fn quiesce(&mut self, node: u32, link: LinkId, peer: Option<u32>) {
        let its =
            |p: &Pending| p.node == node && p.link == link && peer.is_none_or(|it| it == p.to);
        self.pending.retain(|_, p| !its(p));
    }
}
