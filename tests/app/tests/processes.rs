// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Separate processes over one fabric file; some are killed by SIGKILL in the middle of a transfer.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod place;

use std::fs;
use std::time::Duration;

use place::{same, wait_until, Place};

/// A file large enough to be in the middle of for a while; smaller without optimisation.
const BIG: usize = if cfg!(debug_assertions) { 96 << 20 } else { 1 << 30 };
/// What the bound on a peer's death is made of here: the engines' retry bound and the drain bound,
/// a second each; ten times that, on a machine that does nothing else.
const BOUND_MS: f64 = 20_000.0;

/// The line that a survivor prints once nothing is outstanding with a dead peer: how many transfers
/// ended with an error, and after how many milliseconds.
fn drained(log: &str, dead: &str) -> Option<(u64, f64)> {
    let line = log.lines().find(|l| l.starts_with(dead) && l.contains("nothing outstanding"))?;
    let words: Vec<_> = line.split_whitespace().collect();
    let millis = words.iter().rev().nth(1)?.parse().ok()?;
    Some((words.get(1)?.parse().ok()?, millis))
}

#[test]
fn the_receiver_is_killed_in_the_middle_and_restarted() {
    let place = Place::new("receiver-killed");
    let big = place.write("big.bin", BIG);
    let mut node = place.node("node.log");
    let mut put = place.start("put.log", &["put", "big.bin", "1@soft", "--timeout", "110"]);
    put.wait_until("a third has crossed", |_| place.stored() > BIG as u64 / 3);
    node.kill();
    // S0-9, INV-9: everything the survivor had with the dead ends within the bound.
    let pace =
        put.wait_until("the sender has seen the death", |log| drained(log, "1@soft0").is_some());
    let (_, millis) = drained(&put.log(), "1@soft0").unwrap();
    let bound = pace.stretch(BOUND_MS);
    assert!(millis < bound, "{millis} ms of {bound}");
    let mut node = place.node("restarted.log");
    let notified = put.wait();
    assert!(notified.contains("put big.bin"), "{notified}");
    assert!(notified.contains(", begun anew "), "the server has lost its third: {notified}");
    let got = place.ok(&["get", "big.bin", "1@soft", "--out", "back.bin"]);
    assert!(got.contains(" MiB/s, checksum "), "nothing went wrong: {got}");
    assert!(same(&big, &place.dir.join("back.bin")));
    node.stop();
}

#[test]
fn the_sender_is_killed_in_the_middle_and_restarted() {
    let place = Place::new("sender-killed");
    let big = place.write("big.bin", BIG);
    let mut node = place.node("node.log");
    let me = ["--me", "3@soft"];
    let mut put = place
        .start("put.log", &[&["put", "big.bin", "1@soft", "--name", "first"], &me[..]].concat());
    put.wait_until("a third has crossed", |_| place.stored() > BIG as u64 / 3);
    put.kill();
    let pace =
        node.wait_until("the node has seen the death", |log| drained(log, "3@soft0").is_some());
    let (_, millis) = drained(&node.log(), "3@soft0").unwrap();
    let bound = pace.stretch(BOUND_MS);
    assert!(millis < bound, "{millis} ms of {bound}");
    // The same NID with another incarnation: what the former one has left in mailboxes and tables
    // changes nothing but counters (R29).
    place.ok(&[&["put", "big.bin", "1@soft", "--name", "second"], &me[..]].concat());
    place.ok(&[&["get", "second", "1@soft", "--out", "back.bin"], &me[..]].concat());
    assert!(same(&big, &place.dir.join("back.bin")));
    // The end in good order includes: all memory given back, no oracle violation.
    let notified = node.stop();
    assert!(notified.contains("left in good order"), "{notified}");
    let restarted: u64 = counter(&notified, "peers_restarted");
    assert!(restarted >= 1, "{notified}");
}

