// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Cases of LNet's own conformance tests (sanity-lnet), by their numbers (R75).
//!
//! 204 to 207 and 233 are in `resend`, 210, 211 and 218 in `recovery`, 228 in `routers`, 216 in
//! `lnd-health/tests/rails.rs`. Not here: 236 needs pings that carry the state of interfaces; 255
//! is about the syntax of a list of routes; 256 wants a router that sends what is past its
//! deadline, which no node of ours does (R38, LU-16303).

use lnd_health::NiStatus::{Down, Up};
use lnd_sim::rails::{Class, InjectedFault, Plan, Profile, Rule, Scheduled, Type, What, Who};
use lnd_sim::simulator::FaultPlan;

use super::{acquaint, lost, pair, play, put, BOTH};

/// 208: a node has the interfaces that its configuration names, on one network or on two; a
/// configuration that names what is not there is refused.
#[test]
fn case_208_interfaces_are_those_of_the_configuration() {
    for nis in ["a", "ab", "aa"] {
        play(&pair(nis, Profile::LnetCompat), |world| {
            acquaint(world);
            let known = (0..4).filter(|&ni| world.health(0, (0, ni)).is_some()).count();
            assert_eq!(known, nis.len(), "{nis}");
        });
    }
    let text = "[[network]]\nname = \"a\"\nkind = \"verbs\"\n\
        [[host]]\nnis = [\"a\"]\n[[host]]\nnis = [\"a\", \"b\"]\n";
    assert_eq!(Plan::parse(text).unwrap_err().to_string(), "host 1: no network b");
}

/// 209: a network timeout is not resent; with several interfaces both ends lose health, with one
/// the peer loses none.
#[test]
fn case_209_a_network_timeout_costs_health_and_no_resend() {
    for (nis, several) in [("a", false), ("ab", true)] {
        play(&pair(nis, Profile::LnetCompat), |world| {
            acquaint(world);
            let rule = Rule::simulate(Class::NetworkTimeout);
            world.add_rule(Rule { from: Who::host(0), ..rule });
            assert!(!put(world, 100));
            assert_eq!(world.counts(0).resends, 0, "{nis}");
            let (local, remote) = lost(world);
            assert_eq!(remote > 0, several, "{nis}");
            assert!(!several || local > 0, "{nis}");
        });
    }
}

/// 234: the status of an interface follows the health that an operator sets: DOWN at 0, UP when it
/// is whole; the other one is UP all the time.
#[test]
fn case_234_status_follows_a_health_that_an_operator_sets() {
    for profile in BOTH {
        play(&pair("ab", profile), |world| {
            acquaint(world);
            // What pings itself in vain does not recover by itself.
            let rule = Rule { types: vec![Type::Ping], ..Rule::simulate(Class::LocalTimeout) };
            world.add_rule(Rule { from: Who::ni(0, 0), ..rule });
            for (value, status) in [(1000, Up), (0, Down), (500, Down), (1000, Up), (100, Up)] {
                world.set_health(0, 0, value);
                let it = world.health(0, (0, 0)).unwrap();
                assert_eq!((it.value, it.status), (value, status), "{profile:?}");
                assert_eq!(world.health(0, (0, 1)).unwrap().status, Up, "{profile:?}");
            }
            world.run_ms(3_000).unwrap();
            let it = world.health(0, (0, 0)).unwrap();
            assert_eq!((it.value, it.status), (0, Down), "{profile:?}: its pings fail");
            world.clear_rules();
            world.set_health(0, 0, 900);
            world.run_ms(60_000).unwrap();
            let it = world.health(0, (0, 0)).unwrap();
            assert_eq!((it.value, it.status), (1000, Up), "{profile:?}");
        });
    }
}

/// 235: an interface whose health has come to 0 by failures is DOWN, the other one is UP all the
/// time, and the first is UP again when its health is whole.
#[test]
fn case_235_an_interface_is_down_when_its_health_is_gone() {
    for profile in BOTH {
        let plan = Plan { retries: Some(0), sensitivity: 500, ..pair("ab", profile) };
        play(&plan, |world| {
            acquaint(world);
            let types = vec![Type::Put, Type::Get, Type::Ping];
            let rule = Rule { types, ..Rule::simulate(Class::LocalTimeout) };
            world.add_rule(Rule { from: Who::ni(0, 0), ..rule });
            for _ in 0..8 {
                put(world, 100);
            }
            for _ in 0..40 {
                world.run_ms(500).unwrap();
                assert_eq!(world.health(0, (0, 1)).unwrap().status, Up, "{profile:?}");
            }
            let ill = world.health(0, (0, 0)).unwrap();
            assert_eq!((ill.value, ill.status), (0, Down), "{profile:?}");
            world.clear_rules();
            world.run_ms(60_000).unwrap();
            let well = world.health(0, (0, 0)).unwrap();
            assert_eq!((well.value, well.status), (1000, Up), "{profile:?}");
        });
    }
}

