// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Which node comes next, and where a router keeps what it passes on.

use std::collections::BTreeMap;

use lnd_core::fragment::{total, Fragment, FragmentError};
use lnd_core::id::Nid;

use super::memory::slice;

/// What to do with a destination that no route names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unlisted {
    /// It is a neighbour.
    #[default]
    Direct,
    /// It lies behind this router.
    Via(Nid),
    /// It cannot be reached.
    Unreachable,
}

/// Next hop by destination.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Routes {
    hops: BTreeMap<Nid, Nid>,
    unlisted: Unlisted,
}

impl Routes {
    /// No route named.
    pub fn new(unlisted: Unlisted) -> Self {
        Self { hops: BTreeMap::new(), unlisted }
    }

    /// Reaches `destination` through `next_hop`; the same NID twice names a neighbour.
    #[must_use]
    pub fn with(mut self, destination: Nid, next_hop: Nid) -> Self {
        self.hops.insert(destination, next_hop);
        self
    }

    /// The node to hand a message for `destination` to.
    pub fn next_hop(&self, destination: Nid) -> Option<Nid> {
        match (self.hops.get(&destination), self.unlisted) {
            (Some(&hop), _) | (None, Unlisted::Via(hop)) => Some(hop),
            (None, Unlisted::Direct) => Some(destination),
            (None, Unlisted::Unreachable) => None,
        }
    }
}

/// What makes a node a router: room for messages of others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RouterConfig {
    /// Memory for payload, one message a buffer.
    pub buffers: Vec<Vec<Fragment>>,
    /// Messages without payload that may be on their way at a time.
    pub tiny: usize,
    /// A message that has passed this many routers is dropped: it runs in circles.
    pub max_hops: u8,
}

/// The place one message takes in a router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    Tiny,
    Buffer(usize),
}

#[derive(Debug)]
struct Buffer {
    memory: Vec<Fragment>,
    size: u32,
    taken: bool,
}

/// A router's pool: fixed, and refused when empty (INV-14).
#[derive(Debug)]
pub(super) struct Pool {
    buffers: Vec<Buffer>,
    tiny: usize,
    tiny_taken: usize,
    pub max_hops: u8,
}

impl Pool {
    pub fn new(config: RouterConfig) -> Result<Self, FragmentError> {
        let mut buffers = Vec::new();
        for memory in config.buffers {
            buffers.push(Buffer { size: total(&memory)?, memory, taken: false });
        }
        Ok(Self { buffers, tiny: config.tiny, tiny_taken: 0, max_hops: config.max_hops })
    }

    /// Room for a message with `length` bytes of payload: the smallest buffer that will do.
    pub fn take(&mut self, length: u32) -> Option<Room> {
        if length == 0 {
            if self.tiny_taken == self.tiny {
                return None;
            }
            self.tiny_taken += 1;
            return Some(Room::Tiny);
        }
        let free = self.buffers.iter_mut().enumerate().filter(|(_, b)| !b.taken);
        let (index, buffer) = free.filter(|(_, b)| b.size >= length).min_by_key(|(_, b)| b.size)?;
        buffer.taken = true;
        Some(Room::Buffer(index))
    }

    pub fn give_back(&mut self, room: Room) {
        match room {
            Room::Tiny => self.tiny_taken = self.tiny_taken.saturating_sub(1),
            Room::Buffer(index) => {
                if let Some(buffer) = self.buffers.get_mut(index) {
                    buffer.taken = false;
                }
            }
        }
    }

    pub fn memory(&self, room: Room, length: u32) -> Vec<Fragment> {
        match room {
            Room::Tiny => Vec::new(),
            Room::Buffer(index) => {
                self.buffers.get(index).map_or(Vec::new(), |b| slice(&b.memory, 0, length))
            }
        }
    }

    pub fn taken(&self) -> u64 {
        (self.tiny_taken + self.buffers.iter().filter(|b| b.taken).count()) as u64
    }
}
