// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The register block of one link's engine. It is this project's own; `docs/registers.md` describes
//! it for hardware.

use lnd_core::sync::AtomicU32;

/// The value of [`RegisterBlock::magic`]: "LNDE" as a big-endian number.
pub const MAGIC: u32 = 0x4c4e_4445;
/// The register layout's version.
pub const VERSION: u32 = 4;

/// The registers, 256 bytes. Each group lies in a cache line of its own: constants; registers that
/// the driver writes often; registers that the engine writes; registers that other nodes' engines
/// read.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct RegisterBlock {
    /// RO: [`MAGIC`].
    pub magic: AtomicU32,
    /// RO: [`VERSION`].
    pub version: AtomicU32,
    /// RO: [`Features`](lnd_core::ports::Features) bits.
    pub features: AtomicU32,
    /// RO: number of descriptors.
    pub descriptors: AtomicU32,
    /// RO: entries of the post ring, a power of two, at least the number of descriptors.
    pub post_size: AtomicU32,
    /// RO: entries of the completion ring, a power of two.
    pub completion_size: AtomicU32,
    /// RO: number of indirect lists.
    pub lists: AtomicU32,
    /// RO: this node's number in the fabric.
    pub node: AtomicU32,
    reserved0: [AtomicU32; 8],

    reserved1: AtomicU32,
    /// WO by the driver: doorbell; the post ring's free-running tail.
    pub post_tail: AtomicU32,
    /// WO by the driver's interrupt: the completion ring's free-running head.
    pub completion_head: AtomicU32,
    /// WO by the driver: doorbell of staged descriptors; counts rings.
    pub stage_bell: AtomicU32,
    /// WO by the driver: doorbell of the invalidation bitmap; counts rings.
    pub invalidate_bell: AtomicU32,
    /// WO by the driver: [`InterruptBits`] bits that are armed; doorbell.
    pub interrupt_mask: AtomicU32,
    /// WO by the driver: the node to read from.
    pub read_node: AtomicU32,
    /// WO by the driver: the key to read; 0 is never legal.
    pub read_key: AtomicU32,
    /// WO by the driver: bytes to read, 0 or 4.
    pub read_length: AtomicU32,
    /// WO by the driver: doorbell of remote reads; counts them.
    pub read_bell: AtomicU32,
    reserved2: [AtomicU32; 2],
    /// WO by the driver: the post ring's free-running head after the next reset.
    pub post_start: AtomicU32,
    /// WO by the driver: the completion ring's free-running tail after the next reset.
    pub completion_start: AtomicU32,
    reserved3: [AtomicU32; 2],

    /// RO: [`StatusBits`].
    pub status: AtomicU32,
    /// RO: the post ring's free-running head.
    pub post_head: AtomicU32,
    /// RO: the completion ring's free-running tail.
    pub completion_tail: AtomicU32,
    /// RW1C: [`InterruptBits`] bits pending.
    pub interrupt: AtomicU32,
    /// RO: [`ErrorBits`] bits seen since the reset.
    pub error: AtomicU32,
    /// RO: errors counted since the reset.
    pub errors: AtomicU32,
    /// RO: the remote read that has ended: its `read_bell`. Written last.
    pub read_done: AtomicU32,
    /// RO: its end: a number of [`ReadEnd`](crate::read::ReadEnd).
    pub read_end: AtomicU32,
    /// RO: the word that was read.
    pub read_word: AtomicU32,
    /// RO: the nodes 0 to 31 whose connections have stopped, one bit each.
    pub parted_low: AtomicU32,
    /// RO: the nodes 32 to 63.
    pub parted_high: AtomicU32,
    /// RO: the `cut_round` that these two words answer.
    pub parted_round: AtomicU32,
    reserved4: [AtomicU32; 4],

    /// RW by the fabric: [`LinkBits`].
    pub link: AtomicU32,
    /// WO by the driver: [`ControlBits`]. Other nodes' engines read it for each chunk that they
    /// pull, so its cache line holds only words that rarely change.
    pub control: AtomicU32,
    /// RW by the driver: the key under which other nodes may read `published_word`; 0: no node may.
    pub published_key: AtomicU32,
    /// RW by the driver: the word that other nodes may read.
    pub published_word: AtomicU32,
    /// WO by the driver: the nodes 0 to 31 whose connections must stop, one bit each.
    pub cut_low: AtomicU32,
    /// WO by the driver: the nodes 32 to 63.
    pub cut_high: AtomicU32,
    /// WO by the driver: doorbell of cuts; counts the changes of the two words above. Written last.
    pub cut_round: AtomicU32,
    reserved5: [AtomicU32; 9],
}

#[cfg(not(loom))]
static_assertions::const_assert_eq!(core::mem::size_of::<RegisterBlock>(), 256);

