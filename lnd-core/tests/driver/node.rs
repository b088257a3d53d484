// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! One node: a driver, its interrupts, an upper layer with a ledger, and buffers.
//!
//! The ledger is the exactly-once check (INV-1): every tag that the driver accepted is reported
//! once, none that it refused, and none while a device still has its descriptor (INV-2).

use std::cell::Cell;
use std::collections::{hash_map::DefaultHasher, BTreeMap};
use std::hash::Hasher;
use std::mem::MaybeUninit;

use lnd_core::config::Config;
use lnd_core::counters::Counter;
use lnd_core::driver::{
    Driver, Identity, Inbound, Interrupt, Kind, Receive, Received, RecvError, Refused, Reply,
    Report, Request, RequestKind, Role, RxRequest, Submitted, To, Why,
};
use lnd_core::fragment::Fragment;
use lnd_core::id::{Incarnation, LinkId, Nid, Tag};
use lnd_core::message::{Message, NakReason};
use lnd_core::ports::{Completions, Sent};
use lnd_core::time::{Instant, Span};
use lnd_core::transfer::{Delivery, HealthClass, Status};

use super::fabric::{nid, Shared, BASE, WINDOW};
use super::letter::Letter;
use super::ports::{Log, MockChannel, MockEngine, MockMemory, MockOf, Ring};

/// The message that an upper layer's header names.
fn id_of(header: &[u8]) -> u64 {
    u64::from_le_bytes(header.try_into().unwrap())
}

/// What an upper layer does with a kind of request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Takes or gives at most so many bytes.
    UpTo(u32),
    Refuse(NakReason),
    /// Keeps the ticket for later.
    Keep,
    /// Loses the ticket.
    Forget,
}

pub const TAKE: Decision = Decision::UpTo(u32::MAX);

/// What to submit.
#[derive(Clone, Copy, Debug)]
pub struct Order {
    pub kind: Kind,
    pub to: usize,
    pub length: u32,
    pub routed: bool,
    pub deadline: Instant,
    pub link: Option<LinkId>,
}

/// One accepted transfer that has not been reported.
#[derive(Debug)]
struct Job {
    id: u64,
    fragments: Vec<Fragment>,
    chunk: Option<usize>,
}

/// A ticket kept for later.
#[derive(Debug)]
pub struct Kept {
    pub rx_request: RxRequest<'static>,
    pub id: u64,
}

const CHUNK: usize = 16 << 10;

/// A length, and a buffer for as much: its fragments, and the place that they were taken from.
type Buffer = (u32, (Vec<Fragment>, Option<usize>));

/// One node; `SAFE_INVALIDATE` is its engines'.
pub struct NodeOf<const SAFE_INVALIDATE: bool> {
    pub me: usize,
    pub driver: Driver<'static, MockOf<SAFE_INVALIDATE>>,
    interrupts: Vec<Interrupt<'static, Ring>>,
    pub fabric: Shared,
    pub now: Instant,
    pub alive: bool,
    /// What the last `on_time` returned.
    pub next: Option<Instant>,
    pub put: Decision,
    pub get: Decision,
    pub inline: Decision,
    /// Fragments of each buffer.
    pub pieces: usize,
    pub kept: Vec<Kept>,
    pub done: Vec<Report>,
    /// Its own thread takes completions, and reports what has ended at once.
    pub polls: bool,
    /// Check the books after every call.
    pub audits: bool,
    checks: Cell<u32>,
    ledger: BTreeMap<Tag, Job>,
    free: Vec<usize>,
    /// Messages that ended without a slot.
    without_slots: u32,
}

/// Byte `i` of message `id`.
fn content(id: u64, i: usize) -> u8 {
    (id as u8).wrapping_mul(31).wrapping_add((i as u8).wrapping_mul(7)).wrapping_add((i >> 8) as u8)
}

/// One node of the usual kind.
pub type Node = NodeOf<true>;

