// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What an LND's thin outer layer does: carries messages, decisions and reports between the upper
//! layer and the driver, and tells the memory oracle what is lent to whom.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use lnd_core::config::{Config, ConfigError};
use lnd_core::driver::{
    Driver, Identity, Inbound, Kind, Receive, RecvError, Reply, Report, Request, RequestKind, Role,
    RxRequest, Submitted, Why,
};
use lnd_core::fragment::Fragment;
use lnd_core::id::{LinkId, Nid};
use lnd_core::message::{Message, NakReason};
use lnd_core::ports::{Channel, Completion, Ports, Tracer};
use lnd_core::time::{Instant, Span};
use lnd_core::transfer::{Cause, Place, Policy, Status};
use lnd_dma::driver::{ConnectingEngine, MmioEngine};
use lnd_shortmsg::dispatch::{Receiver, Sender};
use lnd_shortmsg::wire::{Checksum, Frame};

use super::delivery::Tracking;
use super::inline::{receive_inline, Whole};
use super::kept::{Keeping, Kept};
use super::loans::Loans;
use super::registers::Registers;
use super::stats::Stats;
use super::Arena;
use crate::fabric::{nid_of, node_of, Fabric, Lease, MemoryWindow, NodeNumbers};
use crate::lnet::{self, Decision, Lnet};

/// The ports of a node on a fabric.
#[derive(Debug)]
pub struct NodePorts<'m, C, T>(core::marker::PhantomData<(&'m (), C, T)>);

impl<'m, C: Channel, T: Tracer> Ports for NodePorts<'m, C, T> {
    type Engine = ConnectingEngine<'m, Registers<'m>, NodeNumbers>;
    type Channel = C;
    type Memory = MemoryWindow<'m>;
    type Tracer = T;
}

/// What a node is made of.
#[derive(Debug)]
pub struct Parts<C, T> {
    /// Its number in the fabric.
    pub node: u32,
    /// Who it is.
    pub me: Identity,
    /// Sizes and times.
    pub config: Config,
    /// The short-message channel.
    pub channel: C,
    /// Where its trace goes.
    pub tracer: T,
    /// The upper layer.
    pub lnet: Lnet,
    /// Time that a message has, over all its waits.
    pub timeout: Span,
}

/// A node.
pub struct Node<'m, C: Channel, T: Tracer> {
    /// The driver.
    pub driver: Driver<'m, NodePorts<'m, C, T>>,
    /// The upper layer.
    pub lnet: Lnet,
    pub(super) node: u32,
    pub(super) loans: Loans<'m>,
    receiver: Receiver,
    timeout: Span,
    /// How transfers ended.
    pub stats: Stats,
    /// A defect: every frame is taken to come from whom it says.
    pub trusting: bool,
    /// Follows every message from end to end.
    pub tracking: Option<Tracking>,
    /// Whether, and for how long, requests are kept before they are decided.
    pub keeping: Option<Keeping>,
    /// A request was offered since this was looked at.
    pub asked: bool,
    /// Whether the registers of each link read all ones.
    pub blank: Vec<Rc<Cell<bool>>>,
    pub(super) kept: Vec<Kept>,
    pub(super) window: MemoryWindow<'m>,
    /// The oracle's numbers of messages that have not ended, by id.
    pub(super) tracked: BTreeMap<u64, usize>,
}