bitflags::bitflags! {
    impl ControlBits: u32 {
        /// The engine may work.
        const ENABLE = 1 << 0;
        /// Stop: finish no more chunks, release everything, then show `STOPPED` with the round of
        /// this word.
        const STOP = 1 << 1;
        /// Start again; only while `STOPPED`. The engine clears `STOPPED` when done.
        const RESET = 1 << 2;
        const _ = !0;
    }
    impl StatusBits: u32 {
        /// The engine works on descriptors.
        const RUNNING = 1 << 0;
        /// Nothing moves: neither this engine, nor another node's through this link, accesses
        /// memory of this node.
        const STOPPED = 1 << 1;
        /// The link has failed and the engine has no clock.
        const CLOCK_OFF = 1 << 2;
        const _ = !0;
    }
    impl InterruptBits: u32 {
        /// Completions were posted. Pending only where it is armed.
        const COMPLETION = 1 << 0;
        /// The status register changed: the link's clock, or the engine's stop or start. Or a
        /// connection has stopped.
        const LINK = 1 << 1;
        const _ = !0;
    }
    impl LinkBits: u32 {
        /// The link works.
        const UP = 1 << 0;
        const _ = !0;
    }
    impl ErrorBits: u32 {
        /// A post ring index or a descriptor's content was not valid.
        const BAD_DESCRIPTOR = 1 << 0;
        /// A fragment lies outside the memory.
        const ADDRESS = 1 << 1;
        /// The source descriptor was not staged, or not for this node.
        const REMOTE_ACCESS = 1 << 2;
        /// The source node did not answer within the bound.
        const UNREACHABLE = 1 << 3;
        /// The doorbell or the completion head was out of range.
        const BAD_INDEX = 1 << 4;
        /// The driver invalidated the descriptor, or the other side's driver did.
        const INVALIDATED = 1 << 5;
        const _ = !0;
    }
}

/// Bits of the control register: `round 16 | bits 16`. Each stop has a new round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct ControlBits(pub u32);
/// Bits of the status register: `round 16 | bits 16`. The round is that of the stop which `STOPPED`
/// answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct StatusBits(pub u32);
/// Bits of the interrupt registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct InterruptBits(pub u32);
/// Bits of the link register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct LinkBits(pub u32);
/// Bits of the error register, and the reason in a completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct ErrorBits(pub u32);

impl ControlBits {
    /// The bits that this version names, and the round.
    #[must_use]
    pub const fn known(self) -> Self {
        Self(self.0 & 0xffff_0007)
    }

    /// All other bits.
    #[must_use]
    pub const fn unknown(self) -> Self {
        Self(self.0 & !0xffff_0007)
    }

    /// The stop's round.
    pub const fn round(self) -> u32 {
        self.0 >> 16
    }

    /// The same bits with another round, modulo 2^16.
    #[must_use]
    pub const fn in_round(self, round: u32) -> Self {
        Self((self.0 & 0xffff) | (round << 16))
    }

    /// This word with a stop: the stop that it already requests, or a new one with its own round.
    ///
    /// The round distinguishes an engine's answer to this stop from the answer to an earlier one.
    /// It also shows other nodes' engines a stop that is already over.
    #[must_use]
    pub fn stopping(self) -> Self {
        if self.contains(Self::STOP) {
            return self;
        }
        (self.difference(Self::RESET) | Self::STOP).in_round(self.round().wrapping_add(1))
    }
}

impl StatusBits {
    /// Whether a working device of this version may show this: one state at a time, and no unknown
    /// bit.
    pub(crate) const fn is_possible(self) -> bool {
        matches!(self.0 & 0xffff, 0 | 1 | 2 | 4)
    }

    /// The round of the stop that `STOPPED` answers.
    pub const fn round(self) -> u32 {
        self.0 >> 16
    }

    /// The same bits with another round, modulo 2^16.
    #[must_use]
    pub const fn in_round(self, round: u32) -> Self {
        Self((self.0 & 0xffff) | (round << 16))
    }
}

impl InterruptBits {
    /// Whether a working device of this version may show this: no unknown bit.
    pub(crate) const fn is_possible(self) -> bool {
        self.0 & !3 == 0
    }
}

