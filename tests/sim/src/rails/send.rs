// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Sending: from the upper layer's message through as many tries as it takes to its one end.

use lnd_core::driver::{Kind, Request, Role, Submitted, Why};
use lnd_core::id::Tag;
use lnd_core::time::{Instant, Span};
use lnd_core::transfer::{Delivery, HealthClass, Status};
use lnd_health::attempts::Attempts;
use lnd_health::node::{Ended, Next, WhyEnded};
use lnd_health::select::NoPath;
use lnd_health::tracker::{TrackEnd, Tracker, Wants};

use super::envelope::Envelope;
use super::health_view::Chosen;
use super::host::{Around, HostIncarnation, Work};
use super::oracle::Defect;
use super::rules::{Class, Hit, Seen, Type};
use crate::fabric::{nid_of, node_of, Lease};
use crate::lnet::{self, Body, LnetHeader, Outgoing};

/// A message that has not ended.
#[derive(Debug)]
pub(super) struct Message {
    pub out: Outgoing,
    pub attempts: Attempts,
    pub facts: Facts,
}

/// What is known of a message beside its content and its attempts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    /// Its final destination.
    pub to: u32,
    pub serial: u64,
    pub begun: Instant,
    /// A fault rule has put it off already.
    pub delayed: bool,
    pub portal: Option<u32>,
    /// The request that waits for an answer.
    pub request: Option<Tag>,
    /// The last try's end.
    pub last: Option<Status>,
}

/// A request that waits for its answer, end to end (R54).
#[derive(Debug)]
pub(super) struct Tracked {
    pub tracker: Tracker,
    /// The user's number of it.
    pub number: u64,
}

/// No path is left, and nothing was tried.
const NO_PATH: Status = Status {
    errno: -113,
    health: HealthClass::LocalNoRoute,
    delivery: Delivery::NotDelivered,
    resend: false,
    evidence: None,
};

const fn type_of(kind: lnet::Kind) -> Type {
    match kind {
        lnet::Kind::Put => Type::Put,
        lnet::Kind::Ack => Type::Ack,
        lnet::Kind::Get => Type::Get,
        lnet::Kind::Reply => Type::Reply,
    }
}

const fn kind_of(kind: lnet::Kind) -> (Kind, Lease) {
    match kind {
        lnet::Kind::Put => (Kind::Put, Lease::Read),
        lnet::Kind::Ack => (Kind::Ack, Lease::Read),
        lnet::Kind::Get => (Kind::Get, Lease::Write),
        lnet::Kind::Reply => (Kind::Reply, Lease::Read),
    }
}

