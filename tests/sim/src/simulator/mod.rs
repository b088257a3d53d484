// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What every simulated world is made of: time, the network, users, the adversary, the search for the
//! smallest plan that fails. `world/` and `rails/` add what their nodes are.

pub mod adversary;
pub mod book;
pub mod channel;
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
pub mod plan;
pub mod queue;
pub mod shrink;
pub mod tally;
mod turns;
pub mod user;
#[allow(clippy::module_inception)]
pub mod world;

pub use fail::Failure;
pub use plan::{FaultPlan, PlanError};
pub use shrink::Shrunk;
pub use world::World;
