// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the bare-metal images have in common: two nodes in one static memory, what they do to each
//! other, and the ledger of it.
//!
//! - [`memory`]: static memory that is taken once, payload windows, stack painting;
//! - [`channel`]: the short-message channel between the two nodes: mailboxes in memory;
//! - [`engines`]: the hardware in software, for boards without;
//! - [`job`]: what the nodes send each other;
//! - [`node`]: what a host puts around a driver;
//! - [`script`]: the work that the image does, and what must be true of it;
//! - [`log`]: the trace, kept as bytes;
//! - [`print`]: numbers as text.
//!
//! Nothing here panics, allocates or waits; an image's board supplies time, sleep and text.
#![no_std]

pub mod channel;
pub mod engines;
pub mod job;
pub mod log;
pub mod memory;
pub mod node;
pub mod print;
pub mod script;
