// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A checksum for files and messages: 64 bits, fast, made from a stream of pieces.
//!
//! Every step is a bijection of the state for a given word, and of the word for a given state: a
//! change of one word always shows. Words are not commutative: swapped pieces show. The length goes in
//! last: missing or added zeros show. It guards against accidents, not against an attacker.

const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
const START: u64 = 0x6c6e_642d_6669_6c65;

/// A checksum under way. How the bytes are cut into pieces makes no difference.
#[derive(Clone, Debug)]
pub struct Hash {
    state: u64,
    length: u64,
    /// The last `length % 8` bytes wait here for their word to be full.
    pending: [u8; 8],
}

impl Default for Hash {
    fn default() -> Self {
        Self::new()
    }
}

impl Hash {
    /// The checksum of nothing yet.
    pub const fn new() -> Self {
        Self { state: START, length: 0, pending: [0; 8] }
    }

    /// Takes the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        let waiting = (self.length % 8) as usize;
        self.length = self.length.wrapping_add(bytes.len() as u64);
        let mut rest = bytes;
        if waiting > 0 {
            let (now, later) = rest.split_at(rest.len().min(8 - waiting));
            self.pending[waiting..waiting + now.len()].copy_from_slice(now);
            if waiting + now.len() < 8 {
                return;
            }
            self.absorb(u64::from_le_bytes(self.pending));
            rest = later;
        }
        let (words, tail) = rest.as_chunks::<8>();
        for word in words {
            self.absorb(u64::from_le_bytes(*word));
        }
        self.pending[..tail.len()].copy_from_slice(tail);
    }

    /// The checksum of all bytes so far.
    pub fn finish(&self) -> u64 {
        let mut end = self.clone();
        let waiting = (self.length % 8) as usize;
        let mut last = [0; 8];
        last[..waiting].copy_from_slice(&self.pending[..waiting]);
        end.absorb(u64::from_le_bytes(last));
        end.absorb(self.length);
        // One more round, so that the last word reaches every bit.
        end.absorb(START);
        end.state
    }

    fn absorb(&mut self, word: u64) {
        let mixed = (self.state ^ word).wrapping_mul(FACTOR);
        self.state = mixed ^ (mixed >> 32);
    }
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
        for length in [1, 7, 8, 9, 64, 100] {
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
        for size in [1, 8, 13, 512] {
            let mut pieces: Vec<&[u8]> = bytes.chunks(size).collect();
            let equal = pieces[0] == pieces[1];
            pieces.swap(0, 1);
            assert_eq!(hash(&pieces.concat()) == sound, equal, "chunks of {size}");
        }
        assert_ne!(hash(&bytes[..4095]), sound);
        // Zeros have no content, only length.
        let lengths: Vec<u64> = (0..64).map(|n| hash(&vec![0; n])).collect();
        let mut distinct = lengths.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), lengths.len());
    }

    #[test]
    fn the_value_is_the_same_for_ever() {
        // Two versions of the program have to agree, so these two values are part of the protocol.
        assert_eq!(hash(&[]), 7_024_952_148_187_979_304);
        assert_eq!(hash(&(0..=255).collect::<Vec<u8>>()), 17_278_426_090_406_680_788);
    }
}
