// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The short head. Its golden frames were not made by this code: a change that alters them is a
//! change of the wire format.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{envelope, samples, Rng, Sample, KEYED};
use lnd_core::id::{Nid, Tag};
use lnd_core::key::MAX_KEY;
use lnd_core::message::{Envelope, Message, PullReady, MAX_HEADER};
use lnd_shortmsg::dispatch::{transmit, transmit_inline, Receiver, Sender, TransmitError};
use lnd_shortmsg::mailbox::{spsc, Line, MailboxGeometry, SendError};
use lnd_shortmsg::wire::layout::{class, kind, short, MAX_FRAME};
use lnd_shortmsg::wire::{Checksum, DecodeError, EncodeError, Frame, Heads, Wire};

const BOTH: [Wire; 2] = [Wire::short(Checksum::On), Wire::short(Checksum::Off)];

const fn named_always(message: &Message<'_>) -> bool {
    matches!(message, Message::Hello(_) | Message::HelloAck(_) | Message::Close)
}

/// The samples that have a short head.
fn short_samples() -> Vec<Sample> {
    samples().into_iter().filter(|sample| !named_always(&sample.message)).collect()
}

fn frame_of(wire: Wire, envelope: &Envelope, message: &Message<'_>) -> Vec<u8> {
    let mut frame = vec![0xee; wire.encoded_len(envelope, message).unwrap()];
    assert_eq!(wire.encode(envelope, message, &mut frame), Ok(frame.len()));
    frame
}

fn sample_frame(wire: Wire, name: &str) -> Vec<u8> {
    let sample = samples().into_iter().find(|sample| sample.name == name).unwrap();
    frame_of(wire, &sample.envelope, &sample.message)
}

/// What the node that the samples are for makes of a frame of their sender.
fn receive(wire: Wire, frame: &[u8]) -> Result<Frame<'_>, DecodeError> {
    let mut receiver = Receiver::of(wire, envelope().to);
    let received = receiver.receive_from(Sender::Known(envelope().from), frame);
    let counted = (receiver.control(), receiver.lnd(), receiver.errors().total());
    assert_inline(wire, frame, &received);
    let expected = match &received {
        Ok(Frame::Control(..)) => (1, 0, 0),
        Ok(Frame::Lnd(..)) => (0, 1, 0),
        Err(error) => (0, 0, receiver.errors().of(*error)),
    };
    assert_eq!(counted, expected, "each frame is counted once");
    assert_eq!(expected.0 + expected.1 + expected.2, 1);
    received
}

/// The shorter way takes the correct IMMEDIATEs with a short head, says the same of them, and
/// counts no other.
fn assert_inline(wire: Wire, frame: &[u8], received: &Result<Frame<'_>, DecodeError>) {
    let mut receiver = Receiver::of(wire, envelope().to);
    let found = receiver.receive_inline(Sender::Known(envelope().from), frame);
    let expected = match *received {
        Ok(Frame::Lnd(envelope, Message::Immediate { header, payload })) => {
            Some((envelope, header, payload)).filter(|_| wire.heads == Heads::Short)
        }
        _ => None,
    };
    assert_eq!(found, expected);
    assert_eq!(receiver.lnd(), u64::from(expected.is_some()));
    assert_eq!(receiver.control() + receiver.errors().total(), 0);
    assert_eq!(receiver.receive_inline(Sender::Unknown, frame), None);
}

fn golden(name: &str) -> Vec<u8> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/short");
    let text = std::fs::read_to_string(path.join(format!("{name}.hex"))).unwrap();
    let mut frame = Vec::new();
    for line in text.lines().filter_map(|line| line.split('#').next()) {
        let Some((offset, bytes)) = line.split_once(':') else { continue };
        assert_eq!(offset.trim().parse(), Ok(frame.len()), "offset in {name}");
        frame.extend(bytes.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()));
    }
    frame
}

