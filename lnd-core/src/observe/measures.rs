// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file counts how transfers ended and where they spent their time.

use super::account::Account;
use super::histogram::Histogram;
use super::wait::{SizeClass, Wait, SIZES, WAITS};
use crate::base::time::Instant;
use crate::machines::transfer::{Cause, HealthClass, Place, Status, CAUSES, PLACES};

/// Health classes.
pub const CLASSES: usize = HealthClass::ALL.len();

/// Messages that ended within the call, by the size of their payload. They have no times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Short {
    /// Messages.
    pub count: u64,
    /// Their payload in bytes.
    pub bytes: u64,
}

/// What was measured, in fixed memory. All counts wrap: two copies give a
/// [difference](Self::since).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measures {
    ended: [[u64; WAITS]; CLASSES],
    lost: [[u64; PLACES]; CAUSES],
    // Two tables: a compiler makes four instructions more of two sums side by side.
    short: [u64; SIZES],
    short_bytes: [u64; SIZES],
    short_failed: u64,
    times: [[Histogram; SIZES]; WAITS],
    whole: [Histogram; SIZES],
    late: Histogram,
    late_good: u64,
    bytes: u64,
}

impl Measures {
    /// Nothing measured.
    pub const fn new() -> Self {
        const NONE: Histogram = Histogram::new();
        const SIZE: [Histogram; SIZES] = [NONE; SIZES];
        Self {
            ended: [[0; WAITS]; CLASSES],
            lost: [[0; PLACES]; CAUSES],
            short: [0; SIZES],
            short_bytes: [0; SIZES],
            short_failed: 0,
            times: [SIZE; WAITS],
            whole: SIZE,
            late: NONE,
            late_good: 0,
            bytes: 0,
        }
    }

    /// Transfers that ended with a class, by what they waited for when they were given up; good
    /// ones are under [`Wait::Report`].
    pub fn ended(&self, class: HealthClass, wait: Wait) -> u64 {
        self.ended.get(class as usize).and_then(|row| row.get(wait as usize)).copied().unwrap_or(0)
    }

    /// Transfers, and messages that ended within the call, that were lost for a cause at a place.
    pub fn lost(&self, cause: Cause, place: Place) -> u64 {
        // Causes and places are numbered from 1.
        let row = (cause as usize).checked_sub(1).and_then(|row| self.lost.get(row));
        let cell = (place as usize).checked_sub(1).and_then(|cell| row?.get(cell));
        cell.copied().unwrap_or(0)
    }

    /// Messages that ended well within the call, or were received so.
    pub fn short(&self, size: SizeClass) -> Short {
        let of = |table: &[u64; SIZES]| table.get(size as usize).copied().unwrap_or(0);
        Short { count: of(&self.short), bytes: of(&self.short_bytes) }
    }

    /// Messages that ended within the call with an error.
    pub const fn short_failed(&self) -> u64 {
        self.short_failed
    }

    /// Payload bytes of all that ended well.
    pub fn bytes(&self) -> u64 {
        let short = self.short_bytes.iter().fold(0u64, |sum, it| sum.wrapping_add(*it));
        self.bytes.wrapping_add(short)
    }

    /// How long transfers of a size spent in a wait. Those that spent no time in it are left out.
    pub fn waited(&self, wait: Wait, size: SizeClass) -> Option<&Histogram> {
        self.times.get(wait as usize)?.get(size as usize)
    }

    /// Times from acceptance to report of transfers of a size.
    pub fn whole(&self, size: SizeClass) -> Option<&Histogram> {
        self.whole.get(size as usize)
    }

    /// By how much transfers were reported after their deadline had passed.
    pub const fn late(&self) -> &Histogram {
        &self.late
    }

    /// Of these, transfers that ended well.
    pub const fn late_good(&self) -> u64 {
        self.late_good
    }

    /// Counts a message that ended within the call.
    #[inline(always)]
    pub(super) fn count_short(&mut self, length: u32, evidence: Option<(Cause, Place)>) {
        if let Some(evidence) = evidence {
            self.count_short_failed(evidence);
            return;
        }
        let size = SizeClass::of(length) as usize % SIZES;
        if let Some(count) = self.short.get_mut(size) {
            *count = count.wrapping_add(1);
        }
        if let Some(bytes) = self.short_bytes.get_mut(size) {
            *bytes = bytes.wrapping_add(u64::from(length));
        }
    }

    #[cold]
    fn count_short_failed(&mut self, evidence: (Cause, Place)) {
        self.short_failed = self.short_failed.wrapping_add(1);
        self.count_lost(evidence);
    }

    #[cold]
    fn count_lost(&mut self, (cause, place): (Cause, Place)) {
        let row = (cause as usize).checked_sub(1).and_then(|row| self.lost.get_mut(row));
        let cell = (place as usize).checked_sub(1).and_then(|cell| row?.get_mut(cell));
        if let Some(cell) = cell {
            *cell = cell.wrapping_add(1);
        }
    }

    /// Counts a transfer that was just reported.
    pub(super) fn count(&mut self, now: Instant, account: &Account, status: &Status) {
        let size = SizeClass::of(account.length()) as usize;
        for (wait, row) in Wait::ALL.into_iter().zip(self.times.iter_mut()) {
            let waited = account.waited(wait);
            if let Some(histogram) = row.get_mut(size).filter(|_| waited.as_nanos() > 0) {
                histogram.add(waited);
            }
        }
        if let (Some(whole), Some(from)) =
            (self.whole.get_mut(size), account.at(super::wait::Point::Queued))
        {
            whole.add(now.since(from));
        }
        let failed = status.evidence.is_some();
        let given_up = account.given_up().map(|(_, wait)| wait).filter(|_| failed);
        let row = self.ended.get_mut(status.health as usize);
        if let Some(cell) =
            row.and_then(|row| row.get_mut(given_up.unwrap_or(Wait::Report) as usize))
        {
            *cell = cell.wrapping_add(1);
        }
        match status.evidence {
            Some(evidence) => self.count_lost(evidence),
            None => self.bytes = self.bytes.wrapping_add(u64::from(account.length())),
        }
        if let Some(deadline) = account.deadline_passed() {
            self.late.add(now.since(deadline));
            self.late_good = self.late_good.wrapping_add(u64::from(!failed));
        }
    }

    /// What was measured since `earlier`, an older copy.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut grown = self.clone();
        let less = |now: &mut u64, then: u64| *now = now.wrapping_sub(then);
        let cells = |now: &mut [u64], then: &[u64]| {
            now.iter_mut().zip(then).for_each(|(now, then)| less(now, *then));
        };
        let of_sizes = |now: &mut [Histogram], then: &[Histogram]| {
            now.iter_mut().zip(then).for_each(|(now, then)| *now = now.since(then));
        };
        grown.ended.iter_mut().zip(&earlier.ended).for_each(|(now, then)| cells(now, then));
        grown.lost.iter_mut().zip(&earlier.lost).for_each(|(now, then)| cells(now, then));
        cells(&mut grown.short, &earlier.short);
        cells(&mut grown.short_bytes, &earlier.short_bytes);
        grown.times.iter_mut().zip(&earlier.times).for_each(|(now, then)| of_sizes(now, then));
        of_sizes(&mut grown.whole, &earlier.whole);
        grown.late = self.late.since(&earlier.late);
        less(&mut grown.short_failed, earlier.short_failed);
        less(&mut grown.late_good, earlier.late_good);
        less(&mut grown.bytes, earlier.bytes);
        grown
    }
}

impl Default for Measures {
    fn default() -> Self {
        Self::new()
    }
}
