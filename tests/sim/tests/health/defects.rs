// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The checks bite: each seeded defect is found, by the rule that it breaks.

use lnd_sim::rails::{run, run_with, Class, Defect, Plan, Profile, Rule, Type};

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
        let what = found.expect_err(&format!("{defect:?} was not found"));
        // Which check is first to see a lost end, or a second delivery, is a matter of time.
        let also = defect == Defect::NoNumbers && what.contains("delivered twice");
        assert!(what.contains(rule) || also, "{defect:?}: {what}");
    }
}
