// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Memory that two threads or two processes share, and the partner that runs beside the measuring
//! thread in one of both ways.
//!
//! Between processes the memory is a mapping of one file, and the partner is a fork: what both have
//! prepared lies at the same addresses in both.

use std::ffi::CString;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr::NonNull;

use lnd_shortmsg::mailbox::Line;

use crate::place;
use crate::wire::Window;

/// What the two sides are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Between {
    /// Two threads of one process.
    Threads,
    /// Two processes over one file.
    Processes,
}

impl Between {
    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Threads => "threads",
            Self::Processes => "processes",
        }
    }
}

/// Memory that is handed out once and never freed.
#[derive(Debug)]
pub struct Arena {
    next: NonNull<u8>,
    left: usize,
}

/// What is handed out begins at a multiple of so many bytes: two lines.
const ALIGN: usize = 128;

impl Arena {
    /// `bytes` bytes that both sides see.
    pub fn new(between: Between, bytes: usize) -> Self {
        let file = match between {
            Between::Threads => -1,
            Between::Processes => file_of(bytes),
        };
        let kind = match between {
            Between::Threads => libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            Between::Processes => libc::MAP_SHARED,
        } | libc::MAP_POPULATE;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping at a place of the kernel's choice.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, kind, file, 0) };
        assert!(base != libc::MAP_FAILED, "{}", std::io::Error::last_os_error());
        Self { next: NonNull::new(base).unwrap().cast(), left: bytes }
    }

    /// As [`new`](Self::new) for one process, of a few MiB: what a pair of nodes needs.
    pub fn small() -> Self {
        Self::new(Between::Threads, PAIR)
    }

    fn take(&mut self, bytes: usize) -> NonNull<u8> {
        let bytes = bytes.next_multiple_of(ALIGN);
        self.left = self.left.checked_sub(bytes).expect("the arena is large enough");
        let place = self.next;
        // SAFETY: within the mapping, or its end: what is left was counted.
        self.next = unsafe { place.add(bytes) };
        place
    }

    /// Zeroed lines for a mailbox or a link.
    pub fn lines(&mut self, bytes: usize) -> &'static mut [Line] {
        let count = bytes.div_ceil(size_of::<Line>());
        let place = self.take(count * size_of::<Line>()).cast::<Line>();
        // SAFETY: a line is words, of which zeros are good; the memory is aligned, never freed, and
        // handed out once.
        unsafe { std::slice::from_raw_parts_mut(place.as_ptr(), count) }
    }

    /// A value in memory of both sides.
    pub fn value<T: Default + Sync>(&mut self) -> &'static T {
        const { assert!(align_of::<T>() <= ALIGN) };
        let place = self.take(size_of::<T>()).cast::<T>();
        // SAFETY: aligned memory of this size, handed out once.
        unsafe { place.write(T::default()) };
        // SAFETY: just written, and never freed.
        unsafe { place.as_ref() }
    }

    /// Payload memory with varied bytes.
    pub fn window(&mut self, bytes: usize) -> Window {
        let place = self.take(bytes);
        // SAFETY: memory of this size, never freed, handed out once.
        let memory = unsafe { std::slice::from_raw_parts_mut(place.as_ptr(), bytes) };
        let mut word = 0x9e37_79b9_7f4a_7c15_u64;
        for piece in memory.chunks_mut(8) {
            word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            piece.copy_from_slice(&word.to_ne_bytes()[..piece.len()]);
        }
        Window::over(memory)
    }
}

/// Bytes that a pair of nodes takes of an arena beside its window.
pub const PAIR: usize = 4 << 20;

/// A file of zeros in memory, without a name.
fn file_of(bytes: usize) -> i32 {
    let name = CString::new("lnd-bench").unwrap();
    // SAFETY: the name ends with a zero.
    let file = unsafe { libc::memfd_create(name.as_ptr(), 0) };
    assert!(file >= 0, "{}", std::io::Error::last_os_error());
    // SAFETY: the file is ours.
    let cut = unsafe { libc::ftruncate(file, bytes as libc::off_t) };
    assert_eq!(cut, 0, "{}", std::io::Error::last_os_error());
    file
}

/// Runs `partner` on the second processor, and `measure` here on the first. `measure` tells the
/// partner to end before it returns. A partner that panics ends the program: `measure` would poll
/// for ever for its answer.
pub fn beside<R>(
    between: Between,
    partner: impl FnOnce() + Send,
    measure: impl FnOnce() -> R,
) -> R {
    let (here, there) = place::pair();
    match between {
        Between::Threads => std::thread::scope(|scope| {
            scope.spawn(move || {
                place::pin(there);
                if catch_unwind(AssertUnwindSafe(partner)).is_err() {
                    std::process::abort();
                }
            });
            place::pin(here);
            measure()
        }),
        Between::Processes => {
            // SAFETY: this process has no other thread, whose locks the child would lack.
            let child = unsafe { libc::fork() };
            assert!(child >= 0, "{}", std::io::Error::last_os_error());
            if child == 0 {
                // SAFETY: a flag of this process. It does not outlive the measuring process.
                unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
                place::pin(there);
                let ended = catch_unwind(AssertUnwindSafe(partner));
                if ended.is_err() {
                    // SAFETY: asks for a number.
                    let parent = unsafe { libc::getppid() };
                    // SAFETY: a signal to the process that measures, which is our parent: if it had
                    // ended, we had, too.
                    unsafe { libc::kill(parent, libc::SIGABRT) };
                }
                // SAFETY: ends the child at once: what the parent prepared is the parent's to end.
                unsafe { libc::_exit(i32::from(ended.is_err())) };
            }
            place::pin(here);
            let result = measure();
            let mut status = 0;
            // SAFETY: our own child, and a place of ours.
            let ended = unsafe { libc::waitpid(child, &mut status, 0) };
            assert!(ended == child && status == 0, "the partner failed: {status:#x}");
            result
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn both_sides_see_one_memory() {
        for between in [Between::Threads, Between::Processes] {
            let mut arena = Arena::new(between, 1 << 20);
            let word: &AtomicU32 = arena.value();
            let other: &AtomicU32 = arena.value();
            beside(
                between,
                || {
                    while word.load(Ordering::Acquire) == 0 {
                        std::thread::yield_now();
                    }
                    other.store(7, Ordering::Release);
                },
                || {
                    word.store(1, Ordering::Release);
                    while other.load(Ordering::Acquire) == 0 {
                        std::thread::yield_now();
                    }
                },
            );
            assert_eq!(other.load(Ordering::Relaxed), 7, "{between:?}");
        }
    }

    #[test]
    fn windows_hold_varied_bytes() {
        let window = Arena::new(Between::Threads, 1 << 16).window(4096);
        let bytes = window.bytes(window.address(0), 4096);
        assert!(bytes.windows(2).filter(|pair| pair[0] == pair[1]).count() < 100);
    }
}
