// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Captures whose content is known, for `tests/run wire`: for each packet what the library's own
//! decoder says of it, field by field or as a refusal. What a dissector shows is held against that.
//!
//!     wire_oracle golden DIR     every message in every look, then spoilt in every place
//!     wire_oracle run SEED DIR   the frames of a simulated run
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use lnd_app::capture::head::Head;
use lnd_app::capture::pcapng::{Direction, Packet, Writer};
use lnd_app::capture::{self, head_of};
use lnd_app::recorded::Cast;
use lnd_core::id::{Incarnation, Nid, Tag};
use lnd_core::message::{Envelope, Hello, HelloAck, Lane, Message, NakReason, PullReady};
use lnd_shortmsg::dispatch::{Receiver, Sender};
use lnd_shortmsg::wire::layout::{at, short};
use lnd_shortmsg::wire::{
    checksum, checksum_of_all, encode_as, encoded_len, Checksum, DecodeError, Heads, Order, Wire,
};
use lnd_sim::simulator::run_log::{Entry, Logged};
use lnd_sim::simulator::RunLog;
use lnd_sim::world;
use serde_json::{json, Map, Value};

const SUMS: [Checksum; 2] = [Checksum::On, Checksum::Off];

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["golden", dir] => golden(Path::new(dir)),
        ["run", seed, dir] => run(seed.parse().expect("a seed"), Path::new(dir)),
        _ => panic!("wire_oracle golden DIR | run SEED DIR"),
    }
}

/// A frame with what its channel knows.
#[derive(Clone)]
struct Sample {
    head: Head,
    bytes: Vec<u8>,
}

impl Sample {
    /// What the library says.
    fn judged(&self) -> Value {
        let mut receiver = Receiver::<true>::of(self.head.wire, self.head.destination);
        match receiver.receive_from(Sender::Known(self.head.source), &self.bytes) {
            Err(error) => json!({ "lnd.error": error.as_str() }),
            Ok(frame) => {
                let (envelope, message) = frame.into_parts();
                let mut fields = Map::new();
                let mut put = |name: &str, value: Value| {
                    fields.insert(format!("lnd.{name}"), value);
                };
                put("lane", json!(u8::from(self.head.control)));
                put("link", json!(self.head.link));
                put("source", json!(self.head.source.raw()));
                put("destination", json!(self.head.destination.raw()));
                let named = !matches!(self.bytes.first(), Some(0x11 | 0x12));
                if named {
                    put("from", json!(envelope.from.raw()));
                    put("to", json!(envelope.to.raw()));
                }
                envelope_fields(&envelope, &mut put);
                message_fields(&message, &mut put);
                Value::Object(fields)
            }
        }
    }

    /// Writes the checksum that its bytes need.
    fn sign(&mut self) {
        let length = self.bytes.len();
        if matches!(self.bytes.first(), Some(0x11 | 0x12)) {
            if self.head.wire.checksum == Checksum::On && length >= short::HEAD_LEN + 4 {
                let sum = checksum_of_all(&self.bytes[..length - 4]);
                self.bytes[length - 4..].copy_from_slice(&sum.to_le_bytes());
            }
        } else if length >= at::CHECKSUM + 4 && self.head.wire.checksum == Checksum::On {
            let sum = checksum(&self.bytes);
            let little = self.bytes[at::MAGIC] == b'w';
            let sum = if little { sum.to_le_bytes() } else { sum.to_be_bytes() };
            self.bytes[at::CHECKSUM..at::CHECKSUM + 4].copy_from_slice(&sum);
        }
    }
}

fn envelope_fields(it: &Envelope, put: &mut impl FnMut(&str, Value)) {
    put("from_incarnation", json!(it.from_incarnation.raw()));
    put("to_incarnation", json!(it.to_incarnation.map_or(0, Incarnation::raw)));
    put("session", json!(it.session));
    put("sequence", json!(it.sequence));
    put("credits", json!(it.credits));
    put("credits_of", json!(it.credits_of));
}