impl<'m, C: Channel, T: Tracer> Node<'m, C, T> {
    /// Builds a node that has joined `fabric`.
    ///
    /// # Errors
    /// The configuration cannot be.
    pub fn new(
        arena: &'m Arena,
        fabric: &'m Fabric<'m>,
        parts: Parts<C, T>,
    ) -> Result<Self, ConfigError> {
        let memory = arena.block(parts.config.bytes_needed());
        let (mut engines, mut blank) = (Vec::new(), Vec::new());
        for link in (0..parts.config.links as usize).filter_map(LinkId::new) {
            let memory = fabric.link_memory(parts.node, link).map_err(|_| ConfigError::Engines)?;
            let is_blank = Rc::new(Cell::new(false));
            let registers = Registers::new(memory, is_blank.clone());
            blank.push(is_blank);
            let engine = MmioEngine::new(link, registers, memory, NodeNumbers);
            engines.push(ConnectingEngine::new(engine));
        }
        let window = MemoryWindow::new(fabric, parts.node);
        let driver = Driver::create(
            memory,
            parts.config,
            parts.me,
            engines,
            parts.channel,
            window,
            parts.tracer,
        )?;
        Ok(Self {
            driver,
            lnet: parts.lnet,
            node: parts.node,
            loans: Loans::new(fabric.oracle(), parts.node),
            receiver: Receiver::new(Checksum::On),
            timeout: parts.timeout,
            stats: Stats::default(),
            trusting: false,
            tracking: None,
            keeping: None,
            asked: false,
            blank,
            kept: Vec::new(),
            window,
            tracked: BTreeMap::new(),
        })
    }

    /// The frames' dispatcher, with its counters.
    pub const fn receiver(&self) -> &Receiver {
        &self.receiver
    }

    /// The time that a message has, over all its waits.
    pub const fn timeout(&self) -> Span {
        self.timeout
    }

    /// Gives messages that are sent from now on another time.
    pub fn set_timeout(&mut self, timeout: Span) {
        self.timeout = timeout;
    }

    /// Transfers of which the upper layer still waits for the end.
    pub fn outstanding(&self) -> usize {
        self.loans.len()
    }

    /// Whether these bytes are lent, for a transfer with `peer`.
    pub fn lends_to(&self, peer: Nid, address: u64, length: u32) -> bool {
        self.loans.to(peer, address, length)
    }

    /// Whether nothing is under way but with `peer`.
    pub fn rests_but_for(&self, peer: Nid) -> bool {
        let slots = self.driver.config().slots;
        let transfers = (0..slots).filter_map(|slot| self.driver.transfer_view(slot));
        transfers.into_iter().all(|transfer| transfer.peer == Some(peer))
            && self.loans.only_to(peer)
            && self.lnet.blockers().iter().all(|blocker| blocker.with() == peer)
    }

    fn lend(&mut self, id: u64, peer: Nid, fragments: &[Fragment], lease: Lease) {
        self.stats.violations.extend(self.loans.lend(id, peer, fragments, lease));
    }

    fn take_back(&mut self, id: u64) {
        self.stats.violations.extend(self.loans.take_back(id));
    }

    /// Gives the driver what the upper layer wants to send. Returns how much was accepted.
    pub fn send_all(&mut self, now: Instant) -> u32 {
        let mut accepted = 0;
        while let Some(out) = self.lnet.next_send() {
            let (kind, lease) = match out.kind {
                lnet::Kind::Put => (Kind::Put, Lease::Read),
                lnet::Kind::Ack => (Kind::Ack, Lease::Read),
                lnet::Kind::Get => (Kind::Get, Lease::Write),
                lnet::Kind::Reply => (Kind::Reply, Lease::Read),
            };
            self.lend(out.id, out.next_hop, &out.payload, lease);
            let deadline = now.after(self.timeout);
            let length = out.payload.iter().map(|f| f.length).sum();
            let tracked = self.track_submit(&out, deadline);
            let request = Request {
                kind,
                peer: out.next_hop.into(),
                link: None,
                routed: out.routed || out.via_router,
                header: &out.header,
                payload: &out.payload,
                deadline,
                user: out.id,
            };
            match self.driver.submit(now, request) {
                Ok(Submitted::Done(status)) => {
                    self.stats.accepted += 1;
                    accepted += 1;
                    if let Some(at) = tracked {
                        self.tracked.insert(out.id, at);
                    }
                    let length = if out.kind == lnet::Kind::Get { 0 } else { length };
                    self.ended(out.id, Role::Immediate, (status, length), None);
                }
                Ok(Submitted::Pending(tag)) => {
                    self.stats.accepted += 1;
                    accepted += 1;
                    if let (Some(oracle), Some(at)) = (&self.tracking, tracked) {
                        oracle.borrow_mut().accepted(at, tag);
                        self.tracked.insert(out.id, at);
                    }
                }
                Err(refused) => {
                    self.take_back(out.id);
                    if let (Some(oracle), Some(at)) = (&self.tracking, tracked) {
                        oracle.borrow_mut().refused(at);
                    }
                    if self.put_back(out.id, refused.why) {
                        break;
                    }
                }
            }
        }
        accepted
    }

