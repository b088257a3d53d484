// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Messages without slots, sent and ended in one call. The oracle is the way with slots: whatever
//! happens, both ways say the same.

use lnd_core::counters::Counter;
use lnd_core::driver::{CreditView, Kind, Report, Request, Why};
use lnd_core::ports::Sent;
use lnd_core::time::{Instant, Span};
use lnd_core::transfer::{Cause, Delivery, Place};

use super::fabric::{nid, InjectedFault};
use super::world::{World, LINK0, LINK1};

/// What two upper layers are told of the same script, with slots and without.
pub fn both(script: impl Fn(&mut World)) -> [Vec<Vec<Report>>; 2] {
    [false, true].map(|at_once| {
        let mut w = World::met();
        w.fabric.borrow_mut().ends_at_once = at_once;
        script(&mut w);
        w.settle();
        w.assert_drained();
        w.nodes.iter().map(|node| node.done.clone()).collect()
    })
}

/// Reports but for the names of what they are about.
pub fn announced(all: &[Vec<Report>]) -> Vec<Vec<String>> {
    let of = |it: &Report| format!("{} {:?} {:?} {}", it.user, it.role, it.status, it.bytes);
    all.iter().map(|done| done.iter().map(of).collect()).collect()
}

pub fn credits(w: &World) -> [CreditView; 2] {
    let of = |node: usize| w.nodes[node].driver.credits_with(w.peer(node, 1 - node).unwrap());
    [of(0).unwrap(), of(1).unwrap()]
}

#[test]
fn s0_18_the_status_of_a_message_does_not_depend_on_whether_it_had_a_slot() {
    let lost = |sent| Some(InjectedFault::Lost(sent));
    for injected in [
        None,
        Some(InjectedFault::Full),
        lost(Sent::NotDelivered),
        lost(Sent::Unknown),
        Some(InjectedFault::DeliveredUnknown),
    ] {
        for (kind, length) in [(Kind::Put, 10), (Kind::Put, 0), (Kind::Ack, 0), (Kind::Reply, 128)]
        {
            let [slot, none] = both(|w| {
                injected.into_iter().for_each(|injected| w.injected("immediate", injected));
                w.submit(kind, 0, 1, length).unwrap();
                w.settle();
                w.submit(kind, 0, 1, length).unwrap();
            });
            assert_eq!(announced(&slot), announced(&none), "{injected:?} {kind:?} {length}");
            assert_eq!(none[0].len(), 2);
        }
    }
}

#[test]
fn s0_18_over_a_channel_that_may_lose_it_is_sent_and_not_delivered() {
    let [slot, none] = both(|w| {
        w.fabric.borrow_mut().reliable = false;
        w.put(0, 1, 10).unwrap();
    });
    assert_eq!(announced(&slot), announced(&none));
    assert_eq!(none[0][0].status.delivery, Delivery::Sent);
}

/// A PUT without payload to node 1.
pub fn small_put(now: Instant) -> Request<'static> {
    Request {
        kind: Kind::Put,
        peer: nid(1).into(),
        link: None,
        routed: false,
        header: &[77, 0, 0, 0, 0, 0, 0, 0],
        payload: &[],
        deadline: now.after(Span::from_secs(9)),
        user: 77,
    }
}

/// A peer that is down is refused by either way to submit.
#[test]
fn a_message_to_be_reported_is_refused_while_its_peer_is_down() {
    let mut w = World::met();
    w.notify_peer(0, 1, false);
    let now = w.now;
    let request = small_put(now);
    let driver = &mut w.node(0).driver;
    assert_eq!(driver.submit_pending(now, request).unwrap_err().why, Why::PeerDown);
    assert_eq!(driver.in_use(), (0, 0));
}

/// Submitted to be reported, it has one report like any transfer, also where it could have ended at
/// once.
#[test]
fn inv_1_a_message_that_is_to_be_reported_has_its_report() {
    let mut w = World::met();
    w.fabric.borrow_mut().ends_at_once = true;
    let now = w.now;
    let request = small_put(now);
    let node = w.node(0);
    let tag = node.driver.submit_pending(now, request).unwrap();
    node.accept(tag, 77, Vec::new(), None);
    let late = node.driver.submit_pending(now, Request { deadline: now, ..request });
    assert_eq!(late.unwrap_err().why, Why::DeadlinePassed);
    assert!(!w.reported(0, tag), "by the report, and by nothing else");
    w.settle();
    let report = w.report(0, tag);
    assert_eq!((report.user, report.status.errno), (77, 0));
    assert_eq!(
        w.nodes[1].done.len(),
        w.nodes[1].done.iter().filter(|r| r.status.errno == 0).count()
    );
    w.assert_drained();
}

