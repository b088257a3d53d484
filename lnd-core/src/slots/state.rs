// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file holds the owner's half of a slot, which only the shard's thread touches.

use super::pieces::Pieces;
use crate::base::fragment::Fragment;
use crate::base::id::{LinkId, Tag};
use crate::base::message::NakReason;
use crate::machines::transfer::Debts;

/// No slot.
pub(crate) const NONE: u32 = u32::MAX;

/// The purpose of a transfer. It decides what is posted and which side is notified of the end.
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
    /// A peer's request that waits for the upper layer's decision.
    RxRequest,
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
    /// A PUT_DONE or its failure that found no path at the end of the pull.
    PutDone,
    /// Our GET: exposed, for the peer to push into (S3-11).
    PushSink,
    /// A peer's GET: we push.
    PushSource,
    /// A GET_DONE that found no path at the end of the push.
    GetDone,
}

impl Role {
    /// What is owed once the transfer is posted. A transfer with `MSG` alone ends with its
    /// completion (S1-1). With `PEER` the answer must come within the deadline (S1-2). `signalled`:
    /// both engines report the end of a pull to its source (S3-4). Otherwise the peer's message is
    /// awaited too.
    pub(crate) const fn debts(self, signalled: bool) -> Debts {
        let source = if signalled {
            Debts(Debts::HW.0 | Debts::MSG.0)
        } else {
            Debts(Debts::HW.0 | Debts::MSG.0 | Debts::PEER.0)
        };
        match self {
            Self::Immediate | Self::NakPut | Self::NakGet | Self::PutDone | Self::GetDone => {
                Debts::MSG
            }
            Self::PutSource | Self::GetSource => source,
            // No engine reports the end of a push to its sink.
            Self::PushSink => Debts(Debts::HW.0 | Debts::MSG.0 | Debts::PEER.0),
            Self::GetSink => Debts(Debts::MSG.0 | Debts::PEER.0),
            Self::GetPull | Self::PutSink | Self::PushSource => Debts::HW,
            Self::RxRequest | Self::InlineSink => Debts(0),
        }
    }

    /// Whether memory is lent to the peer's engine: staged for it to pull, or exposed for it to
    /// push into.
    pub(crate) const fn stages(self) -> bool {
        matches!(self, Self::PutSource | Self::GetSource | Self::PushSink)
    }

    /// Whether this side's engine moves the payload: it pulls or pushes.
    pub(crate) const fn pulls(self) -> bool {
        matches!(self, Self::GetPull | Self::PutSink | Self::PushSource)
    }

    /// Whether it is a GET of ours.
    pub(crate) const fn gets(self) -> bool {
        matches!(self, Self::GetSink | Self::GetPull | Self::PushSink)
    }

    /// Whether this side has a descriptor for payload.
    #[cfg(not(feature = "compact"))]
    pub(crate) const fn moves_payload(self) -> bool {
        self.stages() || self.pulls()
    }

    /// Whether it begins with a request of ours, which needs a `Good` peer and a credit.
    pub(crate) const fn requests(self) -> bool {
        // These wait in the peer's queue; all others never need a credit (INV-11).
        matches!(self, Self::Immediate | Self::PutSource | Self::GetSink | Self::PushSink)
    }

    /// Whether it is a message alone that ends a transfer of the peer.
    pub(crate) const fn is_final(self) -> bool {
        matches!(self, Self::NakPut | Self::NakGet | Self::PutDone | Self::GetDone)
    }

    /// Whether the upper layer gets a report of the end.
    pub(crate) const fn reported(self) -> bool {
        !matches!(self, Self::RxRequest) && !self.is_final()
    }
}

/// The reason for which the decision on a silence was postponed: once for each reason, the longer
/// one last (R41).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum PutOff {
    Not,
    /// By a call, in which received frames are handled.
    Call,
    /// For a pause of this host of more than half of the silence's time.
    Pause,
}

