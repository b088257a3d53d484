// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Response tracking: the answer is waited for end to end, and nothing is sent again for want of it
//! (S1-9 to S1-13, R54).

use lnd_sim::rails::{Plan, Profile, Rule, Type};

use super::{acquaint, lost, pair, play, BOTH};

fn lose(kind: Type) -> Rule {
    Rule { types: vec![kind], ..Rule::default() }
}

#[test]
fn a_lost_ack_expires_and_is_not_resent() {
    for profile in BOTH {
        play(&Plan { timeout_ms: 400, ..pair("ab", profile) }, |world| {
            acquaint(world);
            world.add_rule(lose(Type::Ack));
            let (begun, number) = (world.ms(), world.put(0, 1, 100, true).unwrap());
            world.wait_for(&[number]).unwrap();
            let waited = world.ms() - begun;
            assert!((400..=402).contains(&waited), "{waited} ms");
            let record = world.record(number).unwrap();
            assert!(record.end.unwrap().is_ok() && record.delivered && !record.answered);
            let counts = world.counts(0);
            assert_eq!((counts.response_timeouts, counts.resends, counts.failed), (1, 0, 0));
            // Only the next hop is to blame.
            assert_eq!(lost(world), (0, 100), "{profile:?}");
        });
    }
}

#[test]
fn a_lost_request_expires_as_well() {
    for get in [false, true] {
        play(&Plan { timeout_ms: 400, ..pair("ab", Profile::Seed) }, |world| {
            acquaint(world);
            world.add_rule(lose(if get { Type::Get } else { Type::Put }));
            let number = if get { world.get(0, 1, 5_000) } else { world.put(0, 1, 5_000, true) };
            world.wait_for(&[number.unwrap()]).unwrap();
            assert!(!world.record(number.unwrap()).unwrap().answered);
            assert_eq!(world.counts(0).response_timeouts, 1);
            assert_eq!(world.counts(0).resends, 0, "S1-13");
        });
    }
}

/// S1-10 to S1-12: ACK and REPLY are messages of their own, and pass the router as such.
#[test]
fn answers_pass_the_router() {
    let mut plan = Plan { timeout_ms: 400, ..Plan::of(&["a", "ab", "b"]) };
    plan.hosts[1].router = true;
    play(&plan, |world| {
        let numbers = [world.put(0, 2, 5_000, true), world.get(0, 2, 5_000)].map(Option::unwrap);
        world.wait_for(&numbers).unwrap();
        assert!(numbers.iter().all(|&n| world.record(n).unwrap().answered));
        assert_eq!(world.counts(1).messages, 4, "PUT, ACK, GET, REPLY");
        assert_eq!(world.counts(2).messages, 2, "ACK and REPLY are the destination's");
        // The far hop loses the REPLY: it is the router that is blamed here, being the next hop.
        world.add_rule(Rule { from: "1".parse().unwrap(), ..lose(Type::Reply) });
        let number = world.get(0, 2, 5_000).unwrap();
        world.wait_for(&[number]).unwrap();
        assert_eq!((world.counts(0).response_timeouts, world.counts(0).resends), (1, 0));
        let router = (0..2).map(|ni| world.health(0, (1, ni)).unwrap().value).min();
        assert_eq!(router, Some(900));
        assert_eq!(world.health(0, (2, 0)).unwrap().value, 1000, "no evidence of it");
    });
}