#[test]
fn nothing_of_it_is_left_when_the_call_returns() {
    let mut w = World::met();
    w.fabric.borrow_mut().ends_at_once = true;
    let before = credits(&w);
    let tag = w.put(0, 1, 10).unwrap();
    assert!(w.reported(0, tag), "it has ended");
    assert_eq!(w.nodes[0].driver.in_use(), (0, 0));
    assert!(w.nodes[0].driver.nothing_to_report());
    w.deliver();
    assert_eq!(w.nodes[1].driver.in_use(), (0, 0));
    assert!(w.nodes[1].driver.nothing_to_report());
    let after = credits(&w);
    assert_eq!(after[0].sent, before[0].sent.wrapping_add(1), "a credit is spent");
    assert_eq!(after[1].consumed, before[1].consumed.wrapping_add(1), "and is owed");
}

#[test]
fn a_payload_that_cannot_be_gathered_takes_no_credit() {
    let mut w = World::met();
    w.fabric.borrow_mut().ends_at_once = true;
    let before = credits(&w);
    w.fabric.borrow_mut().memory_fails = true;
    for _ in 0..2 * w.config.depth {
        let tag = w.put(0, 1, 100).unwrap();
        w.settle();
        assert_eq!(w.report(0, tag).status.evidence, Some((Cause::Local, Place::Queue)));
    }
    assert_eq!(credits(&w)[0].sent, before[0].sent, "nothing was sent");
    w.fabric.borrow_mut().memory_fails = false;
    let tag = w.put(0, 1, 100).unwrap();
    w.settle();
    assert_eq!(w.report(0, tag).status.errno, 0);
    w.assert_drained();
}

/// A channel that promises nothing may end a message in the call all the same: it has had a slot.
#[test]
fn a_message_that_ends_in_the_call_without_a_promise_is_reported() {
    let mut w = World::met();
    w.fabric.borrow_mut().says_at_once = true;
    let good = w.put(0, 1, 100).unwrap();
    w.settle();
    assert_eq!(w.report(0, good).status.errno, 0);
    w.injected("immediate", InjectedFault::Lost(Sent::NotDelivered));
    let lost = w.put(0, 1, 100).unwrap();
    w.settle();
    let status = w.report(0, lost).status;
    assert_eq!((status.delivery, status.errno != 0), (Delivery::NotDelivered, true));
    w.assert_drained();
}

/// What waits is not overtaken.
#[test]
fn it_waits_behind_those_that_wait() {
    for why in ["room", "credits", "links"] {
        let mut w = World::met();
        w.fabric.borrow_mut().ends_at_once = true;
        let links = [LINK0, LINK1];
        match why {
            "room" => drop(w.fabric.borrow_mut().room.insert((0, 1), [0, 64])),
            "credits" => {
                w.hold("noop");
                w.hold("immediate");
                (0..w.config.depth).for_each(|_| _ = w.put(0, 1, 1).unwrap());
            }
            _ => links.into_iter().for_each(|link| w.notify_link(0, link, false)),
        }
        let (first, second) = (w.put(0, 1, 2).unwrap(), w.put(0, 1, 3).unwrap());
        w.settle();
        assert!(!w.reported(0, first) && !w.reported(0, second), "{why}");
        w.fabric.borrow_mut().room.clear();
        // The way is free, and those that wait have not been looked at yet.
        let third = w.put(0, 1, 4).unwrap();
        assert!(!w.reported(0, third), "{why}: overtaken");
        w.free("noop");
        w.free("immediate");
        links.into_iter().for_each(|link| w.notify_link(0, link, true));
        w.sleep(Span::from_secs(5));
        let lengths = w.nodes[1].done.iter().map(|it| it.bytes).filter(|&n| n > 1);
        assert_eq!(lengths.collect::<Vec<_>>(), [2, 3, 4], "{why}: in order");
        w.assert_drained();
    }
}

/// INV-12: the number of one that was not delivered is announced, and its credit comes back.
#[test]
fn a_credit_that_was_spent_for_nothing_comes_back() {
    let mut w = World::met();
    w.fabric.borrow_mut().ends_at_once = true;
    let (depth, session) = (usize::from(w.config.depth), credits(&w)[0].session);
    // The handshake's request has the first.
    for _ in 1..depth {
        w.injected("immediate", InjectedFault::Lost(Sent::Unknown));
        w.put(0, 1, 10).unwrap();
    }
    let tag = w.put(0, 1, 20).unwrap();
    w.sleep(w.config.credit_stall.times(3));
    assert_eq!(w.report(0, tag).status.errno, 0);
    let [ours, theirs] = credits(&w);
    assert_eq!(theirs.consumed, ours.sent, "one that never came is consumed too");
    assert_eq!((ours.session, w.count(0, Counter::Resyncs)), (session, 1), "by one resync");
    w.assert_drained();
}
