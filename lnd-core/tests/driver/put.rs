// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! PUT: inline, staged and pulled, truncated, refused.

use lnd_core::counters::Counter;
use lnd_core::driver::{Kind, Role};
use lnd_core::message::NakReason;
use lnd_core::ports::{Features, Sent};
use lnd_core::time::Span;
use lnd_core::transfer::{Cause, Delivery, HealthClass, Place};

use super::device::{Deed, OnInvalidate};
use super::fabric::{Fabric, InjectedFault};
use super::node::Decision;
use super::peer_down::devices;
use super::world::{config, World, LINK1};

#[test]
fn s1_1_a_small_put_travels_inline_and_ends_with_its_completion() {
    let mut w = World::met();
    let tag = w.put(0, 1, 128).unwrap();
    w.settle_untold();
    assert!(!w.reported(0, tag), "reported before its completion (S0-2)");
    assert_eq!(w.nodes[1].done.len(), 1);
    w.settle();
    let (sent, got) = (w.report(0, tag), w.nodes[1].done[0]);
    assert_eq!((sent.role, sent.status.errno, sent.bytes), (Role::Immediate, 0, 128));
    assert_eq!((got.role, got.status.errno, got.bytes), (Role::InlineSink, 0, 128));
    w.assert_drained();
}

/// S0-4: however it ended, it is not sent again.
#[test]
fn s0_2_a_message_may_have_ended_when_the_channel_has_taken_it() {
    let failed = |sent| Some(InjectedFault::Lost(sent));
    for (injected, errno, delivery) in [
        (None, 0, Delivery::Delivered),
        (failed(Sent::NotDelivered), -5, Delivery::NotDelivered),
        (failed(Sent::Unknown), -5, Delivery::Unknown),
    ] {
        let mut w = World::met();
        w.fabric.borrow_mut().ends_at_once = true;
        if let Some(injected) = injected {
            w.injected("immediate", injected);
        }
        let tag = w.put(0, 1, 128).unwrap();
        // No message tells any more.
        w.settle_untold();
        let status = w.report(0, tag).status;
        assert_eq!((status.errno, status.delivery), (errno, delivery), "{injected:?}");
        assert!(w.fabric.borrow().endings.is_empty());
        assert_eq!(w.said(0, 1, "immediate"), 1, "{injected:?}");
        w.settle();
        assert_eq!(w.nodes[1].done.len(), usize::from(injected.is_none()));
        assert_eq!(w.count(0, Counter::StaleCompletion), 0);
        w.assert_drained();
    }
}

#[test]
fn a_staged_put_whose_request_failed_is_asked_back_whenever_that_is_known() {
    let ends = [false, true].map(|at_once| {
        let mut w = World::met();
        w.fabric.borrow_mut().ends_at_once = at_once;
        w.injected("put_req", InjectedFault::Lost(Sent::NotDelivered));
        let tag = w.put(0, 1, 5000).unwrap();
        w.settle();
        assert_eq!(w.count(0, Counter::Invalidated), 1);
        w.assert_drained();
        w.report(0, tag).status
    });
    assert_eq!(ends[0], ends[1]);
    assert_eq!(ends[0].delivery, Delivery::NotDelivered);
}

/// S3-1: the source is staged and announced to its device before the request leaves.
#[test]
fn s3_5_a_large_put_is_staged_then_requested_then_pulled() {
    let mut w = World::met();
    w.hold("put_req");
    let tag = w.put(0, 1, 5000).unwrap();
    // INV-7: staged and announced to the device before the message leaves.
    assert_eq!(w.device(0, 0, |d| d.posted.len()) + w.device(0, 1, |d| d.posted.len()), 1);
    assert!(w.fabric.borrow().devices.values().all(|d| d.posted.values().all(|b| b.rung)));
    w.settle();
    assert!(!w.reported(0, tag));
    w.free("put_req");
    w.settle();
    let (sent, got) = (w.report(0, tag), w.nodes[1].done[0]);
    assert_eq!((sent.role, sent.status.errno, sent.bytes), (Role::PutSource, 0, 5000));
    assert_eq!((got.role, got.status.errno, got.bytes), (Role::PutSink, 0, 5000));
    // S3-4: the engines tell both sides; neither sends a PUT_DONE.
    assert_eq!(w.said(1, 0, "put_done"), 0);
    w.assert_drained();
}

#[test]
fn a_put_may_be_taken_in_part() {
    for (length, taken) in [(5000, 1234), (5000, 1), (100, 60), (100, 1)] {
        let mut w = World::met();
        w.node(1).put = Decision::UpTo(taken);
        w.node(1).inline = Decision::UpTo(taken);
        let tag = w.put(0, 1, length).unwrap();
        w.settle();
        assert_eq!(w.report(0, tag).status.errno, 0);
        let got = w.nodes[1].done[0];
        assert_eq!((got.status.errno, got.bytes), (0, taken));
        w.assert_drained();
    }
}

