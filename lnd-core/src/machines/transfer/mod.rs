// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! One transfer: a 32-bit word that records who still owes us a completion, the one function that
//! may change it, and what its end means.

mod status;
mod step;
mod word;

pub use status::{Delivery, HealthClass, Policy, Status, CAUSES, PLACES};
pub use step::{step, Effect, Event, Step};
pub use word::{Cause, Debts, Phase, Place, Word};
