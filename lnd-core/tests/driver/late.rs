// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What former incarnations and former sessions have said comes late (S0-13, S0-18, INV-12).

use lnd_core::counters::Counter;
use lnd_core::id::{Incarnation, Tag};
use lnd_core::message::{Hello, Message};
use lnd_core::peer::HelloState;
use lnd_core::time::Span;

use super::hello::{forged, hello};
use super::letter::Letter;
use super::world::World;

/// Takes the next letter of a kind that a node has sent off the wire.
pub fn take(w: &World, from: usize, kind: &str) -> Option<Letter> {
    let wire = &mut w.fabric.borrow_mut().wire;
    let at = wire.iter().position(|letter| letter.from == from && letter.kind() == kind)?;
    wire.remove(at)
}

/// Hands over what node 0 has said of a held kind, and what that leads to.
pub fn hand_held(w: &mut World, kind: &str) {
    for _ in 0..100 {
        let Some(letter) = take(w, 0, kind) else { return };
        w.hand(&letter);
        w.settle();
    }
    panic!("{kind} without end");
}

/// After all that was late node 1 reaches node 0.
pub fn reaches_in_the_end(w: &mut World) {
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
    late.envelope.from_incarnation = Incarnation::from_raw(999).unwrap();
    (late.envelope.to_incarnation, late.envelope.session, late.envelope.sequence) = (None, 50, 0);
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
fn a_former_incarnations_late_hello_does_not_stop_the_present_one_for_long() {
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

/// Node 0 is new. Node 1's request to it is under way, and so is the answer to its hello.
pub struct LateHellos {
    pub w: World,
    /// The hello of the first session that node 1 had.
    pub first: Letter,
    /// Node 1's request, and one of node 0.
    pub tag: Tag,
    pub other: Tag,
}

/// What has come to node 0 are hellos that were long under way.
pub fn late_hellos() -> LateHellos {
    let mut w = World::met();
    let mut first = forged(&w, 1, 0, &hello());
    (first.envelope.to_incarnation, first.envelope.sequence) = (None, 0);
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

    // Hellos that were long under way: of a former incarnation, and of the present one's first
    // session.
    let mut former = first.clone();
    former.envelope.from_incarnation = Incarnation::from_raw(999).unwrap();
    w.hold("hello");
    w.hand(&former);
    w.hand(&first);
    hand_held(&mut w, "hello");
    LateHellos { w, first, tag, other }
}

#[test]
fn s0_18_late_hellos_hide_no_request_from_a_node_that_is_new() {
    // After the late hellos comes the request, or the answer to our hello.
    for order in [["immediate", "hello_ack"], ["hello_ack", "immediate"]] {
        let LateHellos { mut w, tag, other, .. } = late_hellos();
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
fn what_a_former_incarnation_has_sent_is_dropped_when_the_present_one_has_answered() {
    // An echo in the network: the hello of an incarnation that is over, and a request of its
    // session.
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
    assert_eq!(taken(&w), before + 1, "the new incarnation is admitted");

    let dropped = w.count(0, Counter::WrongIncarnation);
    w.hand(&hello);
    assert!(w.hand(&request), "the present incarnation has answered our hello");
    assert_eq!(w.count(0, Counter::WrongIncarnation), dropped + 1);
    w.settle();
    w.hand(&request);
    w.settle();
    assert_eq!(taken(&w), before + 1);

    reaches_in_the_end(&mut w);
}

#[test]
fn what_was_taken_from_a_former_incarnation_is_not_taken_again_with_its_hello() {
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
    assert_eq!(taken(&w), 2, "the new incarnation is admitted");

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
    // The echo of a former incarnation makes us forget which session the present one has opened.
    // Only a channel that may repeat what it carries has echoes.
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

/// Node 1 runs its second incarnation, and the goodbye of its first has come late.
fn beside_a_goodbye() -> World {
    let mut w = World::met();
    let close = forged(&w, 1, 0, &Message::Close);
    w.reboot(1);
    w.put(1, 0, 0).unwrap();
    w.put(0, 1, 0).unwrap();
    w.settle();
    assert!(w.hand(&close));
    assert_eq!(w.state(0, 1), HelloState::Good);
    w
}

#[test]
fn s0_18_a_third_incarnation_is_taken_up_beside_a_goodbye_that_is_kept() {
    let mut w = beside_a_goodbye();
    w.reboot(1);
    let tag = w.put(1, 0, 5000).unwrap();
    w.settle();
    w.sleep(w.config.hello_timeout.times(2));
    assert_eq!(w.report(1, tag).status.errno, 0);
    assert_eq!(w.state(0, 1), HelloState::Good);
    w.assert_drained();
}

#[test]
fn a_hello_of_another_version_leaves_nothing_beside_a_goodbye_that_is_kept() {
    let mut w = beside_a_goodbye();
    let foreign = Hello {
        version_min: 9,
        version_max: 9,
        immediate_max: 128,
        features: 0,
        given_up: 0,
        attempt: 1,
    };
    let mut letter = forged(&w, 1, 0, &Message::Hello(foreign));
    letter.envelope.from_incarnation = Incarnation::from_raw(999).unwrap();
    let before = (w.said(0, 1, "hello_ack"), w.count(0, Counter::Early));
    assert!(w.hand(&letter));
    w.settle();
    assert_eq!((w.said(0, 1, "hello_ack"), w.count(0, Counter::Early)), (before.0, before.1 + 1));
    let tag = w.put(1, 0, 10).unwrap();
    w.settle();
    assert_eq!(w.report(1, tag).status.errno, 0);
    w.assert_drained();
}
