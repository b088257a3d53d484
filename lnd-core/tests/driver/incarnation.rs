// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A peer comes back as another incarnation (R27, R29, INV-6).

use lnd_core::counters::Counter;
use lnd_core::driver::Kind;
use lnd_core::id::Tag;
use lnd_core::message::{HelloAck, Message, NakReason, PullReady};
use lnd_core::ports::Features;
use lnd_core::ports::Sent;
use lnd_core::time::Span;
use lnd_core::transfer::{Cause, HealthClass, Place};

use super::device::OnInvalidate;
use super::fabric::{Fabric, InjectedFault};
use super::hello::{forged, hello};
use super::letter::Letter;
use super::node::Decision;
use super::peer_down::{devices, expect};
use super::world::{config, World, LINK0, LINK1};

#[test]
fn lu16214_a_new_incarnation_ends_what_the_former_had_in_every_place() {
    let mut w = World::met();
    w.hold("put_req");
    w.hold("get_req");
    w.hold("immediate");
    let staged = w.put(0, 1, 5000).unwrap();
    let invalidating = w.get(0, 1, 5000).unwrap();
    w.settle();
    w.injected("immediate", InjectedFault::Lost(Sent::NotDelivered));
    let flying = w.put(0, 1, 10).unwrap();
    w.settle_untold();
    w.reboot(1);
    w.put(1, 0, 5000).unwrap();
    w.settle_untold();
    w.settle();
    expect(
        w.report(0, staged),
        Cause::PeerRestarted,
        Place::Staged,
        -103,
        HealthClass::RemoteDropped,
    );
    expect(
        w.report(0, invalidating),
        Cause::PeerRestarted,
        Place::Answer,
        -5,
        HealthClass::RemoteError,
    );
    expect(
        w.report(0, flying),
        Cause::PeerRestarted,
        Place::Message,
        -116,
        HealthClass::RemoteDropped,
    );
    assert_eq!(w.count(0, Counter::PeersRestarted), 1);
    // What was on the wire for the former incarnation is dropped by the new one.
    for kind in ["put_req", "get_req", "immediate"] {
        w.free(kind);
    }
    w.settle();
    assert_eq!(w.count(1, Counter::WrongIncarnation), 2);
    w.assert_drained();
}

#[test]
fn lu17841_a_pull_from_the_former_incarnation_is_invalidated() {
    let mut w = World::met();
    devices(&w, 0, true, OnInvalidate::Touched);
    let tag = w.put(1, 0, 5000).unwrap();
    w.settle();
    assert!(!w.reported(1, tag));
    w.reboot(1);
    w.put(1, 0, 0).unwrap();
    w.settle();
    assert_eq!(w.count(0, Counter::Invalidated), 1);
    devices(&w, 0, false, OnInvalidate::Touched);
    w.settle();
    let report = w.nodes[0].done.iter().find(|r| r.status.errno != 0).unwrap();
    expect(*report, Cause::PeerRestarted, Place::Moving, -5, HealthClass::RemoteError);
    w.assert_drained();
}

#[test]
fn lu17841_a_pull_from_the_former_incarnation_does_not_meet_what_the_new_one_stages() {
    let mut w = World::met();
    devices(&w, 1, true, OnInvalidate::Wins);
    let old = w.put(0, 1, 5000).unwrap();
    w.settle();
    w.reboot(0);
    w.put(0, 1, 0).unwrap();
    w.settle();
    let new: Vec<Tag> = (0..3).map(|_| w.put(0, 1, 4000).unwrap()).collect();
    assert!(new.iter().all(|tag| *tag != old), "the same tag in two incarnations");
    w.settle();
    // The former pull, invalidated, still tries, and finds nothing under its tag.
    devices(&w, 1, false, OnInvalidate::Wins);
    w.settle();
    let report = w.nodes[1].done.iter().find(|r| r.status.errno != 0).unwrap();
    expect(*report, Cause::PeerRestarted, Place::Staged, -103, HealthClass::RemoteDropped);
    assert!(new.iter().all(|&tag| w.report(0, tag).status.errno == 0));
    w.assert_drained();
}

#[test]
fn queued_requests_survive_and_go_to_the_new_incarnation() {
    let mut small = config();
    small.depth = 1;
    let mut w = World::met_with(small);
    w.hold("put_req");
    let first = w.put(0, 1, 5000).unwrap();
    let queued = w.put(0, 1, 4000).unwrap();
    w.settle();
    assert_eq!(w.said(0, 1, "put_req"), 1);
    w.reboot(1);
    w.put(1, 0, 0).unwrap();
    w.settle();
    assert_eq!(w.report(0, first).status.evidence.unwrap().0, Cause::PeerRestarted);
    assert!(!w.reported(0, queued));
    w.free("put_req");
    w.settle();
    assert_eq!(w.report(0, queued).status.errno, 0);
    assert_eq!(w.nodes[1].done.iter().filter(|r| r.bytes == 4000).count(), 1);
    w.assert_drained();
}

