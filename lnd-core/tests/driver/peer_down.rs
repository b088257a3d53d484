// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A peer goes down while it has transfers in every place (S0-15 to S0-19, S0-22).

use std::collections::BTreeSet;

use lnd_core::counters::Counter;
use lnd_core::driver::{Kind, Report, Why};
use lnd_core::id::Tag;
use lnd_core::peer::HelloState;
use lnd_core::ports::Sent;
use lnd_core::time::Span;
use lnd_core::transfer::{Cause, Delivery, HealthClass, Place};

use super::device::OnInvalidate;
use super::fabric::{nid, InjectedFault};
use super::hello::{forged, hello};
use super::node::Decision;
use super::world::{config, World};

/// Sets how both devices of a node answer an invalidation, and whether they do anything else.
pub fn devices(w: &World, node: usize, frozen: bool, on_invalidate: OnInvalidate) {
    for link in 0..2 {
        w.device(node, link, |d| (d.frozen, d.on_invalidate) = (frozen, on_invalidate));
    }
}

pub fn expect(report: Report, cause: Cause, place: Place, errno: i32, health: HealthClass) {
    let status = report.status;
    assert_eq!(status.evidence, Some((cause, place)), "{report:?}");
    assert_eq!((status.errno, status.health), (errno, health), "{report:?}");
    let unknown = matches!(place, Place::Answer | Place::Moving);
    let delivery = if unknown { Delivery::Unknown } else { Delivery::NotDelivered };
    assert_eq!((status.delivery, status.resend), (delivery, !unknown), "S0-18");
}

#[test]
fn in_the_queue_it_never_left() {
    let mut w = World::new(2);
    w.hold("hello");
    let tag = w.put(0, 1, 50).unwrap();
    w.settle();
    w.notify_peer(0, 1, false);
    assert!(!w.reported(0, tag), "cancellation is on_time's work (INV-13)");
    w.settle();
    expect(w.report(0, tag), Cause::PeerDown, Place::Queue, -112, HealthClass::RemoteDropped);
    w.assert_drained();
}

#[test]
fn s0_1_a_message_in_flight_is_left_alone_until_its_completion() {
    for (injected, errno, place) in [
        (None, 0, None),
        (Some(InjectedFault::Lost(Sent::NotDelivered)), -112, Some(Place::Message)),
        (Some(InjectedFault::Lost(Sent::Unknown)), -5, Some(Place::Answer)),
    ] {
        let mut w = World::met();
        if let Some(injected) = injected {
            w.injected("immediate", injected);
        }
        let tag = w.put(0, 1, 50).unwrap();
        w.settle_untold();
        w.notify_peer(0, 1, false);
        w.settle_untold();
        assert!(!w.reported(0, tag), "INV-5: the slot lives until the completion");
        assert_eq!(w.nodes[0].driver.in_use().0, 1);
        w.settle();
        let report = w.report(0, tag);
        assert_eq!(report.status.errno, errno);
        assert_eq!(report.status.evidence.map(|e| e.1), place);
        assert_eq!(report.lost_race, errno == 0);
        w.assert_drained();
    }
}

#[test]
fn the_wait_for_an_answer_ends_at_once() {
    let mut w = World::met();
    w.hold("get_req");
    let tag = w.get(0, 1, 5000).unwrap();
    w.settle();
    w.notify_peer(0, 1, false);
    w.settle();
    expect(w.report(0, tag), Cause::PeerDown, Place::Answer, -5, HealthClass::RemoteError);
    // The answer that comes all the same is dropped (INV-6).
    w.free("get_req");
    w.settle();
    assert_eq!(w.count(0, Counter::Early), 1);
    w.sleep(Span::from_secs(30));
    w.assert_drained();
}

/// S0-15, and the transmit half of S0-8.
#[test]
fn s0_17_a_staged_descriptor_is_invalidated_and_ends_by_what_is_known() {
    for (on_invalidate, place, errno, health) in [
        (OnInvalidate::Honest, Place::Staged, -103, HealthClass::RemoteDropped),
        (OnInvalidate::Touched, Place::Moving, -5, HealthClass::RemoteError),
    ] {
        let mut w = World::met();
        w.hold("put_req");
        let tag = w.put(0, 1, 5000).unwrap();
        w.settle();
        devices(&w, 0, true, on_invalidate);
        w.notify_peer(0, 1, false);
        w.settle();
        assert!(!w.reported(0, tag), "finalized before the descriptor was back (S0-7)");
        assert_eq!(w.count(0, Counter::Invalidated), 1);
        devices(&w, 0, false, on_invalidate);
        w.settle();
        expect(w.report(0, tag), Cause::PeerDown, place, errno, health);
        w.assert_drained();
    }
}

