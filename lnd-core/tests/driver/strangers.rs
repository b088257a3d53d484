// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Nodes that are not heard by any node, or for which there is no room (S0-14, R68, LU-14536).

use lnd_core::config::Config;
use lnd_core::counters::{Counter, Counters};
use lnd_core::driver::{Inbound, Why};
use lnd_core::id::{Incarnation, LinkId};
use lnd_core::message::{Envelope, HelloAck, Message};
use lnd_core::peer::HelloState;
use lnd_core::ports::{NoTrace, Sent};
use lnd_core::time::Span;
use lnd_core::transfer::{Cause, Delivery, HealthClass, Place};

use super::fabric::{nid, InjectedFault};
use super::hello::hold_off;
use super::letter::Letter;
use super::peer_down::expect;
use super::world::{config, World, LINK0, LINK1};

/// Node 1 knows one peer at a time, and that is node 0.
fn full(nodes: usize, config: Config) -> World {
    let mut w = World::with(nodes, Config { peers: 1, ..config });
    w.put(0, 1, 0).unwrap();
    w.settle();
    assert_eq!(w.state(1, 0), HelloState::Good);
    w
}

#[test]
fn s0_14_a_hello_to_a_full_table_is_answered_that_there_is_no_room() {
    let mut w = full(3, config());
    let tag = w.put(2, 1, 10).unwrap();
    w.settle();
    // At once, and with a clear class: nothing was delivered, and the other side is why.
    let report = w.report(2, tag);
    expect(report, Cause::PeerDown, Place::Queue, -112, HealthClass::RemoteDropped);
    assert!(report.status.resend && report.status.delivery == Delivery::NotDelivered);
    assert_eq!((w.said(2, 1, "hello"), w.said(1, 2, "hello_ack")), (1, 1));
    assert_eq!((w.count(1, Counter::HellosRefused), w.count(2, Counter::NoRoom)), (1, 1));
    // The one that is there keeps its place.
    assert_eq!(
        (w.peer(1, 2), w.state(1, 0), w.state(0, 1)),
        (None, HelloState::Good, HelloState::Good)
    );

    // One that keeps trying asks once in each hold-off.
    let (start, mut refused) = (w.now, 0);
    while w.now.since(start) < Span::from_secs(60) {
        refused += usize::from(w.put(2, 1, 10) == Err(Why::PeerDown));
        w.sleep(Span::from_millis(100));
    }
    let hold_off = hold_off(&w);
    let most = 1 + 60_000_000_000 / hold_off.as_nanos() as usize;
    let hellos = w.said(2, 1, "hello");
    assert!((2..=most).contains(&hellos), "{hellos} hellos");
    assert!(refused > 500, "{refused}");

    // When there is room it is let in.
    w.notify_peer(1, 0, false);
    w.sleep(hold_off);
    let tag = w.put(2, 1, 10).unwrap();
    w.settle();
    assert_eq!((w.report(2, tag).status.errno, w.state(1, 2)), (0, HelloState::Good));
    w.assert_drained();
}

#[test]
fn s0_14_hellos_that_are_refused_are_answered_within_a_bound() {
    let small = Config { batch: 2, ..config() };
    let mut w = full(8, small);
    w.hold("hello");
    for node in 2..8 {
        w.put(node, 1, 10).unwrap();
    }
    w.settle();
    w.free("hello");
    w.deliver();
    let answers = |w: &World| (2..8).map(|node| w.said(1, node, "hello_ack")).sum::<usize>();
    assert_eq!(answers(&w), 2);
    // The others ask again, and are answered in their turn.
    w.sleep(Span::from_secs(3));
    assert_eq!(answers(&w), 6);
    assert_eq!((w.peer(1, 2), w.state(1, 0)), (None, HelloState::Good));
    w.assert_drained();
}

