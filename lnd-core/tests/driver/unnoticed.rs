// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Changes of the driver that no other test notices: each of these fails under one of them.

use lnd_core::config::Config;
use lnd_core::counters::Counter;
use lnd_core::driver::{Kind, Role, RunState};
use lnd_core::link::LinkState;
use lnd_core::message::{Hello, Message};
use lnd_core::peer::HelloState;
use lnd_core::time::{Instant, Span};

use super::hello::forged;
use super::node::{Decision, Order};
use super::world::{config, World, LINK0};

/// INV-7, S3-2, S3-3: the channel of these tests refuses a message that names a source which its
/// device has not been told of.
#[test]
fn inv_7_pull_ready_goes_out_after_the_doorbell() {
    let mut w = World::met();
    let tag = w.get(0, 1, 5000).unwrap();
    w.settle();
    assert_eq!((w.report(0, tag).status.errno, w.said(1, 0, "pull_ready")), (0, 1));
    assert_eq!(w.device(1, 0, |d| d.calls.doorbells) + w.device(1, 1, |d| d.calls.doorbells), 1);
}

/// S3-4, S3-13: where the engines tell both ends, nothing more is said.
#[test]
fn s3_13_a_get_between_engines_that_signal_has_no_done() {
    let mut w = World::met();
    let tag = w.get(0, 1, 5000).unwrap();
    w.settle();
    assert_eq!((w.report(0, tag).role, w.report(0, tag).status.errno), (Role::GetPull, 0));
    assert_eq!(w.said(0, 1, "put_done") + w.said(1, 0, "put_done"), 0);
    w.assert_drained();
}

/// S1-10: a small REPLY travels whole.
#[test]
fn s1_10_a_small_reply_goes_inline() {
    let mut w = World::met();
    for (length, inline) in [(0, true), (10, true), (128, true), (129, false)] {
        let tag = w.submit(Kind::Reply, 0, 1, length).unwrap();
        w.settle();
        let role = if inline { Role::Immediate } else { Role::PutSource };
        assert_eq!(w.report(0, tag).role, role, "{length} bytes");
    }
    assert_eq!((w.said(0, 1, "immediate"), w.said(0, 1, "put_req")), (3, 1));
    w.assert_drained();
}

/// R39: the timer of a peer that was forgotten is not its successor's.
#[test]
fn r39_a_place_is_given_on_without_the_timer_of_its_former_peer() {
    let mut w = World::with(3, Config { peers: 1, ..config() });
    w.hold("hello");
    let tag = w.put(0, 1, 10).unwrap();
    w.settle();
    let id = w.peer(0, 1).unwrap();
    let now = w.now;
    w.nodes[0].driver.withdraw(now, tag);
    w.settle();
    assert!(w.reported(0, tag) && w.nodes[0].next.is_some(), "its hello is out");
    // An interrupt takes it down; the thread has not looked.
    assert!(w.nodes[0].driver.irq_handle().peer_down(id));
    // A node with which we have no version in common is answered and gets no HELLO.
    let foreign = Hello {
        version_min: 9,
        version_max: 9,
        immediate_max: 128,
        features: 3,
        given_up: 0,
        attempt: 1,
    };
    let letter = forged(&w, 2, 0, &Message::Hello(foreign));
    assert!(w.hand(&letter));
    let next = w.peer(0, 2).unwrap();
    assert_eq!((next.index(), w.peer(0, 1)), (id.index(), None));
    w.settle();
    assert_eq!((w.state(0, 2), w.nodes[0].next), (HelloState::Unknown, None));
}

/// R40: one that was withdrawn while its message is out is waited for no longer than the drain
/// bound.
#[test]
fn r40_the_wait_after_a_withdrawal_is_bounded() {
    for length in [10, 5000] {
        let mut w = World::met();
        w.hold("put_req");
        w.hold("get_req");
        let kind = if length == 10 { Kind::Put } else { Kind::Get };
        let deadline = Instant::NEVER;
        let order = Order { deadline, link: Some(LINK0), ..w.order(kind, 1, length) };
        let tag = w.send(0, order).unwrap();
        w.settle_untold();
        assert_eq!(w.nodes[0].next, None, "nothing bounds it");
        let now = w.now;
        w.nodes[0].driver.withdraw(now, tag);
        w.settle_untold();
        assert!(!w.reported(0, tag), "INV-5");
        let bound = now.after(w.config.drain_bound);
        assert_eq!(w.nodes[0].next, Some(bound), "{kind:?}");
        // It has run shortly before: no pause of its own is in question (R41).
        w.run_at(Instant::from_nanos(bound.as_nanos() - 1));
        w.now = bound;
        w.tick();
        assert_eq!(w.count(0, Counter::DrainBoundHit), 1);
        assert_ne!(w.nodes[0].driver.link_state(LINK0), Some(LinkState::Up));
        for _ in 0..5 {
            w.now = w.now.after(Span::from_millis(1));
            w.settle_untold();
        }
        assert_eq!(w.report(0, tag).status.errno, -125, "{kind:?}");
    }
}

/// A stall that a new session has ended says nothing of the next one.
#[test]
fn an_answered_hello_ends_the_haste_of_a_stall() {
    let mut w = World::met_with(Config { depth: 1, ..config() });
    w.node(1).inline = Decision::Keep;
    w.put(0, 1, 10).unwrap();
    // What waits gives up before the bound, so that the stall is noticed with nothing waiting.
    let mut order = w.order(Kind::Put, 1, 10);
    order.deadline = w.now.after(Span::from_millis(100));
    w.send(0, order).unwrap();
    w.settle();
    w.sleep(w.config.credit_stall);
    assert_eq!((w.said(0, 1, "hello"), w.count(0, Counter::Resyncs)), (0, 0));
    // The next one asks at once.
    w.put(0, 1, 10).unwrap();
    w.settle();
    let hellos = w.said(0, 1, "hello");
    assert_eq!((hellos, w.state(0, 1)), (1, HelloState::Good));
    // And with the session answered, what finds no credit waits the whole bound again.
    w.put(0, 1, 10).unwrap();
    w.put(0, 1, 10).unwrap();
    let bound = w.now.after(w.config.credit_stall);
    w.sleep_until(Instant::from_nanos(bound.as_nanos() - 1));
    assert_eq!(w.said(0, 1, "hello"), hellos);
}

/// After the goodbye no peer's time counts.
#[test]
fn r66_goodbye_ends_the_handshake_of_a_peer_too() {
    let mut w = World::new(2);
    w.hold("hello");
    w.put(0, 1, 10).unwrap();
    w.settle();
    w.device(0, 0, |d| d.slow_stop = true);
    let now = w.now;
    w.nodes[0].driver.shutdown(now, now);
    w.settle();
    assert_eq!(w.nodes[0].driver.run_state(), RunState::Stopping);
    // Only the engine that does not stop is looked at.
    assert_eq!(w.nodes[0].next, Some(w.now.after(w.config.link_poll)));
    let (hellos, state) = (w.said(0, 1, "hello"), w.state(0, 1));
    w.sleep(w.config.hello_timeout.times(10));
    assert_eq!((w.said(0, 1, "hello"), w.count(0, Counter::PeersDown)), (hellos, 0));
    assert_eq!(w.state(0, 1), state, "nothing is awaited of it any more");
    w.device(0, 0, |d| d.stopped = true);
    w.sleep(Span::from_millis(10));
    assert_eq!(w.nodes[0].driver.run_state(), RunState::Quiescent);
}