/// R41: a server that does not run for seconds, as on a busy machine, forgets no file that is being
/// written or read when it goes on. A client sends a chunk that failed meanwhile again, and asks
/// again for the rest of what it reads.
#[test]
fn a_server_that_stands_still_forgets_nothing() {
    let place = Place::new("stands-still");
    let big = place.write("big.bin", BIG);
    let mut node = place.node("node.log");
    let mut put = place.start("put.log", &["put", "big.bin", "1@soft"]);
    put.wait_until("a third has crossed", |_| place.stored() > BIG as u64 / 3);
    // Longer than any bound of the layers below on a peer's silence.
    node.pause(Duration::from_secs(4));
    put.wait();
    // A GET may end between two looks; then there was nothing to interrupt, and another one begins.
    let begun = |place: &Place| place.names(".").iter().any(|name| name.ends_with(".part"));
    let args = ["get", "big.bin", "1@soft", "--out", "back.bin"];
    let mut interrupted = false;
    for _ in 0..50 {
        let mut get = place.start("get.log", &args);
        wait_until("the file is begun, or there", || begun(&place) || get.has_ended());
        interrupted = !get.has_ended();
        if interrupted {
            node.pause(Duration::from_secs(4));
        }
        get.wait();
        assert!(same(&big, &place.dir.join("back.bin")));
        if interrupted {
            break;
        }
        fs::remove_file(place.dir.join("back.bin")).unwrap();
    }
    assert!(interrupted, "no GET was seen in its middle");
    let notified = node.stop();
    assert!(notified.contains(" 0 forgotten while open"), "{notified}");
}

