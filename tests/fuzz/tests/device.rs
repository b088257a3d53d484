// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The device target on many random inputs: enough to find each defect that is seeded for it, on
//! any toolchain.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

const INPUTS: u64 = if cfg!(miri) { 2 } else { 4000 };

#[test]
fn a_device_among_faults_and_scribbles() {
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
        lnd_fuzz::device(&bytes);
    }
}
