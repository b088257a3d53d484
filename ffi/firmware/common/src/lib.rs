// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The common part of the bare-metal images: two nodes in one static memory, the messages between
//! them, and their ledger.
//!
//!
//! - [`memory`]: static memory that is taken once, payload windows, stack painting;
//! - [`channel`]: the short-message channel between the two nodes: mailboxes in memory;
//! - [`engines`]: the hardware in software, for boards without;
//! - [`job`]: the messages of the nodes;
//! - [`node`]: a driver and its host;
//! - [`script`]: the work of the image, and its checks;
//! - [`log`]: the trace, kept as bytes;
//! - [`print`]: numbers as text.
//!
//! Nothing here panics, allocates or waits. An image's board supplies time, sleep and text.
#![no_std]

pub mod channel;
pub mod engines;
pub mod job;
pub mod log;
pub mod memory;
pub mod node;
pub mod print;
pub mod script;