/// 252: a message to a peer that the fabric has found dead ends before its deadline. The 2017
/// design keeps trying until then (S4-19).
#[test]
fn case_252_a_message_to_a_dead_peer_fails_fast() {
    let plan = Plan { timeout_ms: 15_000, ..pair("a", Profile::LnetCompat) };
    play(&plan, |world| {
        acquaint(world);
        world.happens(Scheduled {
            at_ms: 0,
            what: What::Death,
            host: 1,
            ni: 0,
            peer: None,
            peer_ni: 0,
            for_ms: 60_000,
            noticed_ms: Some(20),
        });
        world.run_ms(30).unwrap();
        let (begun, number) = (world.ms(), world.get(0, 1, 100).unwrap());
        world.wait_for(&[number]).unwrap();
        assert!(!world.record(number).unwrap().answered);
        let took = world.ms() - begun;
        assert!(took < 15_000, "{took} ms");
    });
}

/// What becomes of a message that is held back beyond its deadline.
fn delayed(nis: &str) {
    for profile in BOTH {
        let plan = Plan { retries: Some(0), timeout_ms: 400, ..pair(nis, profile) };
        play(&plan, |world| {
            acquaint(world);
            let before = world.counts(1).messages;
            let rule = Rule { injected: InjectedFault::Delay, latency_ms: 600, ..Rule::default() };
            world.add_rule(Rule { from: Who::host(0), types: vec![Type::Put], ..rule });
            assert!(!put(world, 100), "{profile:?}");
            world.run_ms(2_000).unwrap();
            assert_eq!(world.counts(0).failed, 1, "{profile:?}: one end");
            assert_eq!(world.counts(1).messages, before, "{profile:?}: nothing is answered");
            let seen = (0..).map_while(|n| world.record(n)).filter(|it| it.length == 100);
            assert!(!seen.last().unwrap().received, "{profile:?}: it was sent all the same");
        });
    }
}

/// 253: a message that is held back beyond its deadline is dropped, with one interface.
#[test]
fn case_253_a_message_beyond_its_deadline_is_dropped_on_a_single_rail() {
    delayed("a");
}

/// 254: a message that is held back beyond its deadline is dropped, with several interfaces.
#[test]
fn case_254_a_message_beyond_its_deadline_is_dropped_on_several_rails() {
    delayed("ab");
}

/// 311: a bulk transfer whose end fails once is repaired, and its user gets every byte.
#[test]
fn case_311_a_bulk_transfer_that_fails_once_is_repaired() {
    play(&pair("ab", Profile::Seed), |world| {
        acquaint(world);
        for kind in [Type::Get, Type::Put] {
            let once = Rule { times: Some(1), ..Rule::simulate(Class::NetworkTimeout) };
            world.add_rule(Rule { types: vec![kind], ..once });
            let number = match kind {
                Type::Get => world.get(0, 1, 70_000),
                _ => world.put(0, 1, 70_000, true),
            };
            world.wait_for(&[number.unwrap()]).unwrap();
            assert!(world.record(number.unwrap()).unwrap().answered, "{kind:?}");
        }
        assert_eq!(world.counts(0).resent_ok, 2);
    });
}

/// 312: a bulk transfer whose data arrives although its sender was told that it has failed. The
/// user of the receiver gets it once, and the sender's user hears of one end.
#[test]
fn case_312_data_that_arrives_after_its_send_has_failed() {
    for profile in BOTH {
        play(&pair("ab", profile), |world| {
            acquaint(world);
            let (messages, failed) = (world.counts(1).messages, world.counts(0).failed);
            let once =
                Rule { times: Some(1), arrives: true, ..Rule::simulate(Class::NetworkTimeout) };
            world.add_rule(Rule { from: Who::host(0), types: vec![Type::Put], ..once });
            let number = world.put(0, 1, 70_000, false).unwrap();
            world.wait_for(&[number]).unwrap();
            world.run_ms(2_000).unwrap();
            let seed = profile == Profile::Seed;
            let record = world.record(number).unwrap();
            // `seed` sends it again, and the second copy is recognised; LNet leaves it in doubt.
            assert!(record.received && record.end.unwrap().is_ok() == seed, "{profile:?}");
            assert_eq!(world.counts(0).failed - failed, u64::from(!seed), "{profile:?}");
            assert_eq!(world.counts(1).second_copies, u64::from(seed), "{profile:?}");
            assert_eq!(world.counts(1).messages, messages, "{profile:?}: nothing is answered");
        });
    }
}
