// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lnd sim` as a test: seeds break no rule, the same seed is the same run, and the checks bite.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::{Path, PathBuf};

use lnd_core::counters::Counter;
use lnd_sim::rails;
use lnd_sim::simulator::FaultPlan;
use lnd_sim::world::{run, run_with, shrink, sweep, Defect, Failure, Options, Plan};

fn short(seed: u64) -> Options {
    Options { seed, seconds: Some(1), ..Options::default() }
}

fn calm(seed: u64) -> Options {
    Options { faults: Some(Plan::default()), ..short(seed) }
}

#[test]
fn twenty_seeds_break_no_rule() {
    let totals = sweep(&short(1), 20, |_| {});
    assert!(totals.failures.is_empty(), "{totals}");
    assert_eq!(totals.passed, 20);
    // The adversary was one, and transfers went through all the same.
    let value = |counter| totals.counters.value(counter);
    let faults: u64 = totals.faults.values().sum();
    assert!(faults > 500, "{totals}");
    assert!(totals.delivered > 2000, "{totals}");
    assert!(value(Counter::Invalidated) > 100, "{totals}");
    assert!(value(Counter::CameBackOk) > 0 && value(Counter::CameBackError) > 0, "{totals}");
    assert!(value(Counter::Reclaimed) > 0 && value(Counter::Asserted) > 0, "{totals}");
    assert!(value(Counter::LostRaces) > 0 && value(Counter::PeersRestarted) > 0, "{totals}");
}

#[test]
fn the_same_seed_is_the_same_run() {
    let once = run(&short(7)).unwrap();
    let again = run(&short(7)).unwrap();
    assert_eq!((once.hash, once.steps), (again.hash, again.steps));
    assert_eq!(once.to_string(), again.to_string());
    let other = run(&short(8)).unwrap();
    assert_ne!(once.hash, other.hash);
}

#[test]
fn one_fault_more_is_another_run() {
    let without = run(&calm(3)).unwrap();
    let plan = Plan::parse("[messages]\ndrop = 20000").unwrap();
    let with = run(&Options { faults: Some(plan), ..short(3) }).unwrap();
    assert!(without.faults.is_empty());
    assert!(with.faults.contains_key("messages dropped"));
    assert_ne!(without.hash, with.hash);
}

#[test]
fn without_faults_only_refusals_fail() {
    // With no fault at all a message fails only because its destination has refused it: it had no
    // memory that fits, or no room.
    for seed in 1..=5 {
        let summary = run(&calm(seed)).unwrap();
        let stats = summary.stats();
        assert!(summary.answered > 20, "{summary}");
        for ((errno, _), count) in &stats.failures {
            assert!([-111, -121, -5].contains(errno), "{count} of {errno}: {summary}");
        }
    }
}

#[test]
fn a_route_of_three_nodes_carries_everything() {
    // A–R–B: PUT, ACK, GET and REPLY in both directions, store and forward at R, one LND handshake
    // per hop. The run itself checks that each of these arrives, byte for byte, and that no routed
    // GET is optimised (S1-11, S1-12, S3-14).
    for seed in 1..=3 {
        let options = Options { nodes: Some(3), links: Some(2), routed: Some(true), ..calm(seed) };
        let summary = run(&options).unwrap();
        assert!(summary.routed);
        let forwarded: Vec<u64> = summary.nodes.iter().map(|node| node.forwarded).collect();
        // Two ways, three PUTs' worth of PUT, ACK, GET and REPLY at the very least.
        assert!(forwarded[1] >= 16, "{summary}");
        assert_eq!((forwarded[0], forwarded[2]), (0, 0), "{summary}");
        // The router is connected to by both, and connects to both; the ends never connect to each
        // other.
        let hellos = |node: usize| summary.nodes[node].counters.value(Counter::Hellos);
        assert!(hellos(0) >= 1 && hellos(1) >= 2 && hellos(2) >= 1, "{summary}");
    }
}

fn plans() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("plans");
    let mut plans: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    // Those of multi-rail worlds are the health tests'.
    plans.retain(|path| !rails::Plan::is_meant_by(&std::fs::read_to_string(path).unwrap()));
    plans.sort();
    plans
}

#[test]
fn every_shipped_plan_runs() {
    assert!(plans().len() >= 6);
    for path in plans() {
        let plan = Plan::read(&path).unwrap_or_else(|error| panic!("{error}"));
        for seed in 1..=2 {
            let options = Options { seed, faults: Some(plan.clone()), ..Options::default() };
            let summary = run(&options).unwrap_or_else(|failure| panic!("{failure}"));
            assert!(!summary.faults.is_empty(), "{}: {summary}", path.display());
        }
    }
}

