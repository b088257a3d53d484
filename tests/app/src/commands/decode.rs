// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lnd decode`: a frame of the wire format, field by field.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use lnd_app::process::{parse_nid, Broken};
use lnd_core::id::{Incarnation, Nid, Tag};
use lnd_core::message::{Envelope, Message};
use lnd_shortmsg::dispatch::{Receiver, Sender};
use lnd_shortmsg::wire::layout::{at, class, MAGIC, MAX_FRAME};
use lnd_shortmsg::wire::{checksum, Checksum, DecodeError, Wire};
use serde_json::{json, Map, Value};

use super::{Done, Failed};

#[derive(Debug, clap::Args)]
pub struct DecodeArgs {
    /// The frame in hexadecimal digits; blanks, colons, commas and `0x` are allowed between bytes.
    /// `-` reads digits from standard input.
    #[arg(required_unless_present = "file")]
    hex: Vec<String>,
    /// A file that holds the frame's bytes themselves.
    #[arg(long, value_name = "FILE", conflicts_with = "hex")]
    file: Option<PathBuf>,
    /// The channel has no checksums.
    #[arg(long)]
    no_checksum: bool,
    /// The node that has sent the frame, for channels whose heads are short.
    #[arg(long, value_name = "NID", value_parser = parse_nid, requires = "to")]
    from: Option<Nid>,
    /// The node that has received it.
    #[arg(long, value_name = "NID", value_parser = parse_nid, requires = "from")]
    to: Option<Nid>,
    /// As JSON.
    #[arg(long)]
    json: bool,
}

impl DecodeArgs {
    pub fn run(self) -> Done {
        let frame = self.read()?;
        let sum = if self.no_checksum { Checksum::Off } else { Checksum::On };
        let decoded = match (self.from, self.to) {
            (Some(from), Some(to)) => {
                Receiver::of(Wire::short(sum), to).receive_from(Sender::Known(from), &frame)
            }
            _ => Receiver::new(sum).receive_from(Sender::Unknown, &frame),
        };
        let mut shown = Map::new();
        shown.insert("bytes".into(), frame.len().into());
        shown.extend(head(&frame));
        match decoded {
            Ok(decoded) => {
                let (envelope, message) = decoded.into_parts();
                shown.insert("envelope".into(), of_envelope(&envelope));
                let (name, fields) = of_message(&message);
                shown.insert("message".into(), name.into());
                shown.insert("fields".into(), fields);
                super::print(&Value::Object(shown), self.json);
                Ok(())
            }
            Err(error) => {
                let why = explain(error, &frame);
                shown.insert("refused".into(), error.as_str().into());
                shown.insert("because".into(), why.clone().into());
                super::print(&Value::Object(shown), self.json);
                Err(Failed::Broken(format!("no frame: {error}: {why}").into()))
            }
        }
    }

    fn read(&self) -> Result<Vec<u8>, Broken> {
        // More than the largest frame is no frame, however long it is.
        let most = 16 * MAX_FRAME as u64;
        if let Some(path) = &self.file {
            let named = |error: io::Error| format!("{}: {error}", path.display());
            let mut bytes = Vec::new();
            let file = File::open(path).map_err(named)?;
            file.take(most).read_to_end(&mut bytes).map_err(named)?;
            return Ok(bytes);
        }
        if self.hex == ["-"] {
            let mut text = Vec::new();
            let read = io::stdin().take(most).read_to_end(&mut text);
            read.map_err(|error| format!("standard input: {error}"))?;
            return Ok(digits(&String::from_utf8_lossy(&text), Some(Path::new("-")))?);
        }
        Ok(digits(&self.hex.join(" "), None)?)
    }
}

