// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Short messages on their way.

use lnd_core::id::LinkId;
use lnd_core::message::{Envelope, Lane, Message, PullReady};
use lnd_core::ports::Features;

use super::fabric::node_of;

/// What [`Letter::kind`] may say.
pub const KINDS: [&str; 13] = [
    "hello",
    "hello_ack",
    "immediate",
    "put_req",
    "put_nak",
    "put_done",
    "get_req",
    "get_nak",
    "noop",
    "close",
    "pull_ready",
    "cancel_put",
    "cancel_get",
];

/// A test that names a kind that does not exist would hold, lose or count nothing.
pub fn assert_kind(kind: &str) {
    assert!(KINDS.contains(&kind), "there is no message of kind {kind}");
}

/// One short message on its way.
#[derive(Clone, Debug)]
pub struct Letter {
    pub from: usize,
    pub to: usize,
    pub link: LinkId,
    pub lane: Lane,
    pub envelope: Envelope,
    shape: Message<'static>,
    header: Vec<u8>,
    payload: Vec<u8>,
    key: Vec<u8>,
}

impl Letter {
    /// The message's number, which the test's upper layer has put into its header.
    pub fn id(&self) -> Option<u64> {
        self.header.as_slice().try_into().ok().map(u64::from_le_bytes)
    }

    pub fn new(link: LinkId, envelope: &Envelope, message: &Message<'_>) -> Self {
        let (mut header, mut payload, mut key): (&[u8], &[u8], &[u8]) = (&[], &[], &[]);
        let shape = match *message {
            Message::Immediate { header: h, payload: p } => {
                (header, payload) = (h, p);
                Message::Immediate { header: &[], payload: &[] }
            }
            Message::PutReq { header: h, source, length, key: k } => {
                key = k;
                header = h;
                Message::PutReq { header: &[], source, length, key: &[] }
            }
            Message::GetReq { header: h, sink, length } => {
                header = h;
                Message::GetReq { header: &[], sink, length }
            }
            Message::Hello(it) => Message::Hello(it),
            Message::HelloAck(it) => Message::HelloAck(it),
            Message::PutNak { source, why } => Message::PutNak { source, why },
            Message::PutDone { source, failed } => Message::PutDone { source, failed },
            Message::GetNak { sink, why } => Message::GetNak { sink, why },
            Message::CancelPut { source, session, sequence } => {
                Message::CancelPut { source, session, sequence }
            }
            Message::CancelGet { source, sink } => Message::CancelGet { source, sink },
            Message::Noop => Message::Noop,
            Message::Close => Message::Close,
            Message::PullReady(it) => {
                key = it.key;
                Message::PullReady(PullReady { key: &[], ..it })
            }
        };
        Self {
            from: node_of(envelope.from),
            to: node_of(envelope.to),
            link,
            lane: message.lane(),
            envelope: *envelope,
            shape,
            header: header.to_vec(),
            payload: payload.to_vec(),
            key: key.to_vec(),
        }
    }

    /// A greeting does not announce some features.
    pub fn hide(&mut self, hidden: Features) {
        match &mut self.shape {
            Message::Hello(it) => it.features &= !hidden.0,
            Message::HelloAck(it) => it.features &= !hidden.0,
            _ => {}
        }
    }

    pub fn message(&self) -> Message<'_> {
        match self.shape {
            Message::Immediate { .. } => {
                Message::Immediate { header: &self.header, payload: &self.payload }
            }
            Message::PutReq { source, length, .. } => {
                Message::PutReq { header: &self.header, source, length, key: &self.key }
            }
            Message::GetReq { sink, length, .. } => {
                Message::GetReq { header: &self.header, sink, length }
            }
            Message::PullReady(it) => Message::PullReady(PullReady { key: &self.key, ..it }),
            other => other,
        }
    }

    /// The kind in one word, for filters and assertions.
    pub fn kind(&self) -> &'static str {
        match self.shape {
            Message::Hello(_) => "hello",
            Message::HelloAck(_) => "hello_ack",
            Message::Immediate { .. } => "immediate",
            Message::PutReq { .. } => "put_req",
            Message::PutNak { .. } => "put_nak",
            Message::PutDone { .. } => "put_done",
            Message::GetReq { .. } => "get_req",
            Message::GetNak { .. } => "get_nak",
            Message::CancelPut { .. } => "cancel_put",
            Message::CancelGet { .. } => "cancel_get",
            Message::Noop => "noop",
            Message::Close => "close",
            Message::PullReady(_) => "pull_ready",
        }
    }
}
