// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A device that does not answer is no proof and no event: its link is failed, and what it has
//! stays lent until there is a proof (S0-10, INV-2, INV-3).

use lnd_core::counters::{Counter, Counters};
use lnd_core::driver::{Blocker, Kind, RunState};
use lnd_core::id::Tag;
use lnd_core::link::{LinkState, Quiesced};
use lnd_core::ports::{Completion, NoTrace, Returned};
use lnd_core::time::Span;
use lnd_core::transfer::{Cause, HealthClass, Place};

use super::node::Order;
use super::peer_down::expect;
use super::world::{World, LINK0, LINK1};

fn staged(w: &mut World) -> Tag {
    let order = Order { link: Some(LINK0), ..w.order(Kind::Put, 1, 5000) };
    let tag = w.send(0, order).unwrap();
    w.settle();
    tag
}

fn state(w: &World) -> LinkState {
    w.nodes[0].driver.link_state(LINK0).unwrap()
}

fn pass(w: &mut World, millis: u64) {
    for _ in 0..millis {
        w.now = w.now.after(Span::from_millis(1));
        w.settle();
    }
}

/// A world with one descriptor out on a link whose device does not answer any more.
fn failed() -> (World, Tag) {
    let mut w = World::met();
    w.hold("put_req");
    let tag = staged(&mut w);
    w.device(0, 0, |d| {
        d.unreadable = true;
        d.link_works = false;
    });
    w.notify_link(0, LINK0, false);
    pass(&mut w, 20);
    (w, tag)
}

#[test]
fn s0_10_without_a_proof_nothing_is_given_back() {
    let (mut w, tag) = failed();
    assert_eq!(state(&w), LinkState::Failed);
    assert_eq!(w.count(0, Counter::DevicesGone), 1);
    assert!(!w.reported(0, tag));
    assert_eq!(w.nodes[0].driver.quarantined(LINK0), 1);
    assert_eq!(w.nodes[0].driver.quarantined(LINK1), 0);
    // Neither time, nor the fabric's word, nor the deadline is a proof.
    w.sleep(Span::from_secs(100));
    w.notify_link(0, LINK0, true);
    w.notify_link(0, LINK0, false);
    w.sleep(Span::from_secs(1));
    assert_eq!(state(&w), LinkState::Failed);
    assert!(!w.reported(0, tag));
    assert_eq!(w.device(0, 0, |d| (d.calls.reclaims, d.calls.resets)), (0, 0));
    assert_eq!(w.nodes[0].driver.quarantined(LINK0), 1);
    // R66: what waits, and for what.
    let Some(Blocker::Transfer { tag: held, link, .. }) = w.nodes[0].driver.blocker(0) else {
        panic!("nothing is in the way");
    };
    assert_eq!((held, link), (tag, Some(LINK0)));

    // It identifies itself again and says stopped.
    w.device(0, 0, |d| {
        d.unreadable = false;
        d.link_works = true;
    });
    w.sleep(Span::from_millis(10));
    expect(w.report(0, tag), Cause::LinkDown, Place::Moving, -5, HealthClass::LocalError);
    assert_eq!(w.device(0, 0, |d| (d.calls.reclaims, d.calls.resets)), (1, 1));
    assert_eq!((state(&w), w.nodes[0].driver.quarantined(LINK0)), (LinkState::Up, 0));
    w.assert_drained();
}

#[test]
fn s0_10_a_device_that_identifies_itself_must_also_say_stopped() {
    let (mut w, tag) = failed();
    w.device(0, 0, |d| {
        d.unreadable = false;
        d.stopped = false;
    });
    w.sleep(Span::from_secs(1));
    assert_eq!(state(&w), LinkState::Failed, "it has answered, and not that it has stopped");
    assert!(!w.reported(0, tag));
    w.device(0, 0, |d| d.stopped = true);
    w.sleep(Span::from_millis(10));
    assert!(w.reported(0, tag));
    assert_eq!(state(&w), LinkState::Down);
}

#[test]
fn s0_10_the_platform_may_assert_the_stop() {
    let (mut w, tag) = failed();
    // The device is cut off from memory: the test's own word.
    w.device(0, 0, |d| d.stopped = true);
    let now = w.now;
    // SAFETY: a stopped device moves nothing until it is reset.
    let assert_stopped = |link| unsafe { Quiesced::assert_stopped(link) };
    // A link that waits for no proof takes none.
    let refused = w.node(0).driver.assert_stopped(now, assert_stopped(LINK1));
    assert_eq!(refused.unwrap_err().link(), LINK1);
    assert_eq!(w.nodes[0].driver.link_state(LINK1), Some(LinkState::Up));
    w.node(0).driver.assert_stopped(now, assert_stopped(LINK0)).unwrap();
    assert_eq!(w.count(0, Counter::StopsAsserted), 1);
    w.sleep(Span::from_millis(10));
    expect(w.report(0, tag), Cause::LinkDown, Place::Moving, -5, HealthClass::LocalError);
    assert_eq!((state(&w), w.nodes[0].driver.quarantined(LINK0)), (LinkState::Down, 0));
    w.assert_drained();
    // The slot stays empty: the link is down, and nothing is in the way of the end.
    w.node(0).driver.shutdown(now, now);
    w.sleep(Span::from_secs(1));
    assert_eq!(w.nodes[0].driver.run_state(), RunState::Quiescent);
}

