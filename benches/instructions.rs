// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Instructions of each phase of the life cycle of a message, counted by a simulator of the
//! processor.
//!
//! One thread drives both nodes. The program calls [`measured`] for the phase that `--phase` names
//! and for no other, so that `valgrind --tool=callgrind --collect-atstart=no
//! --toggle-collect='*lnd_measured*'` counts that phase alone. The count is divided by `--count`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use lnd_bench::pair::{fragments, pair, Node};
use lnd_bench::shared::Arena;
use lnd_bench::wire::Window;
use lnd_bench::Options;
use lnd_core::fragment::Fragment;

/// Messages between two returns of credits.
const BATCH: u64 = 8;
const SMALL: usize = 56;
const LARGE: usize = 16_384;

/// What the simulator counts.
#[inline(never)]
fn lnd_measured(work: &mut dyn FnMut()) {
    work();
}

/// One phase: measured if it is the one asked for.
fn phase(name: &str, asked: &str, mut work: impl FnMut()) {
    if name == asked || asked == "all" {
        lnd_measured(&mut work);
    } else {
        work();
    }
}

fn small(count: u64, asked: &str, nodes: &mut [Node; 2], payload: &[Fragment]) {
    let [a, b] = nodes;
    for number in 1..=count {
        phase("send", asked, || a.put(payload));
        phase("sent", asked, || _ = a.reports());
        phase("receive", asked, || _ = b.receive());
        phase("received", asked, || _ = b.reports());
        if number.is_multiple_of(BATCH) {
            phase("credits", asked, || {
                b.on_time();
                a.receive();
                a.on_time();
            });
        }
    }
    // What each phase has beside its work: the call of a closure.
    (0..count).for_each(|_| phase("empty", asked, || {}));
    (0..count).for_each(|_| phase("idle", asked, || a.on_time()));
    assert_eq!((a.done.0, b.done.1), (count, count), "every message has arrived");
}

/// Messages to a peer that is named by its place in the table.
fn by_id(count: u64, asked: &str, nodes: &mut [Node; 2], payload: &[Fragment]) {
    let [a, b] = nodes;
    (a.done, b.done) = ((0, 0), (0, 0));
    let peer = a.other();
    for number in 1..=count {
        phase("send-by-id", asked, || a.put_to(peer, payload));
        b.receive();
        if number.is_multiple_of(BATCH) {
            b.on_time();
            a.receive();
            a.on_time();
        }
    }
    assert_eq!((a.done.0, b.done.1), (count, count), "every message has arrived");
}

/// Messages in turn: each carries the credit of the one before, and its receiver has a new count.
fn in_turn(count: u64, asked: &str, nodes: &mut [Node; 2], payload: &[Fragment]) {
    let [a, b] = nodes;
    (a.done, b.done) = ((0, 0), (0, 0));
    for _ in 1..=count {
        a.put(payload);
        b.receive();
        b.put(payload);
        phase("receive-counted", asked, || _ = a.receive());
    }
    assert_eq!((a.done, b.done), ((count, count), (count, count)), "every message has arrived");
}

/// A PUT that is staged and pulled. The engines are stepped unmeasured: elsewhere they are
/// hardware.
fn large(count: u64, asked: &str, nodes: &mut [Node; 2], payload: &[Fragment]) {
    let [a, b] = nodes;
    (a.done, b.done) = ((0, 0), (0, 0));
    for number in 1..=count {
        phase("stage", asked, || a.put(payload));
        phase("pull", asked, || {
            b.receive();
            b.ring();
        });
        while a.step() | b.step() {}
        phase("staged", asked, || {
            a.complete();
            a.reports();
        });
        phase("pulled", asked, || {
            b.complete();
            b.reports();
        });
        if number.is_multiple_of(BATCH) {
            b.on_time();
            a.receive();
            a.on_time();
        }
    }
    (0..count).for_each(|_| phase("idle-engine", asked, || _ = a.step()));
    assert_eq!((a.done.0, b.done.1), (count, count), "every PUT has arrived");
}

fn main() {
    let options = Options::read();
    let window = Window::new(1 << 16);
    let mut nodes = pair(&mut Arena::small(), window);
    let payload = |offset| fragments(window.address(offset), SMALL);
    nodes[1].set_sinks(vec![payload(8192)]);
    let asked = options.phase.as_deref().unwrap_or("all");
    let count = options.count.unwrap_or(64);
    small(count, asked, &mut nodes, &payload(0));
    by_id(count, asked, &mut nodes, &payload(0));
    nodes[0].set_sinks(vec![payload(4096)]);
    in_turn(count, asked, &mut nodes, &payload(0));
    let payload = |offset| fragments(window.address(offset), LARGE);
    nodes[1].set_sinks(vec![payload(1 << 15)]);
    large(count, asked, &mut nodes, &payload(0));
}
