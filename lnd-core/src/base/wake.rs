// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file wakes a thread without losing work: work queued before a call is seen by the current
//! run, or a new run is scheduled (INV-15).

use crate::base::defect::ordered;
use crate::base::sync::{AtomicU32, Ordering};

/// The word between the contexts that queue work for a thread and the thread itself.
///
/// A context that has queued work [`call`](Self::call)s. The first caller since the last run began
/// wakes the thread. The thread [`begin`](Self::begin)s each run and then looks for work. So the
/// thread is woken once between two runs, however often it is called, and no work is left behind.
///
/// ```
/// use lnd_core::wake::Wake;
///
/// let wake = Wake::new();
/// assert!(wake.call(), "the caller wakes the thread");
/// assert!(!wake.call(), "the thread has not run yet");
/// wake.begin();
/// assert!(wake.call(), "after the beginning of a run the next caller wakes it again");
/// ```
#[derive(Debug)]
pub struct Wake {
    called: AtomicU32,
}

impl Wake {
    /// No call was made yet.
    pub fn new() -> Self {
        Self { called: AtomicU32::new(0) }
    }

    /// Requests a run after what the caller has just done. `true`: this is the first call since a
    /// run last began, and the caller must wake the thread. Context: any. One locked operation.
    #[must_use = "the first who calls wakes the thread"]
    pub fn call(&self) -> bool {
        // AcqRel: the run that clears this call sees what was done before it. Partner: `begin`.
        let order = ordered("wake-relaxed", Ordering::AcqRel);
        self.called.swap(1, order) == 0
    }

    /// Begins a run. It sees everything that was done before a call that woke no thread. Context:
    /// the thread. One locked operation.
    pub fn begin(&self) {
        // AcqRel: partner is `call`. The work is searched behind this exchange. A call that comes
        // later finds zero and wakes the thread again.
        self.called.swap(0, ordered("run-relaxed", Ordering::AcqRel));
    }
}

impl Default for Wake {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inv_15_the_first_call_after_the_beginning_of_a_run_wakes() {
        let wake = Wake::default();
        assert_eq!([wake.call(), wake.call(), wake.call()], [true, false, false]);
        wake.begin();
        wake.begin();
        assert_eq!([wake.call(), wake.call()], [true, false]);
    }
}
