// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A user's memory: pages handed out and taken back, buffers in them, and content that tells where
//! it comes from.

use std::collections::BTreeMap;

use lnd_core::fragment::Fragment;
use lnd_core::ports::Memory;

use crate::fabric::MemoryWindow;
use crate::rng::Rng;

const PAGE: u32 = 4096;

/// Hands out runs of pages.
#[derive(Debug)]
pub struct Pages {
    /// Free runs: first page and number.
    free: BTreeMap<u32, u32>,
}

impl Pages {
    /// All pages of `bytes` bytes, free.
    pub fn new(bytes: u64) -> Self {
        Self { free: BTreeMap::from([(0, (bytes / u64::from(PAGE)) as u32)]) }
    }

    fn take(&mut self, pages: u32) -> Option<u32> {
        let (&first, &run) = self.free.iter().find(|(_, &run)| run >= pages)?;
        self.free.remove(&first);
        if run > pages {
            self.free.insert(first + pages, run - pages);
        }
        Some(first)
    }

    fn give_back(&mut self, mut first: u32, mut pages: u32) {
        if let Some((&before, &run)) = self.free.range(..first).next_back() {
            if before + run == first {
                self.free.remove(&before);
                first = before;
                pages += run;
            }
        }
        if let Some(run) = self.free.remove(&(first + pages)) {
            pages += run;
        }
        self.free.insert(first, pages);
    }
}

/// Memory for one transfer: pages of its own, in one or more fragments at odd addresses.
#[derive(Clone, Debug, Default)]
pub struct Buffer {
    /// Where, in order.
    pub fragments: Vec<Fragment>,
    first: u32,
    pages: u32,
}

impl Buffer {
    /// `length` bytes in up to `most` fragments; `None`: too little memory is left.
    pub fn new(pages: &mut Pages, rng: &mut Rng, length: u32, most: u64) -> Option<Self> {
        let count = rng.between(1, most.max(1)).min(u64::from(length)) as u32;
        let mut parts = Vec::new();
        let mut left = length;
        for part in 0..count {
            let last = part + 1 == count;
            let size = if last {
                left
            } else {
                rng.between(1, u64::from(left - (count - part - 1))) as u32
            };
            left -= size;
            // Odd addresses; and holes, since each fragment has pages of its own.
            parts.push((rng.below(64) as u32, size));
        }
        let needed = parts.iter().map(|(offset, size)| (offset + size).div_ceil(PAGE)).sum();
        let first = if needed == 0 { 0 } else { pages.take(needed)? };
        let mut page = first;
        let place = |(offset, size): (u32, u32)| {
            let address = u64::from(page) * u64::from(PAGE) + u64::from(offset);
            page += (offset + size).div_ceil(PAGE);
            Fragment::new(address, size)
        };
        Some(Self { fragments: parts.into_iter().map(place).collect(), first, pages: needed })
    }

    /// Gives the pages back.
    pub fn free(self, pages: &mut Pages) {
        if self.pages > 0 {
            pages.give_back(self.first, self.pages);
        }
    }

    /// Fills the buffer with the content of `seed` from its position `from` on.
    pub fn fill(&self, window: &mut MemoryWindow<'_>, seed: u64, from: u64) {
        let (mut at, mut room) = (from, [[0; 8]; CHUNK]);
        for piece in chunks(&self.fragments) {
            let bytes = content(seed, at, piece.length as usize, &mut room);
            // A fragment was cut out of the window: it can be written.
            let _ = window.write(piece.address, bytes);
            at += u64::from(piece.length);
        }
    }

    /// Fills the buffer with what no content is.
    pub fn poison(&self, window: &mut MemoryWindow<'_>) {
        for piece in chunks(&self.fragments) {
            let _ = window.write(piece.address, &[0xa5; PIECE][..piece.length as usize]);
        }
    }
}

