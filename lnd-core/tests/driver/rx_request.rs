// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Peers' requests and the upper layer's decisions on them (S3-8 to S3-10).

use lnd_core::config::Config;
use lnd_core::counters::Counter;
use lnd_core::driver::{Kind, Receive, RecvError, RequestKind, Why};
use lnd_core::fragment::Fragment;
use lnd_core::id::Tag;
use lnd_core::message::NakReason;
use lnd_core::time::{Instant, Span};
use lnd_core::transfer::{Cause, Delivery, Place};

use super::fabric::BASE;
use super::node::{Decision, Order};
use super::world::{config, World};

#[test]
fn a_request_that_finds_no_slot_waits_in_the_channel() {
    let small = Config { slots: 4, passive_slots: 2, lists: 1, ..config() };
    let mut w = World::met_with(small);
    (w.node(1).put, w.node(1).inline) = (Decision::Keep, Decision::Keep);
    // Two of ours and two tickets fill node 1's table.
    w.hold("put_req");
    for _ in 0..2 {
        w.put(1, 0, 5000).unwrap();
    }
    w.settle();
    assert_eq!(w.put(1, 0, 10).unwrap_err(), Why::NoSlots);
    let tags: Vec<Tag> = (0..2).map(|_| w.put(0, 1, 10).unwrap()).collect();
    w.settle();
    let third = w.put(0, 1, 10).unwrap();
    w.settle();
    assert_eq!(w.nodes[1].driver.in_use(), (2, 2));
    assert!(w.count(1, Counter::Waited) >= 1);
    assert_eq!(w.nodes[1].kept.len(), 2);
    // Nothing was changed: it is no duplicate when it is offered again (INV-11).
    w.node(1).answer_kept(0).unwrap();
    w.settle();
    assert_eq!(w.nodes[1].kept.len(), 2);
    assert_eq!(w.count(1, Counter::Duplicate), 0);
    while !w.nodes[1].kept.is_empty() {
        w.node(1).answer_kept(0).unwrap();
        w.settle();
    }
    w.free("put_req");
    w.settle();
    assert!(tags.iter().chain([&third]).all(|&t| w.report(0, t).status.errno == 0));
    w.assert_drained();
}

/// S3-8: each kind of request reaches the upper layer's parse, once and with its header. S3-7: a
/// control message does not, and takes no slot.
#[test]
fn s3_8_requests_are_parsed_and_control_messages_are_not() {
    use lnd_core::driver::RequestKind::{Get, Immediate, Put};
    let mut w = World::met();
    for node in 0..2 {
        let node = w.node(node);
        (node.put, node.get, node.inline) = (Decision::Keep, Decision::Keep, Decision::Keep);
    }
    let id = w.id();
    w.put(0, 1, 100).unwrap();
    w.put(0, 1, 5000).unwrap();
    w.get(0, 1, 5000).unwrap();
    w.settle();
    let kept = |w: &World, node: usize| -> Vec<(u64, RequestKind)> {
        w.nodes[node].kept.iter().map(|kept| (kept.id, kept.rx_request.kind())).collect()
    };
    let mut parsed = kept(&w, 1);
    parsed.sort_by_key(|it| it.0);
    assert_eq!(parsed, [(id + 1, Immediate), (id + 2, Put), (id + 3, Get)]);
    while let Some((_, kind)) = kept(&w, 1).first() {
        // The payload that came along went with its frame.
        w.node(1).answer_kept(if *kind == Immediate { 0 } else { 5000 }).unwrap();
    }
    w.settle();
    assert_eq!((w.said(1, 0, "pull_ready"), w.count(0, Counter::Requests)), (1, 0));
    assert_eq!(kept(&w, 0), []);
    assert!(w.nodes[0].done.iter().all(|report| report.status.errno == 0));
    w.assert_drained();
}

