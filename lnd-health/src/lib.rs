// SPDX-License-Identifier: MIT OR GPL-2.0-only
#![doc = include_str!("../README.md")]
#![no_std]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod effect;
mod value;

pub use effect::{effect, Effect, Profile, Resend};
pub use value::{HealthValue, MAX_HEALTH};
