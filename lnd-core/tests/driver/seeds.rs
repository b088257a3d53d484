// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the seeds forbid: ends that are guessed, links that are stopped for one transfer, steps
//! beside the table.

use lnd_core::counters::Counter;
use lnd_core::driver::Kind;
use lnd_core::link::LinkState;
use lnd_core::ports::Sent;
use lnd_core::time::Span;
use lnd_core::trace::Trace;
use lnd_core::transfer::{step, Cause, HealthClass, Place};

use super::device::OnInvalidate;
use super::fabric::InjectedFault;
use super::node::Decision;
use super::peer_down::{devices, expect};
use super::world::{World, LINK0, LINK1};

/// What the link register shows at one moment is a sample. A transfer ends by its completion.
#[test]
fn s0_5_a_link_that_looks_dead_has_not_let_go_of_a_descriptor() {
    let mut w = World::met();
    w.hold("put_req");
    let tag = w.put(0, 1, 5000).unwrap();
    w.settle();
    for link in 0..2 {
        w.device(0, link, |d| d.link_works = false);
    }
    w.notify_peer(0, 1, false);
    w.settle();
    assert_eq!(w.count(0, Counter::Invalidated), 1);
    assert!(!w.reported(0, tag), "ended by what was seen");
    for link in 0..2 {
        w.device(0, link, |d| d.link_works = true);
    }
    w.settle();
    expect(w.report(0, tag), Cause::PeerDown, Place::Staged, -103, HealthClass::RemoteDropped);
    w.assert_drained();
}

/// What one peer's failure costs the other peers on the same links: nothing is stopped, and only
/// its descriptors are invalidated.
#[test]
fn s0_6_transfers_are_given_up_by_invalidating_their_descriptors_alone() {
    let mut w = World::new(3);
    for to in [1, 2] {
        w.put(0, to, 0).unwrap();
    }
    w.settle();
    w.hold("put_req");
    let lost: Vec<_> = (0..4).map(|_| w.put(0, 1, 5000).unwrap()).collect();
    let kept: Vec<_> = (0..4).map(|_| w.put(0, 2, 5000).unwrap()).collect();
    w.settle();
    w.notify_peer(0, 1, false);
    w.settle();
    let calls = [0, 1].map(|link| w.device(0, link, |d| d.calls));
    assert_eq!(calls.map(|c| (c.stops, c.resets, c.reclaims)), [(0, 0, 0); 2]);
    assert_eq!(calls.iter().map(|c| c.invalidates).sum::<usize>(), lost.len());
    assert!(lost.iter().all(|&tag| w.report(0, tag).status.errno == -103));
    assert!(!kept.iter().any(|&tag| w.reported(0, tag)));
    w.free("put_req");
    w.settle();
    assert!(kept.iter().all(|&tag| w.report(0, tag).status.errno == 0));
    w.assert_drained();
}

/// A peer that is down is no reason to stop an engine, and a link that is down takes no peer down.
#[test]
fn s0_22_each_notice_has_its_own_consequences() {
    let links = |w: &World| [LINK0, LINK1].map(|link| w.nodes[0].driver.link_state(link));
    let mut w = World::met();
    w.hold("put_req");
    let tag = w.put(0, 1, 5000).unwrap();
    w.settle();
    let peer = w.peer(0, 1).unwrap();
    w.nodes[0].driver.irq_handle().peer_down(peer);
    w.settle();
    expect(w.report(0, tag), Cause::PeerDown, Place::Staged, -103, HealthClass::RemoteDropped);
    assert_eq!(links(&w), [Some(LinkState::Up); 2]);
    assert_eq!((w.count(0, Counter::LinksFailed), w.count(0, Counter::Asserted)), (0, 0));
    w.assert_drained();

    let mut w = World::met();
    w.notify_link(0, LINK0, false);
    w.settle();
    assert_ne!(links(&w), [Some(LinkState::Up); 2]);
    assert_eq!(w.count(0, Counter::PeersDown), 0);
    let tag = w.put(0, 1, 5000).unwrap();
    w.settle();
    assert_eq!(w.report(0, tag).status.errno, 0, "the peer is reached by the other link");
    w.assert_drained();
}

/// A driver that runs through most of its life cycle.
pub fn incarnations() -> World {
    let mut w = World::met();
    w.node(1).put = Decision::UpTo(100);
    for (kind, length) in [(Kind::Put, 10), (Kind::Put, 5000), (Kind::Get, 5000), (Kind::Ack, 0)] {
        w.submit(kind, 0, 1, length).unwrap();
    }
    w.settle();
    w.injected("immediate", InjectedFault::Lost(Sent::NotDelivered));
    w.injected("put_req", InjectedFault::Lost(Sent::Unknown));
    w.put(0, 1, 10).unwrap();
    w.put(0, 1, 5000).unwrap();
    w.settle();
    w.hold("put_req");
    w.hold("get_req");
    for on_invalidate in [OnInvalidate::Honest, OnInvalidate::Touched] {
        w.put(0, 1, 5000).unwrap();
        w.get(0, 1, 5000).unwrap();
        w.put(0, 1, 10).unwrap();
        w.settle_untold();
        devices(&w, 0, false, on_invalidate);
        w.notify_peer(0, 1, false);
        w.settle();
        w.sleep(Span::from_secs(6));
        w.put(0, 1, 0).unwrap();
        w.settle();
    }
    w.put(0, 1, 5000).unwrap();
    w.settle();
    w.notify_link(0, LINK0, false);
    w.notify_link(0, LINK1, false);
    w.sleep(Span::from_secs(31));
    w
}

/// The table is the life cycle: whatever the driver does to a transfer is a row of it.
#[test]
fn s1_15_every_step_of_a_driver_is_the_tables() {
    let mut w = incarnations();
    let mut steps = 0;
    for node in &mut w.nodes {
        for &(_, trace) in &node.driver.tracer_mut().0 {
            let Trace::Step { tag, event, before, after, effect } = trace else { continue };
            let row = step(before, event);
            assert_eq!((after, effect), (row.word, row.effect), "{tag:?}: {before} {event:?}");
            steps += 1;
        }
    }
    assert!(steps > 60, "{steps} steps");
}
