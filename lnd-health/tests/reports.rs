// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The fabric's reports (S4-6 to S4-8), and actions of which no end is ever told.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::*;
use lnd_core::time::{Instant, Span};
use lnd_core::transfer::HealthClass as Class;
use lnd_health::journal::Evidence;
use lnd_health::node::{Action, Connect, End, HealthCounter, Ping, Probe};
use lnd_health::prober::{Finding, ProbeEnd};
use lnd_health::reconnect::Connected;
use lnd_health::select::NoPath;
use lnd_health::Backoff;
use lnd_health::{Aliveness, HealthConfig, HealthValue, NiId, NiStatus, Object, ProbeKinds};

const OURS: fn() -> NiId = || local(0);

fn of(node: &Node, id: NiId) -> (u16, NiStatus, bool) {
    let ni = node.health.local(id).unwrap();
    (ni.health().get(), ni.status(), ni.is_fatal())
}

/// All pings of one second, which go to our interface.
fn pings(node: &mut Node, second: u64) -> Vec<Ping> {
    let mut found = Vec::new();
    node.health.tick(at(second), 1000, |action| match action {
        Action::Ping(ping) => found.push(ping),
        other => panic!("{other:?}"),
    });
    found
}

fn path_by(node: &mut Node) -> Result<NiId, NoPath> {
    let attempts = node.open(10_000);
    let choice = node.health.choose(&attempts, &[]);
    let _ = node.health.give_up(attempts, NoPath::Tried);
    choice.map(|choice| choice.path.local)
}

#[test]
fn a_report_marks_queues_and_pings_until_it_answers() {
    // S4-6, S4-7, S4-8: an hour after the start, on an interface that was at its best.
    let mut node = Node::new(plain(2, 1, 2), 1);
    node.health.fatal(at(3600), OURS(), true);
    assert_eq!(of(&node, OURS()), (0, NiStatus::Down, true));
    assert_eq!(node.health.recovery().len(), 1);
    let mut times = Vec::new();
    for second in 3600..3640 {
        for ping in pings(&mut node, second) {
            assert_eq!((ping.object, ping.via()), (Object::Local(OURS()), None));
            times.push(second - 3600);
            node.health.answered(at(second), ping, Class::LocalError);
        }
        assert_eq!(path_by(&mut node), Ok(local(1)), "S4-7");
        assert_eq!(node.health.audit(), Ok(()));
    }
    assert_eq!(times, [1, 3, 7, 15, 31]);
    // The first answer brings it back to what it was: no message had failed over it.
    let ping = (3640..3700).find_map(|second| pings(&mut node, second).pop()).unwrap();
    node.health.answered(at(3700), ping, Class::Ok);
    assert_eq!(of(&node, OURS()), (1000, NiStatus::Up, false));
    assert_eq!((node.health.recovery().len(), node.health.audit()), (0, Ok(())));
    let used: Vec<_> = (0..4)
        .map(|_| {
            let mut attempts = node.open(10_000);
            let path = node.begin(&mut attempts);
            let _ = node.health.outcome(at(3701), attempts, End::OK);
            path.local
        })
        .collect();
    assert!(used.contains(&OURS()), "in use again: {used:?}");
}

#[test]
fn what_was_ill_before_a_report_is_ill_after_it() {
    for (before, after, status) in
        [(900, 1000, NiStatus::Up), (400, 500, NiStatus::Up), (0, 100, NiStatus::Down)]
    {
        let mut node = Node::new(plain(2, 1, 2), 1);
        node.health.set_health(at(5), Object::Local(OURS()), HealthValue::new(before));
        node.health.fatal(at(6), OURS(), true);
        node.health.fatal(at(6), OURS(), true);
        assert_eq!(of(&node, OURS()).0, 0);
        let ping = pings(&mut node, 7).pop().unwrap();
        node.health.answered(at(7), ping, Class::Ok);
        // The answer itself is a step of recovery, as always.
        assert_eq!(of(&node, OURS()), (after, status, false), "{before}");
        assert_eq!(node.health.audit(), Ok(()));
    }
    // An operator's word replaces what was before.
    let mut node = Node::new(plain(2, 1, 2), 1);
    node.health.fatal(at(6), OURS(), true);
    node.health.set_health(at(7), Object::Local(OURS()), HealthValue::new(300));
    let ping = pings(&mut node, 8).pop().unwrap();
    node.health.answered(at(8), ping, Class::Ok);
    assert_eq!(of(&node, OURS()).0, 400);
}

