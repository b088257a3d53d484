// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The two nodes, what is under way between them, and what may happen.

use std::collections::{BTreeMap, VecDeque};

use lnd_core::driver::{Kind, Receive, Reply, Request, RequestKind, RxRequest};
use lnd_core::fragment::Fragment;
use lnd_core::id::{Incarnation, LinkId, Tag};
use lnd_core::link::LinkState;
use lnd_core::message::{Lane, NakReason};
use lnd_core::peer::HelloState;
use lnd_core::ports::{Returned, Sent};
use lnd_core::time::{Instant, Span};
use lnd_shortmsg::wire::{decode, Checksum};

use super::absence::Absence;
use super::book::Book;
use super::boot::{boot, Engines, Memory};
use super::{Decision, Op, Trouble};
use crate::hardware::{Letter, LINKS};
use crate::node::{nid, Node};

/// Requests that a node may have at the other.
pub const DEPTH: u32 = 2;

/// A lane: sender, link, control.
pub type Way = (usize, usize, bool);

pub struct World<'m> {
    pub(super) nodes: [Node<'m>; 2],
    spare: std::slice::IterMut<'m, Memory>,
    incarnations: [u64; 2],
    pub(super) ways: BTreeMap<Way, VecDeque<Letter>>,
    kept: [Vec<(RxRequest<'static>, u32)>; 2],
    /// The last transfers of each node, of which late completions may speak.
    tags: [VecDeque<Tag>; 2],
    pub(super) paused: [bool; 2],
    next: [Option<Instant>; 2],
    pub(super) absences: [Absence; 2],
    pub(super) now: Instant,
    pub(super) engines: Engines,
    submitted: u32,
    pub(super) book: Book,
}

impl<'m> World<'m> {
    pub fn new(memory: &'m mut [Memory], engines: Engines) -> Self {
        let mut spare = memory.iter_mut();
        let now = Instant::from_nanos(1_000_000_000);
        let incarnations = [101, 201];
        let mut boot = |node: usize| {
            let memory = spare.next().expect("memory for two");
            boot(memory, node, incarnations[node], now, engines)
        };
        let nodes = [boot(0), boot(1)];
        Self {
            nodes,
            spare,
            incarnations,
            ways: BTreeMap::new(),
            kept: Default::default(),
            tags: Default::default(),
            paused: [false; 2],
            next: [None; 2],
            absences: Default::default(),
            now,
            engines,
            submitted: 0,
            book: Book::default(),
        }
    }

    pub fn apply(&mut self, op: &Op) {
        match *op {
            Op::Pass(millis) => self.pass(millis.into()),
            Op::Work { rounds, decision } => {
                for _ in 0..rounds % 8 {
                    self.work(decision);
                }
            }
            Op::Absence { node, millis } => {
                self.paused[usize::from(node)] = true;
                for _ in 0..u32::from(millis) / 5 {
                    self.pass(5);
                    self.work(Decision::Take);
                }
                self.paused[usize::from(node)] = false;
            }
            Op::Pause { node, paused } => self.paused[usize::from(node)] = paused,
            Op::Engine { node, pick, how } => self.engine(usize::from(node), pick.into(), how),
            Op::Deliver { from, link, control, decision } => {
                self.deliver((from.into(), link.into(), control), decision);
            }
            Op::Trouble { node, what } => self.trouble(usize::from(node), what),
            Op::Submit { node, .. }
            | Op::Decide { node, .. }
            | Op::Interrupt(node)
            | Op::Sent { node, .. } => self.run_by(usize::from(node), op),
        }
    }

    /// What only a node that runs does.
    fn run_by(&mut self, node: usize, op: &Op) {
        if self.paused[node] {
            return;
        }
        self.nodes[node].now = self.now;
        match *op {
            Op::Submit { kind, length, millis, .. } => self.submit(node, kind, length, millis),
            Op::Decide { pick, decision, .. } => {
                let count = self.kept[node].len();
                if count > 0 && decision != Decision::Keep {
                    let (rx_request, message) = self.kept[node].remove(usize::from(pick) % count);
                    self.decide(node, rx_request, message, decision);
                }
            }
            Op::Interrupt(_) => self.nodes[node].interrupt(),
            Op::Sent { pick, how, .. } => self.sent(node, pick.into(), how),
            _ => {}
        }
    }

    fn trouble(&mut self, node: usize, what: Trouble) {
        let running = !self.paused[node];
        self.absences[node].held_up = true;
        let host = &mut self.nodes[node];
        host.now = self.now;
        match what {
            Trouble::Scribble { pick, older, how } => {
                let count = self.tags[node].len().max(1);
                if let Some(&tag) = self.tags[node].get(usize::from(pick) % count) {
                    let generation = tag.generation.wrapping_sub(u32::from(older % 3));
                    host.stray_completion(Tag { generation, ..tag }, returned(how));
                }
            }
            Trouble::Link { link, up } => {
                host.hardware.borrow_mut().link_down[usize::from(link)] = !up;
                if let (false, Some(link)) = (up, LinkId::new(link.into())) {
                    host.driver.irq_handle().link_failed(link);
                }
            }
            Trouble::Gone { link, gone } => {
                host.hardware.borrow_mut().gone[usize::from(link)] = gone;
            }
            Trouble::Peer { up } if running => host.driver.on_peer(self.now, other(node), up),
            Trouble::Full(full) => host.hardware.borrow_mut().full = full,
            Trouble::Shutdown { millis } if running => {
                let grace = self.now.after(Span::from_millis(millis.into()));
                host.driver.shutdown(self.now, grace);
                self.book.ends(self.incarnation(node));
            }
            Trouble::Restart => self.restart(node),
            Trouble::Peer { .. } | Trouble::Shutdown { .. } => {}
        }
    }

    pub(super) fn incarnation(&self, node: usize) -> Incarnation {
        self.nodes[node].driver.identity().incarnation
    }

    fn submit(&mut self, node: usize, kind: u8, length: u16, millis: u8) {
        self.submitted += 1;
        let number = self.submitted;
        let deadline = self.now.after(Span::from_millis(1 + u64::from(millis) * 8));
        let kind = [Kind::Put, Kind::Get, Kind::Ack, Kind::Reply][usize::from(kind) % 4];
        let payload = [Fragment::new(64, u32::from(length % 1024) + 1)];
        let user = self.nodes[node].rx_request();
        self.book.accepted(number, self.incarnation(node), deadline);
        let request = Request {
            kind,
            peer: other(node).into(),
            link: None,
            routed: false,
            header: &number.to_le_bytes(),
            payload: &payload,
            deadline,
            user,
        };
        match self.nodes[node].driver.submit(self.now, request) {
            Ok(submitted) => {
                let tag = submitted.tag().expect("this channel never ends a message at once");
                self.works_for(node, user, tag, number);
            }
            Err(_) => self.book.refused(number),
        }
        self.collect(node);
    }

    /// A transfer was accepted for a message.
    fn works_for(&mut self, node: usize, user: u64, tag: Tag, message: u32) {
        self.nodes[node].accepted(user, tag);
        self.book.names(node, tag, message);
        self.tags[node].push_front(tag);
        self.tags[node].truncate(8);
    }

    /// The upper layer decides about a request.
    pub(super) fn decide(
        &mut self,
        node: usize,
        rx_request: RxRequest<'_>,
        message: u32,
        decision: Decision,
    ) {
        let now = self.now;
        let user = self.nodes[node].rx_request();
        let (buffer, deadline) = ([Fragment::new(128, 4096)], now.after(Span::from_millis(200)));
        // What was kept has lost its inline payload.
        let inline = rx_request.kind() == RequestKind::Immediate;
        let length = if inline { rx_request.payload().len() as u32 } else { rx_request.length };
        let driver = &mut self.nodes[node].driver;
        let taken = match decision {
            Decision::Keep => {
                self.kept[node].push((rx_request.detach(), message));
                None
            }
            Decision::Nak => {
                driver.nak(now, rx_request, NakReason::NoMatch);
                None
            }
            Decision::Take if rx_request.kind() == RequestKind::Get => driver
                .reply(now, rx_request, &Reply { source: &buffer, length, deadline, user })
                .ok(),
            Decision::Take => driver
                .recv(now, rx_request, &Receive { sink: &buffer, length, deadline, user })
                .ok(),
        };
        if let Some(tag) = taken {
            self.works_for(node, user, tag, message);
            self.book.takes(node, tag, 2 * DEPTH as usize);
        }
    }

    /// A node's frames go to their lanes, and its reports to the book.
    pub(super) fn collect(&mut self, node: usize) {
        let letters = std::mem::take(&mut self.nodes[node].hardware.borrow_mut().outbox);
        for letter in letters {
            let frame = decode(&letter.bytes, Checksum::On).expect("the driver's frames are sound");
            let (envelope, message) = frame.into_parts();
            self.book.leaves(self.now, &envelope, &message);
            self.book.asks(node, &envelope, &message);
            self.absences[node].leaves(&message);
            if self.paused[1 - node] {
                self.absences[1 - node].misses(&message);
            }
            let control = message.lane() == Lane::Control;
            self.ways.entry((node, letter.link.index(), control)).or_default().push_back(letter);
        }
        for report in self.nodes[node].check() {
            self.book.reported(node, &report);
        }
    }

    pub fn check(&mut self) {
        for node in 0..2 {
            self.collect(node);
        }
    }

    /// Time passes, and each node that runs looks at the clock.
    fn pass(&mut self, millis: u64) {
        self.now = self.now.after(Span::from_millis(millis));
        for node in 0..2 {
            self.run(node);
        }
    }

    /// A node does all that is due.
    fn run(&mut self, node: usize) {
        if self.paused[node] {
            return;
        }
        let hardware = self.nodes[node].hardware.borrow();
        self.absences[node].held_up |= hardware.full
            || hardware.link_down != [false; LINKS]
            || hardware.gone != [false; LINKS];
        drop(hardware);
        let deaf = self.absences[node].ends(self.now);
        let host = &mut self.nodes[node];
        host.now = self.now;
        host.interrupt();
        let peer = host.driver.peer(other(node));
        let state = |host: &Node<'_>| peer.map(|peer| host.driver.peer_state(peer));
        for _ in 0..64 {
            let links = (0..LINKS).filter_map(LinkId::new);
            let cut =
                links.map(|link| host.driver.link_state(link)).all(|s| s != Some(LinkState::Up));
            let before = state(host);
            self.next[node] = host.driver.on_time(self.now);
            let blamed =
                before == Some(HelloState::Handshake) && state(host) == Some(HelloState::Down);
            assert!(!cut || !blamed, "blamed for our own links (LU-17505, LU-20379)");
            assert!(!deaf || !blamed, "down, and had answered while we did not run (R41)");
            if self.next[node] != Some(self.now) {
                break;
            }
        }
        self.collect(node);
    }

    /// A round in which everything goes on as it should. Returns whether anything did. As in a
    /// host, frames come before the clock, those of the control lane first.
    fn work(&mut self, decision: Decision) -> bool {
        let mut moved = false;
        for control in [true, false] {
            for (from, link) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                while self.deliver((from, link, control), decision) {
                    moved = true;
                }
            }
        }
        for node in (0..2).filter(|&node| !self.paused[node]).collect::<Vec<_>>() {
            self.run(node);
            while !self.nodes[node].hardware.borrow().endings.is_empty() {
                self.nodes[node].sent(0, Sent::Ok);
                moved = true;
            }
            let out = self.nodes[node].hardware.borrow().posted.len();
            for pick in 0..out {
                self.engine(node, pick, 0);
            }
            self.run(node);
        }
        moved
    }

    /// The power of a node fails, or it ends after its shutdown; then it runs as another
    /// incarnation.
    fn restart(&mut self, node: usize) {
        let Some(memory) = self.spare.next() else { return };
        self.collect(node);
        self.book.ends(self.incarnation(node));
        self.book.restarts(node);
        self.incarnations[node] += 1;
        let incarnation = self.incarnations[node];
        self.nodes[node] = boot(memory, node, incarnation, self.now, self.engines);
        self.kept[node].clear();
        self.tags[node].clear();
        self.paused[node] = false;
        self.absences[node] = Absence::default();
        self.run(node);
    }

    /// Both run, links and devices work, and no request is kept: what was promised comes to pass.
    pub fn settle(mut self) {
        self.paused = [false; 2];
        for node in 0..2 {
            let mut hardware = self.nodes[node].hardware.borrow_mut();
            (hardware.full, hardware.gone) = (false, Default::default());
            hardware.link_down = Default::default();
        }
        // No wait is longer than the hold-off of a peer that is always silent.
        let end = self.now.after(Span::from_secs(20));
        while self.now < end {
            for node in 0..2 {
                for (rx_request, message) in std::mem::take(&mut self.kept[node]) {
                    self.decide(node, rx_request, message, Decision::Nak);
                }
                self.collect(node);
            }
            if self.work(Decision::Take) {
                continue;
            }
            let empty = self.ways.values().all(VecDeque::is_empty);
            let soon = self.now.after(Span::from_millis(1));
            self.now = match self.next.into_iter().flatten().min() {
                Some(next) => next.max(soon),
                None if empty => break,
                // A host offers again what waits when it looks the next time.
                None => self.now.after(Span::from_millis(20)),
            };
            if empty && self.nodes.iter().all(|node| node.driver.in_use() == (0, 0)) {
                break;
            }
        }
        for (way, letters) in &self.ways {
            let last = self.nodes[way.0].driver.identity().incarnation;
            self.book.lies(last, letters.iter().map(|letter| letter.bytes.as_slice()));
        }
        self.book.check();
        self.nodes.iter_mut().for_each(Node::run_down);
    }
}

fn other(node: usize) -> lnd_core::id::Nid {
    nid(2 - node as u8)
}

fn returned(how: u8) -> Returned {
    [Returned::Ok, Returned::Untouched, Returned::Touched][usize::from(how) % 3]
}
