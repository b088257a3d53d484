// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A shard is called by one thread at a time: its lists need no lock that could be forgotten
//! (LU-15076, LU-9769, LU-9607, LU-12163, LU-17578, LU-18966).
use lnd_core::driver::{Driver, Request};
use lnd_core::ports::Ports;
use lnd_core::time::Instant;

fn both<P: Ports>(driver: &Driver<'_, P>, now: Instant, request: Request<'_>) {
    let _ = driver.submit(now, request);
    let _ = driver.next_report(now);
}

fn main() {}
