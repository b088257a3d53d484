// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Tables live as long as the driver (LU-19875: pools were freed before connections had drained;
//! LU-18213: a peer was released before what lies inside of it).
use std::mem::MaybeUninit;

use lnd_core::config::Config;
use lnd_core::driver::{Driver, Identity};
use lnd_core::ports::Ports;
use lnd_core::time::Instant;

fn freed<P: Ports>(
    config: Config,
    me: Identity,
    engine: P::Engine,
    channel: P::Channel,
    payload: P::Memory,
    tracer: P::Tracer,
) {
    let mut memory = vec![MaybeUninit::uninit(); config.bytes_needed()];
    let driver = Driver::<P>::create(&mut memory, config, me, [engine], channel, payload, tracer);
    drop(memory);
    let _ = driver.map(|mut driver| driver.on_time(Instant::ORIGIN));
}

fn main() {}
