// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Frames: whatever the bytes are, they are decoded or refused, and what was decoded can be said.

use arbitrary::{Arbitrary, Unstructured};
use lnd_core::id::Nid;
use lnd_shortmsg::dispatch::{Receiver, Sender};
use lnd_shortmsg::wire::layout::{at, class, MAX_FRAME, VERSION};
use lnd_shortmsg::wire::{checksum, decode, encode, encoded_len, Checksum, DecodeError, Frame};

/// What is put right before decoding, so that the rest of the frame is looked at.
#[derive(Arbitrary, Debug)]
struct Repair {
    length: bool,
    sum: bool,
    checksums: bool,
    swapped: bool,
}

/// INV-10, B14, H16: no frame panics; what decodes encodes to a frame that decodes to the same; one
/// byte more or less does not decode.
pub fn frame(data: &[u8]) {
    let mut input = Unstructured::new(data);
    let Ok(repair) = Repair::arbitrary(&mut input) else { return };
    let mut frame = input.take_rest().to_vec();
    frame.truncate(MAX_FRAME + 8);
    repair.apply(&mut frame);
    let mode = if repair.checksums { Checksum::On } else { Checksum::Off };

    let mut receiver = Receiver::new(mode);
    let received = receiver.receive_from(Sender::Unknown, &frame);
    assert_eq!(received, decode(&frame, mode));
    assert_eq!(receiver.control() + receiver.lnd() + receiver.errors().total(), 1);
    let Ok(decoded) = received else { return };
    let layer = if matches!(decoded, Frame::Control(..)) { class::CONTROL } else { class::LND };
    assert_eq!(frame[at::CLASS], layer, "S3-6: the first byte says which layer");

    let (envelope, message) = decoded.into_parts();
    let forger = Nid::from_raw(envelope.from.raw() ^ 1).unwrap_or(envelope.to);
    if forger != envelope.from {
        let refused = receiver.receive_from(Sender::Known(forger), &frame);
        assert_eq!(refused, Err(DecodeError::Sender), "R31: in another's name");
        assert_eq!(receiver.errors().of(DecodeError::Sender), 1);
    }
    assert_eq!(receiver.receive_from(Sender::Known(envelope.from), &frame), received);
    let length = encoded_len(&envelope, &message).expect("what was decoded can be encoded");
    let mut again = vec![0; length];
    let written = encode(&envelope, &message, mode, &mut again).expect("there is room");
    assert_eq!(written, length);
    assert_eq!(decode(&again, mode), Ok(decoded), "encoded and decoded again");
    if frame[at::VERSION] == VERSION {
        assert_eq!(length, frame.len(), "a frame of this version has one length");
    }

    frame.push(0);
    assert_eq!(decode(&frame, mode).err(), Some(DecodeError::Trailing));
    frame.truncate(frame.len() - 2);
    assert!(decode(&frame, mode).is_err(), "a frame that was cut short");
}

impl Repair {
    fn apply(&self, frame: &mut [u8]) {
        let length = frame.len() as u32;
        let order = |word: u32| if self.swapped { word.swap_bytes() } else { word }.to_ne_bytes();
        if self.length {
            put(frame, at::LENGTH, order(length));
        }
        if self.sum {
            let sum = checksum(frame);
            put(frame, at::CHECKSUM, order(sum));
        }
    }
}

fn put(frame: &mut [u8], place: usize, word: [u8; 4]) {
    if let Some(bytes) = frame.get_mut(place..place + 4) {
        bytes.copy_from_slice(&word);
    }
}
