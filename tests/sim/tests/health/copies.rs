// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Second copies: a message that arrived although its sender was told otherwise is sent again and
//! delivered once (R45).

use lnd_sim::rails::{Class, Plan, Profile, Rule, Scheduled, Type, What, Who};

use super::{acquaint, pair, play};

const OPEN: [Class; 3] = [Class::RemoteError, Class::RemoteTimeout, Class::NetworkTimeout];

fn arrives(class: Class) -> Rule {
    let types = vec![Type::Put];
    Rule { from: Who::host(0), types, arrives: true, times: Some(1), ..Rule::simulate(class) }
}

#[test]
fn a_second_copy_is_recognised() {
    for class in OPEN {
        for length in [0, 100, 70_000] {
            play(&pair("ab", Profile::Seed), |world| {
                acquaint(world);
                world.add_rule(arrives(class));
                let number = world.put(0, 1, length, true).unwrap();
                world.wait_for(&[number]).unwrap();
                let record = world.record(number).unwrap();
                assert!(record.delivered && record.answered, "{class:?}");
                assert!(record.end.unwrap().is_ok(), "repaired, {class:?}");
                // The answer to the first copy does not wait for the second one.
                world.run_ms(20).unwrap();
                let counts = world.counts(0);
                assert_eq!((counts.resends, counts.resent_ok, counts.failed), (1, 1, 0));
                assert_eq!(world.counts(1).second_copies, 1, "{class:?} {length}");
            });
        }
    }
}

/// LNet does not resend what may have arrived: it has nothing to recognise it by.
#[test]
fn lnet_sends_no_second_copies() {
    for class in OPEN {
        play(&pair("ab", Profile::LnetCompat), |world| {
            acquaint(world);
            world.add_rule(arrives(class));
            let number = world.put(0, 1, 100, true).unwrap();
            world.wait_for(&[number]).unwrap();
            assert!(!world.record(number).unwrap().end.unwrap().is_ok());
            assert_eq!((world.counts(0).resends, world.counts(1).second_copies), (0, 0));
        });
    }
}

/// A peer that has begun another incarnation recognises nothing: what may have reached the former
/// incarnation is not sent to the new one.
#[test]
fn another_incarnation_gets_no_second_copies() {
    let plan = Plan { timeout_ms: 3_000, ..pair("ab", Profile::Seed) };
    play(&plan, |world| {
        acquaint(world);
        let death = Scheduled {
            at_ms: 0,
            what: What::Death,
            host: 1,
            ni: 0,
            peer: None,
            peer_ni: 0,
            for_ms: 50,
            noticed_ms: None,
        };
        let numbers: Vec<u64> = (0..20).map(|_| world.put(0, 1, 70_000, true).unwrap()).collect();
        world.run_ms(1).unwrap();
        world.happens(death);
        world.wait_for(&numbers).unwrap();
        // The oracle watches: nothing is delivered twice over both lives.
        acquaint_again(world);
    });
}

fn acquaint_again(world: &mut lnd_sim::rails::World<'_>) {
    for _ in 0..8 {
        let number = world.put(0, 1, 100, true).unwrap();
        world.wait_for(&[number]).unwrap();
        if world.record(number).unwrap().answered {
            return;
        }
        world.run_ms(200).unwrap();
    }
    panic!("the new life is not reached");
}
