// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Engines that must not take staged memory back while it may be pulled: CANCEL goes first
//! (docs/decisions/0029-cancel.md).
//!
//! The devices are the oracle: one that is asked for staged memory looks for pulls of it at all
//! others, and one that is given a pull looks whether its source was taken back before
//! (`Fabric::assert_not_pulled`).

use lnd_core::config::Config;
use lnd_core::counters::Counter;
use lnd_core::id::Tag;
use lnd_core::ports::Features;
use lnd_core::time::Span;
use lnd_core::transfer::{Cause, Delivery, Place};

use super::fabric::Fabric;
use super::world::{config, WorldOf};

mod known;
mod pulls;
mod said;
mod wrong;

type World = WorldOf<false>;

/// What a test's fabric is like.
#[derive(Clone, Copy)]
struct Built {
    reliable: bool,
    signals: bool,
    connects: bool,
}

const USUAL: Built = Built { reliable: true, signals: true, connects: true };

fn small() -> Config {
    let mut config = config();
    (config.links, config.connections, config.depth) = (1, 4, 2);
    config
}

fn met_with(built: Built, config: Config) -> World {
    let mut fabric = Fabric::new(2, 1);
    fabric.reliable = built.reliable;
    for device in fabric.devices.values_mut() {
        device.connects = built.connects;
        if !built.signals {
            device.features &= !Features::REMOTE_COMPLETION.0;
        }
    }
    let mut w = World::on(fabric, 2, config);
    for (from, to) in [(0, 1), (1, 0)] {
        w.put(from, to, 0).unwrap();
        w.settle();
        w.node(from).done.clear();
    }
    w.node(1).done.clear();
    w
}

fn met() -> World {
    met_with(USUAL, small())
}

fn withdraw(w: &mut World, node: usize, tag: Tag) {
    let now = w.now;
    w.nodes[node].driver.withdraw(now, tag);
    w.nodes[node].check();
}

/// How often node 0's and node 1's devices were asked for descriptors.
fn invalidating(w: &World) -> (usize, usize) {
    (w.device(0, 0, |d| d.calls.invalidates), w.device(1, 0, |d| d.calls.invalidates))
}

/// Where and why a transfer ended, and what is known of its delivery.
fn end(w: &World, node: usize, tag: Tag) -> (Option<(Cause, Place)>, Delivery) {
    let status = w.report(node, tag).status;
    (status.evidence, status.delivery)
}

/// All credits are back, none was returned twice, and as many messages as ever get through.
fn assert_goes_on(w: &mut World) {
    for _ in 0..3 {
        let tags: Vec<Tag> = (0..5).map(|_| w.put(0, 1, 3000).unwrap()).collect();
        w.sleep(Span::from_secs(1));
        for tag in tags {
            assert_eq!(w.report(0, tag).status.errno, 0);
        }
    }
    w.sleep(Span::from_secs(40));
    assert_eq!(w.count(0, Counter::BadCredits) + w.count(0, Counter::Resyncs), 0);
    assert_eq!(w.count(0, Counter::DrainBoundHit), 0);
    w.assert_drained();
    w.assert_deliveries();
}
