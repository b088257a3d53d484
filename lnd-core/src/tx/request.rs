// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file holds the upper layer's requests and the driver's results.

use crate::base::fragment::{Fragment, FragmentError};
use crate::base::id::{LinkId, Nid, PeerId, Tag};
use crate::base::time::Instant;
use crate::machines::transfer::{HealthClass, Status};

/// The four kinds of LNet message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Payload for the peer.
    Put,
    /// The answer to a PUT that wants one (S1-7), without payload. The upper layer itself sends it
    /// (S1-14).
    Ack,
    /// A request for payload.
    Get,
    /// The answer to a GET that was not optimised: payload for the peer.
    Reply,
}

/// The next hop of a message: its name, or its place in the peer table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    /// By NID. A node without a place in the peer table gets one.
    Nid(Nid),
    /// A peer by the id from [`Driver::peer`](crate::driver::Driver::peer), without a look-up of
    /// the NID. Once the driver has forgotten that peer, the message is refused with
    /// [`Why::StalePeer`], even if the driver knows the same NID again.
    Peer(PeerId),
}

impl From<Nid> for To {
    fn from(nid: Nid) -> Self {
        Self::Nid(nid)
    }
}

impl From<PeerId> for To {
    fn from(peer: PeerId) -> Self {
        Self::Peer(peer)
    }
}

/// One message to send.
///
/// ```
/// use lnd_core::driver::{Kind, Request};
/// use lnd_core::fragment::Fragment;
/// use lnd_core::id::{LinkId, Nid};
/// use lnd_core::time::{Instant, Span};
///
/// let (peer, deadline) = (Nid::from_raw(2).unwrap(), Instant::ORIGIN.after(Span::from_secs(50)));
/// let payload = [Fragment::new(0x1000, 4096), Fragment::new(0x9000, 512)];
/// let put = Request::put(peer, b"match bits", &payload, deadline);
/// // The same by the first link, with a number of the upper layer for the report.
/// let put = Request { link: LinkId::new(0), user: 42, ..put };
/// let get = Request::get(peer, b"match bits", &payload, deadline);
/// assert_eq!((put.kind, get.kind), (Kind::Put, Kind::Get));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Request<'r> {
    /// The kind.
    pub kind: Kind,
    /// The next hop: a driver knows direct neighbours only (S3-16).
    pub peer: To,
    /// The link to use, or any. A request for a link that is down, or that fails while the request
    /// waits, ends with [`Cause::LinkDown`](crate::transfer::Cause::LinkDown).
    pub link: Option<LinkId>,
    /// The message is routed, or the next hop is a router: a GET must not be optimised (S3-14,
    /// S3-15).
    pub routed: bool,
    /// The upper layer's header, at most [`MAX_HEADER`](crate::message::MAX_HEADER) bytes; opaque.
    pub header: &'r [u8],
    /// PUT, REPLY: the payload to send. GET: the memory for the reply.
    pub payload: &'r [Fragment],
    /// One absolute time (R37) that bounds every place where the message may wait (R38, INV-9).
    pub deadline: Instant,
    /// Returned in the [`Report`](crate::driver::Report).
    pub user: u64,
}

impl<'r> Request<'r> {
    /// A PUT over any link, not routed, with 0 as its `user`.
    pub fn put(
        peer: impl Into<To>,
        header: &'r [u8],
        payload: &'r [Fragment],
        deadline: Instant,
    ) -> Self {
        let (kind, link, routed, user) = (Kind::Put, None, false, 0);
        Self { kind, peer: peer.into(), link, routed, header, payload, deadline, user }
    }

    /// A GET over any link, not routed, with 0 as its `user`: the reply goes to `memory`.
    pub fn get(
        peer: impl Into<To>,
        header: &'r [u8],
        memory: &'r [Fragment],
        deadline: Instant,
    ) -> Self {
        Self { kind: Kind::Get, ..Self::put(peer, header, memory, deadline) }
    }
}

