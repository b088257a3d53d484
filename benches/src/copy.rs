// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Another way to move bytes than the library's: the string instruction.
//!
//! It is not the engine's. A bare exchange of untouched data takes 0.6 to 0.8 of the time by it,
//! with the processors far from each other. Through the driver, and with data that is written and
//! read, it took as long or up to 1.18 times as long (1 MiB).

use core::ptr::NonNull;

/// How bytes are moved. Copying it costs nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyWay {
    /// As the compiler's library does.
    Plain,
    /// By one string instruction, from [`CopyWay::LEAST`] bytes on.
    Strings,
}

impl CopyWay {
    /// Fewer bytes are always moved the plain way: a string instruction takes some time to begin.
    pub const LEAST: usize = 1024;

    /// The best way on this processor. Takes microseconds on a virtual one: ask once. Context: any.
    pub fn probe() -> Self {
        Self::of(features())
    }

    /// The best way with the features of leaf 7, EBX.
    const fn of(features: u32) -> Self {
        if features & ERMS != 0 {
            Self::Strings
        } else {
            Self::Plain
        }
    }

    /// Moves `length` bytes. The ranges may overlap.
    ///
    /// # Safety
    /// Both ranges are memory that may be accessed so: `from` is read and `to` is written.
    #[inline]
    pub unsafe fn copy(self, from: NonNull<u8>, to: NonNull<u8>, length: usize) {
        if self.takes_strings(from.addr().get(), to.addr().get(), length) {
            // SAFETY: the caller's promise; the sink does not begin within the source.
            unsafe { copy_strings(from, to, length) };
        } else {
            // SAFETY: the caller's promise; overlap is allowed.
            unsafe { core::ptr::copy(from.as_ptr(), to.as_ptr(), length) };
        }
    }

    /// Whether the string instruction moves these bytes. It goes upwards byte by byte, which is
    /// wrong where the sink begins within the source.
    #[inline]
    fn takes_strings(self, from: usize, to: usize, length: usize) -> bool {
        self == Self::Strings && length >= Self::LEAST && to.wrapping_sub(from) >= length
    }
}

/// "Enhanced REP MOVSB/STOSB": string instructions move bytes fast.
const ERMS: u32 = 1 << 9;

/// What the processor says about itself: leaf 7, EBX. One that has no such leaf gives another
/// number; the way may then be the slower one, and is right all the same.
#[cfg(all(target_arch = "x86_64", not(miri)))]
// The compiler of the minimum version has this function as unsafe.
#[allow(unused_unsafe)]
fn features() -> u32 {
    // SAFETY: every processor of this architecture has the instruction.
    unsafe { core::arch::x86_64::__cpuid_count(7, 0) }.ebx
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
fn features() -> u32 {
    0
}

/// Moves bytes upwards.
///
/// # Safety
/// As [`CopyWay::copy`]; and `to` does not begin within the source.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline]
unsafe fn copy_strings(from: NonNull<u8>, to: NonNull<u8>, length: usize) {
    // SAFETY: the caller's promise. The direction flag is clear, as the ABI has it.
    unsafe {
        core::arch::asm!(
            "rep movsb",
            inout("rcx") length => _,
            inout("rsi") from.as_ptr() => _,
            inout("rdi") to.as_ptr() => _,
            options(nostack, preserves_flags),
        );
    }
}

/// Never called: [`CopyWay::probe`] does not choose it here.
///
/// # Safety
/// As [`CopyWay::copy`].
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
#[inline]
unsafe fn copy_strings(from: NonNull<u8>, to: NonNull<u8>, length: usize) {
    // SAFETY: the caller's promise.
    unsafe { core::ptr::copy(from.as_ptr(), to.as_ptr(), length) };
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    #[test]
    fn strings_are_chosen_where_they_are_fast() {
        assert_eq!([0, !ERMS, ERMS, !0].map(CopyWay::of), {
            use CopyWay::{Plain, Strings};
            [Plain, Plain, Strings, Strings]
        });
    }

    #[test]
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    fn the_processor_is_asked() {
        let fast = std::arch::is_x86_feature_detected!("ermsb");
        assert_eq!(CopyWay::probe() == CopyWay::Strings, fast);
    }

    #[test]
    fn strings_take_what_is_long_and_does_not_begin_within_itself() {
        let least = CopyWay::LEAST;
        let take = |from, to, length| CopyWay::Strings.takes_strings(from, to, length);
        assert!(take(0, least, least) && !take(0, 5000, least - 1));
        assert!(take(100, 100 + 5000, 5000) && !take(100, 100 + 4999, 5000));
        assert!(take(101, 100, 5000) && !take(100, 100, 5000));
        assert!(!CopyWay::Plain.takes_strings(0, 5000, 5000));
    }

    /// Every way moves the same bytes, whatever the lengths and however the ranges overlap.
    #[test]
    fn every_way_moves_all_bytes_and_no_others() {
        for way in [CopyWay::Plain, CopyWay::Strings, CopyWay::probe()] {
            for length in [0, 1, 1023, 1024, 1025, 4096, 10_000] {
                for (from, to) in [(0, 12_000), (12_000, 1), (0, 7), (7, 0), (0, 2048), (5, 5)] {
                    let mut bytes: Vec<u8> =
                        (0..24_000_u32).map(|n| ((n * 131) >> 3) as u8).collect();
                    let mut want = bytes.clone();
                    want.copy_within(from..from + length, to);
                    let base = NonNull::new(bytes.as_mut_ptr()).unwrap();
                    // SAFETY: within the vector.
                    let from = unsafe { base.add(from) };
                    // SAFETY: likewise.
                    let to = unsafe { base.add(to) };
                    // SAFETY: both ranges are within the vector.
                    unsafe { way.copy(from, to, length) };
                    assert!(bytes == want, "{way:?}, {length} bytes");
                }
            }
        }
    }
}
