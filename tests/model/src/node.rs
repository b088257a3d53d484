// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A node: a shipped driver, its interrupt, and an upper layer that keeps a ledger.

use std::collections::BTreeMap;
use std::mem::MaybeUninit;

use lnd_core::counters::Counter;
use lnd_core::driver::{
    Driver, Identity, Inbound, Interrupt, Receive, Received, Reply, Report, Request, RequestKind,
    Role, RxRequest, Submitted,
};
use lnd_core::fragment::Fragment;
use lnd_core::id::{Incarnation, Tag};
use lnd_core::link::LinkState;
use lnd_core::message::{Envelope, Message, NakReason};
use lnd_core::peer::HelloState;
use lnd_core::ports::{NoTrace, Sent};
use lnd_core::time::Instant;
use lnd_core::transfer::{Cause, Delivery, Status};
use lnd_shortmsg::dispatch::{Receiver, Sender};
use lnd_shortmsg::wire::Checksum;

use crate::action::Decision;
use crate::fabric::{nid, Shared};
use crate::facts::Facts;
use crate::ports::{Mock, NoMemory, Port, LINK};
use crate::setup::{Order, Setup};

pub struct Node<'m, const SAFE_INVALIDATE: bool> {
    pub me: usize,
    pub driver: Driver<'m, Mock<SAFE_INVALIDATE>>,
    pub interrupt: Interrupt<'m, Port<SAFE_INVALIDATE>>,
    /// Tickets put off, with their messages.
    pub kept: Vec<(RxRequest<'static>, u32)>,
    /// Accepted and not reported: tag to message.
    pub open: BTreeMap<Tag, u32>,
    /// What the last `on_time` returned.
    pub next: Option<Instant>,
    /// When its thread has looked last: what comes before counts as listened to (R41).
    pub looked: Instant,
    /// Something happened in an interrupt and the thread has not looked yet.
    pub dirty: bool,
    /// A request found no slot, or is of a peer that has not answered our hello: there is no point
    /// in trying again before something happens here; that our link works again is something.
    pub full: bool,
    /// Our hello is out.
    handshake: bool,
    /// Our link is in service.
    link_up: bool,
    /// It does not run.
    pub paused: bool,
    /// The other was declared down at some time.
    pub was_notified_down: bool,
    /// A message that it sent has ended without a report.
    ended_at_once: bool,
    /// Where this incarnation's tags begin to count.
    first: u32,
    fabric: Shared,
}

impl<'m, const SAFE_INVALIDATE: bool> Node<'m, SAFE_INVALIDATE> {
    pub fn boot(
        memory: &'m mut [MaybeUninit<u8>],
        setup: &Setup,
        fabric: &Shared,
        me: usize,
        incarnation: Incarnation,
    ) -> Self {
        let port = Port { fabric: fabric.clone(), node: me };
        let driver = Driver::create(
            memory,
            setup.config(),
            Identity { nid: nid(me), incarnation },
            [port.clone()],
            port.clone(),
            NoMemory,
            NoTrace,
        )
        .expect("a configuration that can be");
        let interrupt = Interrupt::new(driver.irq_handle(), port);
        let first = driver.irq_handle().shared().tag(0).generation;
        Self {
            me,
            driver,
            interrupt,
            kept: Vec::new(),
            open: BTreeMap::new(),
            next: None,
            looked: Instant::ORIGIN,
            dirty: false,
            full: false,
            handshake: false,
            link_up: false,
            paused: false,
            was_notified_down: false,
            ended_at_once: false,
            first,
            fabric: fabric.clone(),
        }
    }

    pub fn submit(&mut self, now: Instant, message: u32, order: Order) {
        self.fabric.borrow_mut().submitting[self.me] = message;
        let payload = [Fragment::new(0x1000, order.length)];
        let deadline = now.after(Setup::DEADLINE);
        self.fabric.borrow_mut().deadlines.insert(message, deadline);
        let request = Request {
            kind: order.kind,
            peer: nid(1 - self.me).into(),
            link: None,
            routed: false,
            header: &message.to_le_bytes(),
            payload: &payload,
            deadline,
            user: u64::from(message),
        };
        match self.driver.submit(now, request) {
            Ok(Submitted::Pending(tag)) => self.accept(tag, message),
            Ok(Submitted::Done(status)) => {
                self.ended_at_once = true;
                let mut fabric = self.fabric.borrow_mut();
                let ended = fabric.ends_at_once && status.errno == 0;
                fabric.demand(ended, "a message that was sent has ended otherwise (S0-18)");
                if status.delivery == Delivery::Delivered {
                    fabric.promised.insert(message);
                }
            }
            Err(_) => {}
        }
    }

