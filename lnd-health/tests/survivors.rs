// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Changes to the code that no other test of this crate noticed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::*;
use lnd_core::time::{Instant, Span};
use lnd_health::node::{Action, HealthCounter};
use lnd_health::ProbeKinds;

/// S2-3, R59: probes come out of the one budget. A thousand endpoints that have been idle equally
/// long make no burst, and each is probed.
#[test]
fn probes_are_inside_the_budget() {
    let mut config = plain(1, 1000, 1);
    (config.probe.idle, config.probe.again) = (Span::from_secs(1), Span::from_secs(1_000));
    (config.action_every, config.action_burst) = (Span::from_millis(10), 100);
    let mut node = Node::new(config, 1);
    *node.health.probe_kinds() = ProbeKinds::offered(true, false, false, false);
    for (_, nis) in node.peers.clone() {
        node.health.watch(at(0), nis[0], false);
    }
    let (mut done, mut seen) = (0_u64, std::collections::BTreeSet::new());
    for t in 0..12_000 {
        let now = Instant::from_nanos(t * 1_000_000);
        while let Some(action) = node.health.next_action(now) {
            let Action::Probe(probe) = action else { panic!("{action:?}") };
            assert!(seen.insert(probe.peer_ni), "one probe each");
            done += 1;
        }
        assert!(done <= 100 + t / 10, "{done} probes after {t} ms");
    }
    assert_eq!((done, node.health.tally().value(HealthCounter::Probes)), (1000, 1000));
}

/// S2-3, R64: one call looks at a bounded number of endpoints, however many are due. Here all of
/// them are, and each had traffic, so that none needs a probe.
#[test]
fn one_call_looks_at_no_more_than_its_share() {
    let calls = |endpoints: u32| {
        let mut config = plain(1, endpoints, 1);
        config.probe.idle = Span::from_secs(10);
        let mut node = Node::new(config, 1);
        *node.health.probe_kinds() = ProbeKinds::offered(true, false, false, false);
        for (_, nis) in node.peers.clone() {
            node.health.watch(at(0), nis[0], false);
            node.health.active(nis[0]);
        }
        let calls = (1..=endpoints).find(|_| {
            assert_eq!(node.health.next_action(at(10)), None, "each had traffic");
            node.health.next_deadline() > at(10)
        });
        calls.expect("every call looks at one at least")
    };
    // 64 looks are the bound that `next_action` names.
    assert!(calls(32) <= 2);
    assert!(calls(256) >= 4);
}
