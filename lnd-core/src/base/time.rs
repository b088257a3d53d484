// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file makes time an argument: the library owns no clock (R36).

/// A point on one monotonic clock, in nanoseconds since an origin of the host's choice.
///
/// Every call that needs the time takes it as an argument. The host reads its coarse clock once per
/// batch of calls. A clock that steps backwards loses nothing: deadlines that have passed stay
/// passed. What was armed before waits until the clock is there again, and in `lnd-health` so may
/// what is armed meanwhile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Instant(u64);

/// A length of time in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Span(u64);

impl Instant {
    /// The clock's origin.
    pub const ORIGIN: Self = Self(0);
    /// Later than every deadline: a message with this deadline waits for ever.
    pub const NEVER: Self = Self(u64::MAX);

    /// The instant `nanoseconds` after the origin.
    pub const fn from_nanos(nanoseconds: u64) -> Self {
        Self(nanoseconds)
    }

    /// Nanoseconds since the origin.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// This instant moved by `span`. It stops at [`NEVER`](Self::NEVER) instead of wrapping.
    #[must_use]
    pub const fn after(self, span: Span) -> Self {
        // `NEVER` stays `NEVER`, so a message without a deadline gets none by arithmetic.
        Self(self.0.saturating_add(span.0))
    }

    /// Time passed since `earlier`. Zero if `earlier` is later.
    pub const fn since(self, earlier: Self) -> Span {
        // A clock that stepped back must not turn into a very long time (R36).
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// A span of `n` nanoseconds.
    pub const fn from_nanos(n: u64) -> Self {
        Self(n)
    }

    /// A span of `n` microseconds.
    pub const fn from_micros(n: u64) -> Self {
        Self(n.saturating_mul(1_000))
    }

    /// A span of `n` milliseconds.
    pub const fn from_millis(n: u64) -> Self {
        Self(n.saturating_mul(1_000_000))
    }

    /// A span of `n` seconds.
    pub const fn from_secs(n: u64) -> Self {
        Self(n.saturating_mul(1_000_000_000))
    }

    /// Length in nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// This span `factor` times, saturating.
    #[must_use]
    pub const fn times(self, factor: u32) -> Self {
        Self(self.0.saturating_mul(factor as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_saturates_at_both_ends() {
        assert_eq!(Instant::NEVER.after(Span::from_secs(1)), Instant::NEVER);
        assert_eq!(Instant::ORIGIN.since(Instant::NEVER), Span::default());
        assert_eq!(Span::from_secs(u64::MAX).as_nanos(), u64::MAX);
    }
}