/// Whether memory holds `length` bytes of the content of `seed` from its position `from` on; else
/// the first position that differs.
///
/// # Errors
/// The first byte that is wrong, counted from the beginning.
pub fn verify(
    window: &MemoryWindow<'_>,
    memory: &[Fragment],
    seed: u64,
    from: u64,
    length: u32,
) -> Result<(), u64> {
    let (mut done, mut room, mut found) = (0, [[0; 8]; CHUNK], [0; PIECE]);
    for piece in chunks(memory) {
        let bytes = piece.length.min(length - done) as usize;
        let found = &mut found[..bytes];
        window.read(piece.address, found).map_err(|_| u64::from(done))?;
        let wanted = content(seed, from + u64::from(done), bytes, &mut room);
        if found != wanted {
            let at = found.iter().zip(wanted).position(|(a, b)| a != b).unwrap_or(0);
            return Err(u64::from(done) + at as u64);
        }
        done += bytes as u32;
    }
    if done == length {
        Ok(())
    } else {
        Err(u64::from(done))
    }
}

/// Most bytes that are looked at in one go, and the room for their content: one word more, where
/// they begin within a word. Most payloads are shorter, and the room is cleared for each.
const PIECE: usize = 1024;
/// Words of the room.
const CHUNK: usize = PIECE / 8 + 1;

/// Room for the content of a piece.
type Room = [[u8; 8]; CHUNK];

/// The memory of some fragments in order, in pieces.
fn chunks(fragments: &[Fragment]) -> impl Iterator<Item = Fragment> + '_ {
    fragments.iter().flat_map(|it| {
        (0..it.length)
            .step_by(PIECE)
            .map(|at| Fragment::new(it.address + u64::from(at), (it.length - at).min(PIECE as u32)))
    })
}

/// `length` bytes of the endless content of a seed, at most [`PIECE`], from position `from` on.
fn content(seed: u64, from: u64, length: usize, room: &mut Room) -> &[u8] {
    // Words of two places differ, since the step is odd; those of two seeds are strangers. It is a
    // sum for each word, since every byte of every transfer is computed twice.
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
    let skip = (from % 8) as usize;
    let mut word = Rng::new(seed).next().wrapping_add((from / 8).wrapping_mul(STEP));
    for place in &mut room[..(skip + length).div_ceil(8)] {
        *place = word.to_le_bytes();
        word = word.wrapping_add(STEP);
    }
    &room.as_flattened()[skip..skip + length]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_come_back_whole() {
        let mut pages = Pages::new(64 * 4096);
        let mut rng = Rng::new(3);
        let mut held: Vec<Buffer> = Vec::new();
        for _ in 0..2000 {
            if rng.below(2) == 0 {
                let length = rng.below(20_000) as u32;
                held.extend(Buffer::new(&mut pages, &mut rng, length, 5));
            } else if !held.is_empty() {
                let which = rng.below(held.len() as u64) as usize;
                held.swap_remove(which).free(&mut pages);
            }
            let mut taken: Vec<(u32, u32)> =
                held.iter().filter(|b| b.pages > 0).map(|b| (b.first, b.pages)).collect();
            taken.sort_unstable();
            assert!(taken.windows(2).all(|w| w[0].0 + w[0].1 <= w[1].0), "no page twice");
        }
        held.into_iter().for_each(|buffer| buffer.free(&mut pages));
        assert_eq!(pages.free, BTreeMap::from([(0, 64)]));
    }

    #[test]
    fn content_is_a_function_of_seed_and_position() {
        let content =
            |seed, from, length| content(seed, from, length, &mut [[0; 8]; CHUNK]).to_vec();
        let whole = content(7, 0, 100);
        for from in 0..20 {
            assert_eq!(content(7, from, 50), whole[from as usize..from as usize + 50]);
        }
        assert_eq!(content(7, 7, PIECE)[..93], whole[7..]);
        assert_ne!(content(8, 0, 100), whole);
        // Nothing looks like its neighbour: no word is the next one's.
        let words = |bytes: &[u8]| bytes.chunks(8).map(<[u8]>::to_vec).collect::<Vec<_>>();
        let (these, next) = (words(&whole[..96]), words(&content(7, 8, 96)));
        assert!(these.iter().zip(&next).all(|(a, b)| a.iter().zip(b).all(|(a, b)| a != b)));
    }
}
