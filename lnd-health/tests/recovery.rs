// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a node does of its own accord: recovery pings, probes, reconnects, within one budget.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::*;
use lnd_core::time::{Instant, Span};
use lnd_core::transfer::HealthClass as Class;
use lnd_health::attempts::Terms;
use lnd_health::node::{Action, End, HealthCounter, Next, PeerSettings, Ping, Remove};
use lnd_health::prober::{Finding, ProbeEnd};
use lnd_health::reconnect::{Connected, Connectivity};
use lnd_health::select::NoPath;
use lnd_health::{
    Aliveness, HealthConfig, HealthValue, NiStatus, Object, ProbeKind, ProbeKinds, Thresholds,
};

/// All pings of one second.
fn pings(node: &mut Node, second: u64) -> Vec<Ping> {
    let mut found = Vec::new();
    node.health.tick(at(second), 1000, |action| match action {
        Action::Ping(ping) => found.push(ping),
        other => panic!("{other:?}"),
    });
    found
}

#[test]
fn pinged_until_well() {
    // S4-8, S4-13, A12's 210: unanswered at 1, 3, 7, 15 s; then answered each second until well.
    for object in 0..2 {
        let mut node = Node::new(plain(2, 1, 2), 1);
        let ill = [Object::Local(local(1)), Object::Peer(node.peers[0].1[1])][object];
        node.health.set_health(at(0), ill, HealthValue::new(500));
        let mut times = Vec::new();
        for second in 0..40 {
            for ping in pings(&mut node, second) {
                assert_eq!(ping.object, ill);
                times.push(second);
                let class = if second < 15 { Class::NetworkTimeout } else { Class::Ok };
                node.health.answered(at(second), ping, class);
            }
            assert_eq!(node.health.audit(), Ok(()));
        }
        // 3 failed pings took 300 of 500; the answered one at 15 s gave the first 100 back.
        assert_eq!(times, [1, 3, 7, 15, 16, 17, 18, 19, 20, 21, 22]);
        assert_eq!((node.value(ill), node.health.recovery().len()), (1000, 0));
        assert_eq!(node.health.next_deadline(), Instant::NEVER);
        let (ours, theirs) = node.values();
        assert!(ours.into_iter().chain(theirs).all(|v| v == 1000), "no other interface was blamed");
    }
}

#[test]
fn who_is_heard_of_serves_well() {
    // A router, or a peer of a router, is well at once; others gain what one failure costs.
    for (routing, router, expected) in
        [(false, false, 600), (false, true, 1000), (true, false, 1000), (true, true, 1000)]
    {
        let config = HealthConfig { routing, ..plain(1, 1, 1) };
        let mut node = Node::with(config, 1, PeerSettings { router, ..Default::default() });
        let (ours, theirs) = (Object::Local(local(0)), Object::Peer(node.peers[0].1[0]));
        node.health.set_health(at(0), ours, HealthValue::new(500));
        node.health.set_health(at(0), theirs, HealthValue::new(500));
        node.health.received(at(1), node.peers[0].1[0], Some(local(0)));
        assert_eq!((node.value(ours), node.value(theirs)), (600, expected), "{routing} {router}");
    }
}

#[test]
fn down_and_up_again_is_counted() {
    let thresholds = Thresholds { down: 300, up: 700 };
    let mut node = Node::new(HealthConfig { thresholds, ..plain(1, 1, 1) }, 1);
    let ill = Object::Peer(node.peers[0].1[0]);
    for (health, went_down, came_up) in
        [(301, 0, 0), (300, 1, 0), (0, 1, 0), (699, 1, 0), (700, 1, 1), (300, 2, 1), (1000, 2, 2)]
    {
        node.health.set_health(at(0), ill, HealthValue::new(health));
        let tally = node.health.tally();
        let counts = (tally.value(HealthCounter::WentDown), tally.value(HealthCounter::CameUp));
        assert_eq!(counts, (went_down, came_up), "{health}");
    }
}

#[test]
fn pings_try_all_paths() {
    // A12's 218.
    let mut node = Node::new(plain(4, 1, 1), 1);
    let ill = Object::Peer(node.peers[0].1[0]);
    node.health.set_health(at(0), ill, HealthValue::NONE);
    let mut via: Vec<_> = (0..20).flat_map(|s| pings(&mut node, s)).map(|p| p.via()).collect();
    assert_eq!(via.len(), 4);
    via.sort_unstable();
    via.dedup();
    assert_eq!(via.len(), 4, "each time by another interface of ours");
}

