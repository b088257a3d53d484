// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Selection against a naive one, and its properties (R52).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::*;
use lnd_health::attempts::Terms;
use lnd_health::node::{End, PeerSettings};
use lnd_health::select::{select, Because, Choice, Distance, Match, NoPath, Rule, View, Wanted};
use lnd_health::{HealthValue, Ni, NiId, NiStatus, Object, PeerNiId, Profile};

/// Numbers that look random and are the same in each run.
struct Random(u32);

impl Random {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        ((u64::from(self.0) * u64::from(bound)) >> 32) as u32
    }
}

/// A random node: networks, health, fatal, draining, credits, priorities, preferences, past uses.
fn random_node(random: &mut Random, profile: Profile) -> Node {
    let mut config = plain(1 + random.below(8) as u8, 1, 1 + random.below(8));
    config.profile = profile;
    config.numa_range = 20;
    let mut node = Node::new(config, 1 + random.below(3));
    let ours = (0..usize::from(config.locals)).map(local).map(Object::Local);
    let theirs: Vec<Object> = node.peers[0].1.iter().copied().map(Object::Peer).collect();
    let mut rules = Vec::new();
    for object in ours.chain(theirs) {
        let ni_nid = node.health.ni(object).unwrap().nid().unwrap();
        if let Object::Local(id) = object {
            node.health.fatal(at(0), id, random.below(8) == 0);
        }
        // After the report, which marks it down: an operator may say otherwise.
        if random.below(3) == 0 {
            let health = HealthValue::new(random.below(11) as u16 * 100);
            node.health.set_health(at(0), object, health);
        }
        node.health.set_credits(object, random.below(4) as i32 - 1);
        if random.below(6) == 0 {
            rules.push(Rule { to: Match::Nid(ni_nid), priority: random.below(3) as u16 });
        }
        if let Object::Local(id) = object {
            node.health.drain_local(at(0), id, random.below(10) == 0);
            let peer = node.peers[0].1[0];
            if random.below(4) == 0 {
                let peer = node.health.peer_ni(peer).unwrap().nid().unwrap();
                rules.push(Rule { to: Match::Pair { local: ni_nid, peer }, priority: 0 });
            }
        }
    }
    rules.push(Rule { to: Match::Net(random.below(3)), priority: random.below(2) as u16 });
    node.health.set_rules(rules);
    for n in 0..random.below(6) {
        let mut attempts = node.health.open(node.peer(), Terms::new(u64::from(n), at(9))).unwrap();
        let Ok(choice) = node.health.choose(&attempts, &[]) else {
            let _ = node.health.give_up(attempts, NoPath::Tried);
            continue;
        };
        assert!(node.health.begin(at(0), &mut attempts, &choice));
        let _ = node.health.outcome(at(1), attempts, End::OK);
    }
    node
}

/// The field's order, spelled out with tuples and sorts: network, then ours, then theirs.
fn naive(view: &View<'_>, hops: &[PeerNiId], distances: &[Distance]) -> Option<(NiId, PeerNiId)> {
    let seed = view.profile == Profile::Seed;
    let usable =
        |ni: &Ni| !ni.is_draining() && !(seed && (ni.is_fatal() || ni.status() == NiStatus::Down));
    let ill = |ni: &Ni| (ni.is_fatal(), 1000 - ni.health().get());
    let theirs: Vec<(PeerNiId, &Ni)> = hops
        .iter()
        .map(|&id| (id, &view.peer_nis[id.index()]))
        .filter(|(_, ni)| usable(ni))
        .collect();
    let ours: Vec<(usize, &Ni)> = view.locals.iter().enumerate().filter(|l| usable(l.1)).collect();
    let net = (0..view.nets.len() as u8)
        .filter(|&net| ours.iter().any(|l| l.1.net() == net))
        .filter(|&net| theirs.iter().any(|t| t.1.net() == net))
        .min_by_key(|&net| {
            let best = |nis: &mut dyn Iterator<Item = &Ni>| nis.map(ill).min().unwrap();
            let local = best(&mut ours.iter().map(|l| l.1).filter(|ni| ni.net() == net));
            let hop = best(&mut theirs.iter().map(|t| t.1).filter(|ni| ni.net() == net));
            let slot = &view.nets[usize::from(net)];
            (local.0 || hop.0, hop.1, slot.priority, local.1, slot.last_turn())
        })?;
    let local = ours.iter().filter(|l| l.1.net() == net).min_by_key(|(index, ni)| {
        let d = distances.get(*index).copied().unwrap_or_default();
        let numa = if d.numa < view.numa_range { 0 } else { d.numa };
        let order = (ill(ni), ni.priority(), d.device, numa);
        (order, -ni.credits(), ni.last_turn())
    })?;
    let hop = theirs.iter().filter(|t| t.1.net() == net).min_by_key(|(_, ni)| {
        let preferred = ni.preferred() >> local.0 & 1 == 1;
        (ill(ni), ni.priority(), !preferred, -ni.credits(), ni.last_turn())
    })?;
    Some((NiId::new(local.0)?, hop.0))
}