    /// A refused message: waits in the upper layer if a resource was missing, else has failed.
    /// Returns whether to stop sending for now.
    fn put_back(&mut self, id: u64, why: Why) -> bool {
        let wait = matches!(why, Why::NoSlots | Why::NoLists);
        let done = if wait {
            self.lnet.requeue(id)
        } else {
            *self.stats.refused.entry(format!("{why:?}")).or_default() += 1;
            self.lnet.send_refused(id)
        };
        if let Err(violation) = done {
            self.stats.violations.push(format!("giving message {id} back: {violation}"));
        }
        wait
    }

    /// A frame has come in by `link`, in the mailbox of node `from`. `false`: there is no room for
    /// it now, offer it again.
    pub fn on_frame(&mut self, now: Instant, link: LinkId, from: u32, frame: &[u8]) -> bool {
        let sender = if self.trusting { Sender::Unknown } else { Sender::Known(nid_of(from)) };
        match self.receiver.receive_from(sender, frame) {
            Err(_) => true,
            Ok(Frame::Control(envelope, ready)) => {
                self.driver.on_pull_ready(now, link, &envelope, &ready);
                true
            }
            Ok(Frame::Lnd(envelope, Message::Immediate { header, payload }))
                if self.on_next(now, link, &envelope, (header, payload)) =>
            {
                true
            }
            Ok(Frame::Lnd(envelope, message)) => {
                match self.driver.on_message(now, link, &envelope, &message) {
                    Inbound::Handled => true,
                    Inbound::Wait => false,
                    Inbound::Request(arrival) => {
                        self.asked = true;
                        let tracked = self.tracking.as_ref().and_then(|oracle| {
                            let from = node_of(arrival.from())?;
                            oracle.borrow_mut().seen(from, self.node, arrival.header())
                        });
                        let kept = self.keeping.as_mut().and_then(|keeping| keeping.until(now));
                        if let Some(due) = kept {
                            let rx_request = arrival.keep();
                            self.keep(due, rx_request, tracked);
                        } else if arrival.kind() == RequestKind::Immediate {
                            let deadline = now.after(self.timeout);
                            let inline = receive_inline(
                                Whole::Any(arrival),
                                deadline,
                                &mut self.lnet,
                                &mut self.loans,
                                &mut self.stats,
                            );
                            self.received_inline(inline, tracked);
                        } else {
                            let rx_request = arrival.keep();
                            let header = rx_request.header;
                            self.decide(now, rx_request, header, None, tracked);
                        }
                        true
                    }
                }
            }
        }
    }

    fn track_submit(&self, out: &lnet::Outgoing, deadline: Instant) -> Option<usize> {
        let to = node_of(out.next_hop)?;
        let mut oracle = self.tracking.as_ref()?.borrow_mut();
        let at = oracle.submit(self.node, to, &out.header, deadline);
        if out.kind == lnet::Kind::Get && !out.routed {
            oracle.asks(at);
        }
        Some(at)
    }