#[test]
fn usable_again_is_pinged_at_once() {
    // Deep in the back-off: the fabric's second report saves the wait, and the ping decides.
    let mut node = Node::new(plain(2, 1, 2), 1);
    node.health.fatal(at(10), OURS(), true);
    let last = (10..300).filter(|&second| !pings(&mut node, second).is_empty()).last().unwrap();
    assert!(node.health.next_deadline() > at(last + 100));
    node.health.fatal(at(300), OURS(), false);
    assert_eq!(of(&node, OURS()), (0, NiStatus::Down, false), "until it answers");
    assert_eq!(path_by(&mut node), Ok(local(1)));
    let ping = pings(&mut node, 300).pop().expect("at once");
    node.health.answered(at(300), ping, Class::Ok);
    assert_eq!(of(&node, OURS()), (1000, NiStatus::Up, false));
}

#[test]
fn a_ping_from_before_a_report_does_not_end_it() {
    let mut node = Node::new(plain(2, 1, 2), 1);
    node.health.set_health(at(0), Object::Local(OURS()), HealthValue::new(500));
    let old = pings(&mut node, 1).pop().unwrap();
    node.health.fatal(at(2), OURS(), true);
    node.health.answered(at(2), old, Class::Ok);
    assert_eq!(of(&node, OURS()), (0, NiStatus::Down, true));
    assert_eq!(node.health.tally().value(HealthCounter::StalePings), 1);
}

#[test]
fn lnet_ranks_it_last_and_touches_no_health() {
    let mut node = Node::new(plain(2, 1, 2).lnet_compat(), 1);
    node.health.fatal(at(1), OURS(), true);
    assert_eq!(of(&node, OURS()), (1000, NiStatus::Up, true));
    assert_eq!((node.health.recovery().len(), path_by(&mut node)), (0, Ok(local(1))));
    node.health.fatal(at(2), OURS(), false);
    assert_eq!(of(&node, OURS()), (1000, NiStatus::Up, false));
}

#[test]
fn every_report_is_journaled() {
    // R51: when, which, from, to, on which evidence.
    for compat in [false, true] {
        let config = plain(2, 1, 2);
        let config = if compat { config.lnet_compat() } else { config };
        let mut node = Node::new(config, 1);
        node.health.fatal(at(7), local(1), true);
        node.health.fatal(at(9), local(1), false);
        let written: Vec<_> = node.health.journal().entries().copied().collect();
        let (low, down) = if compat { (1000, NiStatus::Up) } else { (0, NiStatus::Down) };
        assert_eq!(written.len(), 2, "{written:?}");
        for (entry, second, from) in [(written[0], 7, 1000), (written[1], 9, low)] {
            assert_eq!((entry.at, entry.object), (at(second), Object::Local(local(1))));
            assert_eq!((entry.from, entry.to, entry.status), (from, low, down));
            assert_eq!((entry.evidence, entry.message), (Evidence::Fabric, 0));
        }
    }
}

#[test]
fn the_seeds_schedule_is_an_option() {
    // S4-8, S4-13: "pinged on regular intervals". The field's schedule backs off.
    let second = Span::from_secs(1);
    let config = HealthConfig { recovery: Backoff::regular(second), ..plain(1, 1, 1) };
    assert_eq!(config.check(), Ok(()));
    let mut node = Node::new(config, 1);
    node.health.fatal(at(50), OURS(), true);
    let times: Vec<u64> = (50..2_000).filter(|&s| !pings(&mut node, s).is_empty()).collect();
    assert_eq!(times, (51..2_000).collect::<Vec<_>>());
}

#[test]
fn a_pause_of_ours_ages_nothing_out() {
    // R41: the host did not ask for an hour. What it did not ask for was not answered in vain.
    let mut node =
        Node::new(HealthConfig { recovery_limit: Span::from_secs(10), ..plain(1, 1, 1) }, 1);
    let id = node.peers[0].1[0];
    node.health.received(at(100), id, None);
    node.health.set_health(at(100), Object::Peer(id), HealthValue::new(100));
    assert_eq!(pings(&mut node, 101).len(), 1);
    assert_eq!(pings(&mut node, 3_701).len(), 1, "it has had one ping so far");
    assert_eq!(node.health.tally().value(HealthCounter::AgedOut), 0);
    // From then on it is silent for as long as the limit says.
    let more: usize = (3_702..3_800).map(|s| pings(&mut node, s).len()).sum();
    assert!(more >= 1 && node.health.tally().value(HealthCounter::AgedOut) == 1, "{more}");
}

