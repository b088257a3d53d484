// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Two threads and a cache line: the bare ping-pong, which is both the yardstick of latency and the
//! probe of where the two processors are placed.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use crossbeam_utils::CachePadded;

/// Two lines, one for each direction, and a third that tells the partner what to do.
#[derive(Debug, Default)]
pub struct Probe {
    ping: CachePadded<AtomicU32>,
    pong: CachePadded<AtomicU32>,
    mode: CachePadded<AtomicU32>,
}

/// The partner shall end.
pub const QUIT: u32 = 0;
/// The partner shall answer on the line.
pub const LINE: u32 = 1;

/// Round trips of one probe.
const PROBE: u32 = 200;
/// Placements that differ more than this are not the same.
const SAME: f64 = 1.3;

/// Waits for another processor without giving this one up, unless it takes so long that the other
/// side may be waiting for this very processor.
#[derive(Debug, Default)]
pub struct Patience(u32);

impl Patience {
    /// Called once for each look in vain.
    #[inline]
    pub fn look(&mut self) {
        self.0 += 1;
        if self.0 > 20_000 {
            self.0 = 0;
            std::thread::yield_now();
        }
    }
}

impl Probe {
    /// Tells the partner what to do from now on. Context: the measuring thread, nothing under way.
    pub fn set_mode(&self, mode: u32) {
        // Release: partner is the Acquire in `mode`.
        self.mode.store(mode, Ordering::Release);
    }

    /// What the partner is to do. The line stays in its cache until it changes.
    #[inline]
    pub fn mode(&self) -> u32 {
        // Acquire: partner is the Release in `set_mode`.
        self.mode.load(Ordering::Acquire)
    }

    /// The partner's side: answers until the mode changes.
    pub fn answer(&self) {
        let mut seen = self.pong.load(Ordering::Relaxed);
        let mut patience = Patience::default();
        while self.mode() == LINE {
            patience.look();
            // Acquire and Release: each line is the other's partner.
            let ping = self.ping.load(Ordering::Acquire);
            if ping != seen {
                seen = ping;
                self.pong.store(seen, Ordering::Release);
            }
        }
    }

    /// The measuring side: nanoseconds one way, over `trips` round trips.
    pub fn one_way(&self, trips: u32) -> f64 {
        self.set_mode(LINE);
        let mut number = self.ping.load(Ordering::Relaxed);
        let mut trip = || {
            number = number.wrapping_add(1);
            self.ping.store(number, Ordering::Release);
            let mut patience = Patience::default();
            while self.pong.load(Ordering::Acquire) != number {
                patience.look();
            }
        };
        // The partner may yet have to see the mode.
        trip();
        let begin = Instant::now();
        for _ in 0..trips {
            trip();
        }
        begin.elapsed().as_nanos() as f64 / f64::from(trips) / 2.0
    }

    /// The placement at this moment: nanoseconds one way, the best of three short bursts, so that
    /// an interruption is not taken for a placement.
    pub fn probe(&self) -> f64 {
        (0..3).map(|_| self.one_way(PROBE)).fold(f64::INFINITY, f64::min)
    }
}

/// Whether two probes saw the same placement.
pub fn agree(before: f64, after: f64) -> bool {
    before.max(after) <= before.min(after) * SAME
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placements_agree_or_not() {
        assert!(agree(52.0, 60.0) && agree(60.0, 52.0));
        assert!(!agree(52.0, 267.0) && !agree(267.0, 52.0));
    }

    #[test]
    fn the_partner_answers_every_ping_and_quits() {
        let probe = Probe::default();
        probe.set_mode(LINE);
        std::thread::scope(|scope| {
            scope.spawn(|| probe.answer());
            assert!(probe.one_way(10) > 0.0);
            probe.set_mode(QUIT);
        });
    }
}
