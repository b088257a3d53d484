// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! How many bytes may be under way between the client and one server: a window that grows while
//! chunks arrive and is halved when one does not.
//!
//! Small chunks have a share of their own. A large chunk never waits for small ones, and a small
//! one never for large ones.

use lnd_core::time::Instant;

/// Longest chunk that counts as a small one.
const SMALL: u32 = 64 << 10;
/// Where a window begins, and what is always allowed.
const LEAST: u64 = 1 << 20;
/// What a window grows by in the time of a window, once it has been cut.
const STEP: u64 = 256 << 10;

/// Whether a chunk counts as a small one.
pub(super) const fn is_small(length: u32) -> bool {
    length <= SMALL
}

/// Numbers of chunks of each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunks {
    /// Of up to 64 KiB.
    pub small: usize,
    /// Longer ones.
    pub large: usize,
}

/// The window of one server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Flow {
    window: u64,
    /// Bytes under way in small chunks, and in large ones.
    small: u64,
    large: u64,
    /// How many these are.
    chunks: Chunks,
    /// Up to here the window doubles in the time of a window.
    threshold: u64,
    most: u64,
    most_chunks: Chunks,
    /// When it was cut last: what was under way then has been paid for.
    cut: Option<Instant>,
}

impl Flow {
    /// A window that grows up to `most` bytes, with at most so many chunks.
    pub fn new(most: u64, most_chunks: Chunks) -> Self {
        let chunks = Chunks { small: 0, large: 0 };
        let (window, threshold) = (LEAST.min(most), most);
        Self { window, small: 0, large: 0, chunks, threshold, most, most_chunks, cut: None }
    }

    /// Bytes that may be under way in large chunks.
    pub const fn window(&self) -> u64 {
        self.window
    }

    /// Whether a chunk may begin. One of each kind always may.
    pub fn admits(&self, length: u32) -> bool {
        let (used, share, room) = if is_small(length) {
            (self.small, self.window.min(LEAST), self.chunks.small < self.most_chunks.small)
        } else {
            (self.large, self.window, self.chunks.large < self.most_chunks.large)
        };
        used == 0 || room && used.saturating_add(u64::from(length)) <= share
    }

    /// A chunk begins.
    pub fn begin(&mut self, length: u32) {
        *self.used(length) += u64::from(length);
        *self.count(length) += 1;
    }

    /// A chunk that has begun has ended, one way or another.
    pub fn end(&mut self, length: u32) {
        *self.used(length) -= u64::from(length);
        *self.count(length) -= 1;
    }

    fn used(&mut self, length: u32) -> &mut u64 {
        if is_small(length) {
            &mut self.small
        } else {
            &mut self.large
        }
    }

    fn count(&mut self, length: u32) -> &mut usize {
        if is_small(length) {
            &mut self.chunks.small
        } else {
            &mut self.chunks.large
        }
    }

    /// A chunk has arrived.
    pub fn on_success(&mut self, length: u32) {
        let length = u64::from(length);
        let growth = if self.window < self.threshold {
            length
        } else {
            // The window is at least `LEAST`, or the most there is.
            (STEP * length).checked_div(self.window).unwrap_or(0).max(1)
        };
        self.window = self.window.saturating_add(growth).min(self.most);
    }

    /// An attempt that began at `started` has failed. What failed together counts once.
    pub fn on_loss(&mut self, started: Instant, now: Instant) {
        if self.cut.is_some_and(|cut| started <= cut) {
            return;
        }
        self.cut = Some(now);
        self.window = (self.window / 2).max(LEAST.min(self.most));
        self.threshold = self.window;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lnd_core::time::Span;

    const MOST: u64 = 16 << 20;
    const MANY: Chunks = Chunks { small: 1000, large: 1000 };

    fn at(millis: u64) -> Instant {
        Instant::ORIGIN.after(Span::from_millis(millis))
    }

    #[test]
    fn a_window_doubles_in_its_own_time_up_to_its_limit() {
        let mut flow = Flow::new(MOST, MANY);
        let mut windows = vec![flow.window()];
        for _ in 0..6 {
            // As many bytes as are allowed arrive.
            for _ in 0..flow.window() / LEAST {
                flow.on_success(LEAST as u32);
            }
            windows.push(flow.window());
        }
        assert_eq!(windows, [1, 2, 4, 8, 16, 16, 16].map(|mib| mib << 20));
    }

    #[test]
    fn no_more_chunks_of_a_kind_are_under_way_than_is_allowed() {
        let mut flow = Flow::new(MOST, Chunks { small: 2, large: 3 });
        (0..16).for_each(|_| flow.on_success(LEAST as u32));
        for (length, most) in [(1, 2), (SMALL + 1, 3)] {
            for _ in 0..most {
                assert!(flow.admits(length));
                flow.begin(length);
            }
            assert!(!flow.admits(length), "{most} are under way");
        }
        flow.end(1);
        assert!(flow.admits(SMALL) && !flow.admits(SMALL + 1));
        flow.end(SMALL + 1);
        assert!(flow.admits(SMALL + 1));
    }

    #[test]
    fn losses_of_one_moment_halve_it_once_and_it_grows_slowly_then() {
        let mut flow = Flow::new(MOST, MANY);
        (0..16).for_each(|_| flow.on_success(LEAST as u32));
        assert_eq!(flow.window(), MOST);
        (0..10).for_each(|_| flow.on_loss(at(1), at(5)));
        assert_eq!(flow.window(), MOST / 2);
        flow.on_loss(at(5), at(6));
        assert_eq!(flow.window(), MOST / 2, "it was under way when the window was cut");
        flow.on_loss(at(6), at(7));
        assert_eq!(flow.window(), MOST / 4);
        for _ in 0..4 {
            flow.on_success(LEAST as u32);
        }
        let grown = flow.window() - MOST / 4;
        assert!((STEP * 9 / 10..=STEP).contains(&grown), "a step in the time of a window: {grown}");
        for failure in 0..10 {
            flow.on_loss(at(10 + 2 * failure), at(11 + 2 * failure));
        }
        assert_eq!(flow.window(), LEAST, "it never closes");
    }

    #[test]
    fn small_and_large_chunks_do_not_wait_for_each_other() {
        let mut flow = Flow::new(MOST, MANY);
        assert!(flow.admits(u32::MAX), "one always may, whatever its length");
        flow.begin(u32::MAX);
        assert!(!flow.admits(SMALL + 1) && flow.admits(SMALL));
        let mut small = 0;
        while flow.admits(SMALL) {
            flow.begin(SMALL);
            small += 1;
        }
        assert_eq!(small, LEAST / u64::from(SMALL));
        assert!(!flow.admits(1));
        flow.end(SMALL);
        assert!(flow.admits(SMALL) && !flow.admits(SMALL + 1));
        flow.end(u32::MAX);
        assert!(flow.admits(LEAST as u32));
        flow.begin(LEAST as u32);
        assert!(!flow.admits(SMALL + 1), "the window is full");
    }
}
