// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The simulator: hosts in virtual time, one thread, one seed.
//!
//! ```text
//!   world/: Links       rails/: Rails         layers: what a host consists of, its oracles, plan
//!         └──────┬────────────┘
//!                │ Layer, Running, FaultPlan
//!   world.rs   clock and queue: one event after another, the rules checked after each
//!   turns.rs   engines, interrupts, ends of messages, users   device.rs   one engine
//!   faults.rs  hosts start, go down, restart; links fail      phases.rs   requests, rest, report
//!   network.rs mailboxes between hosts, and what the adversary does to frames (injected_fault.rs)
//!   plan.rs    what all plans have in common                  shrink.rs   the smallest that fails
//! ```
//!
//! The same seed and the same plan give the same run.

pub mod adversary;
pub mod book;
mod boxes;
pub mod channel;
mod coverage;
pub mod device;
pub mod event;
pub mod fail;
pub mod fault_rates;
pub mod faults;
mod injected_fault;
pub mod layer;
pub mod mailbox;
pub mod memory;
pub mod network;
pub mod phases;
pub mod plan;
pub mod queue;
pub mod run_log;
pub mod shrink;
pub mod tally;
mod turns;
pub mod user;
pub mod waiting;
#[allow(clippy::module_inception)]
pub mod world;

pub use coverage::{Coverage, Reached};
pub use fail::Failure;
pub use phases::Facts;
pub use plan::{FaultPlan, PlanError};
pub use run_log::{Entry, Recorded, RunLog};
pub use shrink::Shrunk;
pub use world::World;
