// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The buffer descriptor: 64 bytes, one cache line, 16 words (`docs/registers.md`).

use lnd_core::id::Tag;
use lnd_core::ports::Returned;
use lnd_core::sync::{AtomicU32, Ordering};

/// The owner of a descriptor, and its outcome. Lowest three bits of the own word. No transition
/// posts a descriptor again while it is out, or returns it twice (R17).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum State {
    /// Owned by the driver; its content is not valid.
    Free = 0,
    /// Owned by the device: staged, or waiting to be pulled.
    Owned = 1,
    /// A peer's engine is reading the staged memory.
    Busy = 2,
    /// Returned: all bytes moved.
    Done = 3,
    /// Returned with an error before the first byte.
    Untouched = 4,
    /// Returned with an error after the first byte.
    Touched = 5,
}

/// While `Busy`: invalidated. Once returned: reported to the driver.
const NOTED: u32 = 1 << 3;

/// A value of the own word: `generation 16 | puller 8 | 0000 | noted | state 3`.
///
/// The driver writes it last when it posts the descriptor. Afterwards it changes by
/// compare-and-swap: of an engine that pulls, one that returns and a driver that reclaims, one
/// wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Own(pub u32);

impl Own {
    /// An own word of a descriptor with this generation.
    pub const fn new(state: State, generation: u32) -> Self {
        Self((generation << 16) | state as u32)
    }

    /// The state, if the bits are a valid one.
    pub const fn state(self) -> Option<State> {
        match self.0 & 7 {
            0 => Some(State::Free),
            1 => Some(State::Owned),
            2 => Some(State::Busy),
            3 => Some(State::Done),
            4 => Some(State::Untouched),
            5 => Some(State::Touched),
            _ => None,
        }
    }

    /// Whether the state is `state`.
    pub fn is(self, state: State) -> bool {
        self.state() == Some(state)
    }

    /// Low half of the generation.
    pub const fn generation(self) -> u16 {
        (self.0 >> 16) as u16
    }

    /// The node that pulls; valid while `Busy`.
    pub const fn puller(self) -> u32 {
        (self.0 >> 8) & 0xff
    }

    /// Whether a busy descriptor is invalidated.
    pub const fn invalidated(self) -> bool {
        self.0 & NOTED != 0
    }

    /// Whether a returned descriptor was reported to the driver.
    pub const fn reported(self) -> bool {
        self.0 & NOTED != 0
    }

    /// The same descriptor in another state, without puller and note.
    #[must_use]
    pub const fn into(self, state: State) -> Self {
        Self((self.0 & 0xffff_0000) | state as u32)
    }

    /// The same descriptor being pulled by `node`.
    #[must_use]
    pub const fn busy(self, node: u32) -> Self {
        Self((self.0 & 0xffff_0000) | ((node & 0xff) << 8) | State::Busy as u32)
    }

    /// A busy descriptor, invalidated.
    #[must_use]
    pub const fn invalidating(self) -> Self {
        Self(self.0 | NOTED)
    }

    /// A returned descriptor, marked as reported: the context whose swap sets this reports it.
    #[must_use]
    pub const fn reporting(self) -> Self {
        Self(self.0 | NOTED)
    }

    /// How the descriptor came back, if it did.
    pub const fn returned(self) -> Option<Returned> {
        match self.state() {
            Some(State::Done) => Some(Returned::Ok),
            Some(State::Untouched) => Some(Returned::Untouched),
            Some(State::Touched) => Some(Returned::Touched),
            _ => None,
        }
    }
}

bitflags::bitflags! {
    impl Flags: u32 {
        /// Receive side: pull. Otherwise: staged to be pulled.
        const PULL = 1 << 0;
        /// The fragments are in an indirect list.
        const INDIRECT = 1 << 1;
        const _ = !0;
    }
}

/// Bits of a descriptor's flag word; the fragment count is in its upper half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Flags(pub u32);

/// One descriptor, in memory that driver and device share.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Descriptor {
    own: AtomicU32,
    flags: AtomicU32,
    cookie: [AtomicU32; 2],
    length: AtomicU32,
    node: AtomicU32,
    source: [AtomicU32; 2],
    list: AtomicU32,
    fragment_length: AtomicU32,
    fragment_address: [AtomicU32; 2],
    invalidate: AtomicU32,
    /// For the driver only: index of the last post ring entry that names this descriptor.
    entry: AtomicU32,
    reserved: [AtomicU32; 2],
}

#[cfg(not(loom))]
static_assertions::const_assert_eq!(core::mem::size_of::<Descriptor>(), 64);