fn hops(node: &Node) -> Vec<PeerNiId> {
    node.health.interfaces(node.peer()).collect()
}

#[test]
fn agrees_with_the_naive_order() {
    let rounds = if cfg!(miri) { 20 } else { 6_000 };
    let mut random = Random(11);
    let (mut found, mut decided) = (0, std::collections::BTreeMap::new());
    for _ in 0..rounds {
        let profile = if random.below(2) == 0 { Profile::Seed } else { Profile::LnetCompat };
        let node = random_node(&mut random, profile);
        let distances: Vec<Distance> = (0..random.below(9))
            .map(|_| Distance { device: random.below(2) as u8, numa: random.below(3) as u16 * 15 })
            .collect();
        let hops = hops(&node);
        let wanted = Wanted { distances: &distances, ..Wanted::any(hops[0]) };
        let view = node.health.view();
        let choice = select(&view, &wanted);
        assert_eq!(choice, select(&view, &wanted), "it is pure");
        let expected = naive(&view, &hops, &distances);
        let pair = choice.ok().map(|c: Choice| (c.path.local, c.path.hop));
        assert_eq!(pair, expected);
        if let Ok(choice) = choice {
            found += 1;
            for why in [choice.reasons.local, choice.reasons.hop, choice.reasons.net] {
                *decided.entry(format!("{why:?}")).or_insert(0) += 1;
            }
            assert_sound(&view, &hops, &choice);
        }
    }
    assert!(found > rounds / 2);
    // Every reason but those of requests and routes occurred.
    assert!(cfg!(miri) || decided.len() == 9, "{decided:?}");
}

/// Never what is fatal or down if another pair is neither.
fn assert_sound(view: &View<'_>, hops: &[PeerNiId], choice: &Choice) {
    let good = |ni: &Ni| !ni.is_fatal() && ni.status() == NiStatus::Up && !ni.is_draining();
    let local = &view.locals[choice.path.local.index()];
    let hop = &view.peer_nis[choice.path.hop.index()];
    assert_eq!(local.net(), hop.net());
    let other = view.locals.iter().filter(|l| good(l)).any(|l| {
        hops.iter().map(|h| &view.peer_nis[h.index()]).any(|h| good(h) && h.net() == l.net())
    });
    assert!(!other || !local.is_fatal(), "fatal, and another pair is not");
    assert!(view.profile == Profile::LnetCompat || good(local) && good(hop));
}

#[test]
fn turns_are_fair_on_equal_rails() {
    let mut node = Node::new(plain(4, 1, 4), 2);
    let mut uses = std::collections::BTreeMap::new();
    for _ in 0..400 {
        let mut attempts = node.open(9);
        let path = node.begin(&mut attempts);
        *uses.entry(Object::Local(path.local)).or_insert(0) += 1;
        *uses.entry(Object::Peer(path.hop)).or_insert(0) += 1;
        let _ = node.health.outcome(at(1), attempts, End::OK);
    }
    assert_eq!(uses.len(), 8);
    assert!(uses.values().all(|&n| n == 100), "{uses:?}");
}

#[test]
fn fixed_ends_are_kept() {
    // A6: a given source, a given destination, and a peer that knows us by one interface.
    let mut node = Node::new(plain(3, 1, 3), 1);
    let mut terms = Terms::new(1, at(9));
    (terms.source, terms.destination) = (NiId::new(2), Some(node.peers[0].1[1]));
    let mut attempts = node.health.open(node.peer(), terms).unwrap();
    let choice = node.health.choose(&attempts, &[]).unwrap();
    assert_eq!((Some(choice.path.local), Some(choice.path.hop)), (terms.source, terms.destination));
    assert_eq!((choice.reasons.local, choice.reasons.hop), (Because::Given, Because::Given));
    assert!(node.health.begin(at(0), &mut attempts, &choice));
    let _ = node.health.outcome(at(1), attempts, End::OK);
    let bound = PeerSettings { bound: NiId::new(1), ..PeerSettings::default() };
    let mut node = Node::with(plain(3, 1, 3), 1, bound);
    for _ in 0..6 {
        let mut attempts = node.open(9);
        assert_eq!(Some(node.begin(&mut attempts).local), bound.bound);
        let _ = node.health.outcome(at(1), attempts, End::OK);
    }
}

