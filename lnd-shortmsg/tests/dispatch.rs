// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Frames through a mailbox and back, counted; and what the errors say.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "common/mod.rs"]
mod common;
#[path = "common/memory.rs"]
mod memory;

use std::collections::BTreeSet;

use common::samples;
use lnd_core::message::{Envelope, Message};
use lnd_shortmsg::dispatch::{transmit, Receiver, Sender, TransmitError};
use lnd_shortmsg::mailbox::{
    spsc, Consumer, Fault, Line, MailboxGeometry, Outlet, RegionError, SendError,
};
use lnd_shortmsg::wire::{encode, encoded_len, Checksum, DecodeError, EncodeError, Frame, Wire};

/// Every sample goes through, and is told apart by layer (S3-6).
fn all_go_through(outlet: &mut impl Outlet, consumer: &mut Consumer<'_>, mode: Checksum) {
    let (mut receiver, mut buffer) = (Receiver::new(mode), [0; 1024]);
    let (mut control, mut lnd) = (0, 0);
    for sample in samples() {
        transmit(outlet, &sample.envelope, &sample.message, Wire::named(mode)).unwrap();
        let frame = consumer.recv(&mut buffer).unwrap().unwrap();
        let received = receiver.receive_from(Sender::Known(sample.envelope.from), frame).unwrap();
        match sample.message {
            Message::PullReady(_) => {
                control += 1;
                assert!(matches!(received, Frame::Control(..)), "{}", sample.name);
            }
            _ => {
                lnd += 1;
                assert!(matches!(received, Frame::Lnd(..)), "{}", sample.name);
            }
        }
        assert_eq!(received.into_parts(), (sample.envelope, sample.message), "{}", sample.name);
        assert_eq!((receiver.control(), receiver.lnd()), (control, lnd));
    }
    assert_eq!(receiver.errors().total(), 0);
}

#[test]
fn every_message_goes_through_both_kinds_of_mailbox() {
    let geometry = MailboxGeometry::new(4, 1024).unwrap();
    for mode in [Checksum::On, Checksum::Off] {
        let mut memory = vec![Line::ZERO; geometry.bytes_needed() / 64];
        let (mut producer, mut consumer) = spsc::channel(&mut memory, geometry).unwrap();
        assert_eq!((producer.capacity(), consumer.capacity()), (1016, 1016));
        all_go_through(&mut producer, &mut consumer, mode);
    }
}

#[test]
fn what_is_no_frame_is_counted_by_cause_and_changes_nothing_else() {
    let mut receiver = Receiver::new(Checksum::On);
    assert_eq!(receiver.receive_from(Sender::Unknown, &[]), Err(DecodeError::Truncated));
    assert_eq!(receiver.receive_from(Sender::Unknown, &[9; 80]), Err(DecodeError::Class));
    assert_eq!(receiver.receive_from(Sender::Unknown, &[9; 80]), Err(DecodeError::Class));
    let errors = receiver.errors();
    assert_eq!((errors.of(DecodeError::Truncated), errors.of(DecodeError::Class)), (1, 2));
    assert_eq!((errors.total(), receiver.control(), receiver.lnd()), (3, 0, 0));
    let counted: Vec<_> = errors.iter().filter(|&(_, count)| count > 0).collect();
    assert_eq!(counted.len(), 2);
}

#[test]
fn r31_on_a_channel_of_its_own_none_speaks_in_the_name_of_another() {
    let (me, other) = (common::envelope().from, common::envelope().to);
    for sample in samples() {
        let mut frame = vec![0; encoded_len(&sample.envelope, &sample.message).unwrap()];
        encode(&sample.envelope, &sample.message, Checksum::On, &mut frame).unwrap();
        let mut receiver = Receiver::new(Checksum::On);
        assert_eq!(receiver.receive_from(Sender::Known(other), &frame), Err(DecodeError::Sender));
        assert_eq!((receiver.errors().of(DecodeError::Sender), receiver.errors().total()), (1, 1));
        assert_eq!((receiver.control(), receiver.lnd()), (0, 0), "{}", sample.name);
        let received = receiver.receive_from(Sender::Known(me), &frame).unwrap();
        assert_eq!(received.into_parts(), (sample.envelope, sample.message), "{}", sample.name);
        let control = matches!(sample.message, Message::PullReady(_));
        let counted = (receiver.control(), receiver.lnd());
        assert_eq!(counted, if control { (1, 0) } else { (0, 1) }, "{}", sample.name);
    }
}

