// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A message from its first path to its one end (S4-1, S4-2, S4-10, S4-15, S4-18 to S4-20).

use super::tally::Count;
use super::{End, Ended, Health, Next, WhyEnded};
use crate::charge::Refusal;
use crate::effect::Profile;
use crate::ids::{Object, PeerId};
use crate::journal::Evidence;
use crate::journey::Journey;
use crate::select::{Choice, NoPath};
use crate::terms::Terms;
use lnd_core::time::Instant;
use lnd_core::transfer::{Delivery, Health as Class};

impl Health<'_> {
    /// Opens a message's journey to a peer; `None` if there is no such peer. It must come to an
    /// end through [`outcome`](Self::outcome), [`refused`](Self::refused) or
    /// [`give_up`](Self::give_up).
    pub fn open(&mut self, to: PeerId, terms: Terms) -> Option<Journey> {
        let own = self.config.incarnation.is_some();
        let peer = self.peer_mut(to)?;
        let mut journey = Journey::new(to, terms);
        // Without a number it can still be sent, just not again when in doubt.
        let numbered = own && journey.suppress && peer.settings.suppresses;
        journey.number = if numbered { peer.numbers.give() } else { None };
        journey.starts = peer.starts;
        peer.journeys = peer.journeys.saturating_add(1);
        Some(journey)
    }

    /// A try begins over the chosen path. Returns `false` if the deadline has passed (S4-20,
    /// LU-16303), a try is under way already, this node shuts down, or the peer has started anew
    /// after a try that may have reached its former incarnation: then [`give_up`](Self::give_up). It also
    /// returns `false`, and changes nothing, before [`next_try`](Self::next_try): then wait.
    pub fn begin(&mut self, now: Instant, journey: &mut Journey, choice: &Choice) -> bool {
        let resend = journey.tries() > 0;
        if resend && (now < self.next_try(journey) || self.stopping) {
            return false;
        }
        let Some(peer) = self.peer_mut(journey.peer()) else { return false };
        let (starts, acquainted) = (peer.starts, peer.incarnation().is_some());
        let former = starts != journey.starts;
        let doubt = journey.may_have_arrived();
        if former && doubt || !journey.begin(now, choice.path) {
            return false;
        }
        // If the peer has started anew, nothing has arrived: the number is as good for the new
        // incarnation, to which it was not given.
        (journey.starts, journey.acquainted) = (starts, acquainted);
        self.tally.count(Count::Tries);
        if journey.tries() > 1 {
            self.tally.count(Count::Resends);
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

    /// A try has ended: marks the interfaces, and either ends the message or hands it back.
    pub fn outcome(&mut self, now: Instant, journey: Journey, end: End) -> Next {
        let evidence = Evidence::Message(end.class);
        // LNet goes by the class alone.
        let seed = self.config.profile == Profile::Seed;
        let end = End { charge: end.charge.filter(|_| seed), ..end };
        self.ended_try(now, journey, end, evidence)
    }

    /// A try was refused at the call (R46), which means what [`refusal`](crate::refusal) or
    /// [`refusal_of_errno`](crate::refusal_of_errno) says.
    pub fn refused(&mut self, now: Instant, journey: Journey, refusal: Refusal) -> Next {
        self.tally.count(Count::Refusals);
        let end = End::from(refusal);
        self.ended_try(now, journey, end, Evidence::Refusal(end.class))
    }

    /// Ends a message for which there is no path, or no time. If a try is under way nothing is known
    /// of it.
    pub fn give_up(&mut self, mut journey: Journey, why: impl Into<WhyEnded>) -> Ended {
        let class = journey.last_class().unwrap_or(Class::LocalNoRoute);
        let mut delivery = Delivery::NotDelivered;
        if journey.under_way {
            self.landed(&journey);
            delivery = Delivery::Unknown;
        }
        let delivery = journey.end(class, delivery);
        let peer = self.peer(journey.peer());
        let former = peer.is_none_or(|peer| peer.starts != journey.starts);
        let doubt = former && journey.may_have_arrived();
        let why = if doubt { WhyEnded::MayHaveArrived } else { why.into() };
        self.close(journey, class, delivery, why)
    }

    fn ended_try(
        &mut self,
        now: Instant,
        mut journey: Journey,
        end: End,
        evidence: Evidence,
    ) -> Next {
        let Some(path) = journey.last_path().filter(|_| journey.under_way) else {
            // No try was under way: the caller's error, but the message must not be lost for it.
            return Next::Ended(self.give_up(journey, NoPath::Unknown));
        };
        self.landed(&journey);
        self.tally.count_class(end.class);
        let delivery = journey.end(end.class, end.delivery);
        let (consequence, why) = self.consequence(now, &journey, path, end, delivery);
        self.blame(now, path, consequence, evidence, journey.cookie());
        if let WhyEnded::NoPath(_) = why {
            journey.next = consequence.resend;
            let found = match self.choose(&journey, &[]) {
                Ok(_) if journey.round_is_full() => Err(NoPath::Tried),
                other => other,
            };
            let why = match found {
                Ok(_) => return Next::Again(journey),
                // S4-19: there are paths, and all have failed a moment ago.
                Err(NoPath::Tried) => match self.pause(now, &mut journey, end.full) {
                    Some(at) => return Next::Later(journey, at),
                    None => WhyEnded::Deadline,
                },
                // S4-10, S4-15, S4-18: there is none that could be used.
                Err(none) => WhyEnded::NoPath(none),
            };
            return Next::Ended(self.close(journey, end.class, delivery, why));
        }
        Next::Ended(self.close(journey, end.class, delivery, why))
    }

    /// The try no longer holds its interfaces.
    fn landed(&mut self, journey: &Journey) {
        let Some(path) = journey.last_path() else { return };
        for object in path.ends() {
            if let Some(ni) = self.ni_mut(object) {
                ni.in_flight = ni.in_flight.saturating_sub(1);
            }
        }
    }

    fn close(
        &mut self,
        journey: Journey,
        class: Class,
        delivery: Delivery,
        why: WhyEnded,
    ) -> Ended {
        if let Some(peer) = self.peer_mut(journey.peer()) {
            peer.journeys = peer.journeys.saturating_sub(1);
            if let Some(number) = journey.number {
                peer.numbers.end(number);
            }
        }
        match (class, journey.tries()) {
            (_, 0 | 1) => {}
            (Class::Ok, _) => self.tally.count(Count::ResendsGood),
            _ => self.tally.count(Count::ResendsFailed),
        }
        if why == WhyEnded::Deadline {
            self.tally.count(Count::Late);
        }
        Ended { cookie: journey.cookie(), class, delivery, tries: journey.tries(), why }
    }
}
