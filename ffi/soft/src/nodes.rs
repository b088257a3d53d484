// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The node table: which nodes are alive, and their incarnations.
//!
//! An entry's first word holds everything that changes at once: `turn 16 | flags 8 | state 8`. Each
//! join is a new turn, so that a death proven for one incarnation never applies to the next. Only a
//! joining member changes the word of an absent or dead node. Only the member, or a caller with the
//! proof of its death, changes the word of any other node.

use lnd_core::id::Incarnation;
use lnd_core::sync::{fence, Ordering};

use crate::fabric::SoftFabric;
use crate::shape::MAX_NODES;

/// Byte offsets of the words of an entry.
pub(crate) const STATE: usize = 0;
pub(crate) const INCARNATION_LOW: usize = 4;
pub(crate) const INCARNATION_HIGH: usize = 8;

/// The state of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum NodeState {
    /// Never joined, or left in good order.
    Absent = 0,
    /// Preparing its memory.
    Joining = 1,
    /// At work.
    Alive = 2,
    /// Proven dead: none of its threads accesses memory any more.
    Dead = 3,
}

bitflags::bitflags! {
    impl NodeFlags: u8 {
        /// The node reports to the memory oracle what it lends to engines. Without this flag
        /// accesses to its window are not checked.
        const LEASES = 1 << 0;
        /// A lock on the fabric's file is held while the node is alive: a free lock proves its
        /// death. Without this flag its death must be declared by other means.
        const LOCKED = 1 << 1;
        const _ = !0;
    }
}

/// The flags that a node announces when it joins. Unknown bits are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct NodeFlags(pub u8);

/// An entry's first word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Standing(pub u32);

impl Standing {
    pub const fn state(self) -> NodeState {
        match self.0 & 0xff {
            1 => NodeState::Joining,
            2 => NodeState::Alive,
            3 => NodeState::Dead,
            _ => NodeState::Absent,
        }
    }

    pub const fn flags(self) -> NodeFlags {
        NodeFlags((self.0 >> 8) as u8)
    }

    /// The same turn in another state.
    pub const fn into(self, state: NodeState) -> Self {
        Self((self.0 & !0xff) | state as u32)
    }

    /// The number of the node's join, modulo 2^16.
    pub const fn turn(self) -> u32 {
        self.0 >> 16
    }

    /// The count of this turn's incarnation, if `last` was that of the one before: larger, never
    /// zero, and with the turn in its low half, so that an incarnation shows its turn.
    pub const fn next_count(self, last: u32) -> u32 {
        let same = (last & !0xffff) | self.turn();
        let next = if same > last { same } else { same.wrapping_add(1 << 16) };
        if next == 0 {
            1 << 16
        } else {
            next
        }
    }

    /// The next turn, joining.
    pub const fn next(self, flags: NodeFlags) -> Self {
        let turn = self.turn().wrapping_add(1);
        Self((turn << 16) | ((flags.0 as u32) << 8) | NodeState::Joining as u32)
    }
}

/// The node table's entry of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its state.
    pub state: NodeState,
    /// The flags of its last join.
    pub flags: NodeFlags,
    /// Its current or last incarnation; `None`: it never had one, or it is changing now.
    pub incarnation: Option<Incarnation>,
}

/// Why a node was not declared dead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeclareError {
    /// The fabric has no such node.
    NoSuchNode,
    /// No member has this node.
    NotThere,
    /// The node has another incarnation than the named one.
    OtherIncarnation,
}

impl core::fmt::Display for DeclareError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::NoSuchNode => "the fabric has no such node",
            Self::NotThere => "the node is not in use",
            Self::OtherIncarnation => "the node has another incarnation",
        })
    }
}

impl core::error::Error for DeclareError {}

