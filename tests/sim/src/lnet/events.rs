// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the layer tells its user, and what it tells the driver it has done wrong.

use std::fmt;

use lnd_core::id::{Nid, Tag};
use lnd_core::message::NakReason;
use lnd_core::transfer::Status;

use super::md::MeHandle;
use super::requests::RequestHandle;

/// How a message that this layer wanted to send ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendEnd {
    /// The driver took it and finalized it.
    Finalized(Status),
    /// The driver did not take it.
    Refused,
    /// It was taken out of the queue before the driver saw it.
    Cancelled,
}

impl SendEnd {
    /// Whether it reached the next hop, as far as the driver knows.
    pub const fn is_ok(&self) -> bool {
        matches!(self, Self::Finalized(status) if status.errno == 0)
    }
}

/// An ACK that is owed and that the user sends, under [`AckPolicy::ByEvent`](super::AckPolicy).
///
/// It can be used once: there is no copy of it. Dropping it means that no ACK is sent.
#[derive(Debug, PartialEq, Eq)]
pub struct AckDue {
    pub(super) to: Nid,
    pub(super) request: Tag,
    pub(super) length: u32,
}

/// An event, in the order in which they happened.
///
/// Every accepted PUT and GET has exactly one [`SendDone`](Self::SendDone) and, as its last event,
/// exactly one [`RequestDone`](Self::RequestDone). Every attached entry has exactly one
/// [`Unlinked`](Self::Unlinked), behind the events of all messages it matched.
#[derive(Debug, PartialEq, Eq)]
pub enum Event {
    /// A PUT of a peer has ended.
    PutReceived {
        /// The entry it matched.
        me: MeHandle,
        /// The entry's word.
        user: u64,
        /// The node that sent it first.
        from: Nid,
        /// Its match bits.
        match_bits: u64,
        /// Its user's word.
        data: u64,
        /// Where in the MD it lies.
        offset: u32,
        /// Bytes taken.
        length: u32,
        /// Bytes sent; more than `length` if it was cut.
        sent: u32,
        /// How it ended; if not OK, the memory holds anything.
        status: Status,
        /// The ACK that the sender waits for and that only the user sends.
        ack: Option<AckDue>,
    },
    /// A GET of a peer has ended.
    GetServed {
        /// The entry it matched.
        me: MeHandle,
        /// The entry's word.
        user: u64,
        /// The node that sent it first.
        from: Nid,
        /// Its match bits.
        match_bits: u64,
        /// Its user's word.
        data: u64,
        /// Where in the MD the data was taken.
        offset: u32,
        /// Bytes given.
        length: u32,
        /// How sending them ended.
        end: SendEnd,
    },
    /// The own PUT or GET has left, or will not leave. Says nothing of the far end (S1-9).
    SendDone {
        /// The request.
        request: RequestHandle,
        /// Its word.
        user: u64,
        /// How it ended.
        end: SendEnd,
    },
    /// The destination has acknowledged the own PUT.
    Ack {
        /// The request.
        request: RequestHandle,
        /// Its word.
        user: u64,
        /// Bytes taken at the destination.
        length: u32,
    },
    /// The data of the own GET has come, or failed to.
    Reply {
        /// The request.
        request: RequestHandle,
        /// Its word.
        user: u64,
        /// Bytes received; less than asked for if the destination had less.
        length: u32,
        /// How it ended; if not OK, the memory holds anything.
        status: Status,
    },
    /// The answer to this request is waited for no longer: the user has given up, or the ACK was
    /// lost on its last hop. Nothing is resent (S1-13).
    Expired {
        /// The request.
        request: RequestHandle,
        /// Its word.
        user: u64,
    },
    /// The request's last event: its memory belongs to the user again.
    RequestDone {
        /// The request; its handle is stale now.
        request: RequestHandle,
        /// Its word.
        user: u64,
    },
    /// The entry's last event: its memory belongs to the user again.
    Unlinked {
        /// The entry; its handle is stale now.
        me: MeHandle,
        /// Its word.
        user: u64,
    },
    /// A message was dropped.
    Dropped {
        /// Why.
        reason: DropReason,
        /// The neighbour that it came from or was meant for.
        hop: Nid,
    },
}

/// Why a message was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropReason {
    /// The header makes no sense.
    BadHeader,
    /// Header and driver disagree on the length, or on what can be moved.
    BadLength,
    /// It says that this node has sent it.
    OwnSource,
    /// It came from another neighbour than the one that leads to its source.
    Asymmetric,
    /// It is for another node, and this one is not a router.
    NotARouter,
    /// An optimised GET came by way of a router, or to one (S3-14).
    RoutedRdma,
    /// It has passed too many routers.
    TooManyHops,
    /// No way to where it has to go.
    NoRoute,
    /// No free router buffer.
    NoBuffer,
    /// Too many messages at a time.
    NoRoom,
    /// No entry matches.
    NoMatch,
    /// The matching entry has too little room and may not cut.
    TooLong,
    /// An ACK or REPLY to nothing that waits for it.
    Stale,
    /// An ACK or REPLY of more bytes than the request has.
    AnswerTooLong,
    /// The node is shutting down.
    ShuttingDown,
    /// Received in part only: nothing to answer or to pass on.
    ReceiveFailed,
    /// An ACK of this node, or a message it passes on, was not sent.
    SendFailed,
}

impl DropReason {
    /// What the driver tells the peer.
    pub const fn refusal(self) -> NakReason {
        match self {
            Self::BadHeader
            | Self::BadLength
            | Self::OwnSource
            | Self::Asymmetric
            | Self::NotARouter
            | Self::RoutedRdma
            | Self::TooManyHops
            | Self::NoRoute
            | Self::AnswerTooLong => NakReason::BadRequest,
            Self::NoBuffer | Self::NoRoom => NakReason::NoResources,
            Self::NoMatch | Self::TooLong | Self::Stale => NakReason::NoMatch,
            Self::ShuttingDown => NakReason::ShuttingDown,
            Self::ReceiveFailed | Self::SendFailed => NakReason::Failed,
        }
    }
}

/// A rule that the driver broke. The layer's state is as before the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Violation {
    /// No message ever had this id.
    NeverIssued(u64),
    /// This message has ended already (INV-1).
    EndedTwice(u64),
    /// This message was not with the driver.
    NotHandedOver(u64),
    /// This message is not one that was sent.
    NotASend(u64),
    /// Errno, health and delivery do not agree (INV-4).
    StatusDisagrees(u64),
    /// A reply was reported with a message that is no GET, or one that may not be optimised.
    UnexpectedReply(u64),
    /// More bytes were reported than the request has room for.
    ReplyTooLong(u64),
    /// A REPLY had come as a message of its own.
    RepliedTwice(u64),
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (id, what) = match self {
            Self::NeverIssued(id) => (id, "there never was one"),
            Self::EndedTwice(id) => (id, "has ended already"),
            Self::NotHandedOver(id) => (id, "was not with the driver"),
            Self::NotASend(id) => (id, "is not one that was sent"),
            Self::StatusDisagrees(id) => (id, "errno, health and delivery do not agree"),
            Self::UnexpectedReply(id) => (id, "a reply with what may not have one"),
            Self::ReplyTooLong(id) => (id, "more bytes than the request has room for"),
            Self::RepliedTwice(id) => (id, "its REPLY has come already, by itself"),
        };
        write!(f, "message {id}: {what}")
    }
}
