// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What former incarnations and former sessions have said comes late (S0-13, S0-18, INV-12).

use lnd_core::counters::Counter;
use lnd_core::id::Incarnation;
use lnd_core::message::{HelloAck, Message};
use lnd_core::peer::HelloState;
use lnd_core::time::Span;

use super::hello::{forged, hello};
use super::letter::Letter;
use super::world::World;

/// Takes the next letter of a kind that a node has sent off the wire.
fn take(w: &World, from: usize, kind: &str) -> Option<Letter> {
    let wire = &mut w.fabric.borrow_mut().wire;
    let at = wire.iter().position(|letter| letter.from == from && letter.kind() == kind)?;
    wire.remove(at)
}

/// Hands over what node 0 has said of a held kind, and what that leads to.
fn hand_held(w: &mut World, kind: &str) {
    for _ in 0..100 {
        let Some(letter) = take(w, 0, kind) else { return };
        w.hand(&letter);
        w.settle();
    }
    panic!("{kind} without end");
}

/// After all that was late node 1 reaches node 0.
fn reaches_in_the_end(w: &mut World) {
    w.sleep(Span::from_secs(3));
    let tag = w.put(1, 0, 10).unwrap();
    w.sleep(Span::from_secs(30));
    assert_eq!(w.report(1, tag).status.errno, 0);
    w.assert_drained();
}

#[test]
fn the_session_of_a_late_hello_is_not_opened_for_the_one_that_answers() {
    let mut w = World::met();
    w.fabric.borrow_mut().reliable = false;
    w.reboot(1);
    let mut late = forged(&w, 1, 0, &hello());
    late.envelope.from_life = Incarnation::from_raw(999).unwrap();
    (late.envelope.to_life, late.envelope.session, late.envelope.sequence) = (None, 50, 0);
    w.hold("hello");
    w.hand(&late);
    hand_held(&mut w, "hello");
    w.free("hello");
    w.settle();
    w.put(1, 0, 10).unwrap();
    w.settle();
    assert_eq!(w.count(0, Counter::Requests), 1);
    assert_eq!(w.said(0, 1, "hello_ack"), 1, "the late one is not answered");
    w.assert_drained();
}

#[test]
fn a_former_lifes_late_hello_does_not_stop_the_present_one_for_long() {
    let mut w = World::met();
    let old = forged(&w, 1, 0, &hello());
    w.reboot(1);
    w.put(1, 0, 0).unwrap();
    w.settle();
    w.hand(&old);
    w.settle();
    let (a, b) = (w.put(0, 1, 5000).unwrap(), w.put(1, 0, 5000).unwrap());
    w.sleep(Span::from_secs(3));
    let ok = [w.report(0, a).status.errno, w.report(1, b).status.errno];
    assert_eq!(ok[0], 0);
    let again = w.put(1, 0, 5000).unwrap();
    w.sleep(Span::from_secs(30));
    assert_eq!(w.report(1, again).status.errno, 0);
    w.assert_drained();
}

#[test]
fn an_incarnation_that_answers_is_not_given_up_for_a_late_hello() {
    // S0-13, INV-12: what the present one has under way goes on, and its count stands.
    let mut w = World::met();
    let late = forged(&w, 1, 0, &hello());
    w.reboot(1);
    w.put(1, 0, 0).unwrap();
    w.put(0, 1, 0).unwrap();
    w.settle();
    w.hold("put_req");
    let (ours, theirs) = (w.put(0, 1, 5000).unwrap(), w.put(1, 0, 5000).unwrap());
    w.settle();
    let (restarted, resyncs) = (Counter::PeersRestarted, Counter::Resyncs);
    let before = [w.count(0, restarted), w.count(1, resyncs)];
    w.hand(&late);
    w.settle();
    w.free("put_req");
    w.settle();
    assert_eq!(w.report(0, ours).status.errno, 0);
    assert_eq!(w.report(1, theirs).status.errno, 0);
    assert_eq!([w.count(0, restarted), w.count(1, resyncs)], before);
    w.assert_drained();
}

#[test]
fn that_a_session_is_not_counted_is_said_once() {
    // Node 0 has forgotten node 1's session, and node 1's next hello is long under way.
    let mut w = World::met();
    let mut newer = forged(&w, 1, 0, &hello());
    (newer.envelope.session, newer.envelope.sequence) = (newer.envelope.session + 1, 7);
    w.hold("hello");
    let before = [w.said(0, 1, "hello") as u64, w.count(0, Counter::Requests)];
    w.hand(&newer);
    w.settle();
    let tag = w.put(1, 0, 10).unwrap();
    w.settle();
    hand_held(&mut w, "hello");
    // Once since that hello does not know our session, once for the request.
    assert_eq!(w.said(0, 1, "hello") as u64 - before[0], 2);
    w.free("hello");
    w.sleep(Span::from_secs(30));
    assert_eq!(w.report(1, tag).status.errno, 0);
    assert_eq!(w.count(0, Counter::Requests) - before[1], 1);
    w.assert_drained();
}

