// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! How a node joins a fabric and leaves it.
//!
//! 1. [`SoftFabric::claim`]: takes the node's entry, by one exchange, if it is absent or dead. What
//!    the former incarnation held of other nodes is released, and its links stop.
//! 2. [`Joining::finish`]: formats link memories and own mailboxes, once no peer's engine reads the
//!    former incarnation's memory. A damaged mailbox keeps no node out (see [`SoftFabric::claim`]).
//! 3. [`Membership::announce`]: from now on the node counts as alive.

use core::fmt;

use lnd_core::id::Incarnation;
use lnd_core::ports::Features;
use lnd_core::sync::{fence, Ordering};
use lnd_dma::descriptor::State;
use lnd_dma::memory::{LayoutError, LinkMemory};
use lnd_dma::regs::{ControlBits, LinkBits, Register, RegisterAccess};
use lnd_dma::soft::let_go_of;

use crate::fabric::SoftFabric;
use crate::nodes::{NodeFlags, NodeState, Standing, INCARNATION_HIGH, INCARNATION_LOW};
use crate::shape::LANES;

/// How a node joins.
#[derive(Clone, Copy, Debug)]
pub struct Join {
    /// A number that differs for each incarnation: its upper half.
    pub random: u32,
    /// The capabilities of its engines.
    pub features: Features,
    /// First value of free-running indices; any value.
    pub start: u32,
    /// The flags that it announces.
    pub flags: NodeFlags,
}

impl Join {
    /// With engines that have all capabilities of a software engine, and no flags.
    pub const fn new(random: u32) -> Self {
        let moves = Features::REMOTE_COMPLETION.union(Features::KNOWS_UNTOUCHED);
        let reads = Features::ZERO_READ.union(Features::ILLEGAL_READ);
        let reads = reads.union(Features::PUBLISHED_READ);
        let features = moves.union(Features::CONNECTIONS).union(reads);
        Self { random, features, start: 0, flags: NodeFlags(0) }
    }
}

/// Why a node cannot join.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinError {
    /// The fabric has no such node.
    NoSuchNode,
    /// Another member has this node, or its death was not declared.
    Taken,
    /// A peer's engine still uses this node's former memory.
    Busy,
    /// This node was declared dead in the meantime.
    Lost,
    /// The link memory does not fit.
    Layout(LayoutError),
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchNode => f.write_str("the fabric has no such node"),
            Self::Taken => f.write_str("the node is in use"),
            Self::Busy => f.write_str("a peer still reads this node's former memory"),
            Self::Lost => f.write_str("this node has been declared dead"),
            Self::Layout(error) => write!(f, "link memory: {error:?}"),
        }
    }
}

impl core::error::Error for JoinError {}

/// How often a word of an incarnation is rewritten when others write it too. Each other writer has
/// claimed the node and lost it again since.
const TRIES: u32 = 8;

impl<'m> SoftFabric<'m> {
    /// Begins to join as `node`. Takes time linear in all descriptors of the fabric. Context:
    /// thread.
    ///
    /// # Errors
    /// [`JoinError::NoSuchNode`], [`JoinError::Taken`], [`JoinError::Lost`].
    pub fn claim(&self, node: u32, join: &Join) -> Result<Joining<'m>, JoinError> {
        if node >= self.shape().nodes {
            return Err(JoinError::NoSuchNode);
        }
        let before = self.standing(node);
        let ours = before.next(join.flags);
        let free = matches!(before.state(), NodeState::Absent | NodeState::Dead);
        if !free || !self.change(node, before, ours) {
            return Err(JoinError::Taken);
        }
        let incarnation = self.begin_incarnation(node, ours, join.random).ok_or(JoinError::Lost)?;
        // This incarnation does not use what the former one held of other nodes.
        for other in (0..self.shape().nodes).filter(|&other| other != node) {
            self.memories(other).for_each(|memory| let_go_of(&memory, node));
        }
        // A peer's engine that sees the stop releases the memory between two chunks.
        for memory in self.memories(node) {
            let control = ControlBits(memory.read(Register::Control));
            memory.write(Register::Control, control.stopping().bits());
        }
        Ok(Joining { fabric: *self, node, incarnation, ours, join: *join })
    }

    /// Writes a new incarnation: a count that carries the turn, and the random word. `None`: the
    /// node was declared dead in the meantime, and another member may have it.
    fn begin_incarnation(&self, node: u32, ours: Standing, random: u32) -> Option<Incarnation> {
        // Release: partner is the Acquire fence in `incarnation_in`; a reader of a word of the new
        // incarnation sees that the node joins.
        fence(Ordering::Release);
        let count = self.begin_word(node, ours, INCARNATION_LOW, |count| ours.next_count(count))?;
        self.begin_word(node, ours, INCARNATION_HIGH, |_| random)?;
        Incarnation::from_raw(u64::from(random) << 32 | u64::from(count))
    }

    /// Writes a word of a new incarnation. A claim that was overtaken during a pause must not
    /// overwrite the incarnation of its successor. So the node is checked after the word was read,
    /// and the exchange fails if the word has changed since.
    fn begin_word(
        &self,
        node: u32,
        ours: Standing,
        word: usize,
        next: impl Fn(u32) -> u32,
    ) -> Option<u32> {
        let word = self.entry(node, word)?;
        for _ in 0..TRIES {
            // Relaxed: `announce` publishes the incarnation.
            let before = word.load(Ordering::Relaxed);
            let after = next(before);
            if self.standing(node) != ours {
                return None;
            }
            // Acquire and Release only order the check of the node before the exchange.
            let done =
                word.compare_exchange(before, after, Ordering::AcqRel, Ordering::Relaxed).is_ok();
            if done {
                return Some(after);
            }
        }
        None
    }

    /// The link memories of a node that has joined before.
    pub(crate) fn memories(&self, node: u32) -> impl Iterator<Item = LinkMemory<'m>> + '_ {
        self.links().filter_map(move |link| self.link_memory(node, link).ok())
    }
}