    fn accept(&mut self, tag: Tag, message: u32) {
        let before = self.open.insert(tag, message);
        let mut fabric = self.fabric.borrow_mut();
        fabric.contents.insert((self.me, tag, message));
        fabric.demand(before.is_none(), "a tag given out twice (R14)");
    }

    /// Takes a frame in; `false`: it stays in the channel.
    pub fn receive(&mut self, now: Instant, frame: &[u8], decision: Decision) -> bool {
        let sender = Sender::Known(nid(1 - self.me));
        let received = Receiver::new(Checksum::On).receive_from(sender, frame);
        let decoded = received.expect("what we encode, we decode");
        let (envelope, message) = decoded.into_parts();
        if let Message::Immediate { header, payload } = message {
            let at_once = decision == Decision::Take && self.fabric.borrow().ends_at_once;
            if at_once && self.receive_next(now, &envelope, header, payload) {
                return true;
            }
        }
        match self.driver.on_message(now, LINK, &envelope, &message) {
            Inbound::Handled => true,
            Inbound::Wait => false,
            Inbound::Request(arrival)
                if decision == Decision::Take
                    && arrival.kind() == RequestKind::Immediate
                    && self.fabric.borrow().ends_at_once =>
            {
                let id = u32::from_le_bytes(arrival.header().try_into().expect("our header"));
                let mut fabric = self.fabric.borrow_mut();
                fabric.see(id);
                fabric.arrive(id);
                let (length, deadline) = (arrival.length(), now.after(Setup::DEADLINE));
                let sink = [Fragment::new(0x2000, length)];
                let it = Receive { sink: &sink, length, deadline, user: u64::from(id) };
                drop(fabric);
                let whole = matches!(arrival.recv(&it), Ok(Received::Done(Status::OK)));
                self.fabric.borrow_mut().demand(whole, "what came whole was not received (S1-4)");
                true
            }
            Inbound::Request(arrival) => {
                let rx_request = arrival.keep();
                let id = u32::from_le_bytes(rx_request.header.try_into().expect("our header"));
                let mut fabric = self.fabric.borrow_mut();
                fabric.see(id);
                if rx_request.kind() == RequestKind::Immediate {
                    fabric.arrive(id);
                }
                fabric.contents.insert((self.me, rx_request.tag(), id));
                drop(fabric);
                match decision {
                    Decision::Take => self.take(now, rx_request, id),
                    Decision::Refuse => self.driver.nak(now, rx_request, NakReason::NoMatch),
                    Decision::Later => self.kept.push((rx_request.detach(), id)),
                }
                true
            }
        }
    }

    /// Receives a message by the shortest way; `false`: that does not take it.
    fn receive_next(
        &mut self,
        now: Instant,
        envelope: &Envelope,
        header: &[u8],
        payload: &[u8],
    ) -> bool {
        let Some(offered) = self.driver.on_immediate(now, LINK, envelope, payload) else {
            return false;
        };
        let id = u32::from_le_bytes(header.try_into().expect("our header"));
        let mut fabric = self.fabric.borrow_mut();
        fabric.see(id);
        fabric.arrive(id);
        drop(fabric);
        let sink = [Fragment::new(0x2000, offered.length().max(1))];
        // A new count of credits may send what waited for it.
        let whole = offered.recv(&sink, payload.len() as u32) == Ok(Status::OK);
        self.fabric.borrow_mut().demand(whole, "what came whole was not received (S1-4)");
        true
    }

    pub fn take(&mut self, now: Instant, rx_request: RxRequest<'_>, id: u32) {
        let buffers = [Fragment::new(0x2000, rx_request.length)];
        let (length, user) = (rx_request.length, u64::from(id));
        let deadline = now.after(Setup::DEADLINE);
        let taken = match rx_request.kind() {
            RequestKind::Get => {
                let it = Reply { source: &buffers, length, deadline, user };
                self.driver.reply(now, rx_request, &it).ok()
            }
            // A ticket that was put off has lost what came along.
            RequestKind::Immediate => {
                let length = rx_request.payload().len() as u32;
                let it = Receive { sink: &buffers, length, deadline, user };
                self.driver.recv(now, rx_request, &it).ok()
            }
            RequestKind::Put => {
                let it = Receive { sink: &buffers, length, deadline, user };
                self.driver.recv(now, rx_request, &it).ok()
            }
        };
        if let Some(tag) = taken {
            self.accept(tag, id);
        }
    }

    pub fn notified(&mut self, now: Instant, tag: Tag, sent: Sent) {
        self.driver.on_sent(now, tag, sent);
    }