#[test]
fn a_ping_without_path_is_put_off_and_not_counted() {
    let mut node = Node::new(plain(1, 1, 1), 1);
    let ill = Object::Peer(node.peers[0].1[0]);
    node.health.set_health(at(0), ill, HealthValue::NONE);
    node.health.drain_local(at(0), local(0), true);
    for second in 0..5 {
        assert_eq!(pings(&mut node, second), []);
    }
    assert_eq!(node.health.tally().value(HealthCounter::Pathless), 4);
    node.health.drain_local(at(5), local(0), false);
    assert_eq!(pings(&mut node, 5).len(), 1);
}

#[test]
fn answers_after_the_next_ping_are_stale() {
    let mut node = Node::new(plain(2, 1, 2), 1);
    let ill = Object::Local(local(0));
    node.health.set_health(at(0), ill, HealthValue::new(500));
    let first = pings(&mut node, 1).pop().unwrap();
    let second = pings(&mut node, 3).pop().unwrap();
    node.health.answered(at(4), first, Class::Ok);
    assert_eq!(node.value(ill), 500);
    node.health.answered(at(4), second, Class::Ok);
    assert_eq!((node.value(ill), node.health.tally().value(HealthCounter::StalePings)), (600, 1));
}

#[test]
fn age_out_gives_up_what_was_long_unheard_of() {
    // A12's 211: limit 10 s, pings until then.
    let mut config = plain(1, 1, 1);
    config.recovery_limit = Span::from_secs(10);
    let mut node = Node::new(config, 1);
    let id = node.peers[0].1[0];
    node.health.received(at(0), id, None);
    node.health.set_health(at(0), Object::Peer(id), HealthValue::new(100));
    let times: Vec<u64> = (0..100).filter(|&s| !pings(&mut node, s).is_empty()).collect();
    assert_eq!(times, [1, 3, 7]);
    assert_eq!(
        (node.health.recovery().len(), node.health.tally().value(HealthCounter::AgedOut)),
        (0, 1)
    );
}

#[test]
fn lnet_pings_no_stranger() {
    // A5: a peer interface that was never heard of is not recovered; the seed's profile must.
    for (config, expected) in [(plain(1, 1, 1).lnet_compat(), 0), (plain(1, 1, 1), 1)] {
        let mut node = Node::new(config, 1);
        let id = node.peers[0].1[0];
        node.health.set_health(at(0), Object::Peer(id), HealthValue::NONE);
        assert_eq!(node.health.recovery().len(), expected);
        assert_eq!(node.health.audit(), Ok(()));
    }
}

#[test]
fn whom_we_hear_of_is_pinged() {
    // R50: who lost health as a stranger, or was given up, and then shows himself, however he does.
    for (stranger, way) in [true, false].into_iter().flat_map(|s| (0..3).map(move |way| (s, way))) {
        let mut config = plain(1, 1, 1);
        (config.probe.idle, config.probe.again) = (Span::from_secs(10), Span::from_secs(2));
        if stranger {
            config = config.lnet_compat();
        } else {
            config.recovery_limit = Span::from_secs(1);
        }
        let mut node = Node::new(config, 1);
        let id = node.peers[0].1[0];
        if !stranger {
            node.health.received(at(0), id, None);
        }
        node.health.set_health(at(0), Object::Peer(id), HealthValue::NONE);
        (0..5).for_each(|second| _ = pings(&mut node, second));
        assert_eq!(node.health.recovery().len(), 0);
        match way {
            0 => node.health.received(at(60), id, None),
            1 => node.health.connection_lost(at(5), id),
            _ => {
                *node.health.probe_kinds() = ProbeKinds::offered(true, false, false, false);
                node.health.watch(at(5), id, false);
            }
        }
        if way > 0 {
            match (5..60).find_map(|second| node.health.next_action(at(second))).unwrap() {
                Action::Connect(it) => assert!(node.health.connected(at(60), it, Connected::Yes)),
                Action::Probe(it) => {
                    let finding = node.health.probed(at(60), it, ProbeEnd::Success);
                    assert_eq!(finding, Finding::Alive);
                }
                other @ Action::Ping(_) => panic!("{other:?}"),
            }
        }
        assert_eq!(node.health.audit(), Ok(()));
        assert_eq!(node.health.recovery().len(), 1, "stranger {stranger}, way {way}");
    }
}

