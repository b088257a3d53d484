// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a CANCEL finds at its receiver: a request, a pull that waits, a pull that has begun.

use lnd_core::counters::Counter;
use lnd_core::driver::{Kind, Role};
use lnd_core::id::Tag;
use lnd_core::time::Span;
use lnd_core::transfer::{Cause, Delivery, Place};

use crate::driver::device::OnInvalidate;
use crate::driver::node::{Decision, Order};

use super::{assert_goes_on, end, invalidating, met, met_with, small, withdraw, Built, USUAL};

/// The upper layer has the request and has not decided: it is over, and what it decides comes too
/// late.
#[test]
fn a_request_that_the_upper_layer_keeps_is_not_begun() {
    let mut w = met();
    w.node(1).put = Decision::Keep;
    // One that is decided later than it is offered, by its number.
    w.id();
    let tags: Vec<Tag> = (0..2).map(|_| w.put(0, 1, 3000).unwrap()).collect();
    w.settle();
    let kept = w.nodes[1].kept.len();
    assert_eq!(kept, 2);
    withdraw(&mut w, 0, tags[1]);
    w.settle();
    let withdrawn = Some((Cause::Withdrawn, Place::Staged));
    assert_eq!(end(&w, 0, tags[1]), (withdrawn, Delivery::NotDelivered));
    assert_eq!(invalidating(&w), (1, 0));
    w.nodes[1].kept.swap(0, 1);
    assert_eq!(w.node(1).answer_kept(3000), Err(None), "gone");
    w.node(1).answer_kept(3000).unwrap();
    w.settle();
    assert_eq!((w.report(0, tags[0]).status.errno, w.said(1, 0, "put_nak")), (0, 1));
    w.node(1).put = crate::driver::node::TAKE;
    assert_goes_on(&mut w);
}

/// The pull waits for others: nothing of it is posted, and it ends at once.
#[test]
fn a_pull_that_waits_for_its_turn_is_not_begun() {
    let mut config = small();
    config.pulls = 1;
    let mut w = met_with(USUAL, config);
    w.device(1, 0, |d| d.frozen = true);
    let tags: Vec<Tag> = (0..2).map(|_| w.put(0, 1, 3000).unwrap()).collect();
    w.settle();
    assert_eq!(w.count(1, Counter::PullsWaited), 1);
    withdraw(&mut w, 0, tags[1]);
    w.settle();
    assert_eq!(end(&w, 0, tags[1]).0, Some((Cause::Withdrawn, Place::Staged)));
    let sinks: Vec<_> = w.nodes[1].done.iter().filter(|r| r.role == Role::PutSink).collect();
    assert_eq!(sinks.len(), 1);
    assert_eq!(sinks[0].status.evidence, Some((Cause::Refused, Place::Queue)));
    assert_eq!((invalidating(&w), w.device(1, 0, |d| d.calls.posts)), ((1, 0), 1));
    w.device(1, 0, |d| d.frozen = false);
    w.settle();
    assert_eq!(w.report(0, tags[0]).status.errno, 0);
    assert_goes_on(&mut w);
}

/// The slot of one that has ended goes to another request: those beside it are found as before.
#[test]
fn a_request_is_found_among_others_that_come_and_go() {
    let mut config = small();
    (config.slots, config.passive_slots, config.pulls, config.depth) = (4, 1, 1, 8);
    config.lists = 4;
    let mut w = met_with(USUAL, config);
    w.device(1, 0, |d| d.frozen = true);
    let first: Vec<Tag> = (0..3).map(|_| w.put(0, 1, 3000).unwrap()).collect();
    w.settle();
    withdraw(&mut w, 0, first[1]);
    w.settle();
    for last in [false, true] {
        let next = w.put(0, 1, 3000).unwrap();
        w.settle();
        if !last {
            withdraw(&mut w, 0, next);
            w.settle();
        }
    }
    assert_eq!(w.nodes[1].driver.in_use(), (0, 3));
    withdraw(&mut w, 0, first[0]);
    w.settle();
    assert_eq!((invalidating(&w), w.reported(0, first[0])), ((2, 1), false), "it is under way");
    w.device(1, 0, |d| d.frozen = false);
    w.sleep(Span::from_secs(1));
    assert_eq!((invalidating(&w), w.reported(0, first[0])), ((3, 1), true));
    assert_eq!(w.report(0, first[2]).status.errno, 0);
    w.sleep(Span::from_secs(40));
    w.assert_drained();
}

/// The pull has begun: it comes to its own end, whichever that is, and only that is an answer.
#[test]
fn a_pull_under_way_comes_to_its_own_end_before_memory_is_taken_back() {
    for (signals, wins) in [(true, true), (true, false), (false, true), (false, false)] {
        let mut w = met_with(Built { signals, ..USUAL }, small());
        w.device(1, 0, |d| d.frozen = true);
        let tag = w.put(0, 1, 3000).unwrap();
        w.settle();
        withdraw(&mut w, 0, tag);
        w.sleep(Span::from_secs(3));
        assert_eq!(invalidating(&w), (0, 1), "the pull is asked for, what it reads is not");
        assert!(!w.reported(0, tag) && w.said(1, 0, "put_nak") == 0);
        let mood = if wins { OnInvalidate::Wins } else { OnInvalidate::Touched };
        w.device(1, 0, |d| (d.frozen, d.on_invalidate) = (false, mood));
        w.settle();
        let sink = w.nodes[1].done[0];
        assert_eq!(sink.status.errno == 0, wins);
        match (wins, signals) {
            // S0-16: the other engine says so itself, or its driver does.
            (true, _) => assert_eq!(w.report(0, tag).status.errno, 0, "{signals}"),
            (false, _) => assert_eq!(end(&w, 0, tag).0, Some((Cause::Withdrawn, Place::Staged))),
        }
        w.device(1, 0, |d| d.on_invalidate = OnInvalidate::Honest);
        assert_goes_on(&mut w);
    }
}

