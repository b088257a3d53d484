// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Finalize: what an end counts as, what it gives back, what the other side is told of it.

use lnd_core::config::Config;
use lnd_core::counters::Counter;
use lnd_core::driver::{Role, Why};
use lnd_core::message::NakReason;
use lnd_core::ports::Sent;
use lnd_core::time::Span;
use lnd_core::transfer::{Cause, Place};

use super::device::OnInvalidate;
use super::fabric::InjectedFault;
use super::node::Decision;
use super::peer_down::devices;
use super::world::{config, World};

/// Ends OK, ends in error, descriptors back OK and in error, lost races.
fn counts(w: &World, node: usize) -> [u64; 5] {
    use Counter::{CameBackError, CameBackOk, FinalizedError, FinalizedOk, LostRaces};
    [FinalizedOk, FinalizedError, CameBackOk, CameBackError, LostRaces].map(|c| w.count(node, c))
}

#[test]
fn every_end_is_counted_for_what_it_is() {
    let mut w = World::met();
    let mut before = counts(&w, 0);
    let mut unannounced = |w: &World| {
        let now = counts(w, 0);
        let unannounced: Vec<u64> = now.iter().zip(before).map(|(now, then)| now - then).collect();
        before = now;
        unannounced
    };
    w.put(0, 1, 10).unwrap();
    w.settle();
    assert_eq!(unannounced(&w), [1, 0, 0, 0, 0], "nothing but OK");

    w.injected("immediate", InjectedFault::Lost(Sent::NotDelivered));
    w.put(0, 1, 10).unwrap();
    w.settle();
    assert_eq!(unannounced(&w), [0, 1, 0, 0, 0], "lost without a descriptor");

    w.node(1).put = Decision::Refuse(NakReason::NoMatch);
    w.put(0, 1, 5000).unwrap();
    w.settle();
    assert_eq!(unannounced(&w), [0, 1, 0, 1, 0], "the staged descriptor was asked back");

    // S0-16: what comes back OK although it was asked back has lost the race.
    devices(&w, 0, true, OnInvalidate::Wins);
    w.get(0, 1, 5000).unwrap();
    w.settle();
    w.notify_peer(0, 1, false);
    w.settle();
    devices(&w, 0, false, OnInvalidate::Wins);
    w.settle();
    assert_eq!(unannounced(&w), [1, 0, 1, 0, 1]);
}

#[test]
fn a_transfer_that_held_no_list_gives_none_back() {
    let mut w = World::met_with(Config { lists: 2, ..config() });
    w.hold("put_req");
    w.node(0).pieces = 3;
    w.put(0, 1, 500).unwrap();
    w.node(0).pieces = 1;
    let plain = w.put(0, 1, 100).unwrap();
    w.settle();
    assert_eq!(w.report(0, plain).status.errno, 0);
    w.node(0).pieces = 3;
    w.put(0, 1, 500).unwrap();
    assert_eq!(w.put(0, 1, 500).unwrap_err(), Why::NoLists, "both are in use");
    w.free("put_req");
    w.settle();
    w.assert_drained();
}

#[test]
fn s1_8_only_a_get_that_was_never_staged_is_refused_at_its_end() {
    // Staged and then given up: the engines tell the requester.
    let mut w = World::met();
    w.hold("pull_ready");
    w.get(0, 1, 5000).unwrap();
    w.settle();
    w.sleep(Span::from_secs(60));
    let given_up = w.nodes[1].done[0];
    assert_eq!(given_up.role, Role::GetSource);
    assert_ne!(given_up.status.errno, 0);
    assert_ne!(given_up.status.evidence.unwrap().1, Place::Queue);
    assert_eq!(w.said(1, 0, "get_nak"), 0);

    // A request of ours that never left the queue: the other side knows nothing of it.
    let mut w = World::met();
    w.hold("put_req");
    w.fabric.borrow_mut().room.insert((0, 1), [1, 64]);
    let tags: Vec<_> = (0..4).map(|_| w.put(0, 1, 5000).unwrap()).collect();
    w.sleep(Span::from_secs(60));
    let queued = Some((Cause::Deadline, Place::Queue));
    assert!(tags.iter().any(|&tag| w.report(0, tag).status.evidence == queued));
    assert_eq!(w.said(0, 1, "get_nak"), 0);
}
