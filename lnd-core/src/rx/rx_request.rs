// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A peer's request that waits for the upper layer's verdict, and what the verdict may be.

use crate::base::fragment::Fragment;
use crate::base::id::{Nid, Tag};
use crate::base::message::Message;
use crate::base::time::Instant;
use crate::tx::Why;

/// What a peer asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// The payload came along.
    Immediate,
    /// The payload is staged at the peer: we pull it.
    Put,
    /// The peer will pull what we stage (`lnet_parse` with `rdma_req` true, S3-9).
    Get,
}

impl RequestKind {
    /// The kind of a message that is a request.
    #[inline]
    pub(crate) const fn of(message: &Message<'_>) -> Self {
        match message {
            Message::PutReq { .. } => Self::Put,
            Message::GetReq { .. } => Self::Get,
            _ => Self::Immediate,
        }
    }
}

/// A peer's request. It ends in [`recv`](crate::driver::Driver::recv), [`give`](crate::driver::Driver::give) or
/// [`refuse`](crate::driver::Driver::refuse), once; until then it holds a slot and the peer's credit (S3-10). One
/// that is forgotten ends by itself after the configured bound.
#[derive(Debug)]
#[must_use = "a peer's request needs a verdict"]
pub struct RxRequest<'f> {
    pub(crate) tag: Tag,
    pub(crate) kind: RequestKind,
    /// The hop it came from.
    pub from: Nid,
    /// The upper layer's header.
    pub header: &'f [u8],
    /// The payload, if it came along.
    pub(crate) payload: &'f [u8],
    /// Bytes offered (PUT) or wanted (GET).
    pub length: u32,
}

impl<'f> RxRequest<'f> {
    /// What is asked for.
    pub const fn kind(&self) -> RequestKind {
        self.kind
    }

    /// Which transfer it will be.
    pub const fn tag(&self) -> Tag {
        self.tag
    }

    /// The payload that came along; empty for the other kinds.
    pub const fn payload(&self) -> &'f [u8] {
        self.payload
    }

    /// This ticket without its frame, for an upper layer that must delay its verdict. An inline
    /// payload must have been copied first (`lnd_eager_recv`) and cannot be received any more.
    pub const fn detach(self) -> RxRequest<'static> {
        RxRequest {
            tag: self.tag,
            kind: self.kind,
            from: self.from,
            header: &[],
            payload: &[],
            length: self.length,
        }
    }
}

/// Where an accepted PUT goes.
#[derive(Clone, Copy, Debug)]
pub struct Receive<'r> {
    /// Buffers; at least `length` bytes.
    pub sink: &'r [Fragment],
    /// Bytes wanted, at most the ticket's; the rest is dropped (`mlen` of `lnd_recv`).
    pub length: u32,
    /// When to give up.
    pub deadline: Instant,
    /// Comes back in the report.
    pub user: u64,
}

/// What an accepted GET is answered with.
#[derive(Clone, Copy, Debug)]
pub struct Reply<'r> {
    /// Buffers; at least `length` bytes.
    pub source: &'r [Fragment],
    /// Bytes given, at most the ticket's.
    pub length: u32,
    /// When to give up.
    pub deadline: Instant,
    /// Comes back in the report.
    pub user: u64,
}

/// Why a verdict was not taken.
#[derive(Debug)]
pub enum RecvError<'f> {
    /// The request has ended meanwhile: the peer is down, or the verdict came too late. Nothing
    /// will be reported.
    Gone,
    /// The buffers do not do; the ticket is given back.
    Refused(RxRequest<'f>, Why),
}

impl core::fmt::Display for RecvError<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Gone => f.write_str("the request has ended"),
            Self::Refused(_, why) => why.fmt(f),
        }
    }
}

impl core::error::Error for RecvError<'_> {}

/// Why a verdict was not taken.
pub type ReplyError<'f> = RecvError<'f>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decision_that_is_not_taken_says_why() {
        let rx_request = RxRequest {
            tag: Tag { index: 0, generation: 1 },
            kind: RequestKind::Put,
            from: Nid::from_raw(1).unwrap(),
            header: &[],
            payload: &[],
            length: 0,
        };
        let refused = RecvError::Refused(rx_request, Why::TooLong);
        assert_eq!(std::format!("{refused}"), Why::TooLong.sentence());
        assert_eq!(std::format!("{}", RecvError::Gone), "the request has ended");
    }
}
