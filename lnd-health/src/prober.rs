// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The liveness prober (S2): is the far side of an idle endpoint still up?
//!
//! It has no thread (S2-3): the host calls it. Traffic costs it one store; an endpoint is checked
//! again only when it could have become idle. A probe is one sided and uses no receive buffer of
//! the peer (S2-4, S2-5). Every end of a probe is legal in every state (S2-7, R60).

use crate::endpoint::Endpoint;
use crate::jitter::Jitter;
use crate::recovery::Due;
use lnd_core::lanes::{Lanes, Timer};
use lnd_core::time::{Instant, Span};

pub use crate::endpoint::{Finding, ProbeSettings};
pub use crate::probe_end::{ProbeEnd, ProbeResult};

/// The result of checking the next endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// No endpoint is due.
    NoneDue,
    /// There was traffic, or its path is being moved: no probe now.
    Spared,
    /// It must be probed.
    Probe(Due),
}

/// Counts of probes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProbeTally {
    /// "Alive" results.
    pub alive: u32,
    /// "Dead" results.
    pub dead: u32,
    /// "Unknown" results, probes that never ended, and ends that came too late.
    pub unknown: u32,
    /// Of these, probes without a reported end when the next one was due.
    pub untold: u32,
}

const VARIANTS: u32 = 5;
const URGENT: usize = 0;
const IDLE: usize = 1;
const AGAIN: usize = IDLE + VARIANTS as usize;
const LANES: usize = AGAIN + 1;

/// The prober of all endpoints, which are named by index. A timer's word identifies the probe.
#[derive(Debug)]
pub struct Prober<'m> {
    lanes: Lanes<'m, LANES>,
    endpoints: &'m mut [Endpoint],
    settings: ProbeSettings,
    tally: ProbeTally,
}

impl<'m> Prober<'m> {
    /// Watches nothing yet. `timers` are all [`Timer::UNARMED`], `endpoints` all
    /// [`Endpoint::UNUSED`].
    pub(crate) fn new(
        timers: &'m mut [Timer],
        endpoints: &'m mut [Endpoint],
        settings: ProbeSettings,
    ) -> Self {
        Self { lanes: Lanes::new(timers), endpoints, settings, tally: ProbeTally::default() }
    }

    /// Counts of probes so far.
    pub const fn tally(&self) -> ProbeTally {
        self.tally
    }

    /// Endpoints watched.
    pub const fn len(&self) -> u32 {
        self.lanes.len()
    }

    /// Whether nothing is watched.
    pub const fn is_empty(&self) -> bool {
        self.lanes.is_empty()
    }

    /// Watches an endpoint from now on. `one_way`: it only receives, so its own traffic never shows
    /// that the far side is down.
    pub(crate) fn watch(&mut self, now: Instant, jitter: &mut Jitter, index: u32, one_way: bool) {
        if let Some(endpoint) = self.endpoints.get_mut(index as usize) {
            *endpoint = Endpoint { one_way, users: endpoint.users, ..Endpoint::UNUSED };
            self.rest(now, jitter, index);
        }
    }

    /// Stops watching; the end of a probe under way is stale.
    pub(crate) fn unwatch(&mut self, index: u32) {
        self.lanes.disarm(index);
        self.renew(index);
    }

    /// There was traffic: the far side is up, and needs no probe (R55). One store.
    pub(crate) fn active(&mut self, index: u32) {
        if let Some(endpoint) = self.endpoints.get_mut(index as usize) {
            (endpoint.active, endpoint.dead, endpoint.down) = (true, 0, false);
        }
    }

    /// The transport has begun to move the endpoint to another path, or has finished (S2-8).
    /// Earlier dead results no longer count.
    pub(crate) fn migrating(&mut self, index: u32, migrating: bool) {
        if let Some(endpoint) = self.endpoints.get_mut(index as usize) {
            (endpoint.migrating, endpoint.dead) = (migrating, 0);
        }
    }

    /// Adds a user of the endpoint on this node. The endpoint belongs to none of its users: it
    /// outlives each (S2).
    pub(crate) fn add_user(&mut self, index: u32) {
        if let Some(endpoint) = self.endpoints.get_mut(index as usize) {
            endpoint.users = endpoint.users.saturating_add(1);
        }
    }

    /// Removes a user of the endpoint. Without users this has no effect.
    pub(crate) fn remove_user(&mut self, index: u32) {
        if let Some(endpoint) = self.endpoints.get_mut(index as usize) {
            endpoint.users = endpoint.users.saturating_sub(1);
        }
    }

    /// Number of users of the endpoint on this node.
    pub(crate) fn users(&self, index: u32) -> u32 {
        self.endpoints.get(index as usize).map_or(0, |endpoint| endpoint.users)
    }

    /// Removes an endpoint with its users: another one takes its index.
    pub(crate) fn forget(&mut self, index: u32) {
        self.unwatch(index);
        if let Some(endpoint) = self.endpoints.get_mut(index as usize) {
            *endpoint = Endpoint::UNUSED;
        }
    }

