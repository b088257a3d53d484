// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file holds a message in memory of its own.

use heapless::Vec;

use super::key::MAX_KEY;
use super::message::{Envelope, Message, MAX_HEADER};

/// A message with its envelope, in memory of its own, for channels that keep their messages.
/// `PAYLOAD` is the largest payload in bytes,
/// [`Channel::immediate_max`](crate::ports::Channel::immediate_max).
///
/// ```
/// use lnd_core::id::{Incarnation, Nid};
/// use lnd_core::message::{Envelope, Message};
/// use lnd_core::owned::OwnedMessage;
///
/// let (from, to) = (Nid::from_raw(1).unwrap(), Nid::from_raw(2).unwrap());
/// let from_incarnation = Incarnation::from_raw(7).unwrap();
/// let envelope = Envelope {
/// from, to, from_incarnation, to_incarnation: None, session: 1, sequence: 1, credits: 0,
/// credits_of: 0, }; let message = Message::Immediate { header: b"header", payload: b"payload" };
/// let kept = OwnedMessage::<16>::new(&envelope, &message).unwrap(); assert_eq!(kept.message(),
/// message); assert!(OwnedMessage::<4>::new(&envelope, &message).is_none());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnedMessage<const PAYLOAD: usize> {
    envelope: Envelope,
    /// The message without its slices.
    message: Message<'static>,
    header: Vec<u8, MAX_HEADER>,
    payload: Vec<u8, PAYLOAD>,
    key: Vec<u8, MAX_KEY>,
}

impl<const PAYLOAD: usize> OwnedMessage<PAYLOAD> {
    /// A copy of a message. `None`: its payload, its header or its key is too long.
    pub fn new(envelope: &Envelope, message: &Message<'_>) -> Option<Self> {
        Some(Self {
            envelope: *envelope,
            header: Vec::from_slice(message.header()).ok()?,
            payload: Vec::from_slice(message.payload()).ok()?,
            key: Vec::from_slice(message.key()).ok()?,
            // The slices are borrowed from the frame. They are kept in the fields above and put
            // back by `message`.
            message: message.with(&[], &[], &[]),
        })
    }

    /// What it carries beside its content.
    pub const fn envelope(&self) -> &Envelope {
        &self.envelope
    }

    /// The message.
    pub fn message(&self) -> Message<'_> {
        self.message.with(&self.header, &self.payload, &self.key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::id::{Incarnation, Nid, Tag};
    use crate::base::message::PullReady;

    fn envelope() -> Envelope {
        let (from, from_incarnation) =
            (Nid::from_raw(1).unwrap(), Incarnation::from_raw(1).unwrap());
        let (session, sequence) = (1, 1);
        let (to, to_incarnation) = (from, None);
        Envelope {
            from,
            to,
            from_incarnation,
            to_incarnation,
            session,
            sequence,
            credits: 0,
            credits_of: 0,
        }
    }

    #[test]
    fn a_kept_message_is_the_same_one() {
        let (source, sink) = (Tag { index: 1, generation: 2 }, Tag { index: 3, generation: 4 });
        let (header, key) = (&[5; MAX_HEADER][..], &[6; MAX_KEY][..]);
        let messages = [
            Message::Immediate { header, payload: &[7; 8] },
            Message::PutReq { header, source, length: 9, key },
            Message::GetReq { header, sink, length: 9, key },
            Message::GetDone { sink, length: 9, failed: None },
            Message::CancelPush { sink, session: 1, sequence: 2 },
            Message::PullReady(PullReady { sink, source, length: 9, key }),
            Message::Close,
        ];
        for message in messages {
            let kept = OwnedMessage::<8>::new(&envelope(), &message).unwrap();
            assert_eq!((kept.message(), *kept.envelope()), (message, envelope()));
        }
    }

    #[test]
    fn what_is_too_long_is_not_kept() {
        let (source, sink) = (Tag { index: 1, generation: 2 }, Tag { index: 3, generation: 4 });
        let messages = [
            Message::Immediate { header: &[5; MAX_HEADER + 1], payload: &[] },
            Message::Immediate { header: &[], payload: &[7; 9] },
            Message::PutReq { header: &[], source, length: 9, key: &[6; MAX_KEY + 1] },
            Message::GetReq { header: &[], sink, length: 9, key: &[6; MAX_KEY + 1] },
            Message::PullReady(PullReady { sink, source, length: 9, key: &[6; MAX_KEY + 1] }),
        ];
        for message in messages {
            assert!(OwnedMessage::<8>::new(&envelope(), &message).is_none());
        }
    }
}