bitflags::bitflags! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub(crate) struct Flags: u8 {
        /// In one of its peer's queues or in the answers' queue.
        const QUEUED = 1 << 0;
        /// The engine was asked to return the descriptor.
        const INVALIDATED = 1 << 1;
        /// The timer bounds the drain, no longer the message.
        const DRAINING = 1 << 2;
        /// Arrived as a peer's request.
        const PASSIVE = 1 << 3;
        /// The peer needs a PUT_DONE or GET_DONE. The sink of a push, and memory that is staged
        /// where its engine sees no pull: the peer has not sent its GET_DONE or PUT_DONE.
        const OWES_DONE = 1 << 4;
        /// The decision on its silence was postponed for a pause of this host (R41).
        const PAUSED = 1 << 5;
        /// Uses one of its peer's pulls.
        const PULLING = 1 << 7;
        /// The decision on its silence was postponed by one call (R41).
        const POSTPONED = 1 << 6;
        /// Its drain bound is that of others too. No decision on its silence is postponed then.
        const TOGETHER = Self::PAUSED.bits() | Self::POSTPONED.bits();
    }
}

/// The owner's half of one slot. It is packed: padding for the 64-bit words would make the slot
/// longer than a cache line.
#[derive(Clone, Copy, Debug, Hash)]
#[repr(C, packed(4))]
pub(crate) struct SlotState {
    pub user: u64,
    /// The address of the one fragment.
    pub address: u64,
    /// The peer's transfer.
    pub remote: Tag,
    /// An [`RxRequest`](crate::driver::RxRequest): the peer's session that its credit belongs to,
    /// by [`Peer::opened`]. A request of ours: the session it was sent in.
    ///
    /// [`Peer::opened`]: crate::peers::Peer::opened
    pub session: u32,
    /// A request of ours: its number in the session. A peer's: the next slot among the requests of
    /// that peer.
    pub sequence: u32,
    /// Bytes to move.
    pub length: u32,
    pub pieces: Pieces,
    pub role: Role,
    pub flags: Flags,
    /// A request of ours: the preferred link, or [`ANY_LINK`](Self::ANY_LINK). A refusal: its
    /// reason. Staged memory that is to come back: [`LET_GO`](Self::LET_GO), or the number of
    /// CANCELs sent.
    choice: u8,
    /// The length of the kept upper-layer header. The header of a request that does not wait is not
    /// kept. For a pull, the length of its key.
    pub header_length: u8,
}

static_assertions::const_assert_eq!(core::mem::size_of::<SlotState>(), 44);

/// What is known of a transfer when its slot is claimed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct New<'a> {
    pub role: Role,
    pub fragments: &'a [Fragment],
    /// Bytes to move.
    pub length: u32,
    pub user: u64,
    /// The link that the upper layer prefers.
    pub link: Option<LinkId>,
    /// A request of a peer: the peer's transfer, and the session that the credit belongs to.
    pub remote: Tag,
    pub session: u32,
    /// The slot is one of those of the peer's requests.
    pub passive: bool,
}

impl SlotState {
    /// The reason for which the decision on its silence was postponed.
    pub const fn put_off(&self) -> PutOff {
        if self.flags.contains(Flags::TOGETHER) {
            PutOff::Not
        } else if self.flags.contains(Flags::PAUSED) {
            PutOff::Pause
        } else if self.flags.contains(Flags::POSTPONED) {
            PutOff::Call
        } else {
            PutOff::Not
        }
    }

    /// Notes that the timer bounds the drain, and whether it is that of others too.
    #[inline]
    pub fn begin_drain(&mut self, together: bool) {
        let mark = if together { Flags::TOGETHER } else { Flags::empty() };
        self.flags = self.flags.difference(Flags::TOGETHER).union(Flags::DRAINING).union(mark);
    }

    /// Notes the reason for which the decision on its silence is postponed.
    pub fn set_put_off(&mut self, it: PutOff) {
        self.flags.set(Flags::POSTPONED, it == PutOff::Call);
        self.flags.set(Flags::PAUSED, it == PutOff::Pause);
    }

    /// No particular link is preferred.
    const ANY_LINK: u8 = u8::MAX;

    pub const UNUSED: Self = Self {
        user: 0,
        address: 0,
        remote: New::NO_TAG,
        session: 0,
        sequence: 0,
        length: 0,
        pieces: Pieces::NONE,
        role: Role::RxRequest,
        flags: Flags::empty(),
        choice: Self::ANY_LINK,
        header_length: 0,
    };

