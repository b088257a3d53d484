// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! An interface's rank by its own fields, as one number: the most important field is highest, and
//! lower is better. Selection adds the fields that depend on the request.
//!
//! From the top: fatal 1 bit, health 10, policy 16, device 8, NUMA 12, preferred 1, credits 16.

use crate::value::{HealthValue, MAX_HEALTH};

/// The rank of an interface, without the fields that depend on the request.
pub(crate) const fn rank(fatal: bool, health: HealthValue, priority: u16, credits: i32) -> u64 {
    let clamped = if credits > i16::MAX as i32 {
        i16::MAX as i32
    } else if credits < i16::MIN as i32 {
        i16::MIN as i32
    } else {
        credits
    };
    let ill = MAX_HEALTH.saturating_sub(health.get());
    // More credits are better, and better is lower.
    let credits = (i16::MAX as i32 - clamped) as u64 & 0xffff;
    (fatal as u64) << 63 | (ill as u64) << 53 | policy(priority) | credits
}

/// The part of a rank with health and the fabric's report.
pub(crate) const fn condition(rank: u64) -> u64 {
    rank >> 53 << 53
}

/// A priority at its place in a rank.
pub(crate) const fn policy(priority: u16) -> u64 {
    (priority as u64) << 37
}