fn hex(bytes: &[u8]) -> Value {
    Value::String(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn message_fields(message: &Message<'_>, put: &mut impl FnMut(&str, Value)) {
    let name = match message {
        Message::Hello(it) => {
            put("hello.version_min", json!(it.version_min));
            put("hello.version_max", json!(it.version_max));
            put("attempt", json!(it.attempt));
            put("immediate_max", json!(it.immediate_max));
            put("features", json!(it.features));
            put("hello.given_up", json!(it.given_up));
            "HELLO"
        }
        Message::HelloAck(it) => {
            put("ack.session", json!(it.session));
            put("ack.version", json!(it.version.unwrap_or(0)));
            put("attempt", json!(it.attempt));
            put("ack.depth", json!(it.depth));
            put("immediate_max", json!(it.immediate_max));
            put("features", json!(it.features));
            "HELLO_ACK"
        }
        Message::Immediate { header, payload } => {
            put("header", hex(header));
            put("header.length", json!(header.len()));
            put("payload", hex(payload));
            put("payload.length", json!(payload.len()));
            "IMMEDIATE"
        }
        Message::PutReq { header, source, length, key } => {
            put("source_cookie", json!(source.to_cookie()));
            put("bytes", json!(length));
            put("header", hex(header));
            put("header.length", json!(header.len()));
            put("key", hex(key));
            put("key.length", json!(key.len()));
            "PUT_REQ"
        }
        Message::GetReq { header, sink, length, key } => {
            put("sink_cookie", json!(sink.to_cookie()));
            put("bytes", json!(length));
            put("header", hex(header));
            put("header.length", json!(header.len()));
            put("key", hex(key));
            put("key.length", json!(key.len()));
            "GET_REQ"
        }
        Message::PullReady(it) => {
            put("sink_cookie", json!(it.sink.to_cookie()));
            put("source_cookie", json!(it.source.to_cookie()));
            put("bytes", json!(it.length));
            put("key", hex(it.key));
            put("key.length", json!(it.key.len()));
            "PULL_READY"
        }
        Message::PutNak { source, why } => {
            put("source_cookie", json!(source.to_cookie()));
            put("refusal", json!(*why as u8));
            "PUT_NAK"
        }
        Message::GetNak { sink, why } => {
            put("sink_cookie", json!(sink.to_cookie()));
            put("refusal", json!(*why as u8));
            "GET_NAK"
        }
        Message::PutDone { source, failed } => {
            put("source_cookie", json!(source.to_cookie()));
            put("refusal", json!(failed.map_or(0, |why| why as u8)));
            "PUT_DONE"
        }
        Message::CancelPut { source, session, sequence } => {
            put("source_cookie", json!(source.to_cookie()));
            put("cancel.session", json!(session));
            put("cancel.sequence", json!(sequence));
            "CANCEL_PUT"
        }
        Message::CancelGet { source, sink } => {
            put("source_cookie", json!(source.to_cookie()));
            put("sink_cookie", json!(sink.to_cookie()));
            "CANCEL_GET"
        }
        Message::GetDone { sink, length, failed } => {
            put("sink_cookie", json!(sink.to_cookie()));
            put("pushed", json!(length));
            put("refusal", json!(failed.map_or(0, |why| why as u8)));
            "GET_DONE"
        }
        Message::CancelPush { sink, session, sequence } => {
            put("sink_cookie", json!(sink.to_cookie()));
            put("cancel.session", json!(session));
            put("cancel.sequence", json!(sequence));
            "CANCEL_PUSH"
        }
        Message::Noop => "NOOP",
        Message::Close => "CLOSE",
    };
    put("message", json!(name));
}

/// One of every message, and of those that have a choice one of each.
fn messages() -> Vec<Message<'static>> {
    const HEADER: &[u8] = &[0xa5; 72];
    const LONG: &[u8] = &[0x5a; 96];
    const KEY: &[u8] = b"a key of the engine, 32 bytes...";
    let tag = |index, generation| Tag { index, generation };
    let (source, sink) = (tag(0x0102_0304, 0x0506_0708), tag(0x1112_1314, 0xf516_1718));
    let why = NakReason::NoResources;
    let hello = Hello {
        version_min: 1,
        version_max: 3,
        immediate_max: 4096,
        features: 0x8000_0003,
        attempt: 9,
        given_up: 0x8421_0001,
    };
    let ack = HelloAck {
        session: 0x0a0b_0c0d,
        attempt: 9,
        version: Some(1),
        depth: 0x0102,
        immediate_max: 512,
        features: 5,
    };
    vec![
        Message::Hello(hello),
        Message::HelloAck(ack),
        Message::HelloAck(HelloAck { version: None, depth: 0, ..ack }),
        Message::Immediate { header: HEADER, payload: b"payload" },
        Message::Immediate { header: &[], payload: &[] },
        Message::PutReq { header: HEADER, source, length: 0x0010_0000, key: &[] },
        Message::PutReq { header: LONG, source, length: 3, key: KEY },
        Message::PutNak { source, why },
        Message::PutDone { source, failed: None },
        Message::PutDone { source, failed: Some(NakReason::Failed) },
        Message::GetReq { header: HEADER, sink, length: 70_000, key: &[] },
        Message::GetReq { header: LONG, sink, length: 3, key: KEY },
        Message::GetNak { sink, why: NakReason::NoMatch },
        Message::Noop,
        Message::Close,
        Message::CancelPut { source, session: 0x2122_2324, sequence: 0x3132_3334 },
        Message::CancelGet { source, sink },
        Message::GetDone { sink, length: 0x0010_0203, failed: None },
        Message::GetDone { sink, length: 0, failed: Some(NakReason::Failed) },
        Message::CancelPush { sink, session: 0x2122_2324, sequence: 0x3132_3334 },
        Message::PullReady(PullReady { sink, source, length: 65_536, key: &[] }),
        Message::PullReady(PullReady { sink, source, length: 1, key: KEY }),
    ]
}

/// Every message in every look.
fn good() -> Vec<Sample> {
    let nid = |raw| Nid::from_raw(raw).unwrap();
    let (source, destination) = (nid(0x0007_0001_0000_0a01), nid(0x0007_0001_0000_0b02));
    let envelope = Envelope {
        from: source,
        to: destination,
        from_incarnation: Incarnation::from_raw(0x1111_2222_3333_4444).unwrap(),
        to_incarnation: Incarnation::from_raw(0x5555_6666_7777_8888),
        session: 0x8182_8384,
        sequence: 0x9192_9394,
        credits: 0xa1a2,
        credits_of: 0xb1b2_b3b4,
    };
    let mut all = Vec::new();
    for message in messages() {
        let control = message.lane() == Lane::Control;
        for checksum in SUMS {
            for heads in [Heads::Named, Heads::Short] {
                let wire = Wire { checksum, heads };
                let head = Head { control, link: 5, wire, source, destination };
                let mut bytes = vec![0; wire.encoded_len(&envelope, &message).unwrap()];
                wire.encode(&envelope, &message, &mut bytes).unwrap();
                all.push(Sample { head, bytes });
            }
            for order in Order::ALL {
                let head =
                    Head { control, link: 0, wire: Wire::named(checksum), source, destination };
                let mut bytes = vec![0; encoded_len(&envelope, &message).unwrap()];
                encode_as(order, &envelope, &message, checksum, &mut bytes).unwrap();
                all.push(Sample { head, bytes });
            }
        }
    }
    all
}

/// What is made of a frame: each byte of its fixed part changed, with and without a checksum that
/// fits, cut everywhere, and with more behind it.
fn spoilt(whole: &Sample) -> Vec<Sample> {
    let mut all = Vec::new();
    for place in 0..whole.bytes.len().min(110) {
        for flip in [0x01, 0xff] {
            let mut it = whole.clone();
            it.bytes[place] ^= flip;
            if flip == 0x01 {
                it.sign();
            }
            all.push(it);
        }
        let mut zero = whole.clone();
        zero.bytes[place] = 0;
        zero.sign();
        all.push(zero);
    }
    for length in 0..whole.bytes.len().min(110) {
        let mut cut = whole.clone();
        cut.bytes.truncate(length);
        all.push(cut.clone());
        // A frame that says how short it is.
        if length >= 12 {
            set_length(&mut cut, length as u32);
            cut.sign();
            all.push(cut);
        }
    }
    let mut long = whole.clone();
    long.bytes.extend([0; 3]);
    all.push(long.clone());
    let length = long.bytes.len() as u32;
    set_length(&mut long, length);
    long.sign();
    all.push(long);
    let mut huge = whole.clone();
    set_length(&mut huge, 65_537);
    all.push(huge);
    let mut bare = whole.clone();
    set_word(&mut bare, at::CHECKSUM, 0);
    all.push(bare);
    // Another channel's frame, and another sender's.
    let mut other = whole.clone();
    other.head.wire.heads = match other.head.wire.heads {
        Heads::Named => Heads::Short,
        Heads::Short => Heads::Named,
    };
    all.push(other);
    let mut forged = whole.clone();
    forged.head.source = forged.head.destination;
    all.push(forged);
    // Zero identities, in both looks.
    for (place, size) in [(16, 8), (32, 8), (48, 8), (56, 8), (8, 8)] {
        let mut it = whole.clone();
        if let Some(field) = it.bytes.get_mut(place..place + size) {
            field.fill(0);
            it.sign();
            all.push(it);
        }
    }
    all
}

/// The length in the prefix, in the frame's order.
fn set_length(sample: &mut Sample, length: u32) {
    set_word(sample, at::LENGTH, length);
}

/// A word of the prefix, in the frame's order. A short head has no prefix, and stays as it is.
fn set_word(sample: &mut Sample, place: usize, word: u32) {
    let little = sample.bytes[at::MAGIC] == b'w';
    let word = if little { word.to_le_bytes() } else { word.to_be_bytes() };
    if !matches!(sample.bytes.first(), Some(0x11 | 0x12)) {
        sample.bytes[place..place + 4].copy_from_slice(&word);
    }
}

fn golden(dir: &Path) {
    let good = good();
    let mut all = good.clone();
    for sample in &good {
        all.extend(spoilt(sample));
    }
    // A HELLO of a later version: longer, with a use for what is reserved now.
    for sample in good.iter().filter(|it| it.bytes.first() == Some(&2) && it.bytes[1] <= 2) {
        let mut later = sample.clone();
        later.bytes[at::VERSION] = 2;
        later.bytes[at::FLAGS] = 7;
        later.bytes[at::CREDITS_REST] = 1;
        later.bytes.extend([9; 8]);
        let length = later.bytes.len() as u32;
        set_length(&mut later, length);
        later.sign();
        all.push(later);
    }
    let mut writer = Writer::new(create(dir, "golden.pcapng"), "wire_oracle", "golden").unwrap();
    writer.interface("golden", "").unwrap();
    let mut judged = Vec::new();
    for (number, sample) in (1_u64..).zip(&all) {
        let packet = Packet {
            interface: 0,
            at: number * 1_000,
            direction: Direction::In,
            id: number,
            comment: "",
            head: &sample.head.encode(),
            bytes: &sample.bytes,
        };
        writer.packet(&packet).unwrap();
        judged.push(sample.judged());
    }
    writer.finish().unwrap();
    for error in DecodeError::ALL {
        let name = json!(error.as_str());
        assert!(judged.iter().any(|it| it.get("lnd.error") == Some(&name)), "no frame: {error}");
    }
    write_json(dir, "golden.json", &judged);
}

fn run(seed: u64, dir: &Path) {
    let options = world::Options { seed, ..world::Options::default() };
    let log = RunLog::default();
    let summary = world::run_logged(&options, None, Some(&log)).expect("a run that passes");
    let (entries, _) = log.take();
    let out = create(dir, &format!("run-{seed}.pcapng"));
    capture::write(out, &options.command(), &Cast::nodes(), &entries).unwrap();
    let judged: Vec<Value> = entries.iter().filter_map(sample_of).map(|it| it.judged()).collect();
    write_json(dir, &format!("run-{seed}.json"), &judged);
    let refused = summary.refused.iter().filter(|(_, count)| *count > 0);
    let refused: Map<String, Value> =
        refused.map(|(error, count)| (error.to_string(), json!(count))).collect();
    write_json(dir, &format!("run-{seed}.refused.json"), &refused);
}

fn sample_of(entry: &Entry) -> Option<Sample> {
    match &entry.what {
        Logged::Sent { lane, bytes, .. } | Logged::Arrived { lane, bytes, .. } => {
            Some(Sample { head: head_of(*lane), bytes: bytes.clone() })
        }
        _ => None,
    }
}

fn create(dir: &Path, name: &str) -> BufWriter<File> {
    BufWriter::new(File::create(dir.join(name)).unwrap())
}

fn write_json(dir: &Path, name: &str, what: &impl serde::Serialize) {
    let mut out = create(dir, name);
    serde_json::to_writer(&mut out, what).unwrap();
    out.flush().unwrap();
}
