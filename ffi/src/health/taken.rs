// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Values that C may name and may not hold: each lies in a place, under a generation.

use lnd_core::defect::seeded;

/// One place.
#[derive(Debug)]
pub(super) struct Place<T> {
    generation: u32,
    /// Next free place, if this one is free.
    next: u32,
    value: Option<T>,
}

impl<T> Place<T> {
    /// Place number `index`, free; the one after it is the next.
    pub const fn free(index: usize) -> Self {
        Self { generation: 0, next: index as u32 + 1, value: None }
    }
}

/// A table of places.
#[derive(Debug)]
pub(super) struct Taken<'m, T> {
    places: &'m mut [Place<T>],
    first: u32,
}

impl<'m, T> Taken<'m, T> {
    pub const fn new(places: &'m mut [Place<T>]) -> Self {
        Self { places, first: 0 }
    }

    /// Whether nothing more can be kept.
    pub const fn is_full(&self) -> bool {
        self.first as usize >= self.places.len()
    }

    /// Keeps a value: place and generation, or the value back.
    pub fn keep(&mut self, value: T) -> Result<(u32, u32), T> {
        let index = self.first;
        let Some(place) = self.places.get_mut(index as usize) else { return Err(value) };
        self.first = place.next;
        let next = u32::from(!seeded("journey-name-again"));
        place.generation = place.generation.wrapping_add(next);
        place.value = Some(value);
        Ok((index, place.generation))
    }

    fn find(&mut self, index: u32, generation: u32) -> Option<&mut Place<T>> {
        let place = self.places.get_mut(index as usize)?;
        (place.generation == generation && place.value.is_some()).then_some(place)
    }

    /// A value by its name.
    pub fn get(&mut self, index: u32, generation: u32) -> Option<&mut T> {
        self.find(index, generation)?.value.as_mut()
    }

    /// Takes a value out; its name is stale.
    pub fn take(&mut self, index: u32, generation: u32) -> Option<T> {
        let first = self.first;
        let place = self.find(index, generation)?;
        let value = place.value.take();
        place.next = first;
        self.first = index;
        value
    }

    /// Takes a value out for a moment; [`put_back`](Self::put_back) follows.
    pub fn borrow(&mut self, index: u32, generation: u32) -> Option<T> {
        self.find(index, generation)?.value.take()
    }

    /// Puts back what was borrowed, under its old name.
    pub fn put_back(&mut self, index: u32, value: T) {
        if let Some(place) = self.places.get_mut(index as usize) {
            place.value = Some(value);
        }
    }

    /// Gives up the place of what was borrowed.
    pub fn forget(&mut self, index: u32) {
        let first = self.first;
        if let Some(place) = self.places.get_mut(index as usize) {
            place.next = first;
            self.first = index;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn a_name_is_good_once() {
        let mut places: Vec<_> = (0..2).map(Place::free).collect();
        let mut taken = Taken::new(&mut places);
        let (a, b) = (taken.keep('a').unwrap(), taken.keep('b').unwrap());
        assert_eq!(taken.keep('c'), Err('c'));
        assert!(taken.is_full());
        assert_eq!(taken.get(b.0, b.1), Some(&mut 'b'));
        assert_eq!(taken.take(a.0, a.1), Some('a'));
        assert_eq!((taken.take(a.0, a.1), taken.get(9, 1)), (None, None));
        let again = taken.keep('d').unwrap();
        assert_eq!(again.0, a.0);
        assert_eq!(taken.take(a.0, a.1), None);
        assert_eq!(taken.borrow(again.0, again.1), Some('d'));
        assert_eq!(taken.get(again.0, again.1), None);
        taken.put_back(again.0, 'e');
        assert_eq!(taken.borrow(again.0, again.1), Some('e'));
        taken.forget(again.0);
        assert!(!taken.is_full());
    }
}
