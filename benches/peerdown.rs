// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A peer goes down with many transfers outstanding, while another peer is being served.
//!
//! Timed from `on_peer(down)` until every transfer has been asked back, has come back and has been
//! reported: nanoseconds of processor time for each transfer, which must not grow with their
//! number. After each call of `on_time`, whose work is bounded, one PUT to another peer goes
//! through its whole life; the longest time between two of those is what the other peer notices.
//! Its lives are not in the time for each transfer.
//!
//! Ports as in `lifecycle`: what is timed is the driver. Each descriptor comes back as soon as it
//! was asked for, alternately untouched and done.
//!
//! The yardstick is a [bare sweep](lnd_bench::floor) over as many: a compare-and-swap for each, and
//! back to the pool.
//!
//! "Polled" is the same of a host whose own thread takes completions: each report is the result of
//! the call that hands the descriptor back.
//!
//! `--count N`: the instructions of one peer-down with `N` outstanding, without another peer's
//! lives, are those in `lnd_measured`. With `--phase polls` those of a host that polls.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use lnd_bench::floor::Floor;
use lnd_bench::peer_down::Scene;
use lnd_bench::{clock, place, Column, Options, Table};

const OUTSTANDING: [usize; 3] = [1_000, 10_000, 60_000];

/// What all rounds have cost, for one number outstanding.
#[derive(Default)]
struct Costs {
    each: Column,
    polled: Column,
    bare: Column,
    alone: Column,
    meanwhile: Column,
    longest: Column,
}

/// One bare sweep over `outstanding`, in nanoseconds each.
fn bare_sweep(outstanding: usize) -> f64 {
    let mut floor = Floor::new(outstanding);
    (0..outstanding as u64).for_each(|user| floor.begin(user));
    let begin = clock::spent();
    assert_eq!(floor.sweep(), outstanding);
    (clock::spent() - begin) as f64 / outstanding as f64
}

fn main() {
    let options = Options::read();
    if let Some(count) = options.count {
        let polls = options.phase.as_deref() == Some("polls");
        return Scene::new(count as usize, polls).count();
    }
    place::pin(place::pair().0);
    let mut costs = OUTSTANDING.map(|_| Costs::default());
    for _ in 0..options.rounds(21, 1) {
        for (&outstanding, costs) in OUTSTANDING.iter().zip(&mut costs) {
            costs.bare.push(bare_sweep(outstanding));
            let cost = Scene::new(outstanding, true).drain();
            costs.polled.push(cost.drain / outstanding as f64);
            let cost = Scene::new(outstanding, false).drain();
            costs.each.push(cost.drain / outstanding as f64);
            costs.alone.push(cost.alone.median());
            costs.meanwhile.push(cost.meanwhile.median());
            costs.longest.push(cost.longest / 1000.0);
        }
    }
    let headline = "Peer down: asked back, come back, reported; processor time";
    let table = Table::begin("peerdown", &options, headline);
    for (outstanding, cost) in OUTSTANDING.iter().zip(&costs) {
        let name = |what: &str| format!("{outstanding} outstanding: {what}");
        let ratio = cost.each.over(&costs[0].each);
        table.line(&name("each"), "ns", &cost.each, Some((&ratio, "of 1000 outstanding")));
        table.line(&name("bare sweep"), "ns", &cost.bare, None);
        let ratio = cost.each.over(&cost.bare);
        table.line(&name("beside it"), "ns", &cost.each, Some((&ratio, "of the bare sweep")));
        let ratio = cost.polled.over(&cost.bare);
        table.line(&name("polled"), "ns", &cost.polled, Some((&ratio, "of the bare sweep")));
        table.line(&name("longest round"), "us", &cost.longest, None);
        let ratio = cost.meanwhile.over(&cost.alone);
        table.line(&name("other peer"), "ns", &cost.meanwhile, Some((&ratio, "of it alone")));
    }
}