/// Connections of two nodes fail under traffic. What they were moving ends; what goes between any
/// others ends well, which the run itself checks, and there is enough of it.
#[test]
fn connections_that_fail_cost_the_links_other_peers_nothing() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("plans/connections.toml");
    let plan = Plan::read(&path).unwrap();
    let mut taken = 0;
    for seed in 1..=6 {
        let options = Options { seed, faults: Some(plan.clone()), ..Options::default() };
        let summary = run(&options).unwrap_or_else(|failure| panic!("{failure}"));
        let value = |counter| summary.counters.value(counter);
        assert_eq!(summary.faults.get("connections down"), Some(&20), "{summary}");
        assert!(value(Counter::ConnectionsFailed) > 10, "{summary}");
        assert_eq!(value(Counter::ConnectionsFailed), value(Counter::ConnectionsReset));
        // Each node stops its one link when it shuts down, and not before.
        assert_eq!(value(Counter::LinksFailed), 4, "{summary}");
        assert!(summary.beside > 100, "{summary}");
        taken += value(Counter::Reclaimed);
    }
    assert!(taken > 20, "{taken} descriptors: the connections failed beside the traffic");
    // Where engines cannot stop connections, no engine is told anything that means something.
    let plan = Plan { connections: None, ..plan };
    let summary = run(&Options { seed: 1, faults: Some(plan), ..Options::default() }).unwrap();
    assert_eq!(summary.counters.value(Counter::ConnectionsFailed), 0);
}

/// The same beside everything else that an adversary does.
#[test]
fn connections_fail_beside_all_other_faults() {
    let options = Options { connections: Some(true), ..short(1) };
    let totals = sweep(&options, 20, |_| {});
    assert!(totals.failures.is_empty(), "{totals}");
    let value = |counter| totals.counters.value(counter);
    assert!(value(Counter::ConnectionsFailed) > 50, "{totals}");
    assert!(value(Counter::LinksFailed) > 50, "{totals}");
}

#[test]
fn a_wrong_plan_is_refused_with_a_reason() {
    let error = |text: &str| Plan::parse(text).unwrap_err().to_string();
    assert!(error("[messages]\ndrip = 1").contains("unknown field `drip`"));
    assert!(error("[messages]\ndrip = 1").contains("line 2"));
    assert!(error("[messages]\ndrop = 2000000").contains("more than all"));
    assert!(error("[[event]]\nat_ms = 1\ndo = \"dance\"\nnode = 0").contains("unknown variant"));
    assert!(error("[[window]]\nfrom_ms = 9\nto_ms = 9").contains("window 1"));

    let run_error = |text: &str| {
        let plan = Plan::parse(text).unwrap();
        run(&Options { nodes: Some(2), links: Some(1), faults: Some(plan), ..short(1) })
            .unwrap_err()
    };
    let no_node = run_error("[[event]]\nat_ms = 1\ndo = \"death\"\nnode = 5");
    assert!(no_node.what.contains("event 1: node 5"), "{no_node}");
    let no_link = run_error("[[event]]\nat_ms = 1\ndo = \"link-down\"\nnode = 0\nlink = 1");
    assert!(no_link.what.contains("event 1: link 1"), "{no_link}");
    let no_peer = run_error("[[event]]\nat_ms = 1\ndo = \"partition\"\nnode = 0");
    assert!(no_peer.what.contains("`peer` is missing"), "{no_peer}");
    let no_peer = run_error("[[event]]\nat_ms = 1\ndo = \"connection-down\"\nnode = 0");
    assert!(no_peer.what.contains("`peer` is missing"), "{no_peer}");
    let itself = run_error("[[event]]\nat_ms = 1\ndo = \"partition\"\nnode = 0\npeer = 0");
    assert!(itself.what.contains("peer 0 of node 0"), "{itself}");

    let crowd = run(&Options { nodes: Some(99), ..short(1) }).unwrap_err();
    assert!(crowd.what.contains("nodes = 99 is not in 2..=64"), "{crowd}");
    let missing = Plan::read(Path::new("no-such-plan.toml")).unwrap_err().to_string();
    assert!(missing.starts_with("no-such-plan.toml: "), "{missing}");
}

/// The failure that a defect leads to, in one of the first seeds.
fn bitten(defect: Defect, options: &Options) -> Failure {
    (1..=10)
        .find_map(|seed| run_with(&Options { seed, ..options.clone() }, Some(defect)).err())
        .unwrap_or_else(|| panic!("{defect:?} was not found"))
}

