// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The checks bite: each seeded defect is found, by the rule that it breaks.

use lnd_sim::rails::{run, run_with, shrink, swarm, Class, Defect, Plan, Profile, Rule, Type};
use lnd_sim::simulator::FaultPlan;

use super::pair;

/// Traffic of which much fails, and some of that arrives all the same.
fn troubled() -> Plan {
    let open = Rule { arrives: true, rate: 5, ..Rule::simulate(Class::NetworkTimeout) };
    let lost = Rule { rate: 3, ..Rule::simulate(Class::LocalDropped) };
    let acks = Rule { types: vec![Type::Ack], rate: 7, ..Rule::simulate(Class::RemoteDropped) };
    let rules = vec![Rule { types: vec![Type::Put], ..open }, lost, acks];
    Plan { rules, pause_ms: 10, timeout_ms: 500, ..pair("ab", Profile::Seed) }
}

#[test]
fn without_a_defect_the_run_passes() {
    let report = run(&troubled(), 3).unwrap();
    let counts = report.counts();
    assert!(counts.resent_ok > 20 && counts.second_copies > 5, "{report}");
}

#[test]
fn every_defect_is_found() {
    for (defect, rule) in [
        (Defect::NoNumbers, "R45: delivered twice"),
        (Defect::NoHistory, "R44: sent"),
        (Defect::NoDeadline, "S4-19: sent past its deadline"),
        (Defect::LostEnd, "INV-1"),
        (Defect::EarlyEnd, "INV-1: sent after its end"),
    ] {
        let found = run_with(&troubled(), 3, Some(defect)).map(|report| report.line());
        let what = found.expect_err(&format!("{defect:?} was not found")).what;
        // Which check is first to see a lost end, or a second delivery, is a matter of time.
        let also = defect == Defect::NoNumbers && what.contains("delivered twice");
        assert!(what.contains(rule) || also, "{defect:?}: {what}");
    }
}

#[test]
fn a_failing_run_shrinks_to_what_makes_it_fail() {
    let defect = Some(Defect::NoHistory);
    let failing = |seed: &u64| run_with(&swarm(*seed), *seed, defect).is_err_and(|f| f.step > 0);
    let seed = (1..100).find(failing).unwrap();
    let whole = run_with(&swarm(seed), seed, defect).unwrap_err();
    let shrunk = shrink(&swarm(seed), seed, defect, 200).unwrap();
    assert_eq!(shrunk.failure.rule(), whole.rule());
    assert!(shrunk.runs > 1 && shrunk.runs <= 200);
    let (large, small) = (swarm(seed).to_toml(), shrunk.plan.to_toml());
    assert!(small.lines().count() < large.lines().count(), "{large}\n{small}");
    // The file that is written plays the same failure.
    let file = Plan::parse(&shrunk.to_toml("PLAN.toml")).unwrap();
    assert_eq!(file, shrunk.plan);
    let again = run_with(&file, seed, defect).unwrap_err();
    assert_eq!((again.step, again.what), (shrunk.failure.step, shrunk.failure.what));
    // And one that does not fail is not shrunk.
    assert!(shrink(&troubled(), 3, None, 10).is_none());
}

#[test]
fn a_plan_that_a_seed_draws_can_be_written_and_read() {
    for seed in 1..300 {
        let plan = swarm(seed);
        assert_eq!(Plan::parse(&plan.to_toml()), Ok(plan), "seed {seed}");
    }
}
