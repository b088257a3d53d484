// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Engines that must not take staged memory back while it may be pulled: CANCEL goes first
//! (docs/decisions/0029-cancel.md).
//!
//! The devices are the oracle: one that is asked for staged memory looks for pulls of it at all others, and one
//! that is given a pull looks whether its source was taken back before (`Fabric::assert_not_pulled`).

use lnd_core::config::Config;
use lnd_core::counters::Counter;
use lnd_core::driver::{Kind, Role};
use lnd_core::id::{Incarnation, Tag};
use lnd_core::link::LinkState;
use lnd_core::message::{Message, NakReason};
use lnd_core::peer::HelloState;
use lnd_core::ports::{Features, Sent};
use lnd_core::time::{Instant, Span};
use lnd_core::transfer::{Cause, Delivery, Place};

use super::device::OnInvalidate;
use super::fabric::{nid, Fabric, InjectedFault};
use super::hello::{forged, hello};
use super::letter::Letter;
use super::node::{Decision, Order};
use super::world::{config, WorldOf, LINK0};

type World = WorldOf<false>;

/// What a test's fabric is like.
#[derive(Clone, Copy)]
struct Built {
    reliable: bool,
    signals: bool,
    connects: bool,
}

const USUAL: Built = Built { reliable: true, signals: true, connects: true };

fn small() -> Config {
    let mut config = config();
    (config.links, config.connections, config.depth) = (1, 4, 2);
    config
}

fn met_with(built: Built, config: Config) -> World {
    let mut fabric = Fabric::new(2, 1);
    fabric.reliable = built.reliable;
    for device in fabric.devices.values_mut() {
        device.connects = built.connects;
        if !built.signals {
            device.features &= !Features::REMOTE_COMPLETION.0;
        }
    }
    let mut w = World::on(fabric, 2, config);
    for (from, to) in [(0, 1), (1, 0)] {
        w.put(from, to, 0).unwrap();
        w.settle();
        w.node(from).done.clear();
    }
    w.node(1).done.clear();
    w
}

fn met() -> World {
    met_with(USUAL, small())
}

fn withdraw(w: &mut World, node: usize, tag: Tag) {
    let now = w.now;
    w.nodes[node].driver.withdraw(now, tag);
    w.nodes[node].check();
}

/// How often node 0's and node 1's devices were asked for descriptors.
fn invalidating(w: &World) -> (usize, usize) {
    (w.device(0, 0, |d| d.calls.invalidates), w.device(1, 0, |d| d.calls.invalidates))
}

/// Where and why a transfer ended, and what is known of its delivery.
fn end(w: &World, node: usize, tag: Tag) -> (Option<(Cause, Place)>, Delivery) {
    let status = w.report(node, tag).status;
    (status.evidence, status.delivery)
}

/// All credits are back, none was returned twice, and as many messages as ever get through.
fn assert_goes_on(w: &mut World) {
    for _ in 0..3 {
        let tags: Vec<Tag> = (0..5).map(|_| w.put(0, 1, 3000).unwrap()).collect();
        w.sleep(Span::from_secs(1));
        for tag in tags {
            assert_eq!(w.report(0, tag).status.errno, 0);
        }
    }
    w.sleep(Span::from_secs(40));
    assert_eq!(w.count(0, Counter::BadCredits) + w.count(0, Counter::Resyncs), 0);
    assert_eq!(w.count(0, Counter::DrainBoundHit), 0);
    w.assert_drained();
    w.assert_deliveries();
}

