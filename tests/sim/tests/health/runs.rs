// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Whole runs: shipped plans, seeds, and the same seed twice.

use std::path::Path;

use lnd_sim::rails::{run, swarm, Plan};
use lnd_sim::simulator::FaultPlan;

#[test]
fn shipped_plans_run() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("plans");
    let mut ran = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if !Plan::is_meant_by(&std::fs::read_to_string(&path).unwrap()) {
            continue;
        }
        let plan = Plan::read(&path).unwrap();
        let report = run(&plan, 1).unwrap_or_else(|what| panic!("{}: {what}", path.display()));
        let text = report.to_string();
        assert!(text.contains("health over time") && text.contains("resends"), "{text}");
        assert!(report.counts().resent_ok > 0, "{text}");
        ran += 1;
    }
    assert!(ran >= 2);
}

#[test]
fn seeds_break_no_rule() {
    let (mut resends, mut copies, mut pings) = (0, 0, 0);
    for seed in 1..=12 {
        let report = run(&swarm(seed), seed).unwrap();
        let counts = report.counts();
        resends += counts.resent_ok;
        copies += counts.second_copies;
        pings += counts.pings.1;
    }
    assert!(resends > 0 && pings > 0, "{resends} {copies} {pings}");
}

#[test]
fn the_same_seed_is_the_same_run() {
    let once = run(&swarm(17), 17).unwrap();
    let again = run(&swarm(17), 17).unwrap();
    assert_eq!(once.to_string(), again.to_string());
    assert_ne!(once.hash, run(&swarm(17), 18).unwrap().hash);
}

#[test]
fn a_wrong_plan_is_refused_with_a_reason() {
    let net = "[[network]]\nname = \"a\"\nkind = \"verbs\"\n";
    let host = "[[host]]\nnis = [\"a\"]\n";
    let error =
        |more: &str| Plan::parse(&format!("{net}{host}{host}{more}")).unwrap_err().to_string();
    assert!(Plan::parse(&format!("{net}{host}{host}")).is_ok());
    assert!(Plan::parse(&format!("{net}{host}"))
        .unwrap_err()
        .to_string()
        .contains("number of hosts"));
    assert!(error("[[host]]\nnis = [\"z\"]").contains("no network z"));
    assert!(error("[[rule]]\nhealth = \"ill\"").contains("unknown variant"));
    assert!(error("[[rule]]\narrives = true").contains("leaves delivery open"));
    assert!(error("[[event]]\nat_ms = 1\ndo = \"ni-down\"\nhost = 0\nni = 1").contains("0.1"));
    assert!(error("[[event]]\nat_ms = 1\ndo = \"cut\"\nhost = 0").contains("`peer`"));
    assert!(error("[[rule]]\nrete = 1").contains("unknown field"));
}