#[test]
fn what_is_received_shows_our_interface_alive() {
    let mut node = Node::new(plain(2, 1, 2), 1);
    let from = node.peers[0].1[0];
    node.health.received(at(40), from, Some(local(1)));
    let alive = |id| node.health.local(id).unwrap().aliveness();
    assert_eq!(alive(local(1)), (Aliveness::Alive, at(40)));
    assert_eq!(alive(local(0)).0, Aliveness::Unknown);
}

/// One action of each kind: a ping of a peer's interface, a probe and an attempt to connect.
fn one_of_each(node: &mut Node, now: Instant) -> (Option<Ping>, Option<Probe>, Option<Connect>) {
    let mut found = (None, None, None);
    node.health.tick(now, 1000, |action| match action {
        Action::Ping(it) => found.0 = Some(it),
        Action::Probe(it) => found.1 = Some(it),
        Action::Connect(it) => found.2 = Some(it),
    });
    found
}

#[test]
fn an_action_without_an_end_expires_and_is_counted() {
    let mut config = plain(1, 3, 3);
    (config.probe.idle, config.probe.again) = (Span::from_secs(1), Span::from_secs(5));
    config.reconnect.bound = Span::from_secs(4);
    let mut node = Node::new(config, 1);
    *node.health.probe_kinds() = ProbeKinds::offered(true, false, false, false);
    let ids: Vec<_> = node.peers.iter().map(|peer| peer.1[0]).collect();
    node.health.set_health(at(1_000), Object::Peer(ids[0]), HealthValue::new(500));
    node.health.watch(at(1_000), ids[1], false);
    node.health.connection_lost(at(1_000), ids[2]);
    let first = one_of_each(&mut node, at(1_001));
    let (Some(ping), Some(probe), Some(attempt)) = first else { panic!("{first:?}") };
    assert_eq!(node.health.reconnects().under_way(), 1);
    assert_eq!(node.health.tally().value(HealthCounter::Untold), 0);
    // Nothing is told of any of them. Each is over at its bound, to the nanosecond.
    for (second, untold) in [(1_002, 0), (1_003, 1), (1_005, 2), (1_006, 3)] {
        let before = Instant::from_nanos(at(second).as_nanos() - 1);
        let _ = one_of_each(&mut node, before);
        let _ = one_of_each(&mut node, at(second));
        assert_eq!(node.health.tally().value(HealthCounter::Untold), untold, "at {second}");
    }
    // What is told now is stale, and changes nothing.
    assert!(!node.health.connected(at(1_007), attempt, Connected::Yes));
    assert_eq!(node.health.probed(at(1_007), probe, ProbeEnd::RetryExceeded), Finding::Nothing);
    node.health.answered(at(1_007), ping, Class::Ok);
    assert_eq!(node.value(Object::Peer(ids[0])), 500);
    assert_eq!(node.health.reconnects().waiting(), 1);
}

#[test]
fn an_action_with_an_end_is_not_counted() {
    let mut config = plain(1, 3, 3);
    (config.probe.idle, config.probe.again) = (Span::from_secs(1), Span::from_secs(5));
    let mut node = Node::new(config, 1);
    *node.health.probe_kinds() = ProbeKinds::offered(true, false, false, false);
    let ids: Vec<_> = node.peers.iter().map(|peer| peer.1[0]).collect();
    node.health.set_health(at(0), Object::Peer(ids[0]), HealthValue::new(1));
    node.health.watch(at(0), ids[1], false);
    node.health.connection_lost(at(0), ids[2]);
    for second in 0..200 {
        let (ping, probe, attempt) = one_of_each(&mut node, at(second));
        if let Some(ping) = ping {
            node.health.answered(at(second), ping, Class::RemoteTimeout);
        }
        if let Some(probe) = probe {
            let _ = node.health.probed(at(second), probe, ProbeEnd::Other);
        }
        if let Some(attempt) = attempt {
            assert!(node.health.connected(at(second), attempt, Connected::No));
        }
    }
    assert_eq!(node.health.tally().value(HealthCounter::Untold), 0);
    assert!(node.health.tally().value(HealthCounter::Connects) > 3);
}
