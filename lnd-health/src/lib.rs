// SPDX-License-Identifier: MIT OR GPL-2.0-only
#![doc = include_str!("../README.md")]
#![no_std]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

#[cfg(test)]
extern crate std;

mod allowance;
pub mod attempts;
mod backoff;
mod charge;
mod classify;
pub mod config;
pub mod dedup;
mod effect;
mod endpoint;
mod ids;
mod jitter;
pub mod journal;
mod ni;
pub mod node;
mod probe_end;
mod probe_kind;
pub mod prober;
mod rank;
pub mod reconnect;
mod recovery;
pub mod select;
mod standing;
mod terms;
pub mod tracker;
mod value;

pub use backoff::Backoff;
pub use charge::{refusal, refusal_of_errno, Charge, Refusal};
pub use classify::{classify, Change, Consequence, Situation};
pub use config::{HealthConfig, HealthConfigError};
pub use dedup::{Number, Stamp, WindowCheck};
pub use effect::{effect, HealthEffect, Profile, Resend};
pub use ids::{NiId, Object, PeerId, PeerNiId, RouteId, MAX_LOCAL, MAX_NETS, MAX_PEER_NIS};
pub use ni::Ni;
pub use node::Health;
pub use probe_kind::{ProbeKind, ProbeKinds, Trial, TrialStep, WhyOff};
pub use recovery::Recovery;
pub use standing::{Aliveness, NiStatus, Thresholds};
pub use value::{HealthValue, MAX_HEALTH};
