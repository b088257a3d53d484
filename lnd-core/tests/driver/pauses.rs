// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A pause of the host is no silence of a peer, and no fault of a link (R41).

use lnd_core::config::Config;
use lnd_core::counters::Counter;
use lnd_core::driver::Kind;
use lnd_core::time::{Instant, Span};

use super::device::OnInvalidate;
use super::node::{Decision, Order};
use super::peer_down::devices;
use super::world::{config, World};

use super::next_time::at_once;

/// Nanoseconds by which a host is late for the end of a silence of `bound`: hardly, around half of
/// it, and more.
fn lateness(bound: Span) -> [u64; 6] {
    let bound = bound.as_nanos();
    [0, 1, bound / 2 - 1, bound / 2, bound / 2 + 1, bound * 7]
}

/// R41: the answer to our last hello came while we did not run. However short the pause was after
/// the end of the hello's time, it is no silence of the peer.
#[test]
fn h4_7_no_pause_is_too_short_to_be_a_pause_while_a_hello_is_out() {
    for late in lateness(config().hello_timeout) {
        for begins in [0, 500, 997] {
            let mut w = World::with(2, Config { hello_tries: 1, ..config() });
            let tag = w.put(0, 1, 10).unwrap();
            let due = w.now.after(w.config.hello_timeout);
            w.hold("hello_ack");
            w.settle();
            // It runs until the pause begins; the answer comes then.
            w.now = w.now.after(Span::from_millis(begins));
            w.settle();
            w.free("hello_ack");
            w.now = due.after(Span::from_nanos(late));
            // A host that lets time pass before it takes frames in, as often as it is told to go
            // on.
            at_once(&mut w, 0);
            w.settle();
            assert_eq!(w.count(0, Counter::PeersDown), 0, "late by {late}, from {begins}");
            assert_eq!(w.report(0, tag).status.errno, 0);
        }
    }
}

/// R41: the same of credits: what came back while we did not run is no reason to ask for it.
#[test]
fn h4_7_no_pause_is_too_short_to_be_a_pause_while_credits_are_out() {
    for late in lateness(config().credit_stall) {
        let mut w = World::met_with(Config { depth: 1, ..config() });
        w.hold("noop");
        for _ in 0..2 {
            w.put(0, 1, 10).unwrap();
            w.settle();
        }
        let due = w.now.after(w.config.credit_stall);
        assert_eq!(w.nodes[0].next, Some(due));
        w.now = due.after(Span::from_nanos(late));
        at_once(&mut w, 0);
        w.free("noop");
        w.settle();
        assert_eq!(w.count(0, Counter::Resyncs), 0, "late by {late}");
        w.assert_drained();
    }
}

/// R21, R41: a descriptor came back while we did not run: its link is not suspect.
#[test]
fn h4_7_no_pause_is_too_short_to_be_a_pause_while_a_link_drains() {
    for late in lateness(config().drain_bound) {
        let mut w = World::met();
        w.hold("put_req");
        devices(&w, 0, true, OnInvalidate::Honest);
        let deadline = Instant::NEVER;
        let tag = w.send(0, Order { deadline, ..w.order(Kind::Put, 1, 5000) }).unwrap();
        w.settle();
        let now = w.now;
        w.node(0).driver.withdraw(now, tag);
        w.settle();
        assert_eq!(w.nodes[0].next, Some(now.after(w.config.drain_bound)));
        w.now = now.after(w.config.drain_bound).after(Span::from_nanos(late));
        devices(&w, 0, false, OnInvalidate::Honest);
        at_once(&mut w, 0);
        w.settle();
        assert_eq!((w.count(0, Counter::DrainBoundHit), w.reported(0, tag)), (0, true), "{late}");
    }
}

