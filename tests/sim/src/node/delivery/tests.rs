// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The oracle of delivery says what it should.

use lnd_core::transfer::Policy;

use super::*;

const HEADER: &[u8] = &[1, 2, 3];

fn ms(n: u64) -> Instant {
    Instant::from_nanos(10_000_000_000 + n * 1_000_000)
}

fn incarnation(raw: u64) -> Option<Incarnation> {
    Incarnation::from_raw(raw)
}

fn status(cause: Cause, place: Place) -> Status {
    Status::of(Policy::Seed, cause, place)
}

/// An oracle of two nodes, and one message from 0 to 1, sent.
fn sent() -> (DeliveryOracle, usize) {
    let mut oracle = DeliveryOracle::default();
    oracle.incarnations(0, incarnation(10));
    oracle.incarnations(1, incarnation(11));
    oracle.now = ms(0);
    let at = oracle.submit(0, 1, HEADER, ms(50));
    oracle.sent((0, 1), HEADER, incarnation(11));
    (oracle, at)
}

fn rule(oracle: &mut DeliveryOracle) -> Option<String> {
    let what = oracle.take_broken()?.what;
    Some(what.split(": a message from node ").next().unwrap_or_default().to_owned())
}

/// What was broken is said in words, which name all that a person asks first.
#[test]
fn a_message_is_shown_in_words() {
    let (mut oracle, at) = sent();
    let words = |oracle: &DeliveryOracle| oracle.messages.get(at).map(ToString::to_string);
    let begin = "a message from node 0 to node 1, submitted at 10.000000 s, due at 10.050000 s; \
                 sent to incarnation 000000000000000b, not seen there";
    assert_eq!(words(&oracle), Some(format!("{begin}; not ended")));
    oracle.ended(at, status(Cause::PeerDown, Place::Queue));
    let end = "; ended: errno -112, RemoteDropped, not delivered: PeerDown while it was in Queue";
    assert_eq!(words(&oracle), Some(format!("{begin}{end}")));
}

#[test]
fn ok_means_seen_by_the_incarnation_that_it_was_sent_to() {
    let (mut oracle, at) = sent();
    oracle.ended(at, Status::OK);
    assert!(oracle.at_rest().is_err());
    oracle.goodbye(0, 1);
    oracle.incarnations(0, None);
    assert!(oracle.at_rest().is_err(), "a sender that has said goodbye is owed what it was told");
    oracle.incarnations(1, incarnation(12));
    assert_eq!(oracle.at_rest(), Ok(()), "its successor proves that it has ended");
    let (mut oracle, at) = sent();
    oracle.ended(at, Status { delivery: Delivery::Sent, ..Status::OK });
    assert_eq!(oracle.at_rest(), Ok(()), "the channel may have lost it");
    assert_eq!(rule(&mut oracle), None);
    oracle.reliable = true;
    oracle.ended(at, Status { delivery: Delivery::Sent, ..Status::OK });
    assert!(rule(&mut oracle).is_some_and(|what| what.contains("no more than sent")));
    let (mut oracle, at) = sent();
    oracle.ended(at, Status::OK);
    assert_eq!(oracle.seen(0, 1, HEADER), Some(at));
    assert_eq!(oracle.at_rest(), Ok(()));
    assert_eq!(rule(&mut oracle), None);
}

#[test]
fn a_sender_that_crashed_is_owed_nothing() {
    let (mut oracle, at) = sent();
    oracle.ended(at, Status::OK);
    oracle.incarnations(0, None);
    assert_eq!(oracle.at_rest(), Ok(()));
}

#[test]
fn a_sender_that_ended_is_owed_what_its_goodbye_announces() {
    let owed = |words: &[(u64, Option<&[u8]>, bool)]| {
        let (mut oracle, at) = sent();
        oracle.ended(at, Status::OK);
        oracle.goodbye(0, 1);
        oracle.incarnations(0, incarnation(20));
        for &(by, header, closes) in words {
            oracle.takes((0, 1), incarnation(by).unwrap(), header, closes);
        }
        oracle.at_rest().is_err()
    };
    let (request, goodbye, successor) =
        ((10, Some(HEADER), false), (10, None, true), (20, None, false));
    assert!(owed(&[]), "it was never read");
    assert!(owed(&[goodbye, successor, request]));
    assert!(owed(&[successor, goodbye, request]));
    assert!(owed(&[request, successor, goodbye]), "no successor was known");
    assert!(!owed(&[successor, request, goodbye]));
    assert!(!owed(&[successor, goodbye, (20, None, true), request]), "one goodbye is remembered");
    assert!(owed(&[successor, (10, Some(&[7]), false), goodbye, request]), "another message");
}

