// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Sets of nodes to ring.

use crate::shape::MAX_NODES;

/// A set of nodes of one fabric: bit `n` is node `n`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct NodeSet(u64);

const _: () = assert!(MAX_NODES == u64::BITS);

impl NodeSet {
    /// The empty set.
    pub const EMPTY: Self = Self(0);

    /// All of a fabric of `nodes` nodes, except `me`.
    pub fn others(nodes: u32, me: u32) -> Self {
        (0..nodes.min(MAX_NODES)).filter(|&node| node != me).fold(Self::EMPTY, Self::with)
    }

    /// The set with `node`. A number without a node is left out.
    #[must_use]
    pub fn with(self, node: u32) -> Self {
        Self(self.0 | 1_u64.checked_shl(node).unwrap_or(0))
    }

    /// Whether `node` is in the set.
    pub fn contains(self, node: u32) -> bool {
        self.0 & 1_u64.checked_shl(node).unwrap_or(0) != 0
    }

    /// Whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The bits.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Empties the set and returns its former content.
    #[must_use]
    pub fn take(&mut self) -> Self {
        core::mem::take(self)
    }
}
