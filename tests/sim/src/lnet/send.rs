// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Everything that goes out: own requests, answers, and what a router passes on.

use std::fmt;

use lnd_core::fragment::{total, Fragment, FragmentError};
use lnd_core::id::Nid;

use super::events::{AckDue, Event, SendEnd, Violation};
use super::header::{Body, Kind, LnetHeader, HEADER_BYTES};
use super::layer::Lnet;
use super::receive::Service;
use super::requests::{Answer, Asked, Expiry, Get, Put, Request, RequestHandle};
use super::router::Room;

/// A message for the driver to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// Names the message to [`Lnet::on_finalized`].
    pub id: u64,
    /// What it is.
    pub kind: Kind,
    /// The neighbour to hand it to.
    pub next_hop: Nid,
    /// It does not go straight from its source to its destination: a GET may not be optimised.
    pub routed: bool,
    /// The neighbour is a router on its way, not its destination.
    pub via_router: bool,
    /// The header, opaque to the driver.
    pub header: [u8; HEADER_BYTES],
    /// PUT and REPLY: the data. GET that may be optimised: the memory for the data. Else empty.
    pub payload: Vec<Fragment>,
    /// Bytes of `payload`.
    pub length: u32,
}

/// Why a message was not accepted. Nothing has changed and no event follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendError {
    /// The node is shutting down.
    ShuttingDown,
    /// The destination is this node; there is no loopback.
    ToSelf,
    /// No way to the destination.
    NoRoute,
    /// Memory that the driver could not use.
    BadMemory(FragmentError),
    /// Too many requests or messages at a time.
    Full,
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ShuttingDown => f.write_str("this node is shutting down"),
            Self::ToSelf => f.write_str("the destination is this node"),
            Self::NoRoute => f.write_str("no route"),
            Self::BadMemory(why) => write!(f, "memory that cannot be sent: {why:?}"),
            Self::Full => f.write_str("too many messages at a time"),
        }
    }
}

/// What ends with a send.
#[derive(Debug)]
pub(super) enum SendRole {
    Request(RequestHandle),
    Ack,
    Reply(Service),
    Forward(Room),
}

#[derive(Debug)]
pub(super) struct SendEntry {
    pub packet: Outgoing,
    pub role: SendRole,
}

impl Lnet {
    /// Begins a PUT.
    ///
    /// # Errors
    /// [`SendError`]; nothing follows.
    pub fn put(&mut self, put: Put) -> Result<RequestHandle, SendError> {
        let (next_hop, length) = self.admit(put.to, &put.memory)?;
        let answer = if put.ack { Answer::Wanted } else { Answer::NotWanted };
        let handle = self.begin(put.to, put.user, Asked::Put, length, answer);
        let ack = put.ack.then_some(handle.0);
        let body = Body::Put { target: put.target, length, ack };
        self.send_request(handle, put.to, next_hop, body, put.memory);
        Ok(handle)
    }

    /// Begins a GET.
    ///
    /// # Errors
    /// [`SendError`]; nothing follows.
    pub fn get(&mut self, get: Get) -> Result<RequestHandle, SendError> {
        let (next_hop, length) = self.admit(get.to, &get.memory)?;
        // On a routed way no driver may move the data, so it is not given the memory either
        // (S3-14).
        let sink = if next_hop == get.to { get.memory.clone() } else { Vec::new() };
        let asked = Asked::Get(get.memory);
        let handle = self.begin(get.to, get.user, asked, length, Answer::Wanted);
        let body = Body::Get { target: get.target, length, request: handle.0 };
        self.send_request(handle, get.to, next_hop, body, sink);
        Ok(handle)
    }

    /// Sends the ACK that an [`Event::PutReceived`] has offered (S1-14).
    ///
    /// # Errors
    /// [`SendError`], and the debt back.
    pub fn send_ack(&mut self, due: AckDue) -> Result<(), (AckDue, SendError)> {
        let Some(next_hop) = self.routes.next_hop(due.to) else {
            return Err((due, SendError::NoRoute));
        };
        if self.messages_full() {
            return Err((due, SendError::Full));
        }
        self.queue_ack(&due, next_hop);
        Ok(())
    }

    /// The next message for the driver. The driver now owes its end.
    pub fn next_send(&mut self) -> Option<Outgoing> {
        self.next_send_if(|_| true)
    }

    /// The next message for a neighbour that is `ready`, so that one that is not holds up no other.
    /// Messages to one neighbour keep their order.
    pub fn next_send_if(&mut self, mut ready: impl FnMut(Nid) -> bool) -> Option<Outgoing> {
        let mut waiting = self.queue.iter().filter_map(|id| self.sends.get(id));
        let packet = waiting.find(|entry| ready(entry.packet.next_hop))?.packet.clone();
        self.queue.remove(&packet.id);
        self.ledger.offered += 1;
        Some(packet)
    }

    /// The driver did not take the message, and may be offered it again: it goes back to its place.
    ///
    /// # Errors
    /// The driver does not have this message.
    pub fn requeue(&mut self, id: u64) -> Result<(), Violation> {
        self.check_sending(id)?;
        self.queue.insert(id);
        self.ledger.requeued += 1;
        Ok(())
    }