#[test]
fn a_device_found_gone_by_an_interrupt_fails_its_link() {
    let mut w = World::met();
    w.hold("put_req");
    let tag = staged(&mut w);
    // Only the interrupt has seen it: the engine's registers answer, but it does not stop yet.
    w.device(0, 0, |d| d.slow_stop = true);
    w.nodes[0].driver.irq_handle().device_gone(LINK0);
    let order = Order { link: Some(LINK0), ..w.order(Kind::Put, 1, 50) };
    let other = w.send(0, order).unwrap();
    pass(&mut w, 5);
    assert_eq!(state(&w), LinkState::Failed);
    assert_eq!(w.device(0, 0, |d| d.calls.posts), 1, "the gate was closed at once");
    assert!(!w.reported(0, tag));
    w.device(0, 0, |d| d.stopped = true);
    pass(&mut w, 5);
    assert_eq!(state(&w), LinkState::Up);
    assert!(w.reported(0, tag) && w.reported(0, other));
    // The mark went with the proof.
    w.sleep(Span::from_secs(1));
    assert_eq!((state(&w), w.count(0, Counter::LinksFailed)), (LinkState::Up, 1));
}

#[test]
fn a_device_found_gone_by_its_engine_fails_its_link() {
    let mut w = World::met();
    w.device(0, 0, |d| {
        d.gone = true;
        d.unreadable = true;
        d.link_works = false;
    });
    // Found by a call of the engine, which the driver's own calls are.
    assert!(w.node(0).driver.engine_mut(LINK0).is_some());
    pass(&mut w, 5);
    assert_eq!(state(&w), LinkState::Failed);
    assert_eq!(w.count(0, Counter::DevicesGone), 1);
}

/// A sweep asks for a descriptor after the turn has looked at the links, and the engine finds no
/// device.
#[test]
fn a_device_found_gone_by_a_sweep_fails_its_link_in_the_next_turn() {
    let mut w = World::met();
    w.hold("put_req");
    staged(&mut w);
    w.device(0, 0, |d| {
        d.unreadable = true;
        d.link_works = false;
    });
    w.notify_peer(0, 1, false);
    w.tick();
    assert_eq!(w.device(0, 0, |d| (d.calls.invalidates, d.gone)), (1, true));
    assert_eq!((state(&w), w.nodes[0].next), (LinkState::Up, Some(w.now)), "found, to be told");
    w.tick();
    assert_eq!((state(&w), w.count(0, Counter::LinksFailed)), (LinkState::Stalled, 1));
    pass(&mut w, 5);
    assert_eq!((state(&w), w.count(0, Counter::DevicesGone)), (LinkState::Failed, 1));
}

#[test]
fn a_post_that_finds_the_device_gone_is_a_link_failure() {
    let mut w = World::met();
    w.device(0, 0, |d| {
        d.gone = true;
        d.unreadable = true;
    });
    let order = Order { link: Some(LINK0), ..w.order(Kind::Put, 1, 5000) };
    let tag = w.send(0, order).unwrap();
    w.settle();
    expect(w.report(0, tag), Cause::LinkDown, Place::Queue, -100, HealthClass::LocalDropped);
    assert_eq!(w.count(0, Counter::PostFailed), 1);
}

/// A ring in which a co-tenant writes tells of a transfer on another link: that one's engine has
/// not let go of the memory (INV-2).
#[test]
fn another_links_ring_does_not_settle_a_transfer() {
    let mut w = World::met();
    w.hold("put_req");
    let tag = staged(&mut w);
    w.device(0, 1, |d| d.ring.push_back(Completion { tag, returned: Returned::Ok }));
    w.settle();
    assert_eq!(w.count(0, Counter::ForeignCompletion), 1);
    // The same by the calls of hosts that have no ring.
    let completion = Completion { tag, returned: Returned::Ok };
    let irq_handle = w.nodes[0].driver.irq_handle();
    let mut counters = Counters::new();
    let woken = irq_handle.on_completion_of(w.now, LINK1, completion, &mut counters, &mut NoTrace);
    assert_eq!((woken, counters.value(Counter::ForeignCompletion)), (false, 1));
    let now = w.now;
    let beyond = Tag { index: u32::MAX, ..tag };
    let before = w.count(0, Counter::ForeignCompletion);
    w.node(0).driver.on_completion(now, Completion { tag: beyond, ..completion });
    assert_eq!(w.count(0, Counter::ForeignCompletion), before + 1);
    let blocker = w.nodes[0].driver.blocker(0);
    assert!(matches!(blocker, Some(Blocker::Transfer { tag: held, .. }) if held == tag));
    w.free("put_req");
    w.settle();
    assert_eq!(w.report(0, tag).status.errno, 0);
    w.assert_drained();
}

/// A mark that comes late: the link is stopped already, or has been reset, and holds nothing.
#[test]
fn a_late_mark_changes_nothing() {
    let mut w = World::met();
    w.device(0, 0, |d| d.link_works = false);
    w.notify_link(0, LINK0, false);
    pass(&mut w, 5);
    assert_eq!(state(&w), LinkState::Down);
    w.nodes[0].driver.irq_handle().device_gone(LINK0);
    pass(&mut w, 5);
    assert_eq!(state(&w), LinkState::Down);
    w.device(0, 0, |d| d.link_works = true);
    pass(&mut w, 5);
    assert_eq!(state(&w), LinkState::Up);
    assert_eq!(w.count(0, Counter::DevicesGone), 0);
}