#[test]
fn a_successors_earlier_session_is_not_opened_for_its_later_one() {
    let mut w = World::met();
    w.reboot(1);
    w.hold("hello");
    let before = w.count(0, Counter::Requests);
    let tag = w.put(1, 0, 10).unwrap();
    w.settle();
    let letter = take(&w, 1, "hello").unwrap();
    w.hand(&letter);
    let mut earlier = letter.clone();
    earlier.envelope.session = letter.envelope.session.wrapping_sub(1);
    earlier.envelope.sequence = 9;
    w.hand(&earlier);
    w.settle();
    assert_eq!(w.said(0, 1, "hello"), 1, "it is asked already");
    w.free("hello");
    w.settle();
    assert_eq!(w.report(1, tag).status.errno, 0);
    assert_eq!(w.count(0, Counter::Requests) - before, 1);
    assert_eq!(w.count(0, Counter::Waited), 0);
    w.assert_drained();
}

#[test]
fn s0_18_late_hellos_hide_no_request_from_a_node_that_is_new() {
    // After the late hellos comes the request, or the answer to our hello.
    for order in [["immediate", "hello_ack"], ["hello_ack", "immediate"]] {
        let mut w = World::met();
        let mut first = forged(&w, 1, 0, &hello());
        (first.envelope.to_life, first.envelope.sequence) = (None, 0);
        w.reboot(0);
        // Node 0 hears no answer to its hello; node 1 does.
        w.hold("hello_ack");
        w.hold("immediate");
        let other = w.put(0, 1, 5000).unwrap();
        w.settle();
        hand_held(&mut w, "hello_ack");
        let tag = w.put(1, 0, 10).unwrap();
        w.settle();
        assert_eq!(w.said(1, 0, "immediate"), 1);

        // Hellos that were long under way: of a former incarnation, and of the present one's first session.
        let mut former = first.clone();
        former.envelope.from_life = Incarnation::from_raw(999).unwrap();
        w.hold("hello");
        w.hand(&former);
        w.hand(&first);
        hand_held(&mut w, "hello");
        for kind in order {
            w.free(kind);
            w.settle();
        }
        w.free("hello");
        w.sleep(Span::from_secs(30));
        assert_eq!(w.report(1, tag).status.errno, 0);
        assert_eq!(w.report(0, other).status.errno, 0);
        assert_eq!(w.count(0, Counter::Requests), 1, "it was seen");
        w.assert_deliveries();
        w.assert_drained();
    }
}

#[test]
fn what_a_former_life_has_sent_is_dropped_when_the_present_one_has_answered() {
    // An echo in the network: the hello of a life that is over, and a request of its session.
    let mut w = World::met();
    w.fabric.borrow_mut().reliable = false;
    let message = Message::Immediate { header: &[0; 8], payload: &[1; 10] };
    let (hello, request) = (forged(&w, 1, 0, &hello()), forged(&w, 1, 0, &message));
    w.put(1, 0, 10).unwrap();
    w.settle();
    let taken = |w: &World| w.count(0, Counter::Requests);
    let before = taken(&w);
    w.reboot(1);
    w.put(1, 0, 10).unwrap();
    w.settle();
    assert_eq!(taken(&w), before + 1, "the new life is admitted");

    let dropped = w.count(0, Counter::WrongLife);
    w.hand(&hello);
    assert!(w.hand(&request), "the present life has answered our hello; that one has not");
    assert_eq!(w.count(0, Counter::WrongLife), dropped + 1);
    w.settle();
    w.hand(&request);
    w.settle();
    assert_eq!(taken(&w), before + 1);

    reaches_in_the_end(&mut w);
}

