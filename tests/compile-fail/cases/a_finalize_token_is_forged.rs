// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Only a step that settles the last debt makes a finalize token (INV-1; LU-10682: transfers were
//! never finalized; LU-19693: destroyed by the error path and by the caller).
use lnd_core::completed::{Completed, FinalizeToken};

fn made(list: &Completed) {
    list.push(FinalizeToken::new(3), |_| None);
}

fn main() {}
