// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file maps a NID to its peer: open addressing over the caller's memory.

use crate::base::id::Nid;
use crate::base::sync::prefetch_for_write;

const EMPTY: u32 = u32::MAX;

/// A hash index over peers. Peers are added and replaced, and never exceed `peers`. The index has
/// at least twice as many places, so a look-up ends soon.
#[derive(Debug)]
pub struct NidIndex<'m> {
    places: &'m mut [u32],
}

impl<'m> NidIndex<'m> {
    /// Places needed for `peers` peers: a power of two.
    pub const fn places(peers: u32) -> usize {
        (peers as usize * 2).next_power_of_two()
    }

    /// An empty index over `places`, whose number is a power of two. Their old contents do not
    /// matter.
    pub fn new(places: &'m mut [u32]) -> Self {
        places.fill(EMPTY);
        Self { places }
    }

    #[inline]
    fn start(&self, nid: Nid) -> usize {
        // A multiplication by an odd constant mixes address and network into the high bits.
        // Neighbouring addresses would otherwise fill neighbouring places and make look-ups long.
        // The constant is that of the golden ratio, which spreads them evenly over the places if
        // the highest bits choose. With lower ones they meet, and each peer that is met costs the
        // lines of its record.
        let mixed = nid.raw().wrapping_mul(0x9e37_79b9_7f4a_7c15);
        // As a fraction of the range. The number of places is a power of two, so it is their bits.
        (((mixed >> 32) * self.places.len() as u64) >> 32) as usize
    }

    /// The place of the peer with `nid`. `nid_of` returns the NID of the peer in a place.
    #[inline]
    pub fn find(&self, nid: Nid, nid_of: impl Fn(u32) -> Option<Nid>) -> Option<u32> {
        let mut place = self.start(nid);
        for _ in 0..self.places.len() {
            let entry = *self.places.get(place)?;
            if entry == EMPTY {
                return None;
            }
            if nid_of(entry) == Some(nid) {
                return Some(entry);
            }
            place = (place + 1) & self.places.len().wrapping_sub(1);
        }
        None
    }

    /// Asks for the cache line in which the look-up of a NID begins. Returns that place.
    #[inline]
    pub(crate) fn expect(&self, nid: Nid) -> usize {
        let place = self.start(nid);
        if let Some(entry) = self.places.get(place) {
            prefetch_for_write(entry);
        }
        place
    }

    /// The first peer that the look-up finds which begins in this place. Of neighbouring addresses
    /// it is nearly always the right one, of addresses at random in three of four cases.
    #[inline]
    pub(crate) fn first(&self, place: usize) -> Option<u32> {
        self.places.get(place).copied().filter(|&entry| entry != EMPTY)
    }

    /// Adds the peer in a place. It is not in the index yet.
    pub fn insert(&mut self, nid: Nid, peer: u32) {
        let mut place = self.start(nid);
        // The bound is the table: it ends the search even if the caller broke the limit on peers.
        for _ in 0..self.places.len() {
            match self.places.get_mut(place) {
                Some(entry) if *entry == EMPTY => {
                    *entry = peer;
                    return;
                }
                _ => place = (place + 1) & self.places.len().wrapping_sub(1),
            }
        }
    }

