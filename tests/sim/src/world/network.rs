// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The short-message network between the nodes, and what the adversary does to messages.
//!
//! Messages travel in their wire format. Each sender, receiver, link and lane has a mailbox with
//! bounded room; without faults a mailbox keeps the order.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use lnd_core::counters::Counters;
use lnd_core::driver::Decider;
use lnd_core::id::{LinkId, Nid, PeerId, Tag};
use lnd_core::link::Quiesced;
use lnd_core::message::{Envelope, Lane as Kind, Message};
use lnd_core::ports::{Channel, ChannelFull, Sent};
use lnd_core::time::{Instant, Span};
use lnd_shortmsg::wire::{encode, encoded_len, max_immediate, Checksum};

use super::defect::Defect;
use super::plan::MessageFaults;
use super::queue::{Event, Frame};
use super::tally::{Mixer, Recorder, Tally};
use crate::fabric::node_of;
use crate::lnet::LnetHeader;
use crate::rng::Rng;

/// Frames that the adversary remembers for replays.
const MEMORY: usize = 64;

/// One mailbox: from, to, link, and whether it is the control lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lane {
    /// The sending node.
    pub from: u32,
    /// The receiving node.
    pub to: u32,
    /// Over which link.
    pub link: LinkId,
    /// Control messages, else requests.
    pub control: bool,
}

#[derive(Debug, Default)]
struct Mailbox {
    /// Places taken: under way, or waiting to be read.
    taken: u32,
    last: Instant,
    inbox: VecDeque<Frame>,
}

/// A short message whose end has not been reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pending {
    /// The sender.
    pub node: u32,
    /// The sender's transfer.
    pub tag: Tag,
    /// The link it went by.
    pub link: LinkId,
    /// What will be reported.
    pub sent: Sent,
}

/// What an interrupt of a node has in hand.
#[derive(Debug)]
pub struct Nerve<'m> {
    /// The shard's words.
    pub decider: Decider<'m>,
    /// The peers that the driver knows, by node.
    pub peers: BTreeMap<u32, PeerId>,
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
    pub posts: Vec<(Instant, Event)>,
    /// Rules that were broken.
    pub violations: Vec<String>,
    /// The hash over all decisions.
    pub hash: Mixer,
    rng: Rng,
    tally: Tally,
    room: [u32; 2],
    boxes: BTreeMap<Lane, Mailbox>,
    pending: BTreeMap<u64, Pending>,
    next: u64,
    down: BTreeSet<(u32, LinkId)>,
    cut: BTreeSet<(u32, u32)>,
    strangers: BTreeSet<(u32, u32)>,
    /// GET_REQs seen: who may be sent a PULL_READY, and for which transfer. One that is still under
    /// way when its sender dies is answered all the same.
    gets: BTreeSet<(u32, Tag)>,
    old: VecDeque<(Lane, Vec<u8>)>,
    defect: Option<Defect>,
    /// How to interrupt each node that lives.
    pub nerves: BTreeMap<u32, Nerve<'m>>,
    /// Nodes whose thread an interrupt wants to have woken.
    pub wakes: Vec<u32>,
    /// Messages during whose sending an interrupt comes, per million.
    pub preemptions: u32,
    /// Whether headers are the upper layer's own, and looked at.
    pub watched: bool,
}