impl<const SAFE_INVALIDATE: bool> NodeOf<SAFE_INVALIDATE> {
    pub fn boot(
        fabric: &Shared,
        me: usize,
        incarnation: u64,
        config: Config,
        now: Instant,
    ) -> Self {
        let memory = vec![MaybeUninit::uninit(); config.bytes_needed()].leak();
        let identity =
            Identity { nid: nid(me), incarnation: Incarnation::from_raw(incarnation).unwrap() };
        let links = config.links as usize;
        let engine = |link| MockEngine { fabric: fabric.clone(), node: me, link };
        let driver = Driver::create(
            memory,
            config,
            identity,
            (0..links).map(engine),
            MockChannel { fabric: fabric.clone(), node: me },
            MockMemory { fabric: fabric.clone(), node: me },
            Log::default(),
        )
        .unwrap();
        fabric.borrow_mut().incarnations.insert(me, incarnation);
        Self {
            me,
            driver,
            interrupts: Vec::new(),
            fabric: fabric.clone(),
            now,
            alive: true,
            next: None,
            put: TAKE,
            get: TAKE,
            inline: TAKE,
            pieces: 1,
            kept: Vec::new(),
            done: Vec::new(),
            polls: false,
            audits: true,
            checks: Cell::new(0),
            ledger: BTreeMap::new(),
            free: (0..WINDOW / CHUNK).collect(),
            without_slots: 0,
        }
    }

    pub fn check(&self) {
        if self.is_audited() {
            assert_eq!(self.driver.audit(), Ok(()), "node {}", self.me);
        }
    }

    /// Each call is audited. To count what is reached takes far longer than to reach it: there one
    /// call of 16 is.
    fn is_audited(&self) -> bool {
        let step = if cfg!(coverage) { 16 } else { 1 };
        self.checks.set(self.checks.get() + 1);
        self.audits && self.checks.get() % step == 0
    }

    pub fn later(&self, span: Span) -> Instant {
        self.now.after(span)
    }

    /// A buffer of `length` bytes in `pieces` fragments; none for no bytes.
    pub fn buffer(&mut self, length: u32) -> (Vec<Fragment>, Option<usize>) {
        if length == 0 {
            return (Vec::new(), None);
        }
        let chunk = self.free.pop().expect("the test's window is used up");
        let base = BASE + (chunk * CHUNK) as u64;
        let pieces = (self.pieces as u32).min(length);
        let each = length / pieces;
        let mut fragments = Vec::new();
        // Fragments lie in reverse order, so that adding up lengths is not enough.
        let mut end = base + CHUNK as u64;
        for piece in 0..pieces {
            let size = if piece + 1 == pieces { length - each * piece } else { each };
            end -= u64::from(size);
            fragments.push(Fragment::new(end, size));
        }
        (fragments, Some(chunk))
    }

    fn fill(&mut self, fragments: &[Fragment], id: u64, length: u32) {
        let bytes: Vec<u8> = (0..length as usize).map(|i| content(id, i)).collect();
        self.fabric.borrow_mut().write(self.me, fragments, &bytes);
    }

    fn give_back(&mut self, fragments: &[Fragment], chunk: Option<usize>) {
        let size: u32 = fragments.iter().map(|f| f.length).sum();
        self.fabric.borrow_mut().write(self.me, fragments, &vec![0xee; size as usize]);
        self.free.extend(chunk);
    }

    /// Submits message `id`; its buffer is the node's.
    pub fn send(&mut self, id: u64, order: Order) -> Result<Tag, Why> {
        let (fragments, chunk) = self.buffer(order.length);
        if order.kind != Kind::Get {
            self.fill(&fragments, id, order.length);
        }
        let header = id.to_le_bytes();
        // Every second message names its peer by the id, where there is one.
        let known = self.driver.peer(nid(order.to)).filter(|_| id % 2 == 1);
        let request = Request {
            kind: order.kind,
            peer: known.map_or(To::Nid(nid(order.to)), To::Peer),
            link: order.link,
            routed: order.routed,
            header: &header,
            payload: &fragments,
            deadline: order.deadline,
            user: id,
        };
        let outcome = self.driver.submit(self.now, request);
        self.check();
        match outcome {
            Ok(Submitted::Pending(tag)) => {
                self.accept(tag, id, fragments, chunk);
                Ok(tag)
            }
            Ok(done @ Submitted::Done(status)) => {
                assert_eq!(done.tag(), None);
                assert!(self.fabric.borrow().ends_at_once, "the channel has not said how it ended");
                let tag = self.made_up();
                self.accept(tag, id, fragments, chunk);
                let length = if order.kind == Kind::Get { 0 } else { order.length };
                self.ended(tag, id, Role::Immediate, (status, length), nid(order.to));
                Ok(tag)
            }
            Err(Refused { request, why }) => {
                assert_eq!((request.user, request.payload), (id, &fragments[..]), "INV-1");
                self.give_back(&fragments, chunk);
                Err(why)
            }
        }
    }