    /// The thread's round: the clock, doorbells, reports, until nothing is left for this moment.
    pub fn look(&mut self, now: Instant, facts: &mut Facts) {
        self.dirty = false;
        self.looked = now;
        facts.ok |= self.ended_at_once;
        for _ in 0..64 {
            self.driver.ring();
            while let Some(report) = self.driver.next_report(now) {
                self.full = false;
                self.check(&report, facts);
            }
            self.next = self.driver.on_time(now);
            // Anything may happen between the proof that an engine has stopped and what it is for.
            self.dirty = self.driver.link_state(LINK) == Some(LinkState::Reclaiming);
            if self.dirty {
                self.audit();
                return;
            }
            if self.next != Some(now) && self.driver.nothing_to_report() {
                self.look_at_handshake();
                self.audit();
                return;
            }
        }
        self.fabric.borrow_mut().breaks("on_time asks for ever to be called at once (R64)");
    }

    fn look_at_handshake(&mut self) {
        let peer = self.driver.peer(nid(1 - self.me));
        let handshake = peer.map(|id| self.driver.peer_state(id)) == Some(HelloState::Handshake);
        let link_up = self.driver.link_state(LINK) == Some(LinkState::Up);
        self.full &= handshake == self.handshake && link_up == self.link_up;
        (self.handshake, self.link_up) = (handshake, link_up);
    }

    fn audit(&self) {
        if let Err(broken) = self.driver.audit() {
            self.fabric.borrow_mut().breaks(format!("the books: {broken:?} (INV-12, INV-14)"));
        }
    }

    fn check(&mut self, report: &Report, facts: &mut Facts) {
        let (me, tag) = (self.me, report.tag);
        let known = self.open.remove(&tag);
        let mut fabric = self.fabric.borrow_mut();
        fabric.demand(known.is_some(), "reported twice, or never accepted (INV-1)");
        fabric.demand(known.map(u64::from) == Some(report.user), "reported as another (INV-1)");
        let held = fabric.places[me].device.holds(tag);
        fabric.demand(!held, "finalized while the engine may touch its memory (INV-2)");
        let owed = fabric.places[me].ends.iter().any(|end| end.tag == tag);
        fabric.demand(!owed, "finalized before its short message had ended (INV-5)");
        let ok = report.status.errno == 0;
        let moved = fabric.moved.contains(&(me, tag));
        let notified = fabric.notified.contains(&(me, tag));
        let good = match report.role {
            Role::Immediate => notified,
            Role::InlineSink => true,
            _ => moved,
        };
        fabric.demand(!ok || good, "OK, and not everything that was owed was paid OK (INV-4)");
        let sender = matches!(report.role, Role::Immediate | Role::PutSource);
        let asks = matches!(report.role, Role::GetSink | Role::GetPull | Role::PushSink);
        let promised = report.status.delivery == Delivery::Delivered;
        if let (true, true, Some(message)) = (sender || asks, promised, known) {
            fabric.promised.insert(message);
        }
        let denied = report.status.delivery == Delivery::NotDelivered;
        if let (true, true, Some(message)) = (sender, denied, known) {
            fabric.denied.insert(message);
            let arrived = fabric.arrived.contains(&message);
            fabric.demand(!arrived, "not delivered, says the status, and it was (S0-18)");
        }
        drop(fabric);
        facts.ok |= ok;
        facts.error |= !ok;
        facts.lost_race |= report.lost_race;
        facts.ok_though_down |= ok && self.was_notified_down;
        facts.used_again |= tag.generation.wrapping_sub(self.first) > 1;
        facts.deadline |= report.status.evidence.is_some_and(|(cause, _)| cause == Cause::Deadline);
        facts.refused |= report.status.evidence.is_some_and(|(cause, _)| cause == Cause::Refused);
    }

    /// What the counters tell of the run.
    pub fn tell(&self, facts: &mut Facts) {
        let thread = self.driver.counters();
        let irq = self.interrupt.counters();
        let any = |counter| thread.value(counter) + irq.value(counter) > 0;
        facts.asserted |= any(Counter::Asserted);
        facts.stale_completion |= any(Counter::StaleCompletion);
        facts.wrong_incarnation |= any(Counter::WrongIncarnation);
        facts.early |= any(Counter::Early);
        facts.duplicate |= any(Counter::Duplicate);
        facts.stale_answer |= any(Counter::StaleAnswer);
        facts.final_waited |= any(Counter::FinalsWaited);
        facts.resync |= any(Counter::Resyncs);
        facts.late_decision |= any(Counter::DecisionLate);
        facts.drain_bound |= any(Counter::DrainBoundHit);
        facts.waited |= any(Counter::Waited);
        facts.cancelled |= any(Counter::Cancels);
        facts.cancel_heard |= any(Counter::CancelsHeard);
    }
}
