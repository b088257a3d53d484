// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A fast 32-bit checksum against accidents. It is no protection against an adversary.
//!
//! It is defined on the frame's bytes, so it does not depend on a node's byte order: the frame is a
//! row of 32-bit little-endian words, the last one filled up with zero bytes, the checksum field
//! itself taken as zero. Word `i` is mixed into lane `i mod 4`. Mixing and folding are one-to-one
//! in each word and each lane, so **a change within one aligned word is always found** (but for the
//! one pair of sums that [`NONE`] makes equal); any other change is missed once in 2^32.
//!
//! Four lanes because a multiplication takes three to four cycles and may begin in each; 32 bits
//! because the smallest cores have no wider multiplication.

use super::layout::{at, short::SUM_LEN};

/// Whether the frames of a channel carry a checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checksum {
    /// The sender writes it; the receiver demands it.
    On,
    /// The sender writes none; the receiver still checks one that is there.
    Off,
}

impl Checksum {
    /// Bytes that the choice adds to each frame with a short head.
    pub(super) const fn short_len(self) -> usize {
        match self {
            Self::On => SUM_LEN,
            Self::Off => 0,
        }
    }
}

/// Stands in the field of a frame without a checksum.
pub(super) const NONE: u32 = 0;
/// What a sum of [`NONE`] is changed to.
const INSTEAD_OF_NONE: u32 = 1;

/// Begin of the lanes: fractions of the square roots of 2, 3, 5 and 7.
const LANES: [u32; 4] = [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a];
/// Odd, so that multiplying by it is one-to-one: fraction of the golden ratio.
const MIX: u32 = 0x9e37_79b9;
/// Odd likewise: a fraction of pi.
const SPREAD: u32 = 0x85a3_08d3;
/// How far each lane is turned before the lanes are added.
const TURNS: [u32; 4] = [1, 7, 12, 18];

/// Bytes that are mixed in one round.
const ROUND: usize = 16;

/// The checksum of a whole frame, never zero. What is shorter than the prefix is no frame, and its
/// sum says nothing.
#[must_use]
#[inline]
pub fn checksum(frame: &[u8]) -> u32 {
    let mut lanes = LANES;
    let (first, rest) = frame.split_first_chunk::<ROUND>().unwrap_or((&[0; ROUND], &[]));
    // The fourth word is the field of the sum itself.
    for (lane, bytes) in lanes.iter_mut().zip(first.chunks_exact(4).take(at::CHECKSUM / 4)) {
        mix(lane, word(bytes));
    }
    mix(&mut lanes[at::CHECKSUM / 4], 0);
    over(lanes, rest)
}

/// The checksum of bytes that do not contain it, likewise never zero.
#[must_use]
#[inline]
pub fn checksum_of_all(bytes: &[u8]) -> u32 {
    over(LANES, bytes)
}

/// Goes on with whole rounds and what is left of one.
#[inline]
fn over(mut lanes: [u32; 4], rest: &[u8]) -> u32 {
    let mut rounds = rest.chunks_exact(ROUND);
    for round in &mut rounds {
        for (lane, bytes) in lanes.iter_mut().zip(round.chunks_exact(4)) {
            mix(lane, word(bytes));
        }
    }
    for (lane, bytes) in lanes.iter_mut().zip(rounds.remainder().chunks(4)) {
        mix(lane, word(bytes));
    }
    fold(&lanes)
}

#[inline]
fn mix(lane: &mut u32, word: u32) {
    // One multiplication spreads the word, which needs no waiting for the lane; the turn and the
    // other spread what the first left in the upper bits. With one alone, a flip of an upper bit
    // and one of a lower bit of the lane's next word would cancel out.
    *lane = lane.wrapping_add(word.wrapping_mul(SPREAD)).rotate_left(13).wrapping_mul(MIX);
}