#[test]
fn s0_16_one_that_comes_back_ok_lost_the_race_and_is_ok() {
    let mut w = World::met();
    devices(&w, 1, true, OnInvalidate::Wins);
    let tag = w.put(0, 1, 5000).unwrap();
    w.settle();
    w.notify_peer(1, 0, false);
    w.settle();
    assert_eq!(w.count(1, Counter::Invalidated), 1);
    devices(&w, 1, false, OnInvalidate::Wins);
    w.settle();
    let got = w.nodes[1].done[0];
    assert_eq!((got.status.errno, got.bytes, got.lost_race), (0, 5000, true));
    assert_eq!(w.count(1, Counter::LostRaces), 1);
    assert_eq!(w.report(0, tag).status.errno, 0);
    w.assert_drained();
}

/// The receive half of S0-8.
#[test]
fn s0_19_a_pull_is_invalidated_like_a_stage() {
    for (get, on_invalidate, place, errno, health) in [
        (false, OnInvalidate::Honest, Place::Staged, -103, HealthClass::RemoteDropped),
        (false, OnInvalidate::Touched, Place::Moving, -5, HealthClass::RemoteError),
        (true, OnInvalidate::Honest, Place::Staged, -103, HealthClass::RemoteDropped),
        (true, OnInvalidate::Touched, Place::Moving, -5, HealthClass::RemoteError),
    ] {
        let mut w = World::met();
        let (puller, source) = if get { (0, 1) } else { (1, 0) };
        devices(&w, puller, true, on_invalidate);
        let tag = if get { w.get(0, 1, 5000) } else { w.put(0, 1, 5000) }.unwrap();
        w.settle();
        w.notify_peer(puller, source, false);
        w.settle();
        assert!(w.nodes[puller].done.is_empty());
        devices(&w, puller, false, on_invalidate);
        w.settle();
        let report = w.nodes[puller].done[0];
        expect(report, Cause::PeerDown, place, errno, health);
        assert_eq!(report.reply, get);
        // The other side knows nothing of it yet; its own deadline ends it (INV-9).
        assert_eq!(w.nodes[source].open(), 1);
        w.sleep(Span::from_secs(30));
        assert_eq!(w.nodes[source].done[0].status.errno, -110);
        let _ = tag;
        w.assert_drained();
    }
}

#[test]
fn the_targets_stage_of_a_get_is_invalidated_too() {
    let mut w = World::met();
    w.hold("pull_ready");
    let tag = w.get(0, 1, 5000).unwrap();
    w.settle();
    w.notify_peer(1, 0, false);
    w.settle();
    let gave = w.nodes[1].done[0];
    expect(gave, Cause::PeerDown, Place::Staged, -103, HealthClass::RemoteDropped);
    w.free("pull_ready");
    w.settle();
    // The pull finds nothing to pull from.
    assert_eq!(w.report(0, tag).status.errno, -103);
    w.assert_drained();
}

#[test]
fn requests_of_a_peer_that_went_down_are_gone() {
    let mut w = World::met();
    (w.node(1).put, w.node(1).get, w.node(1).inline) =
        (Decision::Keep, Decision::Keep, Decision::Keep);
    for (kind, length) in [(Kind::Put, 5000), (Kind::Get, 5000), (Kind::Put, 10)] {
        w.submit(kind, 0, 1, length).unwrap();
    }
    w.settle();
    assert_eq!(w.nodes[1].driver.in_use(), (0, 3));
    w.notify_peer(1, 0, false);
    w.settle();
    assert_eq!(w.nodes[1].driver.in_use(), (0, 0));
    for _ in 0..3 {
        assert_eq!(w.node(1).answer_kept(100).unwrap_err(), None, "not gone");
    }
    assert!(w.nodes[1].done.is_empty(), "a request without a decision is not reported");
    w.sleep(Span::from_secs(30));
    w.assert_drained();
}

