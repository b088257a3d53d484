// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file holds the round of a host's thread, and the time of the next one.

use core::iter::FusedIterator;

use crate::base::sync::PREFETCHES;
use crate::base::time::Instant;
use crate::ports::{Completion, Ports};
use crate::recovery::finalize::Report;
use crate::shard::Driver;

/// How many completions are announced before the first of them is applied. Three ends take as long
/// as a line takes from memory.
const AHEAD: usize = 4;

impl<P: Ports> Driver<'_, P> {
    /// When the host's thread must run next: `now` if a report waits, else as
    /// [`next_time`](Self::next_time). `None`: no time is due. Does nothing, and takes as long for
    /// any number of transfers and peers.
    ///
    /// The time that [`on_time`](Self::on_time) returns is valid until another call is made. This
    /// one is to be asked for before the thread sleeps, whatever was called before.
    pub fn wake_up_at(&self, now: Instant) -> Option<Instant> {
        if self.nothing_to_report() {
            self.next_time(now)
        } else {
            Some(now)
        }
    }

    /// One round of a host whose own thread handles completions: takes them in, does what is due
    /// ([`on_time`](Self::on_time)), and passes on up to `batch` reports of the configuration.
    /// Returns [`wake_up_at`](Self::wake_up_at). Waiting messages are offered before it: those of
    /// every link, if a message of the control lane was accepted, by whichever link. They are
    /// offered again when [`offer_again`](Self::offer_again) returns `true` after it.
    pub fn run_once(
        &mut self,
        now: Instant,
        completions: impl IntoIterator<Item = Completion>,
        mut reported: impl FnMut(Report),
    ) -> Option<Instant> {
        if PREFETCHES {
            self.take_completions(now, completions.into_iter().fuse());
        } else {
            completions.into_iter().for_each(|completion| self.on_completion(now, completion));
        }
        let _ = self.on_time(now);
        for _ in 0..self.config.batch {
            let Some(report) = self.next_report(now) else { break };
            reported(report);
        }
        self.wake_up_at(now)
    }

    /// Takes completions in. The lines of the next ones come while one is handled.
    fn take_completions(
        &mut self,
        now: Instant,
        mut coming: impl FusedIterator<Item = Completion>,
    ) {
        let mut ahead = [None; AHEAD];
        // Until the last ones have moved to the front: one round for each, and `AHEAD` more.
        let mut left = AHEAD;
        while left > 0 {
            let last = coming.next();
            match last {
                Some(Completion { tag, .. }) => self.expect_end(tag),
                None => left -= 1,
            }
            ahead.rotate_left(1);
            let first = ahead.last_mut().and_then(|place| core::mem::replace(place, last));
            if let Some(completion) = first {
                self.on_completion(now, completion);
            }
        }
    }
}
