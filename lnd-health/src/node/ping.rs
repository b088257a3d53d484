// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Recovery pings: those that are due, and the effects of their ends (S4-8, S4-13).

use super::action::{Action, Found, Ping};
use super::tally::HealthCounter;
use super::{End, Health};
use crate::charge::Charge;
use crate::classify::{classify, Change, Situation};
use crate::effect::Profile;
use crate::ids::{Object, PeerNiId};
use crate::journal::Evidence;
use crate::ni::Ni;
use crate::recovery::Due;
use crate::select::{select, Wanted};
use crate::terms::Path;
use lnd_core::time::{Instant, Span};
use lnd_core::transfer::{Delivery, HealthClass as Class};

impl Health<'_> {
    pub(super) fn due_ping(&mut self, now: Instant) -> Found {
        // R41: time in which the host did not call does not count against an interface.
        let late = self.recovery.next().map_or(Span::default(), |due| now.since(due));
        let untold = self.recovery.untold();
        let Some(due) = self.recovery.take_due(now, &mut self.jitter) else { return Found::None };
        self.tally.count_untold(self.recovery.untold() != untold);
        let Some(object) = self.object_at(due.index) else { return Found::Spared };
        let Some(ni) = self.ni(object) else { return Found::Spared };
        let Some(nid) = ni.nid else { return Found::Spared };
        let limit = self.config.recovery_limit;
        let since = ni.aliveness().1.max(ni.ill_since).after(late);
        if let Some(ni) = self.ni_mut(object) {
            ni.ill_since = since;
        }
        if limit.as_nanos() > 0 && now.since(since) > limit {
            self.recovery.leave(due.index);
            self.tally.count(HealthCounter::AgedOut);
            return Found::Spared;
        }
        let path = match object {
            Object::Local(_) => None,
            Object::Peer(id) => match self.ping_path(id) {
                Some(path) => Some(path),
                None => {
                    self.recovery.put_off(now, &mut self.jitter, due.index);
                    self.tally.count(HealthCounter::Pathless);
                    return Found::Spared;
                }
            },
        };
        self.tally.count(HealthCounter::Pings);
        Found::Action(Action::Ping(Ping { object, nid, path, generation: due.generation }))
    }

    /// A path to a peer's interface that may be down. It counts as a use, so that the next ping
    /// tries another path (A12's 218).
    fn ping_path(&mut self, id: PeerNiId) -> Option<Path> {
        let wanted = Wanted { destination: Some(id), recovery: true, ..Wanted::any(id) };
        let path = select(&self.view(), &wanted).ok()?.path;
        let turn = self.turn;
        self.turn = turn.wrapping_add(1);
        if let Some(local) = self.locals.get_mut(path.local.index()) {
            local.turn = turn;
        }
        Some(path)
    }

    /// Reports the end of a recovery ping: [`Class::Ok`] is an answer, and a step of recovery.
    /// `end` is a class, an [`End`] of a status, or the [`Refusal`](crate::Refusal) of a ping that
    /// could not be sent. A ping without a report does no harm: the next one follows.
    pub fn answered(&mut self, now: Instant, ping: Ping, end: impl Into<End>) {
        let End { class, charge, withdrawn, .. } = end.into();
        if !self.knows(ping.object) {
            self.tally.count(HealthCounter::StalePings);
            return;
        }
        let place = self.place(ping.object);
        let due = Due { index: place, generation: ping.generation };
        if !self.recovery.is_current(due) {
            self.tally.count(HealthCounter::StalePings);
            return;
        }
        self.tally.count_class(class);
        self.recovery.notified(place);
        let answer = matches!(class, Class::Ok);
        if answer {
            self.answers_again(now, ping.object);
            self.recovery.heard(now, &mut self.jitter, place);
            if let Object::Peer(id) = ping.object {
                self.heard(now, id);
            }
        }
        let situation = Situation {
            // A ping that waited for the credits of a silent peer is no evidence about our
            // interface.
            charge: match class {
                Class::LocalTimeout => charge.or(Some(Charge::None)),
                _ => charge,
            }
            .filter(|_| self.config.profile == Profile::Seed),
            delivery: Delivery::Unknown,
            may_resend: false,
            heard: answer,
            stopping: self.stopping || withdrawn,
            fatal: ping.via().and_then(|id| self.local(id)).is_some_and(Ni::is_fatal),
            // The ping's target is known to be unhealthy: in the seed's profile a class that names
            // no interface charges no other.
            many_local: false,
            ..Situation::PLAIN
        };
        let consequence = classify(self.config.profile, class, &situation);
        let evidence = Evidence::Ping(class);
        match ping.path {
            Some(path) => self.blame(now, path, consequence, evidence, 0),
            // Both ends of the ping are this one interface.
            None => {
                let change = match (answer, charge) {
                    (true, _) => consequence.local,
                    (false, Some(Charge::None)) => Change::Keep,
                    (false, _) => Change::Decrement,
                };
                self.mark(now, ping.object, change, evidence, 0);
            }
        }
    }
}