#[test]
fn the_checks_bite() {
    let slow = Plan::parse("[messages]\ndelay = 500000\ndelay_us = 3000").unwrap();
    let slow = Options { faults: Some(slow), ..short(1) };
    for (defect, options, rule) in [
        (Defect::LateWrite, calm(1), "INV-2: the memory oracle objects"),
        (Defect::EmptyOk, calm(1), "INV-4: OK, and byte"),
        (Defect::WrongTag, slow, "INV-5: reported while its short message had not ended"),
        (Defect::LostReport, calm(1), "INV-15: liveness: the node does not come to rest"),
        (Defect::DoubleReport, calm(1), "INV-1: "),
        (Defect::NoClock, calm(1), "INV-15: liveness: "),
    ] {
        let failure = bitten(defect, &options);
        assert!(failure.what.contains(rule), "{defect:?}: {failure}");
    }
}

#[test]
fn a_failure_says_how_to_see_it_again() {
    let options = Options { nodes: Some(3), links: Some(2), ..calm(1) };
    let failure = bitten(Defect::LateWrite, &options);
    let again = run_with(&Options { seed: failure.seed, ..options }, Some(Defect::LateWrite));
    let again = again.unwrap_err();
    assert_eq!((failure.step, failure.at), (again.step, again.at));
    let text = failure.to_string();
    assert!(text.starts_with(&format!("FAILED seed {} step {}", failure.seed, failure.step)));
    assert!(text.contains(" -> "), "the last transitions: {text}");
    let promised = "promised  INV-2: No finalize or release while hardware may touch the buffer.";
    assert!(text.contains(promised), "{text}");
    assert!(text.contains("happened  the memory oracle objects"), "{text}");
    let options = "--nodes 3 --links 2 --seconds 1 --faults PLAN.toml --defect late-write";
    let command = format!("again: lnd sim --seed {} {options}", failure.seed);
    assert!(text.contains(&command), "{text}");
}

#[test]
fn a_drawn_plan_written_out_is_the_same_run() {
    // Whatever the seed would have drawn can be given: only then is a shrunk plan about that seed.
    let mut faults = 0;
    for seed in 11..15 {
        let drawn = run(&short(seed)).unwrap();
        let plan = Plan::drawn(&short(seed)).unwrap();
        let read = Plan::parse(&plan.to_toml()).unwrap();
        assert_eq!(read, plan, "{}", plan.to_toml());
        let given = run(&Options { faults: Some(read), ..short(seed) }).unwrap();
        assert_eq!((drawn.hash, drawn.steps), (given.hash, given.steps));
        faults += drawn.faults.values().sum::<u64>();
    }
    assert!(faults > 0);
}

#[test]
fn a_failing_run_shrinks_to_what_makes_it_fail() {
    // Without a clock only a fault that leaves a call waiting does harm.
    let plan = "nodes = 3\nlinks = 2\n[messages]\ndrop = 20000\nduplicate = 5000\ndelay = 9000\n\
        delay_us = 100\n[engine]\ntwice = 7000\nsmall_chunk = 5000\n\
        [[event]]\nat_ms = 300\ndo = \"link-alarm\"\nnode = 1\nlink = 1\n\
        [[event]]\nat_ms = 400\ndo = \"restart\"\nnode = 2\n";
    let options = Options { faults: Some(Plan::parse(plan).unwrap()), ..short(5) };
    let defect = Some(Defect::NoClock);
    let whole = run_with(&options, defect).unwrap_err();
    let shrunk = shrink(&options, defect, 120).unwrap();
    let rule = |failure: &Failure| failure.what.split(':').next().map(str::to_owned);
    assert_eq!(rule(&shrunk.failure), rule(&whole));
    assert!(shrunk.runs > 1 && shrunk.runs <= 120);
    let text = shrunk.plan.clone().to_toml();
    assert!(text.lines().count() < plan.lines().count() / 2, "{text}");
    assert!(!text.contains("twice") && !text.contains("duplicate"), "{text}");
    // The file that is written plays the same failure.
    let file = Plan::parse(&shrunk.to_toml("PLAN.toml")).unwrap();
    let again = Options { faults: Some(file), seed: 5, ..Options::default() };
    let again = run_with(&again, defect).unwrap_err();
    assert_eq!((again.step, again.what), (shrunk.failure.step, shrunk.failure.what));
}

#[test]
fn a_run_that_does_not_fail_is_not_shrunk() {
    assert_eq!(shrink(&calm(3), None, 10).unwrap_err().seed, 3);
}
