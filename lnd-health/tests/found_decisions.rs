// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Defects found from outside: what costs an interface its health, and what decides the path.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::*;
use lnd_core::time::Span;
use lnd_health::attempts::Terms;
use lnd_health::node::{Action, End, PeerSettings};
use lnd_health::reconnect::Connected;
use lnd_health::{HealthValue, NiStatus, Object};

fn other_peer_is_reached(node: &mut Node) -> Result<(), String> {
    let other = node.peers[1].0;
    let attempts = node.health.open(other, Terms::new(1, at(100))).unwrap();
    let found = node.health.choose(&attempts, &[]).map(|_| ()).map_err(|e| format!("{e:?}"));
    let _ = node.health.give_up(attempts, lnd_health::select::NoPath::Tried);
    found
}

/// Ten submits find the table full (EAGAIN: back-pressure) or the peer table full.
#[test]
fn back_pressure_does_not_take_our_interfaces_down() {
    for locals in [2, 1] {
        let mut node = Node::new(plain(locals, 2, u32::from(locals)), 1);
        let mut n = 0;
        while n < 40 && other_peer_is_reached(&mut node).is_ok() {
            n += 1;
            let mut attempts = node.open(100);
            loop {
                let Ok(choice) = node.health.choose(&attempts, &[]) else {
                    let _ = node.health.give_up(attempts, lnd_health::select::NoPath::Tried);
                    break;
                };
                assert!(node.health.begin(at(0), &mut attempts, &choice));
                let class = lnd_health::refusal(lnd_core::driver::Why::NoSlots);
                match node.health.refused(at(0), attempts, class) {
                    lnd_health::node::Next::Again(again) => attempts = again,
                    // A pause until there is room: this message gives up.
                    lnd_health::node::Next::Later(..) | lnd_health::node::Next::Ended(_) => break,
                }
            }
        }
        assert_eq!(other_peer_is_reached(&mut node), Ok(()), "{locals} rails, after {n} refusals");
    }
}

/// One peer gives no credits: messages for it time out in our queue (LOCAL_TIMEOUT).
#[test]
fn a_peer_without_credits_does_not_take_our_interface_down() {
    use lnd_core::transfer::{Cause, Place, Policy, Status};
    let mut node = Node::new(plain(1, 2, 1), 1);
    let status = Status::of(Policy::Seed, Cause::Deadline, Place::Queue);
    let mut n = 0;
    while n < 40 && other_peer_is_reached(&mut node).is_ok() {
        n += 1;
        let mut attempts = node.open(100);
        node.begin(&mut attempts);
        let _ = node.health.outcome(at(99), attempts, End::of(&status));
    }
    assert_eq!(other_peer_is_reached(&mut node), Ok(()), "after {n} of class {:?}", status.health);
}

/// A peer whose address cannot be reached from here (EHOSTUNREACH), or a caller whose deadlines
/// have passed already.
#[test]
fn a_wrong_address_or_deadline_does_not_take_our_interface_down() {
    for why in [lnd_core::driver::Why::NoRoute, lnd_core::driver::Why::DeadlinePassed] {
        let mut node = Node::new(plain(1, 2, 1), 1);
        let mut n = 0;
        while n < 40 && other_peer_is_reached(&mut node).is_ok() {
            n += 1;
            let mut attempts = node.open(100);
            node.begin(&mut attempts);
            let _ = node.health.refused(at(0), attempts, lnd_health::refusal(why));
        }
        assert_eq!(other_peer_is_reached(&mut node), Ok(()), "{why:?}, after {n}");
    }
}

/// A peer with a direct path that is down and a route: another pathway altogether (S4-17).
#[test]
fn a_route_serves_when_every_direct_path_is_down() {
    let mut config = plain(2, 2, 2);
    config.routes = 4;
    let mut health = empty(config);
    let direct = health.add_local(nid(0, 1)).unwrap();
    health.add_local(nid(1, 1)).unwrap();
    let peer = health.add_peer(PeerSettings::default()).unwrap();
    health.add_peer_ni(peer, nid(0, 9)).unwrap();
    let router = health.add_peer(PeerSettings { router: true, ..Default::default() }).unwrap();
    let gateway = health.add_peer_ni(router, nid(1, 5)).unwrap();
    health.add_route(0, gateway).unwrap();
    health.fatal(at(0), direct, true);
    let attempts = health.open(peer, Terms::new(1, at(100))).unwrap();
    let found = health.choose(&attempts, &[]);
    let _ = health.give_up(attempts, lnd_health::select::NoPath::Tried);
    assert!(found.is_ok(), "{found:?}");
}

fn pings(node: &mut Node, second: u64) -> usize {
    let mut found = 0;
    node.health.tick(at(second), 1000, |action| {
        if let Action::Ping(_) = action {
            found += 1;
        }
    });
    found
}

/// With a recovery limit, one of our own interfaces that goes down an hour after the start must
/// still be pinged: nothing ever marks it as heard of, so its age is that of the node.
#[test]
fn a_local_interface_does_not_age_out_of_recovery() {
    let mut config = plain(2, 1, 2);
    config.recovery_limit = Span::from_secs(60);
    let mut node = Node::new(config, 1);
    // It has been at work all the time.
    let from = node.peers[0].1[0];
    for t in (0..3600).step_by(10) {
        node.health.received(at(t), from, Some(local(0)));
    }
    node.health.set_health(at(3600), Object::Local(local(0)), HealthValue::new(0));
    assert_eq!(node.health.ni(Object::Local(local(0))).unwrap().status(), NiStatus::Down);
    let n: usize = (3600..3660).map(|t| pings(&mut node, t)).sum();
    assert!(n > 0, "never pinged: {n}; it is down and, in the seed's profile, out of use for ever");
}

/// The same for a peer's interface that was made known late and was never heard of.
#[test]
fn a_new_peers_interface_does_not_age_out_before_its_first_ping() {
    let mut config = plain(2, 2, 2);
    config.recovery_limit = Span::from_secs(60);
    let mut health = empty(config);
    health.add_local(nid(0, 1)).unwrap();
    let peer = health.add_peer(PeerSettings::default()).unwrap();
    // Added an hour after the start, and its first message fails.
    let ni = health.add_peer_ni(peer, nid(0, 9)).unwrap();
    health.set_health(at(3600), Object::Peer(ni), HealthValue::new(0));
    let mut n = 0;
    for t in 3600..3660 {
        health.tick(at(t), 1000, |_| n += 1);
    }
    assert!(n > 0, "never pinged");
}

/// An attempt to connect of which nothing is ever told: the others go on.
#[test]
fn a_connect_without_an_end_does_not_stop_all_others() {
    let mut config = plain(1, 8, 1);
    config.reconnect.at_once = 2;
    let mut node = Node::new(config, 1);
    let nis: Vec<_> = node.peers.iter().map(|p| p.1[0]).collect();
    for ni in &nis {
        node.health.connection_lost(at(0), *ni);
    }
    let mut connects = Vec::new();
    for second in 0..100_000 {
        node.health.tick(at(second), 1000, |action| {
            if let Action::Connect(c) = action {
                connects.push(c);
            }
        });
        // The first two are lost by the host; later ones are told.
        while connects.len() > 2 {
            let c = connects.pop().unwrap();
            node.health.connected(at(second), c, Connected::Yes);
        }
    }
    assert_eq!(node.health.reconnects().waiting(), 0, "others wait for ever");
}
