// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Short messages.

use lnd_core::id::{Incarnation, LinkId};
use lnd_core::message::{Envelope, Lane, Message};
use lnd_shortmsg::dispatch::{Receiver, Sender};
use lnd_shortmsg::mailbox::spsc::Producer;
use lnd_shortmsg::mailbox::Consumer;
use lnd_shortmsg::wire::{encode, encoded_len, Checksum, DecodeError};
use lnd_soft::{nid_of, Inbox, Join, Membership, Outbox, OutboxError, SoftFabric};

use crate::land::{crash, join, land, shape};

pub type Out<'m> = Outbox<'m, Vec<Option<Producer<'m>>>>;
pub type In<'m> = Inbox<'m, Vec<Option<Consumer<'m>>>>;

pub fn outbox<'m>(member: &Membership<'m>) -> Out<'m> {
    let memory = (0..shape().mailboxes()).map(|_| None).collect();
    // SAFETY: each test makes one for each node, or drops the one before.
    unsafe { Outbox::new(member, memory) }
}

pub fn inbox<'m>(member: &Membership<'m>) -> In<'m> {
    let memory = (0..shape().mailboxes()).map(|_| None).collect();
    // SAFETY: as above.
    unsafe { Inbox::new(member, memory) }
}

pub fn link(n: usize) -> LinkId {
    LinkId::new(n).unwrap()
}

#[test]
fn every_mailbox_leads_where_it_says() {
    let land = land();
    let fabric = SoftFabric::format(land.region(), shape()).unwrap();
    let members: Vec<_> = (0..3).map(|n| join(&fabric, n, &Join::new(n)).unwrap()).collect();
    let mut out: Vec<_> = members.iter().map(|m| outbox(m)).collect();
    let mut ins: Vec<_> = members.iter().map(|m| inbox(m)).collect();
    for (from, to) in [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)] {
        for (l, lane) in
            [(0, Lane::Request), (1, Lane::Request), (0, Lane::Control), (1, Lane::Control)]
        {
            let frame = [from as u8, to as u8, l as u8, lane as u8];
            assert!(out[from].ready(link(l), to, lane));
            out[from].send(link(l), to, lane, &frame).unwrap();
        }
    }
    for (to, inbox) in ins.iter_mut().enumerate() {
        let (mut scratch, mut seen) = ([0; 256], Vec::new());
        while let Some(found) = inbox.next(4, &mut scratch) {
            let lane = found.lane as u8;
            let wanted = [found.from as u8, to as u8, found.link.index() as u8, lane];
            assert_eq!(scratch[..found.length], wanted);
            seen.push(lane);
            inbox.release();
        }
        assert_eq!(seen.len(), 8);
        assert!(seen.is_sorted_by(|a, b| a >= b), "control lanes first");
        assert_eq!(inbox.faults(), 0);
    }
}

#[test]
fn what_is_not_released_waits_and_holds_up_only_its_own_mailbox() {
    let land = land();
    let fabric = SoftFabric::format(land.region(), shape()).unwrap();
    let (a, b) =
        (join(&fabric, 0, &Join::new(0)).unwrap(), join(&fabric, 1, &Join::new(0)).unwrap());
    let (mut inbox, mut out) = (inbox(&b), outbox(&a));
    for frame in [b"1", b"2", b"3"] {
        out.send(link(0), 1, Lane::Request, frame).unwrap();
    }
    out.send(link(1), 1, Lane::Request, b"x").unwrap();
    let mut scratch = [0; 256];
    assert!(inbox.next(2, &mut scratch).is_some_and(|found| found.link == link(0)));
    assert!(inbox.next(2, &mut scratch).is_some_and(|found| found.link == link(1)));
    inbox.release();
    inbox.release();
    assert_eq!(inbox.next(2, &mut scratch), None);
    let mut order = Vec::new();
    for _ in 0..2 {
        while inbox.next(2, &mut scratch).is_some() {
            order.push(scratch[0]);
            inbox.release();
        }
        order.push(b'|');
    }
    assert_eq!(order, b"12|3|", "two of a mailbox in a pass");
}

#[test]
fn a_pass_of_likely_mailboxes_looks_where_whole_passes_have_found_frames() {
    let land = land();
    let fabric = SoftFabric::format(land.region(), shape()).unwrap();
    let members: Vec<_> = (0..3).map(|n| join(&fabric, n, &Join::new(n)).unwrap()).collect();
    let (mut inbox, mut out) = (inbox(&members[1]), [0, 2].map(|n| outbox(&members[n])));
    let mut pass = |likely: bool, release: bool, sent: &[(usize, Lane, u8)]| {
        for &(from, lane, byte) in sent {
            out[from].send(link(0), 1, lane, &[byte]).unwrap();
        }
        let (mut scratch, mut found) = ([0; 256], Vec::new());
        let next = if likely { In::next_likely } else { In::next };
        while next(&mut inbox, 4, &mut scratch).is_some() {
            found.push(scratch[0]);
            if release {
                inbox.release();
            }
        }
        found
    };
    assert_eq!(pass(true, true, &[(0, Lane::Request, 1)]), [], "none is likely yet");
    assert_eq!(pass(false, true, &[]), [1]);
    assert_eq!(pass(true, true, &[(0, Lane::Request, 2), (1, Lane::Request, 3)]), [2]);
    assert_eq!(pass(true, true, &[]), [], "a pass of the likely ones makes none likely");
    assert_eq!(pass(false, true, &[(1, Lane::Control, 4)]), [4, 3]);
    // What is not released waits, and the others do not wait for it.
    let all = [(1, Lane::Request, 7), (0, Lane::Request, 6), (1, Lane::Control, 5)];
    assert_eq!(pass(true, false, &all), [5, 6, 7], "control lanes first");
    assert_eq!(pass(true, true, &[(0, Lane::Request, 8)]), [5, 6, 8, 7]);
    // One that is in use stays a likely one. Where nothing has come for long, nothing is likely.
    for _ in 0..3 {
        for _ in 0..64 {
            assert_eq!(pass(false, true, &[]), []);
        }
        assert_eq!(pass(true, true, &[(0, Lane::Request, 9)]), [9]);
    }
    assert_eq!(pass(true, true, &[(1, Lane::Request, 10)]), [], "silent for more than a term");
    assert_eq!(pass(false, true, &[]), [10]);
    for _ in 0..2 {
        for _ in 0..64 {
            assert_eq!(pass(false, true, &[]), []);
        }
        assert_eq!(pass(true, true, &[]), []);
    }
    assert_eq!(pass(true, true, &[(0, Lane::Request, 11)]), []);
    assert_eq!(pass(false, true, &[]), [11]);
}

