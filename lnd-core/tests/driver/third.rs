// SPDX-License-Identifier: MIT OR GPL-2.0-only
// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Handshakes, places and hosts that differ from each other.

use std::collections::hash_map::DefaultHasher;
use std::hash::Hasher;

use lnd_core::config::Config;
use lnd_core::counters::Counter;
use lnd_core::driver::{Kind, Role};
use lnd_core::peer::HelloState;
use lnd_core::ports::Sent;
use lnd_core::time::{Instant, Span};

use super::fabric::InjectedFault;
use super::late::take;
use super::letter::Letter;
use super::node::Order;
use super::world::{config, World};

/// A peer that takes nothing inline is sent nothing inline, with a slot or without.
#[test]
fn a_peer_that_takes_nothing_inline_is_sent_nothing_inline() {
    let mut said = Vec::new();
    for at_once in [false, true] {
        let mut w = World::with(2, config());
        w.fabric.borrow_mut().ends_at_once = at_once;
        w.config.immediate_max = 0;
        w.reboot(1);
        w.put(0, 1, 0).unwrap();
        w.settle();
        assert_eq!(w.state(0, 1), HelloState::Good);
        w.fabric.borrow_mut().said.clear();
        let tag = w.put(0, 1, 100).unwrap();
        w.settle();
        said.push((w.said(0, 1, "immediate"), w.said(0, 1, "put_req"), w.report(0, tag).role));
    }
    assert_eq!(said, [(0, 1, Role::PutSource); 2]);
}

fn fingerprint(w: &World) -> u64 {
    let mut hasher = DefaultHasher::new();
    w.nodes[0].driver.fingerprint(&mut hasher);
    hasher.finish()
}

/// What the driver will answer next is part of its state.
#[test]
fn that_the_host_is_to_offer_again_is_part_of_the_state() {
    let mut w = World::met();
    w.put(0, 1, 5000).unwrap();
    w.settle();
    let announced = fingerprint(&w);
    assert!(w.nodes[0].driver.offer_again());
    assert!(!w.nodes[0].driver.offer_again());
    assert_ne!(fingerprint(&w), announced, "one says yes and one says no");
}

/// Whether node 7, whose request was promised, gets the place of the one that rests.
fn placed(idle: usize, stranger: bool) -> bool {
    // Node 0 knows six; each look is at two places. Nodes 1 to 6 fill the table, 7 waits, 8 is a
    // stranger.
    let mut w = World::with(9, Config { peers: 6, links: 1, batch: 2, ..config() });
    // 7 has met it, sends it a request, and is forgotten.
    w.put(7, 0, 0).unwrap();
    w.settle();
    w.hold("immediate");
    let promised = w.put(7, 0, 10).unwrap();
    w.settle();
    assert_eq!(w.report(7, promised).status.errno, 0);
    w.notify_peer(0, 7, false);
    w.settle();
    let at = w.fabric.borrow().wire.iter().position(|l| l.from == 7).unwrap();
    let letter = w.fabric.borrow_mut().wire.remove(at).unwrap();
    w.free("immediate");
    w.sleep(super::hello::hold_off(&w));
    // The others fill the table. All but one have something under way that does not end.
    (1..7).for_each(|node| {
        w.put(0, node, 0).unwrap();
        w.settle();
    });
    assert_eq!((w.peer(0, 7), (1..7).all(|node| w.peer(0, node).is_some())), (None, true));
    w.hold("put_req");
    for node in (1..7).filter(|&node| node != idle) {
        w.send(0, Order { deadline: Instant::NEVER, ..w.order(Kind::Put, node, 5000) }).unwrap();
    }
    w.settle();
    w.put(8, 0, 0).unwrap();
    w.tick();
    let hello = take(&w, 8, "hello").unwrap();
    // The request, and a stranger's hello at once behind it.
    assert!(!w.hand(&letter), "it has no place");
    if stranger {
        assert!(w.hand(&hello));
    }
    w.settle();
    w.sleep(Span::from_secs(2000));
    w.peer(0, 7).is_some()
}

#[test]
fn s0_18_each_place_is_looked_at_for_the_node_that_waits() {
    for idle in 1..7 {
        assert!(placed(idle, false), "the place of node {idle}, without a stranger");
    }
    let missed: Vec<_> = (1..7).filter(|&idle| !placed(idle, true)).collect();
    assert!(missed.is_empty(), "never looked at: the places of nodes {missed:?}");
}

/// A sender whose new session is not answered yet is told that its former one is not counted: it
/// begins anew, or goes on asking. What it was told is delivered lies in the channel.
#[test]
fn s0_18_a_sender_that_is_told_in_its_first_handshake_does_not_give_up() {
    [1, 3].into_iter().for_each(|tries| told_in_its_first_handshake(tries, false));
}

/// Node 1 has been told that a message is delivered which lies in the channel, and connects to node
/// 0 anew: both have forgotten each other. Node 0 has no room for it, and its last try is out. The
/// world and the message.
pub fn promised_and_forgotten(hello_tries: u8) -> (World, Letter) {
    let mut w = World::with(4, Config { peers: 1, links: 1, hello_tries, ..config() });
    w.put(1, 0, 0).unwrap();
    w.settle();
    w.hold("immediate");
    let promised = w.put(1, 0, 10).unwrap();
    w.settle();
    assert_eq!(w.report(1, promised).status.errno, 0);
    let letter = take(&w, 1, "immediate").unwrap();
    w.free("immediate");
    // Both forget each other for want of room; node 0 has something under way with node 2.
    w.notify_peer(0, 1, false);
    w.notify_peer(1, 0, false);
    w.put(1, 3, 0).unwrap();
    w.put(0, 2, 0).unwrap();
    w.settle();
    w.notify_peer(1, 3, false);
    w.hold("put_req");
    w.put(0, 2, 5000).unwrap();
    w.settle();
    assert_eq!((w.peer(0, 1), w.peer(1, 0)), (None, None));
    // The sender connects anew. Node 0 has no room, and cannot say so.
    let tries = hello_tries.into();
    (0..tries).for_each(|_| w.injected("hello_ack", InjectedFault::Lost(Sent::NotDelivered)));
    w.put(1, 0, 20).unwrap();
    w.sleep(w.config.hello_timeout.times(u32::from(hello_tries) - 1));
    assert_eq!((w.state(1, 0), w.count(0, Counter::HellosRefused)), (HelloState::Handshake, tries));
    (w, letter)
}

fn told_in_its_first_handshake(hello_tries: u8, wrong_event: bool) {
    let (mut w, letter) = promised_and_forgotten(hello_tries);
    // Then it has.
    w.free("put_req");
    w.settle();
    w.fabric.borrow_mut().wire.push_back(letter);
    w.settle();
    if wrong_event {
        w.notify_peer(1, 0, false);
    }
    w.sleep(Span::from_secs(3000));
    let left = w.fabric.borrow().wire.len();
    assert_eq!(left, 0, "told OK, and lies in the channel for ever");
    w.assert_deliveries();
}

/// To say once that a session is not counted is not enough: its sender may be told, wrongly, that
/// we are down.
#[test]
fn s0_18_a_sender_that_was_told_and_then_takes_us_for_down_is_told_again() {
    told_in_its_first_handshake(3, true);
}
