// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! An interface's health value (R47): one writer, saturating at both ends.

/// Full health, as in LNet.
pub const MAX_HEALTH: u16 = 1000;

/// Health of one interface, `0..=MAX_HEALTH`. It measures how well the interface has served; its
/// aliveness and its status are other values (R48).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HealthValue(u16);

impl HealthValue {
    /// Full health.
    pub const FULL: Self = Self(MAX_HEALTH);

    /// Zero.
    pub const NONE: Self = Self(0);

    /// The health value of a number; more than full health is full health.
    pub const fn new(health: u16) -> Self {
        Self(if health > MAX_HEALTH { MAX_HEALTH } else { health })
    }

    /// The number.
    pub const fn get(self) -> u16 {
        self.0
    }

    /// After a failure: `sensitivity` less, at least zero.
    #[must_use]
    pub fn decremented(self, sensitivity: u16) -> Self {
        Self(self.0.saturating_sub(sensitivity))
    }

    /// After a success: `sensitivity` more (LU-12303), at most full.
    #[must_use]
    pub fn recovered(self, sensitivity: u16) -> Self {
        Self::new(self.0.saturating_add(sensitivity))
    }
}

impl Default for HealthValue {
    fn default() -> Self {
        Self::FULL
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn saturates_at_both_ends() {
        let mut health = HealthValue::FULL;
        for expected in (0..10).rev() {
            health = health.decremented(100);
            assert_eq!(health.get(), expected * 100);
        }
        assert_eq!(health.decremented(u16::MAX).get(), 0);
        assert_eq!(health.recovered(u16::MAX), HealthValue::FULL);
    }
}
