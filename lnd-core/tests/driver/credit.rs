// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Credits, queues, sessions (R33, R34, INV-11, INV-12).

use lnd_core::config::Config;
use lnd_core::counters::Counter;
use lnd_core::driver::{Blocker, Kind};
use lnd_core::id::Tag;
use lnd_core::message::{Envelope, Message};
use lnd_core::ports::Sent;
use lnd_core::time::Span;

use super::fabric::InjectedFault;
use super::hello::forged;
use super::letter::Letter;
use super::node::{Decision, Order};
use super::world::{config, World, LINK0, LINK1};

fn depth(depth: u16) -> Config {
    Config { depth, ..config() }
}

#[test]
fn r34_no_more_requests_are_in_flight_than_there_are_credits() {
    let mut w = World::met_with(depth(3));
    w.node(1).inline = Decision::Keep;
    // One credit is still out: the handshake's empty PUT was consumed and not yet told.
    let before = w.said(0, 1, "immediate");
    let tags: Vec<Tag> = (0..8).map(|_| w.put(0, 1, 10).unwrap()).collect();
    w.settle();
    assert_eq!(w.said(0, 1, "immediate"), before + 3);
    assert_eq!(w.nodes[1].kept.len(), 3);
    // Each decision returns a credit, with a NOOP since nothing else is said.
    for n in 1..=5 {
        w.node(1).answer_kept(0).unwrap();
        w.settle();
        assert_eq!(w.said(0, 1, "immediate"), before + 3 + n);
    }
    assert_eq!(w.said(1, 0, "noop"), 5);
    for _ in 0..3 {
        w.node(1).answer_kept(0).unwrap();
    }
    w.settle();
    assert!(tags.iter().all(|&t| w.report(0, t).status.errno == 0));
    w.assert_drained();
}

/// INV-11: the receiver owes a few credits, too few for a message of their own, and keeps all that
/// comes. What it owes does not wait for these decisions, which may take any time.
#[test]
fn what_is_owed_does_not_wait_for_a_decision() {
    for owed in 0..8 {
        let mut w = World::met_with(depth(8));
        for _ in 0..owed {
            w.put(0, 1, 10).unwrap();
            w.settle();
        }
        w.node(1).inline = Decision::Keep;
        let tags: Vec<Tag> = (0..8).map(|_| w.put(0, 1, 10).unwrap()).collect();
        w.settle();
        assert_eq!(w.nodes[1].kept.len(), 8, "{owed} were owed");
        for _ in 0..8 {
            w.node(1).answer_kept(0).unwrap();
        }
        w.settle();
        assert!(tags.iter().all(|&t| w.report(0, t).status.errno == 0));
        w.assert_drained();
    }
}

#[test]
fn credits_come_back_with_whatever_is_said() {
    let mut w = World::met_with(depth(8));
    for _ in 0..100 {
        w.put(0, 1, 10).unwrap();
        w.put(1, 0, 10).unwrap();
        w.settle();
    }
    assert_eq!(w.said(1, 0, "noop") + w.said(0, 1, "noop"), 0, "traffic both ways needs none");
    for _ in 0..100 {
        w.put(0, 1, 10).unwrap();
        w.settle();
    }
    let noops = w.said(1, 0, "noop");
    assert!((100 / 8..=100 / 4).contains(&noops), "{noops} for 100 requests one way");
    assert_eq!(w.count(0, Counter::Resyncs) + w.count(1, Counter::Resyncs), 0);
    w.assert_drained();
}

#[test]
fn lost_credit_returns_are_made_good_by_the_next() {
    let mut w = World::met_with(depth(4));
    for _ in 0..50 {
        // Every other one is lost.
        let none = w
            .fabric
            .borrow()
            .injected_faults
            .get("noop")
            .is_none_or(|injected_faults| injected_faults.is_empty());
        if none && w.said(1, 0, "noop") % 2 == 0 {
            w.injected("noop", InjectedFault::Lost(Sent::Ok));
        }
        w.put(0, 1, 10).unwrap();
        w.settle();
    }
    assert!(w.said(1, 0, "noop") > 10);
    assert_eq!((w.count(0, Counter::BadCredits), w.count(0, Counter::Resyncs)), (0, 0));
    w.assert_drained();
}

