// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Answers to our hello: of the present incarnation or of a former one, and what they tell of
//! sessions (S0-13, S0-18).

use lnd_core::counters::Counter;
use lnd_core::id::Incarnation;
use lnd_core::message::{HelloAck, Message};
use lnd_core::peer::HelloState;
use lnd_core::time::Span;

use super::fabric::nid;
use super::hello::{forged, hello, hold_off};
use super::late::{late_hellos, reaches_in_the_end, take, LateHellos};
use super::letter::Letter;
use super::world::World;

/// Node 0 sends HELLO, and knows no incarnation of node 1. The first one's answer is held up.
/// Returns its link.
fn first_answer_held(w: &mut World) -> usize {
    w.kill(0);
    w.put(1, 0, 0).unwrap();
    w.settle();
    w.reboot(0);
    w.hold("hello_ack");
    w.put(0, 1, 5000).unwrap();
    w.settle();
    let wire = &w.fabric.borrow().wire;
    wire.iter().find(|it| it.kind() == "hello_ack").unwrap().link.index()
}

#[test]
fn s0_18_a_late_answer_of_a_former_incarnation_does_not_undo_its_successors_hello() {
    let mut w = World::new(2);
    let link = first_answer_held(&mut w);
    w.device(1, link, |d| d.link_works = false);
    w.reboot(1);
    w.free("hello_ack");
    let tag = w.put(1, 0, 10).unwrap();
    w.settle();
    assert_eq!((w.state(1, 0), w.state(0, 1)), (HelloState::Good, HelloState::Handshake));
    w.device(1, link, |d| d.link_works = true);
    w.settle();
    w.sleep(Span::from_secs(29));
    assert_eq!(w.report(1, tag).status.errno, 0);
    w.assert_deliveries();
    reaches_in_the_end(&mut w);
}

#[test]
fn an_answer_of_the_incarnation_that_was_heard_meanwhile_counts() {
    // Two that connect to each other at once need no second hello (R30).
    let mut w = World::new(2);
    w.hold("hello_ack");
    let (a, b) = (w.put(0, 1, 10).unwrap(), w.put(1, 0, 10).unwrap());
    w.settle();
    w.free("hello_ack");
    w.settle();
    assert_eq!((w.report(0, a).status.errno, w.report(1, b).status.errno), (0, 0));
    assert_eq!((w.said(0, 1, "hello"), w.said(1, 0, "hello")), (1, 1));
}

#[test]
fn s0_18_an_earlier_session_is_not_opened_behind_the_answer_that_tells_of_a_later_one() {
    let LateHellos { mut w, first, tag, .. } = late_hellos();
    w.free("hello_ack");
    w.settle();
    // The earlier session's first hello was said twice.
    let dropped = w.count(0, Counter::WrongSession);
    w.hand(&first);
    w.free("immediate");
    w.settle();
    w.free("hello");
    w.sleep(Span::from_secs(30));
    assert_eq!(w.report(1, tag).status.errno, 0);
    assert_eq!(w.count(0, Counter::WrongSession), dropped);
    assert_eq!(w.count(0, Counter::Requests), 1, "it was seen");
    w.assert_deliveries();
}

#[test]
fn a_session_that_is_not_counted_is_told_of_in_a_channel_that_loses_too() {
    // A late hello of another incarnation was the last that node 0 heard before node 1's answer.
    let mut w = World::new(2);
    w.fabric.borrow_mut().reliable = false;
    w.hold("hello");
    w.put(0, 1, 10).unwrap();
    let mut former = forged(&w, 1, 0, &hello());
    former.envelope.from_incarnation = Incarnation::from_raw(999).unwrap();
    (former.envelope.to_incarnation, former.envelope.sequence) = (None, 0);
    w.hand(&former);
    // The first is not taken: a former one heard since we asked may have said it.
    for _ in 0..2 {
        let answer = answer_of(&w, w.nodes[1].driver.identity().incarnation);
        w.hand(&answer);
        w.node(0).on_time();
    }
    assert_eq!(w.state(0, 1), HelloState::Good);
    let before = w.said(0, 1, "hello");
    let message = Message::Immediate { header: &[0; 8], payload: &[1; 10] };
    for _ in 0..2 {
        assert!(w.hand(&forged(&w, 1, 0, &message)));
        assert_eq!(w.said(0, 1, "hello"), before + 1, "told, and once");
    }
    assert_eq!((w.count(0, Counter::WrongSession), w.count(0, Counter::Requests)), (2, 0));
}

