// SPDX-License-Identifier: MIT OR GPL-2.0-only
#![doc = include_str!("../README.md")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod action;
mod device;
mod explore;
mod fabric;
pub mod facts;
mod model;
mod node;
mod ports;
mod possible;
mod setup;
mod world;

pub use action::{Action, Decision};
pub use explore::explore;
pub use facts::Facts;
pub use model::{Pair, Seen};
pub use setup::{Faults, Order, Setup};
