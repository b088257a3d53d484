// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Seeded defects: what breaks the code on purpose, to show that a checker bites.
//!
//! What a concurrency model guards stands in the sources: an ordering or a fence under the name of the
//! defect that takes it away. Defects of logic are in `tests/defects/patches`, and get into a copy of the
//! tree that the checkers build. They are at work in builds with `--cfg lnd_defects` only, where the
//! environment variable `LND_DEFECT` says which one; in every other build nothing of them is left.
//! `tests/defects/list` lists each one, with the checker that must catch it.

use crate::base::sync::{fence, Ordering};

#[cfg(not(lnd_defects))]
#[inline(always)]
const fn seeded(_name: &str) -> bool {
    false
}

/// Whether the defect of this name is at work. Only the patch list calls it.
#[cfg(lnd_defects)]
pub fn seeded(name: &str) -> bool {
    extern crate std;
    static CHOSEN: std::sync::OnceLock<Option<std::string::String>> = std::sync::OnceLock::new();
    CHOSEN.get_or_init(|| std::env::var("LND_DEFECT").ok()).as_deref() == Some(name)
}

/// `order`, unless the defect of this name has weakened it to `Relaxed`.
#[inline(always)]
pub fn ordered(name: &str, order: Ordering) -> Ordering {
    if seeded(name) {
        Ordering::Relaxed
    } else {
        order
    }
}

/// A fence of this order, unless the defect of this name has taken it away.
#[inline(always)]
pub fn fenced(name: &str, order: Ordering) {
    if !seeded(name) {
        fence(order);
    }
}