/// There is no way to it, or no room in the lane: it asks again.
#[test]
fn s0_14_a_hello_that_cannot_be_answered_is_left_alone() {
    for unreachable in [true, false] {
        let mut w = full(3, config());
        w.hold("hello");
        w.put(2, 1, 10).unwrap();
        w.settle();
        if unreachable {
            w.fabric.borrow_mut().unreachable.insert(2);
        } else {
            w.fabric.borrow_mut().room.insert((1, 2), [64, 0]);
        }
        w.free("hello");
        assert_eq!(w.deliver(), 1);
        assert_eq!((w.said(1, 2, "hello_ack"), w.count(1, Counter::HellosRefused)), (0, 0));
        w.fabric.borrow_mut().unreachable.clear();
        w.fabric.borrow_mut().room.clear();
        w.sleep(Span::from_secs(3));
        assert_eq!(w.said(1, 2, "hello_ack"), 1, "unreachable {unreachable}");
    }
}

#[test]
fn s0_14_no_room_is_believed_of_the_present_hello_only() {
    let mut w = World::new(2);
    w.hold("hello");
    let tag = w.put(0, 1, 10).unwrap();
    w.settle();
    let (incarnation, session) = {
        let fabric = w.fabric.borrow();
        let hello = fabric.wire.iter().find(|l| l.kind() == "hello").unwrap();
        (hello.envelope.from_incarnation, hello.envelope.session)
    };
    let other = Incarnation::from_raw(incarnation.raw() + 77).unwrap();
    let now = w.now;
    for (to_incarnation, of, believed) in
        [(incarnation, session + 1, false), (other, session, false), (incarnation, session, true)]
    {
        let from = Envelope {
            from: nid(1),
            to: nid(0),
            from_incarnation: other,
            to_incarnation: Some(to_incarnation),
            session: 0,
            sequence: 0,
            credits: 0,
            credits_of: 0,
        };
        let ack = HelloAck {
            session: of,
            attempt: 1,
            version: Some(1),
            depth: 0,
            immediate_max: 0,
            features: 0,
        };
        let letter = Letter::new(LINK0, &from, &Message::HelloAck(ack));
        let message = letter.message();
        let inbound = w.node(0).driver.on_message(now, LINK0, &letter.envelope, &message);
        assert!(matches!(inbound, Inbound::Handled));
        let state = if believed { HelloState::Down } else { HelloState::Handshake };
        assert_eq!(w.state(0, 1), state);
    }
    assert_eq!(w.count(0, Counter::NoRoom), 1);
    // Of one that has no room for us nothing is learnt.
    assert_eq!(w.nodes[0].driver.peer_view(0).unwrap().incarnation, None);
    w.settle();
    assert_eq!(w.report(0, tag).status.errno, -112);
}

/// As the channel's interrupt: reports the hello `count` of node 0, on the first link, to the peer
/// in its first place.
fn report_hello(w: &World, count: u32, sent: Sent) -> bool {
    let number = count.max(1) % (1 << 28) * 8;
    let tag = lnd_core::id::Tag { index: w.config.slots, generation: number };
    let irq_handle = w.nodes[0].driver.irq_handle();
    irq_handle.on_sent(w.now, tag, sent, &mut Counters::new(), &mut NoTrace)
}

#[test]
fn lu14536_only_the_last_hello_counts_and_only_if_it_was_not_delivered() {
    let mut w = World::with(2, Config { links: 1, ..config() });
    w.hold("hello");
    let tag = w.put(0, 1, 10).unwrap();
    w.settle();
    w.sleep(w.config.hello_timeout);
    assert_eq!(w.said(0, 1, "hello"), 2);
    let first = w.config.counting_from + 1;
    // How it went is no news; the first has been repeated; no hello has these names.
    assert!(!report_hello(&w, first + 1, Sent::Ok) && !report_hello(&w, first + 1, Sent::Unknown));
    assert!(report_hello(&w, first, Sent::NotDelivered), "to be looked at");
    assert!(report_hello(&w, first + 7, Sent::NotDelivered));
    w.settle();
    assert_eq!(w.state(0, 1), HelloState::Handshake);
    assert_eq!(w.count(0, Counter::UnheardHellos), 0);
    // Told twice before the thread has looked, it is heard once.
    assert!(report_hello(&w, first + 1, Sent::NotDelivered));
    assert!(report_hello(&w, first + 1, Sent::NotDelivered));
    w.settle();
    assert_eq!(w.state(0, 1), HelloState::Down);
    assert_eq!((w.count(0, Counter::UnheardHellos), w.count(0, Counter::PeersDown)), (1, 1));
    assert_eq!(w.report(0, tag).status.errno, -112);
}