#[test]
fn s1_3_a_put_of_which_nothing_is_wanted_still_ends_ok() {
    for length in [5000, 100, 0] {
        let mut w = World::met();
        w.node(1).put = Decision::UpTo(0);
        w.node(1).inline = Decision::UpTo(0);
        let tag = w.put(0, 1, length).unwrap();
        w.settle();
        assert_eq!(w.report(0, tag).status.errno, 0);
        assert_eq!((w.nodes[1].done[0].status.errno, w.nodes[1].done[0].bytes), (0, 0));
        w.assert_drained();
    }
}

/// S1-3: the sender is told of the refusal.
#[test]
fn s1_5_a_refused_put_is_told_and_drained() {
    let mut w = World::met();
    w.node(1).put = Decision::Refuse(NakReason::NoMatch);
    let tag = w.put(0, 1, 5000).unwrap();
    w.settle();
    assert_eq!(w.said(1, 0, "put_nak"), 1);
    let status = w.report(0, tag).status;
    assert_eq!((status.errno, status.health), (-121, HealthClass::RemoteError));
    assert_eq!(status.delivery, Delivery::NotDelivered);
    assert_eq!(status.evidence, Some((Cause::Refused, Place::Staged)));
    assert!(w.nodes[1].done.is_empty(), "a refused request is not reported to the refuser");
    w.assert_drained();
}

#[test]
fn a_refused_inline_put_is_dropped_silently() {
    let mut w = World::met();
    w.node(1).inline = Decision::Refuse(NakReason::NoMatch);
    let tag = w.put(0, 1, 50).unwrap();
    w.settle();
    assert_eq!(w.report(0, tag).status.errno, 0);
    assert_eq!(w.said(1, 0, "put_nak"), 0);
    w.assert_drained();
}

/// S1-10: inline where they fit.
#[test]
fn ack_and_reply_travel_like_puts() {
    let mut w = World::met();
    let ack = w.submit(Kind::Ack, 0, 1, 0).unwrap();
    let reply = w.submit(Kind::Reply, 0, 1, 5000).unwrap();
    w.settle();
    assert_eq!(w.report(0, ack).role, Role::Immediate);
    assert_eq!(w.report(0, reply).role, Role::PutSource);
    assert!(w.nodes[1].done.iter().all(|r| r.status.errno == 0));
    w.assert_drained();
}

#[test]
fn a_put_of_256_fragments_arrives_whole() {
    let mut w = World::met();
    (w.node(0).pieces, w.node(1).pieces) = (256, 100);
    let tag = w.put(0, 1, 10_007).unwrap();
    w.settle();
    assert_eq!(w.report(0, tag).bytes, 10_007);
    assert_eq!(w.nodes[1].done[0].bytes, 10_007);
    // Inline payload is gathered and scattered too.
    let tag = w.put(0, 1, 100).unwrap();
    w.settle();
    assert_eq!(w.report(0, tag).role, Role::Immediate);
    assert_eq!(w.nodes[1].done[1].bytes, 100);
    w.assert_drained();
}

#[test]
fn a_payload_the_peer_cannot_take_inline_is_staged_instead() {
    // Before the hello was answered the sender knows only its own bound.
    let mut w = World::new(2);
    w.node(0).pieces = 3;
    w.fabric.borrow_mut().immediate_max = 64;
    let mut large = config();
    large.immediate_max = 4096;
    w.nodes[0] = super::node::Node::boot(&w.fabric, 0, 50, large, w.now);
    w.fabric.borrow_mut().immediate_max = 4096;
    w.tick();
    let tag = w.put(0, 1, 1000).unwrap();
    w.settle();
    assert_eq!((w.report(0, tag).role, w.report(0, tag).status.errno), (Role::PutSource, 0));
    assert_eq!(w.nodes[1].done[0].bytes, 1000);
    w.assert_drained();
}

#[test]
fn without_remote_completion_the_puller_says_put_done() {
    for (silent, pulled) in [(0, 5000), (1, 5000), (0, 0)] {
        let mut fabric = Fabric::new(2, 2);
        for link in 0..2 {
            fabric.device(silent, link).features &= !Features::REMOTE_COMPLETION.0;
        }
        let mut w = World::on(fabric, 2, config());
        w.node(1).put = Decision::UpTo(pulled);
        let tag = w.put(0, 1, 5000).unwrap();
        w.settle();
        assert_eq!(w.said(1, 0, "put_done"), 1, "node {silent}");
        let sent = w.report(0, tag);
        assert_eq!((sent.status.errno, sent.lost_race), (0, false));
        assert_eq!(w.nodes[1].done[0].bytes, pulled);
        assert_eq!(w.count(0, Counter::LostRaces), 0);
        w.assert_drained();
    }
}