impl<'m> Network<'m> {
    /// A network without faults.
    pub fn new(rng: Rng, tally: Tally, room: [u32; 2], defect: Option<Defect>) -> Self {
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
            pending: BTreeMap::new(),
            next: 0,
            down: BTreeSet::new(),
            cut: BTreeSet::new(),
            strangers: BTreeSet::new(),
            gets: BTreeSet::new(),
            old: VecDeque::new(),
            defect,
            nerves: BTreeMap::new(),
            wakes: Vec::new(),
            preemptions: 0,
            watched: true,
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

    /// Whether no frame is on its way and no mailbox holds one.
    pub fn nothing_under_way(&self) -> bool {
        self.boxes.values().all(|mailbox| mailbox.taken == 0 && mailbox.inbox.is_empty())
    }

    /// Whether there is a way between two nodes.
    pub fn neighbours(&self, a: u32, b: u32) -> bool {
        a != b && !self.strangers.contains(&(a, b))
    }

    /// Forgets the messages of a node that has died.
    pub fn forget(&mut self, node: u32) {
        self.pending.retain(|_, pending| pending.node != node);
        self.nerves.remove(&node);
    }

    /// A short message's end is due; `None`: it was settled by other means.
    pub fn complete(&mut self, number: u64) -> Option<Pending> {
        let pending = self.pending.remove(&number)?;
        if self.defect == Some(Defect::WrongTag) {
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
        let lost = broken && self.rng.below(2) == 0;
        let mailbox = self.boxes.entry(lane).or_default();
        if lost {
            mailbox.taken -= u32::from(frame.placed);
            self.tally.count("frames lost with their link");
            return false;
        }
        mailbox.inbox.push_back(frame);
        true
    }

    /// The oldest frame in a mailbox.
    pub fn take(&mut self, lane: Lane) -> Option<Frame> {
        self.boxes.get_mut(&lane)?.inbox.pop_front()
    }

    /// The frame was read: its place is free.
    pub fn release(&mut self, lane: Lane, frame: &Frame) {
        if let Some(mailbox) = self.boxes.get_mut(&lane) {
            mailbox.taken -= u32::from(frame.placed);
        }
    }

    /// The frame stays for now.
    pub fn put_back(&mut self, lane: Lane, frame: Frame) {
        self.boxes.entry(lane).or_default().inbox.push_front(frame);
    }

    /// Mailboxes of a node that hold something.
    pub fn waiting(&self, node: u32) -> Vec<Lane> {
        let full = self.boxes.iter().filter(|(lane, b)| lane.to == node && !b.inbox.is_empty());
        full.map(|(&lane, _)| lane).collect()
    }

    fn latency(&mut self) -> Span {
        Span::from_nanos(500 + self.rng.below(20_000))
    }

    fn late(&mut self) -> Span {
        Span::from_nanos(self.rng.below(u64::from(self.faults.delay_us) * 1_000 + 1))
    }

    fn strikes(&mut self, rate: u32, what: &'static str) -> bool {
        let hit = rate > 0 && self.rng.chance(rate);
        if hit {
            self.tally.count(what);
        }
        hit
    }

    fn send(&mut self, lane: Lane, bytes: Vec<u8>, tag: Option<Tag>) {
        self.hand_over(lane, bytes, tag);
        if self.strikes(self.preemptions, "sends interrupted") {
            self.interrupt(lane, tag);
        }
    }

    /// An interrupt, or another processor, comes while the driver's thread is in the middle of
    /// sending: the message ends already, or somebody reports peer or link down.
    fn interrupt(&mut self, lane: Lane, tag: Option<Tag>) {
        let (now, what) = (self.now, self.rng.below(64));
        let Some(nerve) = self.nerves.get_mut(&lane.from) else { return };
        match (what, nerve.peers.get(&lane.to)) {
            (0, Some(&peer)) if self.faults != MessageFaults::default() => {
                nerve.decider.peer_down(peer);
            }
            (1, _) if self.faults != MessageFaults::default() => {
                nerve.decider.link_failed(lane.link);
            }
            _ => {
                let Some(tag) = tag else { return };
                let mut pending = self.pending.iter();
                let number = pending.find(|(_, p)| p.node == lane.from && p.tag == tag);
                let Some((&number, &Pending { sent, .. })) = number else { return };
                self.pending.remove(&number);
                let counters = &mut nerve.counters.borrow_mut();
                nerve.decider.on_sent(now, tag, sent, counters, &mut nerve.recorder);
            }
        }
        self.wakes.push(lane.from);
    }

    fn hand_over(&mut self, lane: Lane, bytes: Vec<u8>, tag: Option<Tag>) {
        self.hash.add(self.now.as_nanos() ^ (bytes.len() as u64) << 48);
        let (delivered, sent) = self.fate(lane);
        if delivered {
            self.deliver(lane, bytes);
        }
        let Some(tag) = tag else { return };
        let number = self.next;
        self.next += 1;
        self.pending.insert(number, Pending { node: lane.from, tag, link: lane.link, sent });
        let lost = self.faults.lost_completion;
        if self.strikes(lost, "message completions lost") {
            return;
        }
        let mut at = self.now.after(self.latency());
        let delay = self.faults.delay;
        if self.strikes(delay, "message completions delayed") {
            at = at.after(self.late());
        }
        self.posts.push((at, Event::Sent(number)));
    }

    /// Whether a message arrives, and what its sender is told.
    fn fate(&mut self, lane: Lane) -> (bool, Sent) {
        let faults = self.faults;
        if self.down.contains(&(lane.from, lane.link)) {
            self.tally.count("messages into a dead link");
            return (false, Sent::NotDelivered);
        }
        let far = self.down.contains(&(lane.to, lane.link));
        if far || self.cut.contains(&(lane.from, lane.to)) {
            self.tally.count("messages to where nobody hears");
            return (false, if self.rng.below(2) == 0 { Sent::Ok } else { Sent::Unknown });
        }
        if self.strikes(faults.drop, "messages dropped") {
            (false, Sent::Ok)
        } else if self.strikes(faults.not_delivered, "messages not delivered") {
            (false, Sent::NotDelivered)
        } else if self.strikes(faults.unknown, "messages of unknown fate") {
            (self.rng.below(2) == 0, Sent::Unknown)
        } else {
            (true, Sent::Ok)
        }
    }

    fn deliver(&mut self, lane: Lane, mut bytes: Vec<u8>) {
        let faults = self.faults;
        if self.strikes(faults.duplicate, "messages duplicated") {
            let at = self.now.after(self.latency()).after(self.late());
            self.posts.push((at, frame(lane, bytes.clone(), false)));
        }
        if faults.replay > 0 {
            self.replay(lane, &bytes);
        }
        if self.strikes(faults.corrupt, "messages corrupted") {
            for _ in 0..self.rng.between(1, 4) {
                let at = self.rng.below(bytes.len() as u64) as usize;
                // Never zero: a byte is changed for sure.
                let flip = self.rng.between(1, 255) as u8;
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= flip;
                }
            }
        }
        let mut at = self.now.after(self.latency());
        if self.strikes(faults.delay, "messages delayed") {
            at = at.after(self.late());
        } else if let Some(mailbox) = self.boxes.get_mut(&lane) {
            // In order, behind the one before.
            at = at.max(mailbox.last.after(Span::from_nanos(1)));
            mailbox.last = at;
        }
        self.boxes.entry(lane).or_default().taken += 1;
        self.posts.push((at, frame(lane, bytes, true)));
    }

    /// Remembers a frame, and now and then sends some from memory, in their order.
    fn replay(&mut self, lane: Lane, bytes: &[u8]) {
        if !self.old.is_empty() && self.strikes(self.faults.replay, "messages replayed") {
            let which = self.rng.below(self.old.len() as u64) as usize;
            let many = self.rng.between(1, 8) as usize;
            let mut at = self.now.after(self.late());
            for (lane, bytes) in self.old.iter().skip(which).take(many).cloned() {
                at = at.after(Span::from_nanos(100));
                self.posts.push((at, frame(lane, bytes, false)));
            }
        }
        if self.old.len() == MEMORY {
            self.old.pop_front();
        }
        self.old.push_back((lane, bytes.to_vec()));
    }

    /// Watches for what may never be said (S3-14).
    fn watch(&mut self, lane: Lane, envelope: &Envelope, message: &Message<'_>) {
        match message {
            _ if !self.watched => {}
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

    fn quiesce(&mut self, node: u32, link: LinkId) {
        self.pending.retain(|_, p| p.node != node || p.link != link);
    }
}

fn frame(lane: Lane, bytes: Vec<u8>, placed: bool) -> Event {
    Event::Frame(lane, Frame { bytes, placed })
}

/// One node's end of the network.
#[derive(Clone, Debug)]
pub struct VirtualChannel<'m> {
    node: u32,
    frame: usize,
    network: Rc<RefCell<Network<'m>>>,
}

impl<'m> VirtualChannel<'m> {
    /// The channel of `node`, whose frames have at most `frame` bytes.
    pub const fn new(node: u32, frame: usize, network: Rc<RefCell<Network<'m>>>) -> Self {
        Self { node, frame, network }
    }

    fn lane(&self, link: LinkId, to: Nid, kind: Kind) -> Option<Lane> {
        let control = kind == Kind::Control;
        Some(Lane { from: self.node, to: node_of(to)?, link, control })
    }
}

impl Channel for VirtualChannel<'_> {
    fn reaches(&self, to: Nid) -> bool {
        node_of(to).is_some_and(|to| self.network.borrow().neighbours(self.node, to))
    }

    fn immediate_max(&self) -> u32 {
        max_immediate(self.frame)
    }

    fn ready(&mut self, link: LinkId, to: Nid, kind: Kind) -> bool {
        let Some(lane) = self.lane(link, to, kind) else { return false };
        let network = self.network.borrow();
        let [requests, control] = network.room;
        let room = if lane.control { control } else { requests };
        network.boxes.get(&lane).map_or(0, |mailbox| mailbox.taken) < room
    }

    fn send(
        &mut self,
        link: LinkId,
        envelope: &Envelope,
        message: &Message<'_>,
        tag: Option<Tag>,
    ) -> Result<(), ChannelFull> {
        let kind = message.lane();
        if !self.ready(link, envelope.to, kind) {
            return Err(ChannelFull);
        }
        let lane = self.lane(link, envelope.to, kind).ok_or(ChannelFull)?;
        let length = encoded_len(envelope, message).map_err(|_| ChannelFull)?;
        let mut bytes = vec![0; length];
        encode(envelope, message, Checksum::On, &mut bytes).map_err(|_| ChannelFull)?;
        let mut network = self.network.borrow_mut();
        network.watch(lane, envelope, message);
        network.send(lane, bytes, tag);
        Ok(())
    }

    fn quiesce(&mut self, link: LinkId, _proof: &Quiesced) {
        self.network.borrow_mut().quiesce(self.node, link);
    }
}

#[cfg(test)]
mod tests {
    use lnd_core::id::Incarnation;
    use lnd_core::message::PullReady;

