// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The processor time of one thread: what other programs take of a shared machine is not in it.

/// Nanoseconds of processor time that the calling thread has used.
pub fn spent() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the place is ours.
    let got = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    assert_eq!(got, 0, "every Linux has this clock");
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
