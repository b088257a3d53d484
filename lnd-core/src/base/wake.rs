// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Whether the thread has been called for: a run sees what was left for it before a call, or there
//! will be another run (INV-15).

use crate::base::defect::ordered;
use crate::base::sync::{AtomicU32, Ordering};

/// The word between those who leave work for a thread and the thread that runs.
///
/// Whoever leaves work [`call`](Self::call)s, and wakes the thread if he is the first; the thread
/// [`begin`](Self::begin)s each run, then looks for work. So the thread is woken once between two
/// runs, whoever has called how often, and no work is left lying.
#[derive(Debug)]
pub struct Wake {
    called: AtomicU32,
}

impl Wake {
    /// Nobody has called yet.
    pub fn new() -> Self {
        Self { called: AtomicU32::new(0) }
    }

    /// Calls for a run after what the caller has just done. `true`: he is the first since a run
    /// last began, and must wake the thread. Context: any. One locked operation.
    #[must_use = "the first who calls wakes the thread"]
    pub fn call(&self) -> bool {
        // AcqRel: what was done before is seen by the run that takes this; partner: `begin`.
        let order = ordered("wake-relaxed", Ordering::AcqRel);
        self.called.swap(1, order) == 0
    }

    /// A run begins: it sees everything that was done before a call that woke nobody. Context: the
    /// thread. One locked operation.
    pub fn begin(&self) {
        // AcqRel: partner is `call`.
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
