// SPDX-License-Identifier: MIT OR GPL-2.0-only
#![doc = include_str!("../README.md")]
#![no_std]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

use lnd_core::config::Config;

/// The version of this ABI. Zero: nothing in it is stable yet.
pub const LND_ABI_VERSION: u32 = 0;

/// The version of the ABI that this library was built with. Context: any.
#[no_mangle]
pub extern "C" fn lnd_abi_version() -> u32 {
    LND_ABI_VERSION
}

/// Bytes of memory that a driver for `slots` transfers and `peers` peers over `links` links needs,
/// with the other values at their defaults; zero if there can be no such driver. Context: any.
#[no_mangle]
pub extern "C" fn lnd_bytes_needed(slots: u32, peers: u32, links: u8) -> usize {
    let config = Config::new(slots, peers, links);
    match config.check() {
        Ok(()) => config.bytes_needed(),
        Err(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_drivers_need_no_memory_and_larger_ones_more() {
        assert_eq!(lnd_bytes_needed(1, 1, 1), 0);
        assert_eq!(lnd_bytes_needed(64, 0, 1), 0);
        assert_eq!(lnd_bytes_needed(64, 1, 9), 0);
        assert!(lnd_bytes_needed(2, 1, 1) > 0);
        assert!(lnd_bytes_needed(65_536, 16_384, 8) > lnd_bytes_needed(64, 16, 2));
        assert_eq!(lnd_abi_version(), LND_ABI_VERSION);
    }
}
