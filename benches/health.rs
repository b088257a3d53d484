// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Health's figures: a selection over 8 × 8 interfaces, and the steps of decrement and recovery
//! with few and with many interfaces.
//!
//! The base of a selection is what cannot be avoided: one look at the health and credits of each
//! pair of the same tables. The base of a step is the same step with few interfaces: what is O(1)
//! costs the same with many, but for the caches.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::hint::black_box;
use std::mem::MaybeUninit;

use lnd_bench::{clock, place, Column, Options, Table};
use lnd_core::id::Nid;
use lnd_core::time::{Instant, Span};
use lnd_core::transfer::{Delivery, HealthClass as Class};
use lnd_health::attempts::Terms;
use lnd_health::node::{Action, End, Next, PeerSettings};
use lnd_health::select::{select, View, Wanted};
use lnd_health::{Health, HealthConfig, NiId, Object, PeerId, PeerNiId};

const RAILS: u32 = 8;
const SIZES: [u32; 3] = [16, 1_000, 10_000];
/// Interfaces of each peer in the steps' benchmark.
const EACH: u32 = 4;

fn nid(network: u32, address: u32) -> Nid {
    Nid::from_raw(u64::from(network) << 32 | u64::from(address)).unwrap()
}

fn node(locals: u8, peers: u32, each: u32, networks: u32) -> Health<'static> {
    let mut config = HealthConfig::new(locals, peers, peers * each);
    (config.action_every, config.action_burst) = (Span::from_micros(1), 1 << 20);
    let memory = vec![MaybeUninit::uninit(); config.bytes_needed()].leak();
    let mut health = Health::create(memory, config, Instant::ORIGIN).unwrap();
    for n in 0..u32::from(locals) {
        health.add_local(nid(n % networks, 1 + n)).unwrap();
    }
    for p in 0..peers {
        let peer =
            health.add_peer(PeerSettings { suppresses: true, ..Default::default() }).unwrap();
        for n in 0..each {
            let id = health.add_peer_ni(peer, nid(n % networks, 100 + p * each + n)).unwrap();
            health.received(Instant::ORIGIN, id, None);
        }
    }
    health
}

/// Nanoseconds of processor time for each of `times` repetitions.
fn each(times: u64, mut act: impl FnMut(u64)) -> f64 {
    let begin = clock::spent();
    for n in 0..times {
        act(n);
    }
    (clock::spent() - begin) as f64 / times as f64
}

/// The pair with the best health and most credits, by a plain scan over all pairs.
fn scan(view: &View<'_>) -> (usize, usize) {
    let mut best = (u64::MAX, 0, 0);
    for (l, local) in view.locals.iter().enumerate() {
        for (p, peer) in view.peer_nis.iter().enumerate() {
            let health = u64::from(local.health().get()) + u64::from(peer.health().get());
            let rank = (2_000 - health) << 32 | (1_000 - local.credits() - peer.credits()) as u64;
            if rank < best.0 {
                best = (rank, l, p);
            }
        }
    }
    (best.1, best.2)
}

/// Health and credits that differ a little, as on a node at work.
fn wear(health: &mut Health<'_>) {
    for n in 0..RAILS {
        let local = Object::Local(NiId::new(n as usize).unwrap());
        for (object, credits) in [(local, n * 3 % 7), (Object::Peer(PeerNiId::new(n)), n * 5 % 7)] {
            health.set_credits(object, credits as i32);
        }
    }
}

fn selection(options: &Options) {
    let mut nodes = [node(8, 1, RAILS, 1), node(8, 1, RAILS, 2)];
    nodes.iter_mut().for_each(wear);
    let first = |h: &Health<'_>| h.interfaces(PeerId::new(0)).next().unwrap();
    let times = options.scale(400_000, 5_000);
    let mut columns: [Column; 4] = Default::default();
    for _ in 0..options.rounds(21, 2) {
        let view = nodes[0].view();
        columns[0].push(each(times, |_| {
            black_box(scan(black_box(&view)));
        }));
        for (node, column) in nodes.iter().zip([1, 2]) {
            let (view, wanted) = (node.view(), Wanted::any(first(node)));
            columns[column].push(each(times, |_| {
                black_box(select(black_box(&view), black_box(&wanted))).unwrap();
            }));
        }
        columns[3].push(whole_try(&mut nodes[0], times));
    }
    let table = Table::begin("health", options, "Selection among 8 × 8 interfaces: ns");
    table.line("plain scan over the 64 pairs", "ns", &columns[0], None);
    let names = ["select, one network", "select, two fabrics", "open, choose, begin, outcome"];
    for (name, column) in names.iter().zip(&columns[1..]) {
        table.line(name, "ns", column, Some((&column.over(&columns[0]), "of the scan")));
    }
    let slowest = columns[1].median().max(columns[2].median());
    println!("  bound 200 ns: {}", if slowest <= 200.0 { "kept" } else { "EXCEEDED" });
}