#[test]
fn a_decision_between_the_notice_and_the_sweep_ends_like_the_rest() {
    let mut w = World::met();
    (w.node(1).put, w.node(1).get) = (Decision::Keep, Decision::Keep);
    w.put(0, 1, 5000).unwrap();
    w.get(0, 1, 5000).unwrap();
    w.settle();
    w.notify_peer(1, 0, false);
    for _ in 0..2 {
        let tag = w.node(1).answer_kept(9999).unwrap();
        w.node(1).fetch();
        expect(w.report(1, tag), Cause::PeerDown, Place::Queue, -112, HealthClass::RemoteDropped);
    }
    assert_eq!(w.device(1, 0, |d| d.calls.posts) + w.device(1, 1, |d| d.calls.posts), 0);
    w.sleep(Span::from_secs(30));
    w.assert_drained();
}

#[test]
fn s0_22_an_interrupt_may_bring_the_notice() {
    let mut w = World::met();
    w.hold("put_req");
    let tag = w.put(0, 1, 5000).unwrap();
    w.settle();
    let peer = w.peer(0, 1).unwrap();
    w.nodes[0].driver.irq_handle().peer_down(peer);
    assert_eq!(w.state(0, 1), HelloState::Down);
    w.settle();
    expect(w.report(0, tag), Cause::PeerDown, Place::Staged, -103, HealthClass::RemoteDropped);
    w.assert_drained();
}

#[test]
fn a_peer_that_is_back_before_the_sweep_has_lost_its_transfers_all_the_same() {
    for way in ["hello", "up", "interrupt"] {
        let mut w = World::met();
        w.hold("put_req");
        w.node(1).put = Decision::Keep;
        let tag = w.put(0, 1, 5000).unwrap();
        w.settle();
        let peer = w.peer(0, 1).unwrap();
        if way == "interrupt" {
            w.nodes[0].driver.irq_handle().peer_down(peer);
            assert_eq!(w.put(0, 1, 10).unwrap_err(), Why::PeerDown);
        } else {
            w.notify_peer(0, 1, false);
        }
        if way == "up" {
            w.notify_peer(0, 1, true);
        } else {
            let hello = forged(&w, 1, 0, &hello());
            w.hand(&hello);
        }
        assert_ne!(w.state(0, 1), HelloState::Down, "{way}");
        w.settle();
        let status = w.report(0, tag).status;
        assert_eq!((status.errno, status.health), (-103, HealthClass::RemoteDropped), "{way}");
        w.free("put_req");
        let next = w.put(0, 1, 10).unwrap();
        w.settle();
        assert_eq!(w.report(0, next).status.errno, 0, "{way}");
        w.sleep(w.config.decision_bound);
        w.assert_drained();
    }
}

#[test]
fn an_invalidated_pull_has_been_announced_to_the_device() {
    // The decision posts a pull and the peer goes down before the batch's doorbell.
    let mut w = World::met();
    w.node(1).put = Decision::Keep;
    w.put(0, 1, 5000).unwrap();
    w.settle();
    let tag = w.node(1).answer_kept(5000).unwrap();
    w.notify_peer(1, 0, false);
    w.settle();
    expect(w.report(1, tag), Cause::PeerDown, Place::Staged, -103, HealthClass::RemoteDropped);
    w.sleep(Span::from_secs(30));
    w.assert_drained();
}

#[test]
fn peers_other_than_the_one_that_is_down_go_on() {
    let mut w = World::new(3);
    for to in [1, 2] {
        w.put(0, to, 0).unwrap();
    }
    w.settle();
    w.hold("put_req");
    let (a, b) = (w.put(0, 1, 5000).unwrap(), w.put(0, 2, 5000).unwrap());
    w.settle();
    w.notify_peer(0, 1, false);
    w.settle();
    assert_eq!(w.report(0, a).status.errno, -103);
    assert!(!w.reported(0, b));
    assert_eq!(w.count(0, Counter::Invalidated), 1);
    w.free("put_req");
    w.settle();
    assert_eq!(w.report(0, b).status.errno, 0);
    w.assert_drained();
}