/// A stall asks the receiver for its count, and no more: the session goes on, and a receiver that
/// is slow has no more to keep than before (INV-12).
#[test]
fn a_credit_stall_asks_and_grants_nothing_new() {
    let mut w = World::met_with(depth(2));
    w.node(1).inline = Decision::Keep;
    let tags: Vec<Tag> = (0..4).map(|_| w.put(0, 1, 10).unwrap()).collect();
    w.settle();
    let stalled = w.now;
    assert_eq!(w.nodes[0].next, Some(stalled.after(w.config.credit_stall)));
    w.sleep(Span::from_nanos(w.config.credit_stall.as_nanos() - 1));
    assert_eq!((w.count(0, Counter::Resyncs), w.said(0, 1, "hello")), (0, 0));
    w.sleep(Span::from_nanos(1));
    assert_eq!((w.count(0, Counter::Resyncs), w.said(0, 1, "hello")), (1, 1));
    assert_eq!(w.nodes[1].kept.len(), 2, "credits of before are out still");
    for _ in 0..2 {
        w.node(1).answer_kept(0).unwrap();
    }
    w.settle();
    let more = w.put(0, 1, 10).unwrap();
    w.settle();
    assert_eq!(w.nodes[1].kept.len(), 2);
    for _ in 0..2 {
        w.node(1).answer_kept(0).unwrap();
    }
    w.settle();
    w.node(1).answer_kept(0).unwrap();
    w.settle();
    assert!(tags.iter().chain([&more]).all(|&t| w.report(0, t).status.errno == 0));
    assert_eq!((w.count(0, Counter::BadCredits), w.count(1, Counter::WrongSession)), (0, 0));
    w.assert_drained();
}

/// After many stalls in a row the session begins anew. The receiver takes no more for that, and a
/// decision on a request of the former session returns no credit of the present one (INV-12).
#[test]
fn inv12_a_session_that_begins_anew_gives_no_more_slots() {
    let mut w = World::met_with(depth(2));
    let session =
        |w: &World| w.nodes[0].driver.credits_with(w.peer(0, 1).unwrap()).unwrap().session;
    let former = session(&w);
    w.node(1).inline = Decision::Keep;
    let mut order = w.order(lnd_core::driver::Kind::Put, 1, 10);
    order.deadline = w.now.after(Span::from_secs(300));
    let tags: Vec<Tag> = (0..6).map(|_| w.send(0, order).unwrap()).collect();
    w.settle();
    for _ in 0..13 {
        w.sleep(w.config.credit_stall);
    }
    assert_eq!((session(&w), w.nodes[1].kept.len()), (former, 2));
    for _ in 0..5 {
        w.sleep(w.config.credit_stall);
    }
    assert_eq!((session(&w), w.nodes[1].kept.len()), (former + 1, 2));
    for _ in 0..6 {
        w.sleep(Span::from_millis(1));
        w.node(1).answer_kept(0).unwrap();
        w.settle();
        assert_eq!(w.nodes[1].driver.audit(), Ok(()));
    }
    w.sleep(Span::from_secs(1));
    assert!(tags.iter().all(|&t| w.report(0, t).status.errno == 0));
    assert!(w.nodes[1].kept.is_empty());
    assert_eq!((w.count(0, Counter::BadCredits), w.count(1, Counter::WrongSession)), (0, 0));
    w.assert_deliveries();
    w.assert_drained();
}

/// R34: a credit that comes back ends the row of stalls. A slow receiver keeps its session however
/// often its sender stalls.
#[test]
fn stalls_with_a_credit_between_them_are_not_in_a_row() {
    let mut w = World::met_with(depth(2));
    let session =
        |w: &World| w.nodes[0].driver.credits_with(w.peer(0, 1).unwrap()).unwrap().session;
    let former = session(&w);
    w.node(1).inline = Decision::Keep;
    let mut order = w.order(lnd_core::driver::Kind::Put, 1, 10);
    order.deadline = w.now.after(Span::from_secs(300));
    let tags: Vec<Tag> = (0..6).map(|_| w.send(0, order).unwrap()).collect();
    w.settle();
    for _ in 0..2 {
        for _ in 0..9 {
            w.sleep(w.config.credit_stall);
        }
        w.node(1).answer_kept(0).unwrap();
        w.settle();
    }
    assert!(w.count(0, Counter::Resyncs) > 16);
    assert_eq!(session(&w), former);
    for _ in 0..4 {
        w.sleep(Span::from_millis(1));
        w.node(1).answer_kept(0).unwrap();
        w.settle();
    }
    w.sleep(Span::from_secs(1));
    assert!(tags.iter().all(|&t| w.report(0, t).status.errno == 0));
    w.assert_drained();
}

