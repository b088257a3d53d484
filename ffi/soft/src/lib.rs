// SPDX-License-Identifier: MIT OR GPL-2.0-only
#![doc = include_str!("../README.md")]
#![no_std]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

#[cfg(test)]
extern crate std;

pub mod abi;
pub mod bus;
pub mod fabric;
pub mod inbox;
mod inlet;
pub mod join;
pub mod nodes;
pub mod oracle;
pub mod outbox;
pub mod region;
pub mod registers;
pub mod set;
pub mod shape;
pub mod window;

pub use bus::{Bus, NodeNumbers};
pub use fabric::{AttachError, SoftFabric};
pub use inbox::{Inbox, InboxFrame};
pub use join::{Join, JoinError, Joining, Membership};
pub use nodes::{DeclareError, Node, NodeFlags, NodeState, Watch};
pub use oracle::{Lease, Oracle, Violation};
pub use outbox::{Outbox, OutboxError};
pub use region::SharedRegion;
pub use set::NodeSet;
pub use shape::{nid_of, node_of, Offsets, Shape, ShapeError};
pub use window::MemoryWindow;