#[inline]
fn fold(lanes: &[u32; 4]) -> u32 {
    let turned = |lane: usize| lanes[lane].rotate_left(TURNS[lane]);
    let mut sum = turned(0).wrapping_add(turned(1)).wrapping_add(turned(2)).wrapping_add(turned(3));
    sum ^= sum >> 15;
    sum = sum.wrapping_mul(SPREAD);
    sum ^= sum >> 13;
    sum = sum.wrapping_mul(MIX);
    sum ^= sum >> 16;
    if sum == NONE {
        INSTEAD_OF_NONE
    } else {
        sum
    }
}

/// The word of up to four bytes, filled up with zeros.
#[inline]
fn word(bytes: &[u8]) -> u32 {
    match bytes.first_chunk() {
        Some(whole) => u32::from_le_bytes(*whole),
        None => bytes.iter().rev().fold(0, |word, byte| (word << 8) | u32::from(*byte)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sums_of_the_book() {
        // From `docs/wire-format.md`, where they were computed by other means.
        assert_eq!(checksum(&[0; 80]), 0xdb9c_ba51);
        let counting: std::vec::Vec<u8> = (0..104).collect();
        assert_eq!(checksum(&counting), 0x1f3f_4ea1);
        let sevens: std::vec::Vec<u8> = (0..189).map(|i: u32| (i * 7) as u8).collect();
        assert_eq!(checksum(&sevens), 0x801f_ec85);
        // And without a field of the sum among the bytes.
        assert_eq!(checksum_of_all(&counting), 0x7cfa_5287);
        assert_eq!(checksum_of_all(&sevens), 0x8e1e_9202);
    }

    #[test]
    fn no_sum_is_the_number_that_means_none() {
        assert_eq!(fold(&[0; 4]), INSTEAD_OF_NONE);
    }

    #[test]
    fn the_field_of_the_sum_does_not_count() {
        let mut frame = [7; 100];
        let sum = checksum(&frame);
        frame[at::CHECKSUM..at::CHECKSUM + 4].fill(0xff);
        assert_eq!(checksum(&frame), sum);
    }

    #[test]
    fn one_and_two_flipped_bits_are_found() {
        // Lengths that end in a round, in a word and in a byte.
        for length in [80, 44, 31] {
            let mut frame = std::vec::Vec::from_iter((0..length).map(|i| i as u8));
            let sum = checksum(&frame);
            let step = if cfg!(miri) { 61 } else { 1 };
            let bits = (0..length * 8).step_by(step).filter(|bit| !(96..128).contains(bit));
            for one in bits.clone() {
                frame[one / 8] ^= 1 << (one % 8);
                assert_ne!(checksum(&frame), sum, "bit {one}");
                for two in bits.clone().filter(|&two| two > one) {
                    frame[two / 8] ^= 1 << (two % 8);
                    assert_ne!(checksum(&frame), sum, "bits {one} and {two}");
                    frame[two / 8] ^= 1 << (two % 8);
                }
                frame[one / 8] ^= 1 << (one % 8);
            }
        }
    }

    #[test]
    fn a_change_within_one_word_is_always_found() {
        // Because the word can be computed back from the sum, if all else is known.
        let unmix = |factor: u32| {
            // Newton's iteration for the inverse of an odd number; each round doubles the bits.
            (0..5).fold(factor, |x, _| x.wrapping_mul(2u32.wrapping_sub(factor.wrapping_mul(x))))
        };
        for word in [0, 1, 0x1234_5678, u32::MAX] {
            let mut lanes = LANES;
            mix(&mut lanes[2], word);
            let sum = fold(&lanes);

            let mut back = sum ^ (sum >> 16);
            back = back.wrapping_mul(unmix(MIX));
            back ^= (back >> 13) ^ (back >> 26);
            back = back.wrapping_mul(unmix(SPREAD));
            back ^= (back >> 15) ^ (back >> 30);
            for lane in [0, 1, 3] {
                back = back.wrapping_sub(LANES[lane].rotate_left(TURNS[lane]));
            }
            back = back.rotate_right(TURNS[2]).wrapping_mul(unmix(MIX)).rotate_right(13);
            back = back.wrapping_sub(LANES[2]).wrapping_mul(unmix(SPREAD));
            assert_eq!(back, word);
        }
    }
}