/// S3-10: what the request has occupied is the peer's again when `recv` has returned; the pull may
/// take as long as it likes.
#[test]
fn s3_10_a_request_holds_its_buffer_until_recv_has_returned() {
    let mut w = World::met_with(Config { depth: 2, ..config() });
    w.node(1).put = Decision::Keep;
    let first = [w.put(0, 1, 5000).unwrap(), w.put(0, 1, 5000).unwrap()];
    w.settle();
    let third = w.put(0, 1, 5000).unwrap();
    w.settle();
    assert_eq!(w.nodes[1].kept.len(), 2, "both buffers are held until the decisions");
    for link in 0..2 {
        w.device(1, link, |d| d.frozen = true);
    }
    for _ in 0..2 {
        w.node(1).answer_kept(5000).unwrap();
    }
    w.settle();
    assert!(first.iter().all(|&tag| !w.reported(0, tag)), "their pulls are under way");
    assert_eq!(w.nodes[1].kept.len(), 1, "the third has come");
    for link in 0..2 {
        w.device(1, link, |d| d.frozen = false);
    }
    w.node(1).answer_kept(5000).unwrap();
    w.settle();
    assert!(first.iter().chain([&third]).all(|&tag| w.report(0, tag).status.errno == 0));
    w.assert_drained();
}

#[test]
fn a_forgotten_request_is_taken_back_and_a_late_decision_finds_it_gone() {
    let mut w = World::met();
    (w.node(1).put, w.node(1).get) = (Decision::Keep, Decision::Keep);
    w.put(0, 1, 5000).unwrap();
    w.get(0, 1, 5000).unwrap();
    w.put(0, 1, 5000).unwrap();
    w.settle();
    w.sleep(w.config.decision_bound);
    assert_eq!(w.nodes[1].driver.in_use(), (0, 0));
    assert_eq!(w.count(1, Counter::DecisionLate), 3);
    for _ in 0..2 {
        assert_eq!(w.node(1).answer_kept(5000).unwrap_err(), None);
    }
    let kept = w.node(1).kept.remove(0);
    let now = w.now;
    w.node(1).driver.nak(now, kept.rx_request, NakReason::NoMatch);
    assert_eq!(w.count(1, Counter::DecisionLate), 6);
    assert_eq!((w.said(1, 0, "put_nak"), w.said(1, 0, "get_nak")), (2, 1), "once, at the bound");
    assert_eq!(w.nodes[1].done.len(), 0);
    w.settle();
    w.assert_drained();
}

/// INV-11, decision 0061: the sender of a request that is not decided in time has more time than
/// that. It is told, and does not wait for its own deadline.
#[test]
fn inv_11_a_request_that_is_not_decided_in_time_is_refused() {
    for kind in [Kind::Put, Kind::Get] {
        for end in [Decision::Keep, Decision::Forget] {
            let mut w = World::met();
            (w.node(1).put, w.node(1).get) = (end, end);
            let order = Order { deadline: Instant::NEVER, ..w.order(kind, 1, 5000) };
            let tag = w.send(0, order).unwrap();
            w.settle();
            w.sleep(w.config.decision_bound);
            let status = w.report(0, tag).status;
            let place = if kind == Kind::Put { Place::Staged } else { Place::Answer };
            assert_eq!(status.evidence, Some((Cause::Refused, place)), "{kind:?}");
            assert_eq!(status.delivery, Delivery::NotDelivered);
            assert_eq!(w.count(1, Counter::DecisionLate), 1);
            w.assert_drained();
        }
    }
}

#[test]
fn a_late_decision_does_not_hit_the_slots_next_user() {
    let small = Config { slots: 2, passive_slots: 1, lists: 0, ..config() };
    let mut w = World::met_with(small);
    w.node(1).put = Decision::Keep;
    let old = w.put(0, 1, 5000).unwrap();
    w.settle();
    w.sleep(w.config.decision_bound);
    assert_eq!(w.report(0, old).status.errno, -110);
    let new = w.put(0, 1, 5000).unwrap();
    w.settle();
    let indexes: Vec<u32> = w.nodes[1].kept.iter().map(|k| k.rx_request.tag().index).collect();
    assert_eq!(w.node(1).answer_kept(5000).unwrap_err(), None);
    assert!(!w.reported(0, new), "{indexes:?}");
    w.node(1).answer_kept(5000).unwrap();
    w.settle();
    assert_eq!(w.report(0, new).status.errno, 0);
    w.assert_drained();
}

