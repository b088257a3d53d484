// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! An engine that completes before, after or never; it obeys only when it is asked to stop.

use std::collections::{BTreeMap, VecDeque};

use lnd_core::id::Tag;
use lnd_core::ports::{Completion, Returned};

/// A descriptor that the engine has.
#[derive(Clone, Copy, Debug, Hash)]
pub struct Posted {
    pub tag: Tag,
    /// What is to be pulled, or pushed into; `None`: staged or exposed for the other node.
    pub source: Option<Tag>,
    /// It pushes, or is exposed.
    pub pushes: bool,
    pub length: u32,
    /// Which message's payload lies here, or is expected here.
    pub content: u32,
    pub rung: bool,
    pub invalidated: bool,
    /// Staged or exposed, and the peer has moved its bytes: it is no longer untouched.
    pub pulled: bool,
    /// How it ended; the completion lies in the ring.
    pub done: Option<Returned>,
}

/// Whether the engine runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Run {
    #[default]
    Running,
    Stopping,
    Stopped,
    /// Stopped, and the proof has been given out.
    Asserted,
}

/// One node's engine.
#[derive(Clone, Debug, Default, Hash)]
pub struct Device {
    pub posted: BTreeMap<u32, Posted>,
    pub ring: VecDeque<Returning>,
    pub run: Run,
    /// The one connection, which is stopped by itself, or with the engine.
    pub connection: Run,
}

/// A completion in the ring.
pub type Returning = (Tag, Returned);

impl Device {
    /// Whether the engine may still move data.
    pub fn moves(&self) -> bool {
        [self.run, self.connection].iter().all(|run| matches!(run, Run::Running | Run::Stopping))
    }

    /// Whether nothing was asked to stop.
    pub fn runs(&self) -> bool {
        self.run == Run::Running && self.connection == Run::Running
    }

    /// Whether the engine may still touch the memory of a transfer (INV-2).
    pub fn holds(&self, tag: Tag) -> bool {
        let out = |p: &Posted| p.tag == tag && p.done.is_none();
        self.moves() && self.posted.get(&tag.index).is_some_and(out)
    }

    /// A descriptor comes back.
    pub fn give_back(&mut self, slot: u32, returned: Returned) {
        let Some(posted) = self.posted.get_mut(&slot) else { return };
        posted.done = Some(returned);
        let tag = posted.tag;
        self.ring.push_back((tag, returned));
    }

    /// The interrupt's half.
    pub fn pop(&mut self) -> Option<Completion> {
        let (tag, returned) = self.ring.pop_front()?;
        if self.posted.get(&tag.index).is_some_and(|p| p.tag == tag && p.done.is_some()) {
            self.posted.remove(&tag.index);
        }
        Some(Completion { tag, returned })
    }
}