/// R32: both ways, with and without the sum, which is what follows all the rest.
#[test]
fn golden_frames() {
    for Sample { name, envelope, message } in short_samples() {
        let frame = golden(name);
        let [on, off] = BOTH;
        assert_eq!(frame_of(on, &envelope, &message), frame, "{name}");
        assert_eq!(receive(on, &frame).unwrap().into_parts(), (envelope, message), "{name}");
        let bare = &frame[..frame.len() - short::SUM_LEN];
        assert_eq!(frame_of(off, &envelope, &message), bare, "{name}");
        let decoded = receive(off, bare).unwrap();
        // S3-6, R23: the first byte says which layer.
        let control = matches!(message, Message::PullReady(_));
        assert_eq!(matches!(decoded, Frame::Control(..)), control, "{name}");
        assert_eq!(frame[0], if control { class::SHORT_CONTROL } else { class::SHORT_LND });
        assert_eq!(decoded.into_parts(), (envelope, message), "{name}");
        // The two choices do not read each other's frames.
        assert_eq!(receive(off, &frame), Err(DecodeError::Trailing), "{name}");
        assert_eq!(receive(on, bare), Err(DecodeError::Truncated), "{name}");
    }
}

/// The lines that messages take in a mailbox, whose slots begin with 8 bytes: what the head is for.
#[test]
fn short_frames_take_few_lines() {
    let header = [0x5a; 72];
    let lines = |message: &Message<'_>| {
        let length = Wire::short(Checksum::Off).encoded_len(&envelope(), message).unwrap();
        (length + 8).div_ceil(64)
    };
    for sample in short_samples() {
        let expected = match sample.message {
            Message::Immediate { .. } => 3,
            Message::PutReq { key, .. } | Message::GetReq { key, .. } if !key.is_empty() => 3,
            Message::PullReady(ready) if !ready.key.is_empty() => 2,
            Message::PutReq { .. } | Message::GetReq { .. } => 2,
            _ => 1,
        };
        assert_eq!(lines(&sample.message), expected, "{}", sample.name);
    }
    assert_eq!(lines(&Message::Immediate { header: &header, payload: &[1; 56] }), 3);
}

#[test]
fn every_message_comes_back() {
    let mut rng = Rng(0x1bad_b002);
    let content = rng.bytes(600);
    for _ in 0..if cfg!(miri) { 40 } else { 20_000 } {
        let message = rng.message(&content);
        let envelope = rng.envelope(&message);
        let wire = BOTH[rng.below(2)];
        let frame = frame_of(wire, &envelope, &message);
        let mut receiver = Receiver::of(wire, envelope.to);
        let decoded = receiver.receive_from(Sender::Known(envelope.from), &frame).unwrap();
        assert_eq!(decoded.into_parts(), (envelope, message));
        // HELLO and CLOSE look the same on every channel (R27).
        let named = Wire { heads: Heads::Named, ..wire };
        let same = frame_of(named, &envelope, &message) == frame;
        assert_eq!(same, named_always(&message));
    }
}

/// B14.
#[test]
fn every_truncation_and_every_byte_too_many_is_refused() {
    for wire in BOTH {
        for Sample { name, envelope, message } in short_samples() {
            let mut frame = frame_of(wire, &envelope, &message);
            for length in 0..frame.len() {
                let error = receive(wire, &frame[..length]);
                assert_eq!(error, Err(DecodeError::Truncated), "{length} bytes of {name}");
            }
            frame.push(0);
            assert_eq!(receive(wire, &frame), Err(DecodeError::Trailing), "{name}");
        }
    }
}

#[test]
fn every_corruption_of_one_byte_is_refused() {
    let wire = Wire::short(Checksum::On);
    for Sample { name, envelope, message } in short_samples() {
        let mut frame = frame_of(wire, &envelope, &message);
        let (places, values) = if cfg!(miri) { (7, 201) } else { (1, 1) };
        for at in (0..frame.len()).step_by(places) {
            let right = frame[at];
            for wrong in (0..=u8::MAX).filter(|&wrong| wrong != right).step_by(values) {
                frame[at] = wrong;
                assert!(
                    receive(wire, &frame).is_err(),
                    "{name}: {wrong:#x} for {right:#x} at {at}"
                );
            }
            frame[at] = right;
        }
    }
}

