// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The end, from every state, and what stands in its way (INV-15, R66).

use lnd_core::driver::{Blocker, Kind, RunState};
use lnd_core::link::LinkState;
use lnd_core::peer::HelloState;
use lnd_core::time::Span;
use lnd_core::transfer::Cause;

use super::device::OnInvalidate;
use super::node::{Decision, Order};
use super::peer_down::devices;
use super::world::{World, LINK0, LINK1};

fn shut(w: &mut World, grace: Span) {
    let now = w.now;
    w.node(0).driver.shutdown(now, now.after(grace));
    w.nodes[0].check();
}

fn run(w: &World) -> RunState {
    w.nodes[0].driver.run_state()
}

/// Ends in Quiescent, for good, with engines stopped and everything back.
fn quiescent(w: &mut World) {
    w.sleep(Span::from_millis(20));
    assert_eq!(run(w), RunState::Quiescent);
    assert_eq!(w.nodes[0].driver.in_use(), (0, 0));
    assert_eq!(w.nodes[0].open(), 0);
    assert_eq!(w.nodes[0].driver.blocker(0), None);
    assert_eq!(w.nodes[0].next, None, "nothing waits for time any more");
    let calls = w.device(0, 0, |d| d.calls);
    w.sleep(Span::from_secs(2));
    assert_eq!(run(w), RunState::Quiescent);
    for link in [LINK0, LINK1] {
        assert_eq!(w.nodes[0].driver.link_state(link), Some(LinkState::Down));
    }
    assert_eq!(w.device(0, 0, |d| d.calls), calls, "an engine was used after the end");
}

#[test]
fn an_idle_driver_says_goodbye_and_stops() {
    let mut w = World::met();
    shut(&mut w, Span::from_secs(1));
    quiescent(&mut w);
    assert_eq!(w.said(0, 1, "close"), 1);
    assert_eq!(w.state(1, 0), HelloState::Down);
    for link in 0..2 {
        assert_eq!(w.device(0, link, |d| (d.calls.stops, d.calls.resets)), (1, 1));
    }
}

#[test]
fn a_driver_that_never_met_anybody_stops() {
    let mut w = World::new(2);
    shut(&mut w, Span::from_secs(0));
    quiescent(&mut w);
    assert_eq!(w.said(0, 1, "close"), 0);
}

#[test]
fn what_ends_within_the_grace_ends_well() {
    let mut w = World::met();
    w.hold("put_req");
    let tag = w.put(0, 1, 5000).unwrap();
    w.settle();
    shut(&mut w, Span::from_secs(1));
    w.settle();
    assert_eq!(run(&w), RunState::Refusing);
    let Some(Blocker::Transfer { tag: blocker, peer, link, word, until }) =
        w.nodes[0].driver.blocker(0)
    else {
        panic!("nothing blocks")
    };
    assert_eq!((blocker, peer), (tag, Some(super::fabric::nid(1))));
    assert!(link.is_some() && until.is_some());
    assert!(word.owes(lnd_core::transfer::Debts::HW));
    w.free("put_req");
    w.settle();
    assert_eq!(w.report(0, tag).status.errno, 0);
    quiescent(&mut w);
}

#[test]
fn what_is_left_after_the_grace_is_cancelled_at_the_announced_time() {
    let mut w = World::met();
    w.hold("put_req");
    w.hold("get_req");
    let (put, get) = (w.put(0, 1, 5000).unwrap(), w.get(0, 1, 5000).unwrap());
    w.settle();
    devices(&w, 0, true, OnInvalidate::Honest);
    shut(&mut w, Span::from_millis(100));
    w.settle();
    let grace = w.now.after(Span::from_millis(100));
    assert_eq!(w.nodes[0].next, Some(grace), "R39: the grace is a deadline too");
    w.now = grace;
    w.tick();
    assert_eq!(run(&w), RunState::Draining);
    w.settle();
    assert_eq!(w.report(0, get).status.evidence.unwrap().0, Cause::Shutdown);
    assert!(matches!(
        w.nodes[0].driver.blocker(0),
        Some(Blocker::Transfer { tag, .. }) if tag == put
    ));
    devices(&w, 0, false, OnInvalidate::Honest);
    w.settle();
    assert_eq!(w.report(0, put).status.errno, -108);
    quiescent(&mut w);
}

#[test]
fn shutdown_at_once_from_every_place() {
    let mut w = World::met();
    (w.node(0).put, w.node(0).get) = (Decision::Keep, Decision::Keep);
    for kind in ["put_req", "get_req"] {
        w.hold(kind);
    }
    w.put(0, 1, 5000).unwrap();
    w.get(0, 1, 5000).unwrap();
    w.settle();
    for kind in ["put_req", "get_req"] {
        w.free(kind);
    }
    let theirs = (w.put(1, 0, 5000).unwrap(), w.get(1, 0, 5000).unwrap());
    w.settle();
    w.put(0, 1, 10).unwrap();
    w.settle_untold();
    shut(&mut w, Span::from_secs(0));
    w.settle_untold();
    assert_eq!(run(&w), RunState::Draining);
    w.settle();
    // Tickets are gone, and the peers of the requests hear CLOSE.
    assert_eq!(w.node(0).answer_kept(10).unwrap_err(), None);
    quiescent(&mut w);
    assert_ne!(w.report(1, theirs.0).status.errno, 0);
    assert_ne!(w.report(1, theirs.1).status.errno, 0);
}

