// SPDX-License-Identifier: MIT OR GPL-2.0-only
#![doc = include_str!("../README.md")]
#![cfg(loom)]
#![allow(clippy::unwrap_used)]

mod explore;
mod watched;
mod world;

pub use explore::{explore, model, spin_until, Bound};
pub use watched::Watched;
pub use world::{count, World};