    /// Notes an accepted transfer in the ledger.
    pub fn accept(&mut self, tag: Tag, id: u64, fragments: Vec<Fragment>, chunk: Option<usize>) {
        let job = Job { id, fragments, chunk };
        assert!(self.ledger.insert(tag, job).is_none(), "{tag:?} given out twice");
    }

    /// A tag for what never had a slot.
    fn made_up(&mut self) -> Tag {
        self.without_slots += 1;
        Tag { index: u32::MAX, generation: self.without_slots }
    }

    /// What has ended without a slot is reported like all else.
    fn ended(
        &mut self,
        tag: Tag,
        user: u64,
        role: Role,
        (status, length): (Status, u32),
        peer: Nid,
    ) {
        let bytes = if status.errno == 0 { length } else { 0 };
        let peer = Some(peer);
        let (reply, lost_race) = (false, false);
        self.settle(Report { tag, user, role, peer, status, bytes, reply, lost_race });
    }

    /// Takes a letter in; `false`: there is no room now, it stays in the channel.
    pub fn receive(&mut self, letter: &Letter) -> bool {
        let message = letter.message();
        // A buffer beforehand, for an upper layer that decides while the driver waits for it.
        let now_wanted = self.wanted_at_once(&message);
        let buffer = now_wanted.map(|length| (length, self.buffer(length)));
        let deadline = self.later(Span::from_secs(30));
        let buffer = match self.receive_next(letter, &message, buffer) {
            Ok(()) => return true,
            Err(buffer) => buffer,
        };
        let inbound = self.driver.on_message(self.now, letter.link, &letter.envelope, &message);
        let taken = match (inbound, buffer) {
            (Inbound::Request(arrival), Some((length, (fragments, chunk)))) => {
                let (id, from) = (id_of(arrival.header()), arrival.from());
                let it = Receive { sink: &fragments, length, deadline, user: id };
                let received = arrival.recv(&it);
                self.sees(id);
                match received {
                    Ok(Received::Pending(tag)) => self.accept(tag, id, fragments, chunk),
                    Ok(Received::Done(status)) => {
                        let tag = self.made_up();
                        self.accept(tag, id, fragments, chunk);
                        self.ended(tag, id, Role::InlineSink, (status, length), from);
                    }
                    Err(RecvError::Refused(rx_request, Why::NoLists)) => {
                        self.kept.push(Kept { rx_request: rx_request.detach(), id });
                        self.give_back(&fragments, chunk);
                    }
                    Err(refused) => panic!("what fits is received at once: {refused:?}"),
                }
                true
            }
            (Inbound::Request(arrival), None) => {
                let rx_request = arrival.keep();
                self.decide(rx_request);
                true
            }
            (other, buffer) => {
                let taken = matches!(other, Inbound::Handled);
                if let Some((_, (fragments, chunk))) = buffer {
                    self.give_back(&fragments, chunk);
                }
                taken
            }
        };
        self.check();
        taken
    }

    /// Receives every second IMMEDIATE by the shortest way, if that takes it.
    fn receive_next(
        &mut self,
        letter: &Letter,
        message: &Message<'_>,
        buffer: Option<Buffer>,
    ) -> Result<(), Option<Buffer>> {
        let (Message::Immediate { header, payload }, Some((length, (fragments, chunk)))) =
            (message, &buffer)
        else {
            return Err(buffer);
        };
        let id = id_of(header);
        let offered = if id % 2 == 1 {
            self.driver.on_immediate(self.now, letter.link, &letter.envelope, payload)
        } else {
            None
        };
        let Some(offered) = offered else { return Err(buffer) };
        let status = offered.recv(fragments, *length).expect("the buffer does");
        let (fragments, chunk, length) = (fragments.clone(), *chunk, *length);
        self.sees(id);
        let tag = self.made_up();
        self.accept(tag, id, fragments, chunk);
        self.ended(tag, id, Role::InlineSink, (status, length), letter.envelope.from);
        self.check();
        Ok(())
    }

    /// How much of a request is received while it is offered: of what comes whole, where messages
    /// end at once, and of every second PUT that is pulled.
    fn wanted_at_once(&self, message: &Message<'_>) -> Option<u32> {
        let (length, decision) = match message {
            Message::Immediate { payload, .. } if self.fabric.borrow().ends_at_once => {
                (payload.len() as u32, self.inline)
            }
            Message::PutReq { header, length, .. } if id_of(header) % 2 == 0 => (*length, self.put),
            _ => return None,
        };
        match decision {
            Decision::UpTo(most) => Some(length.min(most)),
            Decision::Refuse(_) | Decision::Keep | Decision::Forget => None,
        }
    }

