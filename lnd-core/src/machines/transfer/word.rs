// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file holds the transfer word: 32 bits, changed by compare-and-swap from any context. Each
//! fact has one bit of its own, and the transfer is final only when all are in (R4).

use core::fmt;

bitflags::bitflags! {
    impl Debts: u8 {
        /// A thread is at work on the transfer: it builds, posts or queues it.
        const CPU = 1 << 0;
        /// The engine has a descriptor.
        const HW = 1 << 1;
        /// The channel has a short message.
        const MSG = 1 << 2;
        /// The peer has to answer.
        const PEER = 1 << 3;
    }
}

/// The parties that still owe a completion.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Debts(pub u8);

/// The phase of a transfer as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Phase {
    /// The slot is unused, or claimed and not yet published: no event may touch it.
    Free = 0,
    /// Accepted, with nothing posted yet: it waits for a hello, a credit or a decision.
    Queued = 1,
    /// Something is or was posted.
    Live = 2,
    /// Every debt is settled; the finalize token exists.
    Done = 3,
}

/// The first reason for which a transfer was cancelled or lost something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Cause {
    /// The peer was declared down.
    PeerDown = 1,
    /// The peer returned as another incarnation.
    PeerRestarted = 2,
    /// The link failed or was stopped.
    LinkDown = 3,
    /// The message's deadline passed.
    Deadline = 4,
    /// The driver is shutting down.
    Shutdown = 5,
    /// The upper layer withdrew it.
    Withdrawn = 6,
    /// The peer refused it.
    Refused = 7,
    /// The channel reported a failure.
    Channel = 8,
    /// The engine reported a failure without an invalidation.
    Device = 9,
    /// Something local failed: posting, addresses.
    Local = 10,
    /// The peer's answer broke the protocol.
    Protocol = 11,
    /// The connection with the peer failed or was stopped.
    ConnectionDown = 12,
}

/// How far a transfer had come when it lost something. The order is that of the knowledge about
/// delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Place {
    /// Never left the queue.
    Queue = 1,
    /// In a short message known not to be delivered.
    Message = 2,
    /// The message is out. Whether the peer has it is unknown.
    Answer = 3,
    /// Staged or posted, and the descriptor came back untouched. That outweighs what the message
    /// shows.
    Staged = 4,
    /// In the engine, and bytes may have moved.
    Moving = 5,
}

impl Cause {
    /// Every cause, in the order of its number.
    pub const ALL: [Self; 12] = [
        Self::PeerDown,
        Self::PeerRestarted,
        Self::LinkDown,
        Self::Deadline,
        Self::Shutdown,
        Self::Withdrawn,
        Self::Refused,
        Self::Channel,
        Self::Device,
        Self::Local,
        Self::Protocol,
        Self::ConnectionDown,
    ];

    const fn from_bits(bits: u32) -> Option<Self> {
        if bits == 0 || bits as usize > Self::ALL.len() {
            None
        } else {
            Some(Self::ALL[bits as usize - 1])
        }
    }
}

impl Place {
    /// Every place, nearest first.
    pub const ALL: [Self; 5] =
        [Self::Queue, Self::Message, Self::Answer, Self::Staged, Self::Moving];

    const fn from_bits(bits: u32) -> Option<Self> {
        if bits == 0 || bits as usize > Self::ALL.len() {
            None
        } else {
            Some(Self::ALL[bits as usize - 1])
        }
    }
}

/// A value of the transfer word.
///
/// ```text
/// 31          16 15 14 13  11 10   7   6          5          4   3     0
/// [ generation ][phase][place][cause][proven][invalidating][lost][debts]
/// ```
///
/// * `generation`: the low half of the slot's use count. An event for an earlier use fails its
///   compare-and-swap;
/// * `lost`: some debt was not paid OK. The transfer ends OK if and only if this bit is clear
///   (INV-4);
/// * `invalidating`: the transfer was cancelled. Its descriptor is invalidated once;
/// * `proven`: all bytes are known to have been moved. The descriptor came back OK, or the peer has
///   confirmed it (PUT_DONE).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Word(u32);

const DEBTS: u32 = 0xf;
const LOST: u32 = 1 << 4;
const INVALIDATING: u32 = 1 << 5;
const PROVEN: u32 = 1 << 6;
const CAUSE_SHIFT: u32 = 7;
const CAUSE_MASK: u32 = 0xf;
const PLACE_SHIFT: u32 = 11;
const PLACE_MASK: u32 = 0x7;
const PHASE_SHIFT: u32 = 14;
const PHASE_MASK: u32 = 0x3;
const GENERATION_SHIFT: u32 = 16;

/// Numbers that cause and place can be, as one.
#[cfg(not(feature = "compact"))]
pub(super) const EVIDENCES: usize = ((CAUSE_MASK + 1) * (PLACE_MASK + 1)) as usize;

impl Word {
    /// An unused slot's word.
    pub const fn free(generation: u32) -> Self {
        Self(generation << GENERATION_SHIFT)
    }

    /// A published word: `Queued` owes only `CPU`.
    pub const fn queued(generation: u32) -> Self {
        Self::free(generation).with_phase(Phase::Queued).with_debts(Debts::CPU)
    }

    /// A published word that owes `debts` and `CPU`.
    pub const fn live(generation: u32, debts: Debts) -> Self {
        Self::free(generation).with_phase(Phase::Live).with_debts(Debts(debts.0 | Debts::CPU.0))
    }

    /// The word with these bits.
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// The word's bits.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Low 16 bits of the slot's generation.
    pub const fn generation(self) -> u16 {
        (self.0 >> GENERATION_SHIFT) as u16
    }

