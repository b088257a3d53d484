// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The owned half of a slot: what only the shard's thread touches.

use super::pieces::Pieces;
use crate::base::fragment::Fragment;
use crate::base::id::{LinkId, Tag};
use crate::base::message::NakReason;
use crate::machines::transfer::Debts;

/// No slot.
pub(crate) const NONE: u32 = u32::MAX;

/// What a transfer is for; it decides what is posted and who is told of its end.
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
    /// The word that we have pulled, or could not, which has found no way at the end of the pull.
    PutDone,
}

impl Role {
    /// What is owed once the transfer is posted. `MSG` alone ends with its completion (S1-1); with
    /// `PEER` the answer must come within the deadline (S1-2). `signalled`: both engines report the end of
    /// a pull to its source (S3-4); otherwise the peer's word is awaited too.
    pub(crate) const fn debts(self, signalled: bool) -> Debts {
        let source = if signalled {
            Debts(Debts::HW.0 | Debts::MSG.0)
        } else {
            Debts(Debts::HW.0 | Debts::MSG.0 | Debts::PEER.0)
        };
        match self {
            Self::Immediate | Self::NakPut | Self::NakGet | Self::PutDone => Debts::MSG,
            Self::PutSource | Self::GetSource => source,
            Self::GetSink => Debts(Debts::MSG.0 | Debts::PEER.0),
            Self::GetPull | Self::PutSink => Debts::HW,
            Self::RxRequest | Self::InlineSink => Debts(0),
        }
    }

    /// Whether a descriptor is staged for the peer to pull.
    pub(crate) const fn stages(self) -> bool {
        matches!(self, Self::PutSource | Self::GetSource)
    }

    /// Whether we pull.
    pub(crate) const fn pulls(self) -> bool {
        matches!(self, Self::GetPull | Self::PutSink)
    }

    /// Whether it begins with a request of ours: needs a peer that is `Good`, and a credit.
    pub(crate) const fn requests(self) -> bool {
        matches!(self, Self::Immediate | Self::PutSource | Self::GetSink)
    }

    /// Whether it is a message alone, which ends a transfer of the peer.
    pub(crate) const fn is_final(self) -> bool {
        matches!(self, Self::NakPut | Self::NakGet | Self::PutDone)
    }

    /// Whether the upper layer is told of the end.
    pub(crate) const fn reported(self) -> bool {
        !matches!(self, Self::RxRequest) && !self.is_final()
    }
}

/// For what the verdict on a silence was put off: for each once, the longer one last (R41).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum PutOff {
    Not,
    /// By a call, in which what came is taken in.
    Call,
    /// For a pause of ours of more than half of the silence's time.
    Pause,
}

bitflags::bitflags! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub(crate) struct Flags: u8 {
        /// In one of its peer's queues or in the answers' queue.
        const QUEUED = 1 << 0;
        /// The engine was asked for the descriptor.
        const INVALIDATED = 1 << 1;
        /// The timer is the drain bound's, no longer the message's.
        const DRAINING = 1 << 2;
        /// Came in as a peer's request.
        const PASSIVE = 1 << 3;
        /// The peer must be told that we have pulled.
        const OWES_DONE = 1 << 4;
        /// The verdict on its silence was put off for a pause of ours (R41).
        const PAUSED = 1 << 5;
        /// Has one of its peer's pulls.
        const PULLING = 1 << 7;
        /// The verdict on its silence was put off by a call (R41).
        const POSTPONED = 1 << 6;
    }
}

/// The owned half of one slot. Packed, since its words would otherwise be padded for those of 64 bits.
#[derive(Clone, Copy, Debug, Hash)]
#[repr(C, packed(4))]
pub(crate) struct SlotState {
    pub user: u64,
    /// The address of the one fragment.
    pub address: u64,
    /// The peer's transfer.
    pub remote: Tag,
    /// A ticket: which of the peer's sessions its credit is of, by [`Peer::opened`]. A request of ours:
    /// the session it was sent in.
    ///
    /// [`Peer::opened`]: crate::peers::Peer::opened
    pub session: u32,
    /// A request of ours: its number in the session. A peer's: the next slot of a request of that peer.
    pub sequence: u32,
    /// Bytes to move.
    pub length: u32,
    pub pieces: Pieces,
    pub role: Role,
    pub flags: Flags,
    /// A request of ours: the link asked for, or [`ANY_LINK`](Self::ANY_LINK). A refusal: why. Staged memory
    /// that is to come back: [`LET_GO`](Self::LET_GO), or how often CANCEL was said.
    choice: u8,
    /// How much of the upper layer's header is kept; that of a request which does not wait is not. Of what is
    /// to pull, the length of its key.
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
    /// The link that the upper layer has asked for.
    pub link: Option<LinkId>,
    /// A ticket: the peer's transfer, and which of its sessions the credit is of.
    pub remote: Tag,
    pub session: u32,
}

