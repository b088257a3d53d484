// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The actions that health starts itself: pings, probes, attempts to connect, all within one
//! budget.

use super::action::{Action, Found, Probe};
use super::tally::HealthCounter;
use super::Health;
use crate::prober::Look;
use lnd_core::time::Instant;

/// Most entries that one call of [`Health::next_action`] checks.
const LOOKS: u32 = 64;

impl Health<'_> {
    /// Passes up to `budget` actions to `host`, and returns how many. The configured budget over
    /// time bounds them too.
    pub fn tick(&mut self, now: Instant, budget: u32, mut host: impl FnMut(Action)) -> u32 {
        for done in 0..budget {
            match self.next_action(now) {
                Some(action) => host(action),
                None => return done,
            }
        }
        budget
    }

    /// The next action at `now`, or `None`: nothing is due, or the budget is spent. Context: the
    /// owner's; bounded work.
    pub fn next_action(&mut self, now: Instant) -> Option<Action> {
        if self.stopping || !self.allowance.ready(now) {
            return None;
        }
        let mut idle = 0;
        for _ in 0..LOOKS {
            let turn = self.poll_turn;
            self.poll_turn = if turn >= 2 { 0 } else { turn + 1 };
            let look = match turn {
                0 => self.due_ping(now),
                1 => self.due_connect(now),
                _ => self.due_probe(now),
            };
            match look {
                Found::Action(action) => {
                    self.allowance.take(now);
                    return Some(action);
                }
                Found::Spared => idle = 0,
                Found::None => idle += 1,
            }
            if idle == 3 {
                return None;
            }
        }
        None
    }

    /// When [`next_action`](Self::next_action) must be called again, exactly; [`Instant::NEVER`] if
    /// nothing is queued.
    pub fn next_deadline(&self) -> Instant {
        let queues = [self.recovery.next(), self.prober.next(), self.reconnect.next()];
        match queues.into_iter().flatten().min() {
            Some(due) if !self.stopping => due.max(self.allowance.next()),
            _ => Instant::NEVER,
        }
    }

    fn due_probe(&mut self, now: Instant) -> Found {
        let untold = self.prober.tally().untold;
        let look = self.prober.look(now, &mut self.jitter);
        self.tally.count_untold(self.prober.tally().untold != untold);
        let due = match look {
            Look::NoneDue => return Found::None,
            Look::Spared => return Found::Spared,
            Look::Probe(due) => due,
        };
        let kind = self.kinds.choose(self.prober.published(due.index));
        let (Some(kind), Some((peer_ni, nid))) = (kind, self.peer_ni_at(due.index)) else {
            self.prober.put_off(due);
            return Found::Spared;
        };
        self.tally.count(HealthCounter::Probes);
        let generation = due.generation;
        Found::Action(Action::Probe(Probe { peer_ni, nid, kind, generation }))
    }
}
