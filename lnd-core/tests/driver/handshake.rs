// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The handshake's times, what its hellos give up, and what a decision leaves as it was.

use lnd_core::config::Config;
use lnd_core::counters::Counter;
use lnd_core::driver::{Kind, Why};
use lnd_core::message::Message;
use lnd_core::peer::HelloState;
use lnd_core::ports::Sent;
use lnd_core::time::{Instant, Span};

use super::fabric::{nid, InjectedFault};
use super::hello::{forged, hello, hold_off};
use super::letter::Letter;
use super::node::Order;
use super::world::{config, World};

/// The first letter of a kind on the wire from a node.
fn on_the_wire(w: &World, from: usize, kind: &str) -> Letter {
    let fabric = w.fabric.borrow();
    fabric.wire.iter().find(|it| it.from == from && it.kind() == kind).unwrap().clone()
}

/// R68: a request that a dead node has left in the channel is no news of it. Its sender is asked
/// for after a hold-off, after twice that, and so on, up to 64 times; by a timer, since nothing
/// else comes.
#[test]
fn r68_what_a_dead_node_has_left_is_asked_after_ever_less_often() {
    let mut w = World::with(3, config());
    w.put(0, 2, 0).unwrap();
    w.settle();
    w.put(1, 0, 0).unwrap();
    w.settle();
    assert_eq!((w.peer(0, 1).unwrap().index(), w.state(0, 1)), (1, HelloState::Good));
    w.hold("immediate");
    w.put(1, 0, 10).unwrap();
    w.settle();
    w.kill(1);
    w.node(0).done.clear();
    w.notify_peer(0, 1, false);
    let letter = on_the_wire(&w, 1, "immediate");
    let hold_off = hold_off(&w);
    // The platform's decision may be wrong: the first request revives the peer at once.
    assert!(!w.hand(&letter), "it stays in the channel");
    for times in [1, 2, 4, 8, 16, 32, 64, 64] {
        assert_eq!(w.state(0, 1), HelloState::Handshake);
        w.sleep(hold_off);
        assert_eq!(w.state(0, 1), HelloState::Down, "no answer");
        let due = w.now.after(hold_off.times(times));
        assert!(!w.hand(&letter));
        w.settle();
        assert_eq!((w.state(0, 1), w.nodes[0].next), (HelloState::Down, Some(due)), "{times}");
        w.sleep_until(due);
    }
    // One that is looked at only then is asked for at once.
    w.sleep(hold_off);
    w.now = w.now.after(hold_off.times(64));
    assert!(!w.hand(&letter));
    assert_eq!(w.state(0, 1), HelloState::Handshake);
    assert_eq!((w.state(0, 2), w.nodes[0].done.len()), (HelloState::Good, 0));
}

/// S2: a peer of which the transport has heard nothing is asked by its hello. One that answers has
/// lost nothing; one that does not is down after the tries, and asking again gives it no more time.
#[test]
fn s2_a_silent_peer_is_asked_before_it_is_down() {
    let mut w = World::met();
    w.hold("get_req");
    let tag = w.get(0, 1, 5000).unwrap();
    w.settle();
    let (said, now) = (w.said(0, 1, "hello"), w.now);
    w.node(0).driver.ask_peer(now, nid(1));
    w.settle();
    assert_eq!((w.state(0, 1), w.said(0, 1, "hello")), (HelloState::Good, said + 1));
    w.free("get_req");
    w.settle();
    assert_eq!((w.report(0, tag).status.errno, w.count(0, Counter::PeersDown)), (0, 0));

    w.hold("hello");
    let bound = hold_off(&w);
    let due = w.now.after(bound);
    let now = w.now;
    w.node(0).driver.ask_peer(now, nid(1));
    w.settle();
    w.sleep(Span::from_nanos(bound.as_nanos() / 2));
    assert_eq!(w.state(0, 1), HelloState::Handshake, "not without a second opinion");
    let now = w.now;
    w.node(0).driver.ask_peer(now, nid(1));
    w.sleep_until(due);
    assert_eq!((w.state(0, 1), w.count(0, Counter::PeersDown)), (HelloState::Down, 1));
    let now = w.now;
    w.node(0).driver.ask_peer(now, nid(1));
    w.settle();
    assert_eq!(w.state(0, 1), HelloState::Down, "its hold-off lasts");
    let hellos = w.count(0, Counter::Hellos);
    w.node(0).driver.ask_peer(now, nid(7));
    w.settle();
    assert_eq!(w.count(0, Counter::Hellos), hellos, "a peer never met: none to repeat");
    w.assert_drained();
}

/// R68: an answer of the incarnation that we know ends a wrong decision, and not the hold-off does.
#[test]
fn r68_a_late_answer_ends_the_decision_before_the_hold_off() {
    let mut w = World::new(2);
    w.hold("hello_ack");
    w.put(0, 1, 10).unwrap();
    w.sleep(hold_off(&w));
    assert_eq!(w.state(0, 1), HelloState::Down, "no answer");
    let answer = on_the_wire(&w, 1, "hello_ack");
    w.hand(&answer);
    assert_eq!((w.state(0, 1), w.count(0, Counter::IgnoredHellos)), (HelloState::Handshake, 1));
    w.free("hello_ack");
    w.settle();
    assert_eq!(w.state(0, 1), HelloState::Good);
}