/// The sixteenth stall in a row begins the next session, and none before it.
#[test]
fn the_sixteenth_stall_in_a_row_begins_the_next_session() {
    let mut w = World::met_with(depth(1));
    let session =
        |w: &World| w.nodes[0].driver.credits_with(w.peer(0, 1).unwrap()).unwrap().session;
    let former = session(&w);
    w.node(1).inline = Decision::Keep;
    let mut order = w.order(lnd_core::driver::Kind::Put, 1, 10);
    order.deadline = w.now.after(Span::from_secs(300));
    for _ in 0..2 {
        w.send(0, order).unwrap();
    }
    w.settle();
    while w.count(0, Counter::Resyncs) < 15 {
        w.sleep(w.config.credit_stall);
    }
    assert_eq!((w.count(0, Counter::Resyncs), session(&w)), (15, former));
    w.sleep(w.config.credit_stall);
    assert_eq!((w.count(0, Counter::Resyncs), session(&w)), (16, former + 1));
}

#[test]
fn a_new_session_counts_its_requests_from_one() {
    let mut w = World::met_with(depth(4));
    for _ in 0..100 {
        w.put(0, 1, 10).unwrap();
        w.settle();
    }
    w.notify_peer(0, 1, false);
    w.notify_peer(0, 1, true);
    let tag = w.put(0, 1, 5000).unwrap();
    w.settle();
    assert_eq!(w.report(0, tag).status.errno, 0);
    assert_eq!(w.count(1, Counter::OutsideWindow), 0);
    w.assert_drained();
}

#[test]
fn requests_lost_on_the_way_cost_their_credits_until_the_stall() {
    let mut w = World::met_with(depth(2));
    w.injected("immediate", InjectedFault::Lost(Sent::NotDelivered));
    w.injected("immediate", InjectedFault::Lost(Sent::Unknown));
    let lost: Vec<Tag> = (0..2).map(|_| w.put(0, 1, 10).unwrap()).collect();
    w.settle();
    assert!(lost.iter().all(|&t| w.report(0, t).status.errno == -5));
    let next = w.put(0, 1, 10).unwrap();
    w.settle();
    assert!(!w.reported(0, next));
    w.sleep(w.config.credit_stall);
    assert_eq!(w.report(0, next).status.errno, 0);
    w.assert_drained();
}

#[test]
fn requests_that_fell_out_of_the_window_are_counted_as_lost() {
    let mut w = World::met_with(depth(4));
    w.fabric.borrow_mut().reliable = false;
    w.injected("immediate", InjectedFault::Lost(Sent::Ok));
    for _ in 0..80 {
        w.put(0, 1, 10).unwrap();
        w.settle();
    }
    assert_eq!(w.count(1, Counter::LostRequests), 1);
    assert_eq!(w.count(0, Counter::Resyncs), 0);
    w.assert_drained();
}

#[test]
fn s3_10_a_forgotten_request_returns_its_credit_when_it_is_taken_back() {
    let mut w = World::met_with(depth(2));
    w.node(1).inline = Decision::Forget;
    for _ in 0..2 {
        w.put(0, 1, 10).unwrap();
    }
    w.settle();
    w.sleep(w.config.decision_bound);
    w.node(1).inline = super::node::TAKE;
    assert_eq!(w.said(1, 0, "noop"), 1, "one for both");
    let tag = w.put(0, 1, 10).unwrap();
    w.settle();
    assert_eq!(w.report(0, tag).status.errno, 0);
    assert_eq!(w.count(0, Counter::Resyncs), 0);
    w.assert_drained();
}

#[test]
fn a_peer_that_returns_more_than_it_got_is_counted() {
    let mut w = World::met();
    let tag = w.put(0, 1, 10).unwrap();
    w.hold("noop");
    w.settle();
    assert_eq!(w.report(0, tag).status.errno, 0);
    let noop = forged(&w, 1, 0, &Message::Noop);
    let greedy = Envelope { credits: 900, credits_of: 1, ..noop.envelope };
    w.hand(&Letter::new(noop.link, &greedy, &Message::Noop));
    assert_eq!(w.count(0, Counter::BadCredits), 1);
    // Of another session it says nothing.
    let other = Envelope { credits_of: 77, ..greedy };
    w.hand(&Letter::new(noop.link, &other, &Message::Noop));
    assert_eq!(w.count(0, Counter::BadCredits), 1);
    w.settle();
    w.assert_drained();
}

#[test]
fn a_full_request_lane_holds_requests_back() {
    let mut w = World::met();
    w.fabric.borrow_mut().room.insert((0, 1), [1, 64]);
    w.hold("immediate");
    let tags: Vec<Tag> = (0..6).map(|_| w.put(0, 1, 10).unwrap()).collect();
    w.settle();
    let flying = w.fabric.borrow().wire.len();
    assert_eq!(flying, 2, "one a link");
    w.free("immediate");
    w.sleep(Span::from_millis(10));
    assert!(tags.iter().all(|&t| w.report(0, t).status.errno == 0));
    w.assert_drained();
}