    use super::*;
    use crate::fabric::nid_of;
    use crate::lnet::{Body, Target};

    fn envelope(from: u32, to: u32) -> Envelope {
        Envelope {
            from: nid_of(from),
            to: nid_of(to),
            from_life: Incarnation::from_raw(1).unwrap(),
            to_life: Incarnation::from_raw(2),
            session: 1,
            sequence: 1,
            credits: 0,
            credits_of: 0,
        }
    }

    /// What the watch says of a GET_REQ from node 0 to node 1 for a node, and of its answer.
    fn seen(destination: u32) -> usize {
        let network = Network::new(Rng::new(1), Tally::default(), [8, 8], None);
        let network = Rc::new(RefCell::new(network));
        let link = LinkId::new(0).unwrap();
        let sink = Tag { index: 3, generation: 9 };
        let body = Body::Get { target: Target::default(), length: 5000, request: sink };
        let header =
            LnetHeader { hops: 0, source: nid_of(0), destination: nid_of(destination), body };
        let request = Message::GetReq { header: &header.encode(), sink, length: 5000 };
        let mut asks = VirtualChannel::new(0, 512, network.clone());
        asks.send(link, &envelope(0, 1), &request, None).unwrap();
        let mut gives = VirtualChannel::new(1, 512, network.clone());
        let ready = Message::PullReady(PullReady { sink, source: sink, length: 5000 });
        gives.send(link, &envelope(1, 0), &ready, None).unwrap();
        let violations = network.borrow().violations.len();
        violations
    }

