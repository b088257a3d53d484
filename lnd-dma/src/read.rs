// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Remote reads: is there anybody (S2-4 to S2-11, R56)? One-sided, with an access check and with
//! retries; no receive buffer, no descriptor and no processor of the other side is needed.
//!
//! A link has one remote read at a time, in registers of its own (`docs/registers.md`). The driver
//! says what it wants and rings; the engine answers once, at the latest after its retry bound. It
//! need not answer while its own link has no clock: whoever asks sets a bound and takes silence for
//! "unknown".

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
    /// What is surely not published: the access check answers (S2-10). Needs
    /// [`Features::ILLEGAL_READ`].
    Illegal,
    /// No bytes at all. Needs [`Features::ZERO_READ`].
    Zero,
    /// The word that the peer has published under this key (S2-9). Needs
    /// [`Features::PUBLISHED_READ`].
    Published(u32),
}

/// How a remote read ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadEnd {
    /// The word is there, or there was nothing to read: the other end lives.
    Ok(u32),
    /// The other end has refused: it lives (S2-10).
    AccessError,
    /// Nobody has answered within the retry bound (S2-11).
    RetryExhausted,
    /// The own engine was stopped, or answers what has no name: nothing is known (S2-13).
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

/// Why a read was not begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadError {
    /// The last one has not ended.
    Busy,
    /// The engine does not have this kind.
    NotSupported,
    /// No node has this number.
    BadNode,
}

lnd_core::sentences! { ReadError {
    Self::Busy => "the last read has not ended",
    Self::NotSupported => "the engine has no reads of this kind",
    Self::BadNode => "no node has this number",
}}

/// The driver's side of remote reads of one link. There is one for each link. Context: any one at a
/// time.
#[derive(Clone, Copy, Debug)]
pub struct RemoteReads<R> {
    registers: R,
    bell: u32,
    under_way: bool,
}

impl<R: RegisterAccess> RemoteReads<R> {
    /// Takes up the registers where they are: an answer that is still to come belongs to nobody.
    pub fn new(registers: R) -> Self {
        let bell = registers.read(Register::ReadBell);
        Self { registers, bell, under_way: false }
    }

    /// Whether the engine has this kind of read. One that does not identify itself has none.
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
    /// [`ReadError`]; nothing was begun.
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
        // As the device has it: a ring of ours may have been lost on the way.
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

    /// How the read ended, if it has: once.
    pub fn poll(&mut self) -> Option<ReadEnd> {
        if !self.has_answer() {
            return None;
        }
        self.under_way = false;
        let word = self.registers.read(Register::ReadWord);
        let end = ReadEnd::from_registers(self.registers.read(Register::ReadEnd), word);
        // What a device says that is not there any more is worth nothing.
        Some(if identity::is_right(&self.registers) { end } else { ReadEnd::Aborted })
    }

    /// Whether somebody waits for an answer that has not come.
    pub fn is_under_way(&self) -> bool {
        self.under_way && !self.has_answer()
    }

    /// Whether [`poll`](Self::poll) has something to say.
    pub fn has_answer(&self) -> bool {
        self.under_way && self.registers.read(Register::ReadDone) == self.bell
    }

    /// Nobody waits for the answer any more; the next read can begin when it has come.
    pub fn give_up(&mut self) {
        self.under_way = false;
    }
}
