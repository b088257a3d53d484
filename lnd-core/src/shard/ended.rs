// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file counts and traces the end of a message.

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

    /// The one end of a message that used no slot. The call that ended it reports it to the upper
    /// layer.
    pub(crate) fn ended_at_once(
        &mut self,
        now: Instant,
        (peer, sequence): (Nid, u32),
        length: u32,
        status: Status,
    ) {
        self.count_status(status);
        // There is no tag: the message used no slot. Peer and number name it in both nodes' traces.
        self.tracer.record(now, Trace::Ended { peer, sequence, length, status });
    }
}