/// A host that runs all the time has each decision at its time, and one that sleeps in between a
/// `link_poll` later. After a pause it comes later by as long as we are known not to have run.
#[test]
fn h4_7_a_silence_is_as_long_as_it_was_for_a_host_that_runs_all_the_time() {
    let (poll, timeout) = (config().link_poll, config().hello_timeout);
    let pause = Span::from_millis(300);
    for (step, last, later) in [
        (Span::from_nanos(poll.as_nanos() / 3), poll, 0),
        (poll, poll, 0),
        (timeout, timeout, poll.as_nanos()),
        (poll, pause, pause.as_nanos()),
    ] {
        let mut w = World::with(2, Config { hello_tries: 1, ..config() });
        w.kill(1);
        w.put(0, 1, 10).unwrap();
        w.settle();
        let due = w.now.after(timeout);
        // As often as it says until shortly before the end, then one step of the other length.
        while step != timeout && w.now.after(step) < due {
            w.now = w.now.after(step);
            w.tick();
        }
        w.now = if last == pause { due.after(pause) } else { due };
        w.tick();
        let down = |w: &World| w.count(0, Counter::PeersDown);
        assert_eq!(down(&w), u64::from(later == 0), "every {step:?}");
        if later > 0 {
            let again = w.now.after(Span::from_nanos(later));
            assert_eq!(w.nodes[0].next, Some(again));
            w.now = again;
            w.tick();
            assert_eq!(down(&w), 1);
        }
    }
}

/// A batch is one call's: what a pause has made late and the first call leaves over is no more of a
/// decision than what it looks at.
#[test]
fn h4_7_silences_beyond_one_calls_batch_are_put_off_too() {
    let mut w = World::with(5, Config { batch: 1, hello_tries: 1, ..config() });
    w.hold("hello_ack");
    let tags = [1, 2, 3, 4].map(|to| (to, w.put(0, to, 10).unwrap()));
    w.settle();
    w.now = w.now.after(w.config.hello_timeout).after(Span::from_nanos(1));
    at_once(&mut w, 0);
    w.free("hello_ack");
    w.settle();
    assert_eq!(w.count(0, Counter::PeersDown), 0);
    assert!(tags.iter().all(|&(_, tag)| w.report(0, tag).status.errno == 0));
}

/// R41: a host that sleeps until its time is put off by a call, and pauses before that call. It is
/// put off again, since it is known not to have run. One that is late each time still finds a dead
/// peer.
#[test]
fn h4_7_a_pause_behind_a_sleep_is_a_pause_too() {
    for answered in [true, false] {
        let mut w = World::with(2, Config { hello_tries: 1, ..config() });
        let tag = w.put(0, 1, 10).unwrap();
        w.hold("hello_ack");
        w.settle();
        w.now = w.now.after(w.config.hello_timeout);
        at_once(&mut w, 0);
        assert_eq!(w.nodes[0].next, Some(w.now.after(w.config.link_poll)));
        // More than half of the hello's time.
        let pause = Span::from_millis(600);
        w.now = w.now.after(w.config.link_poll).after(pause);
        at_once(&mut w, 0);
        assert_eq!(w.nodes[0].next, Some(w.now.after(pause)));
        if answered {
            w.free("hello_ack");
            w.settle();
            assert_eq!(w.report(0, tag).status.errno, 0);
        } else {
            w.now = w.now.after(pause.times(2));
            at_once(&mut w, 0);
        }
        assert_eq!(w.count(0, Counter::PeersDown), u64::from(!answered));
    }
}

/// R41: a decision that was put off for a pause uses up nothing of the allowance of the drain that
/// follows.
#[test]
fn r41_a_pause_before_a_decision_leaves_the_drain_its_own() {
    let mut w = World::met();
    w.node(1).put = Decision::Keep;
    let order = Order { deadline: Instant::NEVER, ..w.order(Kind::Put, 1, 5000) };
    w.send(0, order).unwrap();
    w.settle();
    w.now = w.now.after(w.config.decision_bound);
    at_once(&mut w, 1);
    devices(&w, 1, true, OnInvalidate::Honest);
    let kept = w.node(1).kept.remove(0);
    // A drain that has an earlier timer of its own shares none.
    let deadline = w.now.after(Span::from_millis(10));
    let tag = w.node(1).answer(kept.rx_request, kept.id, 5000, deadline).unwrap();
    w.settle();
    let now = w.now;
    w.node(1).driver.withdraw(now, tag);
    w.settle();
    let bound = now.after(w.config.drain_bound);
    assert_eq!(w.nodes[1].next, Some(bound));
    w.now = bound;
    devices(&w, 1, false, OnInvalidate::Honest);
    at_once(&mut w, 1);
    w.settle();
    assert_eq!((w.count(1, Counter::DrainBoundHit), w.reported(1, tag)), (0, true));
}
