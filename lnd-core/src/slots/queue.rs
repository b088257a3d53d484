// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file holds queues of slots and the rounds over them.

use super::state::{Flags, NONE};
use super::Slots;

/// A queue of slots, linked as a ring through their waiting halves. The last slot precedes the
/// first, so the queue needs one word.
#[derive(Clone, Copy, Debug, Hash)]
pub(crate) struct Queue {
    first: u32,
}

impl Queue {
    pub const EMPTY: Self = Self { first: NONE };

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.first == NONE
    }

    /// The first slot. A number beyond all slots means none.
    pub const fn first(&self) -> u32 {
        self.first
    }

    /// How many slots wait. For views: the work is linear in their number.
    pub fn len(&self, slots: &Slots<'_>) -> u32 {
        let (mut len, mut at) = (0, self.first());
        while let Some(entry) = slots.waiting.get(at as usize).filter(|_| len < slots.count()) {
            (len, at) = (len + 1, entry.next);
            if at == self.first() {
                break;
            }
        }
        len
    }

    /// The last slot. `NONE`: the queue is empty.
    pub fn last(&self, slots: &Slots<'_>) -> u32 {
        slots.waiting.get(self.first() as usize).map_or(NONE, |first| first.previous)
    }

    /// The slot in front of an entry. `NONE`: the entry is the first.
    fn before(&self, slots: &Slots<'_>, slot: u32) -> u32 {
        let entry = slots.waiting.get(slot as usize).filter(|_| slot != self.first());
        entry.map_or(NONE, |entry| entry.previous)
    }

    pub fn push(&mut self, slots: &mut Slots<'_>, slot: u32) {
        if let Some(state) = slots.get_mut(slot) {
            state.flags.insert(Flags::QUEUED);
        }
        // A ring of one: the slot is its own neighbour.
        if self.is_empty() {
            self.first = slot;
            slots.link(slot, slot);
            return;
        }
        // The ring keeps the last slot in reach of the first, so a push needs no walk (R64).
        let (first, last) = (self.first(), self.last(slots));
        slots.link(last, slot);
        slots.link(slot, first);
    }

    pub fn remove(&mut self, slots: &mut Slots<'_>, slot: u32) {
        if let Some(state) = slots.get_mut(slot) {
            state.flags.remove(Flags::QUEUED);
        }
        let Some(entry) = slots.waiting.get(slot as usize) else { return };
        let (previous, next) = (entry.previous, entry.next);
        slots.link(previous, next);
        if self.first() == slot {
            // A slot that links to itself was the only one.
            self.first = if next == slot { NONE } else { next };
        }
    }
}

/// The position of a round over a queue. A round handles each entry once, in as many calls as that
/// takes. An entry that must go on waiting moves to the end of the queue, for the next round.
#[derive(Clone, Copy, Debug, Hash)]
pub(crate) struct Round {
    /// The last entry of the round. `NONE`: no round is under way.
    end: u32,
    /// The rest of the round is due without delay.
    owed: bool,
}

impl Round {
    pub const NONE: Self = Self { end: NONE, owed: false };

    /// Continues the round that is under way, or begins one over a queue that ends with `last`.
    pub fn begin(&mut self, last: u32, owed: bool) {
        // A due round replaces one that an early call has begun. Only the due one makes the host
        // call again, so an early call costs nothing later.
        if self.end == NONE || owed && !self.owed {
            *self = Self { end: last, owed: owed && last != NONE };
        }
    }

    /// Notes that an entry leaves the queue, behind `previous`, or is handled.
    pub fn removed(&mut self, entry: u32, previous: u32) {
        // The end moves to the previous entry. An end that has left the queue would never be
        // reached, and the round would run on for ever.
        if entry == self.end {
            self.end = previous;
            self.owed &= previous != NONE;
        }
    }

    /// Whether entries of the round are left.
    pub const fn is_under_way(&self) -> bool {
        self.end != NONE
    }

    /// Whether entries of the round are left and due without delay.
    pub const fn goes_on(&self) -> bool {
        self.owed
    }
}

/// A queue of slots that is handled in rounds.
#[derive(Clone, Copy, Debug, Hash)]
pub(crate) struct Rounds {
    queue: Queue,
    round: Round,
}

impl Rounds {
    pub const EMPTY: Self = Self { queue: Queue::EMPTY, round: Round::NONE };

    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub const fn goes_on(&self) -> bool {
        self.round.goes_on()
    }

    pub fn push(&mut self, slots: &mut Slots<'_>, slot: u32) {
        self.queue.push(slots, slot);
    }

    pub fn remove(&mut self, slots: &mut Slots<'_>, slot: u32) {
        // The round must know its new end before the links are gone.
        let previous = self.queue.before(slots, slot);
        self.round.removed(slot, previous);
        self.queue.remove(slots, slot);
    }

    pub fn begin(&mut self, slots: &Slots<'_>, owed: bool) {
        self.round.begin(self.queue.last(slots), owed);
    }

    /// Takes the next slot of the round.
    pub fn next(&mut self, slots: &mut Slots<'_>) -> Option<u32> {
        let slot = Some(self.queue.first()).filter(|_| self.round.is_under_way())?;
        self.remove(slots, slot);
        Some(slot)
    }
}