    /// The peer no longer pulls what is staged here.
    const LET_GO: u8 = Self::ANY_LINK - 1;
    /// The peer has pulled no byte of it and never will.
    const NOT_BEGUN: u8 = Self::ANY_LINK - 2;
    /// CANCEL was sent. The number of times is added.
    const CANCELS_SENT: u8 = 128;
    /// CANCEL is sent at most this often.
    pub const CANCELS: u8 = 16;

    /// The state of a transfer that begins.
    #[inline]
    pub const fn begun(new: &New<'_>, pieces: Pieces, address: u64) -> Self {
        Self {
            user: new.user,
            address,
            remote: new.remote,
            session: new.session,
            sequence: 0,
            length: new.length,
            pieces,
            role: new.role,
            flags: if new.passive { Flags::PASSIVE } else { Flags::empty() },
            // The link preference ends once a transfer is staged, so the same byte serves CANCEL
            // later.
            choice: match new.link {
                Some(link) => link.index() as u8,
                None => Self::ANY_LINK,
            },
            header_length: 0,
        }
    }

    /// Turns a transfer into its final message, of `role`. `None`: it has ended well.
    pub fn answer(&mut self, role: Role, why: Option<NakReason>) {
        (self.role, self.choice) = (role, why.map_or(0, |why| why as u8));
    }

    /// The failure that a final message reports of a peer's request, if any.
    pub fn why(&self) -> Option<NakReason> {
        NakReason::from_wire(self.choice)
    }

    /// Notes that the peer no longer pulls what is staged here, by its own message or because no
    /// message announced it. `begun`: it may have pulled before. Knowledge once gained stays.
    pub fn let_go(&mut self, begun: bool) {
        // "Never begun" is the stronger knowledge. A later message must not weaken it (S0-17).
        if self.role.stages() && !self.is_untouched() {
            self.choice = if begun { Self::LET_GO } else { Self::NOT_BEGUN };
        }
    }

    /// Whether the peer may still pull what is staged here, as far as is known.
    pub fn is_lent(&self) -> bool {
        self.role.stages() && !matches!(self.choice, Self::LET_GO | Self::NOT_BEGUN)
    }

    /// Whether the peer has pulled no byte of what is staged here and never will.
    pub fn is_untouched(&self) -> bool {
        self.role.stages() && self.choice == Self::NOT_BEGUN
    }

    /// How often CANCEL was sent.
    pub fn cancels(&self) -> u8 {
        let sent = self.choice.wrapping_sub(Self::CANCELS_SENT);
        if self.is_lent() && sent <= Self::CANCELS {
            sent
        } else {
            0
        }
    }

    /// Counts one more CANCEL. Staged memory already has its link, so the preference is free to be
    /// overwritten.
    pub fn count_cancel(&mut self) {
        let sent = self.cancels() + 1;
        self.choice = Self::CANCELS_SENT + sent.min(Self::CANCELS);
    }

    /// The link that the upper layer prefers.
    #[inline]
    pub fn link_preference(&self) -> Option<LinkId> {
        // What answers and ends has something else in that byte.
        LinkId::new(self.choice as usize).filter(|_| self.role.requests())
    }

    /// Turns an inline message into a staged one if the peer accepts only `peer_max` bytes inline,
    /// and a GET into one that the peer answers by a push if it `pushes`.
    pub fn choose_role(&mut self, peer_max: u32, pushes: bool) {
        // What the peer can do may be known only now, or may have changed with its incarnation.
        if self.role == Role::Immediate && self.length > peer_max {
            self.role = Role::PutSource;
        } else if self.role == Role::GetSink && pushes {
            self.role = Role::PushSink;
            self.flags.insert(Flags::OWES_DONE);
        }
    }

    /// Whether the slot is in one of the queues.
    #[inline]
    pub fn is_queued(&self) -> bool {
        self.flags.contains(Flags::QUEUED)
    }
}

impl New<'_> {
    /// In place of the tag of an unknown transfer.
    pub const NO_TAG: Tag = Tag { index: 0, generation: 0 };
}