#[test]
fn inv11_answers_wait_for_room_in_the_control_lane_and_go_out_later() {
    use lnd_core::message::NakReason::NoMatch;
    let mut w = World::met();
    w.fabric.borrow_mut().room.insert((1, 0), [64, 0]);
    (w.node(1).put, w.node(1).get) = (Decision::Refuse(NoMatch), super::node::TAKE);
    let (put, get) = (w.put(0, 1, 5000).unwrap(), w.get(0, 1, 5000).unwrap());
    w.sleep(Span::from_millis(10));
    w.node(1).get = Decision::Refuse(NoMatch);
    let nak = w.get(0, 1, 5000).unwrap();
    w.sleep(Span::from_millis(10));
    assert_eq!(w.nodes[1].driver.in_use(), (0, 3));
    let Some(Blocker::Transfer { tag, .. }) = w.nodes[1].driver.blocker(0) else {
        panic!("nothing waits")
    };
    assert!(!w.node(1).driver.can_answer(tag), "hosts that pace their reports are told");
    assert!(w.nodes[0].done.is_empty());
    // A request the other way is not held up by them.
    let back = w.put(1, 0, 10).unwrap();
    w.settle();
    assert_eq!(w.report(1, back).status.errno, 0);
    w.fabric.borrow_mut().room.clear();
    assert!(w.node(1).driver.can_answer(tag));
    w.sleep(Span::from_millis(10));
    assert_eq!(w.report(0, put).status.errno, -121);
    assert_eq!(w.report(0, get).status.errno, 0);
    assert_eq!(w.report(0, nak).status.errno, -121);
    w.assert_drained();
}

#[test]
fn an_answer_that_finds_no_room_ends_by_its_deadline() {
    let mut w = World::met();
    w.fabric.borrow_mut().room.insert((1, 0), [64, 0]);
    w.get(0, 1, 5000).unwrap();
    w.node(1).put = Decision::Refuse(lnd_core::message::NakReason::NoMatch);
    w.put(0, 1, 5000).unwrap();
    w.sleep(Span::from_millis(1));
    assert_eq!(w.nodes[1].open(), 1);
    w.now = w.now.after(Span::from_secs(30));
    w.settle();
    assert_eq!(w.nodes[1].done[0].status.errno, -110);
    w.sleep(w.config.decision_bound);
    w.assert_drained();
}

#[test]
fn hellos_and_their_answers_wait_for_room_too() {
    let mut w = World::new(2);
    for ends in [(0, 1), (1, 0)] {
        w.fabric.borrow_mut().room.insert(ends, [64, 0]);
    }
    let tag = w.put(0, 1, 10).unwrap();
    w.sleep(Span::from_millis(5));
    w.fabric.borrow_mut().room.clear();
    w.sleep(Span::from_millis(5));
    assert_eq!(w.report(0, tag).status.errno, 0);
    w.assert_drained();
}

/// S0-18: what the sender gives up takes nothing with it that is late by another link.
#[test]
fn s0_18_what_is_given_up_passes_nothing_that_is_late() {
    let mut w = World::met_with(depth(2));
    let by = |w: &World, link| Order { link: Some(link), ..w.order(Kind::Put, 1, 10) };
    w.hold("immediate");
    let order = by(&w, LINK0);
    let late = w.send(0, order).unwrap();
    w.settle();
    assert_eq!(w.report(0, late).status.errno, 0);
    let letter = w.fabric.borrow_mut().wire.pop_back().unwrap();
    w.free("immediate");
    // As far ahead of it as the window reaches.
    for _ in 0..63 {
        let order = by(&w, LINK1);
        let tag = w.send(0, order).unwrap();
        w.settle();
        assert_eq!(w.report(0, tag).status.errno, 0);
        w.node(0).done.clear();
    }
    w.hold("put_req");
    let deadline = w.now.after(Span::from_secs(1));
    let order = Order { deadline, ..w.order(Kind::Put, 1, 5000) };
    let gone = w.send(0, order).unwrap();
    w.sleep(Span::from_secs(2));
    assert_ne!(w.report(0, gone).status.errno, 0);
    // Waits for a credit, so that the next hello says what was given up.
    let waits = w.put(0, 1, 10).unwrap();
    w.sleep(Span::from_secs(3));
    let before = w.count(1, Counter::Requests);
    w.hand(&letter);
    w.settle();
    assert_eq!(w.count(1, Counter::OutsideWindow), 0);
    assert_eq!(w.count(1, Counter::Requests), before + 1);
    assert_eq!(w.report(0, waits).status.errno, 0);
    w.assert_deliveries();
}
