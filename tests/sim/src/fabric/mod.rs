// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The fabric in user space: [`lnd_soft`] over a file or over memory of this process alone.
//!
//! What is added here needs an operating system: mapping, and the proof of death. A node *joins*
//! under its number, gets a new incarnation, and is *alive* until it leaves or its lock on the file
//! is gone, which the kernel grants only when the last thread of the process has ended. Nodes that
//! hold no such lock, in virtual machines, are declared dead by the program that watches over them.

mod channel;
mod file;
mod join;
mod map;
mod tap;

pub use channel::{Inbox, Received, ShmChannel};
pub use file::free_bytes;
pub use join::{JoinError, Membership};
pub use lnd_soft::{
    nid_of, node_of, Bus, DeclareError, Lease, MemoryWindow, NodeFlags, NodeNumbers, NodeState,
    Oracle, Shape, ShapeError, Violation,
};
pub use map::{Mapping, OpenError};
pub use tap::{Passing, SharedTap, Tap};

use std::ops::Deref;

/// A fabric in a mapping.
#[derive(Debug)]
pub struct Fabric<'m> {
    mapping: &'m Mapping,
    soft: lnd_soft::SoftFabric<'m>,
}

impl<'m> Fabric<'m> {
    /// Makes a fabric of `shape` in a fresh mapping (all zero).
    ///
    /// # Errors
    /// The shape does not fit the mapping.
    pub fn format(mapping: &'m Mapping, shape: Shape) -> Result<Self, OpenError> {
        Ok(Self { mapping, soft: lnd_soft::SoftFabric::format(mapping.region(), shape)? })
    }

    /// Attaches to a fabric that is formatted.
    ///
    /// # Errors
    /// What is wrong with the region.
    pub fn attach(mapping: &'m Mapping) -> Result<Self, OpenError> {
        Ok(Self { mapping, soft: lnd_soft::SoftFabric::attach(mapping.region())? })
    }

    /// The mapping.
    pub const fn mapping(&self) -> &'m Mapping {
        self.mapping
    }
}

impl<'m> Deref for Fabric<'m> {
    type Target = lnd_soft::SoftFabric<'m>;

    fn deref(&self) -> &Self::Target {
        &self.soft
    }
}
