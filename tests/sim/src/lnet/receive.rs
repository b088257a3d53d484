// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What to do with a message that has come in: LNet's `lnet_parse`, with the result as a value.

use lnd_core::fragment::Fragment;
use lnd_core::id::{Nid, Tag};
use lnd_core::message::NakReason;

use super::events::DropReason;
use super::header::{Body, Kind, LnetHeader, Target};
use super::layer::Lnet;
use super::md::{Matched, Operation};
use super::requests::{Answer, Asked, RequestHandle};
use super::router::Room;

/// What the driver shall do with an incoming message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Take `length` bytes of the payload into `sink` and drop the rest; then finalize `id`.
    Recv {
        /// Names the message to [`Lnet::on_finalized`].
        id: u64,
        /// Where to.
        sink: Vec<Fragment>,
        /// Bytes of `sink`; at most what the message carries.
        length: u32,
    },
    /// An optimised GET: send the requester `length` bytes of `source`; then finalize `id` (S3-9).
    Reply {
        /// Names the message to [`Lnet::on_finalized`].
        id: u64,
        /// Where from.
        source: Vec<Fragment>,
        /// Bytes of `source`; at most what the requester has room for.
        length: u32,
    },
    /// Tell the peer; finalize nothing.
    Refuse(NakReason),
}

/// A GET that has found its memory, until its data has been sent.
#[derive(Debug)]
pub(super) struct Service {
    pub matched: Matched,
    pub from: Nid,
    pub target: Target,
    pub request: Tag,
}

/// A PUT that has found its memory, until its data is there.
#[derive(Debug)]
pub(super) struct Delivery {
    pub matched: Matched,
    pub from: Nid,
    pub target: Target,
    pub sent: u32,
    pub ack: Option<Tag>,
}

/// A message that a router stores.
#[derive(Debug)]
pub(super) struct Transit {
    pub header: LnetHeader,
    pub next_hop: Nid,
    pub room: Room,
}

/// What ends with a receive.
#[derive(Debug)]
pub(super) enum ReceiveRole {
    Put(Delivery),
    /// An optimised GET: the driver sends the data.
    Serve(Service),
    /// Any other GET: this layer sends the data, to this next hop.
    Get(Service, Nid),
    Ack(RequestHandle, u32),
    Reply(RequestHandle, u32),
    Transit(Transit),
}

#[derive(Debug)]
pub(super) struct Receive {
    pub kind: Kind,
    pub from_hop: Nid,
    pub role: ReceiveRole,
}

impl Receive {
    pub fn holds_entry(&self) -> bool {
        matches!(self.role, ReceiveRole::Put(_) | ReceiveRole::Serve(_) | ReceiveRole::Get(..))
    }

    pub fn is_answer(&self) -> bool {
        matches!(self.role, ReceiveRole::Ack(..) | ReceiveRole::Reply(..))
    }

    pub fn holds_room(&self) -> bool {
        matches!(self.role, ReceiveRole::Transit(_))
    }
}

impl Lnet {
    /// A message has come in from the neighbour `from_hop`. `length` is the payload that came with
    /// it or can be fetched or, if `rdma` (a GET that the driver can answer itself), the room that
    /// the requester has. Total: any bytes give a result.
    pub fn on_request(
        &mut self,
        from_hop: Nid,
        header: &[u8],
        length: u32,
        rdma: bool,
    ) -> Decision {
        match self.parse(from_hop, header, length, rdma) {
            Ok((kind, role)) => self.accept(kind, from_hop, role),
            Err(reason) => {
                self.drop_message(reason, from_hop);
                Decision::Refuse(reason.refusal())
            }
        }
    }

    fn parse(
        &mut self,
        from_hop: Nid,
        header: &[u8],
        length: u32,
        rdma: bool,
    ) -> Result<(Kind, ReceiveRole), DropReason> {
        let header = LnetHeader::decode(header).map_err(|_| DropReason::BadHeader)?;
        let kind = header.body.kind();
        let expected = match header.body {
            Body::Get { length, .. } if rdma => length,
            _ if rdma => return Err(DropReason::BadLength),
            body => body.payload(),
        };
        if length != expected {
            return Err(DropReason::BadLength);
        }
        if header.source == self.nid {
            return Err(DropReason::OwnSource);
        }
        if self.symmetric && self.routes.next_hop(header.source) != Some(from_hop) {
            return Err(DropReason::Asymmetric);
        }
        let straight = from_hop == header.source && header.destination == self.nid;
        if rdma && !straight {
            return Err(DropReason::RoutedRdma);
        }
        let role = if header.destination == self.nid {
            self.parse_own(header, rdma)?
        } else {
            self.parse_transit(header)?
        };
        Ok((kind, role))
    }

