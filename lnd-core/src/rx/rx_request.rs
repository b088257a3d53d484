// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file holds a peer's request that waits for the upper layer's decision, and the possible
//! decisions.

use crate::base::fragment::Fragment;
use crate::base::id::{Nid, Tag};
use crate::base::message::Message;
use crate::base::time::Instant;
use crate::tx::Why;

/// The kind of a peer's request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// The payload is inline.
    Immediate,
    /// The payload is staged at the peer, to be pulled from there.
    Put,
    /// The peer pulls what is staged here (`lnet_parse` with `rdma_req` true, S3-9).
    Get,
}

impl RequestKind {
    /// The kind that a request's slot keeps in the place of the upper layer's value.
    pub(crate) const fn from_user(user: u64) -> Self {
        match user {
            1 => Self::Put,
            2 => Self::Get,
            _ => Self::Immediate,
        }
    }

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

/// A peer's request. It ends once, by [`recv`](crate::driver::Driver::recv),
/// [`reply`](crate::driver::Driver::reply) or [`nak`](crate::driver::Driver::nak). Until then
/// it holds a slot and the peer's credit (S3-10). A request without a decision ends by itself after
/// the configured bound.
///
/// ```
/// use lnd_core::driver::{Driver, Receive, RecvError, RxRequest};
/// use lnd_core::message::NakReason;
/// use lnd_core::ports::Ports;
/// use lnd_core::time::Instant;
///
/// /// Decides on a PUT that was kept until there were buffers.
/// fn decide<P: Ports>(
///     driver: &mut Driver<'_, P>,
///     now: Instant,
///     request: RxRequest<'static>,
///     buffers: &Receive<'_>,
/// ) {
///     match driver.recv(now, request, buffers) {
///         // One report follows.
///         Ok(_tag) => {}
///         // The peer went down meanwhile, or the decision came too late.
///         Err(RecvError::Gone) => {}
///         Err(RecvError::Refused(request, _why)) => {
///             driver.nak(now, request, NakReason::NoResources);
///         }
///     }
/// }
/// ```
#[derive(Debug)]
#[must_use = "a peer's request needs a decision"]
pub struct RxRequest<'f> {
    pub(crate) tag: Tag,
    pub(crate) kind: RequestKind,
    /// The hop it came from.
    pub from: Nid,
    /// The upper layer's header.
    pub header: &'f [u8],
    /// The payload, if it is inline.
    pub(crate) payload: &'f [u8],
    /// Bytes offered (PUT) or wanted (GET).
    pub length: u32,
}

impl<'f> RxRequest<'f> {
    /// The kind of the request.
    pub const fn kind(&self) -> RequestKind {
        self.kind
    }

    /// The tag of its transfer.
    pub const fn tag(&self) -> Tag {
        self.tag
    }

    /// The inline payload. Empty for the other kinds.
    pub const fn payload(&self) -> &'f [u8] {
        self.payload
    }

    /// This request without its frame, for an upper layer that decides later. An inline payload
    /// must have been copied first (`lnd_eager_recv`) and cannot be received any more.
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

/// The buffers for an accepted PUT.
#[derive(Clone, Copy, Debug)]
pub struct Receive<'r> {
    /// Buffers of at least `length` bytes.
    pub sink: &'r [Fragment],
    /// Bytes wanted, at most those of the request. The rest is dropped (`mlen` of `lnd_recv`).
    pub length: u32,
    /// When the transfer is given up.
    pub deadline: Instant,
    /// Returned in the report.
    pub user: u64,
}

impl<'r> Receive<'r> {
    /// The first `length` bytes go to `sink`, with 0 as `user`.
    pub const fn new(sink: &'r [Fragment], length: u32, deadline: Instant) -> Self {
        Self { sink, length, deadline, user: 0 }
    }
}

/// The bytes that answer an accepted GET.
#[derive(Clone, Copy, Debug)]
pub struct Reply<'r> {
    /// Buffers of at least `length` bytes.
    pub source: &'r [Fragment],
    /// Bytes sent, at most those of the request.
    pub length: u32,
    /// When the transfer is given up.
    pub deadline: Instant,
    /// Returned in the report.
    pub user: u64,
}

impl<'r> Reply<'r> {
    /// The first `length` bytes of `source` are the answer, with 0 as `user`.
    pub const fn new(source: &'r [Fragment], length: u32, deadline: Instant) -> Self {
        Self { source, length, deadline, user: 0 }
    }
}

/// The reason for which a decision was refused.
#[derive(Debug)]
pub enum RecvError<'f> {
    /// The request has ended meanwhile: the peer is down, or the decision came too late. Nothing
    /// will be reported.
    Gone,
    /// The buffers are unsuitable. The request is returned.
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

/// The reason for which a decision was refused.
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
