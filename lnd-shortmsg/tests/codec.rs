// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The wire codec against random messages, random bytes and deliberate mistakes (R32, B14).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{envelope, samples, Rng, KEYED};
use lnd_core::id::Tag;
use lnd_core::message::{Message, NakReason, MAX_HEADER};
use lnd_shortmsg::dispatch::{Receiver, Sender};
use lnd_shortmsg::wire::layout::{at, class, HEADER_LEN, IMMEDIATE_LEN, MAX_FRAME};
use lnd_shortmsg::wire::{
    checksum, decode, encode, encode_as, encode_inline, encoded_len, max_immediate, Checksum,
    DecodeError, EncodeError, Order, Wire,
};
use std::collections::HashSet;

const fn rounds(full: usize) -> usize {
    if cfg!(miri) {
        full / 5000
    } else {
        full
    }
}

#[test]
fn random_messages_survive_the_round_trip() {
    let mut rng = Rng(0x5eed_0001);
    let content = rng.bytes(500);
    let mut out = vec![0; MAX_FRAME];
    for round in 0..rounds(200_000) {
        let message = rng.message(&content);
        let envelope = rng.envelope(&message);
        let order = Order::ALL[rng.below(2)];
        let sum = [Checksum::On, Checksum::Off][rng.below(2)];
        let length = encode_as(order, &envelope, &message, sum, &mut out).unwrap();
        assert_eq!(encoded_len(&envelope, &message), Ok(length));
        let decoded = decode(&out[..length], sum).unwrap().into_parts();
        assert_eq!(decoded, (envelope, message), "round {round}");
    }
}

/// What gathers its payload into the frame writes the frame that [`encode`] writes.
#[test]
fn a_payload_that_is_gathered_makes_the_same_frame() {
    let mut rng = Rng(0x5eed_0003);
    let content = rng.bytes(500);
    let (mut out, mut gathered) = (vec![0; MAX_FRAME], vec![0xee; MAX_FRAME]);
    let mut seen = 0;
    for _ in 0..rounds(100_000) {
        let message = rng.message(&content);
        let envelope = rng.envelope(&message);
        let Message::Immediate { header, payload } = message else { continue };
        let sum = [Checksum::On, Checksum::Off][rng.below(2)];
        let length = encode(&envelope, &message, sum, &mut out).unwrap();
        let copied = |place: &mut [u8]| {
            place.copy_from_slice(payload);
            true
        };
        let of = payload.len();
        assert_eq!(
            encode_inline(&envelope, header, of, sum, &mut gathered, copied),
            Ok(Some(length))
        );
        assert_eq!(gathered[..length], out[..length]);
        assert_eq!(
            encode_inline(&envelope, header, of, sum, &mut gathered[..length - 1], |_| panic!()),
            Err(EncodeError::NoRoom)
        );
        assert_eq!(encode_inline(&envelope, header, of, sum, &mut gathered, |_| false), Ok(None));
        seen += 1;
    }
    assert!(seen > rounds(100_000) / 50, "{seen}");
    let message = Message::Immediate { header: &[], payload: &[] };
    let mut envelope = rng.envelope(&message);
    let long = [0; MAX_HEADER + 1];
    let mut refused = |envelope: &_, header: &[u8], payload| {
        encode_inline(envelope, header, payload, Checksum::Off, &mut gathered, |_| panic!())
    };
    assert_eq!(refused(&envelope, &long, 0), Err(EncodeError::HeaderTooLong));
    assert_eq!(refused(&envelope, &[], MAX_FRAME), Err(EncodeError::TooLong));
    assert_eq!(refused(&envelope, &[], usize::MAX), Err(EncodeError::TooLong));
    envelope.to_incarnation = None;
    assert_eq!(refused(&envelope, &[], 0), Err(EncodeError::NoIncarnation));
}

