// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What is not accepted is handed back, and may not be ignored (INV-1; LU-12199: a message dropped
//! before its commit kept its MD).
#![deny(unused_must_use)]
use lnd_core::driver::{Driver, Request};
use lnd_core::ports::Ports;
use lnd_core::time::Instant;

fn ignored<P: Ports>(driver: &mut Driver<'_, P>, now: Instant, request: Request<'_>) {
    driver.submit(now, request);
}

fn main() {}
