// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a run's log holds, beside what the run itself tells.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;

use lnd_core::trace::Trace;
use lnd_shortmsg::wire::{decode, Checksum};
use lnd_sim::rails;
use lnd_sim::simulator::run_log::{Entry, Logged};
use lnd_sim::simulator::RunLog;
use lnd_sim::world::{run, run_logged, Options, Summary};

fn logged(seed: u64) -> (Summary, Vec<Entry>) {
    let log = RunLog::default();
    let options = Options { seed, ..Options::default() };
    let summary = run_logged(&options, None, Some(&log)).unwrap();
    let (entries, left_out) = log.take();
    assert_eq!(left_out, 0);
    (summary, entries)
}

#[test]
fn a_run_is_the_same_with_and_without_a_log() {
    for seed in [1, 3] {
        let options = Options { seed, ..Options::default() };
        assert_eq!(run(&options).unwrap().facts.hash, logged(seed).0.facts.hash);
    }
    let (plan, log) = (rails::swarm(17), RunLog::default());
    let with = rails::run_logged(&plan, 17, None, Some(&log)).unwrap();
    assert_eq!(rails::run(&plan, 17).unwrap().facts.hash, with.facts.hash);
    let (entries, _) = log.take();
    assert!(entries.iter().any(|entry| matches!(entry.what, Logged::Health { .. })));
}

#[test]
fn every_end_that_a_run_tells_is_in_its_log() {
    for seed in [1, 2, 3, 42] {
        let (summary, entries) = logged(seed);
        let mut traced = vec![0; summary.nodes.len()];
        let (mut ok, mut ends) = (0_u64, 0_u64);
        for entry in &entries {
            let Logged::Trace { unit, trace, .. } = entry.what else { continue };
            traced[unit as usize] += 1;
            if let Trace::Finalized { status, .. } | Trace::Ended { status, .. } = trace {
                ends += 1;
                ok += u64::from(status.errno == 0);
            }
        }
        let stats = summary.stats();
        assert_eq!(ends, stats.finalized(), "seed {seed}");
        assert_eq!(ok, stats.roles.values().map(|it| it.ok).sum::<u64>(), "seed {seed}");
        let told: Vec<u64> = summary.nodes.iter().map(|node| node.traced).collect();
        assert_eq!(traced, told, "seed {seed}");
    }
}

#[test]
fn every_fault_that_a_run_counts_is_in_its_log() {
    let (summary, entries) = logged(1);
    let mut counts = BTreeMap::new();
    for entry in &entries {
        if let Logged::Fault { what } = entry.what {
            *counts.entry(what).or_insert(0) += 1;
        }
    }
    assert!(!counts.is_empty());
    assert_eq!(counts, summary.facts.faults);
}

#[test]
fn frames_arrive_as_they_were_sent_unless_something_happened_to_them() {
    let (_, entries) = logged(1);
    let mut sent = BTreeMap::new();
    let (mut whole, mut spoilt) = (0, 0);
    for entry in &entries {
        match &entry.what {
            Logged::Sent { frame, bytes, leaves, fault, .. } => {
                assert!(decode(bytes, Checksum::On).is_ok());
                assert!(*leaves || !fault.is_empty());
                sent.insert(*frame, bytes.clone());
            }
            Logged::Arrived { frame, bytes, fault, .. } if *fault == "corrupted" => {
                assert_ne!(sent.get(frame), Some(bytes));
                spoilt += 1;
            }
            Logged::Arrived { frame, bytes, .. } if *frame > 0 => {
                assert_eq!(sent.get(frame), Some(bytes));
                whole += 1;
            }
            _ => {}
        }
    }
    assert!(whole > 500 && spoilt > 0, "{whole} as they were sent, {spoilt} spoilt");
}
