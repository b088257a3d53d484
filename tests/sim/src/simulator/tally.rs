// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the whole world shares: the count of what was done to it, and each node's trace.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use lnd_core::id::Tag;
use lnd_core::ports::Tracer;
use lnd_core::time::Instant;
use lnd_core::trace::Trace;

use crate::node::{History, Traced};

/// Faults injected, by name.
#[derive(Clone, Debug, Default)]
pub struct Tally(Rc<RefCell<BTreeMap<&'static str, u64>>>);

impl Tally {
    /// Counts one.
    pub fn count(&self, what: &'static str) {
        *self.0.borrow_mut().entry(what).or_default() += 1;
    }

    /// All counts.
    pub fn counts(&self) -> BTreeMap<&'static str, u64> {
        self.0.borrow().clone()
    }
}

#[derive(Debug)]
struct Log {
    history: History,
    finalized: Vec<Tag>,
}

/// One node's trace, over all its incarnations: a handle that driver, interrupts and the world
/// share.
#[derive(Clone, Debug)]
pub struct Recorder(Rc<RefCell<Log>>);

impl Recorder {
    /// A trace that keeps its last `room` entries.
    pub fn new(room: usize) -> Self {
        Self(Rc::new(RefCell::new(Log { history: History::new(room), finalized: Vec::new() })))
    }

    /// From now on every entry is kept.
    pub fn keep_all(&self) {
        self.0.borrow_mut().history.keep_all();
    }

    /// Transfers reported to the upper layer since the last call.
    pub fn take_finalized(&self) -> Vec<Tag> {
        std::mem::take(&mut self.0.borrow_mut().finalized)
    }

    /// The hash over everything recorded, and how much that was.
    pub fn hash(&self) -> (u64, u64) {
        let log = self.0.borrow();
        (log.history.hash(), log.history.count())
    }

    /// The last `most` entries, of one transfer or of all.
    pub fn last(&self, of: Option<Tag>, most: usize) -> Vec<Traced> {
        let log = self.0.borrow();
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
        let mut log = self.0.borrow_mut();
        if let Trace::Finalized { tag, .. } = trace {
            log.finalized.push(tag);
        }
        log.history.record(now, trace);
    }
}
