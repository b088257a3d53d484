// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file keeps one deadline for transfers that drain together
//! (docs/decisions/0034-drain-together.md).

use crate::base::time::{Instant, Span};

/// Small images have a timer for each transfer: sharing takes a kilobyte of code.
pub(super) const SHARES: bool = cfg!(not(feature = "compact"));
/// How much later than its own bound the drain of a member may end, in parts of the bound.
const SPREAD: u32 = 10;

/// The transfers that were given up at about the same time. All have the drain bound of the last
/// one. A member whose own deadline is not earlier keeps its timer as it is.
#[derive(Debug)]
pub(crate) struct Drains {
    /// Members that have not ended.
    left: u32,
    /// Until then others may join.
    joined_until: Instant,
    /// No member has a timer that ends earlier.
    limit: Instant,
    /// The drain bound of the last one that joined.
    due: Instant,
    /// The next slot to be looked at, once the bound has ended.
    at: u32,
}

impl core::hash::Hash for Drains {
    fn hash<H: core::hash::Hasher>(&self, hasher: &mut H) {
        // Without members nothing of the last ones matters.
        let (left, open) = (self.left, self.left > 0);
        (left, open.then_some((self.joined_until, self.limit, self.due, self.at))).hash(hasher);
    }
}

impl Drains {
    pub const NONE: Self = Self {
        left: 0,
        joined_until: Instant::ORIGIN,
        limit: Instant::ORIGIN,
        due: Instant::ORIGIN,
        at: 0,
    };

    /// A transfer is given up whose own timer ends at `own`, if ever. Returns whether it has joined
    /// the others. If not, it needs a timer of its own.
    #[inline]
    pub fn join(&mut self, now: Instant, bound: Span, own: Option<Instant>) -> bool {
        if self.left == 0 {
            let spread = Span::from_nanos(bound.as_nanos() >> SPREAD);
            self.joined_until = now.after(spread);
            self.limit = self.joined_until.after(bound);
            (self.due, self.at) = (now, 0);
        }
        // A timer that ended first would wake the host for nothing (R39).
        let fits = now <= self.joined_until && own.is_none_or(|own| own >= self.limit);
        if fits && self.at == 0 {
            self.left += 1;
            // The clock may have stepped back.
            self.due = self.due.max(now.after(bound));
            return true;
        }
        false
    }

    /// A member has ended, or goes on by itself.
    #[inline]
    pub fn leave(&mut self) {
        self.left = self.left.saturating_sub(1);
    }

    /// When the bound of the members ends. `None`: there are none.
    #[inline]
    pub const fn due(&self) -> Option<Instant> {
        if SHARES && self.left > 0 {
            Some(self.due)
        } else {
            None
        }
    }

    /// The next slot to be looked at for a member, if the bound has ended.
    pub fn next_slot(&mut self, now: Instant) -> Option<(Instant, u32)> {
        let due = self.due().filter(|&due| due <= now)?;
        let slot = self.at;
        self.at = self.at.wrapping_add(1);
        Some((due, slot))
    }

    /// Members that have not ended.
    pub const fn left(&self) -> u32 {
        self.left
    }
}

#[cfg(all(test, not(feature = "compact")))]
mod tests {
    use super::*;

    const BOUND: Span = Span::from_millis(1_000);

    fn at(micros: u64) -> Instant {
        Instant::ORIGIN.after(Span::from_micros(micros))
    }

    #[test]
    fn r40_members_share_the_bound_of_the_last_one() {
        let mut it = Drains::NONE;
        assert_eq!((it.due(), it.next_slot(Instant::NEVER)), (None, None));
        assert!(it.join(at(0), BOUND, None));
        assert_eq!(it.due(), Some(at(1_000_000)));
        assert!(it.join(at(900), BOUND, Some(Instant::NEVER)));
        assert_eq!(it.due(), Some(at(1_000_900)));
        // A clock that steps back makes no bound shorter.
        assert!(it.join(at(100), BOUND, None));
        assert_eq!((it.due(), it.left()), (Some(at(1_000_900)), 3));
        // Too late for these: the bound of the first would grow without end.
        assert!(!it.join(at(1_000), BOUND, None));
        for _ in 0..3 {
            it.leave();
        }
        assert_eq!(it.due(), None);
        assert!(it.join(at(1_000), BOUND, None));
        assert_eq!(it.due(), Some(at(1_001_000)));
    }

    #[test]
    fn r39_no_member_has_an_earlier_timer() {
        let mut it = Drains::NONE;
        let limit = at(0).after(Span::from_nanos(BOUND.as_nanos() / 1024)).after(BOUND);
        let earlier = Instant::from_nanos(limit.as_nanos() - 1);
        assert!(!it.join(at(0), BOUND, Some(earlier)));
        assert_eq!(it.due(), None);
        assert!(it.join(at(0), BOUND, Some(limit)));
    }

    #[test]
    fn every_slot_is_looked_at_and_none_joins_meanwhile() {
        let mut it = Drains::NONE;
        assert!(it.join(at(0), BOUND, None) && it.join(at(0), BOUND, None));
        assert_eq!(it.next_slot(at(999_999)), None);
        let due = at(1_000_000);
        assert_eq!(it.next_slot(due), Some((due, 0)));
        assert!(!it.join(at(0), BOUND, None), "its slot may have been looked at");
        assert_eq!(it.next_slot(due), Some((due, 1)));
        it.leave();
        it.leave();
        assert_eq!(it.next_slot(due), None);
        assert!(it.join(due, BOUND, None));
        assert_eq!(it.next_slot(Instant::NEVER), Some((due.after(BOUND), 0)));
    }
}
