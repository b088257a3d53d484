// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A node: a driver and its host, with an upper layer that knows the expected results.

use heapless::Vec;

use lnd_core::config::{Config, ConfigError};
use lnd_core::driver::{
    Driver, Identity, Inbound, Kind, Receive, RecvError, Reply, Report, Request, RequestKind,
    RxRequest,
};
use lnd_core::id::{Incarnation, LinkId, Nid, Tag};
use lnd_core::message::NakReason;
use lnd_core::ports::{Engine, Ports};
use lnd_core::time::{Instant, Span};
use lnd_core::transfer::Cause;
use lnd_shortmsg::dispatch::{Receiver, Sender};
use lnd_shortmsg::mailbox::Consumer;
use lnd_shortmsg::wire::Frame;

use crate::channel::{Inlets, PairChannel, FRAME, WIRE};
use crate::job::{Job, Op, Region};
use crate::log::{Lent, Log};
use crate::memory::Window;

/// Transfers of a node.
pub const SLOTS: usize = 16;
/// Peers of a node.
pub const PEERS: u32 = 4;
/// Bytes of a node's trace.
pub const LOG: usize = 32 * 1024;
/// The one link.
#[allow(clippy::panic)]
pub const LINK: LinkId = match LinkId::new(0) {
    Some(link) => link,
    // Evaluated by the compiler.
    None => panic!(),
};

/// Sizes and times of both nodes.
pub const CONFIG: Config = {
    let mut config = Config::new(SLOTS as u32, PEERS, 1);
    config.lists = 0;
    config.immediate_max = 512;
    config.drain_bound = Span::from_millis(100);
    config.hello_timeout = Span::from_millis(50);
    config.batch = 64;
    config
};

/// Bytes of a driver's tables.
pub const TABLES: usize = CONFIG.bytes_needed();

/// Timeout of a message.
const TIMEOUT: Span = Span::from_secs(2);

/// The results to check at the end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ledger {
    /// Transfers that the driver has accepted: each must be reported once.
    pub accepted: u32,
    /// Transfers reported OK.
    pub ok: u32,
    /// Transfers reported with an error.
    pub failed: u32,
    /// Calls that were refused.
    pub refused: u32,
    /// Payloads that arrived and were right, byte by byte.
    pub arrived: u32,
    /// Payloads that arrived and were wrong, or had bytes after them.
    pub corrupt: u32,
    /// Reports of transfers that were not under way, or frames that were not valid.
    pub violations: u32,
    /// Cause of the last failure.
    pub cause: Option<Cause>,
}

/// One transfer under way.
#[derive(Clone, Copy, Debug)]
struct Open {
    user: u64,
    /// The place of the payload after the transfer has ended.
    sink: Option<(Region, Job)>,
}

/// The ports of a node.
#[derive(Debug)]
pub struct NodePorts<E>(core::marker::PhantomData<E>);

impl<E: Engine> Ports for NodePorts<E> {
    type Engine = E;
    type Channel = PairChannel;
    type Memory = Window;
    type Tracer = Lent<'static, LOG>;
}

/// The parts of a node.
#[derive(Debug)]
pub struct Parts<E> {
    /// Its number, 0 or 1.
    pub number: u32,
    /// Memory of its tables.
    pub tables: &'static mut [core::mem::MaybeUninit<u8>],
    /// The engine of its link.
    pub engine: E,
    /// Its end of the channel.
    pub channel: PairChannel,
    /// The receiving ends of the channel.
    pub inlets: Inlets,
    /// Its payload.
    pub window: Window,
    /// Its trace.
    pub log: &'static mut Log<LOG>,
}

/// The NIDs of the pair.
const NIDS: [Nid; 2] = [known(0x1_0000_0001), known(0x1_0000_0002)];

/// For constants only: the compiler evaluates it and rejects zero.
#[allow(clippy::panic)]
const fn known(raw: u64) -> Nid {
    match Nid::from_raw(raw) {
        Some(nid) => nid,
        None => panic!(),
    }
}

/// The NID of a node of the pair.
pub const fn nid(number: u32) -> Nid {
    let [first, second] = NIDS;
    if number == 0 {
        first
    } else {
        second
    }
}