#[test]
fn a_request_of_a_former_session_is_dropped_where_it_may_be_a_repetition() {
    let mut w = World::met();
    w.fabric.borrow_mut().reliable = false;
    let message = Message::Immediate { header: &[0; 8], payload: &[1; 10] };
    let request = forged(&w, 1, 0, &message);
    let mut next = forged(&w, 1, 0, &hello());
    (next.envelope.session, next.envelope.sequence) = (2, 0);
    w.hand(&next);
    let before = w.count(0, Counter::Requests);
    assert!(w.hand(&request));
    assert_eq!((w.count(0, Counter::WrongSession), w.count(0, Counter::Requests)), (1, before));
}

#[test]
fn a_late_goodbye_does_not_take_the_place_of_the_present_ones() {
    // S0-18: what the one that ended last has left in the channel would wait for ever.
    let mut w = World::met();
    w.hold("close");
    let mut late = forged(&w, 1, 0, &Message::Close);
    late.envelope.from_incarnation = Incarnation::from_raw(999).unwrap();
    let message = Message::Immediate { header: &[0; 8], payload: &[1; 10] };
    let (close, request) = (forged(&w, 1, 0, &Message::Close), forged(&w, 1, 0, &message));
    w.hand(&close);
    w.hand(&late);
    assert_eq!(w.state(0, 1), HelloState::Down);
    let before = w.count(0, Counter::Requests);
    assert!(w.hand(&request), "it waits for one that has ended");
    assert_eq!(w.count(0, Counter::Requests), before + 1);
}

#[test]
fn a_late_answer_of_one_that_said_goodbye_brings_no_handshake() {
    let mut w = World::met();
    w.hold("hello_ack");
    let mut claim = forged(&w, 1, 0, &hello());
    claim.envelope.from_incarnation = Incarnation::from_raw(999).unwrap();
    w.hand(&claim);
    w.settle();
    assert_eq!(w.state(0, 1), HelloState::Handshake);
    let close = forged(&w, 1, 0, &Message::Close);
    w.hand(&close);
    assert_eq!(w.state(0, 1), HelloState::Down);
    let before = w.said(0, 1, "hello");
    w.free("hello_ack");
    w.settle();
    assert_eq!((w.state(0, 1), w.said(0, 1, "hello")), (HelloState::Down, before));
}

/// The answer of an incarnation of node 1 to the hello of node 0 that is on the wire.
fn answer_of(w: &World, incarnation: Incarnation) -> Letter {
    let hello = take(w, 0, "hello").unwrap();
    let Message::Hello(said) = hello.message() else { unreachable!() };
    let (session, attempt) = (hello.envelope.session, said.attempt);
    let ack =
        HelloAck { session, attempt, version: Some(1), depth: 4, immediate_max: 100, features: 0 };
    let mut letter = forged(w, 1, 0, &Message::HelloAck(ack));
    letter.envelope.from_incarnation = incarnation;
    letter
}

#[test]
fn an_answer_counts_though_what_was_known_before_the_question_is_heard_again() {
    let mut w = World::new(2);
    w.hold("hello");
    w.hold("hello_ack");
    let mut known = forged(&w, 1, 0, &hello());
    known.envelope.from_incarnation = Incarnation::from_raw(999).unwrap();
    (known.envelope.to_incarnation, known.envelope.sequence) = (None, 0);
    // The first makes us ask; the second tells nothing new.
    w.hand(&known);
    w.hand(&known);
    let answer = answer_of(&w, Incarnation::from_raw(1000).unwrap());
    w.hand(&answer);
    assert_eq!(w.state(0, 1), HelloState::Good);
    assert_eq!(w.count(0, Counter::IgnoredHellos), 0);
}