/// The bytes that hexadecimal digits name.
fn digits(text: &str, from: Option<&Path>) -> Result<Vec<u8>, String> {
    let place = from.map_or("", |_| "standard input: ");
    let mut bytes = Vec::new();
    for word in text.split(|c: char| c.is_whitespace() || c == ':' || c == ',') {
        let word = word.strip_prefix("0x").unwrap_or(word);
        if let Some(wrong) = word.chars().find(|c| !c.is_ascii_hexdigit()) {
            let at = bytes.len();
            return Err(format!("{place}byte {at}: '{wrong}' is no hexadecimal digit"));
        }
        if word.len() % 2 != 0 {
            let at = bytes.len();
            return Err(format!("{place}byte {at}: '{word}' is an odd number of digits"));
        }
        let pairs = word.as_bytes().chunks_exact(2);
        // Two digits of ASCII are a text and a number.
        let pair = |pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap_or("0"), 16);
        bytes.extend(pairs.map(pair).map(Result::unwrap_or_default));
    }
    if bytes.is_empty() {
        return Err(format!("{place}no digits: a frame has bytes"));
    }
    Ok(bytes)
}

fn word(frame: &[u8], at: usize) -> Option<u32> {
    let bytes: [u8; 4] = frame.get(at..at + 4)?.try_into().ok()?;
    Some(u32::from_le_bytes(bytes))
}

/// What is at the beginning of every frame, also of one that is refused.
fn head(frame: &[u8]) -> Map<String, Value> {
    let mut shown = Map::new();
    let mut put = |name: &str, value: Value| shown.insert(name.into(), value);
    let byte = |at: usize| frame.get(at).copied();
    if let Some(class) = byte(at::CLASS) {
        put("class", class_name(class).into());
        let is_short = matches!(class, class::SHORT_CONTROL | class::SHORT_LND);
        if let (false, Some(magic)) = (is_short, word(frame, at::MAGIC)) {
            let order = match magic {
                MAGIC => "little endian",
                _ if magic == MAGIC.swap_bytes() => "big endian",
                _ => "unknown: wrong magic",
            };
            put("byte_order", order.into());
            let swap =
                |word: u32| if magic == MAGIC.swap_bytes() { word.swap_bytes() } else { word };
            let version = byte(at::VERSION).unwrap_or_default();
            put("wire_version", version.into());
            if let Some(length) = word(frame, at::LENGTH) {
                put("stated_bytes", swap(length).into());
            }
            if let Some(sum) = word(frame, at::CHECKSUM).map(swap) {
                put("checksum", format!("{sum:#010x}").into());
                put("checksum_of_bytes", format!("{:#010x}", checksum(frame)).into());
            }
        }
    }
    shown
}

fn class_name(it: u8) -> String {
    match it {
        class::CONTROL => "control layer".into(),
        class::LND => "LND message".into(),
        class::SHORT_CONTROL => "control layer, short head".into(),
        class::SHORT_LND => "LND message, short head".into(),
        other => format!("unknown ({other:#04x})"),
    }
}

/// What a refusal means for this frame.
fn explain(error: DecodeError, frame: &[u8]) -> String {
    let has = frame.len();
    let swapped = word(frame, at::MAGIC) == Some(MAGIC.swap_bytes());
    let stated = word(frame, at::LENGTH).map(|it| if swapped { it.swap_bytes() } else { it });
    let states = stated.map_or("ends before it states how many it has".into(), |bytes| {
        format!("states {bytes}, and its head needs {} at least", at::CREDITS_OF + 4)
    });
    match error {
        DecodeError::Class => {
            let first = frame.first().copied().unwrap_or_default();
            format!("the first byte is {first:#04x}; a frame begins with 01, 02, 11 or 12")
        }
        DecodeError::Magic => {
            format!("bytes 4 to 7 are not {MAGIC:#010x} in either byte order")
        }
        DecodeError::Truncated => {
            format!("there are {has} bytes; the frame {states}")
        }
        DecodeError::Trailing => format!("there are {has} bytes; the frame {states}"),
        DecodeError::Oversize => format!("a frame has at most {MAX_FRAME} bytes"),
        DecodeError::Checksum => {
            format!("bytes were changed on the way: their checksum is {:#010x}", checksum(frame))
        }
        DecodeError::NoChecksum => {
            "the field is zero; --no-checksum decodes frames of a channel without checksums".into()
        }
        DecodeError::Heads => {
            "the heads of its channel are short: --from and --to say between which nodes".into()
        }
        DecodeError::Sender => "the frame names another sender than --from".into(),
        DecodeError::Version => "a HELLO agrees on a version; all else has to keep to it".into(),
        DecodeError::Kind => "the second byte names no message of this class".into(),
        DecodeError::Length => "the lengths of the parts and of the frame contradict".into(),
        DecodeError::Reserved => "reserved bytes are for later versions and zero until then".into(),
        DecodeError::ZeroNid => "every message names its sender and its receiver".into(),
        DecodeError::ZeroIncarnation => "only a HELLO to an unknown peer names none".into(),
        DecodeError::BadRefusal => "the peer gives a reason that this version has not".into(),
        DecodeError::HeaderTooLong | DecodeError::KeyTooLong => {
            "no node of this version sends such a frame".into()
        }
    }
}