fn counter(log: &str, name: &str) -> u64 {
    let line = log.lines().find(|line| line.starts_with(&format!("{name} "))).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn ping_and_small_files() {
    let place = Place::new("small");
    let mut node = place.node("node.log");
    assert!(place.ok(&["ping", "1@soft"]).contains("1@soft0 is alive"));
    for size in [0, 8, 4096, 70_000, 5 << 20] {
        let name = format!("f{size}");
        let file = place.write(&name, size);
        place.ok(&["put", &name, "1@soft"]);
        place.ok(&["get", &name, "1@soft", "--out", "back"]);
        assert!(same(&file, &place.dir.join("back")), "{size}");
    }
    let gone = place.run(&["get", "no-such-file", "1@soft", "--out", "nothing"]);
    assert!(!gone.status.success());
    assert!(String::from_utf8_lossy(&gone.stderr).contains("no such file"));
    let taken = place.run(&["ping", "1@soft", "--me", "1@soft"]);
    assert!(String::from_utf8_lossy(&taken.stderr).contains("another process is this node"));
    let far = place.run(&["ping", "2@soft", "--timeout", "1"]);
    assert!(!far.status.success(), "no node is there");
    node.stop();
}

#[test]
fn a_corrupt_or_foreign_fabric_is_refused_with_a_clear_error() {
    let place = Place::new("foreign");
    let refused = |name: &str, why: &str| {
        let before = fs::metadata(place.dir.join(name)).unwrap().len();
        let output = place.run(&["ping", "1@soft", "--fabric", name]);
        let notified = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{name}");
        assert!(notified.contains(name) && notified.contains(why), "{name}: {notified}");
        assert_eq!(fs::metadata(place.dir.join(name)).unwrap().len(), before, "left alone");
    };
    place.write("noise", 1 << 20);
    refused("noise", "not a fabric file");
    fs::write(place.dir.join("short"), b"LNDFabrc").unwrap();
    refused("short", "not a fabric file");
    // A sound one, made by a node; then spoiled word by word.
    let mut node = place.start("n.log", &["node", "--me", "1@soft", "--fabric", "sound"]);
    node.wait_until("the node is up", |log| log.contains("is up"));
    node.stop();
    let head: Vec<u8> = fs::read(place.dir.join("sound")).unwrap()[..8192].to_vec();
    for (name, at, why) in
        [("version", 8, "version"), ("numbers", 16, "damaged"), ("magic", 0, "not a fabric file")]
    {
        let mut bytes = head.clone();
        bytes[at] ^= 0x20;
        fs::write(place.dir.join(name), bytes).unwrap();
        refused(name, why);
    }
    fs::write(place.dir.join("cut"), &head).unwrap();
    refused("cut", "needs");
    for bad in ["0@soft", "1@tcp", "1", "999@soft"] {
        assert!(!place.run(&["ping", bad]).status.success(), "{bad}");
    }
}

/// A terminal that is closed ends a node in good order, unless `nohup` keeps it.
#[test]
fn a_node_outlives_its_terminal_if_it_is_to() {
    let place = Place::new("hang-up");
    for (keep, ends) in [("", true), ("trap '' HUP; ", false)] {
        let script = format!("{keep}exec \"$0\" node --me 1@soft --dir store --window 34");
        let log = std::fs::File::create(place.dir.join("node.log")).unwrap();
        let mut command = std::process::Command::new("sh");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_lnd")]).current_dir(&place.dir);
        place::heeds_hang_up(&mut command);
        let child = command.stdout(log).spawn().unwrap();
        let mut node = place.adopt("node.log", child);
        node.wait_until("the node is up", |log| log.contains("is up"));
        node.signal("-HUP");
        if !ends {
            place.ok(&["ping", "1@soft"]);
            node.signal("-TERM");
        }
        let log = node.wait();
        assert!(log.contains("left in good order"), "{log}");
    }
}

/// The lines of `lnd fabric show` about one node: its own, then its links'.
fn shown(place: &Place, node: u32) -> Vec<String> {
    let all = place.ok(&["fabric", "show", "f"]);
    let mine = all.lines().skip_while(|line| !line.starts_with(&format!("{node}@soft0: ")));
    let rest = mine.clone().skip(1).take_while(|line| line.starts_with("  link"));
    mine.take(1).chain(rest).map(str::to_owned).collect()
}

#[test]
fn the_fabric_command_formats_shows_declares_deaths_and_pulls_cables() {
    let place = Place::new("fabric");
    let shape = ["--nodes", "3", "--links", "2", "--window", "64"];
    let notified = place.ok(&[&["fabric", "format", "f"], &shape[..]].concat());
    let bytes = fs::metadata(place.dir.join("f")).unwrap().len();
    assert!(bytes.is_power_of_two() && notified.contains(&format!("{bytes} bytes")), "{notified}");
    // What is there is left alone, and what cannot be is not made.
    assert!(place.refused(&["fabric", "format", "f"]).contains("f: "));
    assert_eq!(fs::metadata(place.dir.join("f")).unwrap().len(), bytes);
    assert!(place.refused(&["fabric", "format", "g", "--nodes", "0"]).contains("error: "));
    assert!(!place.dir.join("g").exists());

    let notified = place.ok(&["fabric", "show", "f"]);
    assert!(notified.starts_with("3 nodes, 2 links, 256 descriptors"), "{notified}");
    assert!(notified.contains("windows of 64 MiB"), "{notified}");
    assert_eq!(shown(&place, 2), ["2@soft0: absent, incarnation -"]);
    let gone = place.refused(&["fabric", "link", "f", "2@soft", "0", "down"]);
    assert!(gone.contains("2@soft0 has no link 0 yet"), "{gone}");

    // A node that lives, as others see it; its links' cables.
    let mut node = place.start("n.log", &["node", "--me", "1@soft", "--fabric", "f"]);
    node.wait_until("the node is up", |log| log.contains("is up"));
    node.wait_until("its engines run", |_| {
        shown(&place, 1).iter().filter(|line| line.ends_with("up, engine running")).count() == 2
    });
    let alive = &shown(&place, 1)[0];
    assert!(alive.starts_with("1@soft0: alive, incarnation "), "{alive}");
    assert!(alive.ends_with("held by a lock"), "{alive}");
    assert_eq!(place.ok(&["fabric", "link", "f", "1@soft", "1", "down"]), "1@soft0 link 1: down\n");
    node.wait_until("the engine has lost its clock", |_| {
        shown(&place, 1)[2] == "  link 1: down, engine not running"
    });
    assert_eq!(shown(&place, 1)[1], "  link 0: up, engine running");
    place.ok(&["fabric", "link", "f", "1@soft", "1", "up"]);
    node.wait_until("the engine runs again", |_| {
        shown(&place, 1)[2] == "  link 1: up, engine running"
    });
    for wrong in [["1@soft", "1", "sideways"], ["1@soft", "9", "up"], ["8@soft", "0", "up"]] {
        place.refused(&[&["fabric", "link", "f"], &wrong[..]].concat());
    }

    // A death is declared of one incarnation only, and only once.
    node.kill();
    let incarnation = alive.split("incarnation ").nth(1).unwrap()[..16].to_owned();
    let other = format!("{:016x}", u64::from_str_radix(&incarnation, 16).unwrap() ^ 1);
    place.refused(&["fabric", "dead", "f", "1@soft", "--incarnation", &other]);
    place.refused(&["fabric", "dead", "f", "1@soft", "--incarnation", "zebra"]);
    place.refused(&["fabric", "dead", "f", "3@soft"]);
    assert!(shown(&place, 1)[0].contains("alive"), "no node has proven its death");
    let notified = place.ok(&["fabric", "dead", "f", "1@soft", "--incarnation", &incarnation]);
    assert_eq!(notified, "1@soft0 is dead\n");
    assert!(shown(&place, 1)[0].starts_with("1@soft0: dead, incarnation "));
    for args in [["fabric", "show", "h"], ["fabric", "show", "n.log"]] {
        assert!(place.refused(&args).contains(args[2]), "{args:?}");
    }
}