impl SoftFabric<'_> {
    pub(crate) fn standing(&self, node: u32) -> Standing {
        // Acquire: partner is the AcqRel in `change`.
        Standing(self.entry(node, STATE).map_or(0, |word| word.load(Ordering::Acquire)))
    }

    /// Changes a node's standing. Returns whether it was still `from`.
    pub(crate) fn change(&self, node: u32, from: Standing, to: Standing) -> bool {
        // AcqRel: partner is the Acquire in `standing`: a reader that sees a node alive sees its
        // memory prepared; a reader that sees it dead sees all its writes.
        self.entry(node, STATE).is_some_and(|word| {
            word.compare_exchange(from.0, to.0, Ordering::AcqRel, Ordering::Acquire).is_ok()
        })
    }

    /// The state of a node. Context: any.
    pub fn state_of(&self, node: u32) -> NodeState {
        self.standing(node).state()
    }

    /// The incarnation of a node's last join.
    pub fn incarnation_of(&self, node: u32) -> Option<Incarnation> {
        let half = |word| self.entry(node, word).map_or(0, |w| w.load(Ordering::Relaxed));
        let (low, high) = (half(INCARNATION_LOW), half(INCARNATION_HIGH));
        Incarnation::from_raw(u64::from(high) << 32 | u64::from(low))
    }

    /// A node's entry, all of one incarnation. Context: any.
    pub fn node(&self, node: u32) -> Node {
        let standing = self.standing(node);
        let incarnation = self.incarnation_in(node, standing);
        Node { state: standing.state(), flags: standing.flags(), incarnation }
    }

    /// The incarnation of a standing; `None` if there is none, or it has changed.
    fn incarnation_in(&self, node: u32, standing: Standing) -> Option<Incarnation> {
        let incarnation = self.incarnation_of(node);
        // Acquire: partner is the Release fence of `begin_incarnation`. If we have read a word of a
        // newer incarnation, we see the changed standing.
        fence(Ordering::Acquire);
        let again = Standing(self.entry(node, STATE)?.load(Ordering::Relaxed));
        let settled = standing.state() != NodeState::Joining;
        incarnation.filter(|_| settled && again == standing)
    }

    /// Declares a node dead. With an incarnation, only if the node has that one: a delayed agent
    /// does not affect the next incarnation.
    ///
    /// The caller has the proof that none of the node's engines accesses memory any more: its
    /// process or its virtual machine has ended. Ring all other nodes afterwards. Context: any.
    ///
    /// # Errors
    /// [`DeclareError`]; nothing was changed. A node that is already dead is no error.
    pub fn declare_dead(
        &self,
        node: u32,
        incarnation: Option<Incarnation>,
    ) -> Result<(), DeclareError> {
        if node >= self.shape().nodes {
            return Err(DeclareError::NoSuchNode);
        }
        let standing = self.standing(node);
        if standing.state() == NodeState::Absent {
            return Err(DeclareError::NotThere);
        }
        // The words of an incarnation follow the turn: a node that has just begun to join still
        // shows its former incarnation, whose death must not affect this turn.
        let is_of_turn =
            |incarnation: Incarnation| incarnation.raw() as u32 & 0xffff == standing.turn();
        if incarnation.is_some_and(|incarnation| {
            !is_of_turn(incarnation) || self.incarnation_of(node) != Some(incarnation)
        }) {
            return Err(DeclareError::OtherIncarnation);
        }
        let dead = standing.into(NodeState::Dead);
        if standing == dead || self.change(node, standing, dead) {
            Ok(())
        } else {
            // Its standing changed at this moment; the proof was of another one.
            Err(DeclareError::OtherIncarnation)
        }
    }

    /// Declares a node dead if its standing is `seen`. Returns whether it was.
    pub(crate) fn mark_dead(&self, node: u32, seen: Standing) -> bool {
        self.change(node, seen, seen.into(NodeState::Dead))
    }

    /// Declares a node dead whose membership a lock protected, if `is_free` finds that lock free.
    /// `is_free` is called only if the node is not yet dead and has such a lock. Returns whether
    /// the node is dead.
    pub fn probe_death(&self, node: u32, is_free: impl FnOnce() -> bool) -> bool {
        let standing = self.standing(node);
        match standing.state() {
            NodeState::Dead => true,
            NodeState::Absent => false,
            NodeState::Joining | NodeState::Alive => {
                standing.flags().contains(NodeFlags::LOCKED)
                    && is_free()
                    && self.mark_dead(node, standing)
            }
        }
    }
}

/// Reports nodes that have changed since the last call. Context: one owner at a time.
#[derive(Clone, Debug)]
pub struct Watch {
    seen: [u32; MAX_NODES as usize],
}

impl Default for Watch {
    fn default() -> Self {
        Self::new()
    }
}

impl Watch {
    /// A watch that has reported no node: the first calls report every node that is present.
    pub const fn new() -> Self {
        Self { seen: [0; MAX_NODES as usize] }
    }

    /// The next node whose standing has changed since its last report, with its entry. Intermediate
    /// changes are not reported. One check of each node at most.
    pub fn next(&mut self, fabric: &SoftFabric<'_>) -> Option<(u32, Node)> {
        let nodes = 0..fabric.shape().nodes;
        for (node, seen) in nodes.zip(&mut self.seen) {
            let standing = fabric.standing(node);
            if standing.0 != *seen {
                *seen = standing.0;
                let incarnation = fabric.incarnation_in(node, standing);
                let notified =
                    Node { state: standing.state(), flags: standing.flags(), incarnation };
                return Some((node, notified));
            }
        }
        None
    }
}
