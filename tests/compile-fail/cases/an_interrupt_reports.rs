// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What interrupts hold cannot report, post or submit (INV-13; LU-3008: a transmit was finished under
//! the peer's lock; LU-19516: pools were destroyed in atomic context).
use lnd_core::driver::{Decider, Request};
use lnd_core::time::Instant;

fn in_interrupt(decider: Decider<'_>, now: Instant, request: Request<'_>) {
    let _ = decider.next_report(now);
    let _ = decider.submit(now, request);
}

fn main() {}
