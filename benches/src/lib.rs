// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the benchmarks share: options, interleaved rounds, placement probes, medians and ratios.
//!
//! Absolute times are not stable on a shared machine. Every figure is therefore a ratio between two
//! programs run in turn in one process, in the same placement of the two processors, and the median
//! over rounds.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

pub mod bare;
pub mod clock;
pub mod copy;
pub mod floor;
pub mod least;
pub mod observed;
mod options;
pub mod pair;
pub mod peer_down;
pub mod place;
pub mod probe;
pub mod scale;
pub mod shared;
mod stats;
pub mod wire;

pub use options::Options;
pub use stats::{Column, Table};

#[path = "../../lnd-core/tests/counts/mock.rs"]
pub mod mock;