#[test]
fn a_successor_is_taken_up_with_its_latest_session() {
    let mut w = World::met();
    w.hold("hello");
    w.hold("hello_ack");
    let mut claim = forged(&w, 1, 0, &hello());
    claim.envelope.from_incarnation = Incarnation::from_raw(1000).unwrap();
    (claim.envelope.to_incarnation, claim.envelope.sequence) = (None, 0);
    for session in [1, 2] {
        claim.envelope.session = session;
        w.hand(&claim);
    }
    let answer = answer_of(&w, Incarnation::from_raw(1000).unwrap());
    w.hand(&answer);
    let message = Message::Immediate { header: &[0; 8], payload: &[1; 10] };
    let mut request = forged(&w, 1, 0, &message);
    (request.envelope.from_incarnation, request.envelope.session) =
        (claim.envelope.from_incarnation, 2);
    let before = w.count(0, Counter::Requests);
    assert!(w.hand(&request));
    assert_eq!(w.count(0, Counter::Requests), before + 1);
}

#[test]
fn s0_18_a_request_of_an_incarnation_before_the_known_one_does_not_stay() {
    let message = Message::Immediate { header: &[0; 8], payload: &[1; 10] };
    for how in ["answered us, and is down", "connected to us, and said goodbye"] {
        let mut w = if how.starts_with("answered") { World::met() } else { World::new(2) };
        if how.starts_with("answered") {
            w.notify_peer(0, 1, false);
        } else {
            w.hold("hello");
            let mut known = forged(&w, 1, 0, &hello());
            (known.envelope.to_incarnation, known.envelope.sequence) = (None, 0);
            w.hand(&known);
            // It has heard our hello, which was said because of its own.
            let mut close = forged(&w, 1, 0, &Message::Close);
            close.envelope.credits_of = take(&w, 0, "hello").unwrap().envelope.session;
            w.hand(&close);
        }
        assert_eq!(w.state(0, 1), HelloState::Down, "{how}");
        let mut request = forged(&w, 1, 0, &message);
        request.envelope.from_incarnation = Incarnation::from_raw(999).unwrap();
        let before = w.count(0, Counter::Requests);
        assert!(w.hand(&request), "{how}");
        assert_eq!(w.count(0, Counter::Requests), before);
    }
}

/// A reliable channel delivers what was promised, and the count of the session before does not go
/// on: a number that begins anew in it would be taken for one that was seen.
#[test]
fn s0_18_an_answer_of_a_later_session_ends_the_count_of_the_one_before() {
    let mut w = World::met();
    w.put(1, 0, 10).unwrap();
    w.settle();
    w.hold("hello_ack");
    let now = w.now;
    w.nodes[0].driver.ask_peer(now, nid(1));
    w.settle();
    let mut answer = {
        let wire = &w.fabric.borrow().wire;
        wire.iter().find(|it| it.kind() == "hello_ack").unwrap().clone()
    };
    let before = answer.envelope.session;
    answer.envelope.session = before.wrapping_add(1);
    assert!(w.hand(&answer));
    assert_eq!(w.state(0, 1), HelloState::Good);
    w.hold("immediate");
    w.put(0, 1, 10).unwrap();
    w.settle();
    let wire = &w.fabric.borrow().wire;
    let ours = wire.iter().find(|it| it.kind() == "immediate").unwrap();
    assert_eq!((before != 0, ours.envelope.credits_of), (true, 0), "none is counted");
}

/// A successor answers whose hello was not heard. A late hello of an earlier session of it opens
/// none: requests of the later one would be dropped.
#[test]
fn s0_18_no_session_before_that_of_a_successors_answer_is_opened() {
    for reliable in [true, false] {
        let mut w = World::met();
        w.fabric.borrow_mut().reliable = reliable;
        let successor = Incarnation::from_raw(1000).unwrap();
        w.hold("hello");
        w.hold("hello_ack");
        let now = w.now;
        w.nodes[0].driver.ask_peer(now, nid(1));
        let mut answer = answer_of(&w, successor);
        answer.envelope.session = 5;
        assert!(w.hand(&answer));
        assert_eq!(w.count(0, Counter::PeersRestarted), 1);
        let mut late = forged(&w, 1, 0, &hello());
        late.envelope.from_incarnation = successor;
        late.envelope.to_incarnation = None;
        (late.envelope.session, late.envelope.sequence) = (4, 0);
        assert!(w.hand(&late));
        w.settle();
        let counted = take(&w, 0, "hello_ack").unwrap().envelope.credits_of;
        assert_eq!(counted, 0, "reliable {reliable}");
    }
}