/// A node that is joining. After a drop the node stays in this state until it is declared dead.
#[derive(Debug)]
#[must_use = "a node that is joining has to finish or to abandon"]
pub struct Joining<'m> {
    fabric: SoftFabric<'m>,
    node: u32,
    incarnation: Incarnation,
    ours: Standing,
    join: Join,
}

impl<'m> Joining<'m> {
    /// Whether an alive peer's engine still reads the former incarnation's memory. Takes time
    /// linear in the node's descriptors.
    pub fn is_held(&self) -> bool {
        let fabric = &self.fabric;
        fabric.memories(self.node).any(|memory| {
            (0..fabric.shape().descriptors).filter_map(|i| memory.descriptor(i)).any(|d| {
                let own = d.own();
                own.is(State::Busy) && fabric.state_of(own.puller()) == NodeState::Alive
            })
        })
    }

    /// Prepares the node's memory, if no engine reads it any more.
    ///
    /// # Errors
    /// [`JoinError::Busy`]: try again. Any other error is final. The error returns the node, to
    /// retry or to [`abandon`](Self::abandon).
    // The error is large because it returns the node.
    #[allow(clippy::result_large_err)]
    pub fn finish(self) -> Result<Membership<'m>, (JoinError, Self)> {
        match self.prepare() {
            Ok(()) => {
                let Self { fabric, node, incarnation, ours, .. } = self;
                Ok(Membership { fabric, node, incarnation, ours })
            }
            Err(error) => Err((error, self)),
        }
    }

    /// Whether the node is still this member's: it was not declared dead.
    pub fn is_ours(&self) -> bool {
        self.fabric.standing(self.node) == self.ours
    }

    fn prepare(&self) -> Result<(), JoinError> {
        if !self.is_ours() {
            return Err(JoinError::Lost);
        }
        if self.is_held() {
            return Err(JoinError::Busy);
        }
        for link in self.fabric.links() {
            let place = self.fabric.link_place(self.node, link);
            let (base, len) = place.ok_or(JoinError::NoSuchNode)?;
            let (geometry, features) = (self.fabric.shape().geometry(), self.join.features.bits());
            // SAFETY: within the region, by the layout used for this link alone. The node's entry
            // is ours, so it has no running engine, and no other node's engine works on these
            // descriptors, as just checked; new claims find a stopped link.
            let memory = unsafe {
                LinkMemory::format(base, len, geometry, self.node, features, self.join.start)
            };
            let memory = memory.map_err(JoinError::Layout)?;
            memory.write(Register::Link, LinkBits::UP.bits());
        }
        self.fabric.oracle().forget(self.node);
        for from in (0..self.fabric.shape().nodes).filter(|&from| from != self.node) {
            for (link, lane) in
                self.fabric.links().flat_map(|link| (0..LANES).map(move |lane| (link, lane)))
            {
                let _ = self.fabric.open_inlet(from, self.node, link, lane);
            }
        }
        Ok(())
    }

    /// Gives up: the node becomes absent again.
    pub fn abandon(self) {
        self.fabric.change(self.node, self.ours, self.ours.into(NodeState::Absent));
    }
}

/// A node's membership in the fabric, from joining to leaving. A drop without leaving is a crash:
/// its death must be declared.
#[derive(Debug)]
pub struct Membership<'m> {
    fabric: SoftFabric<'m>,
    node: u32,
    incarnation: Incarnation,
    ours: Standing,
}

impl<'m> Membership<'m> {
    /// The node's number.
    pub const fn node(&self) -> u32 {
        self.node
    }

    /// This incarnation.
    pub const fn incarnation(&self) -> Incarnation {
        self.incarnation
    }

    /// The fabric.
    pub const fn fabric(&self) -> &SoftFabric<'m> {
        &self.fabric
    }

    /// Makes the node alive; outbox and inbox are attached. Ring all other nodes afterwards.
    /// Returns whether the node is still this member's.
    pub fn announce(&self) -> bool {
        let alive = self.ours.into(NodeState::Alive);
        self.fabric.change(self.node, self.ours, alive) || self.fabric.standing(self.node) == alive
    }

    /// Whether the node is still this member's: it was not declared dead.
    pub fn is_ours(&self) -> bool {
        let now = self.fabric.standing(self.node);
        now == self.ours || now == self.ours.into(NodeState::Alive)
    }

    /// Leaves in good order: the engines have stopped and the peers were notified. Ring all other
    /// nodes afterwards. A node that has been declared dead stays dead.
    pub fn leave(self) {
        let absent = self.ours.into(NodeState::Absent);
        let alive = self.ours.into(NodeState::Alive);
        // A concurrent declaration of death has no proof, and nothing is left to prove.
        let _ = self.fabric.change(self.node, alive, absent)
            || self.fabric.change(self.node, self.ours, absent);
    }
}