#[test]
fn a_failed_pull_is_told_where_engines_do_not_tell() {
    let mut fabric = Fabric::new(2, 2);
    fabric.device(0, 0).features = 0;
    fabric.device(0, 1).features = 0;
    let mut w = World::on(fabric, 2, config());
    w.notify_link(0, LINK1, false);
    let tag = w.put(0, 1, 5000).unwrap();
    w.hold("put_req");
    w.settle();
    w.device(1, 0, |d| d.refuse_posts = 1);
    w.free("put_req");
    w.settle();
    assert_eq!(w.said(1, 0, "put_done"), 1);
    assert_eq!(w.report(0, tag).status.evidence, Some((Cause::Refused, Place::Staged)));
    assert_eq!(w.nodes[1].done[0].status.errno, -14);
    w.assert_drained();
}

#[test]
fn a_pull_that_fails_is_told_to_the_staging_side() {
    // The source does not wait out its deadline for a pull that will never come.
    let mut w = World::met();
    w.hold("put_req");
    let tag = w.put(0, 1, 5000).unwrap();
    w.settle();
    w.device(1, 0, |d| d.refuse_posts = 1);
    w.device(1, 1, |d| d.refuse_posts = 1);
    w.free("put_req");
    w.settle();
    assert_eq!(w.nodes[1].done[0].status.errno, -14);
    let status = w.report(0, tag).status;
    assert_eq!((status.errno, status.delivery), (-121, Delivery::NotDelivered));
    w.assert_drained();
}

/// S0-3: a failed completion is an ordinary completion.
/// S0-18: the status says what is known of delivery.
#[test]
fn r7_message_outcomes_decide_what_is_known() {
    // (what becomes of an inline message) -> (errno, class, delivery)
    let cases = [
        (
            InjectedFault::Lost(Sent::NotDelivered),
            -5,
            HealthClass::RemoteDropped,
            Delivery::NotDelivered,
        ),
        (InjectedFault::Lost(Sent::Unknown), -5, HealthClass::NetworkTimeout, Delivery::Unknown),
        (InjectedFault::DeliveredUnknown, -5, HealthClass::NetworkTimeout, Delivery::Unknown),
        // S0-4: the channel has done its part, no side tracks delivery.
        (InjectedFault::Lost(Sent::Ok), 0, HealthClass::Ok, Delivery::Delivered),
    ];
    for (injected, errno, health, delivery) in cases {
        let mut w = World::met();
        w.injected("immediate", injected);
        let tag = w.put(0, 1, 50).unwrap();
        w.settle();
        let status = w.report(0, tag).status;
        assert_eq!((status.errno, status.health, status.delivery), (errno, health, delivery));
        w.assert_drained();
    }
}

#[test]
fn a_put_req_whose_message_failed_gets_its_descriptor_back() {
    let mut w = World::met();
    w.injected("put_req", InjectedFault::Lost(Sent::NotDelivered));
    let tag = w.put(0, 1, 5000).unwrap();
    w.settle();
    let status = w.report(0, tag).status;
    assert_eq!(status.evidence, Some((Cause::Channel, Place::Staged)));
    assert_eq!(status.delivery, Delivery::NotDelivered);
    w.assert_drained();
}

/// S1-4: the answer, here the pull, says that the request has arrived.
#[test]
fn a_pull_proves_that_a_message_called_lost_had_arrived() {
    let mut w = World::met();
    w.injected("put_req", InjectedFault::DeliveredUnknown);
    for node in 0..2 {
        devices(&w, node, true, OnInvalidate::Wins);
    }
    let tag = w.put(0, 1, 5000).unwrap();
    // The descriptor is invalidated, and the pull wins.
    w.settle();
    assert_eq!(w.count(0, Counter::Invalidated), 1);
    for node in 0..2 {
        devices(&w, node, false, OnInvalidate::Wins);
    }
    let deeds = w.fabric.borrow().deeds();
    let &(node, link, index, deed) = deeds.iter().find(|d| d.3 == Deed::Move).unwrap();
    w.fabric.borrow_mut().act(node, link, index, deed);
    w.settle();
    let report = w.report(0, tag);
    assert_eq!((report.status.errno, report.lost_race), (0, true));
    w.assert_drained();
}

#[test]
fn a_broken_promise_of_room_is_a_local_failure() {
    for (kind, length) in [("immediate", 50), ("put_req", 5000)] {
        let mut w = World::met();
        w.injected(kind, InjectedFault::Full);
        let tag = w.put(0, 1, length).unwrap();
        w.settle();
        let status = w.report(0, tag).status;
        assert_eq!((status.errno, status.delivery), (-5, Delivery::NotDelivered), "{kind}");
        assert_eq!(w.count(0, Counter::SendFailed), 1);
        w.sleep(Span::from_secs(1));
        w.assert_drained();
    }
}

#[test]
fn a_post_the_engine_refuses_is_a_local_failure() {
    let mut w = World::met();
    for link in 0..2 {
        w.device(0, link, |d| d.refuse_posts = 1);
    }
    let tag = w.put(0, 1, 5000).unwrap();
    w.settle();
    assert_eq!(w.report(0, tag).status.errno, -14);
    assert_eq!((w.count(0, Counter::PostFailed), w.said(0, 1, "put_req")), (1, 0));
    w.assert_drained();
}