/// The request is behind: its receiver promises not to take it, and keeps that.
#[test]
fn a_cancel_that_overtakes_its_request_is_answered_and_the_request_never_taken() {
    for reliable in [true, false] {
        let mut w = met_with(Built { reliable, ..USUAL }, small());
        let seen = w.fabric.borrow().seen.len();
        w.hold("put_req");
        w.hold("put_nak");
        let tag = w.put(0, 1, 3000).unwrap();
        w.settle();
        withdraw(&mut w, 0, tag);
        w.settle();
        assert_eq!((w.said(0, 1, "cancel_put"), w.said(1, 0, "put_nak")), (1, 1));
        assert_eq!(
            (invalidating(&w), w.reported(0, tag)),
            ((0, 0), false),
            "not before the answer"
        );
        w.free("put_nak");
        w.settle();
        assert_eq!(invalidating(&w), (1, 0));
        let withdrawn = Some((Cause::Withdrawn, Place::Staged));
        assert_eq!(end(&w, 0, tag), (withdrawn, Delivery::NotDelivered), "S0-17");
        // Its credit is back before it comes.
        let consumed = |w: &World| {
            let peer = w.peer(1, 0).unwrap();
            w.nodes[1].driver.credits_with(peer).unwrap().consumed
        };
        let before = consumed(&w);
        w.free("put_req");
        w.settle();
        assert_eq!((consumed(&w), w.count(1, Counter::Duplicate)), (before, 1));
        let seen_now = w.fabric.borrow().seen.len();
        assert_eq!((seen_now, w.device(1, 0, |d| d.calls.posts)), (seen, 0));
        assert_goes_on(&mut w);
    }
}

/// The channel loses CANCELs and answers: it is said again, less often than a hello, and answered again.
#[test]
fn a_cancel_is_said_again_within_the_bound_and_answered_again() {
    let mut w = met_with(Built { reliable: false, ..USUAL }, small());
    w.hold("put_req");
    let tag = w.put(0, 1, 3000).unwrap();
    w.settle();
    w.injected("cancel_put", InjectedFault::Lost(Sent::Ok));
    w.injected("cancel_put", InjectedFault::Twice);
    w.injected("put_nak", InjectedFault::Lost(Sent::Ok));
    w.injected("put_nak", InjectedFault::Lost(Sent::Ok));
    w.injected("cancel_put", InjectedFault::Twice);
    withdraw(&mut w, 0, tag);
    let hello = w.config.hello_timeout;
    for said in 1..=3 {
        w.settle();
        assert_eq!(w.said(0, 1, "cancel_put"), said);
        w.sleep(Span::from_nanos(hello.as_nanos() - 2_000_000));
        assert_eq!(w.said(0, 1, "cancel_put"), said, "not earlier");
        w.sleep(Span::from_millis(2));
    }
    assert_eq!((w.said(1, 0, "put_nak"), w.count(1, Counter::CancelsHeard)), (4, 4));
    assert_eq!(
        (invalidating(&w), w.count(0, Counter::LateEvent)),
        ((1, 0), 2),
        "one answer too many"
    );
    assert_eq!(end(&w, 0, tag).0, Some((Cause::Withdrawn, Place::Staged)));
    w.free("put_req");
    assert_goes_on(&mut w);
}

