// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A peer's request needs a decision, and "later" needs its frame to stay (R1).
#![deny(unused_must_use)]
use lnd_core::driver::Driver;
use lnd_core::id::LinkId;
use lnd_core::message::{Envelope, Message};
use lnd_core::ports::Ports;
use lnd_core::time::Instant;

fn ignored<P: Ports>(
    driver: &mut Driver<'_, P>,
    now: Instant,
    link: LinkId,
    from: &Envelope,
    message: &Message<'_>,
) {
    driver.on_message(now, link, from, message);
}

fn main() {}
