// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the two sides say to each other, as values; `lnd-shortmsg` gives them a wire format.
//!
//! Two layers (S3-6): [`PullReady`] is the one *control* message, handled in constant time without
//! the upper layer (INV-8); everything else is an LND message.

use crate::base::id::{Incarnation, Nid, Tag};
#[cfg(doc)]
use crate::base::key::Key;

/// Longest upper-layer header in bytes (an LNet header with 16-byte NIDs has 96).
pub const MAX_HEADER: usize = 96;

/// Which queue of the channel a message travels in.
///
/// Requests use credits and may have to wait for the receiver's resources. Everything that answers,
/// greets or returns credits has a lane of its own, so that it never waits behind a request
/// (INV-11, R33, R62).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lane {
    /// IMMEDIATE, PUT_REQ, GET_REQ: one credit each.
    Request,
    /// Answers, hellos, credit returns, CLOSE and the control layer: no credit.
    Control,
}

/// What every message carries beside its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// Who sends.
    pub from: Nid,
    /// Who shall receive.
    pub to: Nid,
    /// The sender's life.
    pub from_incarnation: Incarnation,
    /// The receiver's life as the sender knows it; `None` only in a hello to an unknown peer.
    pub to_incarnation: Option<Incarnation>,
    /// The sender's session with this peer. It lasts until one of the two starts a new incarnation, or
    /// the sender forgets the peer; sequence numbers and credits of requests run through it.
    pub session: u32,
    /// Number of this message within the session and its lane, counted from 1. A hello carries the
    /// number of the last request of the session.
    pub sequence: u32,
    /// How many requests of the receiver's session the sender has consumed in all, modulo 2^16:
    /// a lost or repeated message loses or repeats no credit (INV-12).
    pub credits: u16,
    /// The receiver's session that `credits` speaks of.
    pub credits_of: u32,
}

/// Opens a session, or goes on with it (S0-14: always accepted). A hello of the session that the
/// receiver knows changes nothing of what has been sent: requests in flight across it are taken once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hello {
    /// Lowest wire version the sender speaks.
    pub version_min: u8,
    /// Highest wire version the sender speaks.
    pub version_max: u8,
    /// Largest payload of an IMMEDIATE the sender can receive, in bytes.
    pub immediate_max: u32,
    /// [`Features`](crate::ports::Features) bits of the sender's engine.
    pub features: u32,
    /// Requests that the sender no longer waits for: bit `i` is request `sequence - i` of the session.
    /// The receiver returns the credit of each that it has not taken, and does not take it any more.
    pub given_up: u32,
    /// Which handshake of the session this hello belongs to, modulo 2^8; its answer repeats it (R31).
    pub attempt: u8,
}

/// Answer to a [`Hello`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HelloAck {
    /// The session of the hello.
    pub session: u32,
    /// The hello's attempt.
    pub attempt: u8,
    /// The version both sides will speak, or `None`: the ranges do not meet.
    pub version: Option<u8>,
    /// Requests the receiver of this answer may have in flight: its credits. Zero: there is no room for
    /// another peer, and the hello has opened no session (S0-14).
    pub depth: u16,
    /// Largest payload of an IMMEDIATE the answering side can receive, in bytes.
    pub immediate_max: u32,
    /// [`Features`](crate::ports::Features) bits of the answering side's engine.
    pub features: u32,
}

/// Why a request was refused. A small enum of our own: errno values do not cross the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum NakReason {
    /// The upper layer has no buffer that matches.
    NoMatch = 1,
    /// The receiver lacks a resource; the same request may succeed later.
    NoResources = 2,
    /// The receiver is shutting down.
    ShuttingDown = 3,
    /// The receiver could not make sense of the request.
    BadRequest = 4,
    /// The receiver failed locally after it had accepted the request. Only then may it have pulled a part.
    Failed = 5,
}

impl NakReason {
    /// Every refusal, in the order of its wire value.
    pub const ALL: [Self; 5] =
        [Self::NoMatch, Self::NoResources, Self::ShuttingDown, Self::BadRequest, Self::Failed];

    /// The refusal with a wire value, if there is one.
    pub const fn from_wire(value: u8) -> Option<Self> {
        match value {
            1 => Some(Self::NoMatch),
            2 => Some(Self::NoResources),
            3 => Some(Self::ShuttingDown),
            4 => Some(Self::BadRequest),
            5 => Some(Self::Failed),
            _ => None,
        }
    }
}

/// "My transmit side is staged, start your receive side" (S3-7). The only control message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PullReady<'a> {
    /// The requester's transfer: the cookie of its GET_REQ.
    pub sink: Tag,
    /// The target's staged transfer: where to pull from.
    pub source: Tag,
    /// Bytes staged.
    pub length: u32,
    /// The [`Key`] that the requester's engine needs to pull them, by its bytes; none from an engine that has no
    /// keys.
    pub key: &'a [u8],
}