/// Said again until the bound is over, and no more: then the smallest domain is stopped, and its stop gives the
/// memory back. Nothing is asked for before.
#[test]
fn s0_9_a_puller_that_does_not_answer_costs_its_connection() {
    for connects in [true, false] {
        let mut w = met_with(Built { connects, ..USUAL }, small());
        w.device(1, 0, |d| d.frozen = true);
        let (tag, beside) = (w.put(0, 1, 3000).unwrap(), w.put(0, 1, 3000).unwrap());
        w.settle();
        w.hold("cancel_put");
        w.device(0, 0, |d| (d.slow_stop, d.slow_connections) = (true, true));
        withdraw(&mut w, 0, tag);
        let bound = w.config.drain_bound;
        w.sleep(Span::from_nanos(bound.as_nanos() - 10_000_000));
        assert_eq!((w.count(0, Counter::DrainBoundHit), w.device(0, 0, |d| d.calls.stops)), (0, 0));
        w.sleep(Span::from_millis(100));
        assert_eq!((w.count(0, Counter::DrainBoundHit), w.device(0, 0, |d| d.calls.stops)), (1, 1));
        assert_eq!(w.said(0, 1, "cancel_put") as u64, w.count(0, Counter::Cancels));
        assert_eq!(w.said(0, 1, "cancel_put"), 5, "as often as hellos fit into the bound");
        assert_eq!((invalidating(&w).0, w.device(0, 0, |d| d.calls.reclaims)), (0, 0), "INV-3");
        assert!(!w.reported(0, tag) && !w.reported(0, beside), "INV-2");
        w.device(0, 0, |d| {
            d.stopped = d.stop_asked;
            d.slow_stop = false;
            d.stopping.values_mut().for_each(|stopped| *stopped = true);
        });
        w.sleep(Span::from_millis(100));
        assert_eq!((invalidating(&w).0, w.device(0, 0, |d| d.calls.reclaims)), (0, 2));
        let cause = if connects { Cause::ConnectionDown } else { Cause::LinkDown };
        let unknown = |cause| (Some((cause, Place::Moving)), Delivery::Unknown);
        assert_eq!(end(&w, 0, tag), unknown(Cause::Withdrawn));
        assert_eq!(end(&w, 0, beside), unknown(cause));
        let up = w.nodes[0].driver.link_state(LINK0) == Some(LinkState::Up);
        assert_eq!(w.count(0, Counter::LinksFailed), u64::from(!connects));
        assert!(up, "it is back");
        w.free("cancel_put");
        w.device(1, 0, |d| d.frozen = false);
        w.sleep(Span::from_secs(60));
        w.assert_drained();
    }
}

/// Where hellos are said often CANCEL is said sixteen times, and the bound is the same to the nanosecond.
#[test]
fn a_cancel_is_said_sixteen_times_at_most() {
    for odd in [0, 1, 15] {
        let mut config = small();
        config.hello_timeout = Span::from_millis(2);
        config.drain_bound = Span::from_nanos(1_000_000_000 + odd);
        let mut w = met_with(USUAL, config);
        w.device(1, 0, |d| d.frozen = true);
        let tag = w.put(0, 1, 3000).unwrap();
        w.settle();
        w.hold("cancel_put");
        withdraw(&mut w, 0, tag);
        let end = w.now.after(config.drain_bound);
        w.settle();
        w.sleep_until(Instant::from_nanos(end.as_nanos() - 1));
        assert_eq!(
            (w.count(0, Counter::DrainBoundHit), w.said(0, 1, "cancel_put")),
            (0, 16),
            "{odd}"
        );
        w.sleep_until(end);
        assert_eq!(
            (w.count(0, Counter::DrainBoundHit), w.said(0, 1, "cancel_put")),
            (1, 16),
            "{odd}"
        );
    }
}

/// A peer that does not know CANCEL is not sent one.
#[test]
fn what_a_peer_without_cancel_may_pull_is_had_back_by_a_stop() {
    let mut fabric = Fabric::new(2, 1);
    fabric.no_cancel = true;
    fabric.devices.values_mut().for_each(|device| device.connects = true);
    let mut w = World::on(fabric, 2, small());
    w.device(1, 0, |d| d.frozen = true);
    let tag = w.put(0, 1, 3000).unwrap();
    w.settle();
    withdraw(&mut w, 0, tag);
    w.sleep(Span::from_secs(4));
    assert!(!w.reported(0, tag));
    w.sleep(Span::from_secs(2));
    assert_eq!(end(&w, 0, tag).0, Some((Cause::Withdrawn, Place::Moving)));
    assert_eq!((w.said(0, 1, "cancel_put"), invalidating(&w).0), (0, 0));
    assert_eq!(w.count(0, Counter::ConnectionsFailed), 1);
    w.device(1, 0, |d| d.frozen = false);
    w.sleep(Span::from_secs(60));
    w.assert_drained();
}

/// The upper layer has the request and has not decided: it is over, and what it decides comes too late.
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
    w.node(1).put = super::node::TAKE;
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
        assert_eq!(errno == 0, done_first, "its puller has vouched for it, or nothing is known");
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

