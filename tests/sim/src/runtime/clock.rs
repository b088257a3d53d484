// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The one place that reads a clock, and how sleepers are woken.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Mutex;
use std::thread::{self, Thread};
use std::time::Duration;

use lnd_core::time::Instant;

/// A monotonic clock whose origin is its own making.
#[derive(Clone, Copy, Debug)]
pub struct Clock(std::time::Instant);

impl Clock {
    /// A clock that begins now.
    pub fn start() -> Self {
        Self(std::time::Instant::now())
    }

    /// The time.
    pub fn now(&self) -> Instant {
        let passed = self.0.elapsed().as_nanos();
        Instant::from_nanos(u64::try_from(passed).unwrap_or(u64::MAX))
    }
}

/// Wakes one thread that sleeps here.
#[derive(Debug, Default)]
pub struct Wake {
    wanted: AtomicBool,
    sleeper: Mutex<Option<Thread>>,
}

impl Wake {
    /// Wakes the sleeper, or keeps it from falling asleep. Context: any thread.
    pub fn wake(&self) {
        // AcqRel: partner is the swap in `sleep`; what the waker did before is seen.
        if self.wanted.swap(true, Ordering::AcqRel) {
            return;
        }
        if let Ok(sleeper) = self.sleeper.lock() {
            if let Some(thread) = sleeper.as_ref() {
                thread.unpark();
            }
        }
    }

    /// Says that the calling thread is the one that sleeps here.
    pub fn adopt(&self) {
        if let Ok(mut sleeper) = self.sleeper.lock() {
            *sleeper = Some(thread::current());
        }
    }

    /// Sleeps until woken, at most `most`. Returns whether it was woken.
    pub fn sleep(&self, most: Duration) -> bool {
        if self.wanted.swap(false, Ordering::AcqRel) {
            return true;
        }
        thread::park_timeout(most);
        // AcqRel: as above; a waker between the two swaps has found the thread awake.
        self.wanted.swap(false, Ordering::AcqRel)
    }
}
