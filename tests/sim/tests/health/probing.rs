// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Liveness of idle endpoints by remote reads of the real engines (S2, R55 to R60).

use lnd_dma::read::{ReadEnd, ReadKind};
use lnd_health::prober::ProbeEnd;
use lnd_health::{Aliveness, Trial, TrialStep};
use lnd_sim::rails::{Kind, Plan, Profile, Scheduled, What};

use super::{acquaint, pair, play};

fn probed(nis: &str) -> Plan {
    Plan { probes: true, timeout_ms: 1_000, ..pair(nis, Profile::Seed) }
}

fn event(what: What, host: u32, for_ms: u32) -> Scheduled {
    Scheduled { at_ms: 0, what, host, ni: 0, peer: None, peer_ni: 0, for_ms, noticed_ms: None }
}

/// S2-2, S2-4, S2-5: idle endpoints are found alive, without a message or a receive buffer.
#[test]
fn the_idle_are_probed_and_alive() {
    for nis in ["a", "b"] {
        play(&probed(nis), |world| {
            acquaint(world);
            world.run_ms(200).unwrap();
            let before = world.node(1).unwrap().rails[0].receiver.clone();
            world.run_ms(5_000).unwrap();
            let [alive, dead, unknown] = world.counts(0).probes;
            assert!(alive >= 20 && dead == 0 && unknown == 0, "{nis}: {alive} {dead} {unknown}");
            let after = world.node(1).unwrap().rails[0].receiver.clone();
            assert_eq!(format!("{before:?}"), format!("{after:?}"), "no frame came");
        });
    }
}

/// R56: a fabric without remote reads is not probed.
#[test]
fn no_kind_no_probe() {
    let mut plan = probed("a");
    plan.networks[0].kind = Kind::Stream;
    play(&plan, |world| {
        acquaint(world);
        world.run_ms(5_000).unwrap();
        assert_eq!(world.counts(0).probes, [0, 0, 0]);
    });
}

/// R55: traffic makes probes needless.
#[test]
fn the_busy_are_not_probed() {
    play(&probed("a"), |world| {
        acquaint(world);
        let before = world.counts(0).probes;
        for _ in 0..50 {
            let number = world.put(1, 0, 10, true).unwrap();
            world.wait_for(&[number]).unwrap();
            world.run_ms(20).unwrap();
        }
        assert_eq!(world.counts(0).probes, before);
    });
}

/// S2-11, R57: a dead path is found after several findings of dead over the hold-off, once; a
/// message revives it.
#[test]
fn the_dead_are_found_down() {
    play(&probed("a"), |world| {
        acquaint(world);
        world.happens(event(What::NiDown, 1, 5_000));
        world.run_ms(600).unwrap();
        assert_eq!(world.counts(0).found_down, 0, "not yet");
        world.run_ms(4_000).unwrap();
        let counts = world.counts(0);
        assert!(counts.probes[1] >= 3, "{counts}");
        assert_eq!(counts.found_down, 1, "{counts}");
        let it = world.health(0, (1, 0)).unwrap();
        assert_eq!((it.alive.0, it.value), (Aliveness::Dead, 1000), "three values (R48)");
        world.run_ms(3_000).unwrap();
        acquaint(world);
        assert_eq!(world.health(0, (1, 0)).unwrap().alive.0, Aliveness::Alive);
    });
}

/// S2-8: the same break while the path is being moved kills no node; nor does a short one.
#[test]
fn a_migration_kills_none() {
    play(&probed("a"), |world| {
        acquaint(world);
        world.happens(event(What::Migration, 1, 5_000));
        world.run_ms(4_900).unwrap();
        let counts = world.counts(0);
        assert_eq!(counts.found_down, 0, "{counts}");
        world.run_ms(1_000).unwrap();
        acquaint(world);
        world.happens(event(What::NiDown, 1, 300));
        world.run_ms(3_000).unwrap();
        assert_eq!(world.counts(0).found_down, 0);
        assert_eq!(world.health(0, (1, 0)).unwrap().alive.0, Aliveness::Alive);
        assert_eq!(world.counts(0).failed, 0);
    });
}

/// S2-13: trouble of one's own says nothing about others.
#[test]
fn own_trouble_changes_nothing() {
    play(&probed("a"), |world| {
        acquaint(world);
        world.happens(event(What::NiDown, 0, 5_000));
        world.run_ms(4_900).unwrap();
        let counts = world.counts(0);
        assert_eq!((counts.probes[1], counts.found_down), (0, 0), "{counts}");
        assert!(counts.probes[2] > 0, "{counts}");
        assert_eq!(world.health(0, (1, 0)).unwrap().alive.0, Aliveness::Alive);
    });
}

/// S2-1: a one-way endpoint is cleaned up when its connection breaks, also while it is in use, and
/// never before.
#[test]
fn one_way_endpoints_are_cleaned_up_when_dead() {
    for users in [0, 2] {
        play(&probed("a"), |world| {
            acquaint(world);
            let now = lnd_core::time::Instant::from_nanos(1_000_000_000 + world.ms() * 1_000_000);
            let number = world.number(1, 0).unwrap();
            let health_view = &mut world.node(0).unwrap().health_view;
            let id = health_view.peer_ni(number).unwrap();
            health_view.health.watch(now, id, true);
            (0..users).for_each(|_| health_view.health.add_user(id));
            world.run_ms(5_000).unwrap();
            assert_eq!(world.counts(0).cleaned_up, 0, "it lives");
            world.happens(event(What::Death, 1, 6_000));
            world.run_ms(5_000).unwrap();
            let counts = world.counts(0);
            assert_eq!((counts.cleaned_up, counts.found_down), (1, 0), "{users} users");
        });
    }
}

/// S2-12, R58: the trial at the start. The bad read ends with an access error, and both ends work
/// on.
#[test]
fn the_illegal_read_leaves_both_ends_usable() {
    play(&pair("a", Profile::Seed), |world| {
        acquaint(world);
        let mut trial = Trial::new();
        while let Ok(step) = trial.next() {
            let end = match step {
                TrialStep::ReadIllegal => {
                    let rail = &mut world.node(0).unwrap().rails[0];
                    rail.reads.begin(1, ReadKind::Illegal).unwrap();
                    // The driver has to look at the doorbell.
                    let number = world.put(0, 1, 10, true).unwrap();
                    world.wait_for(&[number]).unwrap();
                    world.run_ms(100).unwrap();
                    match world.node(0).unwrap().rails[0].reads.poll() {
                        Some(ReadEnd::AccessError) => ProbeEnd::AccessError,
                        other => panic!("{other:?}"),
                    }
                }
                TrialStep::UseNear | TrialStep::UseFar => {
                    let (from, to) = if step == TrialStep::UseNear { (0, 1) } else { (1, 0) };
                    let number = world.put(from, to, 70_000, true).unwrap();
                    world.wait_for(&[number]).unwrap();
                    assert!(world.record(number).unwrap().answered);
                    ProbeEnd::Success
                }
            };
            trial.end(end);
        }
        assert_eq!(trial.next(), Err(Ok(())));
    });
}
