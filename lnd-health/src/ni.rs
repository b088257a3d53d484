// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! An interface, local or a peer's: its three values, and the fields for selection.
//!
//! *Health* measures how well it has served, *aliveness* when its last message arrived, *status*
//! whether it may be used. Each has its own evidence and none is computed from another (R48,
//! LU-18444, LU-15595, LU-20379), except for the one rule in [`Ni::adjust`].

use crate::ids::{Use, NONE};
use crate::rank::rank;
use crate::standing::{Aliveness, NiStatus, Shut, Thresholds};
use crate::value::HealthValue;
use lnd_core::id::Nid;
use lnd_core::time::Instant;

/// One interface. Public fields belong to the caller; evidence alone changes the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ni {
    /// Its address; `None` in an unused entry.
    pub(crate) nid: Option<Nid>,
    last_alive: Instant,
    /// When it was last queued for recovery.
    pub(crate) ill_since: Instant,
    /// Health and status before the fabric reported it unusable.
    before_report: Option<(HealthValue, NiStatus)>,
    /// The use of the entry: names of earlier uses name nothing (R14).
    pub(crate) generation: Use,
    /// Owner of a peer NI.
    pub(crate) peer: u32,
    /// Next interface of the same peer, or next unused entry.
    pub(crate) next: u32,
    /// Its rank by its own fields, kept up to date with the fields below so that a selection need
    /// not compute it.
    pub(crate) rank: u64,
    credits: i32,
    /// Preferred local interfaces to reach this one, as a mask; 0 is no preference.
    pub(crate) preferred: u32,
    /// Stamp of its last use: the least recently used one wins a tie.
    pub(crate) turn: u32,
    /// Messages under way over it.
    pub(crate) in_flight: u32,
    health: HealthValue,
    /// Sensitivity of its own instead of the configured one.
    pub sensitivity: Option<u16>,
    priority: u16,
    /// Slot of its network.
    pub(crate) net: u8,
    status: NiStatus,
    alive: Aliveness,
    /// Reasons not to use it.
    pub(crate) shut: Shut,
}

impl Ni {
    /// An unused entry.
    pub const UNUSED: Self = Self {
        nid: None,
        generation: Use::FIRST,
        last_alive: Instant::ORIGIN,
        ill_since: Instant::ORIGIN,
        before_report: None,
        peer: NONE,
        next: NONE,
        rank: rank(false, HealthValue::FULL, 0, 0),
        credits: 0,
        preferred: 0,
        turn: 0,
        in_flight: 0,
        health: HealthValue::FULL,
        sensitivity: None,
        priority: 0,
        net: u8::MAX,
        status: NiStatus::Up,
        alive: Aliveness::Unknown,
        shut: Shut(Shut::UNUSED),
    };

    /// A healthy interface with address `nid`, on the network in slot `net`.
    pub const fn new(nid: Nid, net: u8) -> Self {
        let mut ni = Self::UNUSED;
        (ni.nid, ni.net, ni.shut) = (Some(nid), net, Shut(0));
        ni
    }

    /// The same entry, in this use.
    pub(crate) const fn used(mut self, generation: Use) -> Self {
        self.generation = generation;
        self
    }

    /// The same entry, owned by a peer and linked to another entry.
    pub(crate) const fn linked(mut self, peer: u32, next: u32) -> Self {
        (self.peer, self.next) = (peer, next);
        self
    }

    /// Its address; `None` in an unused entry.
    pub const fn nid(&self) -> Option<Nid> {
        self.nid
    }

    /// Health: how well it has served.
    pub const fn health(&self) -> HealthValue {
        self.health
    }

    /// Status: whether it may be used.
    pub const fn status(&self) -> NiStatus {
        self.status
    }

    /// Whether nothing is left to recover: full health, and up.
    pub(crate) const fn is_well(&self) -> bool {
        self.health.get() == HealthValue::FULL.get() && matches!(self.status, NiStatus::Up)
    }