    /// The driver did not take the message, and never will: it ends here.
    ///
    /// # Errors
    /// The driver does not have this message.
    pub fn send_refused(&mut self, id: u64) -> Result<(), Violation> {
        self.check_sending(id)?;
        self.end_send(id, SendEnd::Refused, None);
        Ok(())
    }

    /// Gives up on a request: its user has lost interest, or its time for an answer is over. A
    /// message still in the queue is cancelled; one that the driver has is left alone. Nothing is
    /// resent.
    pub fn expire(&mut self, request: RequestHandle) -> Expiry {
        let Some(entry) = self.requests.get_mut(request.0) else { return Expiry::Stale };
        let (user, sending) = (entry.user, entry.sending);
        if entry.answer == Answer::Wanted {
            entry.answer = Answer::GivenUp;
            self.ledger.expired += 1;
            self.emit(Event::Expired { request, user });
        }
        if let Some(id) = sending.filter(|id| self.queue.remove(id)) {
            self.end_send(id, SendEnd::Cancelled, None);
        }
        self.settle(request);
        match self.requests.get(request.0) {
            Some(_) => Expiry::Ending,
            None => Expiry::Ended,
        }
    }

    /// Tells the user that a request is over, if it is.
    pub(super) fn settle(&mut self, request: RequestHandle) {
        if self.requests.get(request.0).is_some_and(Request::is_over) {
            if let Some(Request { user, .. }) = self.requests.remove(request.0) {
                self.emit(Event::RequestDone { request, user });
            }
        }
    }

    /// Queues an ACK.
    pub(super) fn queue_ack(&mut self, due: &AckDue, next_hop: Nid) {
        let body = Body::Ack { request: due.request, length: due.length };
        let header = self.own_header(due.to, body);
        self.queue_send(header, next_hop, Vec::new(), SendRole::Ack);
    }

    /// Queues the REPLY to a GET that was not optimised.
    pub(super) fn queue_reply(&mut self, service: Service, next_hop: Nid) {
        let source = self.portals.memory(&service.matched);
        let body = Body::Reply { request: service.request, length: service.matched.length };
        let header = self.own_header(service.from, body);
        self.queue_send(header, next_hop, source, SendRole::Reply(service));
    }

    /// Queues any message.
    pub(super) fn queue_send(
        &mut self,
        header: LnetHeader,
        next_hop: Nid,
        payload: Vec<Fragment>,
        role: SendRole,
    ) -> u64 {
        let kind = header.body.kind();
        match role {
            SendRole::Forward(_) => self.ledger.forwarded += 1,
            _ => *self.ledger.created.entry(kind).or_default() += 1,
        }
        let id = self.issue_id();
        let via_router = next_hop != header.destination;
        let packet = Outgoing {
            id,
            kind,
            next_hop,
            routed: via_router || header.source != self.nid,
            via_router,
            header: header.encode(),
            length: payload.iter().map(|fragment| fragment.length).sum(),
            payload,
        };
        self.sends.insert(id, SendEntry { packet, role });
        self.queue.insert(id);
        id
    }

    /// The driver has this message and may give it back.
    pub(super) fn check_sending(&mut self, id: u64) -> Result<(), Violation> {
        let violation = if self.sends.contains_key(&id) {
            if !self.queue.contains(&id) {
                return Ok(());
            }
            Violation::NotHandedOver(id)
        } else if self.receives.contains_key(&id) {
            Violation::NotASend(id)
        } else {
            self.unknown(id)
        };
        self.ledger.violations += 1;
        Err(violation)
    }

    /// What is wrong with an id that names no message.
    pub(super) fn unknown(&self, id: u64) -> Violation {
        // Ids count up from one and none is used again.
        if (1..self.next_id).contains(&id) {
            Violation::EndedTwice(id)
        } else {
            Violation::NeverIssued(id)
        }
    }

    fn admit(&self, to: Nid, memory: &[Fragment]) -> Result<(Nid, u32), SendError> {
        if self.shutting_down {
            return Err(SendError::ShuttingDown);
        }
        if to == self.nid {
            return Err(SendError::ToSelf);
        }
        let length = total(memory).map_err(SendError::BadMemory)?;
        let next_hop = self.routes.next_hop(to).ok_or(SendError::NoRoute)?;
        if self.requests_full() || self.messages_full() {
            return Err(SendError::Full);
        }
        Ok((next_hop, length))
    }

    fn begin(
        &mut self,
        to: Nid,
        user: u64,
        asked: Asked,
        length: u32,
        answer: Answer,
    ) -> RequestHandle {
        let request = Request { to, user, asked, length, sending: None, answer };
        RequestHandle(self.requests.insert(request))
    }

    fn send_request(
        &mut self,
        handle: RequestHandle,
        to: Nid,
        next_hop: Nid,
        body: Body,
        payload: Vec<Fragment>,
    ) {
        let header = self.own_header(to, body);
        let id = self.queue_send(header, next_hop, payload, SendRole::Request(handle));
        if let Some(request) = self.requests.get_mut(handle.0) {
            request.sending = Some(id);
        }
    }

    fn own_header(&self, destination: Nid, body: Body) -> LnetHeader {
        LnetHeader { hops: 0, source: self.nid, destination, body }
    }
}
