// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A message from its first path to its one end (S4-1, S4-2, S4-10, S4-15, S4-18 to S4-20).

use super::peers::Peer;
use super::tally::Count;
use super::Health;
use crate::charge::{Charge, Refusal};
use crate::effect::{Profile, Resend};
use crate::ids::{Object, PeerId};
use crate::journal::Evidence;
use crate::journey::{Journey, Path, Terms};
use crate::judge::{judge, Change, Situation, Verdict};
use crate::ni::Ni;
use crate::select::{select, Choice, Distance, NoPath, Wanted};
use lnd_core::defect::seeded;
use lnd_core::time::Instant;
use lnd_core::transfer::{Cause, Delivery, Health as Class, Status};

/// How one try ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// Its health class.
    pub class: Class,
    /// What is known of its delivery.
    pub delivery: Delivery,
    /// Whom it costs health; `None`: what its class says.
    pub charge: Option<Charge>,
    /// Whether repeating it could help: a refusal by the upper layer or an error of the protocol is
    /// not cured by another path.
    pub curable: bool,
    /// This node itself took it back: nobody is to blame.
    pub withdrawn: bool,
}

impl End {
    /// It was delivered.
    pub const OK: Self = Self {
        class: Class::Ok,
        delivery: Delivery::Delivered,
        charge: None,
        curable: false,
        withdrawn: false,
    };

    /// A failure with a class, of which nothing more is known than that another try may help.
    pub const fn failed(class: Class, delivery: Delivery) -> Self {
        Self { class, delivery, charge: None, curable: true, withdrawn: false }
    }

    /// The end that a final status of `lnd-core` tells of.
    pub const fn of(status: &Status) -> Self {
        let (curable, withdrawn) = match status.evidence {
            Some((Cause::Shutdown | Cause::Withdrawn, _)) => (false, true),
            Some((Cause::Refused | Cause::Local | Cause::Protocol, _)) => (false, false),
            _ => (true, false),
        };
        let charge = match status.evidence {
            Some((cause, place)) => Some(Charge::of(cause, place)),
            None => None,
        };
        Self { class: status.health, delivery: status.delivery, charge, curable, withdrawn }
    }
}

/// An end of which nothing more is known than its class.
impl From<Class> for End {
    fn from(class: Class) -> Self {
        match class {
            Class::Ok => Self::OK,
            _ => Self::failed(class, Delivery::Unknown),
        }
    }
}

/// A refusal at the call: nothing was sent.
impl From<Refusal> for End {
    fn from(refusal: Refusal) -> Self {
        Self {
            charge: Some(refusal.charge),
            curable: refusal.again,
            ..Self::failed(refusal.class, Delivery::NotDelivered)
        }
    }
}

/// Why a message was not tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WhyEnded {
    /// It was delivered.
    Delivered,
    /// Its class or its owner does not allow it, or another path could not help.
    NotResendable,
    /// It may have arrived, and the receiver could not recognise a second copy (R45).
    MayHaveArrived,
    /// As many tries as may be were made.
    Tries,
    /// Its deadline has passed (S4-20).
    Deadline,
    /// There is no other path (S4-10, S4-15, S4-18).
    NoPath(NoPath),
}

impl From<NoPath> for WhyEnded {
    fn from(why: NoPath) -> Self {
        Self::NoPath(why)
    }
}

/// The end of a message, which is reported up once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use = "the upper layer is to hear of it"]
pub struct Ended {
    /// The caller's name for it.
    pub cookie: u64,
    /// The class of its last try; [`Class::Ok`] if and only if it was delivered.
    pub class: Class,
    /// What is known of delivery, over all tries.
    pub delivery: Delivery,
    /// Tries made.
    pub tries: u8,
    /// Why it was not tried again.
    pub why: WhyEnded,
}

/// What becomes of a message after a try.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "the message goes on, or its end is reported"]
pub enum Next {
    /// It is to be tried again: [`choose`](Health::choose) finds its next path.
    Again(Journey),
    /// It has ended.
    Ended(Ended),
}

