// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file limits the answers to hellos that are refused for want of room.

use crate::base::time::{Instant, Span};

/// Bounds the answers to nodes for which there is no place. Hellos under false names then cause no
/// storm of answers.
#[derive(Clone, Copy, Debug, Default, Hash)]
pub(crate) struct HellosRefused {
    since: Instant,
    count: u32,
}

impl HellosRefused {
    /// Whether one more refusal may be answered: at most `most` in one `period`.
    pub fn one_more(&mut self, now: Instant, period: Span, most: u32) -> bool {
        // A clock that stepped back makes no period end early: the difference is then zero.
        if now.since(self.since) >= period {
            *self = Self { since: now, count: 0 };
        }
        let may = self.count < most;
        self.count += u32::from(may);
        may
    }
}
