// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The driver's final word on a message, exactly once, and what follows from it.

use lnd_core::transfer::{Delivery as Known, HealthClass, Status};

use super::events::{AckDue, DropReason, Event, SendEnd, Violation};
use super::layer::{AckPolicy, Lnet};
use super::receive::{Delivery, Receive, ReceiveRole, Service, Transit};
use super::requests::{Answer, Asked, RequestHandle};
use super::send::{SendEntry, SendRole};

impl Lnet {
    /// The driver is done with the message `id`, its memory included.
    ///
    /// `reply` is given with an optimised GET and only there: the one end then stands for the GET
    /// and for its REPLY, and the status is that of both (R8). It is the number of bytes that came.
    ///
    /// # Errors
    /// The driver has broken a rule; nothing has changed but a counter.
    pub fn on_finalized(
        &mut self,
        id: u64,
        status: Status,
        reply: Option<u32>,
    ) -> Result<(), Violation> {
        if let Err(violation) = self.check_final(id, &status, reply) {
            self.ledger.violations += 1;
            return Err(violation);
        }
        if let Some(receive) = self.receives.remove(&id) {
            self.end_receive(receive, status);
        } else {
            self.end_send(id, SendEnd::Finalized(status), reply);
        }
        Ok(())
    }

    fn check_final(&self, id: u64, status: &Status, reply: Option<u32>) -> Result<(), Violation> {
        let role = self.sends.get(&id).map(|entry| (&entry.role, &entry.packet));
        if role.is_none() && !self.receives.contains_key(&id) {
            return Err(self.unknown(id));
        }
        if self.queue.contains(&id) {
            return Err(Violation::NotHandedOver(id));
        }
        // INV-4: three ways to say the same.
        let ok = status.errno == 0;
        let healthy = status.health == HealthClass::Ok;
        let delivered = matches!(status.delivery, Known::Delivered | Known::Sent);
        if status.errno > 0 || ok != healthy || ok != delivered {
            return Err(Violation::StatusDisagrees(id));
        }
        let Some(bytes) = reply else { return Ok(()) };
        let request = match role {
            Some((SendRole::Request(handle), packet)) if !packet.routed => {
                self.requests.get(handle.0)
            }
            _ => None,
        };
        match request {
            Some(request) if matches!(request.asked, Asked::Get(_)) => {
                if bytes > request.length {
                    Err(Violation::ReplyTooLong(id))
                } else if matches!(request.answer, Answer::Coming | Answer::Came) {
                    Err(Violation::RepliedTwice(id))
                } else {
                    Ok(())
                }
            }
            _ => Err(Violation::UnexpectedReply(id)),
        }
    }

    /// Ends a message that was to be sent. It is not in the queue any more.
    pub(super) fn end_send(&mut self, id: u64, end: SendEnd, reply: Option<u32>) {
        let Some(SendEntry { packet, role }) = self.sends.remove(&id) else { return };
        let account = match end {
            SendEnd::Finalized(_) if end.is_ok() => &mut self.ledger.sent,
            SendEnd::Finalized(_) => &mut self.ledger.send_failed,
            SendEnd::Refused => &mut self.ledger.send_refused,
            SendEnd::Cancelled => &mut self.ledger.send_cancelled,
        };
        *account += 1;
        match role {
            SendRole::Request(handle) => self.end_request_send(handle, end, reply),
            SendRole::Reply(service) => self.end_service(service, end),
            SendRole::Ack | SendRole::Forward(_) => {
                if let (SendRole::Forward(room), Some(pool)) = (role, &mut self.pool) {
                    pool.give_back(room);
                }
                if !end.is_ok() {
                    self.drop_message(DropReason::SendFailed, packet.next_hop);
                }
            }
        }
    }

    fn end_request_send(&mut self, request: RequestHandle, end: SendEnd, reply: Option<u32>) {
        let Some(entry) = self.requests.get_mut(request.0) else { return };
        entry.sending = None;
        let (user, waited) = (entry.user, entry.answer == Answer::Wanted);
        if waited && (reply.is_some() || !end.is_ok()) {
            entry.answer = if reply.is_some() { Answer::Came } else { Answer::GivenUp };
        }
        self.emit(Event::SendDone { request, user, end });
        if let (Some(length), SendEnd::Finalized(status)) = (reply, end) {
            if waited {
                self.emit(Event::Reply { request, user, length, status });
            } else {
                self.ledger.late_replies += 1;
            }
        }
        self.settle(request);
    }

    fn end_service(&mut self, service: Service, end: SendEnd) {
        let Service { matched, from, target, .. } = service;
        self.emit(Event::GetServed {
            me: matched.me,
            user: matched.user,
            from,
            match_bits: target.match_bits,
            data: target.data,
            offset: matched.offset,
            length: matched.length,
            end,
        });
        self.release_entry(matched.me);
    }

    fn end_receive(&mut self, receive: Receive, status: Status) {
        let ok = status.errno == 0;
        let account = if ok { &mut self.ledger.received } else { &mut self.ledger.receive_failed };
        *account += 1;
        let hop = receive.from_hop;
        match receive.role {
            ReceiveRole::Put(delivery) => self.end_delivery(delivery, status),
            ReceiveRole::Serve(service) => self.end_service(service, SendEnd::Finalized(status)),
            ReceiveRole::Get(service, back) if ok => self.queue_reply(service, back),
            ReceiveRole::Get(service, _) => self.end_service(service, SendEnd::Finalized(status)),
            ReceiveRole::Ack(request, length) => {
                if !ok {
                    self.drop_message(DropReason::ReceiveFailed, hop);
                    self.ledger.expired += 1;
                }
                self.end_answer(request, |user| match ok {
                    true => Event::Ack { request, user, length },
                    false => Event::Expired { request, user },
                });
            }
            ReceiveRole::Reply(request, length) => {
                self.end_answer(request, |user| Event::Reply { request, user, length, status });
            }
            ReceiveRole::Transit(Transit { header, next_hop, room }) => {
                let Some(pool) = &mut self.pool else { return };
                if ok {
                    let payload = pool.memory(room, header.body.payload());
                    self.queue_send(header, next_hop, payload, SendRole::Forward(room));
                } else {
                    pool.give_back(room);
                    self.drop_message(DropReason::ReceiveFailed, hop);
                }
            }
        }
    }

    fn end_delivery(&mut self, delivery: Delivery, status: Status) {
        let Delivery { matched, from, target, sent, ack } = delivery;
        let wanted = ack.filter(|_| status.errno == 0);
        let due = wanted.map(|request| AckDue { to: from, request, length: matched.length });
        let (now, later) = match self.acks {
            AckPolicy::ByEvent => (None, due),
            AckPolicy::Auto => (due, None),
        };
        self.emit(Event::PutReceived {
            me: matched.me,
            user: matched.user,
            from,
            match_bits: target.match_bits,
            data: target.data,
            offset: matched.offset,
            length: matched.length,
            sent,
            status,
            ack: later,
        });
        if let Some(due) = now {
            match self.routes.next_hop(from) {
                Some(next_hop) => self.queue_ack(&due, next_hop),
                None => self.drop_message(DropReason::NoRoute, from),
            }
        }
        self.release_entry(matched.me);
    }

    fn end_answer(&mut self, request: RequestHandle, event: impl FnOnce(u64) -> Event) {
        let Some(entry) = self.requests.get_mut(request.0) else { return };
        entry.answer = Answer::Came;
        let user = entry.user;
        self.emit(event(user));
        self.settle(request);
    }
}
