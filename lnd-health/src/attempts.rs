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
use lnd_core::time::{Instant, Span};
use lnd_core::transfer::{Delivery, HealthClass};

pub use crate::terms::{Path, Terms};

/// As a limit of resends: none but the deadline (S4-19).
pub const UNTIL_DEADLINE: u8 = u8::MAX;

/// Most tries of one message without a pause: paths that a journey remembers.
pub const MAX_TRIES: usize = 8;

/// A message on its way. Neither `Copy` nor `Clone`: whoever holds it ends it, once (R1).
#[derive(Debug, PartialEq, Eq, Hash)]
#[must_use = "a message's journey must be ended"]
pub struct Attempts {
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
    last: Option<HealthClass>,
    /// How the next path must differ from the last one.
    pub(crate) next: Resend,
    source: Option<NiId>,
    destination: Option<PeerNiId>,
}

impl Attempts {
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
    /// [`HealthClass::stamp`](crate::Health::stamp) makes of it what goes into the header.
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

    /// Before when no try begins; [`HealthClass::next_try`](crate::Health::next_try) knows better.
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
    pub const fn last_class(&self) -> Option<HealthClass> {
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
        let apart = match disjoint {
            Resend::No => false,
            Resend::OtherLocal => path.local != last.local,
            Resend::OtherRemote => path.hop != last.hop,
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
        let late = now >= self.deadline;
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
    pub(crate) fn end(&mut self, class: HealthClass, delivery: Delivery) -> Delivery {
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
#[path = "attempts_tests.rs"]
mod tests;
