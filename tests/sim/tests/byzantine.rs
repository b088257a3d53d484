// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A byzantine node among honest ones, and worlds in which everything wraps: what the honest ones
//! have with each other keeps every rule, and both find the defects that only they can find.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use lnd_core::counters::Counter;
use lnd_shortmsg::wire::DecodeError;
use lnd_sim::simulator::FaultPlan;
use lnd_sim::world::{run, run_with, shrink, Defect, Options, Plan, Rates, Totals};

/// Runs that a failing test takes to make its plan smaller.
const SHRINK_RUNS: u32 = 60;

fn three(seed: u64, plan: &str) -> Options {
    let faults = Some(Plan::parse(plan).unwrap());
    let seconds = Some(1);
    Options { seed, seconds, faults, nodes: Some(3), routed: Some(false), ..Options::default() }
}

/// Runs seeds; the first that fails is made as small as it gets, and printed with its plan.
fn all_pass(seeds: impl Iterator<Item = u64>, of: impl Fn(u64) -> Options) -> Totals {
    let mut totals = Totals::default();
    for seed in seeds {
        let options = of(seed);
        let result = run(&options);
        if result.is_err() {
            let shrunk = shrink(&options, None, SHRINK_RUNS).unwrap();
            panic!("{}\n{}", shrunk.failure, shrunk.to_toml("PLAN.toml"));
        }
        totals.add(result);
    }
    totals
}

#[test]
fn honest_nodes_keep_every_rule_among_themselves() {
    // Every seed has other faults as well, and a byzantine node with rates of its own.
    // In the last two it also misses the window, which is rare.
    let totals = all_pass((1..=10).chain([28, 29]), |seed| Options {
        seed,
        seconds: Some(1),
        byzantine: Some(true),
        ..Options::default()
    });
    assert!(totals.delivered > 200, "{totals}");
    // It was one: all that it can do wrong was done, refused and counted.
    use DecodeError as E;
    for error in [E::Class, E::Magic, E::Truncated, E::Trailing, E::Checksum, E::Kind, E::Sender] {
        assert!(totals.refused.of(error) > 0, "{error}: {:?}", totals.refused);
    }
    use Counter as C;
    for counter in [
        C::Misrouted,
        C::Early,
        C::WrongIncarnation,
        C::WrongSession,
        C::Duplicate,
        C::OutsideWindow,
        C::StaleAnswer,
        C::WrongAnswer,
        C::Protocol,
        C::BadCredits,
        C::IgnoredHellos,
    ] {
        let name = counter.name();
        assert!(totals.counters.value(counter) > 0, "{name}: {:?}", totals.counters);
    }
}

#[test]
fn each_kind_of_misconduct_alone() {
    for (kind, what) in [
        ("noise", "byzantine: noise"),
        ("spoilt", "byzantine: spoilt frames"),
        ("replayed", "byzantine: old frames"),
        ("forged", "byzantine: forged messages"),
        ("hellos", "byzantine: hellos"),
        ("unasked", "byzantine: answers unasked"),
        ("requests", "byzantine: requests"),
        ("pulls", "byzantine: descriptors"),
    ] {
        // Once falling silent, once going on; playing along, so that it is talked to.
        for (seed, goes_on) in [(1, false), (2, true)] {
            let plan = format!(
                "[byzantine]\nnode = 1\ngoes_on = {goes_on}\nanswers = 900000\n{kind} = 500\n"
            );
            let summary = run(&three(seed, &plan)).unwrap_or_else(|f| panic!("{kind}: {f}"));
            assert_eq!(summary.byzantine, Some(1));
            assert!(summary.faults.get(what).is_some_and(|&n| n > 100), "{kind}: {summary}");
            assert!(summary.delivered > 10, "{kind}: {summary}");
        }
    }
    // Says nothing, ever; hears nothing for most of the time.
    for rates in ["answers = 0", "answers = 900000\ndeaf = 500000"] {
        run(&three(3, &format!("[byzantine]\nnode = 2\n{rates}\n"))).unwrap();
    }
}

#[test]
fn the_same_byzantine_node_is_the_same_run() {
    let options = Options { byzantine: Some(true), ..three(5, "") };
    let (once, again) = (run(&options).unwrap(), run(&options).unwrap());
    assert_eq!((once.hash, once.steps), (again.hash, again.steps));
    let without = run(&Options { byzantine: Some(false), ..options.clone() }).unwrap();
    assert_ne!(once.hash, without.hash);
    // Written out, it is the same as well.
    let plan = Plan::drawn(&options).unwrap();
    let read = Plan::parse(&plan.to_toml()).unwrap();
    assert_eq!(read, plan);
    let given = run(&Options { seed: 5, faults: Some(read), ..Options::default() }).unwrap();
    assert_eq!((once.hash, once.steps), (given.hash, given.steps));
}