#[test]
fn random_bytes_are_rejected_without_panic() {
    let mut rng = Rng(0x5eed_0002);
    let mut frame = [0; 200];
    let mut seen = HashSet::new();
    for _ in 0..rounds(1_000_000) {
        for chunk in frame.chunks_exact_mut(8) {
            chunk.copy_from_slice(&rng.next().to_le_bytes());
        }
        let length = rng.below(frame.len() + 1);
        // Mostly random frames end at the magic: let three of four come further.
        if rng.below(4) != 0 && length >= HEADER_LEN {
            frame[0] = 1 + rng.below(2) as u8;
            frame[1] = 1 + rng.below(15) as u8;
            frame[2] = 1;
            frame[4..8].copy_from_slice(&0x4c4e_4477_u32.to_ne_bytes());
            frame[8..12].copy_from_slice(&(length as u32).to_ne_bytes());
            frame[12..16].fill(0);
        }
        seen.insert(decode(&frame[..length], Checksum::Off).unwrap_err());
    }
    assert!(seen.len() >= 4, "only {seen:?}");
}

#[test]
fn damaged_frames_never_panic_and_pass_no_checksum() {
    let mut rng = Rng(0x5eed_0003);
    let content = rng.bytes(200);
    let mut out = [0; 400];
    for _ in 0..rounds(200_000) {
        let message = rng.message(&content);
        let envelope = rng.envelope(&message);
        let length = encode(&envelope, &message, Checksum::On, &mut out).unwrap();
        let damage = rng.next() | 1;
        let (at, width) = (rng.below(length), 1 + rng.below(8));
        let damaged = out[..length].iter_mut().skip(at).zip(damage.to_le_bytes()).take(width);
        damaged.for_each(|(byte, damage)| *byte ^= damage);
        assert!(decode(&out[..length], Checksum::On).is_err());
        // Without the checksum it may pass for another frame. It must not bring the reader down.
        out[12..16].fill(0);
        let _ = decode(&out[..length], Checksum::Off);
    }
}

/// A golden-like frame of a sample, without checksum, changed by `change`.
fn spoilt(name: &str, change: impl FnOnce(&mut Vec<u8>)) -> Result<(), DecodeError> {
    let sample = samples().into_iter().find(|sample| sample.name == name).unwrap();
    let mut frame = vec![0; encoded_len(&sample.envelope, &sample.message).unwrap()];
    encode(&sample.envelope, &sample.message, Checksum::Off, &mut frame).unwrap();
    change(&mut frame);
    decode(&frame, Checksum::Off).map(|_| ())
}

fn put32(frame: &mut [u8], at: usize, value: u32) {
    frame[at..at + 4].copy_from_slice(&value.to_ne_bytes());
}

/// One way to earn each error.
fn earn(error: DecodeError) -> Result<(), DecodeError> {
    match error {
        DecodeError::Class => spoilt("noop", |frame| frame[at::CLASS] = 3),
        DecodeError::Magic => spoilt("noop", |frame| frame[at::MAGIC] ^= 1),
        DecodeError::Version => spoilt("noop", |frame| frame[at::VERSION] = 2),
        DecodeError::Kind => spoilt("noop", |frame| frame[at::KIND] = 15),
        DecodeError::Truncated => spoilt("noop", |frame| frame.truncate(79)),
        DecodeError::Trailing => spoilt("noop", |frame| frame.push(0)),
        DecodeError::Oversize => {
            spoilt("noop", |frame| put32(frame, at::LENGTH, MAX_FRAME as u32 + 1))
        }
        DecodeError::Length => {
            spoilt("immediate", |frame| put32(frame, at::IMMEDIATE_PAYLOAD, u32::MAX))
        }
        DecodeError::Checksum => spoilt("noop", |frame| {
            let wrong = checksum(frame) ^ 2;
            put32(frame, at::CHECKSUM, wrong);
        }),
        DecodeError::NoChecksum => {
            let mut frame = [0; HEADER_LEN];
            encode(&envelope(), &Message::Noop, Checksum::Off, &mut frame).unwrap();
            decode(&frame, Checksum::On).map(|_| ())
        }
        DecodeError::Reserved => spoilt("noop", |frame| frame[at::FLAGS] = 1),
        DecodeError::ZeroNid => spoilt("noop", |frame| frame[at::TO..at::TO + 8].fill(0)),
        DecodeError::ZeroIncarnation => {
            spoilt("noop", |frame| frame[at::TO_INCARNATION..at::TO_INCARNATION + 8].fill(0))
        }
        DecodeError::BadRefusal => spoilt("put_nak", |frame| frame[at::REFUSAL] = 0),
        DecodeError::HeaderTooLong => {
            spoilt("get_req", |frame| frame[at::REQ_HEADER..at::REQ_HEADER + 2].fill(0x55))
        }
        DecodeError::Sender => {
            let mut frame = [0; HEADER_LEN];
            encode(&envelope(), &Message::Noop, Checksum::On, &mut frame).unwrap();
            let mut receiver = Receiver::new(Checksum::On);
            assert!(receiver.receive_from(Sender::Known(envelope().from), &frame).is_ok());
            let result = receiver.receive_from(Sender::Known(envelope().to), &frame).map(|_| ());
            assert_eq!((receiver.lnd(), receiver.errors().of(DecodeError::Sender)), (1, 1));
            result
        }
        DecodeError::KeyTooLong => spoilt("put_req", |frame| frame[at::REQ_KEY] = 33),
        DecodeError::Heads => spoilt("noop", |frame| frame[at::CLASS] = class::SHORT_LND),
    }
}