/// 1,000 peers fail in one tick: pings and reconnects follow, and at no time more than the budget.
#[test]
fn a_thousand_failures_make_no_burst() {
    let mut config = plain(2, 1000, 1);
    (config.action_every, config.action_burst) = (Span::from_millis(10), 100);
    (config.recovery.jitter, config.reconnect.backoff.jitter) = (4, 4);
    let mut node = Node::new(config, 1);
    for n in 0..1000 {
        let (peer, id) = (node.peers[n].0, node.peers[n].1[0]);
        let terms = Terms { resend: false, ..Terms::new(0, at(9)) };
        let attempts = node.health.open(peer, terms).unwrap();
        node.health.connection_lost(at(0), id);
        let (ended, _) = {
            node.peers.swap(0, n);
            let result = node.send(attempts, |_, _| (at(0), perhaps(Class::NetworkTimeout)));
            node.peers.swap(0, n);
            result
        };
        assert_eq!(ended.class, Class::NetworkTimeout);
        node.health.set_health(at(0), Object::Peer(id), HealthValue::new(500));
    }
    let ms = |n: u64| Instant::from_nanos(n * 1_000_000);
    let (mut done, mut connects, mut most) = (0_u64, 0, 0);
    let mut attempts = Vec::new();
    for t in 0..30_000 {
        let mut now = 0;
        node.health.tick(ms(t), u32::MAX, |action| {
            now += 1;
            if let Action::Connect(attempt) = action {
                attempts.push(attempt);
            }
        });
        connects += attempts.len();
        for attempt in attempts.drain(..) {
            assert!(node.health.connected(ms(t), attempt, Connected::Yes));
        }
        done += now;
        most = most.max(now);
        assert!(done <= 100 + t / 10, "{done} actions after {t} ms");
        assert!(node.health.reconnects().under_way() <= 64);
    }
    assert_eq!(connects, 1000, "all are connected again");
    assert!(most <= 100 && done > 3000, "{most} at once, {done} in all");
}

#[test]
fn next_deadline_is_exact() {
    // R39: nothing before it, something at it, step by step.
    let mut node = Node::new(plain(2, 4, 8), 1);
    for (n, (_, nis)) in node.peers.clone().iter().enumerate() {
        node.health.set_health(at(n as u64), Object::Peer(nis[0]), HealthValue::NONE);
        node.health.watch(at(n as u64), nis[1], false);
    }
    *node.health.probe_kinds() = ProbeKinds::offered(true, false, false, false);
    let mut acted = 0;
    for _ in 0..200 {
        let due = node.health.next_deadline();
        let before = Instant::from_nanos(due.as_nanos() - 1);
        assert_eq!(node.health.next_action(before), None);
        while let Some(action) = node.health.next_action(due) {
            acted += 1;
            drop(action);
        }
        assert!(node.health.next_deadline() > due);
    }
    assert!(acted >= 200);
}

#[test]
fn a_clock_that_steps_back_delays_nothing_that_the_budget_allows() {
    // Found by fuzzing: the budget's own clock was told as the time of the next action.
    let mut node = Node::new(plain(1, 1, 1), 1);
    let ill = Object::Peer(node.peers[0].1[0]);
    assert_eq!(node.health.next_action(at(1000)), None);
    node.health.set_health(at(10), ill, HealthValue::NONE);
    assert_eq!(node.health.next_deadline(), at(11));
    assert_eq!(pings(&mut node, 11).len(), 1);
}

#[test]
fn the_prober_finds_a_silent_peer_and_spares_the_rest() {
    // S2-1 to S2-6 through the node: only the idle one is probed, one sided.
    let mut config = plain(1, 1, 3);
    (config.probe.idle, config.probe.again) = (Span::from_secs(10), Span::from_secs(2));
    let mut node = Node::new(config, 1);
    *node.health.probe_kinds() = ProbeKinds::offered(false, true, false, false);
    let ids = node.peers[0].1.clone();
    for &id in &ids {
        node.health.watch(at(0), id, id == ids[2]);
    }
    node.health.add_user(ids[2]);
    let mut found = Vec::new();
    for second in 0..60 {
        if second == 12 {
            assert_eq!(
                node.health.tally().value(HealthCounter::Probes),
                0,
                "its trial is still to come"
            );
            node.health.probe_kinds().tried(Ok(()));
        }
        node.health.active(ids[0]);
        while let Some(action) = node.health.next_action(at(second)) {
            let Action::Probe(probe) = action else { panic!("{action:?}") };
            assert_ne!(probe.peer_ni, ids[0], "it is not idle");
            assert_eq!(probe.kind, ProbeKind::IllegalRead);
            let alive = probe.peer_ni == ids[1] && second < 40;
            let end = if alive { ProbeEnd::AccessError } else { ProbeEnd::RetryExceeded };
            let id = probe.peer_ni;
            let finding = node.health.probed(at(second), probe, end);
            if !matches!(finding, Finding::Nothing | Finding::Alive) {
                found.push((id, finding));
            }
        }
    }
    assert_eq!(found, [(ids[2], Finding::CleanUp), (ids[1], Finding::Down)]);
    let dead = node.health.peer_ni(ids[1]).unwrap();
    assert_eq!(dead.aliveness().0, Aliveness::Dead);
    assert_eq!((dead.health().get(), dead.status()), (1000, NiStatus::Up), "R48");
}