/// A node that ends in good order pulls nothing any more: no answer is waited for.
#[test]
fn what_was_staged_for_a_peer_that_has_said_goodbye_comes_back_at_once() {
    let mut w = met();
    w.hold("put_req");
    let tag = w.put(0, 1, 3000).unwrap();
    w.settle();
    let now = w.now;
    w.nodes[1].driver.shutdown(now, now);
    w.settle();
    assert_eq!(w.said(1, 0, "close"), 1);
    assert_eq!(end(&w, 0, tag), (Some((Cause::PeerDown, Place::Staged)), Delivery::NotDelivered));
    assert_eq!((invalidating(&w).0, w.said(0, 1, "cancel_put")), (1, 0));
    assert_eq!(w.count(0, Counter::DrainBoundHit), 0);
}

/// An engine that cannot tell whether it was read says that it may have been. Its puller knows better.
#[test]
fn s0_17_what_its_puller_never_began_is_not_delivered_whatever_the_engine_says() {
    type Prepare = fn(&mut World);
    let cases: [(Prepare, Cause); 5] = [
        (|w| w.hold("put_req"), Cause::Withdrawn),
        (|w| w.node(1).put = Decision::Keep, Cause::Withdrawn),
        (|w| w.node(1).put = Decision::Refuse(NakReason::NoMatch), Cause::Refused),
        (|w| w.injected("put_req", InjectedFault::Full), Cause::Channel),
        (|w| w.hold("pull_ready"), Cause::Deadline),
    ];
    for (case, (prepare, cause)) in cases.into_iter().enumerate() {
        let mut w = met();
        for node in 0..2 {
            w.device(node, 0, |d| d.on_invalidate = OnInvalidate::Touched);
        }
        prepare(&mut w);
        let status = if cause == Cause::Deadline {
            let deadline = w.now.after(Span::from_secs(100));
            let order = Order { deadline, ..w.order(Kind::Get, 1, 3000) };
            w.send(0, order).unwrap();
            w.sleep(Span::from_secs(31));
            w.nodes[1].done.iter().find(|r| r.role == Role::GetSource).unwrap().status
        } else {
            let tag = w.put(0, 1, 3000).unwrap();
            w.settle();
            withdraw(&mut w, 0, tag);
            w.settle();
            w.report(0, tag).status
        };
        let known = (Some((cause, Place::Staged)), Delivery::NotDelivered);
        assert_eq!((status.evidence, status.delivery), known, "case {case}");
    }
}

/// It has failed in the middle: no answer says that nothing was read.
#[test]
fn s0_18_what_its_puller_failed_to_pull_is_not_taken_for_untouched() {
    let mut w = met();
    for node in 0..2 {
        w.device(node, 0, |d| d.on_invalidate = OnInvalidate::Touched);
    }
    w.device(1, 0, |d| d.frozen = true);
    let tag = w.put(0, 1, 3000).unwrap();
    w.settle();
    withdraw(&mut w, 0, tag);
    w.settle();
    w.device(1, 0, |d| d.frozen = false);
    w.settle();
    assert_eq!(end(&w, 0, tag), (Some((Cause::Withdrawn, Place::Moving)), Delivery::Unknown));
}

/// What was never announced is pulled by no peer.
#[test]
fn what_the_channel_has_not_taken_comes_back_at_once() {
    let mut w = met();
    w.injected("put_req", InjectedFault::Full);
    let tag = w.put(0, 1, 3000).unwrap();
    w.settle();
    assert!(w.reported(0, tag));
    assert_eq!((invalidating(&w), w.said(0, 1, "cancel_put")), ((1, 0), 0));
    w.sleep(Span::from_secs(40));
    w.assert_drained();
}

