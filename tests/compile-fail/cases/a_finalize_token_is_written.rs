// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A finalize token cannot be written down (INV-1).
use lnd_core::completed::{Completed, FinalizeToken};

fn forged(list: &Completed) {
    list.push(FinalizeToken { slot: 3 }, |_| None);
}

fn main() {}
