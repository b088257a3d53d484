// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file seeds defects, which break the code on purpose to show that a checker finds them.
//!
//! What a concurrency model guards is marked in the sources: an ordering or a fence under the name
//! of the defect that removes it. Defects of logic are in `tests/defects/patches` and are applied
//! to a copy of the tree that the checkers build. Defects are active only in builds with `--cfg
//! lnd_defects`, where the environment variable `LND_DEFECT` names one. Every other build contains
//! nothing of them. `tests/defects/list` lists each one with the checker that must find it.

use crate::base::sync::{fence, Ordering};

#[cfg(not(lnd_defects))]
#[cfg_attr(not(feature = "compact"), inline(always))]
const fn seeded(_name: &str) -> bool {
    false
}

/// Whether the defect of this name is active. Only the patch list calls it.
#[cfg(lnd_defects)]
pub fn seeded(name: &str) -> bool {
    extern crate std;
    static CHOSEN: std::sync::OnceLock<Option<std::string::String>> = std::sync::OnceLock::new();
    CHOSEN.get_or_init(|| std::env::var("LND_DEFECT").ok()).as_deref() == Some(name)
}

/// `order`, unless the defect of this name weakens it to `Relaxed`.
#[cfg_attr(not(feature = "compact"), inline(always))]
pub fn ordered(name: &str, order: Ordering) -> Ordering {
    // Outside of such builds `seeded` is a constant, and the compiler keeps only the order.
    if seeded(name) {
        Ordering::Relaxed
    } else {
        order
    }
}

/// A fence of this order, unless the defect of this name removes it.
#[cfg_attr(not(feature = "compact"), inline(always))]
pub fn fenced(name: &str, order: Ordering) {
    if !seeded(name) {
        fence(order);
    }
}