/// Without a sum a damaged frame may pass for another one. It must not bring the reader down.
#[test]
fn damage_without_a_sum_is_bounded() {
    let (mut rng, wire) = (Rng(77), Wire::short(Checksum::Off));
    let content = rng.bytes(200);
    for _ in 0..if cfg!(miri) { 40 } else { 20_000 } {
        let message = rng.message(&content);
        let mut frame = frame_of(wire, &rng.envelope(&message), &message);
        for _ in 0..=rng.below(3) {
            let at = rng.below(frame.len());
            frame[at] = rng.next() as u8;
        }
        if let Ok(decoded) = receive(wire, &frame) {
            let (envelope, message) = decoded.into_parts();
            assert_eq!(frame_of(wire, &envelope, &message).len(), frame.len());
        }
    }
}

fn spoilt(name: &str, change: impl FnOnce(&mut Vec<u8>)) -> Result<(), DecodeError> {
    let wire = Wire::short(Checksum::Off);
    let mut frame = sample_frame(wire, name);
    change(&mut frame);
    receive(wire, &frame).map(|_| ())
}

#[test]
fn each_mistake_has_its_own_error() {
    use DecodeError as E;
    for sample in short_samples() {
        let name = sample.name;
        // Reserved for every kind, and what a kind does not use.
        let unused: &[usize] = match sample.message {
            Message::Noop
            | Message::CancelPut { .. }
            | Message::CancelGet { .. }
            | Message::CancelPush { .. } => &[2, 36, 37, 38, 39],
            Message::GetDone { failed: None, .. } => &[],
            Message::PutNak { .. }
            | Message::PutDone { .. }
            | Message::GetNak { .. }
            | Message::GetDone { .. } => &[36, 37, 38, 39],
            Message::PullReady(_) => &[2],
            _ => &[],
        };
        let keyless: &[usize] = match sample.message {
            Message::PutReq { .. } | Message::GetReq { .. } | Message::PullReady(_) => &[],
            _ => &[34],
        };
        for &at in [3, 35].iter().chain(keyless).chain(unused) {
            assert_eq!(spoilt(name, |f| f[at] = 0x80), Err(E::Reserved), "byte {at} of {name}");
        }
        for at in [short::FROM_INCARNATION, short::TO_INCARNATION] {
            assert_eq!(spoilt(name, |f| f[at..at + 8].fill(0)), Err(E::ZeroIncarnation), "{name}");
        }
        // The kinds of the other class, those that have no short head, and none at all.
        let own = spoilt(name, |_| ());
        assert_eq!(own, Ok(()), "{name}");
        let control = matches!(sample.message, Message::PullReady(_));
        let kinds = 0..=u8::MAX;
        let unknown = kinds.filter(|&kind| match control {
            true => kind != kind::PULL_READY,
            false => {
                let short = (kind::IMMEDIATE..=kind::NOOP).contains(&kind);
                !short && !(kind::CANCEL_PUT..=kind::CANCEL_PUSH).contains(&kind)
            }
        });
        for kind in unknown {
            assert_eq!(spoilt(name, |f| f[short::KIND] = kind), Err(E::Kind), "{kind} in {name}");
        }
    }
    for name in ["put_nak", "get_nak", "put_done", "get_done_failed"] {
        assert_eq!(spoilt(name, |f| f[short::DETAIL] = 6), Err(E::BadRefusal), "{name}");
    }
    // A push that has failed has pushed no bytes, whatever the refusal is.
    for refusal in 1..=u8::MAX {
        let error = spoilt("get_done", |f| f[short::DETAIL] = refusal);
        assert_eq!(error, Err(E::Reserved), "refusal {refusal}");
    }
    for name in ["put_nak", "get_nak"] {
        assert_eq!(spoilt(name, |f| f[short::DETAIL] = 0), Err(E::BadRefusal), "{name}");
    }
    for name in ["immediate", "put_req", "get_req"] {
        let long = |f: &mut Vec<u8>| f[short::DETAIL] = MAX_HEADER as u8 + 1;
        assert_eq!(spoilt(name, long), Err(E::HeaderTooLong), "{name}");
    }
    for (name, right) in KEYED {
        for length in 0..=u8::MAX {
            let error = match length {
                33.. => Err(E::KeyTooLong),
                _ if length == right => Ok(()),
                _ if length > right => Err(E::Truncated),
                _ => Err(E::Trailing),
            };
            assert_eq!(spoilt(name, |f| f[short::KEY] = length), error, "{length} in {name}");
        }
    }
    let at = short::LENGTH..short::LENGTH + 4;
    for (length, error) in [
        (u32::MAX, E::Oversize),
        (MAX_FRAME as u32 + 1, E::Oversize),
        (MAX_FRAME as u32 - 111, E::Oversize),
        (MAX_FRAME as u32 - 112, E::Truncated),
        (22, E::Truncated),
        (20, E::Trailing),
    ] {
        let stated = |f: &mut Vec<u8>| f[at.clone()].copy_from_slice(&length.to_le_bytes());
        assert_eq!(spoilt("immediate", stated), Err(error), "{length}");
    }
    let mut frame = sample_frame(Wire::short(Checksum::On), "noop");
    frame[40] ^= 1;
    assert_eq!(receive(Wire::short(Checksum::On), &frame), Err(E::Checksum));
    assert_eq!(spoilt("noop", |f| f[0] = 0x13), Err(E::Class));
}