#[test]
fn ok_of_what_was_never_sent_is_found() {
    let mut oracle = DeliveryOracle::default();
    oracle.incarnations(1, incarnation(11));
    let at = oracle.submit(0, 1, HEADER, ms(50));
    oracle.ended(at, Status::OK);
    assert!(oracle.at_rest().is_err());
}

#[test]
fn a_message_is_seen_once_and_only_if_it_was_submitted() {
    let (mut oracle, _) = sent();
    oracle.seen(0, 1, HEADER);
    assert_eq!(rule(&mut oracle), None);
    oracle.seen(0, 1, HEADER);
    assert_eq!(rule(&mut oracle).as_deref(), Some("INV-6: seen twice"));
    oracle.seen(0, 1, &[9]);
    assert!(rule(&mut oracle).is_some_and(|what| what.contains("has not submitted it")));
    oracle.byzantine = Some(0);
    oracle.seen(0, 1, &[9]);
    oracle.seen(0, 1, HEADER);
    assert_eq!(rule(&mut oracle), None);
}

#[test]
fn not_delivered_means_neither_seen_nor_received() {
    let notified = |place, received: Option<bool>| {
        let (mut oracle, at) = sent();
        oracle.ended(at, status(Cause::Deadline, place));
        oracle.seen(0, 1, HEADER);
        if let Some(ok) = received {
            oracle.received(at, ok);
        }
        rule(&mut oracle)
    };
    assert!(notified(Place::Queue, None).is_some());
    assert!(notified(Place::Message, None).is_some());
    assert_eq!(notified(Place::Staged, Some(false)), None, "seen, and its data not taken");
    assert!(notified(Place::Staged, Some(true)).is_some());
    assert_eq!(notified(Place::Moving, Some(true)), None, "nothing was said of delivery");
    let (mut oracle, at) = sent();
    oracle.asks(at);
    oracle.seen(0, 1, HEADER);
    oracle.ended(at, status(Cause::LinkDown, Place::Queue));
    assert_eq!(rule(&mut oracle), None, "its payload was not pulled");
}

#[test]
fn lu16303_nothing_leaves_after_its_deadline() {
    let (mut oracle, _) = sent();
    assert_eq!(rule(&mut oracle), None);
    oracle.now = ms(50);
    oracle.sent((0, 1), HEADER, incarnation(11));
    assert!(rule(&mut oracle).is_some_and(|what| what.starts_with("LU-16303")));
    let tag = Tag { index: 1, generation: 1 };
    oracle.staged(1, tag, ms(60));
    oracle.reply_sent(1, tag);
    assert_eq!(rule(&mut oracle), None);
    oracle.now = ms(60);
    oracle.reply_sent(1, tag);
    assert!(rule(&mut oracle).is_some());
}

#[test]
fn what_was_refused_is_not_sent_and_may_be_submitted_again() {
    let mut oracle = DeliveryOracle::default();
    let at = oracle.submit(0, 1, HEADER, ms(50));
    oracle.refused(at);
    let again = oracle.submit(0, 1, HEADER, ms(50));
    assert_eq!(rule(&mut oracle), None);
    oracle.sent((0, 1), HEADER, incarnation(11));
    oracle.refused(again);
    assert!(rule(&mut oracle).is_some());
}

#[test]
fn lu17505_a_node_without_links_blames_no_peer() {
    let blamed = |cut_off: bool, alarm: bool, cause| {
        let (mut oracle, _) = sent();
        oracle.now = ms(9_000);
        oracle.cut_off(0, cut_off);
        let at = oracle.submit(0, 1, &[7], ms(9_900));
        if alarm {
            oracle.alarmed(0, 1);
        }
        oracle.ended(at, status(cause, Place::Queue));
        rule(&mut oracle).is_some()
    };
    assert!(blamed(true, false, Cause::PeerDown));
    assert!(!blamed(false, false, Cause::PeerDown));
    assert!(!blamed(true, true, Cause::PeerDown));
    assert!(!blamed(true, false, Cause::Deadline));
}
