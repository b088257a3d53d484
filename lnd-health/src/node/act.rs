// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What health does of its own accord: pings, probes, attempts to connect, all within one budget.

use super::tally::Count;
use super::{End, Health};
use crate::charge::Charge;
use crate::classify::{classify, Change, Situation};
use crate::effect::Profile;
use crate::ids::{NiId, Object, PeerNiId};
use crate::journal::Evidence;
use crate::journey::Path;
use crate::ni::Ni;
use crate::probe_kind::ProbeKind;
use crate::prober::Look;
use crate::reconnect::{Connected, Connection};
use crate::recovery::Due;
use crate::select::{select, Wanted};
use lnd_core::defect::seeded;
use lnd_core::id::Nid;
use lnd_core::time::{Instant, Span};
use lnd_core::transfer::{Delivery, Health as Class};

/// Entries looked at in one call of [`Health::next_action`], at most.
const LOOKS: u32 = 64;

/// A recovery ping. It owns what it needs by value (R50): it stays good whatever becomes of the
/// interface meanwhile, and an answer to an older one is recognised.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "its answer is to be told"]
pub struct Ping {
    /// Whom: one of ours pings itself.
    pub object: Object,
    /// Its address.
    pub nid: Nid,
    /// The path to a peer's interface; each ping tries the next one.
    pub path: Option<Path>,
    generation: u32,
}

/// A liveness probe.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "its end is to be told"]
pub struct Probe {
    /// Of whom.
    pub peer_ni: PeerNiId,
    /// Its address.
    pub nid: Nid,
    /// By which operation.
    pub kind: ProbeKind,
    generation: u32,
}

/// An attempt to connect.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "its end is to be told"]
pub struct Connect {
    /// To whom.
    pub peer_ni: PeerNiId,
    /// Its address.
    pub nid: Nid,
    generation: u32,
}

/// What the host is to do.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "an action is to be done"]
pub enum Action {
    /// Ping, and tell by [`Health::answered`].
    Ping(Ping),
    /// Probe, and tell by [`Health::probed`].
    Probe(Probe),
    /// Connect, and tell by [`Health::connected`].
    Connect(Connect),
}

macro_rules! cookie {
    ($name:ident) => {
        impl $name {
            /// Names this one for [`Health`], wherever the value itself cannot be kept: its index
            /// and generation.
            pub const fn cookie(&self) -> u64 {
                (self.generation as u64) << 32 | self.peer_ni.raw() as u64
            }

            pub(super) fn due(&self) -> Due {
                Due { index: self.peer_ni.raw(), generation: self.generation }
            }
        }
    };
}

cookie!(Probe);
cookie!(Connect);