/// The two ends have to choose the same: what was sent with other heads is refused and counted, and
/// what has names on every channel arrives.
#[test]
fn frames_of_the_other_format_are_refused() {
    for sum in [Checksum::On, Checksum::Off] {
        let (short, named) = (Wire::short(sum), Wire::named(sum));
        for Sample { name, envelope, message } in samples() {
            for (sent, read) in [(short, named), (named, short)] {
                let frame = frame_of(sent, &envelope, &message);
                let sender = Sender::Known(envelope.from);
                let mut receiver = Receiver::of(read, envelope.to);
                let received = receiver.receive_from(sender, &frame);
                if named_always(&message) {
                    assert_eq!(received.unwrap().into_parts(), (envelope, message), "{name}");
                } else {
                    assert_eq!(received, Err(DecodeError::Heads), "{name}");
                    assert_eq!(receiver.errors().of(DecodeError::Heads), 1);
                }
            }
        }
    }
}

/// R31: a short head names no node, so the channel must.
#[test]
fn the_channel_says_who_has_sent_a_short_frame() {
    for wire in BOTH {
        for Sample { name, envelope, message } in samples() {
            let frame = frame_of(wire, &envelope, &message);
            let other = Nid::from_raw(77).unwrap();
            let mut receiver = Receiver::of(wire, envelope.to);
            let unknown = receiver.receive_from(Sender::Unknown, &frame).map(Frame::into_parts);
            let named = receiver.receive_from(Sender::Known(other), &frame).map(Frame::into_parts);
            if named_always(&message) {
                assert_eq!(unknown, Ok((envelope, message)), "{name}");
                assert_eq!(named, Err(DecodeError::Sender), "{name}");
            } else {
                assert_eq!(unknown, Err(DecodeError::Sender), "{name}");
                assert_eq!(named, Ok((Envelope { from: other, ..envelope }, message)), "{name}");
            }
            assert_eq!(receiver.errors().of(DecodeError::Sender), 1);
        }
    }
}