#[test]
fn each_mistake_has_its_own_error_and_counter() {
    for (index, error) in DecodeError::ALL.into_iter().enumerate() {
        assert_eq!(error.index(), index);
        assert_eq!(earn(error), Err(error));
    }
    let mut receiver = Receiver::new(Checksum::On);
    assert_eq!(receiver.receive_from(Sender::Unknown, &[7]), Err(DecodeError::Class));
    assert_eq!(receiver.receive_from(Sender::Unknown, &[]), Err(DecodeError::Truncated));
    assert_eq!(receiver.receive_from(Sender::Unknown, &[]), Err(DecodeError::Truncated));
    assert_eq!(receiver.errors().of(DecodeError::Class), 1);
    assert_eq!(receiver.errors().of(DecodeError::Truncated), 2);
    assert_eq!(receiver.errors().total(), 3);
    assert_eq!(receiver.errors().iter().map(|(_, count)| count).sum::<u64>(), 3);
    assert_eq!((receiver.control(), receiver.lnd()), (0, 0));
}

#[test]
fn further_mistakes() {
    use DecodeError as E;
    // Every reserved byte of every kind is checked.
    for sample in samples() {
        let reserved: &[(usize, usize)] = match sample.message {
            Message::Hello(_) => &[(83, 84)],
            Message::Immediate { .. } => &[(82, 84)],
            Message::PutReq { .. } | Message::GetReq { .. } => &[(95, 96)],
            Message::GetDone { failed: None, .. } => &[(89, 92)],
            Message::PutNak { .. }
            | Message::PutDone { .. }
            | Message::GetNak { .. }
            | Message::GetDone { .. } => &[(89, 96)],
            Message::PullReady(_) => &[(101, 104)],
            Message::HelloAck(_) | Message::Noop | Message::Close => &[],
            Message::CancelPut { .. } | Message::CancelGet { .. } | Message::CancelPush { .. } => {
                &[]
            }
        };
        let common = [(3, 4), (24, 32), (40, 48), (74, 76)];
        for at in common.iter().chain(reserved).flat_map(|&(from, to)| from..to) {
            let result = spoilt(sample.name, |frame| frame[at] = 0x80);
            assert_eq!(result, Err(E::Reserved), "byte {at} of {}", sample.name);
        }
    }
    // Refusals: no value beyond the enum, and none missing where one must be.
    for name in ["put_nak", "put_done", "get_nak", "get_done_failed"] {
        assert_eq!(spoilt(name, |frame| frame[at::REFUSAL] = 6), Err(E::BadRefusal));
    }
    for name in ["put_nak", "get_nak"] {
        assert_eq!(spoilt(name, |frame| frame[at::REFUSAL] = 0), Err(E::BadRefusal));
    }
    // A push that has failed has pushed no bytes, whatever the refusal is.
    for refusal in 1..=u8::MAX {
        let failed = |frame: &mut Vec<u8>| frame[at::REFUSAL] = refusal;
        assert_eq!(spoilt("get_done", failed), Err(E::Reserved), "refusal {refusal}");
    }
    // The control class has one kind, one version and, but for the key, one size.
    assert_eq!(spoilt("pull_ready", |frame| frame[at::KIND] = 2), Err(E::Kind));
    assert_eq!(spoilt("pull_ready", |frame| frame[at::VERSION] = 2), Err(E::Version));
    let longer = |frame: &mut Vec<u8>| {
        frame.resize(112, 0);
        put32(frame, at::LENGTH, 112);
    };
    let others = ["cancel_put", "cancel_get", "cancel_push", "get_done", "get_req_key"];
    let kinds = ["pull_ready", "noop", "close", "put_nak", "put_req", "immediate", "hello"];
    for name in kinds.into_iter().chain(others) {
        assert_eq!(spoilt(name, longer), Err(E::Length), "{name}");
    }
    // The sender, and its incarnation.
    assert_eq!(spoilt("close", |frame| frame[at::FROM..at::FROM + 8].fill(0)), Err(E::ZeroNid));
    let no_sender =
        |frame: &mut Vec<u8>| frame[at::FROM_INCARNATION..at::FROM_INCARNATION + 8].fill(0);
    assert_eq!(spoilt("hello", no_sender), Err(E::ZeroIncarnation));
    // Lengths that overflow when added up.
    let huge = |frame: &mut Vec<u8>| {
        frame[at::IMMEDIATE_HEADER..at::IMMEDIATE_HEADER + 2].fill(0xff);
        put32(frame, at::IMMEDIATE_PAYLOAD, u32::MAX - 10);
    };
    assert_eq!(spoilt("immediate", huge), Err(E::HeaderTooLong));
}

