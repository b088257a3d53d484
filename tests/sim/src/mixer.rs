// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The hash over what has happened: equal runs have equal hashes.

/// A running hash, the same on every machine.
#[derive(Clone, Copy, Debug)]
pub struct Mixer(u64);

impl Default for Mixer {
    fn default() -> Self {
        Self(0x6c6e_6473_696d_0001)
    }
}

impl Mixer {
    /// Takes a number in; order matters.
    pub fn add(&mut self, number: u64) {
        let mixed = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 29);
    }

    /// Takes bytes in, and their number.
    pub fn add_bytes(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks();
        words.iter().for_each(|word| self.add(u64::from_be_bytes(*word)));
        let length = bytes.len() as u64;
        self.add(rest.iter().fold(length, |sum, &byte| sum << 8 | u64::from(byte)));
    }

    /// The hash so far.
    pub const fn value(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(bytes: &[u8]) -> u64 {
        let mut hash = Mixer::default();
        hash.add_bytes(bytes);
        hash.value()
    }

    #[test]
    fn every_byte_and_their_number_count() {
        let bytes: Vec<u8> = (1..=20).collect();
        for length in 0..bytes.len() {
            assert_ne!(of(&bytes[..length]), of(&bytes[..=length]));
            assert_ne!(of(&[0; 20][..length]), of(&[0; 20][..=length]));
            let mut other = bytes.clone();
            other[length] ^= 0x80;
            assert_ne!(of(&bytes), of(&other), "byte {length}");
        }
    }
}
