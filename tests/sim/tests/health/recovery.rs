// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The recovery pings' schedule (sanity-lnet 210, 211, 218).

use lnd_sim::rails::{Class, Plan, Profile, Rule, Type, Who, World};

use super::{acquaint, pair, play, put};

/// Drops every recovery ping of node 0.
fn no_pings() -> Rule {
    Rule {
        from: Who::host(0),
        types: vec![Type::Ping],
        health: Some(Class::RemoteTimeout),
        ..Rule::default()
    }
}

/// One PUT is shown a class, once.
fn fail_once(world: &mut World<'_>, class: Class) {
    world.add_rule(Rule { from: Who::host(0), times: Some(1), ..Rule::simulate(class) });
    put(world, 100);
}

/// Times of all pings within so many seconds from now, in whole seconds.
fn ping_times(world: &mut World<'_>, seconds: u64) -> Vec<u64> {
    let (mut times, mut before) = (Vec::new(), world.counts(0).pings.0);
    for second in 1..=seconds {
        world.run_ms(1_000).unwrap();
        let now = world.counts(0).pings.0;
        times.extend((before..now).map(|_| second));
        before = now;
    }
    times
}

/// 210: unanswered pings follow each other after 1, 2, 4… s, and no slower than the limit.
#[test]
fn back_off_and_its_limit() {
    let plan = Plan { retries: Some(0), ..pair("ab", Profile::LnetCompat) };
    play(&plan, |world| {
        acquaint(world);
        world.add_rule(no_pings());
        fail_once(world, Class::RemoteDropped);
        let times = ping_times(world, 3_000);
        assert_eq!(times, [1, 3, 7, 15, 31, 63, 127, 255, 511, 1023, 1923, 2823]);
    });
}

/// 210: an interface that answers is pinged every second, and gains what it had lost.
#[test]
fn answered_pings_heal() {
    let plan = Plan { retries: Some(0), ..pair("ab", Profile::LnetCompat) };
    for class in [Class::RemoteDropped, Class::LocalDropped] {
        play(&plan, |world| {
            acquaint(world);
            for _ in 0..4 {
                fail_once(world, class);
            }
            let times = ping_times(world, 20);
            // Four failures, spread over two interfaces that are pinged side by side.
            assert_eq!(times.len(), 4, "{class:?}: {times:?}");
            assert!(times.iter().all(|&t| t <= 5), "{class:?}: {times:?}");
            let healths = [(0, 0), (0, 1), (1, 0), (1, 1)].map(|of| world.health(0, of).unwrap());
            assert!(healths.iter().all(|it| it.value == 1000 && it.next_ping.is_none()));
        });
    }
}

/// 211: one that stays silent is given up 10 s to 20 s after it was last heard of, if the recovery
/// limit is 10 s.
#[test]
fn a_silent_peer_ages_out() {
    let limited = Plan { recovery_limit_s: 10, ..pair("ab", Profile::LnetCompat) };
    let plan = Plan { retries: Some(0), ..limited };
    play(&plan, |world| {
        acquaint(world);
        world.add_rule(no_pings());
        fail_once(world, Class::RemoteDropped);
        let times = ping_times(world, 100);
        let last = *times.last().unwrap();
        assert!(last < 20, "{times:?}");
        let queued = |world: &World<'_>, ni| world.health(0, (1, ni)).unwrap().next_ping.is_some();
        assert!(!queued(world, 0) && !queued(world, 1), "given up");
    });
}

/// LU-15102: only what is heard of the interface starts the count anew.
#[test]
fn hearing_of_it_starts_the_count_anew() {
    let plan = Plan { retries: Some(0), sensitivity: 50, ..pair("a", Profile::LnetCompat) };
    let three = Plan { hosts: Plan::of(&["ab", "ab"]).hosts, ..Plan::of(&["ab", "ab"]) };
    let plan = Plan { networks: three.networks, hosts: three.hosts, ..plan };
    play(&plan, |world| {
        acquaint(world);
        world.add_rule(no_pings());
        for _ in 0..6 {
            fail_once(world, Class::RemoteDropped);
        }
        world.run_ms(20_000).unwrap();
        let ill = |world: &World<'_>| {
            (0..2).find(|&ni| world.health(0, (1, ni)).unwrap().unanswered >= 4)
        };
        let ni = ill(world).expect("pinged in vain");
        let silent = world.health(0, (1, ni)).unwrap();
        // Our own sends are no news of the peer…
        assert!(put(world, 100) && put(world, 100));
        assert!(world.health(0, (1, ni)).unwrap().unanswered >= silent.unanswered);
        // …but what it sends is.
        let numbers: Vec<u64> = (0..4).map(|_| world.put(1, 0, 100, false).unwrap()).collect();
        world.wait_for(&numbers).unwrap();
        assert_eq!(world.health(0, (1, ni)).unwrap().unanswered, 0);
    });
}

/// 218: pings to one interface of a peer go out by every path there is.
#[test]
fn pings_try_all_paths() {
    let networks = Plan::of(&["a", "a"]);
    let hosts = Plan::of(&["aa", "aa"]).hosts;
    let plan = Plan { retries: Some(0), profile: Profile::LnetCompat, hosts, ..networks };
    play(&plan, |world| {
        acquaint(world);
        // Two rules that count and never hit.
        for ni in 0..2 {
            let types = vec![Type::Ping];
            world.add_rule(Rule {
                from: Who::ni(0, ni),
                to: Who::host(1),
                types,
                times: Some(0),
                ..Rule::default()
            });
        }
        world.add_rule(no_pings());
        fail_once(world, Class::RemoteDropped);
        world.run_ms(40_000).unwrap();
        let counts = world.rule_counts();
        assert!(counts[0].0 >= 2 && counts[1].0 >= 2, "{counts:?}");
    });
}

/// R50: shutdown empties the queue; no peer is pinged afterwards.
#[test]
fn shutdown_drains_the_queue() {
    let plan = Plan { retries: Some(0), ..pair("ab", Profile::Seed) };
    lnd_sim::rails::with(&plan, 1, None, |world| {
        acquaint(world);
        world.add_rule(no_pings());
        fail_once(world, Class::RemoteDropped);
        fail_once(world, Class::LocalDropped);
        world.run_ms(1_500).unwrap();
        let before = world.counts(0).pings.0;
        assert!(before > 0);
        world.end_all().unwrap();
        world.run_ms(60_000).unwrap();
        assert_eq!(world.counts(0).pings.0, before);
        assert!(world.node(0).unwrap().health_view.health.recovery().is_empty());
    })
    .unwrap();
}
