// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What waits at its receiver over connections: the channel keeps it, however slow the receiver is.

use lnd_core::config::Config;
use lnd_core::counters::Counter;
use lnd_core::id::Tag;
use lnd_core::link::LinkState;
use lnd_core::ports::Sent;
use lnd_core::time::Span;

use super::fabric::{nid, Fabric, InjectedFault};
use super::node::{Decision, TAKE};
use super::world::{config, World, LINK0};

/// Two nodes whose channel loses something only with a connection. One message has gone between
/// them.
fn connected(config: Config) -> World {
    let mut w = strangers(config);
    w.put(0, 1, 0).unwrap();
    w.settle();
    w
}

/// As [`connected`], before the first message.
fn strangers(config: Config) -> World {
    let mut fabric = Fabric::new(2, 1);
    fabric.reliable = false;
    fabric.connected = true;
    fabric.default_room = [16, 16];
    fabric.devices.values_mut().for_each(|device| device.connects = true);
    World::on(fabric, 2, config)
}

/// Loses as many short messages of the first node as it has credits, and says that they were sent.
fn lose_all(w: &mut World, depth: usize) {
    for _ in 0..depth {
        w.injected("immediate", InjectedFault::Lost(Sent::Ok));
    }
    for _ in 0..depth {
        w.put(0, 1, 10).unwrap();
    }
    w.settle();
    assert_eq!(seen(w), 0);
}

/// How many of the messages were reported well.
fn good(w: &World, tags: &[Tag]) -> usize {
    tags.iter().filter(|&&tag| w.reported(0, tag) && w.report(0, tag).status.errno == 0).count()
}

/// How many messages the upper layer of the receiver has seen, without the first.
fn seen(w: &World) -> usize {
    w.fabric.borrow().seen.len() - 1
}

/// Four messages are sent; they are reported well, and the receiver sees them.
fn four_are_received(w: &mut World) {
    let before = w.fabric.borrow().seen.len();
    let tags: Vec<_> = (0..4).map(|_| w.put(0, 1, 10).unwrap()).collect();
    w.settle();
    assert_eq!((good(w, &tags), w.fabric.borrow().seen.len() - before), (4, 4));
}

fn with_depth(depth: u16) -> Config {
    Config { depth, slots: 128, passive_slots: 32, links: 1, connections: 2, ..config() }
}

/// A receiver without memory for three seconds, of whose requests one is undecided, has all of a
/// sender's credits: the sender asks, and gives nothing up (S0-18).
#[test]
fn s0_18_what_waits_longer_than_a_stall_is_received() {
    let mut w = connected(with_depth(32));
    let mut tags = Vec::new();
    for n in 0..15 {
        w.node(1).inline = if n == 0 { Decision::Keep } else { TAKE };
        tags.push(w.put(0, 1, 10).unwrap());
        w.settle();
    }
    w.node(1).inline = TAKE;
    w.hold("immediate");
    tags.extend((0..17).map(|_| w.put(0, 1, 10).unwrap()));
    w.settle();
    w.sleep(Span::from_secs(3));
    assert!(w.count(0, Counter::Resyncs) > 0, "no stall: the test shows nothing");
    w.free("immediate");
    w.settle();
    w.sleep(Span::from_secs(5));
    assert_eq!((good(&w, &tags), seen(&w)), (32, 32));
    assert_eq!((w.count(1, Counter::Duplicate), w.count(1, Counter::LostRequests)), (0, 0));
}

/// The goodbye of a sender comes before its requests, which wait for memory.
#[test]
fn s0_18_what_waits_behind_a_goodbye_is_received() {
    let mut w = connected(with_depth(32));
    w.hold("immediate");
    let tags: Vec<_> = (0..4).map(|_| w.put(0, 1, 10).unwrap()).collect();
    w.settle();
    let now = w.now;
    w.nodes[0].driver.shutdown(now, now.after(Span::from_secs(1)));
    w.settle();
    w.sleep(Span::from_secs(1));
    w.free("immediate");
    w.settle();
    assert_eq!((good(&w, &tags), seen(&w)), (4, 4));
}

/// What a connection has lost is given up when its end is proven: the credits come back.
#[test]
fn what_was_lost_with_a_connection_is_given_up() {
    let mut w = connected(with_depth(4));
    lose_all(&mut w, 4);
    let now = w.now;
    w.nodes[0].driver.on_connection_down(now, LINK0, nid(1));
    w.settle();
    w.sleep(Span::from_secs(5));
    four_are_received(&mut w);
}

/// The same with a link, whose stop is of all connections.
#[test]
fn what_was_lost_with_a_link_is_given_up() {
    let mut w = connected(with_depth(4));
    lose_all(&mut w, 4);
    let now = w.now;
    w.nodes[0].driver.on_link(now, LINK0, false);
    w.settle();
    w.nodes[0].driver.on_link(now, LINK0, true);
    w.settle();
    assert_eq!(w.nodes[0].driver.link_state(LINK0), Some(LinkState::Up));
    w.sleep(Span::from_secs(5));
    four_are_received(&mut w);
}

/// The transport knows nodes that the driver has not met.
#[test]
fn the_end_of_a_strangers_connection_changes_nothing() {
    let mut w = strangers(with_depth(4));
    let now = w.now;
    w.nodes[0].driver.on_connection_down(now, LINK0, nid(1));
    w.settle();
    assert_eq!(w.count(0, Counter::ConnectionsReset), 1);
    four_are_received(&mut w);
}