#[test]
fn routes_by_operator_hops_health_and_turn() {
    // A6, S4-4: a network of another fabric behind two gateways, of which one has two interfaces.
    let mut config = plain(2, 3, 9);
    config.routes = 4;
    let mut health = empty(config);
    for n in 0..2 {
        health.add_local(nid(1, 1 + n)).unwrap();
    }
    let router = PeerSettings { router: true, ..PeerSettings::default() };
    let gateways: Vec<PeerNiId> = (0..2)
        .map(|n| {
            let gateway = health.add_peer(router).unwrap();
            health.add_peer_ni(gateway, nid(1, 50 + n)).unwrap()
        })
        .collect();
    let far = health.add_peer(PeerSettings::default()).unwrap();
    let ends = [0, 1].map(|n| health.add_peer_ni(far, nid(9, 70 + n)).unwrap());
    let mut node = Node { health, peers: vec![(far, ends.to_vec())] };
    let attempts = node.open(9);
    assert_eq!(node.health.choose(&attempts, &[]), Err(NoPath::NoRoute));
    let routes = [0, 1].map(|n| node.health.add_route(9, gateways[n]).unwrap());
    let choice = node.health.choose(&attempts, &[]).unwrap();
    assert_eq!((choice.path.hop, choice.reasons.hop), (gateways[0], Because::Turn));
    assert!(choice.route == Some(routes[0]) && ends.contains(&choice.destination));
    let _ = node.health.give_up(attempts, NoPath::Tried);
    // Turns, when all else is equal.
    let mut used = Vec::new();
    for _ in 0..4 {
        let mut attempts = node.open(9);
        used.push(node.begin(&mut attempts).hop);
        let _ = node.health.outcome(at(1), attempts, End::OK);
    }
    assert_eq!(used, [gateways[0], gateways[1], gateways[0], gateways[1]]);
    let chosen = |node: &mut Node| {
        let attempts = node.open(9);
        let choice = node.health.choose(&attempts, &[]);
        let _ = node.health.give_up(attempts, NoPath::Tried);
        choice.map(|c| (c.path.hop, c.reasons.hop))
    };
    node.health.set_health(at(1), Object::Peer(gateways[0]), HealthValue::new(900));
    assert_eq!(chosen(&mut node), Ok((gateways[1], Because::Health)));
    node.health.route_mut(routes[1]).unwrap().hops = 2;
    assert_eq!(chosen(&mut node), Ok((gateways[0], Because::Hops)));
    node.health.set_rules([Rule { to: Match::Gateway(nid(1, 50)), priority: 3 }]);
    assert_eq!(chosen(&mut node), Ok((gateways[1], Because::Policy)));
    // New rules replace the old ones, also those about gateways; a route's own priority stays.
    node.health.set_rules([]);
    assert_eq!(chosen(&mut node), Ok((gateways[0], Because::Hops)));
    node.health.route_mut(routes[0]).unwrap().priority = 1;
    node.health.set_rules([Rule { to: Match::Gateway(nid(1, 51)), priority: 1 }]);
    assert_eq!(chosen(&mut node), Ok((gateways[0], Because::Hops)));
    node.health.set_rules([]);
    assert_eq!(chosen(&mut node), Ok((gateways[1], Because::Policy)));
    // LU-18444: a route is up or not by what is known of the gateway, not by its health value.
    node.health.route_mut(routes[1]).unwrap().alive = false;
    assert_eq!(chosen(&mut node), Ok((gateways[0], Because::Only)));
    node.health.route_mut(routes[0]).unwrap().alive = false;
    assert_eq!(chosen(&mut node), Err(NoPath::Unusable));
}

#[test]
fn a_resend_through_routers_takes_the_other_gateway() {
    let mut config = plain(1, 3, 9);
    config.routes = 4;
    let mut health = empty(config);
    health.add_local(nid(1, 1)).unwrap();
    let router = PeerSettings { router: true, ..PeerSettings::default() };
    for n in 0..2 {
        let gateway = health.add_peer(router).unwrap();
        let id = health.add_peer_ni(gateway, nid(1, 50 + n)).unwrap();
        health.add_route(9, id).unwrap();
    }
    let far = health.add_peer(PeerSettings::default()).unwrap();
    health.add_peer_ni(far, nid(9, 70)).unwrap();
    let mut node = Node { health, peers: vec![(far, vec![])] };
    let attempts = node.open(9);
    let failed = surely(lnd_core::transfer::HealthClass::RemoteDropped);
    let (ended, paths) = node.send(attempts, |n, _| (at(1), if n == 1 { failed } else { End::OK }));
    assert_eq!(ended.tries, 2);
    assert_ne!(paths[0].hop, paths[1].hop);
    assert_eq!(node.value(Object::Peer(paths[0].hop)), 900, "a router is blamed (LU-13501)");
}
