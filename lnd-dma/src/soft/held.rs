// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Completions that the adversary holds back.

use lnd_core::id::Tag;
use lnd_core::time::Instant;

/// Most completions that an adversary holds back at once.
pub(super) const HELD: usize = 8;

/// A completion: its descriptor's tag and its status.
type Completion = (Tag, u32);

/// Completions held back by the adversary.
#[derive(Debug, Default)]
pub(super) struct Held {
    places: [Option<(Instant, Completion)>; HELD],
    /// How many of them are taken: nearly always none, and each step asks.
    count: u8,
}

impl Held {
    #[inline]
    pub const fn any(&self) -> bool {
        self.count != 0
    }

    /// Keeps a completion until a time; `false`: there is no place for it.
    pub fn keep(&mut self, until: Instant, it: Completion) -> bool {
        let free = self.places.iter_mut().find(|place| place.is_none());
        let kept = free.map(|place| *place = Some((until, it))).is_some();
        self.count = self.count.wrapping_add(u8::from(kept));
        kept
    }

    /// The completion in a place, if it is due.
    pub fn due(&self, at: usize, now: Instant) -> Option<Completion> {
        match self.places.get(at) {
            Some(Some((until, it))) if *until <= now => Some(*it),
            _ => None,
        }
    }

    /// Empties a place.
    pub fn let_go(&mut self, at: usize) {
        let gone = self.places.get_mut(at).and_then(Option::take).is_some();
        self.count = self.count.wrapping_sub(u8::from(gone));
    }

    pub fn clear(&mut self) {
        *self = Self::default();
    }
}
