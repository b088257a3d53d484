// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The frames of processes, as they have captured them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod place;

use std::fs;

use lnd_app::capture::head::HEAD_BYTES;
use lnd_shortmsg::wire::{decode, Checksum};
use place::Place;

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