/// A late hello of a former incarnation was taken for a while. What the present one asks for is under way all the
/// same.
#[test]
fn a_pull_is_found_by_whom_its_peer_was_taken_for_meanwhile() {
    for kind in [Kind::Put, Kind::Get] {
        let mut config = small();
        config.drain_bound = Span::from_secs(100);
        let mut w = met_with(USUAL, config);
        let (owner, puller) = if kind == Kind::Put { (0, 1) } else { (1, 0) };
        w.device(puller, 0, |d| d.frozen = true);
        let deadline = w.now.after(Span::from_secs(200));
        let tag = w.send(0, Order { deadline, ..w.order(kind, 1, 3000) }).unwrap();
        w.settle();
        // A silence, after which the puller takes the next hello as it comes.
        w.hold("hello");
        w.notify_peer(puller, owner, false);
        w.notify_peer(puller, owner, true);
        w.put(puller, owner, 0).unwrap();
        w.sleep(Span::from_secs(7));
        assert_eq!(w.state(puller, owner), HelloState::Down);
        let mut late = forged(&w, owner, puller, &hello()).envelope;
        late.from_incarnation = Incarnation::from_raw(999).unwrap();
        assert!(w.hand(&Letter::new(LINK0, &late, &hello())));
        w.free("hello");
        let restarted = w.count(puller, Counter::PeersRestarted);
        if kind == Kind::Put {
            withdraw(&mut w, 0, tag);
        }
        w.sleep(Span::from_secs(40));
        assert!(w.count(puller, Counter::PeersRestarted) > restarted, "it has come back");
        let heard = w.count(puller, Counter::CancelsHeard);
        assert!(heard > 0, "{kind:?}");
        assert_eq!(w.device(owner, 0, |d| d.calls.invalidates), 0, "it is under way");
        w.device(puller, 0, |d| d.frozen = false);
        w.sleep(Span::from_secs(200));
        w.assert_drained();
        assert_eq!(w.count(owner, Counter::DrainBoundHit), 0);
    }
}

/// R31, INV-6: whatever a peer cancels, it is its own alone, and the books are right.
#[test]
fn r31_cancels_of_what_is_not_there_change_nothing() {
    let mut w = met();
    w.hold("put_req");
    let tag = w.put(1, 0, 3000).unwrap();
    w.settle();
    let put = w.letter(0).unwrap().envelope;
    let cancelled = |w: &World, message: &Message<'_>| {
        let envelope = w.letter(0).unwrap().envelope;
        Letter::new(LINK0, &envelope, message)
    };
    let own = w.put(0, 1, 0).unwrap();
    let source = Tag { index: 9, generation: 77 };
    let session = put.session;
    let number = put.sequence;
    let answered = |w: &World| w.said(0, 1, "put_nak");
    // No promise can be given of what may still come and be taken.
    for (session, sequence) in
        [(session + 1, number), (session, number + 65), (session, number + (1 << 30))]
    {
        let cancel = cancelled(&w, &Message::CancelPut { source, session, sequence });
        assert!(w.hand(&cancel));
    }
    assert_eq!(answered(&w), 0);
    assert_eq!((w.count(0, Counter::WrongSession), w.count(0, Counter::OutsideWindow)), (1, 2));
    // What was taken long ago, or never will be, is over.
    for (session, sequence) in [(session, number - 1), (session, number.wrapping_sub(70))] {
        let cancel = cancelled(&w, &Message::CancelPut { source, session, sequence });
        assert!(w.hand(&cancel));
    }
    assert_eq!(answered(&w), 2);
    for sink in [own, Tag { index: 3, generation: 0 }, Tag { index: u32::MAX, generation: 1 }] {
        let cancel = cancelled(&w, &Message::CancelGet { source, sink });
        assert!(w.hand(&cancel));
    }
    assert_eq!((answered(&w), w.count(0, Counter::CancelsHeard)), (5, 8));
    w.node(0).check();
    w.free("put_req");
    w.settle();
    assert_eq!(w.report(1, tag).status.errno, 0, "not touched by them");
    assert_eq!(nid(1), put.from);
    assert_goes_on(&mut w);
}

