// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What is announced changes nothing, and what is announced together is taken in one by one.

use std::collections::hash_map::DefaultHasher;
use std::hash::Hasher;

use lnd_core::counters::Counter;
use lnd_core::id::{PeerId, Tag};
use lnd_core::ports::{Completion, Returned, Sent};

use super::fabric::nid;
use super::world::World;

#[test]
fn an_announcement_changes_nothing() {
    let mut w = World::met();
    let tag = w.put(0, 1, 5000).unwrap();
    let driver = &mut w.nodes[0].driver;
    let known = driver.peer(nid(1)).unwrap();
    let mut hasher = DefaultHasher::new();
    driver.fingerprint(&mut hasher);
    let before = hasher.finish();
    // Known, stale and none at all: twice each, as the second call acts on the first one's.
    for index in [tag.index, 1, u32::MAX] {
        driver.expect_end(Tag { index, generation: 7 });
        driver.expect_end(Tag { index, ..tag });
    }
    for peer in [known, PeerId::new(u32::MAX, 3)] {
        driver.expect_peer(peer);
    }
    for node in [0, 1, 77] {
        driver.expect_peer(nid(node));
        driver.expect_peer(nid(node));
    }
    let mut hasher = DefaultHasher::new();
    driver.fingerprint(&mut hasher);
    assert_eq!(hasher.finish(), before);
    w.settle();
    assert_eq!(w.report(0, tag).status.errno, 0);
}

#[test]
fn every_completion_of_a_round_is_applied_in_its_turn() {
    // As many as there are credits.
    for many in 0..=7 {
        let mut w = World::met();
        let tags: Vec<Tag> = (0..many).map(|_| w.put(0, 1, 5000).unwrap()).collect();
        let (now, driver) = (w.now, &mut w.nodes[0].driver);
        tags.iter().for_each(|&tag| driver.on_sent(now, tag, Sent::Ok));
        // Each is followed by one that is stale.
        let completions = tags.iter().flat_map(|&tag| {
            let stale = Tag { generation: tag.generation.wrapping_add(1), ..tag };
            [tag, stale].map(|tag| Completion { tag, returned: Returned::Ok })
        });
        let before = driver.counters().value(Counter::StaleCompletion);
        let mut ended = Vec::new();
        driver.run_once(now, completions, |report| ended.push(report.tag));
        assert_eq!(ended, tags);
        let stale = driver.counters().value(Counter::StaleCompletion) - before;
        assert_eq!(stale, many);
    }
}
