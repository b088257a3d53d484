// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A checksum for files and messages: XXH3 with 64 bits and seed zero, made from a stream of
//! pieces. It guards against accidents, not against an attacker.

use std::fmt;
use std::hash::Hasher;

use twox_hash::XxHash3_64;

/// A checksum under way. How the bytes are cut into pieces makes no difference.
#[derive(Clone, Default)]
pub struct Hash(Box<XxHash3_64>);

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hash({:016x})", self.finish())
    }
}

impl Hash {
    /// The checksum of nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    /// The checksum of all bytes so far.
    pub fn finish(&self) -> u64 {
        self.0.finish()
    }
}

/// The checksum of `bytes`.
pub fn hash(bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lnd_sim::rng::Rng;

    fn noise(seed: u64, length: usize) -> Vec<u8> {
        let mut random = Rng::new(seed);
        (0..length).map(|_| random.next() as u8).collect()
    }

    #[test]
    fn pieces_make_no_difference() {
        // Longer than what is hashed as one block.
        let bytes = noise(1, 2500);
        let whole = hash(&bytes);
        for first in (0..=2500).step_by(50) {
            for second in (first..=2500).step_by(49) {
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
        for length in [1, 3, 4, 8, 9, 16, 17, 128, 129, 240, 241, 300, 1100] {
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
        // Two versions of the program have to agree. The first value is that of XXH3's own tests.
        assert_eq!(hash(&[]), 0x2d06_8005_38d3_94c2);
        assert_eq!(hash(&(0..=255).collect::<Vec<u8>>()), 10_666_956_326_096_416_113);
    }
}