    fn sees(&mut self, id: u64) {
        let incarnation = self.driver.identity().incarnation.raw();
        let new = self.fabric.borrow_mut().seen.insert((incarnation, id));
        assert!(new || id == 0, "message {id} is delivered twice");
    }

    fn decide(&mut self, rx_request: RxRequest<'_>) {
        let decision = match rx_request.kind() {
            RequestKind::Immediate => self.inline,
            RequestKind::Put => self.put,
            RequestKind::Get => self.get,
        };
        let id = id_of(rx_request.header);
        self.sees(id);
        match decision {
            Decision::UpTo(most) => {
                let length = rx_request.length.min(most);
                let _ = self.answer(rx_request, id, length, self.later(Span::from_secs(30)));
            }
            Decision::Refuse(why) => self.driver.nak(self.now, rx_request, why),
            Decision::Keep => self.kept.push(Kept { rx_request: rx_request.detach(), id }),
            Decision::Forget => {}
        }
    }

    /// Takes the oldest kept ticket, with `length` bytes at most.
    pub fn answer_kept(&mut self, most: u32) -> Result<Tag, Option<Why>> {
        let kept = self.kept.remove(0);
        let length = kept.rx_request.length.min(most);
        self.answer(kept.rx_request, kept.id, length, self.later(Span::from_secs(30)))
    }

    /// `recv` or `give`, as the ticket wants. `None` as an error: gone.
    pub fn answer(
        &mut self,
        rx_request: RxRequest<'_>,
        id: u64,
        length: u32,
        deadline: Instant,
    ) -> Result<Tag, Option<Why>> {
        let (fragments, chunk) = self.buffer(length);
        let (now, user) = (self.now, id);
        let tag = rx_request.tag();
        let outcome = if rx_request.kind() == RequestKind::Get {
            self.fill(&fragments, id, length);
            let it = Reply { source: &fragments, length, deadline, user };
            self.driver.reply(now, rx_request, &it)
        } else {
            let it = Receive { sink: &fragments, length, deadline, user };
            self.driver.recv(now, rx_request, &it)
        };
        self.check();
        let why = match outcome {
            Ok(accepted) => {
                assert_eq!(accepted, tag);
                self.accept(tag, id, fragments, chunk);
                return Ok(tag);
            }
            Err(RecvError::Gone) => None,
            Err(RecvError::Refused(rx_request, why)) => {
                let kept = Kept { rx_request: rx_request.detach(), id };
                self.kept.push(kept);
                Some(why)
            }
        };
        self.give_back(&fragments, chunk);
        Err(why)
    }

    /// Fetches all reports; returns how many calls that took. A call without a report may have made
    /// room for a message that waits (see `Driver::offer_again`).
    pub fn fetch(&mut self) -> usize {
        let (mut calls, mut unused) = (0, 0);
        while !self.driver.nothing_to_report() {
            if let Some(report) = self.driver.next_report(self.now) {
                self.settle(report);
                unused = 0;
            }
            self.check();
            // A call may find silent transfers only, as many as it looks at.
            unused += 1;
            calls += 1;
            assert!(unused < 1_000, "there is something to report, and it is never reported");
        }
        calls
    }

    fn settle(&mut self, report: Report) {
        let tag = report.tag;
        let job = self.ledger.remove(&tag).expect("reported twice, or never accepted (INV-1)");
        assert_eq!(report.user, job.id);
        let ok = report.status.errno == 0;
        assert_eq!(ok, report.status.health == HealthClass::Ok, "INV-4");
        assert!(ok || report.bytes == 0);
        assert!(
            !self.fabric.borrow().with_device(self.me, tag),
            "finalized while the device has the descriptor (INV-2): {report:?}"
        );
        self.note_delivery(&report, job.id);
        if ok {
            self.verify(&report, &job);
        }
        self.give_back(&job.fragments, job.chunk);
        self.done.push(report);
    }

