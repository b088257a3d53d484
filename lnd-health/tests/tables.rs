// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a node knows: interfaces, peers, networks and routes come and go, each table to its end.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::collections::BTreeSet;

use common::*;
use lnd_core::transfer::{Delivery, HealthClass as Class};
use lnd_health::node::{Action, End, Full, HealthCounter, PeerSettings, Remove, WhyEnded};
use lnd_health::select::NoPath;
use lnd_health::{
    HealthConfig, Object, PeerId, PeerNiId, ProbeKinds, RouteId, WindowCheck, MAX_NETS,
    MAX_PEER_NIS,
};

#[test]
fn tables_are_full_at_their_end_and_room_is_found_again() {
    let mut health = empty(plain(2, 2, 1));
    let ours = health.add_local(nid(1, 1)).unwrap();
    assert_eq!(health.add_local(nid(1, 1)), Err(Full::Known));
    health.add_local(nid(1, 2)).unwrap();
    assert_eq!(health.add_local(nid(1, 3)), Err(Full::Table));
    let peers = [0, 1].map(|_| health.add_peer(PeerSettings::default()).unwrap());
    assert_eq!(health.add_peer(PeerSettings::default()), Err(Full::Table));
    assert_eq!(health.add_peer_ni(PeerId::new(9), nid(1, 20)), Err(Full::Unknown));
    assert_eq!(health.add_peer_ni(peers[0], nid(1, 1)), Err(Full::Known), "it is ours");
    for address in [20, 21] {
        health.add_peer_ni(peers[0], nid(1, address)).unwrap();
    }
    assert_eq!(health.add_peer_ni(peers[0], nid(1, 20)), Err(Full::Known));
    assert_eq!(health.add_peer_ni(peers[1], nid(1, 22)), Err(Full::Table));
    assert_eq!(health.find(peers[0], nid(1, 21)), health.interfaces(peers[0]).next());
    assert_eq!(health.find(peers[0], nid(1, 22)), None);

    assert_eq!(health.remove_peer(peers[0]), Ok(()));
    assert_eq!(health.remove_peer(peers[0]), Err(Remove::Unknown));
    assert_eq!(health.interfaces(peers[0]).count(), 0);
    health.add_peer_ni(peers[1], nid(1, 22)).unwrap();
    assert_eq!(health.remove_local(ours), Ok(()));
    assert_eq!(health.remove_local(ours), Err(Remove::Unknown));
    // Its place is free again, and its name is not: it would name what has taken the place (R14).
    let next = health.add_local(nid(1, 3)).unwrap();
    assert_eq!(next.index(), ours.index());
    assert_ne!(next, ours);
    assert!(health.local(ours).is_none());
    assert_eq!(health.remove_local(ours), Err(Remove::Unknown));
    assert_eq!(health.audit(), Ok(()));
}

#[test]
fn a_peer_has_so_many_interfaces_and_a_node_so_many_networks() {
    let many = MAX_PEER_NIS as u32 + 1;
    let mut health = empty(plain(1, 1, many + MAX_NETS as u32));
    let peer = health.add_peer(PeerSettings::default()).unwrap();
    for address in 1..many {
        health.add_peer_ni(peer, nid(1, address)).unwrap();
    }
    assert_eq!(health.add_peer_ni(peer, nid(1, many)), Err(Full::PeerNis));
    assert_eq!(health.peer(peer).unwrap().interfaces() as usize, MAX_PEER_NIS);
    health.remove_peer(peer).unwrap();

    let peer = health.add_peer(PeerSettings::default()).unwrap();
    for network in 1..=MAX_NETS as u32 {
        health.add_peer_ni(peer, nid(network, 1)).unwrap();
    }
    let beyond = MAX_NETS as u32 + 1;
    assert_eq!(health.add_peer_ni(peer, nid(beyond, 1)), Err(Full::Networks));
    assert_eq!(health.add_local(nid(beyond, 1)), Err(Full::Networks));
    // One that is known has its place already.
    health.add_local(nid(1, 99)).unwrap();
    assert_eq!(health.audit(), Ok(()));
}

