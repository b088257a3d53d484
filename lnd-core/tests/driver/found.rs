// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Defects found from outside, each by the test that showed it.

use lnd_core::config::Config;
use lnd_core::driver::{Kind, Why};
use lnd_core::peer::HelloState;
use lnd_core::ports::Sent;
use lnd_core::time::Span;
use lnd_core::transfer::{Cause, Delivery, HealthClass, Place, Status};

use super::fabric::InjectedFault;
use super::node::Decision;
use super::world::{config, World};

/// LU-16303: a message whose time is over while it waits is not sent any more. Frames come before
/// `on_time`, as in every host's loop (`ffi/kernel/host/node.c`).
#[test]
fn lu16303_what_has_expired_in_the_credit_queue_is_not_sent() {
    let mut w = World::met_with(Config { depth: 2, ..config() });
    w.node(1).inline = Decision::Keep;
    for _ in 0..2 {
        w.put(0, 1, 10).unwrap();
    }
    w.settle();
    let mut order = w.order(Kind::Put, 1, 10);
    order.deadline = w.now.after(Span::from_millis(500));
    let late = w.send(0, order).unwrap();
    w.settle();
    let before = w.said(0, 1, "immediate");
    // Credits come back in time, but the sender's thread sleeps until the deadline is long over.
    for _ in 0..2 {
        w.node(1).answer_kept(0).unwrap();
    }
    w.tick();
    w.now = w.now.after(Span::from_millis(900));
    w.deliver();
    let sent = w.said(0, 1, "immediate") - before;
    w.settle();
    let status = w.report(0, late).status;
    assert_eq!(sent, 0, "sent 400 ms after its deadline");
    late_in_a_queue(status);
}

/// The same while the peer is being connected to.
#[test]
fn lu16303_what_has_expired_while_handshake_is_not_sent() {
    let mut w = World::new(2);
    w.hold("hello_ack");
    let mut order = w.order(Kind::Get, 1, 5000);
    order.deadline = w.now.after(Span::from_millis(500));
    let late = w.send(0, order).unwrap();
    w.settle();
    w.now = w.now.after(Span::from_millis(900));
    w.free("hello_ack");
    w.deliver();
    let sent = w.said(0, 1, "get_req");
    w.settle();
    let status = w.report(0, late).status;
    assert_eq!(sent, 0, "sent 400 ms after its deadline");
    late_in_a_queue(status);
}

/// R14: the name of a peer that was forgotten, used by an interrupt.
#[test]
fn a_stale_peer_id_takes_none_down() {
    let mut w = World::with(3, Config { peers: 1, ..config() });
    w.put(0, 1, 0).unwrap();
    w.settle();
    let old = w.peer(0, 1).unwrap();
    w.notify_peer(0, 1, false);
    w.settle();
    w.put(0, 2, 0).unwrap();
    w.settle();
    assert_eq!(w.state(0, 2), HelloState::Good);
    assert_eq!(w.peer(0, 2).unwrap().index(), old.index(), "the place is the same");
    assert!(!w.nodes[0].driver.irq_handle().peer_down(old), "it names nothing");
    assert_eq!(w.state(0, 2), HelloState::Good, "peer 1's death is peer 2's");
    // Nor can anything be learnt by it.
    assert_eq!(w.nodes[0].driver.peer_state(old), HelloState::Unknown);
    assert_eq!(w.nodes[0].driver.irq_handle().peer_state(old), HelloState::Unknown);
    assert_eq!(w.nodes[0].driver.credits_with(old), None);
}

/// LU-14536: the channel says at once that no node listens.
#[test]
fn lu14536_none_listens_is_heard() {
    let mut w = World::new(2);
    for _ in 0..20 {
        w.injected("hello", InjectedFault::Lost(Sent::NotDelivered));
    }
    let tag = w.put(0, 1, 10).unwrap();
    let mut waited = 0;
    while !w.reported(0, tag) && waited < 200 {
        w.sleep(Span::from_millis(100));
        waited += 1;
    }
    assert!(waited < 20);
    assert_eq!(w.said(0, 1, "hello"), 2, "one by each link");
    assert_eq!(w.report(0, tag).status.evidence, Some((Cause::PeerDown, Place::Queue)));
    // R68: it is known for a while that there is no one.
    assert_eq!(w.put(0, 1, 10), Err(Why::PeerDown));
    assert_eq!(w.said(0, 1, "hello"), 2);
}

/// LU-1600: no new peers while shutting down.
#[test]
fn lu1600_no_peers_are_made_during_shutdown() {
    let mut w = World::new(3);
    w.put(0, 1, 0).unwrap();
    w.settle();
    let grace = w.now.after(Span::from_secs(20));
    w.node(1).put = Decision::Keep;
    w.put(0, 1, 5000).unwrap();
    w.settle();
    let now = w.now;
    w.nodes[0].driver.shutdown(now, grace);
    w.settle();
    assert_eq!(w.peer(0, 2), None);
    let _ = w.put(2, 0, 10);
    w.settle();
    assert_eq!(w.peer(0, 2), None);
    // Its hello is answered all the same (S0-14).
    assert_eq!((w.said(0, 2, "hello"), w.said(0, 2, "hello_ack")), (0, 1));
}

/// Expired where it waited: never sent, so not delivered, and the network is not to blame.
fn late_in_a_queue(status: Status) {
    assert_eq!((status.errno, status.health), (-110, HealthClass::LocalTimeout));
    assert_eq!(status.delivery, Delivery::NotDelivered);
    assert_eq!(status.evidence, Some((Cause::Deadline, Place::Queue)));
}
