// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Values that C names and does not hold. Each lies in a place, under a generation.

use lnd_core::time::{Instant, Span};

/// No place.
const NONE: u32 = u32::MAX;

/// One place.
#[derive(Debug)]
pub(super) struct HandleSlot<T> {
    generation: u32,
    /// Next free place, if this one is free; else the place that was taken next.
    next: u32,
    /// The place that was taken before this one.
    prev: u32,
    /// When it was taken.
    since: Instant,
    value: Option<T>,
}

impl<T> HandleSlot<T> {
    /// Place number `index`, free; its next free place is the one after it.
    pub const fn free(index: usize) -> Self {
        Self {
            generation: 0,
            next: index as u32 + 1,
            prev: NONE,
            since: Instant::ORIGIN,
            value: None,
        }
    }
}

/// A table of places.
#[derive(Debug)]
pub(super) struct HandleTable<'m, T> {
    places: &'m mut [HandleSlot<T>],
    first: u32,
    /// The places in use, in the order in which they were taken.
    oldest: u32,
    newest: u32,
}

impl<'m, T> HandleTable<'m, T> {
    pub const fn new(places: &'m mut [HandleSlot<T>]) -> Self {
        Self { places, first: 0, oldest: NONE, newest: NONE }
    }

    /// Whether every place is taken.
    pub const fn is_full(&self) -> bool {
        self.first as usize >= self.places.len()
    }

    /// Stores a value at `now`. Returns place and generation, or the value if there is no room.
    pub fn keep(&mut self, now: Instant, value: T) -> Result<(u32, u32), T> {
        let index = self.first;
        let Some(place) = self.places.get_mut(index as usize) else { return Err(value) };
        self.first = place.next;
        place.generation = place.generation.wrapping_add(1);
        place.value = Some(value);
        (place.since, place.prev, place.next) = (now, self.newest, NONE);
        let generation = place.generation;
        match self.places.get_mut(self.newest as usize) {
            Some(before) => before.next = index,
            None => self.oldest = index,
        }
        self.newest = index;
        Ok((index, generation))
    }

    /// When the oldest value was taken, if there is one.
    pub fn oldest(&self) -> Option<Instant> {
        self.places.get(self.oldest as usize).map(|place| place.since)
    }

    /// Drops the oldest value if it was stored `bound` ago or earlier; its name is then stale.
    pub fn expire(&mut self, now: Instant, bound: Span) -> bool {
        let index = self.oldest;
        let Some(place) = self.places.get_mut(index as usize) else { return false };
        if now.since(place.since) < bound {
            return false;
        }
        place.value = None;
        self.release(index);
        true
    }

    /// Adds a place to the free ones.
    fn release(&mut self, index: u32) {
        let Some(place) = self.places.get_mut(index as usize) else { return };
        let (prev, next) = (place.prev, place.next);
        place.next = self.first;
        self.first = index;
        match self.places.get_mut(prev as usize) {
            Some(before) => before.next = next,
            None => self.oldest = next,
        }
        match self.places.get_mut(next as usize) {
            Some(after) => after.prev = prev,
            None => self.newest = prev,
        }
    }

    fn find(&mut self, index: u32, generation: u32) -> Option<&mut HandleSlot<T>> {
        let place = self.places.get_mut(index as usize)?;
        (place.generation == generation && place.value.is_some()).then_some(place)
    }

    /// A value by its name.
    pub fn get(&mut self, index: u32, generation: u32) -> Option<&mut T> {
        self.find(index, generation)?.value.as_mut()
    }

    /// Takes a value out; its name is then stale.
    pub fn take(&mut self, index: u32, generation: u32) -> Option<T> {
        let value = self.find(index, generation)?.value.take();
        self.release(index);
        value
    }

    /// Takes a value out temporarily; [`put_back`](Self::put_back) follows.
    pub fn borrow(&mut self, index: u32, generation: u32) -> Option<T> {
        self.find(index, generation)?.value.take()
    }

    /// Puts a borrowed value back, under its old name.
    pub fn put_back(&mut self, index: u32, value: T) {
        if let Some(place) = self.places.get_mut(index as usize) {
            place.value = Some(value);
        }
    }

    /// Frees the place of a borrowed value.
    pub fn forget(&mut self, index: u32) {
        self.release(index);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn a_name_is_good_once() {
        let mut places: Vec<_> = (0..2).map(HandleSlot::free).collect();
        let mut taken = HandleTable::new(&mut places);
        let now = Instant::ORIGIN;
        let (a, b) = (taken.keep(now, 'a').unwrap(), taken.keep(now, 'b').unwrap());
        assert_eq!(taken.keep(now, 'c'), Err('c'));
        assert!(taken.is_full());
        assert_eq!(taken.get(b.0, b.1), Some(&mut 'b'));
        assert_eq!(taken.take(a.0, a.1), Some('a'));
        assert_eq!((taken.take(a.0, a.1), taken.get(9, 1)), (None, None));
        let again = taken.keep(now, 'd').unwrap();
        assert_eq!(again.0, a.0);
        assert_eq!(taken.take(a.0, a.1), None);
        assert_eq!(taken.borrow(again.0, again.1), Some('d'));
        assert_eq!(taken.get(again.0, again.1), None);
        taken.put_back(again.0, 'e');
        assert_eq!(taken.borrow(again.0, again.1), Some('e'));
        taken.forget(again.0);
        assert!(!taken.is_full());
    }

    #[test]
    fn the_oldest_expire_first() {
        let at = Instant::from_nanos;
        let bound = Span::from_nanos(10);
        let mut places: Vec<_> = (0..3).map(HandleSlot::free).collect();
        let mut taken = HandleTable::new(&mut places);
        assert!(!taken.expire(at(99), bound) && taken.oldest().is_none());
        let names: Vec<_> = (0..3).map(|n| taken.keep(at(n), n).unwrap()).collect();
        // One in the middle is taken out and another comes: it is the newest.
        assert_eq!(taken.take(names[1].0, names[1].1), Some(1));
        let late = taken.keep(at(7), 7).unwrap();
        assert_eq!(taken.oldest(), Some(at(0)));
        assert!(!taken.expire(at(9), bound) && taken.expire(at(10), bound));
        assert_eq!(taken.get(names[0].0, names[0].1), None);
        assert!(!taken.expire(at(11), bound) && taken.expire(at(12), bound));
        assert_eq!((taken.oldest(), taken.get(late.0, late.1)), (Some(at(7)), Some(&mut 7)));
        assert!(!taken.is_full() && taken.expire(at(17), bound) && !taken.expire(at(99), bound));
        // All places can be used again.
        let again: Vec<_> = (0..3).map(|n| taken.keep(at(20), n).unwrap().0).collect();
        assert!(taken.is_full() && again.iter().all(|&index| index < 3));
    }
}