    /// Aliveness, and when its last message arrived.
    pub const fn aliveness(&self) -> (Aliveness, Instant) {
        (self.alive, self.last_alive)
    }

    /// Whether the fabric reports it as unusable.
    pub const fn is_fatal(&self) -> bool {
        self.shut.has(Shut::FATAL)
    }

    /// Whether it is being drained for maintenance.
    pub const fn is_draining(&self) -> bool {
        self.shut.has(Shut::DRAINING)
    }

    /// Messages under way over it.
    pub const fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Credits left for sending, less the messages that wait for one.
    pub const fn credits(&self) -> i32 {
        self.credits
    }

    /// User-defined priority, 0 the best.
    pub const fn priority(&self) -> u16 {
        self.priority
    }

    /// Local interfaces from which it is preferred, as a mask by [`NiId`](crate::NiId).
    pub const fn preferred(&self) -> u32 {
        self.preferred
    }

    /// Number of the selection that used it last.
    pub const fn last_turn(&self) -> u32 {
        self.turn
    }

    /// Slot of its network.
    pub const fn net(&self) -> u8 {
        self.net
    }

    /// Sets the health, and the status that follows from it with hysteresis (R47, S4-12): DOWN at
    /// the lower threshold, UP again only at the upper one. Returns whether anything changed.
    pub(crate) fn adjust(&mut self, health: HealthValue, thresholds: Thresholds) -> bool {
        let before = (self.health, self.status);
        self.health = health;
        if health.get() <= thresholds.down {
            self.status = NiStatus::Down;
        } else if health.get() >= thresholds.up {
            self.status = NiStatus::Up;
        }
        self.shut.set(Shut::DOWN, matches!(self.status, NiStatus::Down));
        self.refresh();
        before != (self.health, self.status)
    }

    /// The fabric reports it unusable (S4-6): it is down until a ping shows that it works again.
    pub(crate) fn reported_down(&mut self, thresholds: Thresholds) {
        self.set_fatal(true);
        self.before_report.get_or_insert((self.health, self.status));
        self.adjust(HealthValue::NONE, thresholds);
    }

    /// A ping has shown that it works again, whatever the fabric reported before. It gets back its
    /// values from before the report. Returns whether there was one.
    pub(crate) fn report_is_over(&mut self) -> bool {
        let over = self.is_fatal() || self.before_report.is_some();
        self.set_fatal(false);
        if let Some((health, status)) = self.before_report.take() {
            (self.health, self.status) = (health, status);
            self.shut.set(Shut::DOWN, matches!(status, NiStatus::Down));
            self.refresh();
        }
        over
    }

    /// An operator's value replaces the value from before a report.
    pub(crate) fn forget_report(&mut self) {
        self.before_report = None;
    }

    /// Credits left for sending, less the messages that wait for one; more is better.
    pub(crate) fn set_credits(&mut self, credits: i32) {
        self.credits = credits;
        self.refresh();
    }

    /// User-defined priority, 0 the best.
    pub(crate) fn set_priority(&mut self, priority: u16) {
        self.priority = priority;
        self.refresh();
    }

    /// The fabric reports it as unusable, or usable again.
    pub(crate) fn set_fatal(&mut self, fatal: bool) {
        self.shut.set(Shut::FATAL, fatal);
        self.refresh();
    }

    /// It takes no new messages, for maintenance.
    pub(crate) fn set_draining(&mut self, draining: bool) {
        self.shut.set(Shut::DRAINING, draining);
    }

    fn refresh(&mut self) {
        self.rank = rank(self.is_fatal(), self.health, self.priority, self.credits);
    }

    /// A message from it arrived.
    pub(crate) fn heard(&mut self, now: Instant) {
        self.alive = Aliveness::Alive;
        self.last_alive = self.last_alive.max(now);
    }

    /// A probe found it dead. A later message from it makes it alive again.
    pub(crate) fn found_dead(&mut self) {
        self.alive = Aliveness::Dead;
    }
}

#[cfg(test)]
#[path = "ni_tests.rs"]
mod tests;
