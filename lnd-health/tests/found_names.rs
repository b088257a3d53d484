// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Names of what is gone, and numbers of messages: what use from outside has found.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::*;
use lnd_core::time::Span;
use lnd_core::transfer::HealthClass as Class;
use lnd_health::attempts::Terms;
use lnd_health::node::{Action, End, Full, HealthCounter, PeerSettings, Ping, Remove};
use lnd_health::select::NoPath;
use lnd_health::tracker::{TrackEnd, Tracker};
use lnd_health::{HealthValue, Object};

fn pings(node: &mut Node, second: u64) -> Vec<Ping> {
    let mut found = Vec::new();
    node.health.tick(at(second), 1000, |action| match action {
        Action::Ping(ping) => found.push(ping),
        other => panic!("{other:?}"),
    });
    found
}

/// A ping went out over our interface 0; that is removed and another takes its index; the ping's
/// failure is reported: the new interface does not pay for it.
#[test]
fn a_pings_end_does_not_blame_the_interfaces_successor() {
    let mut node = Node::new(plain(1, 1, 1), 1);
    let ill = Object::Peer(node.peers[0].1[0]);
    node.health.set_health(at(0), ill, HealthValue::new(500));
    let mut found = pings(&mut node, 1);
    let ping = found.remove(0);
    assert_eq!(ping.via(), Some(local(0)));
    node.health.remove_local(local(0)).unwrap();
    let new = node.health.add_local(nid(0, 77)).unwrap();
    assert_eq!(new.index(), 0);
    node.health.answered(at(2), ping, Class::LocalError);
    assert_eq!(node.value(Object::Local(new)), 1000, "blamed for what its predecessor did");
    assert!(node.health.tally().value(HealthCounter::StaleNames) > 0, "R14: counted");
}

/// The same with the interface that the ping was for.
#[test]
fn a_pings_answer_does_not_heal_the_interfaces_successor() {
    let mut node = Node::new(plain(2, 1, 1), 1);
    let old = local(0);
    node.health.set_health(at(0), Object::Local(old), HealthValue::new(500));
    let ping = pings(&mut node, 1).remove(0);
    assert_eq!(ping.object, Object::Local(old));
    node.health.remove_local(old).unwrap();
    let new = node.health.add_local(nid(0, 77)).unwrap();
    node.health.set_health(at(1), Object::Local(new), HealthValue::new(500));
    let _ = pings(&mut node, 2);
    node.health.answered(at(2), ping, Class::Ok);
    assert_eq!(node.value(Object::Local(new)), 500, "healed by its predecessor's answer");
}

/// A tracker waits for a REPLY by a path through a peer that is removed and replaced.
#[test]
fn a_late_response_does_not_blame_the_peers_successor() {
    let mut node = Node::new(plain(1, 1, 2), 1);
    let mut attempts = node.open(50);
    let path = node.begin(&mut attempts);
    let mut tracker = Tracker::begin(at(0), Span::from_secs(10), path);
    let _ = node.health.outcome(at(1), attempts, End::OK);
    let peer = node.peer();
    node.health.remove_peer(peer).unwrap();
    let other = node.health.add_peer(PeerSettings::default()).unwrap();
    let nis: Vec<_> =
        (0..2).map(|n| node.health.add_peer_ni(other, nid(0, 900 + n)).unwrap()).collect();
    assert!(nis.iter().any(|ni| ni.index() == path.hop.index()));
    let end: TrackEnd = tracker.expire(at(20)).unwrap();
    node.health.no_response(at(20), end, 1);
    for ni in nis {
        assert_eq!(node.value(Object::Peer(ni)), 1000, "another peer pays");
    }
}