    /// Whether this word belongs to the slot's use number `generation`.
    pub const fn is_of(self, generation: u32) -> bool {
        // The low half is enough here: the full generation is compared before, and the exchange
        // fails if the word has moved on.
        self.generation() == generation as u16
    }

    /// The phase.
    pub const fn phase(self) -> Phase {
        match (self.0 >> PHASE_SHIFT) & PHASE_MASK {
            0 => Phase::Free,
            1 => Phase::Queued,
            2 => Phase::Live,
            _ => Phase::Done,
        }
    }

    /// The debts still open.
    pub const fn debts(self) -> Debts {
        Debts((self.0 & 0xf) as u8)
    }

    /// Whether all of `debts` are open.
    pub const fn owes(self, debts: Debts) -> bool {
        self.0 & debts.0 as u32 == debts.0 as u32
    }

    /// Whether some debt was not paid OK.
    pub const fn lost(self) -> bool {
        self.0 & LOST != 0
    }

    /// Whether the transfer was cancelled.
    pub const fn invalidating(self) -> bool {
        self.0 & INVALIDATING != 0
    }

    /// Whether all bytes are known to have been moved.
    pub const fn proven(self) -> bool {
        self.0 & PROVEN != 0
    }

    /// The first cause of cancellation or loss, if there is one.
    pub const fn cause(self) -> Option<Cause> {
        Cause::from_bits((self.0 >> CAUSE_SHIFT) & CAUSE_MASK)
    }

    /// Whether every debt was settled OK and nothing was given up.
    #[cfg(not(feature = "compact"))]
    pub(crate) const fn ended_well(self) -> bool {
        let phase = (Phase::Done as u32) << PHASE_SHIFT;
        self.0 & (PHASE_MASK << PHASE_SHIFT | LOST | INVALIDATING) == phase
    }

    /// Cause and place as one number, below [`EVIDENCES`].
    #[cfg(not(feature = "compact"))]
    pub(super) const fn evidence(self) -> usize {
        (self.0 >> CAUSE_SHIFT) as usize & (EVIDENCES - 1)
    }

    /// A word with this cause and place, and nothing else.
    #[cfg(not(feature = "compact"))]
    pub(super) const fn of_evidence(evidence: usize) -> Self {
        Self((evidence as u32) << CAUSE_SHIFT)
    }

    /// Whether it was invalidated, and lost nothing.
    pub(crate) const fn returned_well(self) -> bool {
        self.0 & (LOST | INVALIDATING) == INVALIDATING
    }

    /// Whether a cause is recorded.
    pub(crate) const fn has_cause(self) -> bool {
        (self.0 >> CAUSE_SHIFT) & CAUSE_MASK != 0
    }

    /// The furthest place of a loss, if there was one.
    pub const fn place(self) -> Option<Place> {
        Place::from_bits((self.0 >> PLACE_SHIFT) & PLACE_MASK)
    }

    pub(super) const fn with_phase(self, phase: Phase) -> Self {
        Self(self.0 & !(PHASE_MASK << PHASE_SHIFT) | ((phase as u32) << PHASE_SHIFT))
    }

    pub(super) const fn with_debts(self, debts: Debts) -> Self {
        Self(self.0 & !DEBTS | debts.0 as u32 & DEBTS)
    }

    pub(super) const fn adding(self, debts: Debts) -> Self {
        Self(self.0 | debts.0 as u32 & DEBTS)
    }

    pub(super) const fn paying(self, debts: Debts) -> Self {
        Self(self.0 & !(debts.0 as u32 & DEBTS))
    }

    pub(super) const fn asking(self) -> Self {
        Self(self.0 | INVALIDATING)
    }

    pub(super) const fn proving(self) -> Self {
        Self(self.0 | PROVEN)
    }

    /// A finished word whose proof does not hold: as if the descriptor had come back with an error.
    pub(crate) const fn unproven(self) -> Self {
        Self(self.0 & !PROVEN).because(Cause::Device).losing(Place::Moving)
    }

    /// Records a cause unless one is recorded: the first one stays (R7).
    pub(super) const fn because(self, cause: Cause) -> Self {
        // Later causes are consequences of the first one.
        if (self.0 >> CAUSE_SHIFT) & CAUSE_MASK == 0 {
            Self(self.0 | ((cause as u32) << CAUSE_SHIFT))
        } else {
            self
        }
    }

    /// Records a loss at `place`. The furthest place stays, because there the least is known of
    /// delivery.
    pub(super) const fn losing(self, place: Place) -> Self {
        // The loss itself is recorded always; only the place has an order.
        let lost = self.0 | LOST;
        if (place as u32) > (self.0 >> PLACE_SHIFT) & PLACE_MASK {
            Self(lost & !(PLACE_MASK << PLACE_SHIFT) | ((place as u32) << PLACE_SHIFT))
        } else {
            Self(lost)
        }
    }
}

impl fmt::Debug for Debts {
    /// For example `HW·MSG`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut first = true;
        for (debt, name) in
            [(Self::CPU, "CPU"), (Self::HW, "HW"), (Self::MSG, "MSG"), (Self::PEER, "PEER")]
        {
            if self.0 & debt.0 != 0 {
                f.write_str(if first { "" } else { "·" })?;
                f.write_str(name)?;
                first = false;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Word {
    /// For example `Live[HW·MSG] invalidating Deadline`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}[{:?}]", self.phase(), self.debts())?;
        for (set, name) in [(self.proven(), " proven"), (self.invalidating(), " invalidating")] {
            if set {
                f.write_str(name)?;
            }
        }
        if let Some(cause) = self.cause() {
            write!(f, " {cause:?}")?;
        }
        match self.place() {
            Some(place) if self.lost() => write!(f, " lost@{place:?}"),
            _ => Ok(()),
        }
    }
}
