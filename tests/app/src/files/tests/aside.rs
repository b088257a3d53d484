// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Files whose parts are read back beside the server's work: the test says when a part has been
//! read.

use lnd_sim::lnet::Target;

use super::server::{refusal, Raw, EVE};
use super::*;

const CONTENT: &[u8] = b"0123456789";

/// A server that has all chunks of a file, and reads the first back.
fn stored(name: &str) -> (Raw, u32) {
    let mut raw = Raw::new(Setup::small());
    raw.world.store().read_aside(0);
    let file = raw.open(EVE, name, CONTENT.len() as u64, 4);
    for (n, chunk) in (0..).zip(CONTENT.chunks(4)) {
        assert_eq!(raw.chunk(EVE, file, n, chunk), []);
    }
    (raw, file.0)
}

/// Asks for a commit, and returns what comes back at once.
fn ask(raw: &mut Raw, id: u32, checksum: u64) -> Vec<Answer> {
    let target = Target { portal: PORTAL_CALL, match_bits: 7, ..Target::default() };
    raw.send(EVE, target, &Call::Commit { id, checksum }.encode(7))
}

#[test]
fn a_commit_waits_until_the_last_part_was_read_back() {
    let (mut raw, id) = stored("a");
    assert_eq!(ask(&mut raw, id, hash(CONTENT)), []);
    // The first chunk, and with it all that came while it was read.
    raw.world.store().read_aside(1);
    assert_eq!(raw.listen(EVE), []);
    assert_eq!(raw.world.store().contents("a"), None);
    raw.world.store().read_aside(1);
    assert_eq!(raw.listen(EVE), [Answer::Committed]);
    assert_eq!(**raw.world.store().contents("a").unwrap(), *CONTENT);
    assert_eq!((raw.stats().commits, raw.stats().mismatches), (1, 0));
}

#[test]
fn a_part_is_read_while_the_next_chunks_come() {
    let mut raw = Raw::new(Setup::small());
    raw.world.store().read_aside(9);
    let file = raw.open(EVE, "a", CONTENT.len() as u64, 4);
    for (n, chunk) in (0..).zip(CONTENT.chunks(4)) {
        assert_eq!(raw.chunk(EVE, file, n, chunk), []);
    }
    assert_eq!(ask(&mut raw, file.0, hash(CONTENT)), [Answer::Committed]);
    assert_eq!(**raw.world.store().contents("a").unwrap(), *CONTENT);
}

#[test]
fn what_was_read_back_decides() {
    let (mut raw, id) = stored("a");
    assert_eq!(ask(&mut raw, id, hash(b"another")), []);
    raw.world.store().read_aside(9);
    assert_eq!(raw.listen(EVE), [refusal(Refusal::Mismatch)]);
    assert_eq!(raw.world.store().contents("a"), None);
    assert_eq!(raw.stats().mismatches, 1);
}

#[test]
fn a_part_that_cannot_be_read_back_fails_the_commit() {
    let (mut raw, id) = stored("a");
    assert_eq!(ask(&mut raw, id, hash(CONTENT)), []);
    raw.world.store().set_broken(true);
    raw.world.store().read_aside(9);
    assert_eq!(raw.listen(EVE), [refusal(Refusal::Failed)]);
    raw.world.store().set_broken(false);
    assert_eq!(raw.world.store().contents("a"), None);
}

#[test]
fn a_file_that_is_given_up_while_it_is_read_leaves_nothing() {
    let (mut raw, id) = stored("a");
    assert_eq!(raw.call(EVE, &Call::Close { id }), Answer::Closed);
    assert_eq!(raw.world.server().open_files(), (0, 0));
    assert_eq!(ask(&mut raw, id, hash(CONTENT)), [refusal(Refusal::Unknown)]);
    assert_eq!(raw.world.store().contents("a"), None);
}
