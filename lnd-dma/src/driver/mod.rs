// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The driver of a link's engine. It uses the registers and the memory layout, and does not depend
//! on how they are executed.

mod connecting;
mod connections;
pub(crate) mod identity;
mod irq;
mod ring;
mod thread;

pub use connecting::ConnectingEngine;
pub use connections::Connections;
pub use irq::CompletionQueue;
pub use thread::{MmioEngine, Nodes};
