// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Instructions of each phase of a message's life, counted by a simulator of the processor.
//!
//! One thread drives both nodes. The program calls [`measured`] for the phase that `--phase` names and for
//! no other, so that
//! `valgrind --tool=callgrind --collect-atstart=no --toggle-collect='*lnd_measured*'` counts that phase
//! alone. The count is divided by `--count`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use lnd_bench::pair::{fragments, pair, Node};
use lnd_bench::wire::Window;
use lnd_bench::Options;
use lnd_core::fragment::Fragment;

/// Messages between two returns of credits.
const BATCH: u64 = 8;
const SMALL: usize = 56;

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
    phase("idle", asked, || (0..count).for_each(|_| a.on_time()));
    assert_eq!((a.done.0, b.done.1), (count, count), "every message has arrived");
}

fn main() {
    let options = Options::read();
    let window = Window::new(1 << 16);
    let mut nodes = pair(window);
    let payload = |offset| fragments(window.address(offset), SMALL);
    nodes[1].set_sinks(vec![payload(8192)]);
    let asked = options.phase.as_deref().unwrap_or("all");
    small(options.count.unwrap_or(64), asked, &mut nodes, &payload(0));
}
