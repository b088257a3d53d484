// SPDX-License-Identifier: MIT OR GPL-2.0-only
#![doc = include_str!("../README.md")]
#![no_std]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

#[cfg(any(test, loom))]
extern crate std;

pub mod arena;
pub mod claims;
pub mod completed;
pub mod config;
pub mod counters;
pub mod deadlines;
#[doc(hidden)]
pub mod defect;
pub mod driver;
pub mod fragment;
pub mod id;
pub mod lanes;
pub mod link;
pub mod message;
pub mod peer;
pub mod ports;
pub mod shared;
pub mod sync;
pub mod time;
pub mod trace;
pub mod transfer;
pub mod wake;