    #[test]
    fn a_routed_get_that_is_optimised_is_seen() {
        // S3-14.
        assert_eq!(seen(1), 0);
        assert_eq!(seen(2), 1);
    }

    #[test]
    fn a_pull_ready_that_nobody_asked_for_is_seen() {
        let network = Network::new(Rng::new(1), Tally::default(), [8, 8], None);
        let network = Rc::new(RefCell::new(network));
        let tag = Tag { index: 1, generation: 1 };
        let ready = Message::PullReady(PullReady { sink: tag, source: tag, length: 1 });
        let mut channel = VirtualChannel::new(1, 512, network.clone());
        channel.send(LinkId::new(0).unwrap(), &envelope(1, 0), &ready, None).unwrap();
        assert_eq!(network.borrow().violations.len(), 1);
    }

    #[test]
    fn a_mailbox_has_as_much_room_as_it_promises() {
        let network = Network::new(Rng::new(1), Tally::default(), [2, 1], None);
        let network = Rc::new(RefCell::new(network));
        let mut channel = VirtualChannel::new(0, 512, network);
        let link = LinkId::new(0).unwrap();
        let (noop, to) = (Message::Noop, nid_of(1));
        assert!(channel.ready(link, to, Kind::Control));
        assert_eq!(channel.send(link, &envelope(0, 1), &noop, None), Ok(()));
        assert!(!channel.ready(link, to, Kind::Control));
        assert_eq!(channel.send(link, &envelope(0, 1), &noop, None), Err(ChannelFull));
        assert!(channel.ready(link, to, Kind::Request), "lanes have room of their own");
    }
}