impl HostIncarnation<'_> {
    /// Everything that can be sent now.
    pub(super) fn send_all(&mut self, around: &mut Around<'_>) {
        while let Some(&(at, id)) = self.delayed.first().filter(|(at, _)| *at <= around.now) {
            self.delayed.remove(&(at, id));
            self.again.push_back(id);
        }
        while let Some(out) = self.lnet.next_send() {
            self.accept(around, out);
        }
        for _ in 0..self.again.len() {
            let Some(id) = self.again.pop_front() else { break };
            self.attempt(around, id);
        }
    }

    /// Begins a message's attempts.
    fn accept(&mut self, around: &mut Around<'_>, out: Outgoing) {
        let now = around.now;
        let Ok(header) = LnetHeader::decode(&out.header) else { return };
        let to = node_of(header.destination).unwrap_or(u32::MAX);
        let (id, deadline) = (out.id, now.after(self.timeout));
        self.counts.messages += 1;
        let serial = around.oracle.begin(self.host, deadline, out.kind == lnet::Kind::Get);
        let own = header.source == self.lnet.nid();
        let (portal, request) = match header.body {
            Body::Put { target, ack, .. } => {
                (Some(target.portal), ack.map(|tag| (tag, target.data, Wants::Ack)))
            }
            Body::Get { target, request, .. } => {
                (Some(target.portal), Some((request, target.data, Wants::Reply)))
            }
            Body::Ack { .. } | Body::Reply { .. } => (None, None),
        };
        let back = match header.body {
            Body::Ack { request, .. } | Body::Reply { request, .. } if own => {
                self.health_view.way_back(to, request)
            }
            _ => None,
        };
        let request = request.filter(|&(_, _, wants)| own && self.health_view.tracks(wants));
        if let Some((tag, number, _)) = request {
            self.trackers.insert(tag, Tracked { tracker: Tracker::OFF, number });
        }
        let request = request.map(|(tag, _, _)| tag);
        let Some(attempts) = self.health_view.open(to, id, deadline, back) else {
            around.oracle.end(serial);
            self.tell_end(id, NO_PATH, None);
            return;
        };
        let facts = Facts { to, serial, begun: now, portal, request, delayed: false, last: None };
        self.messages.insert(id, Message { out, attempts, facts });
        self.attempt(around, id);
    }

    /// One try, or the message's end if there is no path left.
    fn attempt(&mut self, around: &mut Around<'_>, id: u64) {
        let now = around.now;
        let Some(Message { out, mut attempts, mut facts }) = self.messages.remove(&id) else {
            return;
        };
        let chosen = match self.health_view.choose(&attempts) {
            Ok(chosen) => chosen,
            Err(why) => {
                let ended = self.health_view.give_up(attempts, why);
                self.finish(around, id, &facts, &ended, None);
                return;
            }
        };
        let hit = self.strike(around, &out, &facts, &chosen);
        if let (Some(Hit::Delayed(span)), false) = (hit, facts.delayed) {
            facts.delayed = true;
            self.delayed.insert((now.after(span), id));
            self.messages.insert(id, Message { out, attempts, facts });
            return;
        }
        let blind = around.defect == Some(Defect::NoDeadline);
        let clock = if blind { attempts.not_before() } else { now };
        let begun = self.health_view.begin(now, clock, &mut attempts, &chosen);
        let Some(until) = begun else {
            // Its time was up before its turn came (LU-16303).
            let ended = self.health_view.give_up(attempts, NoPath::Tried);
            self.finish(around, id, &facts, &ended, None);
            return;
        };
        around.oracle.tried(now, facts.serial, (chosen.route.local as u32, chosen.route.hop));
        self.counts.resends += u64::from(attempts.tries() > 1);
        self.track(now, facts.request, &attempts);
        let message = Message { out, attempts, facts };
        match hit {
            Some(Hit::Lost) => self.end_try(around, message, Status::OK, None),
            Some(Hit::Shown(class, false)) => self.end_try(around, message, class.status(), None),
            Some(Hit::Shown(class, true)) => {
                self.submit(around, message, &chosen, until, Some(class));
            }
            Some(Hit::Delayed(_)) | None => self.submit(around, message, &chosen, until, None),
        }
    }

    fn strike(
        &self,
        around: &mut Around<'_>,
        out: &Outgoing,
        facts: &Facts,
        chosen: &Chosen,
    ) -> Option<Hit> {
        let hop = self.specs.get(chosen.route.hop as usize)?;
        let seen = Seen {
            from: (self.host, chosen.route.local as u32),
            to: (hop.host, hop.ni),
            kind: type_of(out.kind),
            portal: facts.portal,
        };
        around.rules.strike(around.now, seen)
    }

    fn submit(
        &mut self,
        around: &mut Around<'_>,
        message: Message,
        chosen: &Chosen,
        until: Instant,
        shown: Option<Class>,
    ) {
        let id = message.out.id;
        let hop = self.specs.get(chosen.route.hop as usize).map_or(u32::MAX, |s| s.host);
        let envelope = Envelope {
            host: self.host,
            incarnation: self.number,
            stamp: self.health_view.stamp(&message.attempts).filter(|_| hop == message.facts.to),
            ping: false,
            pong: false,
            serial: message.facts.serial,
        };
        let (kind, lease) = kind_of(message.out.kind);
        let work = self.new_work(Work::Send(id, shown));
        self.lend(work, &message.out.payload, lease);
        let header = envelope.wrap(&message.out.header);
        let request = Request {
            kind,
            peer: nid_of(chosen.route.hop).into(),
            link: None,
            routed: message.out.routed || message.out.via_router || hop != message.facts.to,
            header: &header,
            payload: &message.out.payload,
            deadline: until,
            user: work,
        };
        let rail = self.rails.get_mut(chosen.route.local);
        let done = rail.map(|rail| rail.driver.submit(around.now, request).map_err(|r| r.why));
        match done {
            Some(Ok(submitted)) => {
                self.stats.accepted += 1;
                self.messages.insert(id, message);
                if let Submitted::Done(status) = submitted {
                    self.stats.note(Role::Immediate, &status, 0, false);
                    self.work_ended(around, work, status, None);
                }
            }
            Some(Err(why)) => {
                self.take_back(work);
                self.work.remove(&work);
                self.refused(around, message, why);
            }
            None => {}
        }
    }

    /// A send was refused at the call (R46): the same as if it had failed later.
    fn refused(&mut self, around: &mut Around<'_>, message: Message, why: Why) {
        *self.stats.refused.entry(format!("{why:?}")).or_default() += 1;
        let refusal = lnd_health::refusal(why);
        let status = Status { errno: why.errno(), health: refusal.class, ..NO_PATH };
        let next = self.health_view.refused(around.now, message.attempts, refusal);
        self.go_on(around, message.out, message.facts, next, status, None);
    }

    /// A try has ended: by another path again, or the message has ended, too.
    pub(super) fn end_try(
        &mut self,
        around: &mut Around<'_>,
        message: Message,
        status: Status,
        reply: Option<u32>,
    ) {
        let next = self.health_view.ended(around.now, message.attempts, &status);
        self.go_on(around, message.out, message.facts, next, status, reply);
    }

    fn go_on(
        &mut self,
        around: &mut Around<'_>,
        out: Outgoing,
        mut facts: Facts,
        next: Next,
        status: Status,
        reply: Option<u32>,
    ) {
        self.counts.class(status.health);
        facts.last = Some(status);
        let id = out.id;
        match next {
            Next::Ended(_) if status.errno != 0 && self.starts_over(around, &out, &facts) => {}
            Next::Ended(ended) => self.finish(around, id, &facts, &ended, reply),
            Next::Again(attempts) | Next::Later(attempts, _)
                if around.defect == Some(Defect::EarlyEnd) =>
            {
                around.oracle.end(facts.serial);
                self.messages.insert(id, Message { out, attempts, facts });
                self.again.push_back(id);
            }
            Next::Again(attempts) => {
                self.messages.insert(id, Message { out, attempts, facts });
                self.again.push_back(id);
            }
            Next::Later(attempts, at) => {
                self.messages.insert(id, Message { out, attempts, facts });
                self.delayed.insert((at, id));
            }
        }
    }

    /// A host with a defect forgets that a message was tried, or that its time is up.
    fn starts_over(&mut self, around: &Around<'_>, out: &Outgoing, facts: &Facts) -> bool {
        let wait = match around.defect {
            Some(Defect::NoHistory) => Span::default(),
            Some(Defect::NoDeadline) => self.timeout,
            _ => return false,
        };
        let at = around.now.after(wait);
        let Some(attempts) = self.health_view.open(facts.to, out.id, at.after(self.timeout), None)
        else {
            return false;
        };
        self.delayed.insert((at, out.id));
        self.messages.insert(out.id, Message { out: out.clone(), attempts, facts: *facts });
        true
    }

    /// The message's one end.
    fn finish(
        &mut self,
        around: &mut Around<'_>,
        id: u64,
        facts: &Facts,
        ended: &Ended,
        reply: Option<u32>,
    ) {
        let last = facts.last.unwrap_or(NO_PATH);
        let status = Status { delivery: ended.delivery, ..last };
        let (ok, resent) = (status.errno == 0, ended.tries > 1);
        self.counts.failed += u64::from(!ok);
        self.counts.late += u64::from(ended.why == WhyEnded::Deadline);
        self.counts.resent_ok += u64::from(ok && resent);
        self.counts.resent_failed += u64::from(!ok && resent);
        if ok && resent {
            self.counts.recovered_after.0 += 1;
            self.counts.recovered_after.1 += around.now.since(facts.begun).as_nanos();
        }
        // A GET that went as a mere header before may have been answered already.
        let waits = facts.request.is_none_or(|tag| self.trackers.contains_key(&tag));
        let reply = reply.filter(|_| waits);
        if let Some(tag) = facts.request {
            let tracked = self.trackers.get_mut(&tag);
            let over = tracked.and_then(|t| match (ok, reply) {
                (false, _) => Some(t.tracker.send_failed()),
                (true, Some(_)) => Some(t.tracker.answer()),
                (true, None) => None,
            });
            if over.is_some() {
                self.trackers.remove(&tag);
            }
        }
        if around.defect == Some(Defect::LostEnd) && facts.serial % 16 == 7 {
            return;
        }
        around.oracle.end(facts.serial);
        self.tell_end(id, status, reply);
    }

    fn tell_end(&mut self, id: u64, status: Status, reply: Option<u32>) {
        if let Err(violation) = self.lnet.on_finalized(id, status, reply) {
            self.stats.violations.push(format!("finalize: {violation}"));
        }
    }

    /// Starts the wait for an answer, or blames the path of the latest try for its absence.
    fn track(&mut self, now: Instant, request: Option<Tag>, attempts: &Attempts) {
        let (Some(tag), Some(path)) = (request, attempts.last_path()) else { return };
        let timeout = self.timeout;
        if let Some(tracked) = self.trackers.get_mut(&tag) {
            if tracked.tracker == Tracker::OFF {
                tracked.tracker = Tracker::begin(now, timeout, path);
            } else {
                tracked.tracker.resent(path);
            }
        }
    }

    /// Ends requests whose answer is overdue; nothing is sent again (S1-13).
    pub(super) fn expire_answers(&mut self, now: Instant) {
        let due: Vec<(Tag, u64, TrackEnd)> = self
            .trackers
            .iter_mut()
            .filter_map(|(&tag, t)| Some((tag, t.number, t.tracker.expire(now)?)))
            .collect();
        for (tag, number, end) in due {
            self.trackers.remove(&tag);
            self.counts.response_timeouts += 1;
            self.health_view.no_answer(now, number, &end);
            self.user.expire(&mut self.lnet, number);
        }
    }

    /// An answer to one of our requests has come in.
    pub(super) fn answered(&mut self, tag: Tag) {
        if let Some(mut tracked) = self.trackers.remove(&tag) {
            tracked.tracker.answer();
        }
    }
}
