// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The word that says whether the thread has been called for (INV-15).
//!
//! Protocol: any context leaves work and calls; the first who calls since a run began wakes the
//! thread. The thread runs when it was woken: it begins, then looks for work.
//!
//! Property: no work is left lying while no thread has been woken, and none is woken twice for one
//! run.
#![cfg(loom)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use lnd_core::wake::Wake;
use lnd_loom::{explore, Bound};
use loom::sync::atomic::{AtomicU32, Ordering::Relaxed};
use loom::sync::Arc;
use loom::thread;

/// Nothing but the word orders anything here.
struct Host {
    wake: Wake,
    /// What was left for the thread; one bit each.
    work: AtomicU32,
    /// Times that the thread was woken and has not run yet.
    woken: AtomicU32,
}

impl Host {
    fn new() -> Arc<Self> {
        let (work, woken) = (AtomicU32::new(0), AtomicU32::new(0));
        Arc::new(Self { wake: Wake::new(), work, woken })
    }

    fn leave(&self, bit: u32) {
        self.work.fetch_or(bit, Relaxed);
        if self.wake.call() {
            self.woken.fetch_add(1, Relaxed);
        }
    }

    /// A run, if the thread was woken; the work that it found.
    fn run_if_woken(&self) -> u32 {
        let woken = self.woken.swap(0, Relaxed);
        assert!(woken <= 1, "woken twice for one run");
        if woken == 0 {
            return 0;
        }
        self.wake.begin();
        if self.work.load(Relaxed) == 0 {
            return 0;
        }
        self.work.swap(0, Relaxed)
    }
}

/// Runs the thread while others leave so many pieces of work each; what was found before all ended.
fn early(others: u32, pieces: u32) -> u32 {
    let host = Host::new();
    let others: Vec<_> = (0..others)
        .map(|other| {
            let host = Arc::clone(&host);
            thread::spawn(move || {
                for piece in 0..pieces {
                    host.leave(1 << (other * pieces + piece));
                }
            })
        })
        .collect();
    let early = host.run_if_woken() | host.run_if_woken();
    let all = (1 << (others.len() as u32 * pieces)) - 1;
    others.into_iter().for_each(|other| other.join().unwrap());
    assert_eq!(early | host.run_if_woken(), all, "work is left lying");
    early
}

#[test]
fn inv_15_two_calls_against_runs() {
    let ends = explore("call ‖ call ‖ run, run", Bound::Exhaustive, || early(2, 1));
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), [0, 1, 2, 3]);
}

#[test]
fn inv_15_calls_of_one_against_runs() {
    let ends = explore("call, call ‖ run, run", Bound::Exhaustive, || early(1, 2));
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), [0, 1, 3]);
}

#[test]
fn inv_15_three_calls_against_runs() {
    let ends = explore("call ‖ call ‖ call ‖ run, run", Bound::Between(3, 3), || early(3, 1));
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6, 7]);
}