#[test]
fn frames_find_no_room_no_way_and_no_clock() {
    let land = land();
    let fabric = SoftFabric::format(land.region(), shape()).unwrap();
    let a = join(&fabric, 0, &Join::new(0)).unwrap();
    let mut out = outbox(&a);
    let mut send =
        |l: usize, to: u32, bytes: usize| out.send(link(l), to, Lane::Request, &vec![1; bytes]);
    // Its reader makes a mailbox; until then there is none.
    assert_eq!(send(0, 1, 8), Err(OutboxError::Full));
    let b = join(&fabric, 1, &Join::new(0)).unwrap();
    for _ in 0..4 {
        assert_eq!(send(0, 1, 248), Ok(()));
    }
    assert_eq!(send(0, 1, 8), Err(OutboxError::Full));
    assert_eq!(send(1, 1, 249), Err(OutboxError::TooLong));
    for nowhere in [0, 3, 64, u32::MAX] {
        assert_eq!(send(0, nowhere, 8), Err(OutboxError::NoSuchNode));
    }
    assert!(fabric.set_link(0, link(1), false));
    assert_eq!(send(1, 1, 8), Err(OutboxError::LinkDown));
    assert_eq!(send(2, 1, 8), Err(OutboxError::LinkDown));
    // What the reader has not read survives its incarnation; it is addressed to that one.
    crash(b);
    fabric.declare_dead(1, None).unwrap();
    let b = join(&fabric, 1, &Join::new(1)).unwrap();
    let mut inbox = inbox(&b);
    assert!(inbox.next(4, &mut [0; 256]).is_some());
}

/// What a request asks for moves by the link on which it came, and fails there if one end has no
/// cable. Answers are short, and go by any link.
#[test]
fn s0_22_requests_go_by_a_link_with_both_cables_if_there_is_one() {
    let land = land();
    let fabric = SoftFabric::format(land.region(), shape()).unwrap();
    let a = join(&fabric, 0, &Join::new(0)).unwrap();
    let _b = join(&fabric, 1, &Join::new(0)).unwrap();
    let mut out = outbox(&a);
    let mut ways = |lane| [0, 1].map(|l| out.ready(link(l), 1, lane));
    for (far, near, expected, way) in [
        ([true, true], [true, true], [true, true], true),
        ([true, false], [true, true], [true, false], true),
        ([false, true], [true, true], [false, true], true),
        // No link has both: whatever there is, is tried.
        ([false, false], [true, true], [true, true], false),
        ([true, false], [false, true], [true, true], false),
    ] {
        for l in [0, 1] {
            assert!(fabric.set_link(1, link(l), far[l]) && fabric.set_link(0, link(l), near[l]));
        }
        assert_eq!(ways(Lane::Request), expected, "{far:?} {near:?}");
        assert_eq!([[0, 1], [1, 0]].map(|ends| fabric.has_way(ends)), [way; 2]);
        assert_eq!(ways(Lane::Control), [true, true]);
    }
}

/// A mailbox has one writer, so that a frame in the name of another node is found out: it changes
/// nothing but a counter, and the named node's own frame is taken.
#[test]
fn r31_a_node_does_not_send_in_the_name_of_another() {
    let land = land();
    let fabric = SoftFabric::format(land.region(), shape()).unwrap();
    let members: Vec<_> = (0..3).map(|n| join(&fabric, n, &Join::new(n)).unwrap()).collect();
    let mut inbox = inbox(&members[0]);
    let envelope = Envelope {
        from: nid_of(1),
        to: nid_of(0),
        from_incarnation: Incarnation::from_raw(7).unwrap(),
        to_incarnation: Incarnation::from_raw(8),
        session: 1,
        sequence: 1,
        credits: 0,
        credits_of: 0,
    };
    let message = Message::Noop;
    let mut frame = vec![0; encoded_len(&envelope, &message).unwrap()];
    encode(&envelope, &message, Checksum::On, &mut frame).unwrap();
    for lane in [Lane::Control, Lane::Request] {
        let (mut receiver, mut scratch) = (Receiver::new(Checksum::On), [0; 256]);
        for forger in [2, 1] {
            let mut out = outbox(&members[forger as usize]);
            out.send(link(0), 0, lane, &frame).unwrap();
        }
        let mut outcomes = Vec::new();
        while let Some(found) = inbox.next(4, &mut scratch) {
            let sender = Sender::Known(nid_of(found.from));
            let received = receiver.receive_from(sender, &scratch[..found.length]);
            outcomes.push((found.from, received.map(|_| ())));
            inbox.release();
        }
        assert_eq!(outcomes, [(1, Ok(())), (2, Err(DecodeError::Sender))]);
        assert_eq!((receiver.lnd(), receiver.errors().of(DecodeError::Sender)), (1, 1));
        assert_eq!((receiver.control(), receiver.errors().total()), (0, 1));
    }
}
