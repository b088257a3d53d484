// SPDX-License-Identifier: MIT OR GPL-2.0-only
#![doc = include_str!("../README.md")]
#![no_std]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]
// All calls have one contract, which the README and the header's first lines state: pointers are
// null or what the call's comment requires, and stay valid during the call.
#![allow(clippy::missing_safety_doc)]

#[cfg(any(test, loom))]
extern crate std;

pub mod abi;
pub mod bounds;
pub mod check;
pub mod config;
pub mod connections;
pub mod create;
mod decide;
pub mod decision;
pub mod dump;
pub mod effective;
mod engine;
pub mod errors;
mod handle;
pub mod health;
mod input;
pub mod interrupts;
pub mod messages;
pub mod metrics;
pub mod names;
mod ni;
pub mod observed;
pub mod observer;
mod offered;
pub mod peers;
mod pieces;
mod platform;
mod ports;
mod registers;
pub mod run;
pub mod shutdown;
pub mod stats;
pub mod submit;
mod tally;
mod text;
mod tracing;
pub mod version;

pub use ni::lnd_ni;

#[cfg(feature = "soft")]
pub use lnd_soft as soft;

#[cfg(feature = "panic-handler")]
mod no_panic {
    extern "C" {
        fn lnd_panic_is_unreachable() -> !;
    }

    #[panic_handler]
    fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
        // SAFETY: never linked: the symbol does not exist, and a library that refers to it is
        // refused by its check.
        unsafe { lnd_panic_is_unreachable() }
    }
}
