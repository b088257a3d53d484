// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file holds the messages between two nodes as values. `lnd-shortmsg` gives them a wire
//! format.
//!
//! There are two layers (S3-6). [`PullReady`] is the one *control* message, handled in constant
//! time without the upper layer (INV-8). Every other message is an LND message.

use crate::base::id::{Incarnation, Nid, Tag};
#[cfg(doc)]
use crate::base::key::Key;

/// Longest upper-layer header in bytes (an LNet header with 16-byte NIDs has 96).
pub const MAX_HEADER: usize = 96;

/// The queue of the channel that a message travels in.
///
/// Requests use credits and may wait for the receiver's resources. Answers, hellos and credit
/// returns have a lane of their own, so they never wait behind a request (INV-11, R33, R62).
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
    /// The sender.
    pub from: Nid,
    /// The receiver.
    pub to: Nid,
    /// The sender's incarnation.
    pub from_incarnation: Incarnation,
    /// The receiver's incarnation as the sender knows it. `None` only in a hello to an unknown
    /// peer.
    pub to_incarnation: Option<Incarnation>,
    /// The sender's session with this peer. It lasts until one of the two starts a new incarnation,
    /// or until the sender forgets the peer. The sequence numbers and credits of requests belong to
    /// it.
    pub session: u32,
    /// Number of this message within the session and its lane, counted from 1. A hello carries the
    /// number of the last request of the session.
    pub sequence: u32,
    /// How many requests of the receiver's session the sender has consumed in all, modulo 2^16. A
    /// lost or repeated message therefore loses or repeats no credit (INV-12).
    pub credits: u16,
    /// The receiver's session to which `credits` belongs.
    pub credits_of: u32,
}

/// Opens a session or continues it (S0-14: always accepted). A hello of a known session changes
/// nothing of what was sent: each request in flight across it is accepted once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hello {
    /// Lowest wire version of the sender.
    pub version_min: u8,
    /// Highest wire version of the sender.
    pub version_max: u8,
    /// Largest payload of an IMMEDIATE the sender can receive, in bytes.
    pub immediate_max: u32,
    /// [`Features`](crate::ports::Features) bits of the sender's engine.
    pub features: u32,
    /// Requests that the sender no longer waits for. Bit `i` is request `sequence - i` of the
    /// session. The receiver returns the credit of each that it has not received, and refuses it
    /// from then on.
    pub given_up: u32,
    /// The number of this handshake within the session, modulo 2^8. The answer repeats it (R31).
    pub attempt: u8,
}

/// Answer to a [`Hello`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HelloAck {
    /// The session of the hello.
    pub session: u32,
    /// The hello's attempt.
    pub attempt: u8,
    /// The version that both sides use. `None`: the ranges have no common version.
    pub version: Option<u8>,
    /// Requests that the receiver of this answer may have in flight: its credits. Zero: there is no
    /// room for another peer, and the hello has opened no session (S0-14).
    pub depth: u16,
    /// Largest payload of an IMMEDIATE the answering side can receive, in bytes.
    pub immediate_max: u32,
    /// [`Features`](crate::ports::Features) bits of the answering side's engine.
    pub features: u32,
}

/// The reason of a refusal. It is an enum of this protocol: errno values do not cross the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum NakReason {
    /// The upper layer has no buffer that matches.
    NoMatch = 1,
    /// The receiver lacks a resource; the same request may succeed later.
    NoResources = 2,
    /// The receiver is shutting down.
    ShuttingDown = 3,
    /// The receiver cannot interpret the request.
    BadRequest = 4,
    /// The receiver failed locally after it had accepted the request. Only then may it have moved
    /// a part.
    Failed = 5,
}

impl NakReason {
    /// Every refusal, in the order of its wire value.
    pub const ALL: [Self; 5] =
        [Self::NoMatch, Self::NoResources, Self::ShuttingDown, Self::BadRequest, Self::Failed];

    /// The refusal with this wire value. `None`: there is none.
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

/// "My transmit side is staged, start your receive side" (S3-7). It is the only control message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PullReady<'a> {
    /// The requester's transfer: the cookie of its GET_REQ.
    pub sink: Tag,
    /// The target's staged transfer: where to pull from.
    pub source: Tag,
    /// Bytes staged.
    pub length: u32,
    /// The bytes of the [`Key`] that the requester's engine needs to pull them. Empty where engines
    /// have no keys.
    pub key: &'a [u8],
}

