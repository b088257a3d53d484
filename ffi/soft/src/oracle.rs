// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The memory oracle (R76): each page of payload memory has an owner. An engine that accesses a
//! page which was not lent to it breaks INV-2.
//!
//! A page's word counts read leases in its low half and write leases in its high half. The upper
//! layer's glue lends before it submits and takes back when the transfer is reported. Every copy
//! checks both its ends before and after it. A node takes part if it announces
//! [`NodeFlags::LEASES`] when it joins.

use lnd_core::fragment::Fragment;
use lnd_core::sync::{AtomicU32, Ordering};

use crate::fabric::SoftFabric;
use crate::nodes::NodeFlags;
use crate::shape::PAGE;

/// The access for which memory is lent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lease {
    /// An engine may read it: the source of a transfer.
    Read,
    /// An engine may write it: the sink of a transfer.
    Write,
}

/// An access that was not allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The node that owns the memory.
    pub node: u32,
    /// The page's first address.
    pub address: u64,
    /// The engine's access.
    pub access: Lease,
}

impl core::fmt::Display for Violation {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { node, address, access } = self;
        let verb = match access {
            Lease::Read => "read",
            Lease::Write => "wrote",
        };
        write!(f, "an engine {verb} page {address:#x} of node {node}, which was not lent for it")
    }
}

impl core::error::Error for Violation {}

/// The oracle over all windows of a fabric.
#[derive(Clone, Copy, Debug)]
pub struct Oracle<'m> {
    fabric: SoftFabric<'m>,
}

/// The pages of some bytes; none for no bytes, or for bytes that wrap.
fn pages(address: u64, length: u32) -> core::ops::Range<u64> {
    match address.checked_add(u64::from(length)) {
        Some(end) if length > 0 => address / PAGE..end.div_ceil(PAGE),
        _ => 0..0,
    }
}

impl<'m> SoftFabric<'m> {
    /// The memory oracle.
    pub const fn oracle(&self) -> Oracle<'m> {
        Oracle { fabric: *self }
    }
}

impl Oracle<'_> {
    /// Whether a node reports its leases to the oracle.
    pub fn watches(&self, node: u32) -> bool {
        self.fabric.standing(node).flags().contains(NodeFlags::LEASES)
    }

    fn change(&self, node: u32, fragments: &[Fragment], lease: Lease, back: bool) {
        let one = if lease == Lease::Read { 1_u32 } else { 1 << 16 };
        let step = if back { one.wrapping_neg() } else { one };
        for fragment in fragments {
            // Nothing can be lent beyond the window.
            for word in self.fabric.leases(node, pages(fragment.address, fragment.length)) {
                // AcqRel: the engine's check sees the owner's accesses from before the lease, and
                // the owner sees the engine's accesses after taking back.
                word.fetch_add(step, Ordering::AcqRel);
            }
        }
    }

    /// Lends memory to the engines.
    pub fn lend(&self, node: u32, fragments: &[Fragment], lease: Lease) {
        self.change(node, fragments, lease, false);
    }

    /// Takes lent memory back.
    pub fn take_back(&self, node: u32, fragments: &[Fragment], lease: Lease) {
        self.change(node, fragments, lease, true);
    }

    /// Clears all leases of a node, for its next incarnation.
    pub fn forget(&self, node: u32) {
        for word in self.all_of(node) {
            // Relaxed: the node is joining and lends nothing yet.
            word.store(0, Ordering::Relaxed);
        }
    }

    /// Checks that an engine may access `length` bytes.
    ///
    /// # Errors
    /// The first page that it may not access.
    pub fn check(
        &self,
        node: u32,
        address: u64,
        length: u32,
        access: Lease,
    ) -> Result<(), Violation> {
        let mask = if access == Lease::Read { 0xffff } else { 0xffff << 16 };
        let pages = pages(address, length);
        let words = self.fabric.leases(node, pages.clone());
        // Acquire: partner is the AcqRel of `change`.
        let is_lent = |word: &AtomicU32| word.load(Ordering::Acquire) & mask != 0;
        let lent = words.iter().take_while(|word| is_lent(word)).count() as u64;
        // A page that the window does not have is lent to no engine.
        match pages.start.saturating_add(lent) {
            page if page < pages.end => Err(Violation { node, address: page * PAGE, access }),
            _ => Ok(()),
        }
    }

    /// Leases of a node that have not been taken back, in pages.
    pub fn outstanding(&self, node: u32) -> usize {
        self.all_of(node).iter().filter(|word| word.load(Ordering::Relaxed) != 0).count()
    }

    fn all_of(&self, node: u32) -> &[AtomicU32] {
        self.fabric.leases(node, 0..self.fabric.shape().pages())
    }
}