    /// Removes a peer, and moves up the entries behind it that would otherwise be cut off.
    pub fn remove(&mut self, nid: Nid, peer: u32, nid_of: impl Fn(u32) -> Option<Nid>) {
        let mask = self.places.len().wrapping_sub(1);
        let mut hole = self.start(nid);
        for _ in 0..self.places.len() {
            match self.places.get(hole) {
                Some(&entry) if entry == peer => break,
                Some(&entry) if entry != EMPTY => hole = (hole + 1) & mask,
                _ => return,
            }
        }
        // A mark for removed entries would never go away and make every look-up longer. So the hole
        // is closed instead.
        let mut place = hole;
        for _ in 0..self.places.len() {
            place = (place + 1) & mask;
            let Some(&entry) = self.places.get(place) else { break };
            if entry == EMPTY {
                break;
            }
            let home = nid_of(entry).map_or(place, |n| self.start(n));
            // An entry may move to the hole only if its home is not behind the hole.
            if (place.wrapping_sub(home) & mask) >= (place.wrapping_sub(hole) & mask) {
                if let Some(free) = self.places.get_mut(hole) {
                    *free = entry;
                }
                hole = place;
            }
        }
        if let Some(free) = self.places.get_mut(hole) {
            *free = EMPTY;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{collections::BTreeMap, vec, vec::Vec};

    /// Peers of one network, and one address in 256 of a larger one. The old places of the first
    /// were shared by three peers on average.
    #[test]
    fn neighbouring_addresses_rarely_meet() {
        let count = if cfg!(miri) { 500 } else { 65_000 };
        for step in [1, 256] {
            let mut places = vec![0; NidIndex::places(count)];
            let mut index = NidIndex::new(&mut places);
            let nid = |peer: u32| Nid::from_raw((5 << 32) + 0x0a00_0001 + u64::from(peer) * step);
            let (mut met, mut starts) = (0, vec![false; index.places.len()]);
            for peer in 0..count {
                let nid = nid(peer).unwrap();
                met += u32::from(core::mem::replace(&mut starts[index.start(nid)], true));
                index.insert(nid, peer);
            }
            assert!(met < count / 50, "{met} of {count} begin where another one does");
            assert!((0..count).all(|peer| index.find(nid(peer).unwrap(), nid) == Some(peer)));
        }
    }

    #[test]
    fn behaves_like_a_map() {
        let mut places = vec![0; NidIndex::places(50)];
        let mut index = NidIndex::new(&mut places);
        let mut nids: Vec<Option<Nid>> = vec![None; 50];
        let mut oracle = BTreeMap::new();
        let mut x = 88_172_645_463_325_252_u64;
        let rounds = if cfg!(miri) { 20 } else { 20_000 };
        let step = if cfg!(miri) { 7 } else { 1 };
        for _ in 0..rounds {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            let peer = x as usize % 50;
            let nid = Nid::from_raw(1 + (x >> 20) % 200).unwrap();
            match nids[peer] {
                Some(old) => {
                    index.remove(old, peer as u32, |p| nids[p as usize]);
                    nids[peer] = None;
                    oracle.remove(&old);
                }
                None if !oracle.contains_key(&nid) => {
                    nids[peer] = Some(nid);
                    index.insert(nid, peer as u32);
                    oracle.insert(nid, peer);
                }
                None => {}
            }
            for raw in (1..=200).step_by(step) {
                let nid = Nid::from_raw(raw).unwrap();
                let found = index.find(nid, |p| nids[p as usize]).map(|p| p as usize);
                assert_eq!(found, oracle.get(&nid).copied());
            }
        }
    }

    /// Places are at most half full, and NIDs in a row, or of a row of networks, do not crowd. In a
    /// table half full, linear probing looks at one and a half places on average to find what is
    /// there; twice as many are allowed.
    #[test]
    fn a_look_up_ends_soon() {
        for peers in [1, 3, 50, 500, 512] {
            assert!(NidIndex::places(peers) >= 2 * peers as usize, "{peers} peers");
        }
        let rows: [fn(u64) -> u64; 4] =
            [|i| 7 << 32 | i, |i| i << 32 | 7, |i| 7 << 32 | i << 8, |i| i << 32 | i];
        let peers = 512;
        for (row, raw) in rows.iter().enumerate() {
            let nids: Vec<Nid> = (1..=peers).map(|i| Nid::from_raw(raw(i)).unwrap()).collect();
            let mut places = vec![0; NidIndex::places(peers as u32)];
            let mut index = NidIndex::new(&mut places);
            for (peer, &nid) in (0..).zip(&nids) {
                index.insert(nid, peer);
            }
            let looks = core::cell::Cell::new(0);
            for (peer, &nid) in (0..).zip(&nids) {
                let nid_of = |p: u32| {
                    looks.set(looks.get() + 1);
                    nids.get(p as usize).copied()
                };
                assert_eq!(index.find(nid, nid_of), Some(peer));
            }
            assert!(looks.get() <= 3 * peers, "row {row}: {} looks", looks.get());
        }
    }

    #[test]
    fn who_is_not_there_cannot_be_removed() {
        let mut places = vec![0; NidIndex::places(2)];
        let mut index = NidIndex::new(&mut places);
        let nid = Nid::from_raw(5).unwrap();
        index.insert(nid, 0);
        for raw in 1..20 {
            index.remove(Nid::from_raw(raw).unwrap(), 1, |_| Some(nid));
        }
        assert_eq!(index.find(nid, |_| Some(nid)), Some(0));
        // Nor from a table without an empty place, nor added to it.
        places.fill(0);
        let mut index = NidIndex { places: &mut places };
        index.insert(nid, 1);
        index.remove(nid, 1, |_| Some(nid));
        assert_eq!(index.find(nid, |_| None), None);
    }
}
