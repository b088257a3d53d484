// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The target `abi` on many random inputs, on any toolchain. In those that begin with an odd byte
//! the channel loses nothing, and what is promised must be seen.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

const INPUTS: u64 = if cfg!(miri) { 2 } else { 3000 };

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
        let length = 100 + random() as usize % 900;
        let mut bytes: Vec<u8> = (0..length).map(|_| (random() >> 32) as u8).collect();
        bytes[0] |= 1;
        println!("input {input}");
        lnd_fuzz::abi(&bytes);
    }
}