    /// A message for this node.
    fn parse_own(&mut self, header: LnetHeader, rdma: bool) -> Result<ReceiveRole, DropReason> {
        let from = header.source;
        match header.body {
            Body::Put { target, length, ack } => {
                self.admit_foreign()?;
                let matched = self.portals.find(Operation::Put, from, &target, length)?;
                Ok(ReceiveRole::Put(Delivery { matched, from, target, sent: length, ack }))
            }
            Body::Get { target, length, request } => {
                self.admit_foreign()?;
                // Without a way back for the data nothing is matched. The driver has its own.
                let back = if rdma { Some(from) } else { self.routes.next_hop(from) };
                let back = back.ok_or(DropReason::NoRoute)?;
                let matched = self.portals.find(Operation::Get, from, &target, length)?;
                let service = Service { matched, from, target, request };
                Ok(if rdma { ReceiveRole::Serve(service) } else { ReceiveRole::Get(service, back) })
            }
            Body::Ack { request, length } => {
                let handle = self.expect_answer(Kind::Ack, request, from, length)?;
                Ok(ReceiveRole::Ack(handle, length))
            }
            Body::Reply { request, length } => {
                let handle = self.expect_answer(Kind::Reply, request, from, length)?;
                Ok(ReceiveRole::Reply(handle, length))
            }
        }
    }

    /// A message for another node: only stored, never answered (S1-11, S1-12).
    fn parse_transit(&mut self, mut header: LnetHeader) -> Result<ReceiveRole, DropReason> {
        let Some(max_hops) = self.pool.as_ref().map(|pool| pool.max_hops) else {
            return Err(DropReason::NotARouter);
        };
        if header.hops >= max_hops {
            return Err(DropReason::TooManyHops);
        }
        header.hops += 1;
        let next_hop = self.routes.next_hop(header.destination).ok_or(DropReason::NoRoute)?;
        self.admit_foreign()?;
        let room = self.pool.as_mut().and_then(|pool| pool.take(header.body.payload()));
        let room = room.ok_or(DropReason::NoBuffer)?;
        Ok(ReceiveRole::Transit(Transit { header, next_hop, room }))
    }

    /// Matches an answer on everything that is known: who, what, which request, which generation,
    /// and that it waits (R31).
    fn expect_answer(
        &mut self,
        kind: Kind,
        request: Tag,
        from: Nid,
        length: u32,
    ) -> Result<RequestHandle, DropReason> {
        let entry = self.requests.get_mut(request).ok_or(DropReason::Stale)?;
        let asked = match entry.asked {
            Asked::Put => Kind::Ack,
            Asked::Get(_) => Kind::Reply,
        };
        if kind != asked || entry.to != from || entry.answer != Answer::Wanted {
            return Err(DropReason::Stale);
        }
        if length > entry.length {
            return Err(DropReason::AnswerTooLong);
        }
        entry.answer = Answer::Coming;
        Ok(RequestHandle(request))
    }

    /// Whether there is room for work that others bring.
    fn admit_foreign(&self) -> Result<(), DropReason> {
        if self.shutting_down {
            Err(DropReason::ShuttingDown)
        } else if self.messages_full() {
            Err(DropReason::NoRoom)
        } else {
            Ok(())
        }
    }

    fn accept(&mut self, kind: Kind, from_hop: Nid, role: ReceiveRole) -> Decision {
        let id = self.issue_id();
        let (memory, length) = self.memory_of(&role);
        let gives = matches!(role, ReceiveRole::Serve(_));
        self.receives.insert(id, Receive { kind, from_hop, role });
        self.ledger.accepted += 1;
        if gives {
            Decision::Reply { id, source: memory, length }
        } else {
            Decision::Recv { id, sink: memory, length }
        }
    }

    /// The memory that the driver fills or, for an optimised GET, sends.
    fn memory_of(&self, role: &ReceiveRole) -> (Vec<Fragment>, u32) {
        match role {
            ReceiveRole::Put(Delivery { matched, .. })
            | ReceiveRole::Serve(Service { matched, .. }) => {
                (self.portals.memory(matched), matched.length)
            }
            ReceiveRole::Get(..) | ReceiveRole::Ack(..) => (Vec::new(), 0),
            ReceiveRole::Reply(handle, length) => {
                let sink = match self.requests.get(handle.0).map(|request| &request.asked) {
                    Some(Asked::Get(memory)) => super::memory::slice(memory, 0, *length),
                    _ => Vec::new(),
                };
                (sink, *length)
            }
            ReceiveRole::Transit(Transit { header, room, .. }) => {
                let length = header.body.payload();
                let pool = self.pool.as_ref();
                (pool.map_or(Vec::new(), |pool| pool.memory(*room, length)), length)
            }
        }
    }
}