#[test]
fn ten_thousand_transfers_of_a_lost_peer_cost_one_bounded_sweep() {
    let mut many = config();
    (many.slots, many.passive_slots, many.lists, many.depth) = (10_240, 64, 0, 32);
    let mut w = World::with(3, many);
    for to in [1, 2] {
        w.put(0, to, 0).unwrap();
    }
    w.settle();
    w.nodes.iter_mut().for_each(|n| n.audits = false);
    w.node(0).done.clear();
    w.node(2).put = Decision::UpTo(0);
    w.hold("put_req");
    let tags: Vec<Tag> = (0..10_000).map(|_| lend(&mut w, 1)).collect();
    let other = lend(&mut w, 2);
    w.settle();
    // The credit of the first message has not been told yet.
    assert_eq!(w.count(0, Counter::Posted), 31 + 1);
    w.notify_peer(0, 1, false);
    let mut calls = 0;
    let mut most = 0;
    loop {
        let before = w.nodes[0].driver.tracer_mut().0.len();
        let more = w.node(0).on_time() == Some(w.now);
        most = most.max(w.nodes[0].driver.tracer_mut().0.len() - before);
        calls += 1;
        if !more {
            break;
        }
    }
    // Linear in the table, and each call bounded by the batch: a few traces a slot.
    assert!(calls <= 10_240 / many.batch + 2, "{calls} calls");
    assert!(most <= 4 * many.batch as usize, "{most} events in one call");
    w.settle();
    assert_eq!(w.nodes[0].driver.audit(), Ok(()));
    assert_eq!(w.count(0, Counter::Invalidated), 31);
    let ended: BTreeSet<Tag> = w.nodes[0].done.iter().map(|r| r.tag).collect();
    assert_eq!(w.nodes[0].done.len(), 10_000, "each once (INV-1)");
    assert!(tags.iter().all(|tag| ended.contains(tag)));
    w.free("put_req");
    w.settle();
    assert_eq!(w.report(0, other).status.errno, 0);
    w.assert_drained();
}

/// A PUT out of one buffer that all such PUTs share.
fn lend(w: &mut World, to: usize) -> Tag {
    let fragment = lnd_core::fragment::Fragment::new(super::fabric::BASE, 4000);
    let (user, now) = (w.id(), w.now);
    let header = user.to_le_bytes();
    let request = lnd_core::driver::Request {
        kind: Kind::Put,
        peer: nid(to).into(),
        link: None,
        routed: false,
        header: &header,
        payload: &[fragment],
        deadline: now.after(Span::from_secs(100)),
        user,
    };
    let node = w.node(0);
    let tag = node.driver.submit(now, request).unwrap().tag().unwrap();
    node.accept(tag, user, Vec::new(), None);
    tag
}

#[test]
fn lu16214_a_request_of_a_peer_that_is_down_waits_until_it_is_admitted_again() {
    // Only one side has heard of the failure: the other goes on, must be told, and loses nothing.
    for interrupt in [false, true] {
        let mut w = World::met();
        if interrupt {
            let peer = w.peer(0, 1).unwrap();
            w.nodes[0].driver.irq_handle().peer_down(peer);
        } else {
            w.notify_peer(0, 1, false);
        }
        w.settle();
        let (hellos, answer) = (w.said(0, 1, "hello"), ["hello_ack", "hello"]);
        answer.iter().for_each(|kind| w.hold(kind));
        let tags = [w.put(1, 0, 5000).unwrap(), w.put(1, 0, 10).unwrap()];
        w.settle();
        // S0-13: not taken in before the peer has answered.
        assert_eq!((w.nodes[0].done.len(), w.state(0, 1)), (0, HelloState::Handshake));
        assert_eq!((w.count(0, Counter::Early), w.count(0, Counter::PeersDown)), (0, 1));
        assert_eq!(w.said(0, 1, "hello"), hellos + 1);
        answer.iter().for_each(|kind| w.free(kind));
        w.settle();
        assert_eq!((w.nodes[0].done.len(), w.state(0, 1)), (2, HelloState::Good));
        assert!(tags.iter().all(|&tag| w.report(1, tag).status.errno == 0));
        w.assert_deliveries();
        w.assert_drained();
    }
}