/// A node.
pub struct Node<E: Engine + 'static> {
    /// The driver.
    pub driver: Driver<'static, NodePorts<E>>,
    /// The ledger.
    pub ledger: Ledger,
    /// Whether decisions on large messages are postponed.
    pub hold: bool,
    /// Requests whose decision was postponed.
    pub held: Vec<(RxRequest<'static>, Job), 4>,
    peer: Nid,
    inlets: Inlets,
    receiver: Receiver<true>,
    window: Window,
    open: Vec<Open, SLOTS>,
    next_user: u64,
    last: Option<Tag>,
}

impl<E: Engine + 'static> Node<E> {
    /// Creates the node's driver.
    ///
    /// # Errors
    /// The configuration is not valid.
    pub fn new(parts: Parts<E>, incarnation: Incarnation) -> Result<Self, ConfigError> {
        let Parts { number, tables, engine, channel, inlets, window, log } = parts;
        let me = Identity { nid: nid(number), incarnation };
        let driver = Driver::create(tables, CONFIG, me, [engine], channel, window, Lent(log))?;
        Ok(Self {
            driver,
            ledger: Ledger::default(),
            hold: false,
            held: Vec::new(),
            peer: nid(1 - number.min(1)),
            inlets,
            receiver: Receiver::of(WIRE, me.nid),
            window,
            open: Vec::new(),
            next_user: 1,
            last: None,
        })
    }

    /// Whether no transfer is under way, as far as the upper layer knows.
    pub fn is_idle(&self) -> bool {
        self.open.is_empty() && self.held.is_empty()
    }

    /// Transfers under way.
    pub fn under_way(&self) -> u32 {
        self.open.len() as u32
    }

    /// Sends a message. Returns whether the driver accepted it.
    pub fn start(&mut self, now: Instant, job: Job) -> bool {
        let (kind, region) = match job.op {
            Op::Put => (Kind::Put, Region::Out),
            Op::Get => (Kind::Get, Region::In),
            Op::Reply => (Kind::Reply, Region::Show),
        };
        let memory = self.window.fragment(region, &job);
        match kind {
            Kind::Get => self.window.empty(memory),
            _ => self.window.fill(memory, &job),
        }
        let user = self.next_user;
        let request = Request {
            kind,
            peer: self.peer.into(),
            link: None,
            routed: false,
            header: &job.header(),
            payload: &[memory],
            deadline: now.after(TIMEOUT),
            user,
        };
        match self.driver.submit(now, request) {
            Ok(submitted) => self.last = submitted.tag(),
            Err(_) => {
                self.ledger.refused += 1;
                return false;
            }
        }
        self.accepted(user, (job.op == Op::Get).then_some((Region::In, job)));
        true
    }

    /// Withdraws the last message.
    pub fn withdraw(&mut self, now: Instant) {
        if let Some(tag) = self.last.take() {
            self.driver.withdraw(now, tag);
        }
    }

    fn accepted(&mut self, user: u64, sink: Option<(Region, Job)>) {
        self.next_user += 1;
        self.ledger.accepted += 1;
        if self.open.push(Open { user, sink }).is_err() {
            self.ledger.violations += 1;
        }
    }

    /// Does all work that is due. Returns whether there was any, and the time of the next call.
    /// Context: the node's thread.
    pub fn poll(&mut self, now: Instant) -> (bool, Option<Instant>) {
        let mut busy = self.take_frames(now);
        self.driver.ring();
        while let Some(report) = self.driver.next_report(now) {
            self.reported(&report);
            busy = true;
        }
        (busy, self.driver.on_time(now))
    }

    fn take_frames(&mut self, now: Instant) -> bool {
        let mut frame = [0; FRAME];
        let mut busy = false;
        loop {
            let taken = match next_frame(&mut self.inlets.controls, &mut frame) {
                Some(length) => length,
                None => match next_frame(&mut self.inlets.requests, &mut frame) {
                    Some(length) => length,
                    None => return busy,
                },
            };
            busy = true;
            self.on_frame(now, frame.get(..taken).unwrap_or(&[]));
        }
    }

    fn on_frame(&mut self, now: Instant, frame: &[u8]) {
        match self.receiver.receive_from(Sender::Known(self.peer), frame) {
            Err(_) => self.ledger.violations += 1,
            Ok(Frame::Control(envelope, ready)) => {
                self.driver.on_pull_ready(now, LINK, &envelope, &ready);
            }
            Ok(Frame::Lnd(envelope, message)) => {
                match self.driver.on_message(now, LINK, &envelope, &message) {
                    Inbound::Handled => {}
                    // Credits bound the requests to the available room.
                    Inbound::Wait => self.ledger.violations += 1,
                    Inbound::Request(arrival) => {
                        let rx_request = arrival.keep();
                        self.on_rx_request(now, rx_request);
                    }
                }
            }
        }
    }

    fn on_rx_request(&mut self, now: Instant, rx_request: RxRequest<'_>) {
        let Some(job) = Job::parse(rx_request.header) else {
            self.ledger.violations += 1;
            self.driver.nak(now, rx_request, NakReason::BadRequest);
            return;
        };
        if self.hold && rx_request.kind() != RequestKind::Immediate {
            if self.held.push((rx_request.detach(), job)).is_err() {
                self.ledger.violations += 1;
            }
            return;
        }
        self.decide(now, rx_request, job);
    }

    /// Makes the postponed decisions.
    pub fn let_go(&mut self, now: Instant) {
        self.hold = false;
        while let Some((rx_request, job)) = self.held.pop() {
            self.decide(now, rx_request, job);
        }
    }

    fn decide(&mut self, now: Instant, rx_request: RxRequest<'_>, job: Job) {
        match (job.op, rx_request.kind()) {
            (Op::Get, RequestKind::Get) => self.reply(now, rx_request, job),
            (Op::Get, _) => {
                // Small enough to be sent as a message: accept the request, send the answer.
                self.receive(now, rx_request, None);
                self.start(now, Job { op: Op::Reply, ..job });
            }
            (Op::Put, _) => self.receive(now, rx_request, Some((Region::Take, job))),
            (Op::Reply, _) => self.receive(now, rx_request, Some((Region::In, job))),
        }
    }

    fn receive(&mut self, now: Instant, rx_request: RxRequest<'_>, sink: Option<(Region, Job)>) {
        let memory = sink.map(|(region, job)| self.window.fragment(region, &job));
        if let Some(memory) = memory {
            self.window.empty(memory);
        }
        let user = self.next_user;
        let it = Receive {
            sink: memory.as_slice(),
            length: memory.map_or(0, |m| m.length),
            deadline: now.after(TIMEOUT),
            user,
        };
        match self.driver.recv(now, rx_request, &it) {
            Ok(_) => self.accepted(user, sink),
            Err(error) => self.not_taken(now, error),
        }
    }

    fn reply(&mut self, now: Instant, rx_request: RxRequest<'_>, job: Job) {
        let memory = self.window.fragment(Region::Show, &job);
        self.window.fill(memory, &job);
        let user = self.next_user;
        let deadline = now.after(TIMEOUT);
        let it = Reply { source: &[memory], length: memory.length, deadline, user };
        match self.driver.reply(now, rx_request, &it) {
            Ok(_) => self.accepted(user, None),
            Err(error) => self.not_taken(now, error),
        }
    }

    fn not_taken(&mut self, now: Instant, error: RecvError<'_>) {
        self.ledger.refused += 1;
        if let RecvError::Refused(rx_request, _) = error {
            self.driver.nak(now, rx_request, NakReason::NoResources);
        }
    }

    fn reported(&mut self, report: &Report) {
        let Some(at) = self.open.iter().position(|open| open.user == report.user) else {
            self.ledger.violations += 1;
            return;
        };
        let open = self.open.swap_remove(at);
        if report.status.errno != 0 {
            self.ledger.failed += 1;
            self.ledger.cause = report.status.evidence.map(|(cause, _)| cause);
            return;
        }
        self.ledger.ok += 1;
        let Some((region, job)) = open.sink else { return };
        // A GET that was sent as a message alone is answered by another message.
        if job.op == Op::Get && !report.reply {
            return;
        }
        if report.bytes == job.length
            && self.window.arrived(self.window.fragment(region, &job), &job)
        {
            self.ledger.arrived += 1;
        } else {
            self.ledger.corrupt += 1;
        }
    }
}

fn next_frame(inlet: &mut Consumer<'static>, frame: &mut [u8]) -> Option<usize> {
    inlet.recv(frame).ok().flatten().map(<[u8]>::len)
}
