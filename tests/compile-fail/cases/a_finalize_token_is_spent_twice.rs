// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A token is spent once (INV-1).
use lnd_core::completed::{Completed, FinalizeToken};

fn twice(list: &Completed, token: FinalizeToken) {
    list.push(token, |_| None);
    list.push(token, |_| None);
}

fn main() {}