/// R14: a stale name of a peer names nothing.
#[test]
fn a_removed_peers_name_does_not_name_the_next_one() {
    let mut node = Node::new(plain(1, 1, 1), 1);
    let old = node.peer();
    node.health.remove_peer(old).unwrap();
    let new = node.health.add_peer(PeerSettings::default()).unwrap();
    node.health.add_peer_ni(new, nid(0, 555)).unwrap();
    let attempts = node.health.open(old, Terms::new(1, at(50)));
    let reached = attempts.map(|mut j| {
        let path = node.begin(&mut j);
        let nid = node.health.peer_ni(path.hop).unwrap().nid();
        let _ = node.health.outcome(at(0), j, End::OK);
        nid
    });
    assert_eq!(reached, None, "a message for a peer that is gone goes to its successor");
}

/// R14: every call with a stale name changes nothing but the counter.
#[test]
fn no_call_takes_a_stale_name() {
    let mut config = plain(1, 1, 1);
    config.routes = 1;
    let mut node = Node::with(config, 1, PeerSettings { router: true, ..Default::default() });
    let (old_peer, old_ni, old_local) = (node.peer(), node.peers[0].1[0], local(0));
    let old_route = node.health.add_route(9, old_ni).unwrap();
    node.health.remove_route(old_route).unwrap();
    node.health.remove_peer(old_peer).unwrap();
    node.health.remove_local(old_local).unwrap();
    let new_local = node.health.add_local(nid(0, 1)).unwrap();
    let new_peer = node.health.add_peer(PeerSettings::default()).unwrap();
    let new_ni = node.health.add_peer_ni(new_peer, nid(0, 100)).unwrap();
    let new_route = node.health.add_route(9, new_ni).unwrap();
    assert_eq!((new_local.index(), new_peer.index(), new_ni.index()), (0, 0, 0));

    let state = |node: &Node| {
        let all = (node.health.local(new_local), node.health.peer_ni(new_ni));
        format!("{all:?} {:?}", node.health.prober())
    };
    let before = state(&node);
    let objects = [Object::Local(old_local), Object::Peer(old_ni)];
    let health = &mut node.health;
    assert_eq!(objects.map(|object| health.ni(object)), [None, None]);
    assert!(health.peer(old_peer).is_none() && health.interfaces(old_peer).next().is_none());
    assert_eq!(health.remove_local(old_local), Err(Remove::Unknown));
    assert_eq!(health.remove_peer(old_peer), Err(Remove::Unknown));
    assert_eq!(health.remove_route(old_route), Err(Remove::Unknown));
    assert_eq!(health.add_peer_ni(old_peer, nid(0, 200)), Err(Full::Unknown));
    assert_eq!(health.add_route(8, old_ni), Err(Full::Unknown));
    for object in objects {
        health.set_health(at(1), object, HealthValue::new(1));
        health.set_credits(object, 7);
        health.set_sensitivity(object, Some(7));
    }
    health.received(at(1), old_ni, Some(old_local));
    health.fatal(at(1), old_local, true);
    health.drain_local(at(1), old_local, true);
    health.drain_peer(at(1), old_peer, true);
    health.watch(at(1), old_ni, false);
    health.active(old_ni);
    health.add_user(old_ni);
    health.published(old_ni, true);
    health.migrating(old_ni, true);
    health.urge(old_ni);
    health.connection_lost(at(1), old_ni);
    assert_eq!(health.reconnects().waiting(), 0);
    let counted = health.tally().value(HealthCounter::StaleNames);
    assert!(counted >= 20, "{counted} of them counted");
    assert_eq!(state(&node), before);

    // Named as a way of sending, it is no way.
    for (source, destination) in [(Some(old_local), None), (None, Some(old_ni))] {
        let mut terms = Terms::new(1, at(50));
        (terms.source, terms.destination) = (source, destination);
        let attempts = node.health.open(new_peer, terms).unwrap();
        assert_eq!(node.health.choose(&attempts, &[]), Err(NoPath::Unknown));
        let _ = node.health.give_up(attempts, NoPath::Unknown);
    }
    assert_eq!(node.health.remove_route(new_route), Ok(()));
    assert_eq!(node.health.audit(), Ok(()));
}
