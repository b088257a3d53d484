// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Short messages on their way.

use lnd_core::id::LinkId;
use lnd_core::message::{Envelope, Lane, Message};
use lnd_core::ports::Features;

use super::fabric::node_of;

/// What [`Letter::kind`] may say. Pushes stand at either end, and CANCELs behind the rest: storms
/// use ranges of this.
pub const KINDS: [&str; 15] = [
    "get_done",
    "hello",
    "hello_ack",
    "immediate",
    "put_req",
    "put_nak",
    "put_done",
    "get_req",
    "get_nak",
    "noop",
    "pull_ready",
    "cancel_put",
    "cancel_get",
    "cancel_push",
    "close",
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
        Self {
            from: node_of(envelope.from),
            to: node_of(envelope.to),
            link,
            lane: message.lane(),
            envelope: *envelope,
            shape: message.with(&[], &[], &[]),
            header: message.header().to_vec(),
            payload: message.payload().to_vec(),
            key: message.key().to_vec(),
        }
    }

    /// HELLO does not announce some features.
    pub fn hide(&mut self, hidden: Features) {
        match &mut self.shape {
            Message::Hello(it) => it.features &= !hidden.0,
            Message::HelloAck(it) => it.features &= !hidden.0,
            _ => {}
        }
    }

    pub fn message(&self) -> Message<'_> {
        self.shape.with(&self.header, &self.payload, &self.key)
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
            Message::GetDone { .. } => "get_done",
            Message::CancelPush { .. } => "cancel_push",
            Message::Noop => "noop",
            Message::Close => "close",
            Message::PullReady(_) => "pull_ready",
        }
    }
}
