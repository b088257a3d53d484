// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The fabric: one region of memory that connects nodes (threads, processes, virtual machines).
//!
//! ```text
//! header | node table | page leases (the memory oracle) | link memories | mailboxes | windows
//! ```
//!
//! Everything is found from the header's numbers; a region with another magic number, version or
//! check is refused. A node *joins* under its number, gets a new life, and is *alive* until it leaves
//! or there is proof of its death: its lock on the region is gone, which the kernel grants only when
//! the last thread of the process has ended.

mod bus;
mod channel;
mod join;
mod layout;
mod map;
mod oracle;

pub use bus::{Bus, NodeNumbers, Window};
pub use channel::{Inbox, Received, ShmChannel};
pub use join::{JoinError, Membership, NodeState};
pub use layout::{nid_of, node_of, Shape, ShapeError};
pub use map::{Mapping, OpenError};
pub use oracle::{Lease, Oracle, Violation};

use std::ptr::NonNull;

use lnd_core::id::LinkId;
use lnd_core::sync::{AtomicU32, Ordering};
use lnd_dma::memory::{LayoutError, LinkMemory};

use layout::Offsets;

/// A fabric in a mapping.
#[derive(Debug)]
pub struct Fabric<'m> {
    mapping: &'m Mapping,
    shape: Shape,
    offsets: Offsets,
}

const MAGIC: [u32; 2] = [u32::from_le_bytes(*b"LNDF"), u32::from_le_bytes(*b"abrc")];
const VERSION: u32 = 1;

impl<'m> Fabric<'m> {
    /// Makes a fabric of `shape` in a fresh mapping (all zero).
    ///
    /// # Errors
    /// The shape does not fit the mapping.
    pub fn format(mapping: &'m Mapping, shape: Shape) -> Result<Self, OpenError> {
        shape.check().map_err(OpenError::Shape)?;
        let offsets = shape.offsets();
        if mapping.len() < offsets.end {
            return Err(OpenError::TooSmall { have: mapping.len(), need: offsets.end });
        }
        let this = Self { mapping, shape, offsets };
        for (at, value) in shape.words().into_iter().enumerate() {
            this.word(16 + at * 4).store(value, Ordering::Relaxed);
        }
        this.word(12).store(shape.digest(), Ordering::Relaxed);
        this.word(8).store(VERSION, Ordering::Relaxed);
        this.word(4).store(MAGIC[1], Ordering::Relaxed);
        // Release: partner is the Acquire in `attach`: who sees the magic sees the numbers.
        this.word(0).store(MAGIC[0], Ordering::Release);
        Ok(this)
    }

    /// Attaches to a fabric that somebody has formatted.
    ///
    /// # Errors
    /// What is wrong with the region.
    pub fn attach(mapping: &'m Mapping) -> Result<Self, OpenError> {
        let shape = mapping.probe()?;
        let offsets = shape.offsets();
        if mapping.len() < offsets.end {
            return Err(OpenError::TooSmall { have: mapping.len(), need: offsets.end });
        }
        Ok(Self { mapping, shape, offsets })
    }

    /// The numbers everything follows from.
    pub const fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The mapping.
    pub const fn mapping(&self) -> &'m Mapping {
        self.mapping
    }

    fn word(&self, offset: usize) -> &'m AtomicU32 {
        self.mapping.word(offset)
    }

    /// Where `len` bytes at `offset` lie; both come from the layout.
    fn place(&self, offset: usize, len: usize) -> NonNull<u8> {
        self.mapping.place(offset, len)
    }

    fn link_place(&self, node: u32, link: LinkId) -> (NonNull<u8>, usize) {
        let bytes = self.shape.link_bytes();
        let number = node as usize * self.shape.links as usize + link.index();
        (self.place(self.offsets.links + number * bytes, bytes), bytes)
    }

    /// Attaches to a node's link memory, if the node has ever joined.
    ///
    /// # Errors
    /// It has not, or the memory is damaged.
    pub fn link_memory(&self, node: u32, link: LinkId) -> Result<LinkMemory<'m>, LayoutError> {
        if node >= self.shape.nodes || link.index() >= self.shape.links as usize {
            return Err(LayoutError::Geometry);
        }
        let (base, len) = self.link_place(node, link);
        // SAFETY: the place is within the mapping, which lives for 'm, and is used for this link's
        // memory only (the layout gives it to nothing else).
        let memory = unsafe { LinkMemory::attach(base, len)? };
        if memory.geometry() == self.shape.geometry() {
            Ok(memory)
        } else {
            Err(LayoutError::Geometry)
        }
    }

    /// The memory oracle.
    pub fn oracle(&self) -> Oracle<'m> {
        Oracle::new(self.mapping, self.offsets.leases, self.shape.pages(), self.shape.nodes)
    }

    /// Bytes of each node's payload window.
    pub const fn window_bytes(&self) -> u64 {
        self.shape.window
    }
}
