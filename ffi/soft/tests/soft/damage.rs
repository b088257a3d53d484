// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Damaged mailboxes: closed at both ends, made anew, and nothing to the others.

use lnd_core::message::Lane;
use lnd_shortmsg::mailbox::{MailboxGeometry, MailboxRegion};
use lnd_soft::{Join, OutboxError, SoftFabric};

use crate::land::{crash, join, land, shape, Land};
use crate::mail::{inbox, link, outbox, In, Out};

/// Bytes of a request mailbox.
fn each() -> usize {
    let (slots, bytes) = shape().requests;
    MailboxGeometry::new(slots, bytes).unwrap().bytes_needed().next_multiple_of(4096)
}

/// Where the request mailbox lies that leads from one node to another over link 0.
fn place(fabric: &SoftFabric<'_>, from: usize, to: usize) -> usize {
    fabric.offsets().boxes + (from * 3 + to) * 2 * each()
}

/// Sends on all that leads from `out` to node `to`; how often there was room.
fn send(out: &mut Out<'_>, to: u32) -> usize {
    let ways = [(0, Lane::Request), (0, Lane::Control), (1, Lane::Request), (1, Lane::Control)];
    let sent = ways.iter().filter(|&&(l, lane)| match out.send(link(l), to, lane, b"frame") {
        Ok(()) => true,
        Err(error) => {
            assert_eq!(error, OutboxError::Full);
            false
        }
    });
    sent.count()
}

/// Takes all that is there, in one pass.
fn receive(inbox: &mut In<'_>) -> usize {
    let (mut scratch, mut taken) = ([0; 256], 0);
    while inbox.next(9, &mut scratch).is_some() {
        inbox.release();
        taken += 1;
    }
    taken
}

/// Passes after which an inbox has looked at each of its mailboxes.
fn passes(inbox: &mut In<'_>) -> usize {
    (0..shape().mailboxes()).map(|_| receive(inbox)).sum()
}

/// Version, kind, slots, size and check of the header, a magic of nonsense and of another byte
/// order.
const HEADER: [(usize, u32); 7] =
    [(4, 9), (8, 2), (12, 8), (16, 512), (20, 1), (0, 5), (0, 0x6d44_4e4c)];

#[test]
fn a_damaged_mailbox_is_closed_at_both_ends_until_it_was_made_anew() {
    for (word, value) in HEADER {
        let land = land();
        let fabric = SoftFabric::format(land.region(), shape()).unwrap();
        let members: Vec<_> = (0..3).map(|n| join(&fabric, n, &Join::new(n)).unwrap()).collect();
        land.set(place(&fabric, 0, 1) + word, value);
        // The reader finds it first: its sender may be attached, so it is marked and left alone.
        let mut to = inbox(&members[1]);
        assert_eq!(to.faults(), 1, "word {word}");
        assert_eq!(land.get(place(&fabric, 0, 1)), !0x4c4e_446d);
        let mut out = outbox(&members[0]);
        assert_eq!(out.faults(), 1);
        assert_eq!((send(&mut out, 1), receive(&mut to)), (3, 3), "the others are open");
        // The sender has cleared it; the reader makes it anew when it comes by.
        passes(&mut to);
        assert_eq!((send(&mut out, 1), receive(&mut to)), (4, 4), "word {word}");
        assert_eq!((out.faults(), to.faults()), (1, 1));
    }
}

#[test]
fn a_sender_that_finds_it_first_clears_it_and_its_reader_makes_it_anew() {
    let land = land();
    let fabric = SoftFabric::format(land.region(), shape()).unwrap();
    let members: Vec<_> = (0..2).map(|n| join(&fabric, n, &Join::new(n)).unwrap()).collect();
    let mut to = inbox(&members[1]);
    land.set(place(&fabric, 0, 1) + 4, 9);
    let mut out = outbox(&members[0]);
    assert_eq!((send(&mut out, 1), out.faults()), (3, 1));
    // The reader was attached all the time.
    assert_eq!(passes(&mut to), 3);
    assert_eq!((send(&mut out, 1), receive(&mut to)), (4, 4));
}

/// Both ends are attached and the words between them are spoilt: what is under way is lost, and the
/// way is made anew.
#[test]
fn words_that_are_spoilt_under_both_ends_are_made_anew() {
    // The sequence word of the first slot; the consumed word.
    for word in [256, 128] {
        let land = land();
        let fabric = SoftFabric::format(land.region(), shape()).unwrap();
        let members: Vec<_> = (0..2).map(|n| join(&fabric, n, &Join::new(n)).unwrap()).collect();
        let (mut to, mut out) = (inbox(&members[1]), outbox(&members[0]));
        for _ in 0..3 {
            assert_eq!((send(&mut out, 1), receive(&mut to)), (4, 4));
        }
        land.set(place(&fabric, 0, 1) + word, 0x7fff_0000);
        let mut last = (0, 0);
        for _ in 0..8 * shape().mailboxes() {
            last = (send(&mut out, 1), receive(&mut to));
        }
        assert_eq!(last, (4, 4), "word {word}");
        // The consumed word may be written again by its owner before anything reads it.
        assert!(word == 128 || out.faults() + to.faults() > 0);
    }
}

