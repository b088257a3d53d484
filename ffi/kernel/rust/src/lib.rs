// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Everything that a kernel module links, in one archive. The crates below export C functions. This
//! crate adds only the panic handler that an archive must have, and that nothing may reach.
#![no_std]

use lnd_ffi as _;
use lnd_soft as _;

#[cfg(not(test))]
mod unreachable {
    extern "C" {
        /// Defined nowhere. If the optimizer leaves a way to panic, the object has this undefined
        /// symbol, and prelink.sh refuses it.
        fn lnd_this_library_can_panic();
    }

    #[panic_handler]
    fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
        // SAFETY: never linked, see above.
        unsafe { lnd_this_library_can_panic() };
        loop {
            core::hint::spin_loop();
        }
    }
}

/// A seeded defect: indexing that may panic.
#[cfg(feature = "seed-panic")]
#[no_mangle]
pub extern "C" fn lnd_seed_panic(index: usize) -> u32 {
    [1, 2, 3][index]
}
