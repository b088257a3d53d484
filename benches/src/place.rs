// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Where threads run.

/// Processors that this process may use, in order.
pub fn processors() -> Vec<usize> {
    // SAFETY: a zeroed set is an empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    let size = std::mem::size_of::<libc::cpu_set_t>();
    // SAFETY: the set is ours and has the size given.
    let got = unsafe { libc::sched_getaffinity(0, size, &mut set) };
    if got != 0 {
        return Vec::new();
    }
    // SAFETY: the numbers are below the set's own bound.
    (0..libc::CPU_SETSIZE as usize).filter(|&n| unsafe { libc::CPU_ISSET(n, &set) }).collect()
}

/// Binds the calling thread to one processor; whether that was possible.
pub fn pin(processor: usize) -> bool {
    // SAFETY: a zeroed set is an empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the number came from `processors`, and is below the set's bound.
    unsafe { libc::CPU_SET(processor, &mut set) };
    let size = std::mem::size_of::<libc::cpu_set_t>();
    // SAFETY: the set is ours and has the size given.
    unsafe { libc::sched_setaffinity(0, size, &set) == 0 }
}

/// The two processors to measure between: the first and the last there are. With a single one the
/// two threads share it, and no cross-core figure means anything.
pub fn pair() -> (usize, usize) {
    let all = processors();
    (all.first().copied().unwrap_or(0), all.last().copied().unwrap_or(0))
}