#[test]
fn lu14536_a_channel_that_knows_at_once_is_heard_too() {
    let mut w = World::new(2);
    w.fabric.borrow_mut().ends_at_once = true;
    w.injected("hello", InjectedFault::Lost(Sent::NotDelivered));
    w.injected("hello", InjectedFault::Lost(Sent::NotDelivered));
    let tag = w.put(0, 1, 10).unwrap();
    w.settle();
    assert_eq!(w.report(0, tag).status.errno, -112);
    // One link is enough, if it gets through.
    let mut w = World::new(2);
    w.injected("hello", InjectedFault::Lost(Sent::NotDelivered));
    let tag = w.put(0, 1, 10).unwrap();
    w.settle();
    assert_eq!((w.report(0, tag).status.errno, w.said(0, 1, "hello")), (0, 2));
}

#[test]
fn lu20379_a_hello_lost_on_a_dead_link_of_our_own_says_nothing_of_the_peer() {
    let mut w = World::new(2);
    // The registers know it; the fabric has not told us yet.
    for link in [LINK0, LINK1] {
        w.device(0, LinkId::index(link), |d| d.link_works = false);
    }
    for _ in 0..20 {
        w.injected("hello", InjectedFault::Lost(Sent::NotDelivered));
    }
    w.put(0, 1, 10).unwrap();
    w.settle();
    assert_eq!((w.state(0, 1), w.count(0, Counter::PeersDown)), (HelloState::Handshake, 0));
}

#[test]
fn r64_many_hellos_that_are_not_delivered_are_looked_at_in_turns() {
    let many = Config { batch: 1, peers: 8, slots: 16, ..config() };
    let mut w = World::with(6, many);
    for _ in 0..20 {
        w.injected("hello", InjectedFault::Lost(Sent::NotDelivered));
    }
    let tags: Vec<_> = (1..6).map(|to| w.put(0, to, 10).unwrap()).collect();
    w.settle();
    for tag in tags {
        assert_eq!(w.report(0, tag).status.errno, -112);
    }
    assert_eq!(w.count(0, Counter::PeersDown), 5);
    w.assert_drained();
}

/// Node 1 has sent node 0 a request, was told OK, and both have forgotten each other: node 1 for
/// node 2.
fn forgotten() -> World {
    let mut w = World::with(3, Config { peers: 1, ..config() });
    w.put(1, 0, 0).unwrap();
    w.settle();
    w.hold("immediate");
    let tag = w.put(1, 0, 10).unwrap();
    w.settle();
    assert_eq!(w.report(1, tag).status.errno, 0);
    w.notify_peer(0, 1, false);
    w.notify_peer(1, 0, false);
    w.settle();
    w.put(1, 2, 5000).unwrap();
    w.settle();
    assert_eq!(w.state(1, 2), HelloState::Good);
    w
}

/// What is refused is not asked again at once, though the request that waits is offered again and
/// again.
#[test]
fn s0_14_one_that_has_no_room_is_not_asked_again_at_once() {
    let mut w = forgotten();
    // Node 1 has something under way with node 2 for long.
    w.hold("put_req");
    w.put(1, 2, 5000).unwrap();
    w.settle();
    w.free("immediate");
    let before = w.said(0, 1, "hello");
    w.settle();
    let at_once = w.said(0, 1, "hello") - before;
    assert_eq!((at_once, w.count(0, Counter::NoRoom)), (1, 1));
    w.sleep(Span::from_secs(10));
    let later = w.said(0, 1, "hello") - before;
    assert!((2..=4).contains(&later), "{later} in ten seconds");
}

