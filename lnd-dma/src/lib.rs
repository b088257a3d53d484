// SPDX-License-Identifier: MIT OR GPL-2.0-only
#![doc = include_str!("../README.md")]
#![no_std]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

#[cfg(test)]
extern crate std;

pub mod bits;
pub mod completion;
mod cut;
pub mod descriptor;
pub mod driver;
pub mod memory;
pub mod read;
pub mod regs;
pub mod soft;
