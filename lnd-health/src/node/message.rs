// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A message from its first path to its one end (S4-1, S4-2, S4-10, S4-15, S4-18 to S4-20).

use super::tally::Count;
use super::{End, Ended, Health, Next, WhyEnded};
use crate::charge::{Charge, Refusal};
use crate::classify::{classify, Change, Consequence, Situation};
use crate::effect::{Profile, Resend};
use crate::ids::{Object, PeerId};
use crate::journal::Evidence;
use crate::journey::{Journey, Path, Terms, UNTIL_DEADLINE};
use crate::ni::Ni;
use crate::select::{select, Choice, Distance, NoPath, Wanted};
use lnd_core::defect::seeded;
use lnd_core::time::{Instant, Span};
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

    /// Chooses the path of a message's next try, and says why. Changes nothing: asked twice, it
    /// answers the same (R52).
    ///
    /// # Errors
    /// There is none; then [`give_up`](Self::give_up).
    pub fn choose(&self, journey: &Journey, distances: &[Distance]) -> Result<Choice, NoPath> {
        let peer = self.peer(journey.peer()).ok_or(NoPath::Unknown)?;
        let wanted = Wanted {
            source: journey.source().or(peer.settings.bound),
            destination: journey.destination(),
            distances,
            history: journey.history(),
            ..Wanted::any(self.interfaces(journey.peer()).next().ok_or(NoPath::NoRoute)?)
        };
        select(&self.view(), &wanted)
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
        let doubt = journey.may_have_arrived() && !seeded("resent-to-a-new-life");
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
        for object in ends(choice.path) {
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
        let seed = self.config.profile == Profile::Seed && !seeded("queue-timeout-charged");
        let mut end = End { charge: end.charge.filter(|_| seed), ..end };
        if seeded("classes-not-told-apart") {
            end.charge = Some(Charge::Path);
        }
        self.ended_try(now, journey, end, evidence)
    }

    /// A try was refused at the call (R46), which means what [`refusal`](crate::refusal) or
    /// [`refusal_of_errno`](crate::refusal_of_errno) says.
    pub fn refused(&mut self, now: Instant, journey: Journey, refusal: Refusal) -> Next {
        self.tally.count(Count::Refusals);
        let mut end = End::from(refusal);
        if seeded("refusal-charged") {
            end.charge = None;
        }
        end.curable |= seeded("refusal-always-again");
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
        let sure = seeded("unknown-is-lost") && end.delivery == Delivery::Unknown;
        let known = if sure { Delivery::NotDelivered } else { end.delivery };
        let delivery = journey.end(end.class, known);
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
                Err(why) if why == NoPath::Tried || seeded("waits-for-what-is-not-there") => {
                    match self.pause(now, &mut journey, end.full) {
                        Some(at) => return Next::Later(journey, at),
                        None => WhyEnded::Deadline,
                    }
                }
                // S4-10, S4-15, S4-18: there is none that could be used.
                Err(none) => WhyEnded::NoPath(none),
            };
            return Next::Ended(self.close(journey, end.class, delivery, why));
        }
        Next::Ended(self.close(journey, end.class, delivery, why))
    }

    /// Until when a message pauses whose paths have all been tried; `None`: too little time is left
    /// for another try. Half of what is left at most, so that long pauses do not cost a try.
    fn pause(&mut self, now: Instant, journey: &mut Journey, full: bool) -> Option<Instant> {
        let backoff = if full { self.config.pressure } else { self.config.resend };
        let left = journey.deadline().since(now);
        if left < backoff.first || seeded("given-up-when-all-failed") {
            return None;
        }
        let delay = backoff.jittered(&mut self.jitter, journey.pauses());
        let delay = delay.min(Span::from_nanos(left.as_nanos() / 2));
        let at = if seeded("no-pause") { now } else { now.after(delay) };
        journey.pause(at, self.recoveries);
        journey.next = Resend::Untried;
        if journey.round_is_full() || self.choose(journey, &[]).is_err() {
            journey.start_over();
        }
        self.tally.count(Count::Pauses);
        Some(at)
    }

    /// From when on a message's next try may begin: the end of its pause, or at once if an interface
    /// has come up since the pause began. Context: any; constant time.
    pub const fn next_try(&self, journey: &Journey) -> Instant {
        if journey.recoveries == self.recoveries {
            journey.not_before()
        } else {
            Instant::ORIGIN
        }
    }

    /// Until when a try that begins at `now` may take (R37), never beyond the deadline. With a limit
    /// of resends each that is left has as much time; without one, a third of what is left, but at
    /// least the shortest pause.
    pub fn slice(&self, now: Instant, journey: &Journey) -> Instant {
        let tries = journey.tries().saturating_sub(u32::from(journey.under_way()));
        let left = match self.config.resends() {
            UNTIL_DEADLINE => 2,
            limit => u32::from(limit).saturating_sub(tries).min(u32::from(u8::MAX)) as u8,
        };
        let slice = journey.slice(now, left);
        match self.config.resends() {
            UNTIL_DEADLINE => slice.max(now.after(self.config.resend.first)),
            _ => slice,
        }
        .min(journey.deadline())
    }

    /// What to do, and why the message ends here; `NoPath` means that it does not.
    fn consequence(
        &self,
        now: Instant,
        journey: &Journey,
        path: Path,
        end: End,
        delivery: Delivery,
    ) -> (Consequence, WhyEnded) {
        let retries = self.config.resends();
        let now = if seeded("deadline-restarted") { Instant::ORIGIN } else { now };
        let peer = self.peer(journey.peer());
        let hop = self.peer_ni(path.hop);
        let situation = Situation {
            charge: end.charge,
            delivery,
            // What was sent before the first handshake is known to us may have reached any
            // incarnation.
            suppressed: journey.number.is_some()
                && journey.acquainted
                && peer.is_some_and(|p| p.starts == journey.starts),
            may_resend: end.curable && !end.withdrawn && journey.may_try_again(now, retries),
            late: now >= journey.deadline(),
            stopping: self.stopping || end.withdrawn,
            fatal: self.local(path.local).is_some_and(Ni::is_fatal),
            own: hop.is_some_and(|hop| self.locals.iter().any(|ni| ni.nid == hop.nid)),
            heard: false,
            router: self.config.routing || self.is_router(path.hop),
            many_local: self.locals.iter().filter(|ni| ni.nid.is_some()).count() > 1,
            many_remote: hop.is_some_and(|hop| self.many_remote(journey, hop)),
        };
        let consequence =
            with_defects(classify(self.config.profile, end.class, &situation), situation.late);
        let why = if matches!(end.class, Class::Ok) {
            WhyEnded::Delivered
        } else if consequence.resend != Resend::No {
            WhyEnded::NoPath(NoPath::Tried)
        } else if situation.late {
            WhyEnded::Deadline
        } else if end.curable && !end.withdrawn && journey.is_spent(retries) {
            WhyEnded::Tries
        } else if !situation.may_resend {
            WhyEnded::NotResendable
        } else if delivery != Delivery::NotDelivered && !situation.suppressed {
            WhyEnded::MayHaveArrived
        } else {
            WhyEnded::NotResendable
        };
        (consequence, why)
    }

    /// Whether the next hop could be another interface: of the peer, or of another gateway.
    fn many_remote(&self, journey: &Journey, hop: &Ni) -> bool {
        let direct = hop.peer == journey.peer().raw();
        let owner = self.peers.get(hop.peer as usize);
        let routes = || self.routes.iter().filter(|route| route.far.is_some()).count();
        owner.is_some_and(|owner| owner.interfaces > 1) || !direct && routes() > 1
    }

    pub(super) fn blame(
        &mut self,
        now: Instant,
        path: Path,
        consequence: Consequence,
        evidence: Evidence,
        message: u64,
    ) {
        let mut marks = [consequence.local, consequence.remote];
        if seeded("wrong-end-blamed") {
            marks.reverse();
        }
        for (object, change) in ends(path).into_iter().zip(marks) {
            if change != Change::Keep {
                self.mark(now, object, change, evidence, message);
            }
        }
    }

    /// The try no longer holds its interfaces.
    fn landed(&mut self, journey: &Journey) {
        let Some(path) = journey.last_path() else { return };
        for object in ends(path) {
            if let Some(ni) = self.ni_mut(object).filter(|_| !seeded("use-not-ended")) {
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
            if let Some(number) = journey.number.filter(|_| !seeded("number-kept")) {
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

const fn ends(path: Path) -> [Object; 2] {
    [Object::Local(path.local), Object::Peer(path.hop)]
}

/// What the end of a try does, unless a defect changes it: constant functions cannot be seeded. `late`: its
/// deadline had passed.
#[inline]
fn with_defects(consequence: Consequence, late: bool) -> Consequence {
    let mut it = consequence;
    if seeded("never-sent-again") {
        it.resend = Resend::No;
    }
    if seeded("timeout-spares-ours") && it.local == Change::DecrementStayUp
        || seeded("late-is-no-evidence") && late
    {
        it.local = Change::Keep;
    }
    if seeded("late-is-no-evidence") && late {
        it.remote = Change::Keep;
    }
    it
}