/// One message. `header` is the upper layer's and opaque, at most [`MAX_HEADER`] bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message<'a> {
    /// Opens a session.
    Hello(Hello),
    /// Answers a hello.
    HelloAck(HelloAck),
    /// A whole upper-layer message, payload inline.
    Immediate {
        /// Upper-layer header.
        header: &'a [u8],
        /// Payload.
        payload: &'a [u8],
    },
    /// "I have staged `length` bytes under `source`: pull them" (S3-5, R24). Like every request it
    /// carries all that is needed to serve it (R16).
    PutReq {
        /// Upper-layer header.
        header: &'a [u8],
        /// The sender's staged transfer.
        source: Tag,
        /// Bytes staged.
        length: u32,
        /// The [`Key`] that the receiver's engine needs to pull them, by its bytes; none from an engine that has
        /// no keys.
        key: &'a [u8],
    },
    /// The receiver will not pull.
    PutNak {
        /// The PUT_REQ's `source`.
        source: Tag,
        /// Why.
        why: NakReason,
    },
    /// The receiver has pulled; only for engines that cannot tell the source side themselves.
    PutDone {
        /// The PUT_REQ's `source`.
        source: Tag,
        /// `None`: all bytes were pulled.
        failed: Option<NakReason>,
    },
    /// "Stage what matches, then tell me" (S3-3). The answer is [`PullReady`] or a GET_NAK.
    GetReq {
        /// Upper-layer header.
        header: &'a [u8],
        /// The sender's waiting transfer.
        sink: Tag,
        /// Bytes the sender has room for.
        length: u32,
    },
    /// Nothing will be staged.
    GetNak {
        /// The GET_REQ's `sink`.
        sink: Tag,
        /// Why.
        why: NakReason,
    },
    /// "Pull no more under `source`": the sender wants back what it has staged for a PUT_REQ. Nothing is
    /// taken of a request that has not come yet. The answer is the end of the pull, PUT_DONE or PUT_NAK, or a
    /// PUT_NAK that says that there is none.
    CancelPut {
        /// The PUT_REQ's `source`.
        source: Tag,
        /// The session that the PUT_REQ was sent in.
        session: u32,
        /// Its number in that session.
        sequence: u32,
    },
    /// The same for what a [`PullReady`] has announced.
    CancelGet {
        /// The [`PullReady`]'s `source`.
        source: Tag,
        /// Its `sink`.
        sink: Tag,
    },
    /// Returns credits when nothing else does.
    Noop,
    /// The last message of a life (R35).
    Close,
    /// The control layer.
    PullReady(PullReady<'a>),
}

impl<'a> Message<'a> {
    /// The upper layer's header; empty for kinds that have none.
    pub const fn header(&self) -> &'a [u8] {
        match self {
            Self::Immediate { header, .. }
            | Self::PutReq { header, .. }
            | Self::GetReq { header, .. } => header,
            _ => &[],
        }
    }

    /// The payload that comes along; empty for kinds that have none.
    pub const fn payload(&self) -> &'a [u8] {
        match self {
            Self::Immediate { payload, .. } => payload,
            _ => &[],
        }
    }

    /// The engine's key that comes along; empty for kinds that have none.
    pub const fn key(&self) -> &'a [u8] {
        match self {
            Self::PutReq { key, .. } => key,
            Self::PullReady(it) => it.key,
            _ => &[],
        }
    }

    /// The same message with another header, payload and key, as far as its kind has them.
    pub const fn with<'b>(
        &self,
        header: &'b [u8],
        payload: &'b [u8],
        key: &'b [u8],
    ) -> Message<'b> {
        match *self {
            Self::Hello(it) => Message::Hello(it),
            Self::HelloAck(it) => Message::HelloAck(it),
            Self::Immediate { .. } => Message::Immediate { header, payload },
            Self::PutReq { source, length, .. } => Message::PutReq { header, source, length, key },
            Self::PutNak { source, why } => Message::PutNak { source, why },
            Self::PutDone { source, failed } => Message::PutDone { source, failed },
            Self::GetReq { sink, length, .. } => Message::GetReq { header, sink, length },
            Self::GetNak { sink, why } => Message::GetNak { sink, why },
            Self::CancelPut { source, session, sequence } => {
                Message::CancelPut { source, session, sequence }
            }
            Self::CancelGet { source, sink } => Message::CancelGet { source, sink },
            Self::Noop => Message::Noop,
            Self::Close => Message::Close,
            Self::PullReady(PullReady { sink, source, length, .. }) => {
                Message::PullReady(PullReady { sink, source, length, key })
            }
        }
    }

    /// The lane this kind of message travels in.
    pub const fn lane(&self) -> Lane {
        match self {
            Self::Immediate { .. } | Self::PutReq { .. } | Self::GetReq { .. } => Lane::Request,
            _ => Lane::Control,
        }
    }
}
