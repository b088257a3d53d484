// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The owned half of a transfer slot: what only the shard's thread touches.

use crate::id::Tag;
use crate::message::{Refusal, MAX_HEADER};
use crate::transfer::Debts;

/// No slot, no list.
pub(super) const NONE: u32 = u32::MAX;
pub(super) const NO_LIST: u16 = u16::MAX;

/// What a transfer is for; it decides what is handed out and who is told of its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Role {
    /// Our message, whole in a short message.
    Immediate,
    /// Our PUT: staged, to be pulled by the peer.
    PutSource,
    /// Our GET: waits for the peer's PULL_READY.
    GetSink,
    /// Our GET, after PULL_READY: we pull.
    GetPull,
    /// A peer's request that waits for the upper layer's verdict.
    Ticket,
    /// A peer's inline message, copied into the upper layer's buffers.
    InlineSink,
    /// A peer's PUT: we pull.
    PutSink,
    /// A peer's GET: staged, to be pulled by the peer.
    GetSource,
    /// The refusal of a peer's PUT.
    NakPut,
    /// The refusal of a peer's GET.
    NakGet,
}

impl Role {
    /// What is owed once the transfer is handed out. `MSG` alone ends with its completion (S1-1); with
    /// `PEER` the answer must come within the deadline (S1-2). `signalled`: both engines report the end of
    /// a pull to its source (S3-4); otherwise the peer's word is awaited too.
    pub(super) const fn debts(self, signalled: bool) -> Debts {
        let source = if signalled {
            Debts(Debts::HW.0 | Debts::MSG.0)
        } else {
            Debts(Debts::HW.0 | Debts::MSG.0 | Debts::PEER.0)
        };
        match self {
            Self::Immediate | Self::NakPut | Self::NakGet => Debts::MSG,
            Self::PutSource | Self::GetSource => source,
            Self::GetSink => Debts(Debts::MSG.0 | Debts::PEER.0),
            Self::GetPull | Self::PutSink => Debts::HW,
            Self::Ticket | Self::InlineSink => Debts(0),
        }
    }

    /// Whether a descriptor is staged for the peer to pull.
    pub(super) const fn stages(self) -> bool {
        matches!(self, Self::PutSource | Self::GetSource)
    }

    /// Whether we pull.
    pub(super) const fn pulls(self) -> bool {
        matches!(self, Self::GetPull | Self::PutSink)
    }

    /// Whether it begins with a request of ours: needs a peer that is `Good`, and a credit.
    pub(super) const fn requests(self) -> bool {
        matches!(self, Self::Immediate | Self::PutSource | Self::GetSink)
    }

    /// Whether it refuses a request of the peer.
    pub(super) const fn refuses(self) -> bool {
        matches!(self, Self::NakPut | Self::NakGet)
    }

    /// Whether the upper layer is told of the end.
    pub(super) const fn reported(self) -> bool {
        !matches!(self, Self::Ticket | Self::NakPut | Self::NakGet)
    }
}

bitflags::bitflags! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub(super) struct Marks: u8 {
        /// In one of its peer's queues or in the answers' queue.
        const QUEUED = 1 << 0;
        /// The engine was asked for the descriptor.
        const RECALLED = 1 << 1;
        /// The timer is the drain bound's, no longer the message's.
        const DRAINING = 1 << 2;
        /// Came in as a peer's request.
        const PASSIVE = 1 << 3;
        /// The peer must be told that we have pulled.
        const OWES_DONE = 1 << 4;
        /// Settled by hand.
        const BY_HAND = 1 << 5;
        /// Has one of its peer's pulls.
        const PULLING = 1 << 7;
        /// Its timer ran out while we did not run, and has been armed once more (R41).
        const POSTPONED = 1 << 6;
    }
}

/// One slot's details.
#[derive(Clone, Copy, Debug, Hash)]
pub(super) struct Details {
    pub user: u64,
    /// The one fragment, unless `list` says otherwise.
    pub address: u64,
    /// The peer's transfer.
    pub remote: Tag,
    /// A ticket: which of the peer's sessions its credit is of, by [`Peer::opened`]. A request of ours:
    /// the session it was sent in.
    ///
    /// [`Peer::opened`]: super::peer::Peer::opened
    pub session: u32,
    /// A request of ours: its number in the session.
    pub sequence: u32,
    pub fragment: u32,
    /// Bytes to move.
    pub length: u32,
    pub previous: u32,
    pub next: u32,
    pub list: u16,
    pub fragments: u16,
    pub role: Role,
    pub marks: Marks,
    pub why: Refusal,
    /// The link asked for, or [`ANY_LINK`](Self::ANY_LINK).
    pub wish: u8,
    pub header_length: u8,
    pub header: [u8; MAX_HEADER],
}

impl Details {
    /// No particular link was asked for.
    pub const ANY_LINK: u8 = u8::MAX;

    pub const UNUSED: Self = Self {
        user: 0,
        address: 0,
        remote: Tag { index: 0, generation: 0 },
        session: 0,
        sequence: 0,
        fragment: 0,
        length: 0,
        previous: NONE,
        next: NONE,
        list: NO_LIST,
        fragments: 0,
        role: Role::Ticket,
        marks: Marks::empty(),
        why: Refusal::Failed,
        wish: Self::ANY_LINK,
        header_length: 0,
        header: [0; MAX_HEADER],
    };

    /// The upper layer's header.
    pub fn header(&self) -> &[u8] {
        self.header.get(..self.header_length as usize).unwrap_or(&[])
    }

    /// Keeps a header of at most [`MAX_HEADER`] bytes.
    pub fn keep_header(&mut self, header: &[u8]) {
        for (to, from) in self.header.iter_mut().zip(header) {
            *to = *from;
        }
        self.header_length = header.len().min(MAX_HEADER) as u8;
    }
}

/// A queue of slots, linked through their details.
#[derive(Clone, Copy, Debug, Hash)]
pub(super) struct Queue {
    pub first: u32,
    pub last: u32,
}

impl Queue {
    pub const EMPTY: Self = Self { first: NONE, last: NONE };

    pub const fn is_empty(&self) -> bool {
        self.first == NONE
    }

    pub fn push(&mut self, details: &mut [Details], slot: u32) {
        let last = self.last;
        if let Some(entry) = details.get_mut(slot as usize) {
            entry.previous = last;
            entry.next = NONE;
            entry.marks.insert(Marks::QUEUED);
        }
        match details.get_mut(last as usize) {
            Some(before) => before.next = slot,
            None => self.first = slot,
        }
        self.last = slot;
    }

    pub fn remove(&mut self, details: &mut [Details], slot: u32) {
        let Some(entry) = details.get_mut(slot as usize) else { return };
        entry.marks.remove(Marks::QUEUED);
        let (previous, next) = (entry.previous, entry.next);
        match details.get_mut(previous as usize) {
            Some(before) => before.next = next,
            None => self.first = next,
        }
        match details.get_mut(next as usize) {
            Some(after) => after.previous = previous,
            None => self.last = previous,
        }
    }
}
