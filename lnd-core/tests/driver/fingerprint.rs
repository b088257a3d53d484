// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The fingerprint of a driver differs where its future does, and only there.

use std::collections::hash_map::DefaultHasher;
use std::hash::Hasher;

use lnd_core::driver::Kind;
use lnd_core::time::Span;

use super::node::Order;
use super::world::World;

fn fingerprint(w: &World) -> u64 {
    let mut hasher = DefaultHasher::new();
    w.nodes[0].driver.fingerprint(&mut hasher);
    hasher.finish()
}

#[test]
fn what_a_transfer_carries_counts_until_it_has_ended() {
    let run = |length: u32, over: bool| {
        let mut w = World::met();
        w.put(0, 1, length).unwrap();
        if over {
            w.settle();
        }
        fingerprint(&w)
    };
    assert_eq!(run(10, false), run(10, false));
    assert_ne!(run(10, false), run(11, false));
    assert_ne!(run(10, false), run(10, true));
    assert_eq!(run(10, true), run(11, true), "nothing is left of it");
}

#[test]
fn a_doorbell_that_is_owed_counts() {
    let mut w = World::met();
    w.hold("put_req");
    w.put(1, 0, 5000).unwrap();
    w.settle();
    let letter = w.fabric.borrow_mut().wire.pop_front().unwrap();
    assert!(w.node(0).receive(&letter));
    let owed = fingerprint(&w);
    w.node(0).driver.ring();
    assert_ne!(fingerprint(&w), owed);
}

/// The time of a second peer's handshake, all else being equal.
#[test]
fn the_timer_of_every_peer_counts() {
    let run = |later: Span| {
        let mut w = World::new(3);
        w.hold("hello");
        let deadline = w.now.after(Span::from_secs(30));
        w.send(0, Order { deadline, ..w.order(Kind::Put, 1, 10) }).unwrap();
        w.settle();
        w.now = w.now.after(later);
        w.nodes[0].now = w.now;
        w.send(0, Order { deadline, ..w.order(Kind::Put, 2, 10) }).unwrap();
        fingerprint(&w)
    };
    assert_eq!(run(Span::default()), run(Span::default()));
    assert_ne!(run(Span::default()), run(Span::from_micros(1)));
}
