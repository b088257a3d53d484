// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the upper layer asks to be sent, and what the driver says to it.

use crate::base::fragment::{Fragment, FragmentError};
use crate::base::id::{LinkId, Nid, PeerId, Tag};
use crate::base::time::Instant;
use crate::machines::transfer::Status;

/// The four kinds of LNet message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Payload for the peer.
    Put,
    /// The answer to a PUT that wants one (S1-7), without payload; the upper layer's own doing
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
    /// By NID. A node that is not in the peer table is taken up.
    Nid(Nid),
    /// A peer by the id that [`Driver::peer`](crate::driver::Driver::peer) gives: no NID is looked up. Once
    /// the driver has forgotten that peer the message is refused with [`Why::StalePeer`], also if the
    /// driver knows the same NID again.
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
#[derive(Clone, Copy, Debug)]
pub struct Request<'r> {
    /// What kind.
    pub kind: Kind,
    /// The next hop: a driver knows direct neighbours only (S3-16).
    pub peer: To,
    /// The link to use, or any. A request for a link that is down, or that fails while the request
    /// waits, ends with [`Cause::LinkDown`](crate::transfer::Cause::LinkDown).
    pub link: Option<LinkId>,
    /// The message is routed, or the next hop is a router: a GET must not be optimised (S3-14, S3-15).
    pub routed: bool,
    /// The upper layer's header, at most [`MAX_HEADER`](crate::message::MAX_HEADER) bytes; opaque.
    pub header: &'r [u8],
    /// PUT, REPLY: what to send. GET: where the reply shall go.
    pub payload: &'r [Fragment],
    /// When to give up: one absolute time (R37) over every place where the message may wait (R38,
    /// INV-9).
    pub deadline: Instant,
    /// Comes back in the [`Report`](crate::driver::Report).
    pub user: u64,
}

/// Why a call was refused. Nothing was kept and nothing will be reported (INV-1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The fragments break a rule.
    Fragments(FragmentError),
    /// A fragment lies outside of what the engine can reach.
    BadAddress,
    /// The header is longer than [`MAX_HEADER`](crate::message::MAX_HEADER).
    HeaderTooLong,
    /// The length is more than the fragments, or than the other side has room for.
    TooLong,
    /// A PUT is received, a GET is given: not the other way round.
    WrongKind,
    /// The deadline has passed already (LU-16303).
    DeadlinePassed,
    /// There is no such link.
    BadLink,
    /// There is no way to this NID, or it is our own.
    NoRoute,
    /// The peer is down, and was not asked again long enough ago.
    PeerDown,
    /// No more peers can be taken up.
    PeersFull,
    /// All slots for this direction are in use: try again when something has ended.
    NoSlots,
    /// All fragment lists are in use: try again when something has ended.
    NoLists,
    /// The driver is shutting down.
    ShuttingDown,
    /// The peer that the id names is forgotten: name it by its NID.
    StalePeer,
}

impl Why {
    /// The matching negative Linux errno.
    pub const fn errno(self) -> i32 {
        match self {
            Self::Fragments(_) | Self::HeaderTooLong | Self::BadLink | Self::WrongKind => -22, // EINVAL
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
}

crate::sentences! { Why {
    Self::Fragments(why) => why.sentence(),
    Self::BadAddress => "the engine cannot reach a fragment",
    Self::HeaderTooLong => "the header is too long",
    Self::TooLong => "the length exceeds the fragments, or the room of the other side",
    Self::WrongKind => "a PUT is received and a GET is given, not the other way round",
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

/// What became of an accepted message.
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use = "a message that has ended is not reported again"]
pub enum Submitted {
    /// There will be exactly one [`Report`](crate::driver::Report) with this tag. Payload memory is lent until
    /// then.
    Pending(Tag),
    /// It has ended, and this is the only word of it (INV-1): nothing was lent, no report follows. Only
    /// where the channel [ends messages at once](crate::ports::Channel::ends_at_once).
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

/// A refused request, given back.
#[derive(Clone, Copy, Debug)]
pub struct Refused<'r> {
    /// The request, as it came.
    pub request: Request<'r>,
    /// Why.
    pub why: Why,
}

impl core::fmt::Display for Refused<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.why.fmt(f)
    }
}

impl core::error::Error for Refused<'_> {}
