// SPDX-License-Identifier: MIT OR GPL-2.0-only
#![doc = include_str!("../README.md")]
#![no_std]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

#[cfg(any(test, loom))]
extern crate std;

pub mod dispatch;
pub mod mailbox;
pub mod wire;
