// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file keeps the node that waits for a place in the peer table
//! (docs/decisions/0019-few-places.md).

use crate::base::id::{Incarnation, LinkId, Nid};
use crate::base::time::{Instant, Span};

/// The sender of a promised request that has no place in the peer table.
#[derive(Clone, Copy, Debug, Hash)]
pub(crate) struct Waiting {
    pub nid: Nid,
    /// The incarnation that sent the request. If that node refused us a place, the incarnation that
    /// refused.
    pub incarnation: Incarnation,
    /// The links on which its requests were offered. Zero: it has just lost its place and waits for
    /// one only once its request is offered again.
    pub parked: u8,
    /// Handshakes in a row that it has not answered, kept from the time when it had a place.
    pub silences: u8,
    /// It gets no place before this time.
    not_before: Instant,
}

/// How much longer than one hold-off no hello goes to a peer whose request waits, after so many
/// silences.
pub(crate) fn more_hold_off(hold_off: Span, silences: u8) -> Span {
    // The limit bounds how long a peer waits that has returned.
    let doublings = u32::from(silences.saturating_sub(1)).min(6);
    hold_off.times((1 << doublings) - 1)
}

/// The node that waits for a place, and when the table is to be searched for one.
#[derive(Debug, Hash)]
pub(crate) struct Places {
    // One node is enough, however many wait. Each place that is given changes a peer's state. The
    // host then offers all waiting requests again, and the next node is kept.
    waiting: Option<Waiting>,
    /// The node that got a place last. Nodes take turns in the order of their NIDs.
    last: Option<Nid>,
    /// When it got the place.
    since: Instant,
    /// The earliest known time at which a place can be had.
    next: Instant,
    /// Places still to be searched before that time is known.
    left: u32,
    /// A change has happened that may have freed a place.
    changed: bool,
}

impl Places {
    pub const EMPTY: Self = Self {
        waiting: None,
        last: None,
        since: Instant::ORIGIN,
        next: Instant::NEVER,
        left: 0,
        changed: false,
    };

    /// A place may have become free.
    #[inline(always)]
    pub fn may_be_free(&mut self) {
        self.changed = true;
    }

    /// When the table is to be searched for the waiting node.
    pub fn next(&self, now: Instant) -> Option<Instant> {
        // A displaced node without an offered request needs no search.
        self.waiting.filter(|it| it.parked != 0)?;
        Some(if self.left > 0 || self.changed { now } else { self.next })
    }

    /// Until when a peer that has answered keeps its place for its own request.
    pub fn stays_until(&self, hold_off: Span) -> Instant {
        self.since.after(hold_off)
    }

    /// Whether the table is being searched for the waiting node.
    pub const fn is_searching(&self) -> bool {
        self.left > 0
    }

    /// Forgets the waiting node: it has a place, or it is gone.
    pub fn clear(&mut self) {
        self.waiting = None;
    }

    /// Removes the waiting node, to give it a place.
    pub fn take(&mut self) -> Option<Waiting> {
        self.waiting.take()
    }

    /// Notes that the removed node has a place.
    pub fn placed(&mut self, nid: Nid, now: Instant) {
        (self.last, self.since) = (Some(nid), now);
    }

    /// The part of it on which the driver's future depends.
    pub fn state(&self) -> Option<&Self> {
        self.waiting.map(|_| self)
    }

    pub fn is_waiting(&self, nid: Nid) -> bool {
        self.waiting.is_some_and(|it| it.nid == nid)
    }

    /// Keeps the sender of a request that was offered on `link`, unless another node's turn comes
    /// first.
    pub fn keep(&mut self, nid: Nid, incarnation: Incarnation, link: LinkId) {
        let parked = link.bit();
        if let Some(known) = self.waiting.as_mut().filter(|it| it.nid == nid) {
            // A displaced node is offered again: from now on it waits, and the search starts at
            // once.
            if known.parked == 0 {
                self.next = Instant::ORIGIN;
            }
            known.parked |= parked;
            return;
        }
        let new = Waiting { nid, incarnation, parked, silences: 0, not_before: Instant::ORIGIN };
        // The turn does not depend on the order in which the host offers. Otherwise a busy node
        // could keep a quiet one waiting for ever.
        let before = |it: Waiting| self.turn(&new) < self.turn(&it);
        if self.waiting.is_none_or(|it| it.parked == 0 || before(it)) {
            self.waiting = Some(new);
            self.next = Instant::ORIGIN;
        }
    }

    /// The lower the value, the sooner the turn. Silent nodes come last. The others go by NID,
    /// starting behind the last one placed.
    fn turn(&self, it: &Waiting) -> (u8, u64) {
        let last = self.last.map_or(0, Nid::raw);
        let behind = it.nid.raw().wrapping_sub(last).wrapping_sub(1);
        (it.silences, behind)
    }

    /// Keeps a node that has lost its place while its request waits, with its silences.
    pub fn keep_displaced(
        &mut self,
        (nid, incarnation, silences): (Nid, Incarnation, u8),
        now: Instant,
        hold_off: Span,
    ) {
        let not_before = now.after(more_hold_off(hold_off, silences));
        let it = Waiting { nid, incarnation, parked: 0, silences, not_before };
        // A displaced node must not displace a node whose request is offered: the two would
        // exchange one place without end.
        if self.waiting.is_none_or(|it| it.parked == 0) {
            self.waiting = Some(it);
        }
    }

    /// Whether to search for a place now, in a table of `places`.
    pub fn is_due(&mut self, now: Instant, places: u32) -> bool {
        let Some(waiting) = self.waiting.filter(|it| it.parked != 0) else { return false };
        // A change anywhere restarts the search. The search continues over several calls, so each
        // call stays bounded (R64).
        if core::mem::take(&mut self.changed) || self.next <= now {
            (self.left, self.next) = (places, Instant::NEVER);
        }
        if waiting.not_before > now {
            (self.left, self.next) = (0, waiting.not_before);
        }
        self.left > 0
    }

    /// Notes that none of `looked_at` places is free and that one of them can be had at `earliest`.
    pub fn none_among(&mut self, waiting: Waiting, looked_at: u32, earliest: Instant) {
        self.waiting = Some(waiting);
        self.left = self.left.saturating_sub(looked_at);
        self.next = self.next.min(earliest);
    }
}
