// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a running node shows, how it is drained, and `lnd top` as text.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;

use crate::json;
use crate::place::Place;

#[test]
fn a_node_shows_its_interface_its_peers_and_its_counters() {
    let place = Place::new("control-show");
    let mut node = place.small_node();
    let mode = fs::metadata(place.dir.join("lnd.fabric.1.control")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "who may use it may stop the node");
    place.write("file", 70_000);
    place.ok(&["put", "file", "1@soft", "--me", "3@soft"]);

    let net = json(&place.ok(&["net", "show", "--json"]));
    let interface = &net["net"][0]["local NI(s)"][0];
    assert_eq!(interface["nid"], "1@soft0", "{net:#}");
    assert_eq!(interface["status"], "up", "{net:#}");
    assert_eq!(interface["links"].as_array().unwrap().len(), 2, "{net:#}");
    let peers = json(&place.ok(&["peer", "show", "--json"]));
    assert_eq!(peers["peer"][0]["primary nid"], "3@soft0", "{peers:#}");
    let one = json(&place.ok(&["peer", "show", "3@soft", "--json", "--node", "1@soft"]));
    assert_eq!(one["peer"].as_array().unwrap().len(), 1, "{one:#}");
    let none = place.refused(&["peer", "show", "2@soft"]);
    assert!(none.contains("2@soft0: the node knows no such peer"), "{none}");
    let stats = json(&place.ok(&["stats", "show", "--json"]));
    assert_eq!(stats["statistics"]["server"]["bytes_in"], 70_000, "{stats:#}");
    assert_eq!(stats["statistics"]["ends"]["PUT, sink"]["bytes"], 70_000, "{stats:#}");
    let none = json(&place.ok(&["stats", "show", "--diff", "1", "--json"]));
    assert_eq!(none["statistics"]["server"]["bytes_in"], 0, "nothing was added: {none:#}");
    assert!(none["statistics"]["at_ms"].as_f64().unwrap() >= 1000.0, "{none:#}");
    let health = json(&place.ok(&["health", "show", "--json"]));
    assert_eq!(health["health"]["audit"], "all tables agree", "{health:#}");
    let dump = json(&place.ok(&["dump", "--json"]));
    for part in ["net", "peer", "statistics", "health", "transfers", "blockers", "last_events"] {
        assert!(!dump[part].is_null(), "{part}: {dump:#}");
    }
    assert!(dump["last_events"].as_array().unwrap().len() > 10, "{dump:#}");
    // As people read it.
    let text = place.ok(&["net", "show"]);
    let begin =
        "net:\n    -   net type: soft0\n        local NI(s):\n            -   nid: 1@soft0\n";
    assert!(text.starts_with(begin), "{text}");
    node.stop();
    assert!(!place.dir.join("lnd.fabric.1.control").exists());
}

/// Without a terminal: each page as text.
#[test]
fn top_shows_links_peers_transfers_and_counters() {
    let place = Place::new("top");
    let told = place.refused(&["top"]);
    assert!(told.contains("no node here has a control socket"), "{told}");
    let mut node = place.small_node();
    place.ok(&["ping", "1@soft", "--me", "3@soft"]);
    let shown = place.ok(&["top", "--once"]);
    for part in [
        "1@soft0  running  up  incarnation ",
        "slots 0 of 256  failures 0",
        "link  state  carrier  engine",
        "0     up     up       running",
        "payload bytes a second",
        "2@soft0  absent",
        "3@soft0  down ",
        "transfer  role  peer",
        "finalized_ok ",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let told = place.refused(&["top"]);
    assert!(told.contains("no terminal; --once prints a view"), "{told}");
    assert_eq!(place.run(&["top", "--interval", "0"]).status.code(), Some(2));
    node.stop();
}

#[test]
fn a_drained_node_takes_nothing_new_and_leaves() {
    let place = Place::new("control-drain");
    let mut node = place.small_node();
    place.write("big", 64 << 20);
    // A PUT that stands still is open.
    let mut put = place.start("put.log", &["put", "big", "1@soft"]);
    put.wait_until("a draft is begun", |_| !place.names("store/.drafts").is_empty());
    put.signal("-STOP");
    place.ok(&["drain", "--grace", "60"]);
    let stats = json(&place.ok(&["stats", "show", "--json"]));
    assert_eq!(stats["statistics"]["server"]["draining"], true, "{stats:#}");
    place.write("small", 4096);
    let new = place.refused(&["put", "small", "1@soft", "--timeout", "1"]);
    assert!(new.contains("no progress for 1 s"), "{new}");
    put.signal("-CONT");
    put.wait();
    let log = node.wait();
    assert!(log.contains("left in good order") && log.contains("1 files stored"), "{log}");
    assert_eq!(place.names("store"), [".drafts", ".owner", "big"].map(String::from), "{log}");
    // With nothing open it leaves at once; with no grace in any case. Lines have times if wanted.
    let args = ["node", "--me", "1@soft", "--dir", "store", "--times"];
    let mut node = place.start("node.log", &args);
    node.wait_until("the node is up", |log| log.contains("is up"));
    place.ok(&["drain", "--grace", "0"]);
    let log = node.wait();
    for line in log.lines() {
        let (time, _) = line.split_once(' ').unwrap();
        assert!(time.starts_with("20") && time.ends_with('Z') && time.len() == 24, "{log}");
    }
}

/// Numbers of two incarnations have no difference.
#[test]
fn a_node_that_was_started_anew_has_no_difference_to_show() {
    let place = Place::new("control-anew");
    for (second, code) in [("b", 1), ("a", 0)] {
        let path = place.dir.join("fake");
        let _ = fs::remove_file(&path);
        let listener = UnixListener::bind(&path).unwrap();
        let fake = std::thread::spawn(move || {
            for (incarnation, count) in [("a", 3), (second, 5)] {
                let (mut stream, _) = listener.accept().unwrap();
                let mut line = String::new();
                BufReader::new(&stream).read_line(&mut line).unwrap();
                let statistics = serde_json::json!({ "incarnation": incarnation, "n": count });
                let answer = serde_json::json!({
                    "version": 1, "ok": true, "answer": { "statistics": statistics },
                });
                stream.write_all(format!("{answer}\n").as_bytes()).unwrap();
            }
        });
        let output = place.run(&["stats", "show", "--diff", "1", "--control", "fake", "--json"]);
        fake.join().unwrap();
        assert_eq!(output.status.code(), Some(code));
        let (shown, told) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        if code == 0 {
            assert_eq!(json(&shown)["statistics"]["n"], 2, "{shown}");
        } else {
            assert!(told.contains("the node was started anew meanwhile"), "{told}");
        }
    }
}
