// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Seeded defects: with one of the features on, `tests/bare/check` must fail.

/// An index that may be out of bounds.
#[cfg(feature = "seed-panic")]
#[no_mangle]
pub extern "C" fn lnd_bare_seed_panic(index: usize) -> u8 {
    static TABLE: [u8; 4] = [1, 2, 3, 4];
    TABLE[index]
}

/// A floating-point product.
#[cfg(feature = "seed-float")]
#[no_mangle]
pub extern "C" fn lnd_bare_seed_float(a: u32, b: u32) -> u32 {
    (f32::from_bits(a) * f32::from_bits(b)).to_bits()
}

/// A vector instruction, as bytes: this target's compiler knows none.
#[cfg(all(feature = "seed-vector", target_arch = "x86_64"))]
#[no_mangle]
pub extern "C" fn lnd_bare_seed_vector() {
    // SAFETY: never run; it only has to link. pxor %xmm0, %xmm0
    unsafe { core::arch::asm!(".byte 0x66, 0x0f, 0xef, 0xc0") }
}

/// An atomic operation on 64 bits: an instruction, or where there is none a call.
#[cfg(feature = "seed-wide")]
mod wide_seed {
    #[cfg(target_has_atomic = "64")]
    #[no_mangle]
    pub extern "C" fn lnd_bare_seed_wide(word: &core::sync::atomic::AtomicU64) -> u64 {
        word.fetch_add(1, core::sync::atomic::Ordering::Relaxed)
    }

    #[cfg(not(target_has_atomic = "64"))]
    extern "C" {
        fn __atomic_fetch_add_8(word: *mut u64, by: u64, order: i32) -> u64;
    }

    #[cfg(not(target_has_atomic = "64"))]
    #[no_mangle]
    pub extern "C" fn lnd_bare_seed_wide(word: *mut u64) -> u64 {
        // SAFETY: never run; it only has to be referred to.
        unsafe { __atomic_fetch_add_8(word, 1, 0) }
    }
}

/// A counter that is never read.
#[cfg(feature = "seed-static")]
#[no_mangle]
pub extern "C" fn lnd_bare_seed_static() -> u32 {
    use core::sync::atomic::{AtomicU32, Ordering};
    static COUNT: AtomicU32 = AtomicU32::new(0);
    COUNT.fetch_add(1, Ordering::Relaxed)
}

/// A function that calls itself.
#[cfg(feature = "seed-recursion")]
mod recursion_seed {
    fn fibonacci(n: u32) -> u32 {
        match n {
            0 | 1 => n,
            _ => fibonacci(n - 1).wrapping_add(fibonacci(n - 2)),
        }
    }

    #[no_mangle]
    pub extern "C" fn lnd_bare_seed_recursion(n: u32) -> u32 {
        fibonacci(n)
    }
}

/// A box.
#[cfg(feature = "seed-alloc")]
mod alloc_seed {
    extern crate alloc;

    use core::alloc::{GlobalAlloc, Layout};

    extern "C" {
        fn lnd_port_alloc(size: usize) -> *mut u8;
    }

    struct Foreign;

    // SAFETY: never run; it only has to link.
    unsafe impl GlobalAlloc for Foreign {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            // SAFETY: see above.
            unsafe { lnd_port_alloc(layout.size()) }
        }

        unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
    }

    #[global_allocator]
    static FOREIGN: Foreign = Foreign;

    #[no_mangle]
    pub extern "C" fn lnd_bare_seed_alloc(value: u32) -> *mut u32 {
        alloc::boxed::Box::into_raw(alloc::boxed::Box::new(value))
    }
}

/// A box, and no allocator: only a library can be so.
#[cfg(feature = "seed-heap")]
mod heap_seed {
    extern crate alloc;

    #[no_mangle]
    pub extern "C" fn lnd_bare_seed_heap(value: u32) -> *mut u32 {
        alloc::boxed::Box::into_raw(alloc::boxed::Box::new(value))
    }
}