/// A key has at most 32 bytes, and all of them are there. Whatever the frame says, the decoder
/// reads no further than it goes.
#[test]
fn a_key_is_bounded_and_whole() {
    use DecodeError as E;
    let at = |name: &str| if name.contains("req") { at::REQ_KEY } else { at::STAGED_KEY };
    for (name, right) in KEYED {
        for length in 0..=u8::MAX {
            let error = match length {
                33.. => Err(E::KeyTooLong),
                _ if length == right => Ok(()),
                _ => Err(E::Length),
            };
            assert_eq!(spoilt(name, |f| f[at(name)] = length), error, "{length} in {name}");
        }
    }
    // As long as it says, and longer than a key may be.
    for name in ["put_req", "get_req", "pull_ready"] {
        let grown = |frame: &mut Vec<u8>| {
            frame[at(name)] = 33;
            frame.resize(frame.len() + 33, 0x5a);
            let length = frame.len() as u32;
            put32(frame, at::LENGTH, length);
        };
        assert_eq!(spoilt(name, grown), Err(E::KeyTooLong), "{name}");
    }
}

/// A GET_REQ without a key is the frame that it was before there were keys in it: where the key's
/// length is now was a zero.
#[test]
fn a_get_request_without_a_key_has_no_byte_for_it() {
    let (header, sink) = (&[9; 72][..], TAG);
    let mut frames = [[0; 300]; 2];
    let mut write = |frame: usize, key: &[u8]| {
        let message = Message::GetReq { header, sink, length: 5, key };
        encode(&envelope(), &message, Checksum::Off, &mut frames[frame]).unwrap()
    };
    assert_eq!((write(0, &[]), write(1, &[7; 3])), (168, 171));
    let [without, with] = &mut frames;
    assert_eq!((without[at::REQ_KEY], with[at::REQ_KEY]), (0, 3));
    assert_eq!(with[168..171], [7; 3]);
    with[168..171].fill(0);
    with[at::REQ_KEY] = 0;
    with[at::LENGTH..at::LENGTH + 4].copy_from_slice(&168_u32.to_ne_bytes());
    assert_eq!(without, with);
}

/// What a failed push says of its bytes is not written: no receiver would take the frame.
#[test]
fn a_failed_push_is_written_without_bytes() {
    let failed = Some(NakReason::Failed);
    let done = |length| Message::GetDone { sink: TAG, length, failed };
    for wire in [Wire::named(Checksum::On), Wire::short(Checksum::On)] {
        let [mut some, mut none] = [[0; 96]; 2];
        let length = wire.encode(&envelope(), &done(4096), &mut some).unwrap();
        assert_eq!(wire.encode(&envelope(), &done(0), &mut none), Ok(length));
        assert_eq!(some, none);
        let mut receiver = Receiver::of(wire, envelope().to);
        let found = receiver.receive_from(Sender::Known(envelope().from), &some[..length]);
        assert_eq!(found.unwrap().into_parts(), (envelope(), done(0)));
    }
}

