// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a node of a large world costs does not grow with the world: counted, not timed.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use lnd_sim::world::{run, Options, Plan};

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call goes to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's contract is the system's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: the caller's contract is the system's.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

#[derive(Debug)]
struct Cost {
    steps: u64,
    requests: u64,
    allocations: u64,
}

/// What one node costs in a world of `nodes` nodes with 4 links each.
fn a_node_of(nodes: u32) -> Cost {
    let options = Options {
        seed: 5,
        nodes: Some(nodes),
        links: Some(4),
        seconds: Some(1),
        routed: Some(false),
        byzantine: Some(false),
        wraps: Some(false),
        faults: Some(Plan::default()),
        ..Options::default()
    };
    let before = ALLOCATIONS.with(Cell::get);
    let summary = run(&options).unwrap();
    let allocations = ALLOCATIONS.with(Cell::get) - before;
    let each = |count: u64| count / u64::from(nodes);
    Cost {
        steps: each(summary.facts.steps),
        requests: each(summary.facts.requests),
        allocations: each(allocations),
    }
}

#[test]
fn a_node_costs_the_same_in_a_world_four_times_as_large() {
    let (small, large) = (a_node_of(16), a_node_of(64));
    println!("of 16: {small:?}; of 64: {large:?}");
    // Each has talked to as many others.
    assert!(large.requests > 64 && large.requests * 10 > small.requests * 9, "{small:?} {large:?}");
    // What is quadratic would be four times as much.
    assert!(large.steps * 2 < small.steps * 3, "{small:?} {large:?}");
    assert!(large.allocations * 2 < small.allocations * 3, "{small:?} {large:?}");
}
