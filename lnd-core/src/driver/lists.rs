// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Fragment lists for transfers of more than one fragment.

use crate::fragment::{Fragment, MAX_FRAGMENTS};

/// A pool of lists. Context: the shard's owner.
#[derive(Debug)]
pub(super) struct Lists<'m> {
    lists: &'m mut [[Fragment; MAX_FRAGMENTS]],
    /// A stack of free lists: the first `left` entries.
    free: &'m mut [u16],
    left: usize,
}

impl<'m> Lists<'m> {
    /// `free` holds the numbers of all lists.
    pub fn new(lists: &'m mut [[Fragment; MAX_FRAGMENTS]], free: &'m mut [u16]) -> Self {
        let left = free.len().min(lists.len());
        Self { lists, free, left }
    }

    pub fn take(&mut self, fragments: &[Fragment]) -> Option<u16> {
        let top = self.left.checked_sub(1)?;
        let list = *self.free.get(top)?;
        let place = self.lists.get_mut(list as usize)?.get_mut(..fragments.len())?;
        for (to, from) in place.iter_mut().zip(fragments) {
            *to = *from;
        }
        self.left = top;
        Some(list)
    }

    pub fn give_back(&mut self, list: u16) {
        if let Some(place) = self.free.get_mut(self.left) {
            *place = list;
            self.left += 1;
        }
    }

    pub fn get(&self, list: u16, fragments: u16) -> &[Fragment] {
        self.lists.get(list as usize).and_then(|l| l.get(..fragments as usize)).unwrap_or(&[])
    }

    /// Lists in use.
    pub fn used(&self) -> usize {
        self.lists.len() - self.left
    }
}
