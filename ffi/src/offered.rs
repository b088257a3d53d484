// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Peers' requests between `lnd_frame_in` and their decision.
//!
//! The driver holds nothing of such a request: its frame stays in the channel. This module keeps
//! what the decision needs of the frame, one request for each link. Other calls may come before the
//! decision. So the decision receives the message again: the driver sees the same as if the frame
//! had been offered once more.

use lnd_core::id::Tag;
use lnd_core::key::Key;
use lnd_core::message::{Envelope, Message};

use crate::platform::OPERATIONS;

/// A request without its header, which a decision does not need.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub from: Envelope,
    pub body: Body,
}

/// The content of a request. The payload is a pointer, because no call reports when an undecided
/// frame goes away.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Body {
    Immediate { payload: *const u8, len: usize },
    Put(Large),
    Get(Large),
}

/// A request whose payload goes by the engines.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Large {
    tag: Tag,
    length: u32,
    key: Key,
}

impl Large {
    fn of(tag: Tag, length: u32, key: &[u8]) -> Self {
        // Only engines that are operations have keys. No codec of this library decodes a longer
        // one.
        let key = if OPERATIONS { Key::new(key) } else { None };
        Self { tag, length, key: key.unwrap_or(Key::NONE) }
    }
}

impl Body {
    fn of(message: &Message<'_>) -> Option<Self> {
        match *message {
            Message::Immediate { payload, .. } => {
                Some(Self::Immediate { payload: payload.as_ptr(), len: payload.len() })
            }
            Message::PutReq { source, length, key, .. } => {
                Some(Self::Put(Large::of(source, length, key)))
            }
            Message::GetReq { sink, length, key, .. } => {
                Some(Self::Get(Large::of(sink, length, key)))
            }
            _ => None,
        }
    }

    /// The payload of an inline message.
    ///
    /// # Safety
    /// The frame of the message is still there during `'f`.
    pub unsafe fn payload<'f>(&self) -> Option<&'f [u8]> {
        match *self {
            Self::Immediate { payload, len } => {
                // SAFETY: a part of the frame, by the caller's promise.
                Some(unsafe { core::slice::from_raw_parts(payload, len) })
            }
            Self::Put(_) | Self::Get(_) => None,
        }
    }

    /// # Safety
    /// The frame of the message is still there during `'f`.
    pub unsafe fn message<'f>(&'f self) -> Message<'f> {
        let header = &[];
        match *self {
            Self::Immediate { .. } => {
                // SAFETY: by the caller's promise.
                let payload = unsafe { self.payload() }.unwrap_or(&[]);
                Message::Immediate { header, payload }
            }
            Self::Put(ref it) => Message::PutReq {
                header,
                source: it.tag,
                length: it.length,
                key: it.key.as_bytes(),
            },
            Self::Get(ref it) => {
                Message::GetReq { header, sink: it.tag, length: it.length, key: it.key.as_bytes() }
            }
        }
    }
}

/// The undecided request of one link.
#[derive(Debug, Default)]
pub(crate) struct Offered {
    /// Number of the latest request.
    sequence: u32,
    request: Option<Request>,
}

impl Offered {
    /// Another frame has arrived: an undecided request stays in the channel.
    pub fn forget(&mut self) {
        self.request = None;
    }

    /// Stores what a frame requests. Returns its number.
    pub fn put(&mut self, from: &Envelope, message: &Message<'_>) -> u32 {
        self.sequence = self.sequence.wrapping_add(1);
        self.request = Body::of(message).map(|body| Request { from: *from, body });
        self.sequence
    }

    /// The request with this number, if it waits for its decision.
    pub fn get(&self, sequence: u32) -> Option<&Request> {
        self.request.as_ref().filter(|_| self.sequence == sequence)
    }

    /// Removes the decided request.
    pub fn decided(&mut self) {
        self.request = None;
    }
}
