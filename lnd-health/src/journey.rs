// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A message's way through the paths: one deadline, and tries until then (S4-19, R37, R44).
//!
//! Each try takes a path that was not tried and that differs from the last one as the class of its
//! failure asks. When there is none left, the message pauses, longer each time, and goes on with any
//! path that was not tried; when all were, a new round begins, in which each may be tried again.
//! The journey lies in the message and is the right to end it; its size does not grow with its tries.

use crate::dedup::Number;
use crate::effect::Resend;
use crate::ids::{NiId, PeerId, PeerNiId};
use lnd_core::defect::seeded;
use lnd_core::time::{Instant, Span};
use lnd_core::transfer::{Delivery, Health};

/// Most tries of one message without a pause: paths that a journey remembers.
pub const MAX_TRIES: usize = 8;

/// As a limit of resends: none but the deadline (S4-19).
pub const UNTIL_DEADLINE: u8 = u8::MAX;

/// A path to the next hop: from one of our interfaces to one of the hop's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Path {
    /// Our interface.
    pub local: NiId,
    /// The next hop's interface: the peer's own, or a gateway's.
    pub hop: PeerNiId,
}

/// What the caller wants of a message's delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// The caller's name for the message, for the journal.
    pub cookie: u64,
    /// The one deadline, over all tries (INV-9). No try begins after it.
    pub deadline: Instant,
    /// Whether it may be sent again at all (LNet: `msg_no_resend` is the opposite).
    pub resend: bool,
    /// Whether it takes a number with which the receiver recognises a second copy (R45).
    pub suppress: bool,
    /// The interface to send from, if it must be that one.
    pub source: Option<NiId>,
    /// The peer's interface to reach, if it must be that one: a response goes where its request
    /// came from.
    pub destination: Option<PeerNiId>,
}

impl Terms {
    /// A message that may be sent again by any path, numbered against second copies.
    pub const fn new(cookie: u64, deadline: Instant) -> Self {
        Self { cookie, deadline, resend: true, suppress: true, source: None, destination: None }
    }
}

/// A message on its way. Neither `Copy` nor `Clone`: whoever holds it ends it, once (R1).
#[derive(Debug, PartialEq, Eq, Hash)]
#[must_use = "a message's journey must be ended"]
pub struct Journey {
    cookie: u64,
    deadline: Instant,
    peer: PeerId,
    pub(crate) number: Option<Number>,
    /// How many times the peer had started anew when the last try began.
    pub(crate) starts: u32,
    /// Whether the peer's incarnation was known when the last try began.
    pub(crate) acquainted: bool,
    /// The paths of this round.
    tried: [Option<Path>; MAX_TRIES],
    /// Tries of this round.
    here: u8,
    /// Pauses made.
    pauses: u8,
    /// Tries in all.
    tries: u32,
    /// No try begins before.
    not_before: Instant,
    /// How many recoveries the node had seen when the pause began.
    pub(crate) recoveries: u32,
    resend: bool,
    pub(crate) suppress: bool,
    /// A try may have been delivered: from then on only the receiver can tell (S0-18).
    may_have_arrived: bool,
    pub(crate) under_way: bool,
    last: Option<Health>,
    /// How the next path must differ from the last one.
    pub(crate) next: Resend,
    source: Option<NiId>,
    destination: Option<PeerNiId>,
}

impl Journey {
    /// The journey of a message to `peer`, nothing tried yet.
    pub(crate) const fn new(peer: PeerId, terms: Terms) -> Self {
        Self {
            cookie: terms.cookie,
            deadline: terms.deadline,
            peer,
            number: None,
            starts: 0,
            acquainted: false,
            tried: [None; MAX_TRIES],
            here: 0,
            pauses: 0,
            tries: 0,
            not_before: Instant::ORIGIN,
            recoveries: 0,
            resend: terms.resend,
            suppress: terms.suppress,
            may_have_arrived: false,
            under_way: false,
            last: None,
            next: Resend::Anew,
            source: terms.source,
            destination: terms.destination,
        }
    }

    /// The caller's name for the message.
    pub const fn cookie(&self) -> u64 {
        self.cookie
    }

    /// The one deadline.
    pub const fn deadline(&self) -> Instant {
        self.deadline
    }

    /// The peer it is for.
    pub const fn peer(&self) -> PeerId {
        self.peer
    }

    /// The interface to send from, if it must be that one.
    pub const fn source(&self) -> Option<NiId> {
        self.source
    }

    /// The peer's interface to reach, if it must be that one.
    pub const fn destination(&self) -> Option<PeerNiId> {
        self.destination
    }

    /// Binds the message to an interface of ours, or of the peer, or to both, as [`Terms`] can. Returns
    /// `false`, and changes nothing, once a try has begun.
    pub fn bind(&mut self, source: Option<NiId>, destination: Option<PeerNiId>) -> bool {
        if self.tries > 0 {
            return false;
        }
        (self.source, self.destination) = (source, destination);
        true
    }

    /// What selection must heed: nothing before the first try.
    pub(crate) fn history(&self) -> Option<(&Self, Resend)> {
        (self.next != Resend::Anew).then_some((self, self.next))
    }