impl SlotState {
    /// For what the verdict on its silence was put off.
    pub const fn put_off(&self) -> PutOff {
        if self.flags.contains(Flags::PAUSED) {
            PutOff::Pause
        } else if self.flags.contains(Flags::POSTPONED) {
            PutOff::Call
        } else {
            PutOff::Not
        }
    }

    /// Notes for what the verdict on its silence is put off.
    pub fn set_put_off(&mut self, it: PutOff) {
        self.flags.set(Flags::POSTPONED, it == PutOff::Call);
        self.flags.set(Flags::PAUSED, it == PutOff::Pause);
    }

    /// No particular link was asked for.
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

    /// The peer does not pull what we have staged, or not any more.
    const LET_GO: u8 = Self::ANY_LINK - 1;
    /// It has pulled no byte of it, nor will it.
    const NOT_BEGUN: u8 = Self::ANY_LINK - 2;
    /// CANCEL was said; how often is added to it.
    const CALLED_OFF: u8 = 128;
    /// CANCEL is said so often at most.
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
            flags: if new.role.requests() { Flags::empty() } else { Flags::PASSIVE },
            choice: match new.link {
                Some(link) => link.index() as u8,
                None => Self::ANY_LINK,
            },
            header_length: 0,
        }
    }

    /// A peer's request becomes its final message, of `role`. `None`: it has ended well.
    pub fn answer(&mut self, role: Role, why: Option<NakReason>) {
        (self.role, self.choice) = (role, why.map_or(0, |why| why as u8));
    }

    /// What a final message says of a peer's request: why it has failed, if it has.
    pub fn why(&self) -> Option<NakReason> {
        NakReason::from_wire(self.choice)
    }

    /// Notes that the peer does not pull what we have staged, or not any more: it has said so, or it was never
    /// told of it. `begun`: perhaps it has pulled before; what is known once stays.
    pub fn let_go(&mut self, begun: bool) {
        if self.role.stages() && !self.is_untouched() {
            self.choice = if begun { Self::LET_GO } else { Self::NOT_BEGUN };
        }
    }

    /// Whether the peer may pull what we have staged, as far as is known.
    pub fn is_lent(&self) -> bool {
        self.role.stages() && !matches!(self.choice, Self::LET_GO | Self::NOT_BEGUN)
    }

    /// Whether the peer has pulled no byte of what we have staged, nor will it.
    pub fn is_untouched(&self) -> bool {
        self.role.stages() && self.choice == Self::NOT_BEGUN
    }

    /// How often CANCEL was said.
    pub fn cancels(&self) -> u8 {
        let said = self.choice.wrapping_sub(Self::CALLED_OFF);
        if self.is_lent() && said <= Self::CANCELS {
            said
        } else {
            0
        }
    }

    /// CANCEL is said once more. What is staged has had its link, so that none is asked for any more.
    pub fn count_cancel(&mut self) {
        let said = self.cancels() + 1;
        self.choice = Self::CALLED_OFF + said.min(Self::CANCELS);
    }

    /// The link that the upper layer has asked for.
    #[inline]
    pub fn link_preference(&self) -> Option<LinkId> {
        let ours = !self.flags.contains(Flags::PASSIVE);
        LinkId::new(self.choice as usize).filter(|_| ours)
    }

    /// A payload that was to go inline is staged if the peer takes only `peer_max` bytes inline.
    pub fn choose_role(&mut self, peer_max: u32) {
        if self.role == Role::Immediate && self.length > peer_max {
            self.role = Role::PutSource;
        }
    }

    /// Whether the slot is in one of the queues.
    #[inline]
    pub fn is_queued(&self) -> bool {
        self.flags.contains(Flags::QUEUED)
    }
}

impl New<'_> {
    /// In place of the tag of a transfer that is not known.
    pub const NO_TAG: Tag = Tag { index: 0, generation: 0 };
}