#[test]
fn a_refused_connection_is_believed_for_a_while() {
    // R68.
    let mut node = Node::new(plain(1, 1, 1), 1);
    let id = node.peers[0].1[0];
    node.health.connection_lost(at(0), id);
    let Some(Action::Connect(attempt)) = node.health.next_action(at(1)) else { panic!("due") };
    assert_eq!(node.health.next_action(at(1)), None, "one attempt for each peer");
    assert!(node.health.connected(at(1), attempt, Connected::NobodyListens));
    assert_eq!(node.health.connection(id), Connectivity::Refused(at(6)));
    let Some(Action::Connect(attempt)) = node.health.next_action(at(6)) else { panic!("due") };
    node.health.connection_settled(id);
    assert!(!node.health.connected(at(7), attempt, Connected::No), "stale: it came from there");
    assert_eq!(node.health.connection(id), Connectivity::Up);
}

#[test]
fn draining_takes_nothing_new_and_ends_what_is_under_way() {
    // Maintenance of an interface, then of a peer.
    let mut node = Node::new(plain(2, 1, 2), 1);
    let mut attempts = node.open(100);
    let path = node.begin(&mut attempts);
    node.health.drain_local(at(1), path.local, true);
    assert_eq!(node.health.remove_local(path.local), Err(Remove::Busy));
    for _ in 0..4 {
        let mut other = node.open(100);
        assert_ne!(node.begin(&mut other).local, path.local);
        let _ = node.health.outcome(at(1), other, End::OK);
    }
    assert_eq!(node.health.local(path.local).unwrap().in_flight(), 1);
    let Next::Ended(ended) = node.health.outcome(at(2), attempts, End::OK) else { panic!("ok") };
    assert_eq!((ended.class, node.values().0), (Class::Ok, vec![1000, 1000]));
    assert_eq!(node.health.local(path.local).unwrap().in_flight(), 0);
    assert_eq!(node.health.remove_local(path.local), Ok(()));
    let peer = node.peer();
    let attempts = node.open(100);
    node.health.drain_peer(at(3), peer, true);
    assert_eq!(node.health.choose(&attempts, &[]), Err(NoPath::Unusable));
    assert_eq!(node.health.remove_peer(peer), Err(Remove::Busy));
    let _ = node.health.give_up(attempts, NoPath::Unusable);
    assert_eq!(node.health.remove_peer(peer), Ok(()));
    assert_eq!(node.health.remove_peer(peer), Err(Remove::Unknown));
    assert_eq!(node.health.audit(), Ok(()));
}

#[test]
fn shutdown_empties_every_queue() {
    // R50, INV-15: and late answers find nothing.
    let mut node = Node::new(plain(2, 3, 6), 1);
    for (_, nis) in node.peers.clone() {
        node.health.set_health(at(0), Object::Peer(nis[0]), HealthValue::NONE);
        node.health.watch(at(0), nis[1], true);
        node.health.connection_lost(at(0), nis[1]);
    }
    let ping = pings_only(&mut node, 1);
    let attempts = node.open(100);
    node.health.shut_down();
    assert_eq!(
        (node.health.next_action(at(9)), node.health.next_deadline()),
        (None, Instant::NEVER)
    );
    assert_eq!(node.health.recovery().len(), 0);
    assert!(node.health.prober().is_empty());
    assert_eq!(node.health.reconnects().waiting(), 0);
    let before = node.values();
    node.health.answered(at(9), ping, Class::Ok);
    let (ended, _) = node.send(attempts, |_, _| (at(9), surely(Class::LocalDropped)));
    assert_eq!((ended.tries, node.values()), (1, before), "no resend, no health work");
    assert_eq!(node.health.remaining(), 0);
    assert_eq!(node.health.audit(), Ok(()));
}

fn pings_only(node: &mut Node, second: u64) -> Ping {
    let mut ping = None;
    node.health.tick(at(second), 100, |action| {
        if let Action::Ping(p) = action {
            ping = Some(p);
        }
    });
    ping.unwrap()
}
