// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Two nodes, each polled by its own thread with its engine stepped inline.

use std::mem::MaybeUninit;
use std::ptr::NonNull;

use lnd_core::config::Config;
use lnd_core::driver::{
    Driver, Identity, Inbound, Kind, Receive, Received, Reply, Report, Request, RequestKind, Role,
    Submitted, To,
};
use lnd_core::fragment::{Fragment, MAX_FRAGMENT};
use lnd_core::id::{Incarnation, LinkId, Nid, PeerId};
use lnd_core::message::{Envelope, Message};
use lnd_core::ports::{Completions, Features};
use lnd_core::time::{Instant, Span};
use lnd_core::transfer::Status;
use lnd_dma::driver::{CompletionQueue, MmioEngine};
use lnd_dma::memory::{LinkGeometry, LinkMemory};
use lnd_dma::regs::{LinkBits, Register, RegisterAccess};
use lnd_dma::soft::{NoFaults, Settings, SoftEngine};
use lnd_shortmsg::dispatch::{Receiver, Sender};
use lnd_shortmsg::mailbox::spsc::{channel, Producer};
use lnd_shortmsg::mailbox::{self, Consumer};
use lnd_shortmsg::wire::Frame;

use crate::observed::traces;
use crate::shared::Arena;
use crate::wire::{
    nid_of, Bus, Numbers, Outlets, PairPorts, Window, CONTROL_SLOT, REQUEST_SLOT, WIRE,
};

const LINK: LinkId = LinkId::new(0).unwrap();
const SLOTS: u32 = 256;
/// Polls between two looks at the clock and at what is due.
const CLOCK_EVERY: u32 = 64;
/// Bytes of an LNet header.
pub const HEADER: [u8; 72] = [0x5a; 72];

/// One node.
pub struct Node {
    driver: Driver<'static, PairPorts>,
    inlets: [Consumer<'static>; 2],
    scratch: Vec<u8>,
    receiver: Receiver<true>,
    engine: SoftEngine<'static, Bus, NoFaults>,
    completions: CompletionQueue<'static, LinkMemory<'static>>,
    peer: Nid,
    clock: std::time::Instant,
    now: Instant,
    polls: u32,
    /// A message was taken, and the rest of that round is still to be done.
    owes_round: bool,
    sinks: Sinks,
    /// PUTs that have ended at their source, and at their sink.
    pub done: (u64, u64),
}

/// A mailbox in memory of both sides.
pub fn mailbox(
    arena: &mut Arena,
    slots: u32,
    slot_size: u32,
) -> (Producer<'static>, Consumer<'static>) {
    let geometry = mailbox::MailboxGeometry::new(slots, slot_size).unwrap();
    channel(arena.lines(geometry.bytes_needed()), geometry).unwrap()
}

/// The memory of a node's only link, whose link is up.
pub fn link_memory(arena: &mut Arena, node: u32) -> LinkMemory<'static> {
    let geometry = LinkGeometry { descriptors: SLOTS, lists: SLOTS };
    let memory = arena.lines(geometry.bytes_needed());
    let bytes = size_of_val(memory);
    let base = NonNull::from(memory).cast();
    let features = (Features::REMOTE_COMPLETION | Features::KNOWS_UNTOUCHED).bits();
    // SAFETY: leaked, aligned memory of its own, which nothing else uses.
    let memory = unsafe { LinkMemory::format(base, bytes, geometry, node, features, 0) }.unwrap();
    memory.write(Register::Link, LinkBits::UP.bits());
    memory
}

/// Two nodes that have connected to each other. `window` is the payload memory of both.
pub fn pair(arena: &mut Arena, window: Window) -> [Node; 2] {
    pair_with(arena, window, WIRE.max_immediate(REQUEST_SLOT as usize - 8))
}

/// As [`pair`], with at most `inline` bytes of payload inside of a message.
pub fn pair_with(arena: &mut Arena, window: Window, inline: u32) -> [Node; 2] {
    let links = [0, 1].map(|node| link_memory(arena, node));
    let mut lanes = || (mailbox(arena, 256, CONTROL_SLOT), mailbox(arena, 64, REQUEST_SLOT));
    let (there, back) = (lanes(), lanes());
    let outlets = |(c, r)| Outlets { boxes: [c, r], inline };
    let a = Node::new(0, links, window, outlets((there.0 .0, there.1 .0)), [back.0 .1, back.1 .1]);
    let b = Node::new(1, links, window, outlets((back.0 .0, back.1 .0)), [there.0 .1, there.1 .1]);
    let mut nodes = [a, b];
    for node in &mut nodes {
        node.poll();
    }
    // The first message in each direction connects.
    for from in 0..2 {
        nodes[from].put(&[]);
        while nodes[from].done.0 == 0 || nodes[1 - from].done.1 == 0 {
            nodes.iter_mut().for_each(Node::poll);
        }
    }
    nodes.iter_mut().for_each(|n| n.done = (0, 0));
    nodes
}