#[test]
fn requests_that_arrive_while_refusing_are_refused() {
    let mut w = World::met();
    w.hold("put_req");
    w.put(0, 1, 5000).unwrap();
    w.settle();
    shut(&mut w, Span::from_secs(5));
    w.free("put_req");
    w.node(1).put = Decision::Keep;
    let (put, get) = (w.put(1, 0, 5000).unwrap(), w.get(1, 0, 5000).unwrap());
    w.put(1, 0, 10).unwrap();
    w.settle();
    assert_eq!(w.report(1, put).status.errno, -121);
    assert_eq!(w.report(1, get).status.errno, -121);
    assert_eq!(run(&w), RunState::Refusing);
    w.node(1).answer_kept(5000).unwrap();
    w.settle();
    quiescent(&mut w);
}

#[test]
fn unreported_transfers_block_and_are_named() {
    let mut w = World::met();
    w.put(0, 1, 10).unwrap();
    w.tick();
    w.deliver();
    w.endings();
    shut(&mut w, Span::from_secs(0));
    for _ in 0..5 {
        w.tick();
    }
    assert!(matches!(w.nodes[0].driver.blocker(0), Some(Blocker::Unreported { .. })));
    assert_ne!(run(&w), RunState::Quiescent);
    quiescent(&mut w);
}

#[test]
fn an_engine_that_does_not_stop_blocks_and_is_named() {
    let mut w = World::met();
    w.device(0, 1, |d| d.slow_stop = true);
    shut(&mut w, Span::from_secs(0));
    w.sleep(Span::from_millis(20));
    assert_eq!(run(&w), RunState::Stopping);
    let blocker = w.nodes[0].driver.blocker(0);
    assert_eq!(blocker, Some(Blocker::Link { link: LINK1, state: LinkState::Stopping }));
    // The other link has stopped; its register still says that it works, and it stays closed.
    assert_eq!(w.nodes[0].driver.link_state(LINK0), Some(LinkState::Down));
    w.device(0, 1, |d| d.stopped = true);
    quiescent(&mut w);
}

#[test]
fn a_link_that_is_down_already_does_not_come_back() {
    let mut w = World::met();
    w.notify_link(0, LINK1, false);
    w.sleep(Span::from_millis(10));
    shut(&mut w, Span::from_secs(0));
    w.sleep(Span::from_millis(20));
    assert_eq!(run(&w), RunState::Quiescent);
    w.notify_link(0, LINK1, true);
    quiescent(&mut w);
}

#[test]
fn r35_nothing_is_said_or_taken_after_the_last_message() {
    let mut w = World::met();
    w.device(0, 1, |d| d.slow_stop = true);
    w.hold("close");
    shut(&mut w, Span::from_secs(0));
    w.sleep(Span::from_millis(20));
    assert_eq!((run(&w), w.said(0, 1, "close")), (RunState::Stopping, 1));
    let said = w.fabric.borrow().said.iter().filter(|s| s.0 == 0).count();
    w.put(1, 0, 10).unwrap();
    w.put(1, 0, 5000).unwrap();
    w.settle();
    let hello = super::hello::forged(&w, 1, 0, &super::hello::hello());
    w.hand(&hello);
    w.sleep(Span::from_secs(3));
    assert_eq!(w.fabric.borrow().said.iter().filter(|s| s.0 == 0).count(), said);
    assert_eq!(w.nodes[0].driver.in_use(), (0, 0));
    w.device(0, 1, |d| d.stopped = true);
    quiescent(&mut w);
}

#[test]
fn shutdown_during_a_link_failure() {
    let mut w = World::met();
    w.hold("put_req");
    for link in [LINK0, LINK1] {
        let order = Order { link: Some(link), ..w.order(Kind::Put, 1, 500) };
        w.send(0, order).unwrap();
    }
    w.settle();
    w.device(0, 0, |d| d.slow_stop = true);
    w.notify_link(0, LINK0, false);
    w.sleep(Span::from_millis(5));
    shut(&mut w, Span::from_secs(0));
    w.sleep(Span::from_millis(5));
    assert_eq!(run(&w), RunState::Draining);
    w.device(0, 0, |d| d.stopped = true);
    quiescent(&mut w);
}

#[test]
fn shutdown_while_handshake() {
    let mut w = World::new(2);
    w.hold("hello");
    let tag = w.put(0, 1, 10).unwrap();
    w.settle();
    shut(&mut w, Span::from_secs(0));
    w.settle();
    assert_eq!(w.report(0, tag).status.errno, -108);
    quiescent(&mut w);
    assert_eq!(w.said(0, 1, "hello"), 1, "connected after the end");
}

#[test]
fn a_shorter_grace_may_be_given_later() {
    let mut w = World::met();
    w.hold("put_req");
    let tag = w.put(0, 1, 500).unwrap();
    w.settle();
    shut(&mut w, Span::from_secs(20));
    w.sleep(Span::from_millis(5));
    assert_eq!(run(&w), RunState::Refusing);
    shut(&mut w, Span::from_secs(0));
    w.settle();
    assert_eq!(w.report(0, tag).status.errno, -108);
    quiescent(&mut w);
}

/// What other contexts ask for when all is over is looked at by no one, and the host is not kept
/// awake.
#[test]
fn what_is_asked_for_behind_the_end_is_due_at_no_time() {
    let mut w = World::met();
    let now = w.now;
    w.nodes[0].driver.shutdown(now, now);
    w.sleep(Span::from_secs(1));
    assert_eq!(w.nodes[0].driver.run_state(), RunState::Quiescent);
    w.nodes[0].driver.irq_handle().link_failed(LINK0);
    let now = w.now;
    assert_eq!(w.nodes[0].driver.next_time(now), None);
    assert_eq!(w.nodes[0].driver.on_time(now), None);
}