    /// The peer has published a word for probing, or has withdrawn it (S2-9).
    pub(crate) fn publish(&mut self, index: u32, published: bool) {
        if let Some(endpoint) = self.endpoints.get_mut(index as usize) {
            endpoint.published = published;
        }
    }

    /// Whether the peer has published a word for probing.
    pub(crate) fn published(&self, index: u32) -> bool {
        self.endpoints.get(index as usize).is_some_and(|e| e.published)
    }

    /// Work waits for this endpoint: it is checked before all others (R59).
    pub(crate) fn urge(&mut self, index: u32) {
        let idle = self.endpoints.get(index as usize).is_some_and(|e| !e.probing);
        if idle && self.lanes.due(index).is_some() {
            self.lanes.arm(index, URGENT, Instant::ORIGIN);
        }
    }

    /// When the next endpoint must be checked.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.lanes.next().map(|(due, _)| due)
    }

    /// Checks one endpoint that is due at `now`. Call it again until [`NoneDue`](Look::NoneDue), or
    /// until the budget is spent.
    pub(crate) fn look(&mut self, now: Instant, jitter: &mut Jitter) -> Look {
        let Some(index) = self.lanes.expire(now) else { return Look::NoneDue };
        let Some(endpoint) = self.endpoints.get_mut(index as usize) else { return Look::Spared };
        if endpoint.probing {
            // The last probe has no end: that proves nothing.
            endpoint.probing = false;
            self.tally.unknown = self.tally.unknown.wrapping_add(1);
            self.tally.untold = self.tally.untold.wrapping_add(1);
        }
        if endpoint.active || endpoint.migrating {
            endpoint.active = false;
            self.renew(index);
            self.rest(now, jitter, index);
            return Look::Spared;
        }
        endpoint.probing = true;
        self.renew(index);
        self.soon(now, index);
        let generation = self.lanes.timer(index).map_or(0, |t| t.own.word);
        Look::Probe(Due { index, generation })
    }

    /// A probe could not be sent: the endpoint is checked again later.
    pub(crate) fn put_off(&mut self, due: Due) {
        if self.is_current(due) {
            if let Some(endpoint) = self.endpoints.get_mut(due.index as usize) {
                endpoint.probing = false;
            }
        }
    }

    /// A probe has ended. An end that is stale, or that traffic or migration has overtaken, proves
    /// nothing.
    pub(crate) fn end(
        &mut self,
        now: Instant,
        jitter: &mut Jitter,
        due: Due,
        end: ProbeEnd,
    ) -> Finding {
        let endpoint = self.endpoints.get_mut(due.index as usize).filter(|e| e.probing);
        let current = self.lanes.timer(due.index).is_some_and(|t| t.own.word == due.generation);
        let Some(endpoint) = endpoint.filter(|_| current) else {
            self.tally.unknown = self.tally.unknown.wrapping_add(1);
            return Finding::Nothing;
        };
        endpoint.probing = false;
        match end.result() {
            ProbeResult::Alive => {
                self.tally.alive = self.tally.alive.wrapping_add(1);
                (endpoint.dead, endpoint.down) = (0, false);
                self.rest(now, jitter, due.index);
                Finding::Alive
            }
            ProbeResult::Dead if !endpoint.active && !endpoint.migrating => {
                self.tally.dead = self.tally.dead.wrapping_add(1);
                let finding = endpoint.found_dead(now, &self.settings);
                match finding {
                    Finding::CleanUp => self.unwatch(due.index),
                    _ => self.soon(now, due.index),
                }
                finding
            }
            ProbeResult::Dead | ProbeResult::Unknown => {
                self.tally.unknown = self.tally.unknown.wrapping_add(1);
                self.soon(now, due.index);
                Finding::Nothing
            }
        }
    }

    fn is_current(&self, due: Due) -> bool {
        self.lanes.timer(due.index).is_some_and(|t| t.own.word == due.generation)
    }

    fn renew(&mut self, index: u32) {
        if let Some(timer) = self.lanes.timer_mut(index) {
            timer.own.word = timer.own.word.wrapping_add(1);
        }
    }

    /// Schedules the next check after an idle time, shortened by jitter so that endpoints spread
    /// out.
    fn rest(&mut self, now: Instant, jitter: &mut Jitter, index: u32) {
        let variant = jitter.below((u32::from(self.settings.jitter) + 1).min(VARIANTS));
        let idle = self.settings.idle.as_nanos();
        let delay = Span::from_nanos(idle - idle / 16 * u64::from(variant));
        self.lanes.arm(index, IDLE + variant as usize, now.after(delay));
    }

    fn soon(&mut self, now: Instant, index: u32) {
        self.lanes.arm(index, AGAIN, now.after(self.settings.again));
    }
}

#[cfg(test)]
#[path = "prober_tests.rs"]
mod tests;
