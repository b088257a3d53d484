// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! An inline payload is borrowed from the frame it came in (LU-7324, LU-4360: a message was read
//! after it had been handed on).
use lnd_core::driver::{Driver, Inbound, RxRequest};
use lnd_core::id::LinkId;
use lnd_core::message::{Envelope, Message};
use lnd_core::ports::Ports;
use lnd_core::time::Instant;

fn kept<P: Ports>(
    driver: &mut Driver<'_, P>,
    now: Instant,
    link: LinkId,
    from: &Envelope,
) -> Option<RxRequest<'static>> {
    let frame = [0_u8; 16];
    let message = Message::Immediate { header: &frame[..4], payload: &frame[4..] };
    match driver.on_message(now, link, from, &message) {
        Inbound::Request(arrival) => Some(arrival.keep()),
        _ => None,
    }
}

fn main() {}
