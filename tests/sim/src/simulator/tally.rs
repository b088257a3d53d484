// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the whole world shares: the count of what was done to it, and each node's trace.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use lnd_core::id::Tag;
use lnd_core::ports::Tracer;
use lnd_core::time::Instant;
use lnd_core::trace::Trace;

use super::run_log::RunLog;
use crate::node::{History, Traced};

/// Faults injected, by name.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    counts: Rc<RefCell<BTreeMap<&'static str, u64>>>,
    log: Option<RunLog>,
}

impl Tally {
    /// No counts yet; what is counted is logged, too, and all else that happens.
    pub fn logged(log: Option<RunLog>) -> Self {
        Self { log, ..Self::default() }
    }

    /// The log of the run.
    pub const fn log(&self) -> Option<&RunLog> {
        self.log.as_ref()
    }

    /// Counts one.
    pub fn count(&self, what: &'static str) {
        *self.counts.borrow_mut().entry(what).or_default() += 1;
        if let Some(log) = &self.log {
            log.add_fault(what);
        }
    }

    /// All counts.
    pub fn counts(&self) -> BTreeMap<&'static str, u64> {
        self.counts.borrow().clone()
    }
}

#[derive(Debug)]
struct Log {
    run: Option<RunLog>,
    history: History,
    finalized: Vec<Tag>,
}

/// One node's trace, over all its incarnations: a handle that driver, interrupts and the world
/// share.
#[derive(Clone, Debug)]
pub struct Recorder {
    log: Rc<RefCell<Log>>,
    /// The driver that writes to it.
    unit: u32,
}

impl Recorder {
    /// A trace that keeps its last `room` entries.
    pub fn new(room: usize) -> Self {
        Self::logged(room, 0, None)
    }

    /// A trace of the driver `unit`, which goes into the log of the run, too.
    pub fn logged(room: usize, unit: u32, run: Option<RunLog>) -> Self {
        let log = Log { run, history: History::new(room), finalized: Vec::new() };
        Self { log: Rc::new(RefCell::new(log)), unit }
    }

    /// The same trace, for another driver of its node.
    pub fn of_unit(&self, unit: u32) -> Self {
        Self { log: self.log.clone(), unit }
    }

    /// Transfers reported to the upper layer since the last call.
    pub fn take_finalized(&self) -> Vec<Tag> {
        std::mem::take(&mut self.log.borrow_mut().finalized)
    }

    /// The hash over everything recorded, and how much that was.
    pub fn hash(&self) -> (u64, u64) {
        let log = self.log.borrow();
        (log.history.hash(), log.history.count())
    }

    /// The last `most` entries, of one transfer or of all.
    pub fn last(&self, of: Option<Tag>, most: usize) -> Vec<Traced> {
        let log = self.log.borrow();
        let mut entries: Vec<Traced> = match of {
            Some(tag) => log.history.of(tag).copied().collect(),
            None => log.history.last().copied().collect(),
        };
        entries.drain(..entries.len().saturating_sub(most));
        entries
    }
}

impl Tracer for Recorder {
    fn record(&mut self, now: Instant, trace: Trace) {
        let mut log = self.log.borrow_mut();
        if let Some(run) = &log.run {
            run.add_trace(now, self.unit, trace);
        }
        if let Trace::Finalized { tag, .. } = trace {
            log.finalized.push(tag);
        }
        log.history.record(now, trace);
    }
}