#[test]
fn what_was_taken_from_a_former_life_is_not_taken_again_with_its_hello() {
    // The same, and nothing that node 1 answers has come so far.
    let mut w = World::met();
    w.fabric.borrow_mut().reliable = false;
    let taken = |w: &World| w.count(0, Counter::Requests);
    let message = Message::Immediate { header: &[0; 8], payload: &[1; 10] };
    w.reboot(0);
    w.hold("hello_ack");
    w.put(0, 1, 0).unwrap();
    w.settle();
    hand_held(&mut w, "hello_ack");
    w.put(1, 0, 10).unwrap();
    w.settle();
    assert_eq!(taken(&w), 1);
    let (mut hello, mut request) = (forged(&w, 1, 0, &hello()), forged(&w, 1, 0, &message));
    (hello.envelope.session, hello.envelope.sequence, request.envelope.session) = (2, 0, 2);
    assert!(w.hand(&request));
    assert_eq!(w.count(0, Counter::Duplicate), 1, "it is what was taken");

    w.reboot(1);
    w.put(1, 0, 10).unwrap();
    w.settle();
    hand_held(&mut w, "hello_ack");
    assert_eq!(taken(&w), 2, "the new life is admitted");

    let waited = w.count(0, Counter::Waited);
    w.hand(&hello);
    assert!(!w.hand(&request), "it waits for the answer to our hello");
    assert_eq!(w.count(0, Counter::Waited), waited + 1);
    w.free("hello_ack");
    w.settle();
    w.hand(&request);
    w.settle();
    assert_eq!(taken(&w), 2);
    reaches_in_the_end(&mut w);
}

#[test]
fn what_was_taken_in_a_session_is_not_taken_again_when_its_number_is_forgotten() {
    // The echo of a former life makes us forget which session the present one has opened. Only a
    // channel that may repeat what it carries has echoes.
    let mut w = World::met();
    w.fabric.borrow_mut().reliable = false;
    let message = Message::Immediate { header: &[0; 8], payload: &[1; 10] };
    let former = forged(&w, 1, 0, &hello());
    w.reboot(1);
    w.put(1, 0, 10).unwrap();
    w.settle();
    let (present, request) = (forged(&w, 1, 0, &hello()), forged(&w, 1, 0, &message));
    let before = w.count(0, Counter::Requests);
    w.hand(&former);
    w.settle();
    w.hand(&present);
    w.hand(&request);
    w.settle();
    w.hand(&request);
    assert_eq!(w.count(0, Counter::Requests), before);
    reaches_in_the_end(&mut w);
}

/// Node 0 greets, and knows no incarnation of node 1. The first one's answer is held up. Returns its link.
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
    assert_eq!((w.state(1, 0), w.state(0, 1)), (HelloState::Good, HelloState::Greeting));
    w.device(1, link, |d| d.link_works = true);
    w.settle();
    w.sleep(Span::from_secs(29));
    assert_eq!(w.report(1, tag).status.errno, 0);
    w.assert_deliveries();
    reaches_in_the_end(&mut w);
}

#[test]
fn an_answer_of_the_incarnation_that_was_heard_meanwhile_counts() {
    // Two that greet each other at once need no second hello (R30).
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
    let mut w = World::met();
    let mut first = forged(&w, 1, 0, &hello());
    (first.envelope.to_life, first.envelope.sequence) = (None, 0);
    w.reboot(0);
    w.hold("hello_ack");
    w.hold("immediate");
    w.put(0, 1, 5000).unwrap();
    w.settle();
    hand_held(&mut w, "hello_ack");
    let tag = w.put(1, 0, 10).unwrap();
    w.settle();
    let mut former = first.clone();
    former.envelope.from_life = Incarnation::from_raw(999).unwrap();
    w.hold("hello");
    w.hand(&former);
    w.hand(&first);
    hand_held(&mut w, "hello");
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
    former.envelope.from_life = Incarnation::from_raw(999).unwrap();
    (former.envelope.to_life, former.envelope.sequence) = (None, 0);
    w.hand(&former);
    for attempt in 1..=2 {
        let session = take(&w, 0, "hello").unwrap().envelope.session;
        let (version, depth) = (Some(1), 4);
        let ack = HelloAck { session, attempt, version, depth, immediate_max: 100, features: 0 };
        w.hand(&forged(&w, 1, 0, &Message::HelloAck(ack)));
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
    late.envelope.from_life = Incarnation::from_raw(999).unwrap();
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
fn a_late_answer_of_one_that_said_goodbye_brings_no_greeting() {
    let mut w = World::met();
    w.hold("hello_ack");
    let mut claim = forged(&w, 1, 0, &hello());
    claim.envelope.from_life = Incarnation::from_raw(999).unwrap();
    w.hand(&claim);
    w.settle();
    assert_eq!(w.state(0, 1), HelloState::Greeting);
    let close = forged(&w, 1, 0, &Message::Close);
    w.hand(&close);
    assert_eq!(w.state(0, 1), HelloState::Down);
    let before = w.said(0, 1, "hello");
    w.free("hello_ack");
    w.settle();
    assert_eq!((w.state(0, 1), w.said(0, 1, "hello")), (HelloState::Down, before));
}