#[test]
fn what_cannot_be_sent_is_not_sent() {
    let geometry = MailboxGeometry::new(2, 128).unwrap();
    let mut memory = vec![Line::ZERO; geometry.bytes_needed() / 64];
    let (mut producer, mut consumer) = spsc::channel(&mut memory, geometry).unwrap();
    let envelope = common::envelope();
    let mut send = |envelope: &Envelope, message| {
        transmit(&mut producer, envelope, &message, Wire::named(Checksum::On))
    };
    let nowhere = Envelope { to_incarnation: None, ..envelope };
    let no_incarnation = send(&nowhere, Message::Noop).unwrap_err();
    assert_eq!(no_incarnation, TransmitError::Encode(EncodeError::NoIncarnation));
    let long = send(&envelope, Message::Immediate { header: b"", payload: &[0; 64] }).unwrap_err();
    assert_eq!(long, TransmitError::Send(SendError::TooLong));
    assert_ne!(no_incarnation.to_string(), long.to_string());
    assert_eq!(consumer.recv(&mut [0; 120]), Ok(None));
}

#[test]
fn a_message_none_wants_is_discarded_unread() {
    let geometry = MailboxGeometry::new(4, 64).unwrap();
    let mut memory = vec![Line::ZERO; geometry.bytes_needed() / 64];
    let (mut producer, mut consumer) = spsc::channel(&mut memory, geometry).unwrap();
    assert!(!consumer.discard(), "there is none");
    producer.send(b"one").unwrap();
    producer.send(b"two").unwrap();
    assert!(consumer.discard());
    assert_eq!(consumer.recv(&mut [0; 56]), Ok(Some(b"two".as_slice())));
    assert!(!consumer.discard());
}

#[test]
fn every_error_says_what_it_is() {
    let mut texts = BTreeSet::new();
    let mut check = |text: String| {
        assert!(!text.is_empty() && texts.insert(text.clone()), "said twice: {text}");
    };
    DecodeError::ALL.into_iter().for_each(|error| check(format!("decode: {error}")));
    use EncodeError as E;
    for error in
        [E::NoRoom, E::TooLong, E::HeaderTooLong, E::NoIncarnation, E::NoVersion, E::KeyTooLong]
    {
        check(format!("encode: {error}"));
        assert_eq!(TransmitError::Encode(error).to_string(), error.to_string());
    }
    for error in [SendError::Full, SendError::TooLong, SendError::Broken] {
        check(format!("send: {error}"));
        assert_eq!(TransmitError::Send(error).to_string(), error.to_string());
    }
    for fault in [Fault::Length, Fault::Sequence, Fault::NoRoom] {
        check(format!("receive: {fault}"));
    }
    use RegionError as R;
    let all = [R::Misaligned, R::TooSmall, R::Magic, R::ByteOrder, R::Version, R::Kind];
    for error in all.into_iter().chain([R::Geometry, R::Positions]) {
        check(format!("region: {error}"));
    }
}

#[test]
fn ends_can_be_printed() {
    let mut shared = memory::Shared::formatted(41);
    let producer = shared.producer().unwrap();
    let consumer = shared.consumer().unwrap();
    assert!(format!("{producer:?}").contains("next: 41"));
    assert!(format!("{consumer:?}").contains("next: 41"));
}

/// R31: a channel that cannot tell who has sent a frame is trusted, and only that one.
#[test]
fn an_unknown_sender_may_be_anybody() {
    let mut receiver = Receiver::new(Checksum::On);
    for sample in samples() {
        let mut frame = vec![0; encoded_len(&sample.envelope, &sample.message).unwrap()];
        encode(&sample.envelope, &sample.message, Checksum::On, &mut frame).unwrap();
        let received = receiver.receive_from(Sender::Unknown, &frame).unwrap();
        assert_eq!(received.into_parts(), (sample.envelope, sample.message), "{}", sample.name);
        let other = sample.envelope.to;
        assert_ne!(other, sample.envelope.from);
        let refused = receiver.receive_from(Sender::Known(other), &frame);
        assert_eq!(refused.err(), Some(DecodeError::Sender), "{}", sample.name);
    }
}
