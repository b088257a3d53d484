// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Seeded defects: places where the code can be broken on purpose, to show that a checker bites.
//!
//! They exist in builds with `--cfg lnd_defects` only, where the environment variable `LND_DEFECT`
//! says which one is at work; in every other build [`seeded`] is a constant `false` and nothing of
//! it is left. `tests/defects` lists each one, with the checkers that must catch it.

use crate::base::sync::Ordering;

/// Whether the defect of this name is at work. Always false in what is shipped.
#[cfg(not(lnd_defects))]
#[inline(always)]
pub const fn seeded(_name: &str) -> bool {
    false
}

/// Whether the defect of this name is at work.
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
