// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The end of a try may not be ignored: the message goes on, or its end is reported (S4-10).
#![deny(unused_must_use)]
use lnd_core::time::Instant;
use lnd_health::attempts::Attempts;
use lnd_health::node::End;
use lnd_health::Health;

fn forgotten(health: &mut Health<'_>, now: Instant, attempts: Attempts) {
    health.outcome(now, attempts, End::OK);
}

fn main() {}
