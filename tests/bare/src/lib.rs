// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The shipped crates as a kernel or a firmware image would link them.
//!
//! One module a crate, with entry points `lnd_bare_…` that reach its public interface. Arguments
//! come from outside and the ports are foreign functions, so that the compiler can assume nothing
//! about either. `tests/bare/check` links this archive for each target, with the entry points as
//! roots and unused sections dropped: what is then in the image is what the crates need.
//!
//! The panic handler calls a function that does not exist. The link therefore succeeds only if
//! nothing reachable can panic (INV-10).
//!
//! To add a crate: a dependency, a module here, and one entry point for each public call. A seeded
//! defect is built alone: what finds it looks at symbols and instructions, whatever stands beside
//! them.

#![no_std]

#[cfg(feature = "shipped")]
mod dma;
#[cfg(feature = "shipped")]
mod driver;
#[cfg(feature = "shipped")]
mod ffi;
#[cfg(feature = "shipped")]
mod health;
#[cfg(feature = "shipped")]
mod machines;
#[cfg(feature = "shipped")]
mod ports;
mod seeds;
#[cfg(feature = "shipped")]
mod shortmsg;
#[cfg(feature = "shipped")]
mod soft;

extern "C" {
    fn lnd_panic_hook_must_not_be_referenced() -> !;
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: never linked, see above.
    unsafe { lnd_panic_hook_must_not_be_referenced() }
}
