// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The target `pair` on many random inputs: enough to find each defect that is seeded for it, on
//! any toolchain.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

/// What decision 0018 leaves: the last of four lives ends in good order, behind a request of the
/// first.
#[test]
fn s0_18_what_is_left_behind_a_crash_is_known() {
    lnd_fuzz::pair(include_bytes!("../corpus/pair/left-behind-a-crash.bin"));
}

/// A sender whose short deadlines pass while the receiver's pulls wait: the receiver's own count
/// bounds what it takes of one peer.
#[test]
fn inv_12_no_peer_has_more_than_its_share() {
    lnd_fuzz::pair(include_bytes!("../corpus/pair/peer-without-a-cap.bin"));
}

const INPUTS: u64 = if cfg!(miri) { 2 } else { 4000 };

#[test]
fn what_is_promised_is_seen() {
    let mut state = 1_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for input in 0..INPUTS {
        let length = 100 + random() as usize % 1400;
        let bytes: Vec<u8> = (0..length).map(|_| (random() >> 32) as u8).collect();
        println!("input {input}");
        lnd_fuzz::pair(&bytes);
    }
}
