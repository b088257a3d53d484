// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The golden frames (R32): committed bytes of every kind of message in both byte orders. They were
//! not made by this code. A change that alters them is a change of the wire format.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{envelope, samples};
use lnd_core::message::{Envelope, Hello, Message};
use lnd_shortmsg::wire::{decode, encode, encode_as, Checksum, DecodeError, Frame, Order};
use std::path::Path;

/// Reads a frame: hexadecimal bytes, each line with an offset in front and perhaps a comment.
fn golden(name: &str, order: Order) -> Vec<u8> {
    let order = match order {
        Order::Little => "little",
        Order::Big => "big",
    };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let text = std::fs::read_to_string(path.join(format!("{name}.{order}.hex"))).unwrap();
    let mut frame = Vec::new();
    for line in text.lines() {
        let line = line.split('#').next().unwrap();
        let Some((offset, bytes)) = line.split_once(':') else { continue };
        assert_eq!(offset.trim().parse(), Ok(frame.len()), "offset in {name}");
        frame.extend(bytes.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()));
    }
    frame
}

fn every_golden_frame(mut test: impl FnMut(&str, Envelope, Message<'_>, Order, Vec<u8>)) {
    // Miri reads files slowly: every fifth sample.
    for sample in samples().into_iter().step_by(if cfg!(miri) { 5 } else { 1 }) {
        for order in Order::ALL {
            let frame = golden(sample.name, order);
            test(sample.name, sample.envelope, sample.message, order, frame);
        }
    }
}

#[test]
fn messages_encode_to_the_golden_frames() {
    every_golden_frame(|name, envelope, message, order, frame| {
        let mut out = [0xee; 300];
        let length = encode_as(order, &envelope, &message, Checksum::On, &mut out).unwrap();
        assert_eq!(out[..length], frame, "{name}, {order:?}");
        assert!(out[length..].iter().all(|&byte| byte == 0xee), "{name} wrote beyond its end");
        if order == Order::NATIVE {
            let mut exact = vec![0; length];
            assert_eq!(encode(&envelope, &message, Checksum::On, &mut exact), Ok(length));
            assert_eq!(exact, frame);
        }
    });
}

/// S3-6, R23: the first byte tells control from LND messages.
#[test]
fn golden_frames_decode_to_the_messages() {
    every_golden_frame(|name, envelope, message, order, frame| {
        let decoded = decode(&frame, Checksum::On).unwrap();
        let control = matches!(message, Message::PullReady(_));
        assert_eq!(matches!(decoded, Frame::Control(..)), control, "layer of {name}");
        assert_eq!(decoded.into_parts(), (envelope, message), "{name}, {order:?}");
    });
}

#[test]
fn every_truncation_is_rejected() {
    every_golden_frame(|name, _, _, order, frame| {
        for length in (0..frame.len()).step_by(if cfg!(miri) { 7 } else { 1 }) {
            let error = decode(&frame[..length], Checksum::On);
            let expected = Err(DecodeError::Truncated);
            assert_eq!(error, expected, "{name}, {order:?}, {length} bytes");
        }
    });
}

#[test]
fn a_byte_behind_the_end_is_rejected() {
    every_golden_frame(|name, _, _, order, mut frame| {
        frame.push(0);
        let error = decode(&frame, Checksum::On);
        assert_eq!(error, Err(DecodeError::Trailing), "{name}, {order:?}");
    });
}

#[test]
fn every_corruption_of_one_byte_is_rejected() {
    every_golden_frame(|name, _, _, order, mut frame| {
        let (places, values) = if cfg!(miri) { (7, 201) } else { (1, 1) };
        for at in (0..frame.len()).step_by(places) {
            let right = frame[at];
            for wrong in (0..=u8::MAX).filter(|&wrong| wrong != right).step_by(values) {
                frame[at] = wrong;
                assert!(
                    decode(&frame, Checksum::On).is_err(),
                    "{name}, {order:?}: {wrong:#x} in place of {right:#x} at {at}"
                );
            }
            frame[at] = right;
        }
    });
}

#[test]
fn without_checksum_the_field_is_zero_and_the_rest_the_same() {
    every_golden_frame(|name, envelope, message, order, mut frame| {
        let mut out = [0; 300];
        let length = encode_as(order, &envelope, &message, Checksum::Off, &mut out).unwrap();
        frame[12..16].fill(0);
        assert_eq!(out[..length], frame, "{name}");
        assert_eq!(decode(&frame, Checksum::Off).unwrap().into_parts(), (envelope, message));
        assert_eq!(decode(&frame, Checksum::On), Err(DecodeError::NoChecksum));
    });
}

#[test]
fn the_hello_of_a_later_version_can_be_read() {
    // Flags and reserved bytes in use, and eight bytes longer: still a hello (R27).
    for order in Order::ALL {
        let mut frame = golden("hello_of_version_2", order);
        let hello = Hello {
            version_min: 1,
            version_max: 2,
            immediate_max: 4096,
            features: 3,
            given_up: 5,
            attempt: 1,
        };
        let (from, message) = decode(&frame, Checksum::On).unwrap().into_parts();
        assert_eq!(message, Message::Hello(hello));
        assert_eq!(from.from, envelope().from);
        // Any other message of that version is not for us, nor is one of version zero.
        frame[1] = 9;
        assert_eq!(decode(&frame, Checksum::On), Err(DecodeError::Version));
        frame[1..3].copy_from_slice(&[1, 0]);
        assert_eq!(decode(&frame, Checksum::On), Err(DecodeError::Version));
    }
}
