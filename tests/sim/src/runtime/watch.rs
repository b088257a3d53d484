// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The tracer of a node in real time: its last events, and an observer.

use lnd_core::observe::{Account, IrqObserver, Observer, PeerLog, Room, Stamps};
use lnd_core::ports::Tracer;
use lnd_core::time::Instant;
use lnd_core::trace::Trace;

use crate::node::{Arena, History};

/// Transfers that have ended and stay known.
const JOURNAL: usize = 1_024;

/// The last events of a node, and where its transfers spend their time.
#[derive(Debug)]
pub struct Watch<'m> {
    /// The last events.
    pub history: History,
    /// What the node's transfers wait for.
    pub observer: Observer<'m>,
}

impl<'m> Watch<'m> {
    /// For a node with so many slots and peers; and the tracer of its interrupts.
    pub fn new(arena: &'m Arena, slots: u32, peers: u32) -> (Self, IrqObserver<'m>) {
        let stamps = &*arena.keep((0..slots).map(|_| Stamps::new()));
        let observer = Observer::new(Room {
            slots: arena.keep((0..slots).map(|_| Account::EMPTY)),
            journal: arena.keep((0..JOURNAL).map(|_| Account::EMPTY)),
            peers: arena.keep((0..peers).map(|_| PeerLog::EMPTY)),
            stamps,
        });
        (Self { history: History::without_hash(256), observer }, IrqObserver::new(stamps))
    }
}

impl Tracer for Watch<'_> {
    fn record(&mut self, now: Instant, trace: Trace) {
        self.history.record(now, trace);
        self.observer.record(now, trace);
    }
}
