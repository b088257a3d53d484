// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The decision consumes the request (LU-7734: the callee consumed its argument, the caller freed
//! it too; LU-3008: an eager receive freed twice).
use lnd_core::driver::{Driver, Receive, RxRequest};
use lnd_core::message::NakReason;
use lnd_core::ports::Ports;
use lnd_core::time::Instant;

fn twice<P: Ports>(
    driver: &mut Driver<'_, P>,
    now: Instant,
    rx_request: RxRequest<'_>,
    it: &Receive<'_>,
) {
    let _ = driver.recv(now, rx_request, it);
    driver.nak(now, rx_request, NakReason::NoMatch);
}

fn main() {}
