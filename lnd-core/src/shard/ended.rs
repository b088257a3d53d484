// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The end of a message, as it is counted and traced.

use super::Driver;
use crate::base::counters::Counter;
use crate::base::id::Nid;
use crate::base::time::Instant;
use crate::machines::transfer::Status;
use crate::ports::trace::Trace;
use crate::ports::{Ports, Tracer};

impl<P: Ports> Driver<'_, P> {
    pub(crate) fn count_status(&mut self, status: Status) {
        let end = if status.errno == 0 { Counter::FinalizedOk } else { Counter::FinalizedError };
        self.counters.count(end);
    }

    /// The one end of a message that took no slot: the call that ended it tells the upper layer.
    pub(crate) fn ended_at_once(
        &mut self,
        now: Instant,
        (peer, sequence): (Nid, u32),
        length: u32,
        status: Status,
    ) {
        self.count_status(status);
        self.tracer.record(now, Trace::Ended { peer, sequence, length, status });
    }
}
