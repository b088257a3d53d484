// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A message from its first path to its one end (S4-1, S4-2, S4-10, S4-15, S4-18 to S4-20).

use super::tally::HealthCounter;
use super::{End, Ended, Health, Next, WhyEnded};
use crate::attempts::Attempts;
use crate::charge::Refusal;
use crate::effect::Profile;
use crate::ids::{Object, PeerId};
use crate::journal::Evidence;
use crate::select::{Choice, NoPath};
use crate::terms::Terms;
use lnd_core::time::Instant;
use lnd_core::transfer::{Delivery, HealthClass as Class};

impl Health<'_> {
    /// Opens a message to a peer; `None` if there is no such peer. [`outcome`](Self::outcome),
    /// [`refused`](Self::refused) or [`give_up`](Self::give_up) must end it.
    pub fn open(&mut self, to: PeerId, terms: Terms) -> Option<Attempts> {
        let own = self.config.incarnation.is_some();
        let peer = self.peer_mut(to)?;
        let mut attempts = Attempts::new(to, terms);
        // Without a number it can be sent, but not resent if it may have arrived.
        let numbered = own && attempts.suppress && peer.settings.suppresses;
        attempts.number = if numbered { peer.numbers.give() } else { None };
        attempts.starts = peer.starts;
        peer.attempts = peer.attempts.saturating_add(1);
        Some(attempts)
    }

    /// Begins a try over the chosen path. Returns `false` if the deadline has passed (S4-20,
    /// LU-16303), a try is under way, this node shuts down, or the peer has restarted after a try
    /// that may have reached its former incarnation: then [`give_up`](Self::give_up). It also
    /// returns `false`, without an effect, before [`next_try`](Self::next_try): then wait.
    pub fn begin(&mut self, now: Instant, attempts: &mut Attempts, choice: &Choice) -> bool {
        let resend = attempts.tries() > 0;
        if resend && (now < self.next_try(attempts) || self.stopping) {
            return false;
        }
        let Some(peer) = self.peer_mut(attempts.peer()) else { return false };
        let (starts, acquainted) = (peer.starts, peer.incarnation().is_some());
        let former = starts != attempts.starts;
        let uncertain = attempts.may_have_arrived();
        if former && uncertain || !attempts.begin(now, choice.path) {
            return false;
        }
        // If the peer has restarted, nothing has arrived: the number is valid for the new
        // incarnation too, because that one has not seen it.
        (attempts.starts, attempts.acquainted) = (starts, acquainted);
        self.tally.count(HealthCounter::Tries);
        if attempts.tries() > 1 {
            self.tally.count(HealthCounter::Resends);
        }
        let turn = self.turn;
        self.turn = turn.wrapping_add(1);
        for object in choice.path.ends() {
            if let Some(ni) = self.ni_mut(object) {
                ni.turn = turn;
                ni.in_flight = ni.in_flight.saturating_add(1);
            }
        }
        let net = self.local(choice.path.local).map_or(usize::MAX, |ni| usize::from(ni.net));
        if let Some(net) = self.nets.get_mut(net) {
            net.turn = turn;
        }
        let route = choice.route.and_then(|route| self.routes.get_mut(route.index()));
        if let Some(route) = route {
            route.turn = turn;
        }
        if choice.destination != choice.path.hop {
            if let Some(ni) = self.ni_mut(Object::Peer(choice.destination)) {
                ni.turn = turn;
            }
        }
        true
    }

    /// Ends a try: changes the interfaces' health, and either ends the message or returns it.
    pub fn outcome(&mut self, now: Instant, attempts: Attempts, end: End) -> Next {
        let evidence = Evidence::Message(end.class);
        // LNet uses the class alone.
        let seed = self.config.profile == Profile::Seed;
        let end = End { charge: end.charge.filter(|_| seed), ..end };
        self.ended_try(now, attempts, end, evidence)
    }

    /// Ends a try that was refused at the call (R46), with the meaning from
    /// [`refusal`](crate::refusal) or [`refusal_of_errno`](crate::refusal_of_errno).
    pub fn refused(&mut self, now: Instant, attempts: Attempts, refusal: Refusal) -> Next {
        self.tally.count(HealthCounter::Refusals);
        let end = End::from(refusal);
        self.ended_try(now, attempts, end, Evidence::Refusal(end.class))
    }

    /// Ends a message without a path or without time. The delivery of a try under way is unknown.
    pub fn give_up(&mut self, mut attempts: Attempts, why: impl Into<WhyEnded>) -> Ended {
        let class = attempts.last_class().unwrap_or(Class::LocalNoRoute);
        let mut delivery = Delivery::NotDelivered;
        if attempts.under_way {
            self.landed(&attempts);
            delivery = Delivery::Unknown;
        }
        let delivery = attempts.end(class, delivery);
        let peer = self.peer(attempts.peer());
        let former = peer.is_none_or(|peer| peer.starts != attempts.starts);
        let uncertain = former && attempts.may_have_arrived();
        let why = if uncertain { WhyEnded::MayHaveArrived } else { why.into() };
        self.close(attempts, class, delivery, why)
    }

    fn ended_try(
        &mut self,
        now: Instant,
        mut attempts: Attempts,
        end: End,
        evidence: Evidence,
    ) -> Next {
        let Some(path) = attempts.last_path().filter(|_| attempts.under_way) else {
            // No try was under way: the caller's error, but the message must still end.
            return Next::Ended(self.give_up(attempts, NoPath::Unknown));
        };
        self.landed(&attempts);
        self.tally.count_class(end.class);
        let delivery = attempts.end(end.class, end.delivery);
        let (consequence, why) = self.consequence(now, &attempts, path, end, delivery);
        self.blame(now, path, consequence, evidence, attempts.cookie());
        if let WhyEnded::NoPath(_) = why {
            attempts.next = consequence.resend;
            let found = match self.choose(&attempts, &[]) {
                Ok(_) if attempts.round_is_full() => Err(NoPath::Tried),
                other => other,
            };
            let why = match found {
                Ok(_) => return Next::Again(attempts),
                // S4-19: there are paths, and all have just failed.
                Err(NoPath::Tried) => match self.pause(now, &mut attempts, end.full) {
                    Some(at) => return Next::Later(attempts, at),
                    None => WhyEnded::Deadline,
                },
                // S4-10, S4-15, S4-18: no path is usable.
                Err(none) => WhyEnded::NoPath(none),
            };
            return Next::Ended(self.close(attempts, end.class, delivery, why));
        }
        Next::Ended(self.close(attempts, end.class, delivery, why))
    }

    /// The try no longer counts as in flight on its interfaces.
    fn landed(&mut self, attempts: &Attempts) {
        let Some(path) = attempts.last_path() else { return };
        for object in path.ends() {
            if let Some(ni) = self.ni_mut(object) {
                ni.in_flight = ni.in_flight.saturating_sub(1);
            }
        }
    }

    fn close(
        &mut self,
        attempts: Attempts,
        class: Class,
        delivery: Delivery,
        why: WhyEnded,
    ) -> Ended {
        if let Some(peer) = self.peer_mut(attempts.peer()) {
            peer.attempts = peer.attempts.saturating_sub(1);
            if let Some(number) = attempts.number {
                peer.numbers.end(number);
            }
        }
        match (class, attempts.tries()) {
            (_, 0 | 1) => {}
            (Class::Ok, _) => self.tally.count(HealthCounter::ResendsGood),
            _ => self.tally.count(HealthCounter::ResendsFailed),
        }
        if why == WhyEnded::Deadline {
            self.tally.count(HealthCounter::Late);
        }
        Ended { cookie: attempts.cookie(), class, delivery, tries: attempts.tries(), why }
    }
}