/// What a channel still holds of a former session: its sender may have been promised that it is not pulled, and of
/// that nothing is known any more.
#[test]
fn a_put_of_a_former_session_is_refused_where_it_may_have_been_called_off() {
    let mut w = met();
    w.hold("put_req");
    let tag = w.put(0, 1, 3000).unwrap();
    w.settle();
    let letter = w.letter(0).unwrap();
    let mut former = letter.envelope;
    former.session = former.session.wrapping_sub(1);
    let Message::PutReq { header, length, key, .. } = letter.message() else {
        panic!("{letter:?}")
    };
    let source = Tag { index: tag.index, generation: tag.generation.wrapping_sub(1) };
    let put = Message::PutReq { header, source, length, key };
    let cancel = Message::CancelPut { source, session: former.session, sequence: 3 };
    // What comes was not taken before: it was not begun.
    let answers = [
        (&cancel, NakReason::Failed),
        (&put, NakReason::NoResources),
        (&cancel, NakReason::NoMatch),
    ];
    for (answers, (message, why)) in answers.into_iter().enumerate() {
        assert!(w.hand(&Letter::new(LINK0, &former, message)));
        assert_eq!(w.said(1, 0, "put_nak"), answers + 1, "{message:?}");
        let answer = w.fabric.borrow().wire.back().cloned().unwrap();
        assert_eq!(answer.message(), Message::PutNak { source, why });
    }
    w.settle();
    assert_eq!((w.device(1, 0, |d| d.calls.posts), w.said(1, 0, "put_nak")), (0, 3));
    w.free("put_req");
    w.settle();
    assert_eq!(w.report(0, tag).status.errno, 0, "not touched by them");
    w.sleep(Span::from_secs(40));
    w.assert_drained();
}

/// The word of a pull that has failed waits for a way. A CANCEL that comes first is not told that nothing was pulled.
#[test]
fn a_cancel_of_a_pull_whose_end_waits_to_be_said_is_told_that_it_has_ended() {
    let mut w = met();
    w.device(1, 0, |d| d.frozen = true);
    let tag = w.put(0, 1, 3000).unwrap();
    w.settle();
    w.notify_link(1, LINK0, false);
    w.sleep(Span::from_millis(100));
    let pull = w.nodes[1].done[0];
    assert_eq!((pull.role, w.nodes[1].driver.in_use()), (Role::PutSink, (0, 1)));
    assert_eq!(pull.status.evidence.map(|it| it.1), Some(Place::Moving));
    withdraw(&mut w, 0, tag);
    w.settle();
    let cancel = w.letter(0).unwrap();
    assert_eq!(cancel.kind(), "cancel_put");
    w.hold("put_nak");
    w.notify_link(1, LINK0, true);
    assert!(w.hand(&cancel));
    let answer = w.fabric.borrow().wire.back().cloned().unwrap();
    assert_eq!(answer.message(), Message::PutNak { source: tag, why: NakReason::Failed });
    w.device(1, 0, |d| d.frozen = false);
    w.free("put_nak");
    w.sleep(Span::from_secs(1));
    assert_ne!(w.report(0, tag).status.errno, 0);
    w.sleep(Span::from_secs(31));
    w.assert_drained();
}

/// An engine that recalls says no CANCEL and hears none.
#[test]
fn engines_that_invalidate_are_asked_at_once_as_ever() {
    let mut w = super::world::World::met();
    w.hold("put_req");
    let tag = w.put(0, 1, 3000).unwrap();
    w.settle();
    let now = w.now;
    w.nodes[0].driver.withdraw(now, tag);
    w.settle();
    assert_eq!((w.said(0, 1, "cancel_put"), w.reported(0, tag)), (0, true));
    let envelope = w.letter(0).unwrap().envelope;
    for message in [
        Message::CancelPut { source: tag, session: envelope.session, sequence: envelope.sequence },
        Message::CancelGet { source: tag, sink: tag },
    ] {
        assert!(w.hand(&Letter::new(LINK0, &envelope, &message)));
    }
    assert_eq!((w.count(1, Counter::WrongAnswer), w.count(1, Counter::CancelsHeard)), (2, 0));
    assert_eq!(w.said(1, 0, "put_nak"), 0);
}