#[test]
fn routes_come_and_go_and_hold_their_gateway() {
    let mut config = plain(1, 1, 1);
    config.routes = 1;
    let mut node = Node::with(config, 1, PeerSettings { router: true, ..Default::default() });
    let (gateway, hop) = (node.peer(), node.peers[0].1[0]);
    assert_eq!(node.health.add_route(9, PeerNiId::new(77)), Err(Full::Unknown));
    let route = node.health.add_route(9, hop).unwrap();
    assert_eq!(node.health.add_route(8, hop), Err(Full::Table));
    assert_eq!(node.health.route_mut(route).map(|route| route.gateway), Some(hop));
    assert_eq!(node.health.remove_peer(gateway), Err(Remove::Gateway));
    assert_eq!(node.health.remove_route(route), Ok(()));
    assert_eq!(node.health.remove_route(route), Err(Remove::Unknown));
    assert_eq!(node.health.remove_route(RouteId::new(999)), Err(Remove::Unknown));
    assert_eq!(node.health.route_mut(route), None);
    assert_eq!(node.health.remove_peer(gateway), Ok(()));
    assert_eq!(node.health.audit(), Ok(()));
}

#[test]
fn an_interface_may_have_a_sensitivity_of_its_own() {
    let mut node = Node::new(HealthConfig { retries: 0, ..plain(1, 1, 1) }, 1);
    let object = Object::Local(local(0));
    for (own, left) in [(Some(400), 600), (Some(0), 600), (None, 500)] {
        node.health.set_sensitivity(object, own);
        let attempts = node.open(100);
        let (ended, _) = node.send(attempts, |_, _| (at(1), surely(Class::LocalDropped)));
        assert_eq!((ended.class, node.value(object)), (Class::LocalDropped, left), "{own:?}");
    }
    assert_eq!(node.health.tally().class(Class::LocalDropped), 3);
    assert_eq!(node.health.tally().class(Class::Ok), 0);
}

#[test]
fn a_peer_shows_what_is_known_of_it() {
    let mut node = Node::among_strangers(plain(1, 1, 2), 1);
    let id = node.peer();
    let settings = node.health.peer(id).unwrap().settings();
    assert_eq!((settings.router, settings.suppresses), (false, true));
    assert_eq!(node.health.peer(id).unwrap().incarnation(), None);
    let [one, two] = [1, 2].map(incarnation);
    // Of an incarnation that is not its present one nothing is delivered.
    assert_eq!(node.health.arrived(id, stamp(1, 0)), WindowCheck::Stale);
    assert!(node.health.peer_incarnation(id, one) && !node.health.peer_incarnation(id, one));
    assert_eq!(node.health.peer(id).unwrap().incarnation(), Some(one));
    assert_eq!(node.health.arrived(id, stamp(1, 0)), WindowCheck::First);
    assert!(node.health.message_received(id, stamp(1, 0)));
    assert_eq!(node.health.arrived(id, stamp(1, 0)), WindowCheck::Second);
    assert!(
        node.health.peer_incarnation(id, two) && !node.health.peer_incarnation(PeerId::new(9), two)
    );
    assert_eq!(node.health.arrived(id, stamp(1, 1)), WindowCheck::Stale);
    assert_eq!(node.health.arrived(id, stamp(2, 0)), WindowCheck::First);
    assert_eq!(node.health.tally().value(HealthCounter::Copies), 1);
    assert_eq!(node.health.tally().value(HealthCounter::StaleStamps), 2);

    // Messages on their way hold it, also between two tries.
    let mut attempts = node.open(100);
    assert_eq!(attempts.tried().count(), 0);
    let path = node.begin(&mut attempts);
    assert_eq!(attempts.tried().collect::<Vec<_>>(), [path]);
    assert_eq!(node.health.peer(id).unwrap().attempts(), 1);
    assert_eq!(node.health.remove_peer(id), Err(Remove::Busy));
    let ended = node.health.give_up(attempts, NoPath::Tried);
    assert_eq!((ended.delivery, ended.why), (Delivery::Unknown, WhyEnded::NoPath(NoPath::Tried)));
    assert_eq!(node.health.peer(id).unwrap().attempts(), 0);
    assert_eq!(node.health.peer(PeerId::new(9)).map(|peer| peer.attempts()), None);
}

