// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Evidence changes health: the one place of the change and of its journal entry.

use super::tally::HealthCounter;
use super::Health;
use crate::classify::Change;
use crate::effect::Profile;
use crate::ids::{NiId, Object, PeerNiId};
use crate::journal::{Entry, Evidence};
use crate::ni::Ni;
use crate::standing::{Aliveness, NiStatus};
use crate::tracker::TrackEnd;
use crate::value::HealthValue;
use lnd_core::time::Instant;

impl Health<'_> {
    /// A message arrived from a peer's interface, over a local one if it is known: both serve well,
    /// and the peer is up.
    pub fn received(&mut self, now: Instant, from: PeerNiId, over: Option<NiId>) {
        self.heard(now, from);
        let router = self.config.routing || self.is_router(from);
        let change = if router { Change::Full } else { Change::Increment };
        self.mark(now, Object::Peer(from), change, Evidence::Heard, 0);
        if let Some(local) = over {
            if let Some(ni) = self.ni_mut(Object::Local(local)) {
                ni.heard(now);
            }
            self.mark(now, Object::Local(local), Change::Increment, Evidence::Heard, 0);
        }
    }

    /// A response did not arrive in time: the next hop is charged, because there is no evidence
    /// about anything beyond it (R54). Other ends of a tracker have no effect.
    pub fn no_response(&mut self, now: Instant, end: TrackEnd, message: u64) {
        if let TrackEnd::Expired { path } = end {
            self.tally.count(HealthCounter::NoResponse);
            let hop = Object::Peer(path.hop);
            self.mark(now, hop, Change::Decrement, Evidence::NoResponse, message);
        }
    }

    /// The fabric reports that a local interface is unusable, or usable again (S4-3). The driver
    /// ends what is queued on it.
    ///
    /// In the seed's profile a report marks the interface down and queues it, and it is pinged
    /// until it answers (S4-6 to S4-8). The answer restores the health from before the report.
    /// "Usable again" makes the next ping due at once. A host that reports only failures relies on
    /// the pings. LNet's profile ranks the interface last until it is usable again, and does not
    /// change its health.
    pub fn fatal(&mut self, now: Instant, id: NiId, fatal: bool) {
        let object = Object::Local(id);
        let marks = matches!(self.config.profile, Profile::Seed);
        let thresholds = self.config.thresholds;
        let Some(ni) = self.ni_mut(object) else { return };
        if ni.is_fatal() == fatal {
            return;
        }
        let before = *ni;
        match (fatal, marks) {
            (true, true) => ni.reported_down(thresholds),
            _ => ni.set_fatal(fatal),
        }
        let after = *ni;
        self.changed(now, object, &before, &after, Evidence::Fabric, 0);
        let place = self.place(object);
        match (fatal, marks) {
            // A ping from before the report is no evidence about the time after it.
            (true, true) => {
                self.recovery.leave(place);
                self.enqueue(now, object);
            }
            (false, true) => self.recovery.hasten(place),
            (_, false) => {}
        }
    }

    /// A local interface has answered its ping: a report of the fabric is over.
    pub(super) fn answers_again(&mut self, now: Instant, object: Object) {
        if !matches!(object, Object::Local(_)) {
            return;
        }
        let Some(ni) = self.ni_mut(object) else { return };
        let before = *ni;
        if ni.report_is_over() {
            let after = *ni;
            let evidence = Evidence::Ping(lnd_core::transfer::HealthClass::Ok);
            self.changed(now, object, &before, &after, evidence, 0);
        }
    }

    /// An operator sets a health value (`lnetctl … set --health`).
    pub fn set_health(&mut self, now: Instant, object: Object, health: HealthValue) {
        self.change(now, object, health, Evidence::Operator, 0);
    }

    /// Changes an interface's health on evidence. Constant time.
    pub(super) fn mark(
        &mut self,
        now: Instant,
        object: Object,
        change: Change,
        evidence: Evidence,
        message: u64,
    ) {
        if !self.knows(object) {
            return;
        }
        let Some(ni) = self.ni(object) else { return };
        let sensitivity = ni.sensitivity.unwrap_or(self.config.sensitivity);
        let health = match change {
            Change::Keep => return,
            Change::DecrementStayUp => {
                let least = HealthValue::new(self.config.thresholds.down.saturating_add(1));
                ni.health().decremented(sensitivity).max(least.min(ni.health()))
            }
            Change::Decrement => ni.health().decremented(sensitivity),
            Change::Increment => ni.health().recovered(sensitivity),
            Change::Full => HealthValue::FULL,
        };
        self.change(now, object, health, evidence, message);
    }

    fn change(
        &mut self,
        now: Instant,
        object: Object,
        health: HealthValue,
        evidence: Evidence,
        message: u64,
    ) {
        let thresholds = self.config.thresholds;
        let Some(ni) = self.ni_mut(object) else { return };
        let before = *ni;
        if matches!(evidence, Evidence::Operator) {
            ni.forget_report();
        }
        if ni.adjust(health, thresholds) {
            let after = *ni;
            self.changed(now, object, &before, &after, evidence, message);
        }
        self.enqueue(now, object);
    }

    /// Journals and counts a change.
    fn changed(
        &mut self,
        now: Instant,
        object: Object,
        before: &Ni,
        after: &Ni,
        evidence: Evidence,
        message: u64,
    ) {
        self.write(now, object, before, after, evidence, message);
        match (before.status(), after.status()) {
            (NiStatus::Up, NiStatus::Down) => self.tally.count(HealthCounter::WentDown),
            (NiStatus::Down, NiStatus::Up) => {
                self.recoveries = self.recoveries.wrapping_add(1);
                self.tally.count(HealthCounter::CameUp);
            }
            _ => {}
        }
    }

    /// Keeps the recovery queue consistent: an interface is in it if and only if it is not healthy
    /// (S4-8, S4-13).
    pub(super) fn enqueue(&mut self, now: Instant, object: Object) {
        let Some(ni) = self.ni(object) else { return };
        let (well, stranger) = (ni.is_well(), self.is_stranger(object, ni));
        let place = self.place(object);
        if well {
            self.recovery.leave(place);
        } else if !stranger && !self.stopping {
            let new = self.recovery.join(now, &mut self.jitter, place);
            if let Some(ni) = self.ni_mut(object).filter(|_| new) {
                ni.ill_since = now;
            }
        }
    }

    /// LNet pings no peer that it never heard. The seed's profile must: it uses no interface that
    /// is down, so no message would show a recovery.
    pub(super) const fn is_stranger(&self, object: Object, ni: &Ni) -> bool {
        matches!(object, Object::Peer(_))
            && matches!(ni.aliveness().0, Aliveness::Unknown)
            && matches!(self.config.profile, Profile::LnetCompat)
    }

    /// A message arrived from a peer's interface. The caller queues it if it is not healthy.
    pub(super) fn heard(&mut self, now: Instant, from: PeerNiId) {
        let place = self.place(Object::Peer(from));
        let Some(ni) = self.ni_mut(Object::Peer(from)) else { return };
        ni.heard(now);
        self.prober.active(from.raw());
        self.recovery.heard(now, &mut self.jitter, place);
    }

    pub(super) fn is_router(&self, id: PeerNiId) -> bool {
        let owner = self.peer_ni(id).and_then(|ni| self.peers.get(ni.peer as usize));
        owner.is_some_and(|peer| peer.settings.router)
    }

    pub(super) fn write(
        &mut self,
        at: Instant,
        object: Object,
        before: &Ni,
        after: &Ni,
        evidence: Evidence,
        message: u64,
    ) {
        self.journal.write(Entry {
            at,
            message,
            object,
            from: before.health().get(),
            to: after.health().get(),
            status: after.status(),
            evidence,
        });
    }
}
