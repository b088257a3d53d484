// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What interrupts hold cannot report, post or submit (INV-13; LU-3008: a transmit was finished
//! under the peer's lock; LU-19516: pools were destroyed in atomic context).
use lnd_core::driver::{IrqHandle, Request};
use lnd_core::time::Instant;

fn in_interrupt(irq_handle: IrqHandle<'_>, now: Instant, request: Request<'_>) {
    let _ = irq_handle.next_report(now);
    let _ = irq_handle.submit(now, request);
}

fn main() {}
