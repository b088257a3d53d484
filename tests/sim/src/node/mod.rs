// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A node: the driver, the upper layer, and the glue between them. The same in every program; what
//! differs is the channel, the tracer, and who drives the engines.

mod arena;
mod delivery;
mod glue;
mod inline;
mod kept;
mod loans;
mod registers;
mod stats;
mod trace;
mod words;

pub use arena::Arena;
pub use delivery::{DeliveryOracle, Tracking, Undelivered};
pub use glue::{Node, NodePorts, Parts};
pub use kept::Keeping;
pub use registers::Registers;
pub use stats::{Outcomes, Stats};
pub use trace::{tag_of, History, Traced};
pub use words::{blocker_words, few, kind, status_words, tag_words, upper_words, words};
