// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Routers (sanity-lnet 228, LU-18444, S4 over routes).

use lnd_sim::rails::{Class, Plan, Profile, Rule, Who};

use super::{play, BOTH};

fn routed(routers: usize, profile: Profile) -> Plan {
    let middle = ["ab", "ab"];
    let mut hosts = vec!["a"];
    hosts.extend(&middle[..routers]);
    hosts.push("b");
    let mut plan = Plan { profile, retries: Some(2), ..Plan::of(&hosts) };
    plan.hosts.iter_mut().skip(1).take(routers).for_each(|host| host.router = true);
    plan
}

/// 228: a route stays up when only health falls.
#[test]
fn health_alone_takes_no_route_down() {
    for profile in BOTH {
        play(&Plan { retries: Some(0), ..routed(1, profile) }, |world| {
            let rule = Rule { times: Some(3), ..Rule::simulate(Class::RemoteDropped) };
            world.add_rule(Rule { from: Who::host(0), ..rule });
            for expected in [false, false, false, true] {
                let number = world.put(0, 2, 100, true).unwrap();
                world.wait_for(&[number]).unwrap();
                assert_eq!(world.record(number).unwrap().answered, expected, "{profile:?}");
            }
        });
    }
}

/// LU-13501: a router with one interface on the near side is blamed all the same; and one that is
/// heard of is well at once.
#[test]
fn a_router_is_blamed_and_healed_at_once() {
    play(&Plan { retries: Some(0), ..routed(1, Profile::Seed) }, |world| {
        let rule = Rule { times: Some(4), ..Rule::simulate(Class::RemoteDropped) };
        world.add_rule(Rule { from: Who::host(0), ..rule });
        for _ in 0..4 {
            let number = world.put(0, 2, 100, true).unwrap();
            world.wait_for(&[number]).unwrap();
        }
        assert_eq!(world.health(0, (1, 0)).unwrap().value, 600);
        let number = world.put(0, 2, 100, true).unwrap();
        world.wait_for(&[number]).unwrap();
        assert!(world.record(number).unwrap().answered);
        assert_eq!(world.health(0, (1, 0)).unwrap().value, 1000);
    });
}

/// A message goes again by the other router.
#[test]
fn another_router_takes_over() {
    play(&routed(2, Profile::Seed), |world| {
        let number = world.put(0, 3, 100, true).unwrap();
        world.wait_for(&[number]).unwrap();
        let rule = Rule::simulate(Class::RemoteDropped);
        world.add_rule(Rule { from: Who::host(0), to: Who::host(1), ..rule });
        for length in [100, 70_000] {
            for _ in 0..4 {
                let number = world.put(0, 3, length, true).unwrap();
                world.wait_for(&[number]).unwrap();
                assert!(world.record(number).unwrap().answered, "{}", world.counts(0));
            }
        }
        assert!(world.counts(2).messages >= 8, "every PUT at last through node 2");
    });
}