impl Health<'_> {
    /// Opens a message's journey to a peer; `None` if there is no such peer. It must come to an
    /// end through [`outcome`](Self::outcome), [`refused`](Self::refused) or
    /// [`give_up`](Self::give_up).
    pub fn open(&mut self, to: PeerId, terms: Terms) -> Option<Journey> {
        let peer = self.peer_mut(to)?;
        let mut journey = Journey::new(to, terms);
        number(peer, &mut journey);
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
    /// LU-16303), a try is under way already, there have been too many, or the peer has started anew
    /// after a try that may have reached its former life: then [`give_up`](Self::give_up).
    pub fn begin(&mut self, now: Instant, journey: &mut Journey, choice: &Choice) -> bool {
        let Some(peer) = self.peer_mut(journey.peer()) else { return false };
        let former = peer.epoch != journey.epoch;
        let doubt = journey.may_have_arrived() && !seeded("resent-to-a-new-life");
        if former && doubt || !journey.begin(now, choice.path) {
            return false;
        }
        if former {
            // Nothing has arrived: it is a new message to a new life.
            number(peer, journey);
        }
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
        let end = End { charge: end.charge.filter(|_| seed), ..end };
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
        let former = peer.is_none_or(|peer| peer.epoch != journey.epoch);
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
        let (verdict, why) = self.verdict(now, &journey, path, end, delivery);
        self.blame(now, path, verdict, evidence, journey.cookie());
        if let WhyEnded::NoPath(_) = why {
            journey.next = verdict.resend;
            return match self.choose(&journey, &[]) {
                Ok(_) => Next::Again(journey),
                Err(none) => {
                    let why = WhyEnded::NoPath(none);
                    Next::Ended(self.close(journey, end.class, delivery, why))
                }
            };
        }
        Next::Ended(self.close(journey, end.class, delivery, why))
    }

    /// What to do, and why the message ends here; `NoPath` means that it does not.
    fn verdict(
        &self,
        now: Instant,
        journey: &Journey,
        path: Path,
        end: End,
        delivery: Delivery,
    ) -> (Verdict, WhyEnded) {
        let retries = self.config.resends();
        let now = if seeded("deadline-restarted") { Instant::ORIGIN } else { now };
        let peer = self.peer(journey.peer());
        let hop = self.peer_ni(path.hop);
        let situation = Situation {
            charge: end.charge,
            delivery,
            suppressed: journey.number.is_some() && peer.is_some_and(|p| p.epoch == journey.epoch),
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
        let verdict = judge(self.config.profile, end.class, &situation);
        let why = if matches!(end.class, Class::Ok) {
            WhyEnded::Delivered
        } else if verdict.resend != Resend::No {
            WhyEnded::NoPath(NoPath::Tried)
        } else if situation.late {
            WhyEnded::Deadline
        } else if end.curable && !end.withdrawn && journey.tries() > retries {
            WhyEnded::Tries
        } else if !situation.may_resend {
            WhyEnded::NotResendable
        } else if delivery != Delivery::NotDelivered && !situation.suppressed {
            WhyEnded::MayHaveArrived
        } else {
            WhyEnded::NotResendable
        };
        (verdict, why)
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
        verdict: Verdict,
        evidence: Evidence,
        message: u64,
    ) {
        let mut marks = [verdict.local, verdict.remote];
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
            if let Some(number) = journey.number.filter(|_| peer.epoch == journey.epoch) {
                if !seeded("number-kept") {
                    peer.numbers.end(number);
                }
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

/// Gives a message its number in the peer's present life. Without one it can still be sent, just
/// not again when in doubt.
fn number(peer: &mut Peer, journey: &mut Journey) {
    let numbered = journey.suppress && peer.settings.suppresses;
    journey.number = if numbered { peer.numbers.give() } else { None };
    journey.epoch = peer.epoch;
}

const fn ends(path: Path) -> [Object; 2] {
    [Object::Local(path.local), Object::Peer(path.hop)]
}