    /// Asks the upper layer about a peer's request (`lnet_parse`) and does what it says. `copied`:
    /// the payload of an inline message whose frame is gone.
    pub(super) fn decide(
        &mut self,
        now: Instant,
        rx_request: RxRequest<'_>,
        header: &[u8],
        copied: Option<&[u8]>,
        tracked: Option<usize>,
    ) {
        let rdma = rx_request.kind() == RequestKind::Get;
        let from = rx_request.from;
        let decision = self.lnet.on_request(rx_request.from, header, rx_request.length, rdma);
        let deadline = now.after(self.timeout);
        let (id, outcome) = match decision {
            Decision::Refuse(why) => {
                self.driver.nak(now, rx_request, why);
                return;
            }
            Decision::Recv { id, sink, length } => {
                self.lend(id, from, &sink, Lease::Write);
                let length = match copied {
                    Some(payload) => self.copy_in(&sink, payload, length),
                    None => length,
                };
                let it = Receive { sink: &sink, length, deadline, user: id };
                (id, self.driver.recv(now, rx_request, &it))
            }
            Decision::Reply { id, source, length } => {
                self.lend(id, from, &source, Lease::Read);
                let it = Reply { source: &source, length, deadline, user: id };
                (id, self.driver.reply(now, rx_request, &it))
            }
        };
        match outcome {
            Ok(tag) => {
                self.stats.accepted += 1;
                match (&self.tracking, tracked) {
                    (Some(oracle), _) if rdma => {
                        oracle.borrow_mut().staged(self.node, tag, deadline);
                    }
                    (Some(_), Some(at)) => {
                        self.tracked.insert(id, at);
                    }
                    _ => {}
                }
            }
            Err(error) => {
                self.take_back(id);
                if let RecvError::Refused(rx_request, why) = error {
                    *self.stats.refused.entry(format!("{why:?}")).or_default() += 1;
                    self.driver.nak(now, rx_request, NakReason::NoResources);
                }
                let status = Status::of(Policy::Seed, Cause::Local, Place::Queue);
                self.finalize(id, status, None);
            }
        }
    }

    fn finalize(&mut self, id: u64, status: Status, reply: Option<u32>) {
        if let Err(violation) = self.lnet.on_finalized(id, status, reply) {
            self.stats.violations.push(format!("finalize: {violation}"));
        }
    }

    /// What has ended without a slot: the same as a report.
    pub(super) fn ended(
        &mut self,
        id: u64,
        role: Role,
        (status, length): (Status, u32),
        reply: Option<u32>,
    ) {
        let bytes = if status.errno == 0 { length } else { 0 };
        self.stats.note(role, &status, bytes, false);
        self.take_back(id);
        self.track_end(id, role, status);
        self.finalize(id, status, reply);
    }

    fn track_end(&mut self, id: u64, role: Role, status: Status) {
        let Some(at) = self.tracked.remove(&id) else { return };
        let Some(oracle) = &self.tracking else { return };
        let receives = matches!(role, Role::InlineSink | Role::PutSink);
        if receives {
            oracle.borrow_mut().received(at, status.errno == 0);
        } else {
            oracle.borrow_mut().ended(at, status);
        }
    }

    /// Applies what an engine has given back, and reports the transfer if that has ended it. For a
    /// node whose own thread takes completions (decision 0034).
    pub fn complete(&mut self, now: Instant, link: LinkId, completion: Completion) {
        if let Some(report) = self.driver.complete_of(now, link, completion) {
            self.reported(&report);
        }
    }

    /// Reports everything that has ended to the upper layer. Returns how much that was.
    pub fn report_all(&mut self, now: Instant) -> u32 {
        let mut reported = 0;
        while let Some(report) = self.driver.next_report(now) {
            reported += 1;
            self.reported(&report);
        }
        reported
    }

    fn reported(&mut self, report: &Report) {
        self.stats.note(report.role, &report.status, report.bytes, report.lost_race);
        self.take_back(report.user);
        let reply = report.reply.then_some(report.bytes);
        self.track_end(report.user, report.role, report.status);
        self.finalize(report.user, report.status, reply);
    }
}
