// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The driver of a link's engine: knows the registers and the memory layout, and nothing of how
//! they are executed.

mod connecting;
mod connections;
pub(crate) mod identity;
mod irq;
mod thread;

pub use connecting::ConnectingEngine;
pub use connections::Connections;
pub use irq::CompletionQueue;
pub use thread::{MmioEngine, Nodes};