/// S0-18: a full table is no reason to leave what was promised where it is. Either side forgets a
/// peer with which it has nothing under way.
#[test]
fn s0_18_a_full_table_holds_no_promised_request_back() {
    let mut w = forgotten();
    w.notify_peer(2, 1, false);
    w.put(2, 0, 0).unwrap();
    w.sleep(Span::from_secs(30));
    assert_eq!((w.state(0, 2), w.state(1, 2)), (HelloState::Good, HelloState::Good));
    let before = w.count(0, Counter::Requests);
    w.free("immediate");
    w.sleep(Span::from_secs(30));
    assert_eq!(w.count(0, Counter::Requests), before + 2, "node 2's, and then node 1's");
    w.assert_deliveries();
    w.assert_drained();
}

/// Its sender has begun anew and knows nothing of it: that is learnt from its refusal.
#[test]
fn s0_18_a_request_that_a_former_incarnation_left_blocks_nothing_while_its_table_is_full() {
    let mut w = forgotten();
    w.reboot(1);
    w.put(1, 2, 0).unwrap();
    w.sleep(Span::from_secs(30));
    assert_eq!(w.state(1, 2), HelloState::Good);
    w.free("immediate");
    w.sleep(Span::from_secs(30));
    assert_eq!(w.count(0, Counter::NoRoom), 1);
    assert!(w.fabric.borrow().wire.is_empty(), "the request lies in the channel for ever");
    w.assert_drained();
}

/// The refusal of a successor ends its predecessor's session. That of the successor may have the
/// same number, and is counted from its own begin.
#[test]
fn s0_18_a_successor_that_has_refused_us_is_counted_from_its_begin() {
    let mut w = World::with(3, Config { peers: 1, ..config() });
    w.put(1, 2, 0).unwrap();
    w.settle();
    w.notify_peer(1, 2, false);
    w.put(1, 0, 0).unwrap();
    w.settle();
    w.hold("immediate");
    w.put(1, 0, 10).unwrap();
    w.settle();
    w.notify_peer(0, 1, false);
    w.reboot(1);
    w.free("immediate");
    w.hold("immediate");
    w.put(1, 2, 5000).unwrap();
    w.settle();
    w.hold("put_req");
    w.put(1, 2, 5000).unwrap();
    w.settle();
    w.free("immediate");
    w.sleep(Span::from_secs(10));
    assert_eq!(w.count(0, Counter::NoRoom), 1);
    assert!(!w.fabric.borrow().wire.iter().any(|letter| letter.kind() == "immediate"));
    w.free("put_req");
    w.settle();
    w.notify_peer(1, 2, false);
    let before = w.count(0, Counter::Requests);
    let tag = w.put(1, 0, 10).unwrap();
    w.sleep(Span::from_secs(20));
    assert_eq!(w.report(1, tag).status.errno, 0);
    assert_eq!(w.count(0, Counter::Requests), before + 1);
    w.assert_deliveries();
}

/// INV-11: two senders of promised requests, and one place: each is asked in its turn, not at once.
#[test]
fn s0_18_two_parked_requests_and_one_place_make_no_storm() {
    let mut w = World::with(4, Config { peers: 1, ..config() });
    let mut late = Vec::new();
    for node in 1..4 {
        w.put(node, 0, 0).unwrap();
        w.settle();
        w.hold("immediate");
        w.put(node, 0, 10).unwrap();
        w.settle();
        w.notify_peer(0, node, false);
        late.extend(w.fabric.borrow_mut().wire.pop_back());
        w.free("immediate");
        w.reboot(node);
    }
    w.hold("immediate");
    late.truncate(2);
    w.fabric.borrow_mut().wire.extend(late);
    // Both have begun anew, and know each other.
    w.put(1, 2, 5000).unwrap();
    w.settle();
    assert_eq!((w.state(1, 2), w.state(2, 1)), (HelloState::Good, HelloState::Good));
    let before = w.said(0, 1, "hello") + w.said(0, 2, "hello");
    w.free("immediate");
    w.settle();
    let at_once = w.said(0, 1, "hello") + w.said(0, 2, "hello") - before;
    assert!(at_once <= 2, "{at_once} hellos at one time");
    w.sleep(Span::from_secs(600));
    assert!(w.fabric.borrow().wire.is_empty(), "a request lies in the channel for ever");
    w.assert_drained();
}