impl Node {
    fn new(
        me: u32,
        links: [LinkMemory<'static>; 2],
        window: Window,
        outlets: Outlets,
        inlets: [Consumer<'static>; 2],
    ) -> Self {
        let mut config = Config::new(SLOTS, 2, 1);
        config.depth = 32;
        config.pulls = 32;
        let memory = vec![MaybeUninit::uninit(); config.bytes_needed()].leak();
        let mine = links[me as usize];
        let incarnation = Incarnation::from_raw(u64::from(me) + 100).unwrap();
        let driver = Driver::create(
            memory,
            config,
            Identity { nid: nid_of(me), incarnation },
            [MmioEngine::new(LINK, mine, mine, Numbers)],
            outlets,
            window,
            traces(SLOTS),
        )
        .unwrap();
        let bus = Bus { links, window };
        Self {
            completions: CompletionQueue::new(mine, mine),
            driver,
            inlets,
            scratch: vec![0; REQUEST_SLOT as usize],
            receiver: Receiver::of(WIRE, nid_of(me)),
            engine: SoftEngine::new(me, LINK, mine, bus, NoFaults, Settings::default()),
            peer: nid_of(1 - me),
            clock: std::time::Instant::now(),
            now: Instant::from_nanos(1),
            polls: 0,
            owes_round: false,
            sinks: Sinks { list: vec![Vec::new()], next: 0 },
            done: (0, 0),
        }
    }

    /// Where PUTs that come in shall go, in turn.
    pub fn set_sinks(&mut self, sinks: Vec<Vec<Fragment>>) {
        self.sinks = Sinks { list: sinks, next: 0 };
    }

    /// The other node, as its place in the peer table.
    pub fn other(&self) -> PeerId {
        self.driver.peer(self.peer).unwrap()
    }

    /// Sends one PUT to the other node, by its NID; `done.0` counts its end.
    pub fn put(&mut self, payload: &[Fragment]) {
        self.put_to(self.peer, payload);
    }

    /// Sends one PUT; `done.0` counts its end.
    #[inline]
    pub fn put_to(&mut self, peer: impl Into<To>, payload: &[Fragment]) {
        self.begin(Kind::Put, peer, payload);
    }

    /// Sends one GET to the other node, which answers from its sinks in turn; `done.0` counts its
    /// end.
    pub fn get(&mut self, payload: &[Fragment]) {
        self.begin(Kind::Get, self.peer, payload);
    }

    #[inline]
    fn begin(&mut self, kind: Kind, peer: impl Into<To>, payload: &[Fragment]) {
        let request = Request {
            kind,
            peer: peer.into(),
            link: None,
            routed: false,
            header: &HEADER,
            payload,
            deadline: self.now.after(Span::from_secs(60)),
            user: 1,
        };
        match self.driver.submit(self.now, request).unwrap() {
            Submitted::Pending(_) => {}
            Submitted::Done(status) => self.sent(status),
        }
    }

    /// One round of everything: messages in, engine, interrupt, reports, and now and then the time.
    pub fn poll(&mut self) {
        self.step();
        self.complete();
        self.poll_messages();
    }

    /// One step of the engine, which elsewhere is hardware; whether it moved something.
    pub fn step(&mut self) -> bool {
        let progress = self.engine.step(self.now, 32);
        progress.bytes > 0 || progress.completions > 0
    }

    /// Takes what the engine has given back, in this thread.
    pub fn complete(&mut self) {
        while let Some(completion) = self.completions.pop() {
            if let Some(report) = self.driver.complete(self.now, completion) {
                self.reported(&report);
            }
        }
    }

    /// Rings for what was posted.
    pub fn ring(&mut self) {
        self.driver.ring();
    }

    /// As [`poll`](Self::poll), without the engine, which elsewhere is hardware: for messages that
    /// need none.
    pub fn poll_messages(&mut self) {
        let mut busy = self.receive();
        if busy {
            self.driver.ring();
        }
        busy |= self.reports();
        self.poll_clock(busy);
    }

    /// As [`poll_messages`](Self::poll_messages), for a side that answers each message at once: one
    /// message is taken, and what else the round has to do is done in the first one without any.
    #[inline]
    pub fn poll_message(&mut self) {
        if self.receive_some::<true>() {
            self.owes_round = true;
            return;
        }
        if std::mem::take(&mut self.owes_round) {
            self.driver.ring();
            self.reports();
            self.driver.on_time(self.now);
        }
        self.poll_clock(false);
    }

    /// Reads the clock now and then, and does what is due: then, and in a round that was `busy`.
    #[inline]
    fn poll_clock(&mut self, busy: bool) {
        self.polls = self.polls.wrapping_add(1);
        let look = self.polls.is_multiple_of(CLOCK_EVERY);
        if look {
            let passed = self.clock.elapsed().as_nanos() as u64;
            self.now = Instant::from_nanos(passed.saturating_add(1));
        }
        if busy || look {
            self.driver.on_time(self.now);
        }
    }

    fn sent(&mut self, status: Status) {
        assert_eq!(status.errno, 0);
        self.done.0 += 1;
    }

    /// Takes all reports; whether there were any.
    #[inline]
    pub fn reports(&mut self) -> bool {
        let busy = !self.driver.nothing_to_report();
        if busy {
            self.take_reports();
        }
        busy
    }

    fn take_reports(&mut self) {
        while !self.driver.nothing_to_report() {
            let Some(report) = self.driver.next_report(self.now) else { continue };
            self.reported(&report);
        }
    }

    #[inline(always)]
    fn reported(&mut self, report: &Report) {
        assert_eq!(report.status.errno, 0, "{report:?}");
        match report.role {
            Role::PutSource | Role::Immediate | Role::GetPull => self.done.0 += 1,
            _ => self.done.1 += 1,
        }
    }

    /// What is due at the time of the last poll.
    pub fn on_time(&mut self) {
        self.driver.on_time(self.now);
    }

    /// Takes messages out of the mailboxes, the control lane first; whether there were any.
    pub fn receive(&mut self) -> bool {
        self.receive_some::<false>()
    }

    /// Takes all messages, or only one of them.
    #[inline]
    fn receive_some<const ONE: bool>(&mut self) -> bool {
        let mut busy = false;
        let Self { driver, receiver, inlets, sinks, done, now, .. } = self;
        let sender = Sender::Known(self.peer);
        for inlet in inlets {
            while let Some(mail) = inlet.peek(&mut self.scratch).unwrap() {
                let usual = receiver.receive_inline(sender, mail.bytes());
                let taken = match usual {
                    Some((envelope, header, payload)) => {
                        match driver.on_immediate(*now, LINK, &envelope, payload) {
                            Some(message) => {
                                let length = message.length();
                                let errno = message.recv(sinks.next(), length).unwrap().errno;
                                assert_eq!(errno, 0);
                                done.1 += 1;
                                true
                            }
                            None => {
                                let message = Message::Immediate { header, payload };
                                on_message(driver, *now, envelope, message, sinks, done)
                            }
                        }
                    }
                    None => on_frame(driver, receiver, sender, *now, mail.bytes(), sinks, done),
                };
                if !taken {
                    break;
                }
                mail.release();
                if ONE {
                    return true;
                }
                busy = true;
            }
        }
        busy
    }

    /// Transfers that have not ended.
    pub fn in_use(&self) -> (u32, u32) {
        self.driver.in_use()
    }
}

/// Handles a frame that is not the usual one. Returns whether it was taken.
#[inline(never)]
fn on_frame(
    driver: &mut Driver<'static, PairPorts>,
    receiver: &mut Receiver<true>,
    sender: Sender,
    now: Instant,
    frame: &[u8],
    sinks: &mut Sinks,
    done: &mut (u64, u64),
) -> bool {
    // By reference: the message is not moved.
    match receiver.receive_from(sender, frame).as_ref().unwrap() {
        Frame::Control(envelope, ready) => {
            driver.on_pull_ready(now, LINK, envelope, ready);
            true
        }
        Frame::Lnd(envelope, message) => {
            decide(now, driver.on_message(now, LINK, envelope, message), sinks, done)
        }
    }
}

/// Handles an IMMEDIATE that is not the usual one. Returns whether it was taken.
#[cold]
fn on_message(
    driver: &mut Driver<'static, PairPorts>,
    now: Instant,
    envelope: Envelope,
    message: Message<'_>,
    sinks: &mut Sinks,
    done: &mut (u64, u64),
) -> bool {
    decide(now, driver.on_message(now, LINK, &envelope, &message), sinks, done)
}

/// Receives a request into the next sink. Returns whether the message was taken.
#[inline]
fn decide(
    now: Instant,
    inbound: Inbound<'_, '_, '_, PairPorts>,
    sinks: &mut Sinks,
    done: &mut (u64, u64),
) -> bool {
    let arrival = match inbound {
        Inbound::Handled => return true,
        Inbound::Wait => return false,
        Inbound::Request(arrival) => arrival,
    };
    let length = arrival.length();
    let deadline = now.after(Span::from_secs(60));
    if arrival.kind() == RequestKind::Get {
        let _ = arrival.reply(&Reply::new(sinks.next(), length, deadline)).unwrap();
        return true;
    }
    let it = Receive { sink: sinks.next(), length, deadline, user: 2 };
    if let Received::Done(status) = arrival.recv(&it).unwrap() {
        assert_eq!(status.errno, 0, "{status:?}");
        done.1 += 1;
    }
    true
}

/// Where PUTs that come in shall go, in turn.
#[derive(Debug)]
struct Sinks {
    list: Vec<Vec<Fragment>>,
    next: usize,
}

impl Sinks {
    #[inline]
    fn next(&mut self) -> &[Fragment] {
        let sink = &self.list[self.next];
        self.next += 1;
        if self.next == self.list.len() {
            self.next = 0;
        }
        sink
    }
}

/// A buffer of `length` bytes as fragments of at most the longest length.
pub fn fragments(address: u64, length: usize) -> Vec<Fragment> {
    (0..length)
        .step_by(MAX_FRAGMENT as usize)
        .map(|at| {
            let size = (length - at).min(MAX_FRAGMENT as usize);
            Fragment::new(address + at as u64, size as u32)
        })
        .collect()
}
