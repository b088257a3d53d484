// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Receiving: frames, requests of peers with their numbers, and the ends of everything that drivers
//! do for us.

use lnd_core::driver::{Inbound, Receive, RecvError, Reply, Report, RequestKind, RxRequest};
use lnd_core::id::{Incarnation, Nid};
use lnd_core::message::NakReason;
use lnd_core::time::Instant;
use lnd_core::transfer::{Cause, Place, Policy, Status};
use lnd_health::node::End;
use lnd_health::{Stamp, WindowCheck};
use lnd_shortmsg::dispatch::Sender;
use lnd_shortmsg::wire::Frame;

use super::envelope::Envelope;
use super::health_view::Route;
use super::host::{Around, HostIncarnation, Taking, Work};
use super::oracle::{Defect, Oracle};
use super::rail::the_link;
use crate::fabric::{nid_of, node_of, Lease};
use crate::lnet::{Body, Decision, LnetHeader};

/// What to do with a request of a peer, before the upper layer hears of it.
enum Arrived {
    /// It is for the upper layer: its sender and stamp, to be told of when it is there.
    New(Option<(u32, Stamp)>),
    /// It was here before.
    Second,
    /// The first copy is coming in, its number is too old, or it is for another incarnation.
    NotNow,
}

impl HostIncarnation<'_> {
    /// A frame has come in by an interface, from interface `from`. `false`: there is no room for it
    /// now.
    pub(super) fn on_frame(
        &mut self,
        now: Instant,
        ni: usize,
        from: u32,
        frame: &[u8],
        oracle: &mut Oracle,
    ) -> bool {
        let Some(rail) = self.rails.get_mut(ni) else { return true };
        let parsed = rail.receiver.receive_from(Sender::Known(nid_of(from)), frame);
        if let Ok(Frame::Control(envelope, _) | Frame::Lnd(envelope, _)) = &parsed {
            self.incarnation_shown(envelope.from, envelope.from_incarnation);
        }
        let Some(rail) = self.rails.get_mut(ni) else { return true };
        let rx_request = match parsed {
            Err(_) => return true,
            Ok(Frame::Control(envelope, ready)) => {
                rail.driver.on_pull_ready(now, the_link(), &envelope, &ready);
                return true;
            }
            Ok(Frame::Lnd(envelope, message)) => {
                match rail.driver.on_message(now, the_link(), &envelope, &message) {
                    Inbound::Handled => return true,
                    Inbound::Wait => return false,
                    Inbound::Request(arrival) => arrival.keep(),
                }
            }
        };
        self.on_rx_request(now, ni, rx_request, oracle);
        true
    }

    /// A frame shows in which incarnation its sender is: all interfaces of a node begin an
    /// incarnation together, and count their incarnations in the lower half of its name.
    fn incarnation_shown(&mut self, from: Nid, incarnation: Incarnation) {
        let spec = node_of(from).and_then(|number| self.specs.get(number as usize));
        if let Some(spec) = spec {
            self.health_view.incarnation_shown(spec.host, incarnation.raw() as u32);
        }
    }

    /// Something has come from a peer's interface: it lives (R48).
    fn heard(&mut self, now: Instant, ni: usize, from: Nid) {
        if let Some(number) = node_of(from) {
            self.health_view.heard(now, ni, number);
        }
    }

    fn on_rx_request(
        &mut self,
        now: Instant,
        ni: usize,
        rx_request: RxRequest<'_>,
        oracle: &mut Oracle,
    ) {
        let Some((header, envelope)) = Envelope::unwrap(rx_request.header) else {
            self.refuse(now, ni, rx_request, NakReason::BadRequest);
            return;
        };
        if !envelope.pong {
            // The answer to a ping is the ping's own affair.
            self.heard(now, ni, rx_request.from);
        }
        if envelope.ping || envelope.pong {
            self.on_ping(now, ni, &envelope, rx_request.from);
            self.nothing(now, ni, rx_request);
            return;
        }
        let get = LnetHeader::decode(header).is_ok_and(|h| matches!(h.body, Body::Get { .. }));
        match self.arrived(&envelope, get) {
            Arrived::NotNow => self.refuse(now, ni, rx_request, NakReason::NoResources),
            Arrived::Second => {
                self.counts.second_copies += 1;
                oracle.suppressed += 1;
                self.nothing(now, ni, rx_request);
            }
            Arrived::New(number) => {
                self.note_way_back(ni, &rx_request, header, envelope.host);
                self.ask(now, ni, rx_request, header, &envelope, number);
            }
        }
    }

    /// Looks at a request's number (R45). A GET may be answered twice: its requester takes one.
    fn arrived(&mut self, envelope: &Envelope, get: bool) -> Arrived {
        let Some(stamp) = envelope.stamp.filter(|_| !get) else { return Arrived::New(None) };
        if self.defect == Some(Defect::NoNumbers) {
            return Arrived::New(None);
        }
        match self.health_view.arrived(envelope.host, stamp) {
            WindowCheck::First => Arrived::New(Some((envelope.host, stamp))),
            WindowCheck::Second => Arrived::Second,
            WindowCheck::Coming => {
                self.counts.second_copies += 1;
                Arrived::NotNow
            }
            WindowCheck::Outside | WindowCheck::Stale => Arrived::NotNow,
        }
    }

    /// Answers go back where their request came from.
    fn note_way_back(&mut self, ni: usize, rx_request: &RxRequest<'_>, header: &[u8], hop: u32) {
        let Ok(header) = LnetHeader::decode(header) else { return };
        let request = match header.body {
            Body::Put { ack: Some(request), .. } | Body::Get { request, .. } => request,
            _ => return,
        };
        let (Some(source), Some(number)) = (node_of(header.source), node_of(rx_request.from))
        else {
            return;
        };
        if hop == source {
            self.health_view.note_way_back(source, request, Route { local: ni, hop: number });
        }
    }

    fn refuse(&mut self, now: Instant, ni: usize, rx_request: RxRequest<'_>, why: NakReason) {
        if let Some(rail) = self.rails.get_mut(ni) {
            rail.driver.nak(now, rx_request, why);
        }
    }

    /// Takes or gives nothing, and all is well: a ping is answered, a second copy dropped.
    fn nothing(&mut self, now: Instant, ni: usize, rx_request: RxRequest<'_>) {
        let user = self.new_work(Work::Nothing);
        let deadline = now.after(self.timeout);
        let Some(rail) = self.rails.get_mut(ni) else { return };
        let done = match rx_request.kind() {
            RequestKind::Get => rail.driver.reply(
                now,
                rx_request,
                &Reply { source: &[], length: 0, deadline, user },
            ),
            _ => {
                rail.driver.recv(now, rx_request, &Receive { sink: &[], length: 0, deadline, user })
            }
        };
        if let Err(error) = done {
            self.work.remove(&user);
            if let RecvError::Refused(rx_request, _) = error {
                self.refuse(now, ni, rx_request, NakReason::NoResources);
            }
        }
    }

    /// Asks the upper layer about a request and does what it says.
    fn ask(
        &mut self,
        now: Instant,
        ni: usize,
        rx_request: RxRequest<'_>,
        header: &[u8],
        envelope: &Envelope,
        number: Option<(u32, Stamp)>,
    ) {
        let rdma = rx_request.kind() == RequestKind::Get;
        // The upper layer knows nodes by their primary NIDs.
        let from = nid_of(envelope.host);
        let deadline = now.after(self.timeout);
        let own = self.lnet.nid();
        let answers = match LnetHeader::decode(header).ok().filter(|h| h.destination == own) {
            Some(LnetHeader {
                body: Body::Ack { request, .. } | Body::Reply { request, .. },
                ..
            }) => Some(request),
            _ => None,
        };
        let serial = envelope.serial;
        let (id, user, outcome) = match self.lnet.on_request(from, header, rx_request.length, rdma)
        {
            Decision::Refuse(why) => {
                number.into_iter().for_each(|key| self.health_view.received(key, false));
                self.refuse(now, ni, rx_request, why);
                return;
            }
            Decision::Recv { id, sink, length } => {
                let user = self.new_work(Work::Receive(Taking { id, number, serial, answers }));
                self.lend(user, &sink, Lease::Write);
                let Some(rail) = self.rails.get_mut(ni) else { return };
                let it = Receive { sink: &sink, length, deadline, user };
                (id, user, rail.driver.recv(now, rx_request, &it))
            }
            Decision::Reply { id, source, length } => {
                let user = self.new_work(Work::Receive(Taking { id, number, serial, answers }));
                self.lend(user, &source, Lease::Read);
                let Some(rail) = self.rails.get_mut(ni) else { return };
                let it = Reply { source: &source, length, deadline, user };
                (id, user, rail.driver.reply(now, rx_request, &it))
            }
        };
        match outcome {
            Ok(_) => self.stats.accepted += 1,
            Err(error) => {
                self.take_back(user);
                self.work.remove(&user);
                number.into_iter().for_each(|key| self.health_view.received(key, false));
                if let RecvError::Refused(rx_request, why) = error {
                    *self.stats.refused.entry(format!("{why:?}")).or_default() += 1;
                    self.refuse(now, ni, rx_request, NakReason::NoResources);
                }
                self.finalize(id, Status::of(Policy::Seed, Cause::Local, Place::Queue), None);
            }
        }
    }

    fn finalize(&mut self, id: u64, status: Status, reply: Option<u32>) {
        if let Err(violation) = self.lnet.on_finalized(id, status, reply) {
            self.stats.violations.push(format!("finalize: {violation}"));
        }
    }

    /// Hears the ends of everything that the drivers have done.
    pub(super) fn report_all(&mut self, around: &mut Around<'_>) {
        let now = around.now;
        for ni in 0..self.rails.len() {
            while let Some(report) = self.rails.get_mut(ni).and_then(|r| r.driver.next_report(now))
            {
                let Report { user, role, status, bytes, reply, lost_race, .. } = report;
                self.stats.note(role, &status, bytes, lost_race);
                self.work_ended(around, user, status, reply.then_some(bytes));
            }
        }
    }

    /// A driver has done its work.
    pub(super) fn work_ended(
        &mut self,
        around: &mut Around<'_>,
        user: u64,
        status: Status,
        reply: Option<u32>,
    ) {
        self.take_back(user);
        match self.work.remove(&user) {
            Some(work) => self.work_done(around, work, status, reply),
            None => self.stats.violations.push(format!("work {user} ended twice")),
        }
    }

    fn work_done(
        &mut self,
        around: &mut Around<'_>,
        work: Work,
        status: Status,
        reply: Option<u32>,
    ) {
        match work {
            Work::Nothing => {}
            // One that has left waits for its answer; one that has not is over.
            Work::Ping(name) if status.errno != 0 => {
                if let Some((ping, _)) = self.pings.remove(&name) {
                    self.health_view.pinged(around.now, ping, End::of(&status));
                }
            }
            Work::Ping(_) => {}
            Work::Send(id, shown) => {
                let Some(message) = self.messages.remove(&id) else { return };
                if let (Some(_), Some(path)) = (reply, message.attempts.last_path()) {
                    self.health_view.health.received(around.now, path.hop, Some(path.local));
                }
                let (status, reply) = match shown.filter(|_| status.errno == 0) {
                    Some(class) => (class.status(), None),
                    None => (status, reply),
                };
                self.end_try(around, message, status, reply);
            }
            Work::Receive(it) => {
                if let Some(key) = it.number {
                    self.health_view.received(key, status.errno == 0);
                }
                if status.errno == 0 {
                    around.oracle.deliver(it.serial);
                    it.answers.into_iter().for_each(|request| self.answered(request));
                }
                self.finalize(it.id, status, reply);
            }
        }
    }
}