#[test]
fn what_has_no_wire_format_is_not_written() {
    let stranger = Envelope { to_incarnation: None, ..envelope() };
    for wire in BOTH {
        let room = wire.max_immediate(MAX_FRAME) as usize;
        let (payload, header) = (vec![0; room + 1], [0; MAX_HEADER + 1]);
        let source = Tag { index: 1, generation: 2 };
        let put = |key| Message::PutReq { header: &[], source, length: 1, key };
        let get = |key| Message::GetReq { header: &[], sink: source, length: 1, key };
        let sum = if wire.checksum == Checksum::On { short::SUM_LEN } else { 0 };
        for (long, longest) in [(put(&[7; 33]), put(&[7; 32])), (get(&[7; 33]), get(&[7; 32]))] {
            assert_eq!(wire.encoded_len(&envelope(), &long), Err(EncodeError::KeyTooLong));
            assert_eq!(wire.encoded_len(&envelope(), &longest), Ok(80 + sum));
        }
        let len = |header: &[u8], payload: &[u8]| {
            wire.encoded_len(&envelope(), &Message::Immediate { header, payload })
        };
        assert_eq!(len(&header[1..], &payload[1..]), Ok(MAX_FRAME));
        assert_eq!(len(&header[1..], &payload), Err(EncodeError::TooLong));
        assert_eq!(len(&header, &[]), Err(EncodeError::HeaderTooLong));
        for sample in short_samples() {
            let whole = frame_of(wire, &sample.envelope, &sample.message);
            let mut out = [0; 300];
            let short = &mut out[..whole.len() - 1];
            let refused = wire.encode(&sample.envelope, &sample.message, short);
            assert_eq!(refused, Err(EncodeError::NoRoom), "{}", sample.name);
            let refused = wire.encode(&stranger, &sample.message, &mut out);
            assert_eq!(refused, Err(EncodeError::NoIncarnation), "{}", sample.name);
            // Nothing behind the frame is written.
            let mut out = [0xee; 300];
            let length = wire.encode(&sample.envelope, &sample.message, &mut out).unwrap();
            assert_eq!(out[..length], whole);
            assert!(out[length..].iter().all(|&byte| byte == 0xee), "{}", sample.name);
        }
    }
    assert_eq!(BOTH[0].max_immediate(140), 0);
    assert_eq!(BOTH[0].max_immediate(141), 1);
    assert_eq!(BOTH[1].max_immediate(137), 1);
}

/// A payload that is gathered in place makes the same frame as one that lies there, with any
/// header.
#[test]
fn gathered_in_place_is_the_same_frame() {
    let geometry = MailboxGeometry::new(2, 1024).unwrap();
    let mut memory = vec![Line::ZERO; geometry.bytes_needed() / 64];
    let (mut producer, mut consumer) = spsc::channel(&mut memory, geometry).unwrap();
    let (mut rng, mut scratch) = (Rng(5), [0; 1024]);
    let content = rng.bytes(256);
    let wires = [BOTH[0], BOTH[1], Wire::named(Checksum::On), Wire::named(Checksum::Off)];
    for wire in wires {
        for length in 0..=MAX_HEADER {
            let (header, payload) = (&content[..length], &content[length..][..length * 3 % 150]);
            let message = Message::Immediate { header, payload };
            transmit(&mut producer, &envelope(), &message, wire).unwrap();
            let whole = consumer.recv(&mut scratch).unwrap().unwrap().to_vec();
            let mut aside = [0xcc; 150];
            let aside = &mut aside[..payload.len()];
            let gather = |place: &mut [u8]| {
                place.copy_from_slice(payload);
                true
            };
            let sent = transmit_inline(&mut producer, &envelope(), header, aside, wire, gather);
            assert_eq!(sent, Ok(true));
            assert_eq!(consumer.recv(&mut scratch).unwrap().unwrap(), whole);
            if wire.heads == Heads::Short {
                assert!(aside.iter().all(|&byte| byte == 0xcc), "written straight into the slot");
            }
        }
    }
}

