// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file keeps when a peer was last heard, in four bytes.

use crate::base::time::Instant;

/// A unit is 2^24 ns, some 17 ms.
const UNIT: u32 = 24;

/// When a peer was last heard: the time in units, modulo 2^32. Half of that is a year, and the
/// value is only shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Heard(u32);

impl Heard {
    /// A peer that was not heard yet.
    pub const NEVER: Self = Self(0);

    /// The peer is heard now.
    #[inline]
    pub const fn at(now: Instant) -> Self {
        // Odd: never zero.
        Self(units(now) as u32 | 1)
    }

    /// The time, as seen at about `now`, up to a unit early or late.
    pub fn time(self, now: Instant) -> Instant {
        if self == Self::NEVER {
            return Instant::ORIGIN;
        }
        // A clock that stepped back makes no time of the past year one of the future.
        let ago = (units(now) as u32).wrapping_sub(self.0) as i32;
        let at = units(now).saturating_sub(ago.max(0) as u64);
        now.min(Instant::from_nanos(at << UNIT))
    }
}

const fn units(time: Instant) -> u64 {
    time.as_nanos() >> UNIT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_kept_to_a_unit_for_a_year() {
        let unit = 1_u64 << UNIT;
        let year = 365 * 24 * 3600 * 1_000_000_000_u64;
        for heard in [1, unit - 1, unit, 5 * unit + 7, year, 56 * year + 12_345] {
            for later in [0, 1, unit, 77 * unit + 3, year] {
                let now = Instant::from_nanos(heard + later);
                let shown = Heard::at(Instant::from_nanos(heard)).time(now);
                assert!(shown > Instant::ORIGIN || heard < unit, "{heard} {later}");
                assert!(shown <= now && shown.as_nanos().abs_diff(heard) <= unit);
            }
            assert_eq!(Heard::NEVER.time(Instant::from_nanos(heard)), Instant::ORIGIN);
        }
    }

    #[test]
    fn a_clock_that_stepped_back_makes_no_time_older() {
        let (heard, now) = (Instant::from_nanos(9 << UNIT), Instant::from_nanos(7 << UNIT));
        assert_eq!(Heard::at(heard).time(now), now);
    }
}