/// A successor has sent requests in a session that is unknown here. Its answer opens no session
/// that would take what it was promised for received.
#[test]
fn s0_18_a_successors_session_that_is_under_way_is_not_counted_from_its_middle() {
    let mut w = World::met();
    let successor = Incarnation::from_raw(1000).unwrap();
    w.hold("hello");
    w.hold("hello_ack");
    let mut claim = forged(&w, 1, 0, &hello());
    claim.envelope.from_incarnation = successor;
    (claim.envelope.session, claim.envelope.sequence) = (2, 9);
    assert!(w.hand(&claim));
    let mut answer = answer_of(&w, successor);
    answer.envelope.session = 2;
    assert!(w.hand(&answer));
    assert_eq!(w.count(0, Counter::PeersRestarted), 1);
    let message = Message::Immediate { header: &[0; 8], payload: &[1; 10] };
    let mut promised = forged(&w, 1, 0, &message);
    promised.envelope.from_incarnation = successor;
    (promised.envelope.session, promised.envelope.sequence) = (2, 9);
    assert!(!w.hand(&promised), "dropped");
}

/// Where what was sent may be lost, the answer of a successor shows that its session is genuine,
/// whatever was known of its predecessor's.
#[test]
fn s0_13_a_successors_answer_verifies_its_session() {
    let mut w = World::new(2);
    w.fabric.borrow_mut().reliable = false;
    w.hold("hello");
    w.hold("hello_ack");
    w.put(0, 1, 10).unwrap();
    // The predecessor has answered, and its hello came behind that.
    let answer = answer_of(&w, w.nodes[1].driver.identity().incarnation);
    assert!(w.hand(&answer));
    let mut known = forged(&w, 1, 0, &hello());
    (known.envelope.to_incarnation, known.envelope.sequence) = (None, 0);
    known.envelope.session = 2;
    assert!(w.hand(&known));
    let successor = Incarnation::from_raw(1000).unwrap();
    let mut claim = known.clone();
    claim.envelope.from_incarnation = successor;
    claim.envelope.session = 7;
    assert!(w.hand(&claim));
    w.fabric.borrow_mut().wire.retain(|letter| letter.kind() != "hello");
    w.sleep(w.config.hello_timeout);
    let mut answer = answer_of(&w, successor);
    answer.envelope.session = 7;
    assert!(w.hand(&answer));
    assert_eq!(w.count(0, Counter::PeersRestarted), 1);
    let message = Message::Immediate { header: &[0; 8], payload: &[1; 10] };
    let mut request = forged(&w, 1, 0, &message);
    (request.envelope.from_incarnation, request.envelope.session) = (successor, 7);
    assert!(w.hand(&request));
    assert_eq!(w.count(0, Counter::Requests), 1);
}

/// R39: the sender of a session that is not counted is told again a hold-off behind the first
/// offer, however often its request is offered meanwhile. Where its request is dropped, it is not.
#[test]
fn r39_a_sender_is_told_again_at_its_time_however_often_it_offers() {
    for reliable in [true, false] {
        let mut w = World::met();
        w.fabric.borrow_mut().reliable = reliable;
        w.hold("hello");
        w.hold("hello_ack");
        let now = w.now;
        w.nodes[0].driver.ask_peer(now, nid(1));
        let successor = Incarnation::from_raw(1000).unwrap();
        let message = Message::Immediate { header: &[0; 8], payload: &[1; 10] };
        let mut request = forged(&w, 1, 0, &message);
        (request.envelope.from_incarnation, request.envelope.session) = (successor, 5);
        // The first answer takes it up, and the second one names our session. The third one comes
        // behind a hello which shows that its own is not counted.
        for told in 0..3 {
            if told == 2 {
                assert_eq!(w.hand(&request), !reliable);
            }
            let mut answer = answer_of(&w, successor);
            let session = w.nodes[0].driver.peer_view(0).unwrap().session;
            answer.envelope.session = 5;
            answer.envelope.credits_of = if told == 0 { 0 } else { session };
            assert!(w.hand(&answer));
        }
        assert_eq!(w.state(0, 1), HelloState::Good);
        w.node(0).on_time();
        assert_eq!(w.nodes[0].next, None);
        let due = w.now.after(hold_off(&w));
        for _ in 0..3 {
            assert_eq!(w.hand(&request), !reliable);
            w.node(0).on_time();
            assert_eq!(w.nodes[0].next, reliable.then_some(due));
            w.now = w.now.after(Span::from_millis(100));
        }
    }
}
