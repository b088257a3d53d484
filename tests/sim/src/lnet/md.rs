// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Match entries (ME), each with one memory descriptor (MD), and how a request finds one.

use std::collections::BTreeMap;

use lnd_core::fragment::{total, Fragment, FragmentError};
use lnd_core::id::{Nid, Tag};

use super::events::DropReason;
use super::header::Target;
use super::memory::slice;
use super::table::Table;

/// Names a match entry. Stale once the entry is unlinked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MeHandle(Tag);

/// Memory that peers may reach, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Md {
    /// Where, in order.
    pub memory: Vec<Fragment>,
    /// PUTs match.
    pub put: bool,
    /// GETs match.
    pub get: bool,
    /// A message longer than the room is cut; without it such a message is dropped.
    pub truncate: bool,
    /// The sender chooses the offset; without it each message goes behind the one before.
    pub manage_remote: bool,
    /// Number of messages to match; `None`: any number.
    pub threshold: Option<u32>,
    /// Longest message. If this side manages the offset, the MD is exhausted when less is left.
    pub max_size: Option<u32>,
    /// Unlink when exhausted; without it an exhausted MD stays and matches nothing.
    pub unlink: bool,
    /// The owner's word, given back with every event.
    pub user: u64,
}

/// What a request must look like to reach an [`Md`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Match {
    /// The list this entry belongs to; within a list the entry attached first is tried first.
    pub portal: u32,
    /// Compared with the request's match bits…
    pub bits: u64,
    /// …except where a bit is set here.
    pub ignore: u64,
    /// The only node that matches; `None`: any.
    pub from: Option<Nid>,
}

/// What a request wants of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Put,
    Get,
}

/// A request that found its memory. Each holds a reference until [`Portals::release`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Matched {
    pub me: MeHandle,
    pub user: u64,
    /// Where in the MD.
    pub offset: u32,
    /// Bytes to move: the request's length, or less if cut.
    pub length: u32,
}

#[derive(Debug)]
struct Entry {
    criteria: Match,
    md: Md,
    /// Bytes of the MD.
    size: u32,
    /// Where the next message goes if this side manages the offset.
    local_offset: u32,
    /// Matched messages that have not ended: their memory is the driver's.
    references: u32,
    /// Matches no more; gone when the last reference is.
    unlinked: bool,
}

/// How one entry takes one request.
enum Attempt {
    Passes,
    TooLong,
    Takes { offset: u32, length: u32 },
}

impl Entry {
    fn exhausted(&self) -> bool {
        let full = |max: u32| max > self.size.saturating_sub(self.local_offset);
        self.md.threshold == Some(0) || self.md.max_size.is_some_and(full)
    }

    fn attempt(&self, operation: Operation, from: Nid, target: &Target, length: u32) -> Attempt {
        let allowed = match operation {
            Operation::Put => self.md.put,
            Operation::Get => self.md.get,
        };
        let differing = (self.criteria.bits ^ target.match_bits) & !self.criteria.ignore;
        let stranger = self.criteria.from.is_some_and(|only| only != from);
        if !allowed || differing != 0 || stranger || self.exhausted() {
            return Attempt::Passes;
        }
        let offset = if self.md.manage_remote { target.offset } else { self.local_offset };
        let left = self.size.saturating_sub(offset);
        let room = self.md.max_size.map_or(left, |max| max.min(left));
        if length > room && !self.md.truncate {
            return Attempt::TooLong;
        }
        Attempt::Takes { offset, length: length.min(room) }
    }
}

/// All match entries of a node.
#[derive(Debug)]
pub(super) struct Portals {
    entries: Table<Entry>,
    /// Entries that can still match, in the order they are tried.
    lists: BTreeMap<u32, Vec<MeHandle>>,
}

impl Portals {
    pub fn new(first_generation: u32) -> Self {
        Self { entries: Table::new(first_generation), lists: BTreeMap::new() }
    }

    pub fn attach(&mut self, criteria: Match, md: Md) -> Result<MeHandle, FragmentError> {
        let size = total(&md.memory)?;
        let portal = criteria.portal;
        let entry = Entry { criteria, md, size, local_offset: 0, references: 0, unlinked: false };
        let me = MeHandle(self.entries.insert(entry));
        self.lists.entry(portal).or_default().push(me);
        Ok(me)
    }

    /// Finds the first entry that takes the request, and takes a reference to it.
    pub fn find(
        &mut self,
        operation: Operation,
        from: Nid,
        target: &Target,
        length: u32,
    ) -> Result<Matched, DropReason> {
        let list = self.lists.get(&target.portal).map_or(&[][..], Vec::as_slice);
        for &me in list {
            let Some(entry) = self.entries.get_mut(me.0) else { continue };
            match entry.attempt(operation, from, target, length) {
                Attempt::Passes => {}
                // The first entry that the bits select decides, as in LNet.
                Attempt::TooLong => return Err(DropReason::TooLong),
                Attempt::Takes { offset, length } => {
                    if !entry.md.manage_remote {
                        entry.local_offset = offset + length;
                    }
                    entry.md.threshold = entry.md.threshold.map(|left| left - 1);
                    entry.references += 1;
                    let matched = Matched { me, user: entry.md.user, offset, length };
                    if entry.md.unlink && entry.exhausted() {
                        self.retire(me);
                    }
                    return Ok(matched);
                }
            }
        }
        Err(DropReason::NoMatch)
    }

    /// The memory of a matched request.
    pub fn memory(&self, matched: &Matched) -> Vec<Fragment> {
        let entry = self.entries.get(matched.me.0);
        entry.map_or(Vec::new(), |e| slice(&e.md.memory, matched.offset, matched.length))
    }

    /// Ends a matched request. Returns the owner's word if that was the end of the entry, too.
    pub fn release(&mut self, me: MeHandle) -> Option<u64> {
        let entry = self.entries.get_mut(me.0)?;
        entry.references = entry.references.saturating_sub(1);
        self.sweep(me)
    }

    /// Stops an entry from matching. `None`: stale handle. `Some(None)`: messages under way still
    /// use the memory. `Some(Some(user))`: the entry is gone.
    pub fn unlink(&mut self, me: MeHandle) -> Option<Option<u64>> {
        self.entries.get(me.0)?;
        self.retire(me);
        Some(self.sweep(me))
    }

    /// Every entry that is linked.
    pub fn linked(&self) -> Vec<MeHandle> {
        self.lists.values().flatten().copied().collect()
    }

    /// References held, over all entries.
    pub fn references(&self) -> u64 {
        self.entries.iter().map(|(_, entry)| u64::from(entry.references)).sum()
    }

    fn retire(&mut self, me: MeHandle) {
        if let Some(entry) = self.entries.get_mut(me.0) {
            entry.unlinked = true;
            if let Some(list) = self.lists.get_mut(&entry.criteria.portal) {
                list.retain(|other| *other != me);
            }
        }
    }

    fn sweep(&mut self, me: MeHandle) -> Option<u64> {
        self.entries.get(me.0).filter(|entry| entry.unlinked && entry.references == 0)?;
        self.entries.remove(me.0).map(|entry| entry.md.user)
    }
}
