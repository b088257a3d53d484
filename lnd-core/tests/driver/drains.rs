// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Transfers that were given up together have one drain bound (docs/decisions/0034).

use lnd_core::config::Config;
use lnd_core::counters::Counter;
use lnd_core::driver::Kind;
use lnd_core::id::Tag;
use lnd_core::link::LinkState;
use lnd_core::time::{Instant, Span};

use super::device::OnInvalidate;
use super::node::Order;
use super::world::{config, World, LINK0};

const COUNT: usize = 6;

/// PUTs to node 1 are staged and nothing more. Their engine gives nothing back.
fn staged(batch: u32, deadline: Instant) -> (World, Vec<Tag>) {
    let mut w = World::met_with(Config { batch, slots: 16, depth: 8, ..config() });
    w.hold("put_req");
    w.device(0, 0, |d| d.on_invalidate = OnInvalidate::Never);
    let order = Order { deadline, link: Some(LINK0), ..w.order(Kind::Put, 1, 5000) };
    let tags = (0..COUNT).map(|_| w.send(0, order).unwrap()).collect();
    w.settle();
    (w, tags)
}

fn all_end(mut w: World, tags: &[Tag]) {
    w.sleep(w.config.drain_bound);
    for &tag in tags {
        assert_eq!(w.report(0, tag).status.errno, -5);
    }
    assert_eq!(w.count(0, Counter::DrainBoundHit), 1, "one stop serves them all");
    w.assert_drained();
}

#[test]
fn r40_a_sweep_in_steps_ends_with_the_bound_of_its_last_step() {
    let (mut w, tags) = staged(2, Instant::NEVER);
    w.notify_peer(0, 1, false);
    let mut last = w.now;
    while w.count(0, Counter::Invalidated) < COUNT as u64 {
        last = w.now;
        w.tick();
        w.now = w.now.after(Span::from_micros(10));
    }
    assert!(last > Instant::ORIGIN && w.count(0, Counter::Invalidated) == COUNT as u64);
    while w.tick() {}
    let bound = last.after(w.config.drain_bound);
    assert_eq!(w.nodes[0].next, Some(bound), "R39");
    w.run_at(Instant::from_nanos(bound.as_nanos() - 1));
    assert_eq!(w.nodes[0].driver.link_state(LINK0), Some(LinkState::Up));
    for slot in 0..16 {
        let view = w.nodes[0].driver.transfer_view(slot);
        assert!(view.is_none_or(|it| it.until == Some(bound)));
    }
    w.now = bound;
    // As many slots are looked at in one call as a batch has.
    for _ in 0..16 {
        w.tick();
    }
    assert_ne!(w.nodes[0].driver.link_state(LINK0), Some(LinkState::Up));
    all_end(w, &tags);
}

#[test]
fn r39_a_deadline_within_the_bound_wakes_nothing() {
    let soon = Span::from_millis(200);
    let (mut w, tags) = staged(64, Instant::ORIGIN.after(soon).after(Span::from_secs(1)));
    assert!(w.config.drain_bound > soon);
    w.notify_peer(0, 1, false);
    let bound = w.now.after(w.config.drain_bound);
    w.settle();
    assert_eq!(w.nodes[0].next, Some(bound));
    all_end(w, &tags);
}

#[test]
fn r40_what_is_given_up_later_has_a_bound_of_its_own() {
    let (mut w, tags) = staged(64, Instant::NEVER);
    let start = w.now;
    w.nodes[0].driver.withdraw(start, tags[0]);
    w.settle();
    w.run_at(start.after(Span::from_millis(20)));
    w.notify_peer(0, 1, false);
    w.settle();
    let bound = w.config.drain_bound;
    assert_eq!(w.nodes[0].next, Some(start.after(bound)));
    let until = |w: &World, tag: Tag| w.nodes[0].driver.transfer_view(tag.index).unwrap().until;
    assert_eq!(until(&w, tags[0]), Some(start.after(bound)));
    for &tag in &tags[1..] {
        assert_eq!(until(&w, tag), Some(w.now.after(bound)));
    }
}

#[test]
fn r39_what_has_come_back_is_waited_for_no_more() {
    let (mut w, tags) = staged(64, Instant::NEVER);
    w.device(0, 0, |d| d.on_invalidate = OnInvalidate::Honest);
    w.notify_peer(0, 1, false);
    w.settle();
    for &tag in &tags {
        assert_eq!(w.report(0, tag).status.errno, -103, "untouched");
    }
    assert_eq!(w.nodes[0].next, None);
    w.assert_drained();
}

/// Members end, and no one asks for their reports. The bound is over for them all the same, and
/// their own deadlines wake nothing behind it.
#[test]
fn r39_a_member_that_is_not_reported_leaves_at_the_bound() {
    let (mut w, tags) = staged(64, Instant::ORIGIN.after(Span::from_secs(100)));
    w.device(0, 0, |d| d.on_invalidate = OnInvalidate::Honest);
    w.notify_peer(0, 1, false);
    let bound = w.now.after(w.config.drain_bound);
    for _ in 0..COUNT * 2 {
        w.tick();
        w.devices();
        w.interrupts();
        w.endings();
    }
    assert!(!w.nodes[0].driver.nothing_to_report());
    assert_eq!((w.nodes[0].driver.in_use().0, w.nodes[0].next), (COUNT as u32, Some(bound)));
    w.now = bound;
    for _ in 0..COUNT * 4 {
        w.tick();
    }
    assert_eq!((w.nodes[0].driver.in_use().0, w.nodes[0].next), (COUNT as u32, None));
    w.settle();
    for &tag in &tags {
        assert_eq!(w.report(0, tag).status.errno, -103, "untouched");
    }
    assert_eq!(w.count(0, Counter::DrainBoundHit), 0);
    w.assert_drained();
}
