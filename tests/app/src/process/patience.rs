// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! For how long nothing has moved.

use lnd_core::time::{Instant, Span};

/// Time between two looks counts up to this: while this process did not run, no peer was silent.
const LONGEST: Span = Span::from_millis(100);
/// A job that begins anew may count its bytes anew, so often.
const RESTARTS: u64 = 32;

/// Measures silence: the time in which this process ran and nothing moved.
#[derive(Debug)]
pub(super) struct Patience {
    allowed: Span,
    looked: Instant,
    silence: Span,
    most: u64,
    restarts: u64,
}

impl Patience {
    /// Silence is allowed for so long, from `now` on.
    pub const fn new(now: Instant, allowed: Span) -> Self {
        Self { allowed, looked: now, silence: Span::from_nanos(0), most: 0, restarts: 0 }
    }

    /// Whether the silence has lasted too long. `moved`: bytes since the job was begun last;
    /// `restarts`: how often it was begun anew.
    pub fn is_over(&mut self, now: Instant, moved: u64, restarts: u64) -> bool {
        let passed = now.since(self.looked).min(LONGEST);
        self.looked = now;
        if restarts > self.restarts && restarts <= RESTARTS {
            (self.restarts, self.most) = (restarts, 0);
        }
        if moved > self.most {
            (self.most, self.silence) = (moved, Span::from_nanos(0));
        } else {
            let silence = self.silence.as_nanos().saturating_add(passed.as_nanos());
            self.silence = Span::from_nanos(silence);
        }
        self.silence >= self.allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALLOWED: Span = Span::from_secs(1);

    fn at(ms: u64) -> Instant {
        Instant::ORIGIN.after(Span::from_millis(ms))
    }

    /// When patience ends, looked at every `every` ms, with what `moved` says.
    fn ends(every: u64, moved: impl Fn(u64) -> (u64, u64)) -> Option<u64> {
        let mut patience = Patience::new(at(0), ALLOWED);
        (0..1000).map(|n| n * every).find(|&ms| {
            let (bytes, restarts) = moved(ms);
            patience.is_over(at(ms), bytes, restarts)
        })
    }

    #[test]
    fn silence_ends_patience_and_progress_does_not() {
        assert_eq!(ends(50, |_| (0, 0)), Some(1000));
        assert_eq!(ends(50, |ms| (ms / 900, 0)), None, "slow, but it moves");
        assert_eq!(ends(50, |ms| (ms.min(500), 0)), Some(1500));
    }

    /// R41: no peer is silent while we do not run.
    #[test]
    fn our_own_pauses_are_no_silence() {
        assert_eq!(ends(10_000, |_| (0, 0)), Some(100_000), "ten looks of 100 ms each");
    }

    #[test]
    fn a_job_that_begins_anew_for_ever_is_given_up() {
        let flaps = |ms: u64| (ms % 500, ms / 500);
        assert_eq!(ends(50, flaps), Some(33 * 500 - 50 + 1000));
    }
}