/// One message. `header` belongs to the upper layer and is opaque, at most [`MAX_HEADER`] bytes.
///
/// A channel passes messages on without a look inside, but for the lane:
///
/// ```
/// use lnd_core::message::{Lane, Message};
///
/// let message = Message::Immediate { header: &[1; 72], payload: b"four" };
/// assert_eq!(message.lane(), Lane::Request);
/// assert_eq!(Message::Noop.lane(), Lane::Control);
/// ```
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
    /// carries everything that is needed to serve it (R16).
    PutReq {
        /// Upper-layer header.
        header: &'a [u8],
        /// The sender's staged transfer.
        source: Tag,
        /// Bytes staged.
        length: u32,
        /// The bytes of the [`Key`] that the receiver's engine needs to pull them. Empty where
        /// engines have no keys.
        key: &'a [u8],
    },
    /// The receiver will not pull.
    PutNak {
        /// The PUT_REQ's `source`.
        source: Tag,
        /// The reason.
        why: NakReason,
    },
    /// The receiver has pulled. Sent only where engines do not report that to the source.
    PutDone {
        /// The PUT_REQ's `source`.
        source: Tag,
        /// `None`: all bytes were pulled.
        failed: Option<NakReason>,
    },
    /// "Stage what matches, then notify me" (S3-3). The answer is [`PullReady`] or a GET_NAK.
    ///
    /// With a key: "push what matches into `sink`" (S3-11). The answer is a GET_DONE or a GET_NAK.
    GetReq {
        /// Upper-layer header.
        header: &'a [u8],
        /// The sender's waiting transfer.
        sink: Tag,
        /// Bytes the sender has room for.
        length: u32,
        /// The bytes of the [`Key`] that the receiver's engine needs to push. Empty: the answer is
        /// to be staged.
        key: &'a [u8],
    },
    /// Nothing will be staged, or pushed.
    GetNak {
        /// The GET_REQ's `sink`.
        sink: Tag,
        /// The reason.
        why: NakReason,
    },
    /// "Pull no more under `source`": the sender invalidates what it has staged for a PUT_REQ. A
    /// request that has not arrived yet is refused when it arrives. The answer is the end of the
    /// pull, PUT_DONE or PUT_NAK, or a PUT_NAK that there is no pull.
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
    /// The receiver of a GET_REQ with a key has pushed. Its bytes are in the sink.
    GetDone {
        /// The GET_REQ's `sink`.
        sink: Tag,
        /// Bytes pushed; zero if it failed.
        length: u32,
        /// `None`: all bytes of the answer were pushed.
        failed: Option<NakReason>,
    },
    /// "Push no more into `sink`": the sender invalidates what it has lent by a GET_REQ with a key.
    /// A request that has not arrived yet is refused when it arrives. The answer is the end of the
    /// push, a GET_DONE, or a GET_NAK that there is no push.
    CancelPush {
        /// The GET_REQ's `sink`.
        sink: Tag,
        /// The session that the GET_REQ was sent in.
        session: u32,
        /// Its number in that session.
        sequence: u32,
    },
    /// Returns credits when no other message does.
    Noop,
    /// The last message of an incarnation (R35).
    Close,
    /// A message of the control layer.
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

    /// The inline payload. Empty for kinds that have none.
    pub const fn payload(&self) -> &'a [u8] {
        match self {
            Self::Immediate { payload, .. } => payload,
            _ => &[],
        }
    }

    /// Bytes of payload: those that come along, are staged, or are asked for. Zero for kinds
    /// without payload.
    #[inline]
    pub const fn length(&self) -> u32 {
        match self {
            // A frame holds less than 2^32 bytes.
            Self::Immediate { payload, .. } => payload.len() as u32,
            Self::PutReq { length, .. }
            | Self::GetReq { length, .. }
            | Self::GetDone { length, .. } => *length,
            Self::PullReady(it) => it.length,
            _ => 0,
        }
    }

    /// The engine's key. Empty for kinds that have none.
    pub const fn key(&self) -> &'a [u8] {
        match self {
            Self::PutReq { key, .. } | Self::GetReq { key, .. } => key,
            Self::PullReady(it) => it.key,
            _ => &[],
        }
    }

    /// The same message with another header, payload and key, where its kind has them.
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
            Self::GetReq { sink, length, .. } => Message::GetReq { header, sink, length, key },
            Self::GetNak { sink, why } => Message::GetNak { sink, why },
            Self::CancelPut { source, session, sequence } => {
                Message::CancelPut { source, session, sequence }
            }
            Self::CancelGet { source, sink } => Message::CancelGet { source, sink },
            Self::GetDone { sink, length, failed } => Message::GetDone { sink, length, failed },
            Self::CancelPush { sink, session, sequence } => {
                Message::CancelPush { sink, session, sequence }
            }
            Self::Noop => Message::Noop,
            Self::Close => Message::Close,
            Self::PullReady(PullReady { sink, source, length, .. }) => {
                Message::PullReady(PullReady { sink, source, length, key })
            }
        }
    }

    /// The lane of this kind of message.
    pub const fn lane(&self) -> Lane {
        // The match lists the requests. A new kind of message without credits falls into the
        // control lane, which never waits for a credit.
        match self {
            Self::Immediate { .. } | Self::PutReq { .. } | Self::GetReq { .. } => Lane::Request,
            _ => Lane::Control,
        }
    }
}