/// R68: the hold-off is of the present decision. That of a former one is over with it.
#[test]
fn r68_a_decision_by_interrupt_has_a_hold_off_of_its_own() {
    let mut w = World::met();
    w.notify_peer(0, 1, false);
    w.settle();
    w.notify_peer(0, 1, true);
    w.put(0, 1, 0).unwrap();
    w.settle();
    assert_eq!((w.state(0, 1), w.count(0, Counter::PeersDown)), (HelloState::Good, 1));
    w.sleep(hold_off(&w));
    let peer = w.peer(0, 1).unwrap();
    assert!(w.nodes[0].driver.irq_handle().peer_down(peer));
    // The thread hears of it by its next request.
    assert_eq!(w.put(0, 1, 0), Err(Why::PeerDown));
    assert_eq!((w.state(0, 1), w.count(0, Counter::PeersDown)), (HelloState::Down, 2));
}

/// R41, R39: after a pause of ours a hello's answer has the hello's time again, whichever place its
/// peer has.
#[test]
fn r41_a_handshake_has_its_time_again_after_our_own_pause() {
    let mut w = World::with(3, config());
    w.put(0, 2, 0).unwrap();
    w.settle();
    w.hold("hello");
    let order = Order { deadline: Instant::NEVER, ..w.order(Kind::Put, 1, 10) };
    w.send(0, order).unwrap();
    w.settle();
    assert_eq!(w.peer(0, 1).unwrap().index(), 1);
    let due = w.now.after(w.config.hello_timeout);
    assert_eq!((w.nodes[0].next, w.said(0, 1, "hello")), (Some(due), 1));
    w.now = due.after(w.config.hello_timeout);
    w.tick();
    let due = w.now.after(w.config.hello_timeout);
    assert_eq!((w.nodes[0].next, w.said(0, 1, "hello")), (Some(due), 1));
    w.sleep_until(due);
    assert_eq!(w.said(0, 1, "hello"), 2);
}

/// R29: an incarnation that has answered our hello is not given up for a late hello of its
/// predecessor, though the platform has taken it for down meanwhile.
#[test]
fn r29_the_platforms_decision_leaves_what_was_proven() {
    let mut w = World::met();
    let late = forged(&w, 1, 0, &hello());
    w.reboot(1);
    w.put(1, 0, 0).unwrap();
    w.put(0, 1, 0).unwrap();
    w.settle();
    w.notify_peer(0, 1, false);
    w.settle();
    let before = w.count(0, Counter::PeersRestarted);
    w.hand(&late);
    w.settle();
    assert_eq!((w.state(0, 1), w.count(0, Counter::PeersRestarted)), (HelloState::Good, before));
}

/// S0-13, R28: which incarnation a first hello is of, is open until ours is answered. Its requests
/// wait.
#[test]
fn s0_13_a_request_waits_until_its_sender_has_answered() {
    let mut w = World::new(2);
    w.hold("hello");
    let tag = w.put(1, 0, 10).unwrap();
    let first = w.fabric.borrow_mut().wire.pop_front().unwrap();
    assert_eq!((first.kind(), w.hand(&first)), ("hello", true));
    w.settle();
    assert_eq!((w.state(0, 1), w.state(1, 0)), (HelloState::Handshake, HelloState::Good));
    assert_eq!((w.said(1, 0, "immediate"), w.nodes[0].driver.in_use()), (1, (0, 0)));
    assert!(w.count(0, Counter::Waited) > 0);
    w.free("hello");
    w.settle();
    assert_eq!((w.report(1, tag).status.errno, w.nodes[0].done.len()), (0, 1));
}

/// What a hello of node 0 gives up, while one request has failed and a later one is in flight;
/// after a stall, or after the peer was down.
fn given_up(reliable: bool, stalled: bool) -> u32 {
    let mut w = World::met_with(Config { depth: 2, ..config() });
    w.fabric.borrow_mut().reliable = reliable;
    w.injected("immediate", InjectedFault::Lost(Sent::NotDelivered));
    let failed = w.put(0, 1, 10).unwrap();
    w.settle();
    assert_eq!(w.report(0, failed).status.errno, -5);
    w.hold("immediate");
    w.put(0, 1, 10).unwrap();
    w.settle();
    w.hold("hello");
    if !stalled {
        w.notify_peer(0, 1, false);
        w.settle();
        w.notify_peer(0, 1, true);
    }
    w.put(0, 1, 10).unwrap();
    w.sleep(w.config.credit_stall);
    assert_eq!(w.count(0, Counter::Resyncs), u64::from(stalled));
    match on_the_wire(&w, 0, "hello").message() {
        Message::Hello(hello) => hello.given_up,
        other => panic!("{other:?}"),
    }
}

/// S0-18: a hello gives up what has failed. After a stall it gives up all that is in flight, but
/// only where the channel may have lost it: a receiver may be slow.
#[test]
fn s0_18_a_hello_gives_up_what_may_be_lost_and_no_more() {
    const FAILED: u32 = 0b10;
    for (reliable, stalled, expected) in [
        (true, true, FAILED),
        (true, false, FAILED),
        (false, true, u32::MAX),
        (false, false, FAILED),
    ] {
        assert_eq!(given_up(reliable, stalled), expected, "{reliable} {stalled}");
    }
}

/// Credits that wait for room in the control lane are not returned to a peer that has gone down
/// meanwhile.
#[test]
fn what_waits_for_room_is_not_said_to_a_peer_that_is_down() {
    for down in [false, true] {
        let mut w = World::met_with(Config { depth: 4, ..config() });
        w.fabric.borrow_mut().room.insert((1, 0), [64, 0]);
        for _ in 0..3 {
            w.put(0, 1, 10).unwrap();
        }
        w.settle();
        assert_eq!((w.nodes[1].done.len(), w.said(1, 0, "noop")), (3, 0));
        if down {
            w.notify_peer(1, 0, false);
        }
        w.fabric.borrow_mut().room.clear();
        w.sleep(Span::from_millis(10));
        assert_eq!(w.said(1, 0, "noop"), usize::from(!down));
    }
}
