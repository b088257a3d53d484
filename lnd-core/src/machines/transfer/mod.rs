// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This folder holds one transfer: its 32-bit word of open debts, the one function that changes the
//! word, and the meaning of its end.

mod status;
mod step;
mod word;

pub use status::{Delivery, HealthClass, Policy, Status, CAUSES, PLACES};
pub(crate) use step::step_here;
pub use step::{step, Effect, Event, Step};
pub use word::{Cause, Debts, Phase, Place, Word};
