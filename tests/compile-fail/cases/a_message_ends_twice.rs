// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The end of a message takes it by value: it is not reported twice (R1, S4-10).
use lnd_core::time::Instant;
use lnd_health::attempts::Attempts;
use lnd_health::node::{End, Ended, Next, WhyEnded};
use lnd_health::Health;

fn twice(health: &mut Health<'_>, now: Instant, attempts: Attempts) -> (Next, Ended) {
    let next = health.outcome(now, attempts, End::OK);
    (next, health.give_up(attempts, WhyEnded::Tries))
}

fn main() {}
