// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Credits come from a session and from returns only (INV-12, LU-17999: tested, then used later).
use lnd_core::peer::credits::Ours;

fn more(ours: &mut Ours) {
    ours.in_flight -= 1;
}

fn main() {}
