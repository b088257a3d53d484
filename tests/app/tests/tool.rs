// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What `lnd` shows without a node: the library, its machines, frames, itself.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod place;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use lnd_core::id::{Incarnation, Nid, Tag};
use lnd_core::message::{Envelope, Hello, Message, NakReason, PullReady};
use lnd_shortmsg::wire::{Checksum, Wire};
use place::Place;
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn envelope() -> Envelope {
    Envelope {
        from: Nid::from_raw(1).unwrap(),
        to: Nid::from_raw(2).unwrap(),
        from_incarnation: Incarnation::from_raw(0xabcd).unwrap(),
        to_incarnation: Incarnation::from_raw(0x1234),
        session: 3,
        sequence: 4,
        credits: 5,
        credits_of: 6,
    }
}

fn frame(wire: Wire, message: &Message<'_>) -> Vec<u8> {
    let mut bytes = vec![0; 4096];
    let length = wire.encode(&envelope(), message, &mut bytes).unwrap();
    bytes.truncate(length);
    bytes
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

const NAMED: Wire = Wire::named(Checksum::On);
const SINK: Tag = Tag { index: 7, generation: 8 };
const SOURCE: Tag = Tag { index: 9, generation: 10 };

#[test]
fn every_kind_of_message_is_shown_with_its_fields() {
    let place = Place::new("decode");
    let ready = PullReady { sink: SINK, source: SOURCE, length: 4096, key: &[1, 2] };
    let hello = Hello {
        version_min: 1,
        version_max: 2,
        immediate_max: 4096,
        features: 3,
        given_up: 0,
        attempt: 9,
    };
    let why = NakReason::NoMatch;
    let all = [
        (Message::Hello(hello), "HELLO", "attempt", Value::from(9)),
        (
            Message::Immediate { header: b"h", payload: b"abc" },
            "IMMEDIATE",
            "payload_bytes",
            3.into(),
        ),
        (
            Message::PutReq { header: b"h", source: SOURCE, length: 99, key: &[] },
            "PUT_REQ",
            "length",
            99.into(),
        ),
        (Message::PutNak { source: SOURCE, why }, "PUT_NAK", "why", "NoMatch".into()),
        (Message::PutDone { source: SOURCE, failed: None }, "PUT_DONE", "failed", Value::Null),
        (
            Message::GetReq { header: b"", sink: SINK, length: 7, key: &[3, 4] },
            "GET_REQ",
            "key",
            "0304".into(),
        ),
        (Message::GetNak { sink: SINK, why }, "GET_NAK", "why", "NoMatch".into()),
        (
            Message::CancelPut { source: SOURCE, session: 3, sequence: 4 },
            "CANCEL_PUT",
            "sequence",
            4.into(),
        ),
        (
            Message::GetDone { sink: SINK, length: 77, failed: None },
            "GET_DONE",
            "length",
            77.into(),
        ),
        (
            Message::GetDone { sink: SINK, length: 0, failed: Some(why) },
            "GET_DONE",
            "failed",
            "NoMatch".into(),
        ),
        (
            Message::CancelPush { sink: SINK, session: 3, sequence: 4 },
            "CANCEL_PUSH",
            "session",
            3.into(),
        ),
        (Message::PullReady(ready), "PULL_READY", "key", "0102".into()),
    ];
    for (message, name, field, value) in all {
        let shown = json(&place.ok(&["decode", "--json", &hex(&frame(NAMED, &message))]));
        assert_eq!(shown["message"], name, "{shown:#}");
        assert_eq!(shown["fields"][field], value, "{shown:#}");
        assert_eq!(shown["envelope"]["from"], "1@soft0", "{shown:#}");
        assert_eq!(shown["checksum"], shown["checksum_of_bytes"], "{shown:#}");
    }
    // Digits as dumps have them, from standard input, and bytes from a file.
    let bytes = frame(NAMED, &Message::Close);
    let spaced: Vec<String> = bytes.iter().map(|byte| format!("0x{byte:02X},")).collect();
    let mut child =
        place.lnd(&["decode", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let child = child.as_mut().unwrap();
    child.stdin.take().unwrap().write_all(spaced.join("\n").as_bytes()).unwrap();
    let mut text = String::new();
    std::io::Read::read_to_string(&mut child.stdout.take().unwrap(), &mut text).unwrap();
    assert!(child.wait().unwrap().success() && text.contains("message: CLOSE"), "{text}");
    fs::write(place.dir.join("frame"), &bytes).unwrap();
    assert!(place.ok(&["decode", "--file", "frame"]).contains("message: CLOSE"));
    // A channel with short heads: the nodes are known from elsewhere.
    let short = frame(Wire::short(Checksum::On), &Message::Noop);
    let refused = place.refused(&["decode", &hex(&short)]);
    assert!(refused.contains("--from and --to"), "{refused}");
    let shown = place.ok(&["decode", "--from", "1@soft", "--to", "2@soft", &hex(&short)]);
    assert!(shown.contains("message: NOOP"), "{shown}");
}

#[test]
fn what_is_no_frame_is_refused_in_words() {
    let place = Place::new("no-frame");
    let good = frame(NAMED, &Message::Immediate { header: b"head", payload: b"payload" });
    // Every length that is too short, and none of them a crash.
    for length in 1..good.len() {
        let output = place.run(&["decode", "--json", &hex(&good[..length])]);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{length}: {told}");
        assert!(told.starts_with("lnd: no frame: truncated: there are "), "{length}: {told}");
        let shown = json(&String::from_utf8_lossy(&output.stdout));
        assert_eq!(shown["refused"], "truncated");
    }
    let mut changed = good.clone();
    *changed.last_mut().unwrap() ^= 1;
    let mut longer = good.clone();
    longer.push(0);
    let mut other = good.clone();
    other[4] ^= 1;
    for (bytes, why) in [
        (changed, "checksum mismatch: bytes were changed on the way"),
        (longer, "bytes behind the end"),
        (other, "wrong magic"),
        (vec![0x77; 100], "unknown class: the first byte is 0x77"),
        (vec![0; 1 << 17], "unknown class"),
    ] {
        fs::write(place.dir.join("frame"), bytes).unwrap();
        let told = place.refused(&["decode", "--file", "frame"]);
        assert!(told.contains(why), "{why}: {told}");
    }
    for (arguments, why) in [
        (&["decode", "0102zz"][..], "byte 0: 'z' is no hexadecimal digit"),
        (&["decode", "01", "020"], "byte 1: '020' is an odd number of digits"),
        (&["decode", " "], "no digits"),
        (&["decode", "--file", "none"], "none: No such file"),
        (&["decode", "--file", "/"], "/: Is a directory"),
    ] {
        let told = place.refused(arguments);
        assert!(told.contains(why), "{arguments:?}: {told}");
    }
    assert_eq!(place.run(&["decode"]).status.code(), Some(2));
    assert_eq!(place.run(&["decode", "01", "--from", "1@soft"]).status.code(), Some(2));
}

#[test]
fn every_machine_has_its_table_and_its_drawings() {
    let place = Place::new("fsm");
    let list = json(&place.ok(&["fsm", "--json"]));
    let machines = list["machines"].as_array().unwrap();
    assert!(machines.len() >= 10, "{list:#}");
    for machine in machines {
        let name = machine["machine"].as_str().unwrap();
        let table = place.ok(&["fsm", name]);
        assert!(table.lines().count() > 5 && !table.contains("SPDX"), "{table}");
        if ["transfer", "status"].contains(&name) {
            assert!(place.refused(&["fsm", name, "--format", "dot"]).contains("no drawing"));
            continue;
        }
        let dot = place.ok(&["fsm", name, "--format", "dot"]);
        assert!(dot.starts_with(&format!("digraph \"{name}\" {{")), "{dot}");
        let mermaid = place.ok(&["fsm", name, "--format", "mermaid"]);
        assert!(mermaid.starts_with("stateDiagram-v2\n"), "{mermaid}");
        // One edge a line, in each of the three.
        let edges = json(&place.ok(&["fsm", name, "--json"]));
        let drawn = dot.lines().filter(|line| line.contains(" -> ")).count();
        assert_eq!(edges["edges"].as_array().unwrap().len(), drawn, "{edges:#}");
        let ends = |line: &&str| line.contains(" --> ") && !line.contains("[*]");
        assert_eq!(mermaid.lines().filter(ends).count(), drawn, "{mermaid}");
    }
    assert_eq!(place.run(&["fsm", "no-such"]).status.code(), Some(2));
}

#[test]
fn the_library_is_shown_in_numbers() {
    let place = Place::new("info");
    let all = json(&place.ok(&["info", "--json"]));
    assert_eq!(all["wire"]["version"], 1);
    assert_eq!(all["config"]["hello_timeout_ms"], 200.0);
    assert!(all["counters"].as_array().unwrap().len() > 30, "{all:#}");
    let wire = place.ok(&["info", "wire"]);
    assert!(wire.starts_with("wire:\n    version: 1\n"), "{wire}");
}

#[test]
fn shells_complete_the_commands() {
    let place = Place::new("completion");
    for shell in ["bash", "zsh", "fish"] {
        let script = place.ok(&["completion", shell]);
        assert!(script.contains("fsm"), "{shell}: the commands");
        assert!(script.contains("mermaid"), "{shell}: the values of options");
    }
    // The script of the shell that is here is one.
    let script = place.ok(&["completion", "bash"]);
    fs::write(place.dir.join("lnd.bash"), script).unwrap();
    let test = "source lnd.bash; COMP_WORDS=(lnd fs); COMP_CWORD=1; _lnd lnd fs lnd; \
        [ \"${COMPREPLY[*]}\" = fsm ]";
    let mut bash = std::process::Command::new("bash");
    assert!(bash.args(["-c", test]).current_dir(&place.dir).status().unwrap().success());
    assert_eq!(place.run(&["completion", "tcl"]).status.code(), Some(2));
}

/// The schemas in tes../sim/schema are those of this build: `UPDATE=1` writes them anew.
#[test]
fn schemas_are_up_to_date() {
    let place = Place::new("schema");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sim/schema");
    for (of, list) in [("world", "event"), ("rails", "event"), ("cluster", "node")] {
        let made = place.ok(&["schema", of]);
        let path = folder.join(format!("{of}.schema.json"));
        if std::env::var_os("UPDATE").is_some() {
            fs::write(&path, &made).unwrap();
        }
        let committed = fs::read_to_string(&path).unwrap_or_default();
        assert!(committed == made, "{of}: UPDATE=1 cargo test -p lnd-app --test tool");
        let schema = json(&made);
        assert_eq!(schema["additionalProperties"], false, "an unknown key is refused: {made}");
        assert!(schema["properties"][list]["items"].is_object(), "{made}");
    }
}

/// The pages in `man/` are those of this build: `UPDATE=1` writes them anew.
#[test]
fn manual_pages_are_up_to_date() {
    let place = Place::new("man");
    place.ok(&["man", "--dir", "share/man1"]);
    fs::rename(place.dir.join("share/man1"), place.dir.join("man")).unwrap();
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("man");
    let made = place.names("man");
    if std::env::var_os("UPDATE").is_some() {
        let _ = fs::remove_dir_all(&committed);
        fs::create_dir(&committed).unwrap();
        for name in &made {
            fs::copy(place.dir.join("man").join(name), committed.join(name)).unwrap();
        }
    }
    let read = |dir: &Path, name: &str| fs::read_to_string(dir.join(name)).unwrap();
    let mut names: Vec<String> = fs::read_dir(&committed)
        .expect("no manual pages: UPDATE=1 cargo test -p lnd-app --test tool")
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, made, "UPDATE=1 cargo test -p lnd-app --test tool");
    for name in &made {
        let (old, new) = (read(&committed, name), read(&place.dir.join("man"), name));
        assert!(old == new, "{name}: UPDATE=1 cargo test -p lnd-app --test tool");
        assert!(new.contains(".SH NAME") && new.contains(".SH SYNOPSIS"), "{name}");
    }
    let page = place.ok(&["man"]);
    assert_eq!(page, read(&committed, "lnd.1"));
    assert!(page.contains("Exit codes"), "{page}");
    let below_a_file = place.refused(&["man", "--dir", "man/lnd.1/none"]);
    assert!(below_a_file.starts_with("lnd: man/lnd.1/none: Not a directory"), "{below_a_file}");
}