/// The reason for which a call was refused. Nothing was kept, and nothing will be reported (INV-1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The fragments break a rule.
    Fragments(FragmentError),
    /// A fragment is outside of what the engine can reach.
    BadAddress,
    /// The header is longer than [`MAX_HEADER`](crate::message::MAX_HEADER).
    HeaderTooLong,
    /// The length exceeds the fragments, or the room of the other side.
    TooLong,
    /// A PUT is received and a GET gets a reply, not the other way round.
    WrongKind,
    /// The deadline has already passed (LU-16303).
    DeadlinePassed,
    /// There is no such link.
    BadLink,
    /// No path leads to this NID, or it is our own.
    NoRoute,
    /// The peer is down, and its hold-off still runs: see
    /// [`hello_tries`](crate::config::Config::hello_tries).
    PeerDown,
    /// The peer table is full.
    PeersFull,
    /// All slots for this direction are in use. Try again when a transfer has ended.
    NoSlots,
    /// All fragment lists are in use. Try again when a transfer has ended.
    NoLists,
    /// The driver is shutting down.
    ShuttingDown,
    /// The driver has forgotten the peer that the id names. Use its NID.
    StalePeer,
}

impl Why {
    /// The matching negative Linux errno.
    pub const fn errno(self) -> i32 {
        match self {
            // EINVAL
            Self::Fragments(_) | Self::HeaderTooLong | Self::BadLink | Self::WrongKind => -22,
            Self::BadAddress => -14,              // EFAULT
            Self::TooLong => -90,                 // EMSGSIZE
            Self::DeadlinePassed => -110,         // ETIMEDOUT
            Self::NoRoute => -113,                // EHOSTUNREACH
            Self::PeerDown => -112,               // EHOSTDOWN
            Self::PeersFull => -105,              // ENOBUFS
            Self::NoSlots | Self::NoLists => -11, // EAGAIN
            Self::ShuttingDown => -108,           // ESHUTDOWN
            Self::StalePeer => -116,              // ESTALE
        }
    }

    /// The matching health class: nothing was sent in any of these cases.
    pub const fn health(self) -> HealthClass {
        match self {
            Self::NoRoute => HealthClass::LocalNoRoute,
            Self::PeerDown => HealthClass::RemoteDropped,
            Self::DeadlinePassed => HealthClass::LocalTimeout,
            Self::PeersFull | Self::NoSlots | Self::NoLists | Self::StalePeer => {
                HealthClass::LocalDropped
            }
            Self::ShuttingDown => HealthClass::LocalAborted,
            Self::BadLink
            | Self::Fragments(_)
            | Self::BadAddress
            | Self::HeaderTooLong
            | Self::TooLong
            | Self::WrongKind => HealthClass::LocalError,
        }
    }
}

crate::sentences! { Why {
    Self::Fragments(why) => why.sentence(),
    Self::BadAddress => "the engine cannot reach a fragment",
    Self::HeaderTooLong => "the header is too long",
    Self::TooLong => "the length exceeds the fragments, or the room of the other side",
    Self::WrongKind => "a PUT is received and a GET gets a reply, not the other way round",
    Self::DeadlinePassed => "the deadline has passed",
    Self::BadLink => "there is no such link",
    Self::NoRoute => "there is no way to the NID, or it is our own",
    Self::PeerDown => "the peer is down",
    Self::PeersFull => "the peer table is full",
    Self::NoSlots => "all slots for this direction are in use",
    Self::NoLists => "all fragment lists are in use",
    Self::ShuttingDown => "the driver is shutting down",
    Self::StalePeer => "the driver has forgotten the peer that the id names",
}}

/// The state of an accepted message.
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use = "a message that has ended is not reported again"]
pub enum Submitted {
    /// Exactly one [`Report`](crate::driver::Report) with this tag will follow. Payload memory is
    /// lent until then.
    Pending(Tag),
    /// It has ended, and this is its only report (INV-1): nothing was lent. Only where the channel
    /// [ends messages at once](crate::ports::Channel::ends_at_once).
    Done(Status),
}

impl Submitted {
    /// The tag of a message that has not ended.
    pub const fn tag(self) -> Option<Tag> {
        match self {
            Self::Pending(tag) => Some(tag),
            Self::Done(_) => None,
        }
    }
}

/// A refused request, returned.
#[derive(Clone, Copy, Debug)]
pub struct Refused<'r> {
    /// The request, unchanged.
    pub request: Request<'r>,
    /// The reason.
    pub why: Why,
}

impl core::fmt::Display for Refused<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.why.fmt(f)
    }
}

impl core::error::Error for Refused<'_> {}