    /// The number under which the receiver recognises a second copy.
    /// [`Health::stamp`](crate::Health::stamp) makes of it what goes into the header.
    pub const fn number(&self) -> Option<Number> {
        self.number
    }

    /// Whether a try is under way.
    pub const fn under_way(&self) -> bool {
        self.under_way
    }

    /// Tries begun.
    pub const fn tries(&self) -> u32 {
        self.tries
    }

    /// Pauses made between rounds.
    pub const fn pauses(&self) -> u8 {
        self.pauses
    }

    /// Before when no try begins; [`Health::next_try`](crate::Health::next_try) knows better.
    pub const fn not_before(&self) -> Instant {
        self.not_before
    }

    /// The paths tried in this round, in order.
    pub fn tried(&self) -> impl Iterator<Item = Path> + '_ {
        self.tried.iter().flatten().copied()
    }

    /// The path of the last try, if this round has one.
    pub fn last_path(&self) -> Option<Path> {
        let last = (self.here as usize).checked_sub(1)?;
        self.tried.get(last).copied().flatten()
    }

    /// How the last try ended that has.
    pub const fn last_class(&self) -> Option<Health> {
        self.last
    }

    /// Whether a try may have been delivered.
    pub const fn may_have_arrived(&self) -> bool {
        self.may_have_arrived
    }

    /// Until when a try begun at `now` may take, so that each of `left` later ones has as much time
    /// (R37); never beyond the deadline, and never nothing while there is time (LU-16260).
    pub(crate) const fn slice(&self, now: Instant, left: u8) -> Instant {
        let time = self.deadline.since(now).as_nanos();
        let part = time / (left as u64 + 1);
        let part = if part == 0 { time } else { part };
        now.after(Span::from_nanos(part))
    }

    /// Whether `retries` resends were made: never with [`UNTIL_DEADLINE`].
    pub(crate) const fn is_spent(&self, retries: u8) -> bool {
        retries != UNTIL_DEADLINE && self.tries > retries as u32
    }

    /// Whether one more try may begin at `now`, of `1 + retries` in all.
    pub(crate) const fn may_try_again(&self, now: Instant, retries: u8) -> bool {
        self.resend && !self.is_spent(retries) && now.as_nanos() < self.deadline.as_nanos()
    }

    /// Whether this round has as many tries as it may.
    pub(crate) const fn round_is_full(&self) -> bool {
        self.here as usize >= MAX_TRIES
    }

    /// Pauses until `at`.
    pub(crate) fn pause(&mut self, at: Instant, recoveries: u32) {
        self.pauses = self.pauses.saturating_add(1);
        (self.not_before, self.recoveries) = (at, recoveries);
    }

    /// Begins a new round: any path may be tried again.
    pub(crate) fn start_over(&mut self) {
        self.tried = [None; MAX_TRIES];
        self.here = 0;
        self.next = Resend::Anew;
    }

    /// Whether a path may be tried: this round has not tried it, and it differs from the last one as the class
    /// of its failure asks (S4-9, S4-14, S4-17).
    pub(crate) fn allows(&self, path: Path, disjoint: Resend) -> bool {
        let Some(last) = self.last_path() else { return true };
        if seeded("failed-path-again") {
            return true;
        }
        let apart = match disjoint {
            Resend::No => false,
            Resend::OtherLocal => path.local != last.local || seeded("same-local-again"),
            Resend::OtherRemote => path.hop != last.hop || seeded("same-remote-again"),
            Resend::NewPath if seeded("half-new-will-do") => path != last,
            Resend::NewPath => path.local != last.local && path.hop != last.hop,
            Resend::Untried => true,
            Resend::Anew => return true,
        };
        apart && !self.tried.iter().flatten().any(|&tried| tried == path)
    }

    /// Notes that a try begins at `now`. Returns `false`, and notes nothing, if the deadline has
    /// passed, one is under way already, or there is no room for another.
    pub(crate) fn begin(&mut self, now: Instant, path: Path) -> bool {
        let Some(place) = self.tried.get_mut(self.here as usize) else { return false };
        let late = now >= self.deadline && !seeded("deadline-restarted");
        if self.under_way || late {
            return false;
        }
        *place = Some(path);
        self.here = self.here.saturating_add(1);
        self.tries = self.tries.saturating_add(1);
        self.under_way = true;
        true
    }

    /// Notes how the try ended, and returns what is known of delivery over all tries.
    pub(crate) fn end(&mut self, class: Health, delivery: Delivery) -> Delivery {
        self.under_way = false;
        self.last = Some(class);
        match delivery {
            Delivery::Delivered | Delivery::Sent => delivery,
            Delivery::Unknown => {
                self.may_have_arrived = true;
                Delivery::Unknown
            }
            Delivery::NotDelivered if self.may_have_arrived => Delivery::Unknown,
            Delivery::NotDelivered => Delivery::NotDelivered,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn journey(deadline: u64) -> Journey {
        let deadline = Instant::from_nanos(deadline);
        let terms = Terms { suppress: false, ..Terms::new(1, deadline) };
        Journey::new(PeerId::new(0), terms)
    }

    fn path(local: usize, hop: u32) -> Path {
        Path { local: NiId::new(local).unwrap(), hop: PeerNiId::new(hop) }
    }

    #[test]
    fn disjoint_as_the_class_asks_and_never_twice() {
        // S4-9, S4-14, S4-17, R44.
        let mut j = journey(100);
        assert!(j.begin(Instant::ORIGIN, path(0, 0)));
        assert!(!j.begin(Instant::ORIGIN, path(1, 1)), "one try at a time");
        j.end(Health::LocalDropped, Delivery::NotDelivered);
        let allowed = |j: &Journey, how| {
            let pairs = [(0, 0), (0, 1), (1, 0), (1, 1)];
            pairs.map(|(l, r)| j.allows(path(l, r), how))
        };
        assert_eq!(allowed(&j, Resend::No), [false, false, false, false]);
        assert_eq!(allowed(&j, Resend::OtherLocal), [false, false, true, true]);
        assert_eq!(allowed(&j, Resend::OtherRemote), [false, true, false, true]);
        assert_eq!(allowed(&j, Resend::NewPath), [false, false, false, true]);
        assert_eq!(allowed(&j, Resend::Untried), [false, true, true, true]);
        assert_eq!(allowed(&j, Resend::Anew), [true; 4]);
        assert!(j.begin(Instant::ORIGIN, path(1, 0)));
        j.end(Health::LocalDropped, Delivery::NotDelivered);
        assert_eq!(allowed(&j, Resend::OtherLocal), [false, true, false, false]);
        assert_eq!(allowed(&j, Resend::NewPath), [false, true, false, false]);
    }

    #[test]
    fn time_bounds_the_tries_and_a_limit_if_there_is_one() {
        // S4-19, S4-20, R37: a resend never extends the deadline.
        let mut j = journey(90);
        for n in 0..3 {
            assert!(j.may_try_again(Instant::from_nanos(89), 2));
            assert!(!j.may_try_again(Instant::from_nanos(90), 2));
            assert!(j.begin(Instant::ORIGIN, path(0, n)));
            j.end(Health::RemoteDropped, Delivery::NotDelivered);
        }
        assert!(j.is_spent(2) && !j.may_try_again(Instant::from_nanos(0), 2));
        assert!(!j.is_spent(UNTIL_DEADLINE));
        assert!(j.may_try_again(Instant::from_nanos(89), UNTIL_DEADLINE));
        assert!(!j.may_try_again(Instant::from_nanos(90), UNTIL_DEADLINE));
        assert!(!journey(90).begin(Instant::from_nanos(90), path(0, 0)), "LU-16303");
    }

    #[test]
    fn a_round_is_bounded_and_a_pause_begins_another() {
        // R44: without a pause at most so many tries, however many paths there are.
        let mut j = journey(90);
        for round in 1..=3 {
            for n in 0..8 {
                assert!(!j.round_is_full());
                assert!(j.begin(Instant::ORIGIN, path(0, n)));
                j.end(Health::RemoteDropped, Delivery::NotDelivered);
            }
            assert!(j.round_is_full() && !j.begin(Instant::ORIGIN, path(0, 9)));
            assert!(!j.allows(path(0, 3), Resend::OtherRemote), "tried in this round");
            j.pause(Instant::from_nanos(5), 7);
            j.start_over();
            assert_eq!((j.tries(), j.pauses()), (8 * u32::from(round), round));
            assert_eq!((j.not_before().as_nanos(), j.recoveries), (5, 7));
            assert_eq!((j.tried().count(), j.last_path(), j.history()), (0, None, None));
            assert!(j.allows(path(0, 3), Resend::OtherRemote), "it may be tried again");
        }
    }

    #[test]
    fn slices_share_what_is_left() {
        let j = journey(90);
        assert_eq!(j.slice(Instant::ORIGIN, 2).as_nanos(), 30);
        assert_eq!(j.slice(Instant::from_nanos(60), 0).as_nanos(), 90);
        assert_eq!(j.slice(Instant::from_nanos(89), 2).as_nanos(), 90);
        assert_eq!(j.slice(Instant::from_nanos(95), 2).as_nanos(), 95);
    }

    #[test]
    fn an_unknown_try_makes_the_whole_unknown() {
        // S0-18, R7: a later try that surely failed says nothing about an earlier one.
        let mut j = journey(90);
        assert_eq!((j.under_way(), j.last_class()), (false, None));
        assert!(j.begin(Instant::ORIGIN, path(0, 0)));
        assert!(j.under_way());
        assert_eq!(j.end(Health::NetworkTimeout, Delivery::Unknown), Delivery::Unknown);
        assert_eq!((j.under_way(), j.last_class()), (false, Some(Health::NetworkTimeout)));
        assert!(j.begin(Instant::ORIGIN, path(1, 1)));
        assert_eq!(j.end(Health::RemoteDropped, Delivery::NotDelivered), Delivery::Unknown);
        assert!(j.may_have_arrived());
    }
}