/// A message over all its attempts.
fn whole_try(health: &mut Health<'_>, times: u64) -> f64 {
    each(times, |n| {
        let terms = Terms::new(n, Instant::from_nanos(1_000));
        let mut attempts = health.open(PeerId::new(0), terms).unwrap();
        let choice = health.choose(&attempts, &[]).unwrap();
        assert!(health.begin(Instant::ORIGIN, &mut attempts, &choice));
        assert!(matches!(health.outcome(Instant::ORIGIN, attempts, End::OK), Next::Ended(_)));
    })
}

/// A node all of whose peer interfaces are ill, so that the recovery queue is as long as can be.
fn ill(peers: u32) -> Health<'static> {
    let mut health = node(2, peers, EACH, 1);
    for n in 0..peers * EACH {
        decrement(&mut health, n);
    }
    assert_eq!(health.recovery().len(), peers * EACH);
    health
}

fn decrement(health: &mut Health<'_>, n: u32) {
    let peer = PeerId::new(n / EACH);
    let mut terms = Terms::new(0, Instant::from_nanos(1_000));
    (terms.destination, terms.resend) = (Some(PeerNiId::new(n)), false);
    let mut attempts = health.open(peer, terms).unwrap();
    let Ok(choice) = health.choose(&attempts, &[]) else {
        // It is down: one step of recovery, so that there is something to lose.
        let _ = health.give_up(attempts, lnd_health::select::NoPath::Unusable);
        health.set_health(Instant::ORIGIN, Object::Peer(PeerNiId::new(n)), half());
        return;
    };
    assert!(health.begin(Instant::ORIGIN, &mut attempts, &choice));
    let end = End::failed(Class::RemoteDropped, Delivery::NotDelivered);
    let _ = health.outcome(Instant::ORIGIN, attempts, end);
}

fn half() -> lnd_health::HealthValue {
    lnd_health::HealthValue::new(999)
}

fn steps(options: &Options) {
    let mut nodes = SIZES.map(ill);
    let mut decrements: [Column; 3] = Default::default();
    let mut recoveries: [Column; 3] = Default::default();
    let times = options.scale(200_000, 2_000);
    let mut now = Instant::ORIGIN;
    for _ in 0..options.rounds(15, 2) {
        for (i, (health, peers)) in nodes.iter_mut().zip(SIZES).enumerate() {
            let count = peers * EACH;
            decrements[i].push(each(times, |n| decrement(health, n as u32 * 7 % count)));
        }
        for (i, health) in nodes.iter_mut().enumerate() {
            let mut steps = 0;
            let begin = clock::spent();
            while steps < times {
                now = now.after(Span::from_secs(2));
                health.tick(now, 1 << 16, |action| {
                    let Action::Ping(ping) = action else { panic!("only pings are due") };
                    let _ = black_box(ping);
                    steps += 1;
                });
            }
            recoveries[i].push((clock::spent() - begin) as f64 / steps as f64);
        }
    }
    let table = Table::begin("health", options, "Steps, by number of ill peer interfaces: ns");
    for (what, columns) in [("decrement", &decrements), ("recovery ping", &recoveries)] {
        for (peers, column) in SIZES.iter().zip(columns) {
            let name = format!("{what}, {} interfaces", peers * EACH);
            table.line(&name, "ns", column, Some((&column.over(&columns[0]), "of the least")));
        }
    }
}

fn main() {
    let options = Options::read();
    place::pin(place::pair().0);
    if let Some(count) = options.count {
        let mut health = node(8, 1, RAILS, 1);
        wear(&mut health);
        whole_try(&mut health, count);
        return;
    }
    selection(&options);
    steps(&options);
    let config = HealthConfig::new(8, 10_000, 40_000);
    let bytes = config.bytes_needed() / 40_000;
    println!("\n10,000 peers with 4 interfaces each: {bytes} bytes an interface, bound 256");
    assert!(bytes <= 256);
}
