// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Status, and what it does to selection (LU-19476, S4-7, S4-12, R47, R48, R53).

use lnd_health::NiStatus::{Down, Up};
use lnd_sim::rails::{Class, Plan, Profile, Rule, Scheduled, Type, What, Who, World};

use super::{acquaint, pair, play, put};

/// Counts what goes out by an interface of node 0, and hits nothing.
fn count(world: &mut World<'_>, ni: u32) -> usize {
    let types = vec![Type::Put];
    world.add_rule(Rule { from: Who::ni(0, ni), types, times: Some(0), ..Rule::default() });
    world.rule_counts().len() - 1
}

/// DOWN at 0, UP again only at 1000.
#[test]
fn status_at_0_and_1000() {
    for profile in super::BOTH {
        let plan = Plan { retries: Some(0), sensitivity: 500, ..pair("a", profile) };
        play(&plan, |world| {
            acquaint(world);
            let status = |world: &World<'_>| {
                let it = world.health(0, (0, 0)).unwrap();
                (it.value, it.status)
            };
            let rule = Rule::simulate(Class::LocalDropped);
            world.add_rule(Rule { from: Who::ni(0, 0), ..rule });
            let mut seen = vec![status(world)];
            for _ in 0..2 {
                assert!(!put(world, 100));
                seen.push(status(world));
            }
            world.clear_rules();
            for _ in 0..60 {
                world.run_ms(100).unwrap();
                seen.push(status(world));
            }
            seen.dedup();
            assert_eq!(seen, [(1000, Up), (500, Up), (0, Down), (500, Down), (1000, Up)]);
        });
    }
}

/// S4-7, S4-12: what is down is not used at all; LNet uses it when there is nothing else.
#[test]
fn what_is_down_is_not_selected() {
    for (profile, works) in [(Profile::Seed, false), (Profile::LnetCompat, true)] {
        let plan = Plan { retries: Some(0), sensitivity: 1000, ..pair("a", profile) };
        play(&plan, |world| {
            acquaint(world);
            let once = Rule { times: Some(1), ..Rule::simulate(Class::LocalDropped) };
            world.add_rule(Rule { from: Who::host(0), ..once });
            assert!(!put(world, 100));
            assert_eq!(world.health(0, (0, 0)).unwrap().status, Down);
            assert_eq!(put(world, 100), works, "{profile:?}");
            // Recovery brings it back.
            world.run_ms(3_000).unwrap();
            assert!(put(world, 100));
        });
    }
}

/// S4-7: later messages avoid an interface with less health.
#[test]
fn lower_health_is_avoided() {
    for profile in super::BOTH {
        play(&Plan { retries: Some(0), ..pair("ab", profile) }, |world| {
            acquaint(world);
            let once = Rule { times: Some(1), ..Rule::simulate(Class::LocalDropped) };
            world.add_rule(Rule { from: Who::ni(0, 1), ..once });
            while put(world, 100) {}
            let ill = count(world, 1);
            let well = count(world, 0);
            for _ in 0..10 {
                assert!(put(world, 100));
            }
            let counts = world.rule_counts();
            assert_eq!((counts[ill].0, counts[well].0), (0, 10), "{profile:?}");
        });
    }
}

fn event(what: What, for_ms: u32, noticed_ms: Option<u32>) -> Scheduled {
    Scheduled { at_ms: 0, what, host: 0, ni: 0, peer: None, peer_ni: 0, for_ms, noticed_ms }
}

/// R53, S4-3: a fatal event moves everything elsewhere at once. S4-6, S4-8: it marks the interface
/// down and queues it, and once it works again a ping brings it back.
#[test]
fn a_fatal_interface_is_left_alone() {
    play(&pair("ab", Profile::Seed), |world| {
        acquaint(world);
        world.happens(event(What::NiDown, 500, Some(0)));
        world.run_ms(1).unwrap();
        let it = world.health(0, (0, 0)).unwrap();
        assert!(it.fatal && it.status == Down && it.value == 0, "{it:?}");
        assert!(it.next_ping.is_some(), "{it:?}");
        let fatal = count(world, 0);
        for _ in 0..10 {
            assert!(put(world, 5_000));
        }
        assert_eq!(world.rule_counts()[fatal].0, 0);
        assert_eq!(world.counts(0).failed, 0);
        world.run_ms(3_000).unwrap();
        let it = world.health(0, (0, 0)).unwrap();
        assert!(!it.fatal && it.status == Up && it.value == 1000, "{it:?}");
        for _ in 0..10 {
            assert!(put(world, 5_000));
        }
        assert!(world.rule_counts()[fatal].0 > 0, "in use again");
    });
}

/// Maintenance: an interface that drains takes nothing new, loses no health, and is used again
/// after.
#[test]
fn a_draining_interface_takes_nothing_new() {
    for profile in super::BOTH {
        play(&pair("ab", profile), |world| {
            acquaint(world);
            world.happens(event(What::Drain, 200, None));
            let drained = count(world, 0);
            for _ in 0..10 {
                assert!(put(world, 5_000));
            }
            assert_eq!(world.rule_counts()[drained].0, 0);
            assert_eq!(world.health(0, (0, 0)).unwrap().value, 1000);
            world.run_ms(300).unwrap();
            for _ in 0..4 {
                assert!(put(world, 100));
            }
            assert!(world.rule_counts()[drained].0 > 0);
        });
    }
}

/// Fair round robin while all is well: both fabrics carry half (R52).
#[test]
fn equals_share() {
    play(&pair("ab", Profile::Seed), |world| {
        acquaint(world);
        let both = [count(world, 0), count(world, 1)];
        for _ in 0..20 {
            assert!(put(world, 100));
        }
        let counts = world.rule_counts();
        assert_eq!(both.map(|at| counts[at].0), [10, 10]);
    });
}