#[test]
fn r29_a_message_for_a_former_incarnation_makes_the_new_one_handshake() {
    let mut w = World::met();
    w.reboot(1);
    let tag = w.put(0, 1, 5000).unwrap();
    w.settle();
    // The new incarnation does not know the sender, drops the request and says who it is.
    assert_eq!(w.count(1, Counter::Early), 1);
    assert_eq!(w.report(0, tag).status.evidence.unwrap().0, Cause::PeerRestarted);
    let again = w.put(0, 1, 5000).unwrap();
    w.settle();
    assert_eq!(w.report(0, again).status.errno, 0);
    w.assert_drained();
}

#[test]
fn the_answer_to_our_hello_may_be_the_first_sign_of_a_new_incarnation() {
    let mut w = World::met();
    w.hold("hello");
    w.notify_peer(0, 1, false);
    w.notify_peer(0, 1, true);
    w.reboot(1);
    let tag = w.put(0, 1, 50).unwrap();
    w.settle();
    // Only node 0's hellos go through: one asks, one begins the session. The new incarnation's own
    // stays away for now.
    for _ in 0..2 {
        let ours = w.fabric.borrow().wire.iter().position(|l| l.from == 0).unwrap();
        let letter = w.fabric.borrow_mut().wire.remove(ours).unwrap();
        w.hand(&letter);
        w.settle();
    }
    assert_eq!(w.report(0, tag).status.errno, 0);
    assert_eq!(w.count(0, Counter::PeersRestarted), 1);
    w.free("hello");
    w.settle();
    let back = w.put(1, 0, 5000).unwrap();
    w.settle();
    assert_eq!(w.report(1, back).status.errno, 0);
    w.assert_drained();
}

#[test]
fn requests_of_the_former_incarnation_end_with_a_report_and_touch_no_credit_of_the_new() {
    let mut w = World::met();
    (w.node(1).put, w.node(1).get, w.node(1).inline) =
        (Decision::Keep, Decision::Keep, Decision::Keep);
    for (kind, length) in [(Kind::Put, 5000), (Kind::Get, 5000), (Kind::Put, 10)] {
        w.submit(kind, 0, 1, length).unwrap();
    }
    w.settle();
    w.reboot(0);
    w.put(0, 1, 0).unwrap();
    w.settle();
    let put = w.node(1).answer_kept(9999).unwrap();
    let get = w.node(1).answer_kept(9999).unwrap();
    let inline = w.node(1).answer_kept(0).unwrap();
    w.settle();
    for tag in [put, get] {
        expect(
            w.report(1, tag),
            Cause::PeerRestarted,
            Place::Queue,
            -116,
            HealthClass::RemoteDropped,
        );
    }
    assert_eq!(w.report(1, inline).status.errno, 0);
    assert_eq!((w.said(1, 0, "pull_ready"), w.said(1, 0, "put_nak")), (0, 0));
    // INV-12: the new session's count is not theirs.
    w.node(1).answer_kept(0).unwrap();
    for _ in 0..20 {
        let tag = w.put(1, 0, 0).unwrap();
        w.settle();
        assert_eq!(w.report(1, tag).status.errno, 0);
    }
    assert_eq!(w.count(0, Counter::BadCredits), 0);
    w.assert_drained();
}

#[test]
fn r31_a_late_put_done_is_not_said_to_a_new_incarnation() {
    // The new incarnation has given the same tag to another transfer.
    let mut fabric = Fabric::new(2, 2);
    for link in 0..2 {
        fabric.device(0, link).features &= !Features::REMOTE_COMPLETION.0;
    }
    let mut w = World::on(fabric, 2, config());
    w.put(0, 1, 5000).unwrap();
    w.hold("put_done");
    w.tick();
    for _ in 0..20 {
        w.tick();
        w.deliver();
        w.devices();
        w.interrupts();
    }
    // Pulled and not yet reported at node 1, when node 0 begins anew.
    assert!(!w.nodes[1].driver.nothing_to_report());
    w.reboot(0);
    w.hold("put_req");
    w.fabric.borrow_mut().wire.clear();
    let tag = w.put(0, 1, 5000).unwrap();
    for _ in 0..20 {
        w.tick();
        w.deliver();
    }
    w.free("put_done");
    w.node(1).fetch();
    assert_eq!(w.said(1, 0, "put_done"), 0);
    w.settle();
    assert!(!w.reported(0, tag));
    w.free("put_req");
    w.settle();
    assert_eq!(w.report(0, tag).status.errno, 0);
    w.assert_drained();
}

