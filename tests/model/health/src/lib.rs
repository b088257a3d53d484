// SPDX-License-Identifier: MIT OR GPL-2.0-only
#![doc = include_str!("../README.md")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod actions;
mod model;
mod world;

pub use actions::{Step, Untold};
pub use model::{explore, find, Rails, Seen};
pub use world::{Act, Defect, InjectedFault, Setup};
