// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What every simulated world is made of: time, the network, users, the adversary, the search for the
//! smallest plan that fails. `world/` and `rails/` add what their nodes are.

pub(crate) mod adversary;
pub(crate) mod book;
pub(crate) mod channel;
pub mod fail;
pub mod fault_rates;
mod injected_fault;
pub(crate) mod memory;
pub(crate) mod network;
pub mod plan;
pub(crate) mod queue;
pub mod shrink;
pub(crate) mod tally;
pub(crate) mod user;

pub use fail::Failure;
pub use plan::{FaultPlan, PlanError};
pub use shrink::Shrunk;
