// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lnd-health` and `lnd-ffi`.

use lnd_core::transfer::{Delivery, Health};
use lnd_health::{effect, HealthValue, Profile};

/// One cell of the effects' table, and a demerit.
#[no_mangle]
pub extern "C" fn bare_health(class: u32, sensitivity: u16) -> u32 {
    let health = if class == 0 { Health::Ok } else { Health::NetworkTimeout };
    let e = effect(Profile::Seed, health, Delivery::Unknown, class > 1);
    let value = HealthValue::FULL.demerited(sensitivity).recovered(1);
    u32::from(e.local_demerit) + u32::from(value.get())
}

/// The C ABI's calls.
#[no_mangle]
pub extern "C" fn bare_ffi(slots: u32, peers: u32, links: u8) -> usize {
    lnd_ffi::lnd_bytes_needed(slots, peers, links) + lnd_ffi::lnd_abi_version() as usize
}