#[test]
fn an_end_without_a_try_ends_the_message() {
    // The caller's error; the message must not be lost for it.
    let mut node = Node::new(plain(1, 1, 1), 1);
    let attempts = node.open(100);
    let next = node.health.outcome(at(1), attempts, End::OK);
    let lnd_health::node::Next::Ended(ended) = next else { panic!("{next:?}") };
    assert_eq!((ended.delivery, ended.tries), (Delivery::NotDelivered, 0));
    assert_eq!(node.health.remaining(), 0);
    assert_eq!(node.values(), (vec![1000], vec![1000]), "no interface is blamed");
}

#[test]
fn a_peer_that_is_moved_to_another_path_is_not_probed() {
    // S2-8. A probe and an attempt to connect are named by index and generation.
    let mut node = Node::new(plain(1, 1, 1), 1);
    let id = node.peers[0].1[0];
    *node.health.probe_kinds() = ProbeKinds::offered(true, false, false, false);
    assert!(node.health.prober().is_empty());
    node.health.watch(at(0), id, false);
    assert!(!node.health.prober().is_empty());
    node.health.migrating(id, true);
    assert_eq!(node.health.next_action(at(30)), None);
    node.health.migrating(id, false);
    let Some(Action::Probe(probe)) = node.health.next_action(at(60)) else { panic!() };
    assert_eq!((probe.peer_ni, probe.cookie() as u32), (id, id.raw()));
    let Some(Action::Probe(second)) = node.health.next_action(at(90)) else { panic!() };
    assert_ne!(probe.cookie(), second.cookie());
}

#[test]
fn a_network_that_none_is_on_any_more_gives_way_to_another() {
    let all = MAX_NETS as u32;
    let mut config = plain(2, 1, 1);
    config.routes = 1;
    let mut health = empty(config);
    // Our own, a peer's, and one behind it stay what they are.
    health.add_local(nid(1, 1)).unwrap();
    let peer = health.add_peer(PeerSettings { router: true, ..Default::default() }).unwrap();
    let hop = health.add_peer_ni(peer, nid(2, 1)).unwrap();
    let route = health.add_route(3, hop).unwrap();
    let nets = |health: &lnd_health::Health<'_>| {
        (health.local(local(0)).unwrap().net(), health.peer_ni(hop).unwrap().net())
    };
    let before = nets(&health);
    for network in 4..=4 * all {
        let id = health.add_local(nid(network, 1)).unwrap();
        let net = health.local(id).unwrap().net();
        assert!(u32::from(net) < all && net != before.0 && net != before.1);
        health.remove_local(id).unwrap();
    }
    assert_eq!(nets(&health), before);
    assert_eq!(health.add_local(nid(3, 1)).map(|id| health.local(id).unwrap().net()), Ok(2));
    health.remove_route(route).unwrap();
    assert_eq!(health.audit(), Ok(()));
}

/// An error is a sentence for its reader, another one for each value.
#[test]
fn each_refusal_has_a_sentence_of_its_own() {
    let full = [Full::Table, Full::Networks, Full::PeerNis, Full::Unknown, Full::Known];
    let remove = [Remove::Unknown, Remove::Busy, Remove::Gateway];
    let path = [NoPath::Unknown, NoPath::NoRoute, NoPath::Unusable, NoPath::Tried];
    let errors = full.iter().map(|it| it as &dyn core::error::Error);
    let errors = errors.chain(remove.iter().map(|it| it as &dyn core::error::Error));
    let errors = errors.chain(path.iter().map(|it| it as &dyn core::error::Error));
    let sentences: BTreeSet<String> = errors.map(ToString::to_string).collect();
    assert_eq!(sentences.len(), full.len() + remove.len() + path.len());
    assert!(sentences.iter().all(|it| it.len() > 10), "{sentences:?}");
}