/// PUT_DONE and CANCEL pass each other, in either order.
#[test]
fn a_cancel_and_the_end_of_its_pull_may_cross() {
    for done_first in [true, false] {
        let mut w = met_with(Built { signals: false, ..USUAL }, small());
        w.hold("put_done");
        w.hold("cancel_put");
        let tag = w.put(0, 1, 3000).unwrap();
        w.settle();
        assert_eq!(w.said(1, 0, "put_done"), 1);
        withdraw(&mut w, 0, tag);
        w.settle();
        assert_eq!(invalidating(&w), (0, 0));
        let kinds = ["cancel_put", "put_done"];
        w.free(kinds[usize::from(done_first)]);
        w.settle();
        assert_eq!((invalidating(&w), w.reported(0, tag)), ((1, 0), true));
        let errno = w.report(0, tag).status.errno;
        assert_eq!(errno == 0, done_first, "its puller has confirmed it, or nothing is known");
        assert_ne!(end(&w, 0, tag).1, Delivery::NotDelivered, "S0-18");
        w.free(kinds[usize::from(!done_first)]);
        assert_goes_on(&mut w);
    }
}

/// What a PULL_READY has announced is called off by the requester's own transfer.
#[test]
fn a_cancel_that_overtakes_a_pull_ready_ends_the_get() {
    for reliable in [true, false] {
        let mut w = met_with(Built { reliable, ..USUAL }, small());
        w.hold("pull_ready");
        let deadline = w.now.after(Span::from_secs(100));
        let order = Order { deadline, ..w.order(Kind::Get, 1, 3000) };
        let get = w.send(0, order).unwrap();
        w.sleep(Span::from_secs(29));
        assert_eq!((w.said(1, 0, "cancel_get"), w.reported(0, get)), (0, false));
        // The time of what node 1 has staged is over.
        w.sleep(Span::from_secs(2));
        assert_eq!((w.said(1, 0, "cancel_get"), w.said(0, 1, "put_nak")), (1, 1));
        assert_eq!(invalidating(&w), (0, 1));
        assert_eq!(w.report(0, get).status.evidence, Some((Cause::Refused, Place::Answer)));
        let source = w.nodes[1].done.iter().find(|r| r.role == Role::GetSource).unwrap();
        assert_eq!(source.status.evidence, Some((Cause::Deadline, Place::Staged)));
        w.free("pull_ready");
        w.settle();
        assert_eq!((w.count(0, Counter::StaleAnswer), w.device(0, 0, |d| d.calls.posts)), (1, 0));
        assert_goes_on(&mut w);
    }
}

/// R40: the channel never says how the GET_REQ ended. The GET that is called off waits for that no
/// longer than the drain bound.
#[test]
fn r40_a_get_that_is_called_off_waits_for_its_message_no_longer_than_the_drain_bound() {
    let mut w = met();
    w.hold("pull_ready");
    let deadline = w.now.after(Span::from_secs(100));
    let order = Order { deadline, ..w.order(Kind::Get, 1, 3000) };
    let get = w.send(0, order).unwrap();
    let endings = w.fabric.borrow().endings.len();
    w.fabric.borrow_mut().endings.retain(|ending| ending.tag != get);
    assert_eq!(w.fabric.borrow().endings.len() + 1, endings);
    w.settle();
    w.sleep(Span::from_secs(31));
    assert_eq!((w.said(1, 0, "cancel_get"), w.reported(0, get)), (1, false));
    w.sleep(w.config.drain_bound);
    assert_eq!(w.count(0, Counter::DrainBoundHit), 1);
    assert_eq!(w.report(0, get).status.evidence, Some((Cause::Refused, Place::Answer)));
}

#[test]
fn the_pull_of_a_get_comes_to_its_own_end_before_memory_is_taken_back() {
    let mut w = met();
    w.device(0, 0, |d| d.frozen = true);
    let deadline = w.now.after(Span::from_secs(100));
    let order = Order { deadline, ..w.order(Kind::Get, 1, 3000) };
    let get = w.send(0, order).unwrap();
    w.sleep(Span::from_secs(33));
    assert_eq!((invalidating(&w), w.said(0, 1, "put_nak")), ((1, 0), 0));
    w.device(0, 0, |d| d.frozen = false);
    w.settle();
    assert_eq!((invalidating(&w), w.said(0, 1, "put_nak")), ((1, 1), 1));
    assert_eq!(w.report(0, get).status.evidence, Some((Cause::Refused, Place::Staged)));
    assert_goes_on(&mut w);
}
