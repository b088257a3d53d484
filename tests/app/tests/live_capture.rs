// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The frames of processes, as they have captured them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod place;

use std::fs;

use lnd_app::capture::head::HEAD_BYTES;
use lnd_shortmsg::wire::{decode, Checksum};
use place::{wait_until, Place};

/// The packets of a capture: direction, and the name of the message.
fn packets(file: &[u8]) -> Vec<(u8, String)> {
    let word = |bytes: &[u8]| u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
    let (mut rest, mut found) = (file, Vec::new());
    while !rest.is_empty() {
        let (kind, length) = (word(rest), word(&rest[4..]));
        let block = &rest[..length];
        rest = &rest[length..];
        if kind != 6 {
            continue;
        }
        let size = word(&block[20..]);
        let packet = &block[28..28 + size];
        let (_, message) = decode(&packet[HEAD_BYTES..], Checksum::On).unwrap().into_parts();
        let name = format!("{message:?}");
        let name = name.split([' ', '(']).next().unwrap().to_owned();
        // The option with the packet's flags comes first: no comment is before it.
        let flags = 28 + size.next_multiple_of(4) + 4;
        found.push((block[flags], name));
    }
    found
}

#[test]
fn two_processes_capture_the_same_frames() {
    let place = Place::new("live-capture");
    place.write("some.bin", 300_000);
    let mut node = place.start(
        "node.log",
        &["node", "--me", "1@soft", "--dir", "served", "--capture", "node.pcapng"],
    );
    node.wait_until("the node is up", |log| log.contains("is up"));
    place.ok(&["put", "some.bin", "1@soft", "--capture", "put.pcapng"]);
    node.kill();
    let read = |name: &str| packets(&fs::read(place.dir.join(name)).unwrap());
    let (at_node, at_client) = (read("node.pcapng"), read("put.pcapng"));
    let of = |packets: &[(u8, String)], direction: u8, name: &str| {
        packets.iter().filter(|it| it.0 == direction && it.1 == name).count()
    };
    for name in ["Hello", "HelloAck", "Immediate", "PutReq", "GetReq", "PullReady"] {
        let sent = [of(&at_client, 2, name), of(&at_node, 2, name)];
        let came = [of(&at_node, 1, name), of(&at_client, 1, name)];
        // What a process sends as its last may not be taken in any more.
        assert!(came[0] <= sent[0] && came[1] <= sent[1], "{name}: {sent:?} sent, {came:?} came");
    }
    assert!(of(&at_client, 2, "Hello") > 0 && of(&at_node, 1, "Hello") > 0);
    let data = ["PutReq", "GetReq", "PullReady"];
    assert!(data.iter().any(|name| of(&at_client, 2, name) > 0 && of(&at_node, 1, name) > 0));
}

#[test]
fn a_capture_that_cannot_be_written_harms_no_other() {
    let place = Place::new("no-capture");
    place.write("some.bin", 3000);
    let mut node = place.small_node();
    for (file, why) in [
        ("lnd.fabric", "lnd.fabric: is the fabric, and no place for a capture"),
        ("none/file", "none/file: No such file"),
        ("/dev/full", "/dev/full: No space left"),
    ] {
        let put = ["put", "some.bin", "1@soft", "--me", "3@soft", "--capture", file];
        let told = place.refused(&put);
        assert!(told.contains(why), "{told}");
        let shown = place.ok(&["fabric", "show", "lnd.fabric"]);
        assert!(shown.contains("3@soft0: absent"), "it has left: {shown}");
    }
    place.ok(&["put", "some.bin", "1@soft", "--me", "3@soft"]);
    node.stop();
}

/// What a capture would cut before it is written: what is sent, what is fetched, and the capture of
/// another process.
#[test]
fn a_capture_replaces_no_file_that_is_in_use() {
    let place = Place::new("capture-same");
    let sent = fs::read(place.write("some.bin", 3000)).unwrap();
    std::os::unix::fs::symlink("some.bin", place.dir.join("link")).unwrap();
    let args = ["node", "--me", "1@soft", "--dir", "store", "--window", "34", "--capture", "c"];
    let mut node = place.start("node.log", &args);
    node.wait_until("the node is up", |log| log.contains("is up"));
    for capture in ["some.bin", "./some.bin", "link"] {
        let told = place.refused(&["put", "some.bin", "1@soft", "--capture", capture]);
        assert!(told.contains(&format!("{capture}: is the file that is sent")), "{told}");
        assert_eq!(fs::read(place.dir.join("some.bin")).unwrap(), sent);
    }
    place.ok(&["put", "some.bin", "1@soft"]);
    let told = place.refused(&["get", "some.bin", "1@soft", "--out", "x", "--capture", "./x"]);
    assert!(told.contains("./x: is the file that is written"), "{told}");
    assert!(!place.dir.join("x").exists());
    let before = fs::metadata(place.dir.join("c")).unwrap().len();
    let told = place.refused(&["ping", "1@soft", "--capture", "c"]);
    assert!(told.contains("c: another process writes its capture there"), "{told}");
    assert!(fs::metadata(place.dir.join("c")).unwrap().len() >= before, "it was not cut");
    node.stop();
    assert!(packets(&fs::read(place.dir.join("c")).unwrap()).len() > 10);
    // One that has ended is replaced.
    let mut node = place.start("node.log", &args);
    node.wait_until("the node is up", |log| log.contains("is up"));
    assert!(fs::metadata(place.dir.join("c")).unwrap().len() < before);
    node.stop();
}

/// A FIFO without a reader is an error at once: a node that waits for one is taken for dead.
#[test]
fn a_capture_waits_for_no_reader() {
    let place = Place::new("capture-fifo");
    let fifo = std::process::Command::new("mkfifo").arg(place.dir.join("fifo")).status().unwrap();
    assert!(fifo.success());
    let args = ["node", "--me", "1@soft", "--dir", "store", "--window", "34", "--capture", "fifo"];
    let mut node = place.start("node.log", &args);
    assert_eq!(node.end().code(), Some(1));
    assert!(node.log().contains("fifo: no process reads this FIFO"), "{}", node.log());
    // With a reader it is a capture as any other.
    let reader = place.dir.join("fifo");
    let reader = std::thread::spawn(move || fs::read(reader).unwrap());
    wait_until("the reader is there", || {
        node = place.start("node.log", &args);
        wait_until("it is up, or has ended", || node.has_ended() || node.log().contains("is up"));
        !node.has_ended()
    });
    place.ok(&["ping", "1@soft"]);
    node.stop();
    assert!(packets(&reader.join().unwrap()).len() > 3);
}