#[test]
fn refused_buffers_give_the_request_back() {
    let mut w = World::met();
    w.node(1).pieces = 2;
    (w.node(1).put, w.node(1).get, w.node(1).inline) =
        (Decision::Keep, Decision::Keep, Decision::Keep);
    w.put(0, 1, 5000).unwrap();
    w.get(0, 1, 5000).unwrap();
    w.settle();
    let used = w.nodes[1].driver.in_use();
    let (now, user) = (w.now, 1);
    let deadline = now.after(Span::from_secs(1));
    let node = w.node(1);
    for (sink, length, why) in [
        (vec![Fragment::new(BASE, 100)], 101, Why::TooLong),
        (vec![Fragment::new(BASE, 6000)], 5001, Why::TooLong),
        (vec![Fragment::new(1, 6000)], 5000, Why::BadAddress),
        (vec![Fragment::new(BASE, 0)], 0, why_empty()),
    ] {
        let kept = node.kept.remove(0);
        let it = Receive { sink: &sink, length, deadline, user };
        let Err(RecvError::Refused(rx_request, got)) = node.driver.recv(now, kept.rx_request, &it)
        else {
            panic!("taken");
        };
        assert_eq!((got, rx_request.kind()), (why, RequestKind::Put));
        node.kept.insert(0, super::node::Kept { rx_request, id: kept.id });
        node.check();
        assert_eq!(node.driver.in_use(), used);
    }
    node.answer_kept(5000).unwrap();
    node.answer_kept(5000).unwrap();
    w.settle();
    assert_eq!(w.nodes[0].done.len(), 2);
    w.assert_drained();
}

fn why_empty() -> Why {
    Why::Fragments(lnd_core::fragment::FragmentError::Empty)
}

#[test]
fn a_decision_without_a_free_list_is_refused_and_can_be_repeated() {
    let small = Config { lists: 1, ..config() };
    let mut w = World::met_with(small);
    (w.node(1).pieces, w.node(1).put) = (2, Decision::Keep);
    for _ in 0..2 {
        w.put(0, 1, 5000).unwrap();
    }
    w.settle();
    for link in 0..2 {
        w.device(1, link, |d| d.frozen = true);
    }
    w.node(1).answer_kept(5000).unwrap();
    assert_eq!(w.node(1).answer_kept(5000).unwrap_err(), Some(Why::NoLists));
    for link in 0..2 {
        w.device(1, link, |d| d.frozen = false);
    }
    w.settle();
    w.node(1).answer_kept(5000).unwrap();
    w.settle();
    assert!(w.nodes[0].done.iter().all(|r| r.status.errno == 0));
    w.assert_drained();
}

#[test]
fn a_detached_inline_payload_cannot_be_received_any_more() {
    let mut w = World::met();
    w.node(1).inline = Decision::Keep;
    w.put(0, 1, 100).unwrap();
    w.settle();
    assert_eq!(w.nodes[1].kept[0].rx_request.payload(), &[] as &[u8]);
    assert_eq!(w.nodes[1].kept[0].rx_request.length, 100);
    assert_eq!(w.node(1).answer_kept(100).unwrap_err(), Some(Why::TooLong));
    w.node(1).answer_kept(0).unwrap();
    w.settle();
    w.assert_drained();
}

#[test]
fn decisions_of_the_wrong_kind_are_refused() {
    // S3-9: what the parse was told of decides whether the upper layer supplies the source or the
    // sink.
    let mut w = World::met();
    (w.node(1).put, w.node(1).get) = (Decision::Keep, Decision::Keep);
    w.put(0, 1, 5000).unwrap();
    w.get(0, 1, 5000).unwrap();
    w.settle();
    let (now, deadline) = (w.now, w.now.after(Span::from_secs(1)));
    let fragment = [Fragment::new(BASE, 5000)];
    let node = w.node(1);
    let (put, get) = (node.kept.remove(0), node.kept.remove(0));
    let give = lnd_core::driver::Reply { source: &fragment, length: 10, deadline, user: 0 };
    let receive = Receive { sink: &fragment, length: 10, deadline, user: 0 };
    let Err(RecvError::Refused(put, Why::WrongKind)) =
        node.driver.reply(now, put.rx_request, &give)
    else {
        panic!("a PUT was given to");
    };
    let Err(RecvError::Refused(get, Why::WrongKind)) =
        node.driver.recv(now, get.rx_request, &receive)
    else {
        panic!("a GET was received");
    };
    node.driver.nak(now, put, NakReason::NoMatch);
    node.driver.nak(now, get, NakReason::NoMatch);
    w.settle();
    assert!(w.nodes[0].done.iter().all(|r| r.status.errno == -121));
    w.assert_drained();
}

