// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The driver of a link's engine: knows the registers and the memory layout, and nothing of how
//! they are executed.

pub(crate) mod identity;
mod irq;
mod thread;

pub use irq::CompletionQueue;
pub use thread::{MmioEngine, Nodes};
