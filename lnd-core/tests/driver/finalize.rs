// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Finalize: what an end counts as, what it gives back, what the other side is told of it.

use lnd_core::config::Config;
use lnd_core::counters::{Counter, Counters};
use lnd_core::driver::{Kind, Role, Why};
use lnd_core::id::Tag;
use lnd_core::message::NakReason;
use lnd_core::ports::{Completion, NoTrace, Returned, Sent};
use lnd_core::time::Span;
use lnd_core::transfer::{Cause, Place};

use super::device::OnInvalidate;
use super::fabric::InjectedFault;
use super::node::{Decision, Order};
use super::peer_down::devices;
use super::world::{config, World, LINK0, LINK1};

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

/// A host whose own thread takes completions gets the report from the same call.
#[test]
fn a_polling_host_gets_the_report_with_the_completion() {
    let mut w = World::met();
    w.hold("put_req");
    let [one, two] = [5000, 6000].map(|length| w.put(0, 1, length).unwrap());
    w.settle();
    let now = w.now;
    let back = |tag, returned| Completion { tag, returned };
    let driver = &mut w.node(0).driver;
    // R14: a completion of a use that is over is counted, and reports nothing.
    let stale = Tag { generation: one.generation.wrapping_sub(1), ..one };
    assert_eq!(driver.complete(now, back(stale, Returned::Ok)), None);
    assert_eq!(driver.counters().value(Counter::StaleCompletion), 1);
    assert_eq!(driver.complete(now, back(Tag { index: 64_000, ..one }, Returned::Ok)), None);
    assert_eq!(driver.counters().value(Counter::ForeignCompletion), 1);

    let report = driver.complete(now, back(two, Returned::Ok)).unwrap();
    assert_eq!((report.tag, report.bytes, report.role), (two, 6000, Role::PutSource));
    assert_eq!((report.status.errno, report.lost_race), (0, false));
    assert!(driver.nothing_to_report(), "it was reported");
    // INV-1: once.
    assert_eq!(driver.complete(now, back(two, Returned::Ok)), None);
    assert!(driver.nothing_to_report());
    // One that did not come back well is reported at once too.
    let report = driver.complete(now, back(one, Returned::Untouched)).unwrap();
    assert_eq!((report.tag, report.status.errno), (one, -103));
    assert!(driver.nothing_to_report(), "it was reported");
    assert_eq!(driver.complete(now, back(one, Returned::Touched)), None);
    assert_eq!(driver.counters().value(Counter::StaleCompletion), 3);
    // A tag that is no slot's.
    assert_eq!(driver.complete(now, back(Tag { index: 64_000, ..one }, Returned::Touched)), None);
    assert_eq!(driver.counters().value(Counter::ForeignCompletion), 2);
}

/// INV-2: a ring says nothing of another link's transfer. A host that polls is no worse off than
/// one with interrupts.
#[test]
fn a_polling_host_refuses_what_another_links_ring_says() {
    let mut w = World::met();
    w.hold("put_req");
    let tag = w.send(0, Order { link: Some(LINK0), ..w.order(Kind::Put, 1, 5000) }).unwrap();
    w.settle();
    let (now, completion) = (w.now, Completion { tag, returned: Returned::Ok });
    assert!(w.fabric.borrow().with_device(0, tag));
    let driver = &mut w.node(0).driver;
    assert_eq!(driver.complete_of(now, LINK1, completion), None);
    assert!(driver.nothing_to_report(), "its own engine still has it");
    assert_eq!(driver.counters().value(Counter::ForeignCompletion), 1);
    let report = driver.complete_of(now, LINK0, completion).unwrap();
    assert_eq!((report.tag, report.status.errno), (tag, 0));
}

/// R9: a transfer that ends behind another is not reported before it.
#[test]
fn r9_a_completion_does_not_overtake_a_report_that_waits() {
    let ways = [Returned::Ok, Returned::Untouched].map(|it| [(false, it), (true, it)]);
    for (in_interrupt, returned) in ways.into_iter().flatten() {
        let mut w = World::met();
        w.hold("put_req");
        let [one, two] = [5000, 6000].map(|length| w.put(0, 1, length).unwrap());
        w.settle();
        let now = w.now;
        let [first, second] = [one, two].map(|tag| Completion { tag, returned });
        let driver = &mut w.node(0).driver;
        if in_interrupt {
            let irq_handle = driver.irq_handle();
            irq_handle.on_completion(now, first, &mut Counters::new(), &mut NoTrace);
        } else {
            driver.on_completion(now, first);
        }
        assert_eq!(driver.complete(now, second), None);
        let order = [(); 2].map(|()| driver.next_report(now).unwrap().tag);
        assert_eq!(order, [one, two]);
    }
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
