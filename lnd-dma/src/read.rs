// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Remote reads: is the peer up (S2-4 to S2-11, R56)? One-sided, with an access check and with
//! retries. They need no receive buffer, no descriptor and no processor of the other side.
//!
//! A link has one remote read at a time, in registers of its own (`docs/registers.md`). The driver
//! writes the request and rings; the engine answers once, at the latest after its retry bound. The
//! engine may not answer while its own link has no clock: the driver sets a bound, and no answer
//! means "unknown".

use lnd_core::ports::Features;

use crate::driver::identity;
use crate::memory::MAX_NODE;
use crate::regs::{Register, RegisterAccess};

/// Bytes of a published word.
pub(crate) const WORD: u32 = 4;
/// The key under which nothing is ever published.
const NO_KEY: u32 = 0;

/// What to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadKind {
    /// A key that is never published: the access check answers (S2-10). Needs
    /// [`Features::ILLEGAL_READ`].
    Illegal,
    /// No bytes. Needs [`Features::ZERO_READ`].
    Zero,
    /// The word that the peer has published under this key (S2-9). Needs
    /// [`Features::PUBLISHED_READ`].
    Published(u32),
}

/// How a remote read ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadEnd {
    /// The word was read, or there was nothing to read: the other end is up.
    Ok(u32),
    /// The other end refused: it is up (S2-10).
    AccessError,
    /// No answer within the retry bound (S2-11).
    RetryExhausted,
    /// The local engine was stopped, or its answer is unknown: nothing is proven (S2-13).
    Aborted,
}

impl ReadEnd {
    pub(crate) const fn to_register(self) -> u32 {
        match self {
            Self::Ok(_) => 1,
            Self::AccessError => 2,
            Self::RetryExhausted => 3,
            Self::Aborted => 4,
        }
    }

    const fn from_registers(end: u32, word: u32) -> Self {
        match end {
            1 => Self::Ok(word),
            2 => Self::AccessError,
            3 => Self::RetryExhausted,
            _ => Self::Aborted,
        }
    }
}

/// Why a read did not begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadError {
    /// The last read has not ended.
    Busy,
    /// The engine does not support this kind.
    NotSupported,
    /// No node has this number.
    BadNode,
}

lnd_core::sentences! { ReadError {
    Self::Busy => "the last read has not ended",
    Self::NotSupported => "the engine has no reads of this kind",
    Self::BadNode => "no node has this number",
}}

/// The driver's side of remote reads of one link. Each link has one. Context: one at a time.
#[derive(Clone, Copy, Debug)]
pub struct RemoteReads<R> {
    registers: R,
    bell: u32,
    under_way: bool,
}

impl<R: RegisterAccess> RemoteReads<R> {
    /// Starts from the registers' current values: an answer that is still due is ignored.
    pub fn new(registers: R) -> Self {
        let bell = registers.read(Register::ReadBell);
        Self { registers, bell, under_way: false }
    }

    /// Whether the engine supports this kind of read. A device that does not identify itself
    /// supports none.
    pub fn supports(&self, kind: ReadKind) -> bool {
        let features = Features::from_bits_retain(self.registers.read(Register::Features));
        identity::is_right(&self.registers)
            && features.contains(match kind {
                ReadKind::Illegal => Features::ILLEGAL_READ,
                ReadKind::Zero => Features::ZERO_READ,
                ReadKind::Published(_) => Features::PUBLISHED_READ,
            })
    }

    /// Lets other nodes read `word` under `key`; key 0 withdraws it.
    pub fn publish(&mut self, key: u32, word: u32) {
        self.registers.write(Register::PublishedKey, NO_KEY);
        self.registers.write(Register::PublishedWord, word);
        self.registers.write(Register::PublishedKey, key);
    }

    /// Begins a read from a node.
    ///
    /// # Errors
    /// [`ReadError`]; no read began.
    pub fn begin(&mut self, node: u32, kind: ReadKind) -> Result<(), ReadError> {
        if node > MAX_NODE {
            return Err(ReadError::BadNode);
        }
        if !self.supports(kind) {
            return Err(ReadError::NotSupported);
        }
        if self.under_way {
            return Err(ReadError::Busy);
        }
        // The device's value: one of our rings may have been lost.
        let bell = self.registers.read(Register::ReadBell);
        if self.registers.read(Register::ReadDone) != bell {
            return Err(ReadError::Busy);
        }
        self.bell = bell;
        let (key, length) = match kind {
            ReadKind::Illegal => (NO_KEY, WORD),
            ReadKind::Zero => (NO_KEY, 0),
            ReadKind::Published(key) => (key, WORD),
        };
        self.registers.write(Register::ReadNode, node);
        self.registers.write(Register::ReadKey, key);
        self.registers.write(Register::ReadLength, length);
        self.bell = self.bell.wrapping_add(1);
        self.registers.write(Register::ReadBell, self.bell);
        self.under_way = true;
        Ok(())
    }

    /// The end of the read, if it has ended: once.
    pub fn poll(&mut self) -> Option<ReadEnd> {
        if !self.has_answer() {
            return None;
        }
        self.under_way = false;
        let word = self.registers.read(Register::ReadWord);
        let end = ReadEnd::from_registers(self.registers.read(Register::ReadEnd), word);
        // The registers of a device that is gone have no meaning.
        Some(if identity::is_right(&self.registers) { end } else { ReadEnd::Aborted })
    }

    /// Whether an answer is awaited.
    pub fn is_under_way(&self) -> bool {
        self.under_way && !self.has_answer()
    }

    /// Whether [`poll`](Self::poll) has an end to return.
    pub fn has_answer(&self) -> bool {
        self.under_way && self.registers.read(Register::ReadDone) == self.bell
    }

    /// Stops waiting for the answer. The next read can begin after it has arrived.
    pub fn give_up(&mut self) {
        self.under_way = false;
    }
}