/// B14: a frame that ends early and says so.
#[test]
fn short_frames_that_agree_with_themselves_are_refused() {
    for sample in samples() {
        let whole = encoded_len(&sample.envelope, &sample.message).unwrap();
        for length in 0..whole {
            let short = |frame: &mut Vec<u8>| {
                frame.truncate(length);
                if length >= at::LENGTH + 4 {
                    put32(frame, at::LENGTH, length as u32);
                }
            };
            let error = spoilt(sample.name, short).unwrap_err();
            let cut_off = length < HEADER_LEN || error == DecodeError::Truncated;
            let expected = if cut_off { DecodeError::Truncated } else { DecodeError::Length };
            assert_eq!(error, expected, "{length} bytes of {}", sample.name);
        }
    }
    // A later version's HELLO may be longer than ours, and not shorter.
    for name in ["hello", "hello_ack"] {
        for (length, outcome) in [(95, Err(DecodeError::Length)), (96, Ok(())), (97, Ok(()))] {
            let later = |frame: &mut Vec<u8>| {
                frame[at::VERSION] = 2;
                frame.resize(length, 0);
                put32(frame, at::LENGTH, length as u32);
            };
            assert_eq!(spoilt(name, later), outcome, "{length} bytes of {name}");
        }
    }
}

const TAG: Tag = Tag { index: 1, generation: 2 };

#[test]
fn what_has_no_wire_format_is_not_written() {
    let mut out = vec![0; 2 * MAX_FRAME];
    let to = envelope();
    let stranger = lnd_core::message::Envelope { to_incarnation: None, ..to };
    let mut write = |envelope, message: Message<'_>, room: usize| {
        encode(envelope, &message, Checksum::On, &mut out[..room])
    };
    assert_eq!(write(&to, Message::Noop, 79), Err(EncodeError::NoRoom));
    assert_eq!(write(&stranger, Message::Noop, 200), Err(EncodeError::NoIncarnation));
    let header = [0; MAX_HEADER + 1];
    let message = Message::Immediate { header: &header, payload: &[] };
    assert_eq!(write(&to, message, 200), Err(EncodeError::HeaderTooLong));
    for sample in samples() {
        if let Message::HelloAck(mut ack) = sample.message {
            ack.version = Some(0);
            let error = write(&to, Message::HelloAck(ack), 200);
            assert_eq!(error, Err(EncodeError::NoVersion));
        }
    }
    let put = |key| Message::PutReq { header: &[], source: TAG, length: 1, key };
    let get = |key| Message::GetReq { header: &[], sink: TAG, length: 1, key };
    for (long, longest) in [(put(&[7; 33]), put(&[7; 32])), (get(&[7; 33]), get(&[7; 32]))] {
        assert_eq!(write(&to, long, 300), Err(EncodeError::KeyTooLong));
        assert_eq!(write(&to, longest, 300), Ok(128));
    }
    let payload = vec![1; MAX_FRAME - IMMEDIATE_LEN + 1];
    let message = Message::Immediate { header: &[], payload: &payload };
    assert_eq!(write(&to, message, 2 * MAX_FRAME), Err(EncodeError::TooLong));
    let message = Message::Immediate { header: &[], payload: &payload[1..] };
    assert_eq!(write(&to, message, 2 * MAX_FRAME), Ok(MAX_FRAME));
    let (_, decoded) = decode(&out[..MAX_FRAME], Checksum::On).unwrap().into_parts();
    assert_eq!(decoded, message);
}

#[test]
fn max_immediate_is_exact() {
    let header = [0; MAX_HEADER];
    for frame_size in [0, 80, 183, 184, 185, 256, 4096, MAX_FRAME] {
        let most = max_immediate(frame_size) as usize;
        let payload = vec![0; most + 1];
        let length = |payload: &[u8]| {
            encoded_len(&envelope(), &Message::Immediate { header: &header, payload })
        };
        if most > 0 {
            assert_eq!(length(&payload[..most]), Ok(frame_size));
        }
        assert!(length(&payload).map_or(true, |length| length > frame_size));
    }
    assert_eq!(max_immediate(usize::MAX), max_immediate(MAX_FRAME));
}