#[test]
fn inline_memory_that_fails_is_a_local_error_on_either_side() {
    let mut w = World::met();
    w.hold("immediate");
    let sent = w.put(0, 1, 100).unwrap();
    w.settle();
    w.fabric.borrow_mut().memory_fails = true;
    w.free("immediate");
    w.settle();
    assert_eq!(w.report(0, sent).status.errno, 0);
    assert_eq!(w.nodes[1].done[0].status.evidence, Some((Cause::Local, Place::Queue)));
    // A payload that cannot be gathered is not sent, and costs no credit.
    for _ in 0..2 * w.config.depth {
        let tag = w.put(0, 1, 100).unwrap();
        w.settle();
        assert_eq!(w.report(0, tag).status.evidence, Some((Cause::Local, Place::Queue)));
    }
    w.fabric.borrow_mut().memory_fails = false;
    let tag = w.put(0, 1, 100).unwrap();
    w.settle();
    assert_eq!(w.report(0, tag).status.errno, 0);
    w.assert_drained();
}

/// A peer's request is decided on, not withdrawn: it has no report.
#[test]
fn a_request_of_a_peer_cannot_be_withdrawn() {
    let mut w = World::met();
    w.node(1).put = Decision::Keep;
    let sent = w.put(0, 1, 5000).unwrap();
    w.settle();
    let (now, asked) = (w.now, w.nodes[1].kept[0].rx_request.tag());
    assert!(!w.nodes[1].driver.withdraw(now, asked));
    w.settle();
    let taken = w.node(1).answer_kept(5000).unwrap();
    assert_eq!(taken, asked, "decided on, it is a transfer of ours");
    assert!(w.nodes[1].driver.withdraw(now, taken));
    w.settle();
    assert_eq!(w.report(1, taken).status.evidence.map(|(cause, _)| cause), Some(Cause::Withdrawn));
    assert_ne!(w.report(0, sent).status.errno, 0);
    w.assert_drained();
}

#[test]
fn withdraw_gives_up_what_can_be_given_up() {
    let mut w = World::met();
    for kind in ["put_req", "get_req", "hello"] {
        w.hold(kind);
    }
    let staged = w.put(0, 1, 5000).unwrap();
    let invalidating = w.get(0, 1, 5000).unwrap();
    w.settle();
    let flying = w.put(0, 1, 10).unwrap();
    let now = w.now;
    for tag in [staged, invalidating, flying] {
        w.node(0).driver.withdraw(now, tag);
        w.node(0).driver.withdraw(now, tag);
        w.nodes[0].check();
    }
    w.settle();
    assert_eq!(w.report(0, staged).status.evidence, Some((Cause::Withdrawn, Place::Staged)));
    assert_eq!(w.report(0, invalidating).status.evidence, Some((Cause::Withdrawn, Place::Answer)));
    assert_eq!(w.report(0, flying).status.errno, 0, "S0-1: a message is not called back");
    // One that waits in the queue, and one that has ended.
    w.reboot(1);
    w.notify_peer(0, 1, false);
    w.notify_peer(0, 1, true);
    let queued = w.put(0, 1, 10).unwrap();
    w.node(0).driver.withdraw(now, queued);
    w.node(0).driver.withdraw(now, staged);
    w.settle();
    assert_eq!(w.report(0, queued).status.evidence, Some((Cause::Withdrawn, Place::Queue)));
    w.assert_drained();
}