    /// What the upper layers got and what senders were told they did not get; the two are compared
    /// by [`World::assert_deliveries`](super::world::World::assert_deliveries) (S0-18).
    fn note_delivery(&self, report: &Report, id: u64) {
        let mut fabric = self.fabric.borrow_mut();
        let sends = matches!(report.role, Role::Immediate | Role::PutSource);
        let receives = matches!(report.role, Role::InlineSink | Role::PutSink);
        if receives && report.status.errno == 0 && report.bytes > 0 {
            fabric.delivered.insert(id);
        }
        if sends && report.status.delivery == Delivery::Delivered {
            fabric.promised.insert(id);
        }
        if sends && report.status.delivery == Delivery::NotDelivered {
            fabric.not_delivered.insert(id);
        }
    }

    /// What ended OK is where it should be (INV-4).
    fn verify(&self, report: &Report, job: &Job) {
        let fabric = self.fabric.borrow();
        match report.role {
            Role::InlineSink | Role::PutSink | Role::GetPull | Role::PushSink => {
                let got = fabric.read(self.me, &job.fragments, report.bytes as usize);
                let right = got.iter().enumerate().all(|(i, &b)| b == content(job.id, i));
                assert!(right && got.len() == report.bytes as usize, "payload of {report:?}");
            }
            Role::PutSource | Role::GetSource => {
                let incarnation = self.driver.identity().incarnation.raw();
                let moved = fabric.pulled.contains(&(self.me, incarnation, report.tag));
                assert!(moved, "OK and never pulled: {report:?}");
            }
            Role::PushSource => {
                let incarnation = self.driver.identity().incarnation.raw();
                let moved = fabric.pushed.contains(&(self.me, incarnation, report.tag));
                assert!(moved, "OK and never pushed: {report:?}");
            }
            _ => {}
        }
    }

    /// Runs the interrupts; returns how many completions they took.
    pub fn interrupt(&mut self) -> u32 {
        let links = self.driver.config().links as usize;
        if self.polls {
            return (0..links).map(|link| self.take_completions(link, 1000)).sum();
        }
        let _ = self.interrupts();
        let (now, tracer) = (self.now, self.driver.tracer_mut());
        self.interrupts.iter_mut().map(|i| i.on_interrupt(now, 1000, tracer).taken).sum()
    }

    /// The interrupts of its links. Their handles are taken when they are first asked for: until
    /// then the driver is alone, and has run as one (decision 0037).
    pub fn interrupts(&mut self) -> &mut [Interrupt<'static, Ring>] {
        if self.interrupts.is_empty() {
            let (irq_handle, links) =
                (self.driver.irq_handle(), self.driver.config().links as usize);
            let of = |l| Interrupt::of_link(irq_handle, self.ring(l), LinkId::new(l).unwrap());
            self.interrupts = (0..links).map(of).collect();
        }
        &mut self.interrupts
    }

    fn ring(&self, link: usize) -> Ring {
        Ring { fabric: self.fabric.clone(), node: self.me, link }
    }

    /// Takes completions of a link in its own thread; returns how many.
    pub fn take_completions(&mut self, link: usize, budget: u32) -> u32 {
        let mut taken = 0;
        while taken < budget {
            let Some(completion) = self.ring(link).pop() else { break };
            taken += 1;
            let link = LinkId::new(link).unwrap();
            if let Some(report) = self.driver.complete_of(self.now, link, completion) {
                self.settle(report);
            }
            self.check();
        }
        taken
    }

    pub fn on_sent(&mut self, tag: Tag, sent: Sent) {
        self.driver.on_sent(self.now, tag, sent);
        self.check();
    }

    pub fn on_time(&mut self) -> Option<Instant> {
        let announced = self.driver.next_time(self.now);
        let poll = self.later(self.driver.config().link_poll);
        let due = announced.is_some_and(|announced| announced <= poll);
        let before = (!due && self.is_audited()).then(|| self.fingerprint());
        self.next = self.driver.on_time(self.now);
        if let Some(before) = before {
            // R39: nothing was due, and nothing is looked at by the clock.
            let after = (self.fingerprint(), self.next);
            assert_eq!(after, (before, announced), "node {}: it was not due", self.me);
        }
        self.check();
        self.next
    }

    /// What the driver's future depends on.
    fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.driver.fingerprint(&mut hasher);
        hasher.finish()
    }

    pub fn count(&self, counter: Counter) -> u64 {
        let interrupts: u64 = self.interrupts.iter().map(|i| i.counters().value(counter)).sum();
        self.driver.counters().value(counter) + interrupts
    }

    /// Accepted and not reported.
    pub fn open(&self) -> usize {
        self.ledger.len()
    }
}