/// The proof that a sender is not there is its reader's right to make a damaged mailbox anew at
/// once.
#[test]
fn a_joining_reader_makes_anew_what_no_living_sender_has() {
    for (word, value) in HEADER {
        let land = land();
        let fabric = SoftFabric::format(land.region(), shape()).unwrap();
        crash(join(&fabric, 0, &Join::new(1)).unwrap());
        crash(join(&fabric, 1, &Join::new(2)).unwrap());
        fabric.declare_dead(0, None).unwrap();
        fabric.declare_dead(1, None).unwrap();
        land.set(place(&fabric, 0, 1) + word, value);
        let reader = join(&fabric, 1, &Join::new(3)).unwrap();
        let mut to = inbox(&reader);
        assert_eq!(to.faults(), 0);
        let sender = join(&fabric, 0, &Join::new(4)).unwrap();
        let mut out = outbox(&sender);
        assert_eq!((send(&mut out, 1), receive(&mut to), out.faults()), (4, 4, 0));
    }
}

/// A mailbox of another size is sound in itself, and none of this fabric.
#[test]
fn a_mailbox_of_another_geometry_is_damaged() {
    let land = land();
    let fabric = SoftFabric::format(land.region(), shape()).unwrap();
    let members: Vec<_> = (0..2).map(|n| join(&fabric, n, &Join::new(n)).unwrap()).collect();
    format_otherwise(&land, &fabric);
    let to = inbox(&members[1]);
    assert_eq!(to.faults(), 1);
    let mut out = outbox(&members[0]);
    assert_eq!((send(&mut out, 1), out.faults()), (3, 1));
    // A reader that joins while no sender lives makes it anew.
    drop((to, out));
    format_otherwise(&land, &fabric);
    members.into_iter().for_each(crash);
    fabric.declare_dead(0, None).unwrap();
    fabric.declare_dead(1, None).unwrap();
    let reader = join(&fabric, 1, &Join::new(3)).unwrap();
    assert_eq!(inbox(&reader).faults(), 0);
    let sender = join(&fabric, 0, &Join::new(4)).unwrap();
    let mut out = outbox(&sender);
    let slots = (0..9).filter(|_| out.send(link(0), 1, Lane::Request, b"x").is_ok()).count();
    assert_eq!(slots, shape().requests.0 as usize);
}

/// Two slots instead of four.
fn format_otherwise(land: &Land, fabric: &SoftFabric<'_>) {
    let at = land.region().place(place(fabric, 0, 1), each()).unwrap();
    // SAFETY: memory of the fabric, which outlives the region; the test's ends are not attached.
    let region = unsafe { MailboxRegion::new(at, each()) }.unwrap();
    let geometry = MailboxGeometry::new(2, 256).unwrap();
    // SAFETY: as above.
    unsafe { region.format(geometry, 0) }.unwrap();
}

/// Slots with impossible lengths are skipped within the budget of a pass: a mailbox full of them
/// does not keep an inbox from the others.
#[test]
fn impossible_lengths_are_within_the_budget_of_a_pass() {
    let land = land();
    let fabric = SoftFabric::format(land.region(), shape()).unwrap();
    let members: Vec<_> = (0..2).map(|n| join(&fabric, n, &Join::new(n)).unwrap()).collect();
    let (mut to, mut out) = (inbox(&members[1]), outbox(&members[0]));
    for slot in 0..4 {
        out.send(link(0), 1, Lane::Request, b"x").unwrap();
        // Behind the header: slots of 256 bytes, which begin with the sequence and the length.
        land.set(place(&fabric, 0, 1) + 256 + slot * 256 + 4, 0xffff);
    }
    let mut scratch = [0; 256];
    assert_eq!(to.next(3, &mut scratch), None);
    assert_eq!(to.faults(), 3, "three of a mailbox in a pass");
    assert_eq!(to.next(3, &mut scratch), None);
    assert_eq!(to.faults(), 4);
    out.send(link(0), 1, Lane::Request, b"good").unwrap();
    assert!(to.next(3, &mut scratch).is_some_and(|found| found.length == 4));
}

#[test]
fn s0_18_a_sender_with_room_sends_nothing_to_a_mailbox_that_its_reader_has_closed() {
    for (word, value) in [(12, 7), (128, 0x7fff_0000), (4, 9), (0, 5)] {
        let land = land();
        let fabric = SoftFabric::format(land.region(), shape()).unwrap();
        let sender = join(&fabric, 0, &Join::new(1)).unwrap();
        let reader = join(&fabric, 1, &Join::new(2)).unwrap();
        let (mut out, to) = (outbox(&sender), inbox(&reader));
        drop(to);
        land.set(place(&fabric, 0, 1) + word, value);
        crash(reader);
        fabric.declare_dead(1, None).unwrap();
        let reader = join(&fabric, 1, &Join::new(3)).unwrap();
        let mut to = inbox(&reader);
        let (mut sent, mut came) = (0, 0);
        for _ in 0..100 {
            sent += usize::from(out.send(link(0), 1, Lane::Request, b"frame").is_ok());
            came += passes(&mut to);
        }
        assert!(came > 0 && sent == came, "word {word}: {sent} were sent, and {came} came");
    }
}