fn incarnation(it: Option<Incarnation>) -> Value {
    it.map_or(Value::Null, |it| format!("{:016x}", it.raw()).into())
}

fn of_envelope(it: &Envelope) -> Value {
    json!({
        "from": it.from.to_string(),
        "to": it.to.to_string(),
        "from_incarnation": incarnation(Some(it.from_incarnation)),
        "to_incarnation": incarnation(it.to_incarnation),
        "session": it.session,
        "sequence": it.sequence,
        "credits": it.credits,
        "credits_of": it.credits_of,
    })
}

fn tag(it: Tag) -> Value {
    json!({ "index": it.index, "generation": it.generation })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The message's name in the wire format, and its fields.
fn of_message(message: &Message<'_>) -> (&'static str, Value) {
    match *message {
        Message::Hello(it) => (
            "HELLO",
            json!({
                "version_min": it.version_min, "version_max": it.version_max,
                "immediate_bytes_max": it.immediate_max,
                "features": format!("{:#x}", it.features),
                "given_up": format!("{:#x}", it.given_up), "attempt": it.attempt,
            }),
        ),
        Message::HelloAck(it) => (
            "HELLO_ACK",
            json!({
                "session": it.session, "attempt": it.attempt, "version": it.version,
                "credits": it.depth, "immediate_bytes_max": it.immediate_max,
                "features": format!("{:#x}", it.features),
            }),
        ),
        Message::Immediate { header, payload } => (
            "IMMEDIATE",
            json!({
                "header": hex(header), "payload_bytes": payload.len(), "payload": hex(payload),
            }),
        ),
        Message::PutReq { header, source, length, key } => (
            "PUT_REQ",
            json!({
                "header": hex(header), "source": tag(source), "length": length, "key": hex(key),
            }),
        ),
        Message::PutNak { source, why } => {
            ("PUT_NAK", json!({ "source": tag(source), "why": format!("{why:?}") }))
        }
        Message::PutDone { source, failed } => {
            let failed = failed.map(|why| format!("{why:?}"));
            ("PUT_DONE", json!({ "source": tag(source), "failed": failed }))
        }
        Message::GetReq { header, sink, length, key } => (
            "GET_REQ",
            json!({ "header": hex(header), "sink": tag(sink), "length": length, "key": hex(key) }),
        ),
        Message::GetNak { sink, why } => {
            ("GET_NAK", json!({ "sink": tag(sink), "why": format!("{why:?}") }))
        }
        Message::CancelPut { source, session, sequence } => (
            "CANCEL_PUT",
            json!({ "source": tag(source), "session": session, "sequence": sequence }),
        ),
        Message::CancelGet { source, sink } => {
            ("CANCEL_GET", json!({ "source": tag(source), "sink": tag(sink) }))
        }
        Message::GetDone { sink, length, failed } => {
            let failed = failed.map(|why| format!("{why:?}"));
            ("GET_DONE", json!({ "sink": tag(sink), "length": length, "failed": failed }))
        }
        Message::CancelPush { sink, session, sequence } => {
            ("CANCEL_PUSH", json!({ "sink": tag(sink), "session": session, "sequence": sequence }))
        }
        Message::Noop => ("NOOP", json!({})),
        Message::Close => ("CLOSE", json!({})),
        Message::PullReady(it) => (
            "PULL_READY",
            json!({
                "sink": tag(it.sink), "source": tag(it.source), "length": it.length,
                "key": hex(it.key),
            }),
        ),
    }
}
