// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file says when a count that grows is worth another line of a log.

use crate::base::time::{Instant, Span};

/// Summaries of one count, with back-off: a first line at once, then one line for all that has
/// happened in an interval that doubles from line to line. After an interval without growth the
/// next line comes at once again.
///
/// ```
/// use lnd_core::observe::Summaries;
/// use lnd_core::time::{Instant, Span};
///
/// let mut lines = Summaries::new(Span::from_secs(1), Span::from_secs(60));
/// let at = |s: u64| Instant::from_nanos(s * 1_000_000_000);
/// assert_eq!(lines.due(at(10), 1), Some(1));
/// assert_eq!(lines.due(at(10), 500), None, "an outage: one line for all of it");
/// assert_eq!(lines.due(at(11), 900), Some(899));
/// assert_eq!(lines.due(at(12), 950), None, "now two seconds, then four");
/// assert_eq!(lines.due(at(13), 950), Some(50));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Summaries {
    first: Span,
    most: Span,
    interval: Span,
    next: Instant,
    written: u64,
}

impl Summaries {
    /// Of a count that is zero: intervals from `first` to `most`.
    pub const fn new(first: Span, most: Span) -> Self {
        Self { first, most, interval: first, next: Instant::ORIGIN, written: 0 }
    }

    /// The growth to write a line about, now that the count is `count`. `None`: none, or not yet.
    pub fn due(&mut self, now: Instant, count: u64) -> Option<u64> {
        if now < self.next {
            return None;
        }
        let grown = count.wrapping_sub(self.written);
        if grown == 0 {
            // Quiet for a whole interval: the next event is news.
            self.interval = self.first;
            return None;
        }
        self.written = count;
        self.next = now.after(self.interval);
        self.interval = self.interval.times(2).min(self.most);
        Some(grown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn a_storm_of_an_hour_is_a_handful_of_lines_that_lose_nothing() {
        let mut lines = Summaries::new(Span::from_secs(1), Span::from_secs(600));
        let at = |s: u64| Instant::from_nanos(s * 1_000_000_000);
        let storm: Vec<u64> = (0..3_600).filter_map(|s| lines.due(at(s), 7 * (s + 1))).collect();
        assert!(storm.len() <= 17, "{} lines", storm.len());
        let rest = lines.due(at(3_600 + 600), 7 * 3_600).unwrap_or(0);
        assert_eq!(storm.iter().sum::<u64>() + rest, 7 * 3_600);
        assert_eq!(lines.due(at(5_000), 7 * 3_600), None);
        assert_eq!(lines.due(at(5_001), 7 * 3_600 + 1), Some(1), "at once after silence");
        assert_eq!(lines.due(at(5_002), 7 * 3_600 + 2), Some(1), "and the interval is short again");
    }
}
