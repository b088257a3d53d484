// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The tries of one message: one deadline, and tries until then (S4-19, R37, R44).
//!
//! Each try takes a path that was not tried and that differs from the last one as the class of its
//! failure requires. If none is left, the message pauses, longer each time, and continues with any
//! untried path. After all paths were tried, a new round begins, in which each may be tried again.
//! The value lies in the message and is the right to end it; its size does not grow with the tries.

use crate::dedup::Number;
use crate::effect::Resend;
use crate::ids::{NiId, PeerId, PeerNiId};
use lnd_core::time::{Instant, Span};
use lnd_core::transfer::{Delivery, HealthClass};

pub use crate::terms::{Path, Terms};

/// As a limit of resends: only the deadline limits them (S4-19).
pub const UNTIL_DEADLINE: u8 = u8::MAX;

/// Most tries of one message without a pause: the paths that the value stores.
pub const MAX_TRIES: usize = 8;

/// A message under way. Neither `Copy` nor `Clone`: its holder ends it, once (R1).
#[derive(Debug, PartialEq, Eq, Hash)]
#[must_use = "a message must be ended"]
pub struct Attempts {
    cookie: u64,
    deadline: Instant,
    peer: PeerId,
    pub(crate) number: Option<Number>,
    /// The peer's count of restarts when the last try began.
    pub(crate) starts: u32,
    /// Whether the peer's incarnation was known when the last try began.
    pub(crate) acquainted: bool,
    /// The paths of this round.
    tried: [Option<Path>; MAX_TRIES],
    /// Tries in this round.
    here: u8,
    /// Pauses so far.
    pauses: u8,
    /// Tries in all rounds.
    tries: u32,
    /// Earliest time of the next try.
    not_before: Instant,
    /// The node's count of recoveries when the pause began.
    pub(crate) recoveries: u32,
    resend: bool,
    pub(crate) suppress: bool,
    /// A try may have been delivered: from then on only the receiver can decide (S0-18).
    may_have_arrived: bool,
    pub(crate) under_way: bool,
    last: Option<HealthClass>,
    /// How the next path must differ from the last one.
    pub(crate) next: Resend,
    source: Option<NiId>,
    destination: Option<PeerNiId>,
}

impl Attempts {
    /// A message to `peer` without a try so far.
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

    /// The caller's value for the message.
    pub const fn cookie(&self) -> u64 {
        self.cookie
    }

    /// The one deadline.
    pub const fn deadline(&self) -> Instant {
        self.deadline
    }

    /// The destination peer.
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

    /// Binds the message to a local interface, to the peer's, or to both, as [`Terms`] can. Returns
    /// `false`, and has no effect, once a try has begun.
    pub fn bind(&mut self, source: Option<NiId>, destination: Option<PeerNiId>) -> bool {
        if self.tries > 0 {
            return false;
        }
        (self.source, self.destination) = (source, destination);
        true
    }

    /// The history that selection needs: `None` before the first try.
    pub(crate) fn history(&self) -> Option<(&Self, Resend)> {
        (self.next != Resend::Anew).then_some((self, self.next))
    }

    /// The number by which the receiver recognises a duplicate.
    /// [`Health::stamp`](crate::Health::stamp) makes the header's stamp of it.
    pub const fn number(&self) -> Option<Number> {
        self.number
    }

    /// Whether a try is under way.
    pub const fn under_way(&self) -> bool {
        self.under_way
    }

    /// Number of tries begun.
    pub const fn tries(&self) -> u32 {
        self.tries
    }

    /// Number of pauses between rounds.
    pub const fn pauses(&self) -> u8 {
        self.pauses
    }

    /// The time before which no try begins. [`Health::next_try`](crate::Health::next_try) returns
    /// an earlier time if there is one.
    pub const fn not_before(&self) -> Instant {
        self.not_before
    }

    /// The paths tried in this round, in order.
    pub fn tried(&self) -> impl Iterator<Item = Path> + '_ {
        self.tried.iter().flatten().copied()
    }

    /// The path of the last try, if it was in this round.
    pub fn last_path(&self) -> Option<Path> {
        let last = (self.here as usize).checked_sub(1)?;
        self.tried.get(last).copied().flatten()
    }

    /// The class of the last try that has ended.
    pub const fn last_class(&self) -> Option<HealthClass> {
        self.last
    }

    /// Whether a try may have been delivered.
    pub const fn may_have_arrived(&self) -> bool {
        self.may_have_arrived
    }

    /// The time by which a try begun at `now` should end, so that each of `left` later ones has as
    /// much time (R37). Never after the deadline, and never zero while there is time (LU-16260).
    pub(crate) const fn slice(&self, now: Instant, left: u8) -> Instant {
        let time = self.deadline.since(now).as_nanos();
        let part = time / (left as u64 + 1);
        let part = if part == 0 { time } else { part };
        now.after(Span::from_nanos(part))
    }

    /// Whether the limit of resends is reached: never with [`UNTIL_DEADLINE`].
    pub(crate) const fn is_spent(&self, retries: u8) -> bool {
        retries != UNTIL_DEADLINE && self.tries > retries as u32
    }

    /// Whether one more try may begin at `now`, with `1 + retries` tries in all.
    pub(crate) const fn may_try_again(&self, now: Instant, retries: u8) -> bool {
        self.resend && !self.is_spent(retries) && now.as_nanos() < self.deadline.as_nanos()
    }

    /// Whether this round has reached its limit of tries.
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

    /// Whether a path may be tried: this round has not tried it, and it differs from the last one
    /// as the class of its failure requires (S4-9, S4-14, S4-17).
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

    /// Records that a try begins at `now`. Returns `false`, and records nothing, if the deadline
    /// has passed, a try is under way, or the round is full.
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

    /// Records how the try ended, and returns what is known of delivery over all tries.
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