#[test]
fn what_cannot_be_gathered_is_not_sent() {
    let geometry = MailboxGeometry::new(2, 256).unwrap();
    let mut memory = vec![Line::ZERO; geometry.bytes_needed() / 64];
    let (mut producer, mut consumer) = spsc::channel(&mut memory, geometry).unwrap();
    let (mut scratch, mut aside) = ([0; 256], [0; 20]);
    let stranger = Envelope { to_incarnation: None, ..envelope() };
    for wire in [BOTH[0], BOTH[1], Wire::named(Checksum::On)] {
        let half = |place: &mut [u8]| {
            place[..10].fill(1);
            false
        };
        let sent = transmit_inline(&mut producer, &envelope(), &[2; 30], &mut aside, wire, half);
        assert_eq!(sent, Ok(false));
        assert_eq!(consumer.recv(&mut scratch), Ok(None));
        let unaddressed =
            transmit_inline(&mut producer, &stranger, &[], &mut aside, wire, |_| true);
        assert_eq!(unaddressed, Err(TransmitError::Encode(EncodeError::NoIncarnation)));
        let long = [0; MAX_HEADER + 1];
        let long = transmit_inline(&mut producer, &envelope(), &long, &mut aside, wire, |_| true);
        assert_eq!(long, Err(TransmitError::Encode(EncodeError::HeaderTooLong)));
        assert_eq!(consumer.recv(&mut scratch), Ok(None));
        // The slot is whole: the next message is in it.
        for _ in 0..2 {
            transmit(&mut producer, &envelope(), &Message::Noop, wire).unwrap();
        }
        let full = transmit_inline(&mut producer, &envelope(), &[], &mut aside, wire, |_| true);
        assert_eq!(full, Err(TransmitError::Send(SendError::Full)));
        for _ in 0..2 {
            let frame = consumer.recv(&mut scratch).unwrap().unwrap();
            assert_eq!(receive(wire, frame), Ok(Frame::Lnd(envelope(), Message::Noop)));
        }
        let mut aside = [0; 250];
        let large = transmit_inline(&mut producer, &envelope(), &[], &mut aside, wire, |_| true);
        assert_eq!(large, Err(TransmitError::Send(SendError::TooLong)));
    }
}

/// A PUT_REQ that is encoded straight into a slot is the same frame as one that is encoded aside,
/// with the same limits.
#[test]
fn a_put_request_goes_straight_into_its_slot() {
    let geometry = MailboxGeometry::new(2, 1024).unwrap();
    let mut memory = vec![Line::ZERO; geometry.bytes_needed() / 64];
    let (mut producer, mut consumer) = spsc::channel(&mut memory, geometry).unwrap();
    let mut scratch = [0; 1024];
    let source = Tag { index: 7, generation: 3 };
    let stranger = Envelope { to_incarnation: None, ..envelope() };
    let (key, header) = ([9; MAX_KEY + 1], [8; MAX_HEADER + 1]);
    for wire in BOTH {
        for length in [0, 1, MAX_KEY] {
            let (header, key) = (&header[..MAX_HEADER], &key[..length]);
            let message = Message::PutReq { header, source, length: 4096, key };
            transmit(&mut producer, &envelope(), &message, wire).unwrap();
            let sent = consumer.recv(&mut scratch).unwrap().unwrap();
            assert_eq!(sent, frame_of(wire, &envelope(), &message));
        }
        for (to, header, key, error) in [
            (stranger, &header[..1], &key[..1], EncodeError::NoIncarnation),
            (envelope(), &header[..], &key[..1], EncodeError::HeaderTooLong),
            (envelope(), &header[..1], &key[..], EncodeError::KeyTooLong),
        ] {
            let message = Message::PutReq { header, source, length: 4096, key };
            let sent = transmit(&mut producer, &to, &message, wire);
            assert_eq!(sent, Err(TransmitError::Encode(error)));
            assert_eq!(consumer.recv(&mut scratch), Ok(None));
        }
        // So is a message that another way encodes.
        let ready = PullReady { sink: source, source, length: 1, key: &key };
        let ready = Message::PullReady(ready);
        let sent = transmit(&mut producer, &envelope(), &ready, wire);
        assert_eq!(sent, Err(TransmitError::Encode(EncodeError::KeyTooLong)));
        let sent = transmit(&mut producer, &stranger, &Message::Noop, wire);
        assert_eq!(sent, Err(TransmitError::Encode(EncodeError::NoIncarnation)));
    }
}

#[test]
fn a_frame_beyond_the_limit_is_not_received() {
    for wire in BOTH {
        let mut frame = sample_frame(wire, "immediate");
        frame.resize(MAX_FRAME + 1, 0);
        assert!(receive(wire, &frame).is_err());
    }
}