/// Registers that the driver reads and writes, by name, so that a driver of other hardware can map
/// them (R20).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Register {
    /// See [`RegisterBlock::magic`].
    Magic,
    /// See [`RegisterBlock::features`].
    Features,
    /// See [`RegisterBlock::control`].
    Control,
    /// See [`RegisterBlock::status`].
    Status,
    /// See [`RegisterBlock::post_tail`].
    PostTail,
    /// See [`RegisterBlock::post_head`].
    PostHead,
    /// See [`RegisterBlock::completion_head`].
    CompletionHead,
    /// See [`RegisterBlock::stage_bell`].
    StageBell,
    /// See [`RegisterBlock::invalidate_bell`].
    InvalidateBell,
    /// See [`RegisterBlock::interrupt_mask`].
    InterruptMask,
    /// See [`RegisterBlock::interrupt`].
    Interrupt,
    /// See [`RegisterBlock::link`].
    Link,
    /// See [`RegisterBlock::read_node`].
    ReadNode,
    /// See [`RegisterBlock::read_key`].
    ReadKey,
    /// See [`RegisterBlock::read_length`].
    ReadLength,
    /// See [`RegisterBlock::read_bell`].
    ReadBell,
    /// See [`RegisterBlock::published_key`].
    PublishedKey,
    /// See [`RegisterBlock::published_word`].
    PublishedWord,
    /// See [`RegisterBlock::post_start`].
    PostStart,
    /// See [`RegisterBlock::completion_start`].
    CompletionStart,
    /// See [`RegisterBlock::read_done`].
    ReadDone,
    /// See [`RegisterBlock::read_end`].
    ReadEnd,
    /// See [`RegisterBlock::read_word`].
    ReadWord,
    /// See [`RegisterBlock::cut_low`].
    CutLow,
    /// See [`RegisterBlock::cut_high`].
    CutHigh,
    /// See [`RegisterBlock::cut_round`].
    CutRound,
    /// See [`RegisterBlock::parted_low`].
    PartedLow,
    /// See [`RegisterBlock::parted_high`].
    PartedHigh,
    /// See [`RegisterBlock::parted_round`].
    PartedRound,
}

/// Access to one engine's registers: memory-mapped I/O, or words in shared memory.
pub trait RegisterAccess {
    /// Reads a register. Descriptor and ring memory that the device wrote before it changed the
    /// register is visible afterwards.
    fn read(&self, register: Register) -> u32;

    /// Writes a register. Everything written to memory before is visible to the device before the
    /// register changes (the doorbell barrier).
    fn write(&self, register: Register, value: u32);
}

impl RegisterBlock {
    /// The word behind a register's name.
    pub const fn word(&self, register: Register) -> &AtomicU32 {
        match register {
            Register::Magic => &self.magic,
            Register::Features => &self.features,
            Register::Control => &self.control,
            Register::Status => &self.status,
            Register::PostTail => &self.post_tail,
            Register::PostHead => &self.post_head,
            Register::CompletionHead => &self.completion_head,
            Register::StageBell => &self.stage_bell,
            Register::InvalidateBell => &self.invalidate_bell,
            Register::InterruptMask => &self.interrupt_mask,
            Register::Interrupt => &self.interrupt,
            Register::Link => &self.link,
            Register::ReadNode => &self.read_node,
            Register::ReadKey => &self.read_key,
            Register::ReadLength => &self.read_length,
            Register::ReadBell => &self.read_bell,
            Register::PublishedKey => &self.published_key,
            Register::PublishedWord => &self.published_word,
            Register::PostStart => &self.post_start,
            Register::CompletionStart => &self.completion_start,
            Register::ReadDone => &self.read_done,
            Register::ReadEnd => &self.read_end,
            Register::ReadWord => &self.read_word,
            Register::CutLow => &self.cut_low,
            Register::CutHigh => &self.cut_high,
            Register::CutRound => &self.cut_round,
            Register::PartedLow => &self.parted_low,
            Register::PartedHigh => &self.parted_high,
            Register::PartedRound => &self.parted_round,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memoffset::{offset_of, span_of};

    #[test]
    fn registers_lie_where_the_document_says() {
        assert_eq!(span_of!(RegisterBlock, magic..=node), 0..32);
        assert_eq!(offset_of!(RegisterBlock, post_tail), 68);
        assert_eq!(offset_of!(RegisterBlock, completion_head), 72);
        assert_eq!(offset_of!(RegisterBlock, stage_bell), 76);
        assert_eq!(offset_of!(RegisterBlock, invalidate_bell), 80);
        assert_eq!(offset_of!(RegisterBlock, interrupt_mask), 84);
        assert_eq!(offset_of!(RegisterBlock, status), 128);
        assert_eq!(offset_of!(RegisterBlock, post_head), 132);
        assert_eq!(offset_of!(RegisterBlock, completion_tail), 136);
        assert_eq!(offset_of!(RegisterBlock, interrupt), 140);
        assert_eq!(offset_of!(RegisterBlock, error), 144);
        assert_eq!(offset_of!(RegisterBlock, errors), 148);
        assert_eq!(span_of!(RegisterBlock, link..=published_word), 192..208);
        assert_eq!(span_of!(RegisterBlock, read_node..=read_bell), 88..104);
        assert_eq!(span_of!(RegisterBlock, post_start..=completion_start), 112..120);
        assert_eq!(span_of!(RegisterBlock, read_done..=read_word), 152..164);
        assert_eq!(span_of!(RegisterBlock, parted_low..=parted_round), 164..176);
        assert_eq!(span_of!(RegisterBlock, cut_low..=cut_round), 208..220);
    }

    #[test]
    fn unknown_bits_survive_a_read_modify_write() {
        let read = ControlBits::from_bits_retain(0x8000_0001);
        let written = (read | ControlBits::STOP).difference(ControlBits::ENABLE);
        assert_eq!(written.bits(), 0x8000_0002);
    }
}
