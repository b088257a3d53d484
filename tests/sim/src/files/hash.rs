// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A checksum for files and messages: 64 bits, fast, made from a stream of pieces.
//!
//! Words of 8 bytes go to four lanes in turn, so that the processor can work on four at a time; at the
//! end the lanes go into one. Every step is a bijection of the state for a given word, and of the word
//! for a given state: a change of one word always shows. Steps do not commute: swapped pieces show.
//! The length goes in last: missing or added zeros show. It guards against accidents, not against an
//! attacker.

const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
const START: [u64; 4] =
    [0x6c6e_642d_6669_6c65, 0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344, 0xa409_3822_299f_31d0];
/// Bytes that go to the lanes at a time.
const BLOCK: usize = 32;

/// A checksum under way. How the bytes are cut into pieces makes no difference.
#[derive(Clone, Debug)]
pub struct Hash {
    lanes: [u64; 4],
    length: u64,
    /// The last `length % 32` bytes wait here for their block to be full.
    pending: [u8; BLOCK],
}

impl Default for Hash {
    fn default() -> Self {
        Self::new()
    }
}

impl Hash {
    /// The checksum of nothing yet.
    pub const fn new() -> Self {
        Self { lanes: START, length: 0, pending: [0; BLOCK] }
    }

    /// Takes the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        let waiting = self.waiting();
        self.length = self.length.wrapping_add(bytes.len() as u64);
        let mut rest = bytes;
        if waiting > 0 {
            let (now, later) = rest.split_at(rest.len().min(BLOCK - waiting));
            self.pending[waiting..waiting + now.len()].copy_from_slice(now);
            if waiting + now.len() < BLOCK {
                return;
            }
            self.lanes = absorb(self.lanes, &self.pending);
            rest = later;
        }
        let (blocks, tail) = rest.as_chunks::<BLOCK>();
        self.lanes = blocks.iter().fold(self.lanes, absorb);
        self.pending[..tail.len()].copy_from_slice(tail);
    }

    /// The checksum of all bytes so far.
    pub fn finish(&self) -> u64 {
        let waiting = self.waiting();
        let mut last = [0; BLOCK];
        last[..waiting].copy_from_slice(&self.pending[..waiting]);
        let lanes = absorb(self.lanes, &last);
        let folded = lanes.into_iter().fold(FACTOR, mix);
        // One more step behind the length, so that it reaches every bit.
        mix(mix(folded, self.length), FACTOR)
    }

    fn waiting(&self) -> usize {
        (self.length % BLOCK as u64) as usize
    }
}

fn absorb(mut lanes: [u64; 4], block: &[u8; BLOCK]) -> [u64; 4] {
    for (lane, word) in lanes.iter_mut().zip(block.as_chunks::<8>().0) {
        *lane = mix(*lane, u64::from_le_bytes(*word));
    }
    lanes
}

const fn mix(state: u64, word: u64) -> u64 {
    let mixed = (state ^ word).wrapping_mul(FACTOR);
    mixed ^ (mixed >> 32)
}

/// The checksum of `bytes`.
pub fn hash(bytes: &[u8]) -> u64 {
    let mut hash = Hash::new();
    hash.update(bytes);
    hash.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    fn noise(seed: u64, length: usize) -> Vec<u8> {
        let mut random = Rng::new(seed);
        (0..length).map(|_| random.next() as u8).collect()
    }

    #[test]
    fn pieces_make_no_difference() {
        let bytes = noise(1, 100);
        let whole = hash(&bytes);
        for first in 0..=100 {
            for second in first..=100 {
                let mut pieces = Hash::new();
                pieces.update(&bytes[..first]);
                pieces.update(&bytes[first..second]);
                pieces.update(&bytes[second..]);
                assert_eq!(pieces.finish(), whole, "{first} {second}");
            }
        }
    }

    #[test]
    fn every_changed_bit_shows() {
        for length in [1, 7, 8, 9, 31, 32, 33, 100] {
            let bytes = noise(2, length);
            let sound = hash(&bytes);
            for bit in 0..length * 8 {
                let mut changed = bytes.clone();
                changed[bit / 8] ^= 1 << (bit % 8);
                assert_ne!(hash(&changed), sound, "bit {bit} of {length} bytes");
            }
        }
    }

    #[test]
    fn reordered_cut_and_padded_files_show() {
        let bytes = noise(3, 4096);
        let sound = hash(&bytes);
        for size in [1, 8, 13, 32, 512] {
            let mut pieces: Vec<&[u8]> = bytes.chunks(size).collect();
            let equal = pieces[0] == pieces[1];
            pieces.swap(0, 1);
            assert_eq!(hash(&pieces.concat()) == sound, equal, "chunks of {size}");
        }
        assert_ne!(hash(&bytes[..4095]), sound);
        // Zeros have no content, only length.
        let lengths: Vec<u64> = (0..100).map(|n| hash(&vec![0; n])).collect();
        let mut distinct = lengths.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), lengths.len());
    }

    #[test]
    fn the_value_is_the_same_for_ever() {
        // Two versions of the program have to agree, so these two values are part of the protocol.
        assert_eq!(hash(&[]), 6_506_603_461_220_739_047);
        assert_eq!(hash(&(0..=255).collect::<Vec<u8>>()), 15_149_722_743_538_554_055);
    }
}
