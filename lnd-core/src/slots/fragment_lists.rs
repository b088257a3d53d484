// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file holds the fragment lists of transfers with more than one fragment.

use crate::base::fragment::{Fragment, MAX_FRAGMENTS};

/// A pool of lists. Context: the shard's owner.
#[derive(Debug)]
pub(crate) struct FragmentLists<'m> {
    lists: &'m mut [[Fragment; MAX_FRAGMENTS]],
    /// A stack of free lists: the first `left` entries.
    free: &'m mut [u16],
    left: usize,
}

impl<'m> FragmentLists<'m> {
    /// `free` holds the numbers of all lists.
    pub fn new(lists: &'m mut [[Fragment; MAX_FRAGMENTS]], free: &'m mut [u16]) -> Self {
        let left = free.len().min(lists.len());
        Self { lists, free, left }
    }

    /// Takes a list and copies `fragments` into it. `None`: all lists are in use, or a list is too
    /// short.
    pub fn take(&mut self, fragments: &[Fragment]) -> Option<u16> {
        let top = self.left.checked_sub(1)?;
        let list = *self.free.get(top)?;
        let place = self.lists.get_mut(list as usize)?.get_mut(..fragments.len())?;
        for (to, from) in place.iter_mut().zip(fragments) {
            *to = *from;
        }
        // The list is taken only now: a failure above leaves the pool unchanged.
        self.left = top;
        Some(list)
    }

    /// Returns a list to the pool. A number of no list is ignored.
    pub fn give_back(&mut self, list: u16) {
        if list as usize >= self.lists.len() {
            return;
        }
        if let Some(place) = self.free.get_mut(self.left) {
            *place = list;
            self.left += 1;
        }
    }

    /// The first `fragments` entries of a list. Empty if there is no such list.
    pub fn get(&self, list: u16, fragments: u16) -> &[Fragment] {
        self.lists.get(list as usize).and_then(|l| l.get(..fragments as usize)).unwrap_or(&[])
    }

    /// Whether a list is left.
    pub const fn has_room(&self) -> bool {
        self.left > 0
    }

    /// Lists in use.
    pub fn used(&self) -> usize {
        self.lists.len() - self.left
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn a_list_holds_what_was_put_in_until_it_is_given_back() {
        let mut memory = Vec::from([[Fragment::default(); MAX_FRAGMENTS]; 3]);
        let mut free = [0, 1, 2];
        let mut lists = FragmentLists::new(&mut memory, &mut free);
        let pieces = [Fragment::new(64, 1), Fragment::new(128, 2), Fragment::new(256, 3)];
        let taken: Vec<_> = (1..=3)
            .map(|count| {
                let list = lists.take(&pieces[..count]).unwrap();
                assert_eq!(lists.used(), count);
                list
            })
            .collect();
        assert_eq!(lists.take(&pieces), None, "there are three");
        for (list, count) in taken.iter().zip(1..) {
            assert_eq!(lists.get(*list, count), &pieces[..count as usize]);
        }
        assert!(lists.get(3, 1).is_empty(), "there is no such list");

        for (list, used) in taken.iter().zip([2, 1, 0]) {
            lists.give_back(*list);
            assert_eq!(lists.used(), used);
        }
        lists.give_back(0);
        assert_eq!(lists.used(), 0, "there are no more than three");
        let again: Vec<_> = (0..3).map(|_| lists.take(&pieces).unwrap()).collect();
        assert!((0..3).all(|list| again.contains(&list)), "{again:?}");
        assert_eq!(lists.used(), 3);
    }

    #[test]
    fn a_list_that_is_too_long_takes_none() {
        let mut memory = Vec::from([[Fragment::default(); MAX_FRAGMENTS]]);
        let mut free = [0];
        let mut lists = FragmentLists::new(&mut memory, &mut free);
        assert_eq!(lists.take(&[Fragment::new(0, 1); MAX_FRAGMENTS + 1]), None);
        assert_eq!(lists.used(), 0);
        assert!(lists.take(&[Fragment::new(0, 1); MAX_FRAGMENTS]).is_some());
    }
}
