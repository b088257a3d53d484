// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! How many hellos were turned away lately.

use crate::base::time::{Instant, Span};

/// Bounds the answers to nodes for which there is no place: hellos under false names make no storm.
#[derive(Clone, Copy, Debug, Default, Hash)]
pub(crate) struct HellosRefused {
    since: Instant,
    count: u32,
}

impl HellosRefused {
    /// Whether one more may be turned away with an answer: at most `most` in one `period`.
    pub fn one_more(&mut self, now: Instant, period: Span, most: u32) -> bool {
        if now.since(self.since) >= period {
            *self = Self { since: now, count: 0 };
        }
        let may = self.count < most;
        self.count += u32::from(may);
        may
    }
}
