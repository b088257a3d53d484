// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Defects found from outside: a peer that cannot be reached costs us our own interfaces.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

/// Three nodes with one rail. The way from 0 to 1 is cut (or 1 dies): what 0 sends to 1 times out.
/// 2 has nothing to do with it and must still be reached.
fn one_unreachable_peer(death: bool) {
    use lnd_sim::rails::{with, Plan, Scheduled, What};
    let plan = Plan { timeout_ms: 500, ..Plan::of(&["a", "a", "a"]) };
    with(&plan, 1, None, |world| {
        let put = |world: &mut lnd_sim::rails::World<'_>, to: u32| {
            let number = world.put(0, to, 100, false).unwrap();
            let begun = world.ms();
            if let Err(e) = world.wait_for(&[number]) {
                panic!("to {to} begun {begun} now {}: {e:?}", world.ms());
            }
            world.record(number).unwrap().end.unwrap().is_ok()
        };
        assert!(put(world, 2) && put(world, 1));
        let what = if death { What::Death } else { What::Cut };
        world.happens(Scheduled {
            at_ms: 0,
            what,
            host: if death { 1 } else { 0 },
            ni: 0,
            peer: (!death).then_some(1),
            peer_ni: 0,
            for_ms: 600_000,
            noticed_ms: None,
        });
        world.run_ms(5).unwrap();
        let mut classes = Vec::new();
        for n in 0..30 {
            let before = world.health(0, (0, 0)).map(|it| it.value);
            let _ = put(world, 1);
            let after = world.health(0, (0, 0)).map(|it| it.value);
            classes.push((before, after));
            let ok = put(world, 2);
            assert!(ok, "after {} failures at node 1, node 2 is not reached: {classes:?}", n + 1);
        }
    })
    .unwrap();
}

#[test]
fn a_peer_that_is_cut_off_does_not_cut_us_off() {
    one_unreachable_peer(false);
}

#[test]
fn a_dead_peer_does_not_cut_us_off() {
    one_unreachable_peer(true);
}

/// As above, but the messages for the unreachable peer come in a burst, as from a busy node.
#[test]
fn a_burst_for_a_dead_peer_does_not_cut_us_off() {
    use lnd_sim::rails::{with, Plan, Scheduled, What};
    for what in [What::Cut, What::Death] {
        let plan = Plan { timeout_ms: 500, ..Plan::of(&["a", "a", "a"]) };
        with(&plan, 1, None, |world| {
            let one = world.put(0, 2, 100, false).unwrap();
            let two = world.put(0, 1, 100, false).unwrap();
            world.wait_for(&[one, two]).unwrap();
            let cut = what == What::Cut;
            world.happens(Scheduled {
                at_ms: 0,
                what,
                host: u32::from(!cut),
                ni: 0,
                peer: cut.then_some(1),
                peer_ni: 0,
                for_ms: 600_000,
                noticed_ms: None,
            });
            world.run_ms(5).unwrap();
            let burst: Vec<u64> = (0..40).filter_map(|_| world.put(0, 1, 100, false)).collect();
            world.wait_for(&burst).unwrap();
            let health = world.health(0, (0, 0)).map(|it| it.value);
            let number = world.put(0, 2, 100, false).unwrap();
            world.wait_for(&[number]).unwrap();
            let ok = world.record(number).unwrap().end.unwrap().is_ok();
            assert!(ok, "{what:?}: {} failed at node 1; our health {health:?}", burst.len());
        })
        .unwrap();
    }
}

/// Two rails everywhere; the node that cannot be reached is cut off on both.
#[test]
fn a_burst_with_two_rails_does_not_cut_us_off() {
    use lnd_sim::rails::{with, Plan, Scheduled, What};
    let plan = Plan { timeout_ms: 500, ..Plan::of(&["ab", "ab", "ab"]) };
    with(&plan, 1, None, |world| {
        let mut first = Vec::new();
        for _ in 0..4 {
            first.extend(world.put(0, 2, 100, false));
            first.extend(world.put(0, 1, 100, false));
        }
        world.wait_for(&first).unwrap();
        for ni in 0..2 {
            world.happens(Scheduled {
                at_ms: 0,
                what: What::Cut,
                host: 0,
                ni,
                peer: Some(1),
                peer_ni: ni,
                for_ms: 600_000,
                noticed_ms: None,
            });
        }
        world.run_ms(5).unwrap();
        let burst: Vec<u64> = (0..60).filter_map(|_| world.put(0, 1, 100, false)).collect();
        world.wait_for(&burst).unwrap();
        let health: Vec<_> = (0..2).map(|ni| world.health(0, (0, ni)).map(|it| it.value)).collect();
        let counts = world.counts(0);
        let number = world.put(0, 2, 100, false).unwrap();
        world.wait_for(&[number]).unwrap();
        let ok = world.record(number).unwrap().end.unwrap().is_ok();
        assert!(ok, "{} failed at node 1; our health {health:?}; {counts:?}", burst.len());
    })
    .unwrap();
}
