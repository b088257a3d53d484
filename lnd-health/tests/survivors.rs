// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Changes to the code that no other test of this crate noticed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::*;
use lnd_core::time::{Instant, Span};
use lnd_health::node::{Action, Count};
use lnd_health::ProbeKinds;

/// R59: probes come out of the one budget. A thousand endpoints that have been idle equally long make no
/// burst, and each is probed.
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
    assert_eq!((done, node.health.tally().value(Count::Probes)), (1000, 1000));
}