#[test]
fn two_sides_that_ask_for_others_do_not_wait_for_each_other() {
    // R27: whatever was known before. An answer was forged; node 0 asks for the former node 1.
    let mut w = World::met();
    w.reboot(1);
    w.hold("hello");
    w.put(1, 0, 10).unwrap();
    w.settle();
    let mut answer = forged(
        &w,
        0,
        1,
        &Message::HelloAck(HelloAck {
            session: 1,
            attempt: 1,
            version: Some(1),
            depth: 4,
            immediate_max: 100,
            features: 0,
        }),
    );
    answer.envelope.from_incarnation = lnd_core::id::Incarnation::from_raw(999).unwrap();
    w.hand(&answer);
    w.settle();
    assert_eq!(w.state(1, 0), lnd_core::peer::HelloState::Good, "the forged answer counts");
    w.put(0, 1, 10).unwrap();
    w.settle();
    w.free("hello");
    for (from, to) in [(0, 1), (1, 0)] {
        let ok = (0..3).any(|_| {
            let tag = w.put(from, to, 5000);
            w.sleep(Span::from_secs(31));
            tag.is_ok_and(|tag| w.report(from, tag).status.errno == 0)
        });
        assert!(ok, "{from} does not reach {to}");
    }
    w.assert_drained();
}

#[test]
fn s0_14_a_refuted_claim_does_not_keep_the_true_successor_out() {
    // R27. A hello is forged in the name of the incarnation that begins next, with a high session.
    // The running incarnation answers our question, and that refutes the forged hello.
    let mut w = World::met();
    let mut claim = forged(&w, 1, 0, &hello());
    claim.envelope.session = 154;
    claim.envelope.from_incarnation = w.incarnation_to_come();
    w.hand(&claim);
    w.settle();
    assert_eq!(w.state(0, 1), lnd_core::peer::HelloState::Good);
    assert_eq!(w.count(0, Counter::PeersRestarted), 0);
    w.reboot(1);
    assert_eq!(w.nodes[1].driver.identity().incarnation, claim.envelope.from_incarnation);
    let tag = w.put(1, 0, 10).unwrap();
    w.settle();
    assert_eq!(w.report(1, tag).status.errno, 0);
    assert_eq!(w.count(0, Counter::PeersRestarted), 1);
    w.assert_drained();
}

#[test]
fn a_successor_is_taken_up_with_the_session_of_its_hello() {
    // Its hello is not answered before ours has found it; then it need not say it again.
    let mut w = World::met();
    w.reboot(1);
    w.hold("hello_ack");
    let tag = w.put(1, 0, 10).unwrap();
    w.settle();
    assert_eq!(w.said(0, 1, "hello_ack"), 0, "we ask first");
    assert_eq!(w.count(0, Counter::PeersRestarted), 0);
    w.free("hello_ack");
    w.settle();
    assert_eq!(w.report(1, tag).status.errno, 0);
    assert_eq!(w.count(0, Counter::PeersRestarted), 1);
    // One asks, one begins our session with it.
    assert_eq!((w.said(0, 1, "hello"), w.said(0, 1, "hello_ack")), (2, 1));
    w.assert_drained();
}

#[test]
fn the_final_message_of_an_incarnation_ends_its_transfers() {
    // R35.
    let mut w = World::met();
    w.hold("put_req");
    let tag = w.put(0, 1, 5000).unwrap();
    w.settle();
    let close = forged(&w, 1, 0, &Message::Close);
    w.hand(&close);
    w.settle();
    expect(w.report(0, tag), Cause::PeerDown, Place::Staged, -103, HealthClass::RemoteDropped);
    assert_eq!(w.state(0, 1), lnd_core::peer::HelloState::Down);
    w.assert_drained();
}

#[test]
fn an_answer_of_the_new_incarnation_does_not_meet_a_transfer_of_the_former() {
    // R31: between the new incarnation's answer to our hello and the sweep.
    let mut w = World::met();
    w.hold("put_req");
    w.hold("get_req");
    let (put, get) = (w.put(0, 1, 5000).unwrap(), w.get(0, 1, 5000).unwrap());
    w.settle();
    w.reboot(1);
    let hello = forged(&w, 1, 0, &hello());
    w.hand(&hello);
    w.deliver();
    w.node(1).on_time();
    w.deliver();
    assert_eq!(w.state(0, 1), lnd_core::peer::HelloState::Good);
    let source = Tag { index: 0, generation: 1 };
    for message in [
        Message::PutDone { source: put, failed: None },
        Message::PutNak { source: put, why: NakReason::NoMatch },
        Message::GetNak { sink: get, why: NakReason::NoMatch },
        Message::PullReady(PullReady { sink: get, source, length: 10, key: b"forged" }),
    ] {
        let before = w.count(0, Counter::WrongAnswer);
        for link in [LINK0, LINK1] {
            let letter = forged(&w, 1, 0, &message);
            w.hand(&Letter::new(link, &letter.envelope, &message));
        }
        assert_eq!(w.count(0, Counter::WrongAnswer), before + 2, "{message:?}");
    }
    w.settle();
    expect(w.report(0, put), Cause::PeerRestarted, Place::Staged, -103, HealthClass::RemoteDropped);
    expect(w.report(0, get), Cause::PeerRestarted, Place::Answer, -5, HealthClass::RemoteError);
    w.assert_drained();
}