impl Health<'_> {
    /// Hands up to `budget` actions to `host`, and returns how many. The configured budget over
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

    /// The next thing to do at `now`, or `None`: nothing is due, or the budget is spent. Context:
    /// the owner's; bounded work.
    pub fn next_action(&mut self, now: Instant) -> Option<Action> {
        if self.stopping || !self.allowance.ready(now) {
            return None;
        }
        let mut idle = 0;
        let looks = if seeded("looks-without-bound") { u32::MAX } else { LOOKS };
        for _ in 0..looks {
            let turn = self.poll_turn;
            self.poll_turn = if turn >= 2 { 0 } else { turn + 1 };
            let look = match turn {
                0 => self.due_ping(now),
                1 => self.due_connect(now),
                _ => self.due_probe(now),
            };
            match look {
                Found::Action(action) => {
                    let probe = matches!(action, Action::Probe(_));
                    let spared = probe && seeded("probes-without-budget");
                    if !(spared || seeded("budget-ignored")) {
                        self.allowance.take(now);
                    }
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

    /// When [`next_action`](Self::next_action) is to be called again, exactly; [`Instant::NEVER`]
    /// if nothing is queued.
    pub fn next_deadline(&self) -> Instant {
        let queues = [self.recovery.next(), self.prober.next(), self.reconnect.next()];
        match queues.into_iter().flatten().min() {
            Some(due) if !self.stopping => due.max(self.allowance.next()),
            _ => Instant::NEVER,
        }
    }

    /// How a recovery ping ended: [`Class::Ok`] is an answer, and a step of recovery. `end` is a
    /// class, an [`End`] made of a status, or the [`Refusal`](crate::Refusal) of one that could not
    /// be sent. A ping of which nothing is ever told does no harm: the next one follows.
    pub fn answered(&mut self, now: Instant, ping: Ping, end: impl Into<End>) {
        let End { class, charge, withdrawn, .. } = end.into();
        if !self.knows(ping.object) {
            self.tally.count(Count::StalePings);
            return;
        }
        let place = self.place(ping.object);
        let due = Due { index: place, generation: ping.generation };
        if !self.recovery.is_current(due) {
            self.tally.count(Count::StalePings);
            return;
        }
        self.tally.count_class(class);
        self.recovery.told(place);
        let answer = matches!(class, Class::Ok);
        if answer {
            self.answers_again(now, ping.object);
            self.recovery.heard(now, &mut self.jitter, place);
            if let Object::Peer(id) = ping.object {
                self.heard(now, id);
            }
        }
        let situation = Situation {
            // A ping that waited for the credits of one who does not answer says nothing of ours.
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
            // Whom the ping was for is known to be ill: in the seed's profile a class that names
            // nobody blames nobody else.
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

    fn due_ping(&mut self, now: Instant) -> Found {
        // R41: the time for which the host did not ask what is due is not held against an interface.
        let late = self.recovery.next().map_or(Span::default(), |due| now.since(due));
        let untold = self.recovery.untold();
        let Some(due) = self.recovery.take_due(now, &mut self.jitter) else { return Found::None };
        self.count_untold(self.recovery.untold() != untold);
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
            self.tally.count(Count::AgedOut);
            return Found::Spared;
        }
        let path = match object {
            Object::Local(_) => None,
            Object::Peer(id) => match self.ping_path(id) {
                Some(path) => Some(path),
                None => {
                    self.recovery.put_off(now, &mut self.jitter, due.index);
                    self.tally.count(Count::Pathless);
                    return Found::Spared;
                }
            },
        };
        self.tally.count(Count::Pings);
        Found::Action(Action::Ping(Ping { object, nid, path, generation: due.generation }))
    }

    /// A path to a peer's interface that may be down. It counts as a use, so that the next ping
    /// tries another one (A12's 218).
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

    fn count_untold(&mut self, untold: bool) {
        if untold {
            self.tally.count(Count::Untold);
        }
    }

    fn due_connect(&mut self, now: Instant) -> Found {
        if self.reconnect.expire(now, &mut self.jitter) {
            self.count_untold(true);
            return Found::Spared;
        }
        let Some(due) = self.reconnect.take_due(now) else { return Found::None };
        let Some((peer_ni, nid)) = self.peer_ni_at(due.index) else {
            self.reconnect.settled(due.index);
            return Found::Spared;
        };
        self.tally.count(Count::Connects);
        Found::Action(Action::Connect(Connect { peer_ni, nid, generation: due.generation }))
    }

    fn due_probe(&mut self, now: Instant) -> Found {
        let untold = self.prober.tally().untold;
        let look = self.prober.look(now, &mut self.jitter);
        self.count_untold(self.prober.tally().untold != untold);
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
        self.tally.count(Count::Probes);
        let generation = due.generation;
        Found::Action(Action::Probe(Probe { peer_ni, nid, kind, generation }))
    }

    /// How an attempt to connect ended. Returns `false` if it is stale.
    pub fn connected(&mut self, now: Instant, attempt: Connect, how: Connected) -> bool {
        if !self.knows(Object::Peer(attempt.peer_ni)) {
            return false;
        }
        let current = self.reconnect.end(now, &mut self.jitter, attempt.due(), how);
        if current && how == Connected::Yes {
            self.heard(now, attempt.peer_ni);
            self.enqueue(now, Object::Peer(attempt.peer_ni));
        }
        current
    }

    /// The connection to a peer's interface was lost: it is made again, within the budget.
    pub fn connection_lost(&mut self, now: Instant, id: PeerNiId) {
        if self.knows(Object::Peer(id)) && !self.stopping {
            self.reconnect.lost(now, &mut self.jitter, id.raw());
        }
    }

    /// There is a connection to a peer's interface, or nobody wants one any longer.
    pub fn connection_settled(&mut self, id: PeerNiId) {
        if self.knows(Object::Peer(id)) {
            self.reconnect.settled(id.raw());
        }
    }

    /// What stands in the way of sending to a peer's interface; nothing does to one that is not
    /// known.
    pub fn connection(&self, id: PeerNiId) -> Connection {
        self.peer_ni(id).map_or(Connection::Up, |_| self.reconnect.connection(id.raw()))
    }
}

/// What a queue has to offer.
enum Found {
    /// Nothing is due.
    None,
    /// An entry was due, and needs nothing.
    Spared,
    Action(Action),
}

impl Ping {
    /// Our interface that it goes out over.
    pub const fn via(&self) -> Option<NiId> {
        match self.path {
            Some(path) => Some(path.local),
            None => None,
        }
    }
}