/// A descriptor's content, read or written as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Content {
    /// Direction and indirection.
    pub flags: Flags,
    /// Number of fragments.
    pub fragments: u32,
    /// The transfer.
    pub tag: Tag,
    /// Bytes to move.
    pub length: u32,
    /// STAGE: the only node that may pull. PULL: the node to pull from.
    pub node: u32,
    /// PULL: the staged transfer.
    pub source: Tag,
    /// The indirect list.
    pub list: u32,
    /// The one fragment's address, if not indirect.
    pub address: u64,
    /// The one fragment's length, if not indirect.
    pub fragment: u32,
}

impl Descriptor {
    /// The own word. Everything written to the descriptor before it changed is visible.
    pub fn own(&self) -> Own {
        // Acquire: partner is the Release in `hand_over` and `swap`.
        Own(self.own.load(Ordering::Acquire))
    }

    /// Passes the descriptor to the device: writes the own word last.
    pub fn hand_over(&self, generation: u32) {
        // Release: partner is the Acquire in `own` and `swap`: the content is visible first.
        self.own.store(Own::new(State::Owned, generation).0, Ordering::Release);
    }

    /// Reclaims the descriptor from a stopped device.
    pub fn free(&self) {
        // Relaxed: the device is stopped, and `hand_over` publishes the next content.
        self.own.store(State::Free as u32, Ordering::Relaxed);
    }

    /// Marks which use of the descriptor is invalidated, before its bit in the invalidation bitmap
    /// is set: an invalidation that crosses the return must not apply to the next use (R14).
    /// Context: the driver, any time.
    pub fn mark_invalidate(&self, generation: u32) {
        // Relaxed: published by the bitmap's Release.
        self.invalidate.store(generation, Ordering::Relaxed);
    }

    /// Stores which post ring entry names the descriptor. Context: the driver, alone.
    pub(crate) fn set_entry(&self, index: u32) {
        // Relaxed: only the driver reads it.
        self.entry.store(index, Ordering::Relaxed);
    }

    /// The last post ring entry that named the descriptor; any value if it was never posted.
    pub fn entry(&self) -> u32 {
        // Relaxed: only the driver writes it.
        self.entry.load(Ordering::Relaxed)
    }

    /// Whether this use of the descriptor is invalidated.
    pub fn is_wanted(&self, own: Own) -> bool {
        // Relaxed: ordered by the bitmap's Acquire.
        self.invalidate.load(Ordering::Relaxed) as u16 == own.generation()
    }

    /// Changes the own word from `from` to `to`. Returns whether that succeeded.
    pub fn swap(&self, from: Own, to: Own) -> bool {
        // AcqRel: partner is the same exchange at the other party: bytes moved under the old word
        // are ordered before the actions of a party that sees the new one.
        self.own.compare_exchange(from.0, to.0, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Changes the own word to `to` where no other party changes it. Only its own engine changes an
    /// owned pull, and a returned descriptor that was not yet reported. Context: that engine.
    pub fn set(&self, to: Own) {
        // Release: partner is the Acquire in `own`: bytes moved under the old word come first.
        self.own.store(to.0, Ordering::Release);
    }

    /// Writes the content. Only while the driver owns the descriptor.
    pub fn write(&self, content: &Content) {
        // Relaxed throughout: published by `hand_over`.
        let put = |word: &AtomicU32, value: u32| word.store(value, Ordering::Relaxed);
        put(&self.flags, content.flags.0 & 0xffff | content.fragments << 16);
        put_tag(&self.cookie, content.tag);
        put(&self.length, content.length);
        put(&self.node, content.node);
        put_tag(&self.source, content.source);
        put(&self.list, content.list);
        put(&self.fragment_length, content.fragment);
        let [low, high] = &self.fragment_address;
        put(low, content.address as u32);
        put(high, (content.address >> 32) as u32);
    }

    /// Reads the content. The caller checks it.
    pub fn read(&self) -> Content {
        // Relaxed throughout: ordered by the Acquire on the own word.
        let get = |word: &AtomicU32| word.load(Ordering::Relaxed);
        let flags = get(&self.flags);
        let [low, high] = &self.fragment_address;
        Content {
            flags: Flags(flags & 0xffff),
            fragments: flags >> 16,
            tag: get_tag(&self.cookie),
            length: get(&self.length),
            node: get(&self.node),
            source: get_tag(&self.source),
            list: get(&self.list),
            address: u64::from(get(low)) | u64::from(get(high)) << 32,
            fragment: get(&self.fragment_length),
        }
    }
}

fn put_tag([index, generation]: &[AtomicU32; 2], tag: Tag) {
    index.store(tag.index, Ordering::Relaxed);
    generation.store(tag.generation, Ordering::Relaxed);
}

fn get_tag([index, generation]: &[AtomicU32; 2]) -> Tag {
    Tag { index: index.load(Ordering::Relaxed), generation: generation.load(Ordering::Relaxed) }
}
