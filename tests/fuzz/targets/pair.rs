// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The target `pair` under libFuzzer.
#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| lnd_fuzz::pair(data));
