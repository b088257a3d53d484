// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Frames: whatever the bytes are, they are decoded or refused, and what was decoded can be said.

use arbitrary::{Arbitrary, Unstructured};
use lnd_core::id::Nid;
use lnd_core::message::Message;
use lnd_shortmsg::dispatch::{Receiver, Sender};
use lnd_shortmsg::wire::layout::{at, class, kind, short, MAX_FRAME, VERSION};
use lnd_shortmsg::wire::{
    checksum, checksum_of_all, decode, encode, encoded_len, Checksum, DecodeError, Frame, Wire,
};

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
    if let Some(&(class::SHORT_CONTROL | class::SHORT_LND)) = frame.first() {
        return short_frame(frame, Wire::short(mode));
    }

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

/// The same of a frame with the short head, which has one form alone: what decodes encodes to the
/// same bytes. The channel says who has sent it (R31).
fn short_frame(mut frame: Vec<u8>, wire: Wire) {
    let [from, to] = [1, 2].map(|raw| Nid::from_raw(raw).expect("not zero"));
    let sender = Sender::Known(from);
    for (mut other, sender, error) in [
        (Receiver::of(wire, to), Sender::Unknown, DecodeError::Sender),
        (Receiver::of(Wire::named(wire.checksum), to), sender, DecodeError::Heads),
    ] {
        assert_eq!(other.receive_from(sender, &frame), Err(error));
        assert_eq!((other.errors().of(error), other.errors().total()), (1, 1));
    }
    let mut receiver = Receiver::of(wire, to);
    let received = receiver.receive_from(sender, &frame);
    assert_eq!(receiver.control() + receiver.lnd() + receiver.errors().total(), 1);
    let inline = Receiver::of(wire, to).receive_inline(sender, &frame);
    let inline = inline.map(|(envelope, header, payload)| {
        Frame::Lnd(envelope, Message::Immediate { header, payload })
    });
    let is_inline = matches!(received, Ok(Frame::Lnd(_, Message::Immediate { .. })));
    assert_eq!(inline, received.ok().filter(|_| is_inline), "the shorter way says the same");
    let Ok(decoded) = received else { return };
    let control = matches!(decoded, Frame::Control(..));
    let layer = if control { class::SHORT_CONTROL } else { class::SHORT_LND };
    assert_eq!(frame[0], layer, "S3-6: the first byte says which layer");
    let (envelope, message) = decoded.into_parts();
    assert_eq!((envelope.from, envelope.to), (from, to));
    let mut again = vec![0; frame.len() + 1];
    let written = wire.encode(&envelope, &message, &mut again).expect("there is room");
    assert_eq!(again[..written], frame, "encoded again");
    assert_eq!(wire.encoded_len(&envelope, &message), Ok(written));

    frame.push(0);
    assert_eq!(receiver.receive_from(sender, &frame).err(), Some(DecodeError::Trailing));
    frame.truncate(frame.len() - 2);
    assert_eq!(receiver.receive_from(sender, &frame).err(), Some(DecodeError::Truncated));
}

impl Repair {
    fn apply(&self, frame: &mut Vec<u8>) {
        if let Some(&(class::SHORT_CONTROL | class::SHORT_LND)) = frame.first() {
            return self.apply_short(frame);
        }
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

impl Repair {
    /// The length of an IMMEDIATE's payload, and the sum, which is appended.
    fn apply_short(&self, frame: &mut Vec<u8>) {
        let header = usize::from(frame.get(short::DETAIL).copied().unwrap_or(0));
        if self.length && frame.get(short::KIND) == Some(&kind::IMMEDIATE) {
            let payload = frame.len().saturating_sub(short::HEAD_LEN + header) as u32;
            put(frame, short::LENGTH, payload.to_le_bytes());
        }
        if self.sum {
            let sum = checksum_of_all(frame);
            frame.extend(sum.to_le_bytes());
        }
    }
}

fn put(frame: &mut [u8], place: usize, word: [u8; 4]) {
    if let Some(bytes) = frame.get_mut(place..place + 4) {
        bytes.copy_from_slice(&word);
    }
}
