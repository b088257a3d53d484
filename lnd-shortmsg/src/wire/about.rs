// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a frame says of a staged or exposed descriptor, for channels whose engine has work to do
//! with it.

use super::layout::{at, class, kind};
use super::order::Reader;
use lnd_core::id::Tag;

/// The staged or exposed descriptor that a frame is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// The frame lets its receiver pull what its sender has staged under this tag, or push into
    /// what its sender has exposed under it.
    Staged(Tag),
    /// The frame says that its sender has ended well what it did to the receiver's memory under
    /// this tag: a pull of what is staged, or a push into what is exposed. It touches no more of
    /// it.
    Pulled(Tag),
}

/// Reads it from a frame that [`encode`](super::encode) has written. `None`: the frame is about no
/// such descriptor, or has a short head.
///
/// Nothing is checked, and no checksum is computed: it is for the frame's own sender, on its way to
/// the channel. Frames of the other byte order are about nothing.
pub fn about(frame: &[u8]) -> Option<About> {
    let (class, kind) = (*frame.get(at::CLASS)?, *frame.get(at::KIND)?);
    let reader = Reader::<false>(frame);
    if reader.u32(at::MAGIC).ok()? != super::layout::MAGIC {
        return None;
    }
    let tag = |at| reader.u64(at).ok().map(Tag::from_cookie);
    match (class, kind) {
        (class::CONTROL, kind::PULL_READY) => tag(at::SOURCE).map(About::Staged),
        (class::LND, kind::PUT_REQ) => tag(at::COOKIE).map(About::Staged),
        // Without a key it asks for memory to be staged, and its own is not exposed.
        (class::LND, kind::GET_REQ) if reader.u8(at::REQ_KEY).ok()? != 0 => {
            tag(at::COOKIE).map(About::Staged)
        }
        // A transfer that has failed may have left a part under way: the memory is taken back by
        // its own node.
        (class::LND, kind::PUT_DONE | kind::GET_DONE) if reader.u8(at::REFUSAL).ok()? == 0 => {
            tag(at::COOKIE).map(About::Pulled)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{encode, encode_as, Checksum, Order};
    use super::*;
    use lnd_core::id::{Incarnation, Nid};
    use lnd_core::message::{Envelope, Message, NakReason, PullReady};

    const SOURCE: Tag = Tag { index: 5, generation: 0x8000_0007 };
    const SINK: Tag = Tag { index: 6, generation: 9 };

    fn envelope() -> Envelope {
        Envelope {
            from: Nid::from_raw(1).unwrap(),
            to: Nid::from_raw(2).unwrap(),
            from_incarnation: Incarnation::from_raw(3).unwrap(),
            to_incarnation: Incarnation::from_raw(4),
            session: 5,
            sequence: 6,
            credits: 7,
            credits_of: 8,
        }
    }

    fn about_of(message: &Message<'_>) -> Option<About> {
        let mut frame = [0; 512];
        let length = encode(&envelope(), message, Checksum::On, &mut frame).unwrap();
        about(&frame[..length])
    }

    #[test]
    fn only_what_lets_a_peer_touch_memory_or_ends_that_well_is_about_a_descriptor() {
        let (header, key) = (&[1; 72][..], &[2; 24][..]);
        let staged = Some(About::Staged(SOURCE));
        assert_eq!(about_of(&Message::PutReq { header, source: SOURCE, length: 9, key }), staged);
        let ready = PullReady { sink: SINK, source: SOURCE, length: 9, key };
        assert_eq!(about_of(&Message::PullReady(ready)), staged);
        let get = |key| about_of(&Message::GetReq { header, sink: SINK, length: 9, key });
        assert_eq!(get(key), Some(About::Staged(SINK)));
        assert_eq!(get(&[]), None);
        let pulled = |failed| about_of(&Message::PutDone { source: SOURCE, failed });
        assert_eq!(pulled(None), Some(About::Pulled(SOURCE)));
        let pushed = |length, failed| about_of(&Message::GetDone { sink: SINK, length, failed });
        assert_eq!(pushed(9, None), Some(About::Pulled(SINK)));
        assert_eq!(pushed(0, None), Some(About::Pulled(SINK)));
        for why in NakReason::ALL {
            assert_eq!(pulled(Some(why)), None, "{why:?}");
            assert_eq!(pushed(0, Some(why)), None, "{why:?}");
            assert_eq!(about_of(&Message::PutNak { source: SOURCE, why }), None);
            assert_eq!(about_of(&Message::GetNak { sink: SINK, why }), None);
        }
        let others = [
            Message::Immediate { header, payload: &[3; 64] },
            Message::CancelPut { source: SOURCE, session: 1, sequence: 2 },
            Message::CancelGet { source: SOURCE, sink: SINK },
            Message::CancelPush { sink: SINK, session: 1, sequence: 2 },
            Message::Noop,
            Message::Close,
        ];
        for message in others {
            assert_eq!(about_of(&message), None, "{message:?}");
        }
    }

    #[test]
    fn what_is_no_whole_frame_of_ours_is_about_nothing() {
        let done = Message::PutDone { source: SOURCE, failed: None };
        let mut frame = [0; 512];
        let length = encode(&envelope(), &done, Checksum::Off, &mut frame).unwrap();
        for short in 0..=at::REFUSAL {
            assert_eq!(about(&frame[..short]), None, "{short} bytes");
        }
        assert!(about(&frame[..length]).is_some());
        let get = Message::GetReq { header: &[], sink: SINK, length: 9, key: &[1] };
        let mut frame = [0; 512];
        let length = encode(&envelope(), &get, Checksum::Off, &mut frame).unwrap();
        for short in 0..=at::REQ_KEY {
            assert_eq!(about(&frame[..short]), None, "{short} bytes");
        }
        assert!(about(&frame[..length]).is_some());
        let other = if Order::NATIVE == Order::Little { Order::Big } else { Order::Little };
        let length = encode_as(other, &envelope(), &done, Checksum::Off, &mut frame).unwrap();
        assert_eq!(about(&frame[..length]), None, "the other byte order");
    }
}