#[test]
fn what_a_byzantine_node_breaks_shrinks_to_how_it_breaks_it() {
    // A host that takes every frame for what it says it is. Correct nodes do not notice, whatever
    // is done to their messages.
    let plan = "[messages]\nduplicate = 9000\ndelay = 9000\ndelay_us = 100\n\
        [engine]\ntwice = 7000\nsmall_chunk = 5000\n\
        [byzantine]\nnode = 2\nanswers = 500000\nnoise = 50\nspoilt = 50\nforged = 200\n\
        hellos = 50\nunasked = 100\n\
        [[event]]\nat_ms = 300\ndo = \"link-alarm\"\nnode = 1\n";
    let defect = Some(Defect::AnySender);
    let without = Options { byzantine: Some(false), ..three(1, plan) };
    run_with(&without, defect).unwrap();
    // One that stands still: what a forged count does to credits hangs on every frame of the run.
    let stands_still = |seed: &u64| match run_with(&three(*seed, plan), defect) {
        Ok(_) => false,
        Err(failure) => failure.what.starts_with("INV-15"),
    };
    let failing = (1..=10).find(stands_still);
    let options = three(failing.expect("a seed that fails"), plan);
    run(&options).unwrap_or_else(|failure| panic!("without the defect: {failure}"));
    let shrunk = shrink(&options, defect, 200).unwrap();
    let smallest = shrunk.plan.clone();
    let text = shrunk.to_toml("PLAN.toml");
    assert_eq!(smallest.events, [], "{text}");
    assert_eq!(smallest.messages, Default::default(), "{text}");
    // Nothing of what the byzantine node still does can be left out.
    let rates = smallest.byzantine.expect("it takes a byzantine node");
    let none_left = |at: usize| {
        let mut less = rates;
        let rate = &mut less.rates_mut()[at];
        let was = core::mem::take(*rate);
        (was > 0).then_some(less)
    };
    for less in (0..10).filter_map(none_left) {
        let faults = Plan { byzantine: Some(less), ..smallest.clone() };
        let left_out = Options { seed: options.seed, faults: Some(faults), ..Options::default() };
        let failure = run_with(&left_out, defect).err().map(|failure| failure.rule().to_string());
        assert_ne!(failure.as_deref(), Some(shrunk.failure.rule()), "{less:?}\n{text}");
    }
    // The file that is written plays the same failure.
    let again = Options { faults: Some(Plan::parse(&text).unwrap()), ..options };
    let again = Options { nodes: None, routed: None, seconds: None, ..again };
    assert_eq!(run_with(&again, defect).unwrap_err().what, shrunk.failure.what);
}

#[test]
fn none_speaks_for_another() {
    // LU-16213, R31: a HELLO or a CLOSE in another's name would end what two honest nodes
    // have.
    let plan = "[byzantine]\nnode = 0\nanswers = 900000\nforged = 800\nspoilt = 200\n";
    let totals = all_pass(1..=6, |seed| three(seed, plan));
    assert!(totals.refused.of(DecodeError::Sender) > 100, "{:?}", totals.refused);
}

#[test]
fn an_answer_counts_only_from_whom_was_asked() {
    // R31: the byzantine node has read every cookie on the network.
    let plan = "[byzantine]\nnode = 0\nanswers = 1000000\nunasked = 1500\n";
    let totals = all_pass(1..=6, |seed| three(seed, plan));
    assert!(totals.counters.value(Counter::WrongAnswer) > 20, "{totals}");
}

#[test]
fn everything_wraps() {
    // Sessions, numbers and credits of requests, lives of peers, generations of tags, indices of
    // rings and the clock all begin a few steps before their wrap. False alarms and restarts make
    // many sessions and lives.
    let plan = "[messages]\ndrop = 10000\nduplicate = 10000\nreplay = 5000\ndelay = 20000\n\
        delay_us = 5000\n\
        [[event]]\nat_ms = 200\ndo = \"peer-alarm\"\nnode = 0\npeer = 1\nfor_ms = 50\n\
        [[event]]\nat_ms = 300\ndo = \"death\"\nnode = 1\nfor_ms = 50\nnoticed_ms = 10\n\
        [[event]]\nat_ms = 500\ndo = \"link-alarm\"\nnode = 0\n\
        [[event]]\nat_ms = 700\ndo = \"restart\"\nnode = 2\nfor_ms = 50\n";
    let wraps = |seed| Options { wraps: Some(true), ..three(seed, plan) };
    let totals = all_pass(1..=8, wraps);
    assert!(totals.delivered > 500, "{totals}");
    let not = run(&Options { wraps: Some(false), ..wraps(1) }).unwrap();
    assert_ne!(not.hash, run(&wraps(1)).unwrap().hash);
    // Sessions that do not wrap are found by few seeds; this is one.
    all_pass(73..=73, |seed| Options { seed, wraps: Some(true), ..Options::default() });
}

#[test]
fn a_wrong_byzantine_node_is_refused_with_a_reason() {
    let error = |plan: &str, routed| {
        let options = Options { routed: Some(routed), ..three(1, plan) };
        run(&options).unwrap_err().what
    };
    assert!(error("[byzantine]\nnode = 3", false).contains("node = 3 is not in 0..=2"));
    assert!(error("[byzantine]\nnode = 1", true).contains("it is not node 1"));
    assert!(error("[byzantine]\nnode = 2\ngoes_on = true", true).contains("falls silent"));
    assert!(Plan::parse("[byzantine]\nnod = 1").unwrap_err().to_string().contains("nod"));
    assert_eq!(Rates::default().ideas(), 0);
}
