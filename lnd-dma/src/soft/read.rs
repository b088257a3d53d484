// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Remote reads: reach the other engine's registers, or retry until the retry bound; then the
//! access check (S2-4 to S2-12).

use lnd_core::time::Instant;

use super::pull::{control_of, has_link};
use super::{Fabric, Faults, SoftEngine};
use crate::memory::LinkMemory;
use crate::read::{ReadEnd, WORD};
use crate::regs::{ControlBits, ErrorBits, Register, RegisterAccess, StatusBits};

impl<'m, F: Fabric<'m>, A: Faults> SoftEngine<'m, F, A> {
    /// Whether the driver awaits the answer to a read.
    fn read_wanted(&self) -> bool {
        self.memory.read(Register::ReadBell) != self.memory.read(Register::ReadDone)
    }

    /// One attempt at the read, if there is one.
    pub(super) fn read_some(&mut self, now: Instant) {
        if !self.read_wanted() {
            self.read_since = None;
            return;
        }
        let since = *self.read_since.get_or_insert(now);
        let node = self.memory.read(Register::ReadNode);
        let end = match self.reach_registers(node) {
            Some(peer) => self.check_access(&peer),
            None if now.since(since) < self.settings.retry_bound => {
                self.progress.busy = true;
                return;
            }
            None => ReadEnd::RetryExhausted,
        };
        self.end_read(end);
        if end == ReadEnd::AccessError {
            self.error(ErrorBits::REMOTE_ACCESS);
            self.broken = self.faults.bad_read_breaks();
        }
    }

    /// Ends a read at a stop: its answer is then unknown.
    pub(super) fn abort_read(&mut self) {
        if self.read_wanted() {
            self.end_read(ReadEnd::Aborted);
        }
    }

    /// The registers of the other node's engine, if it answers: the node is present, its link has a
    /// clock, and the engine runs.
    fn reach_registers(&self, node: u32) -> Option<LinkMemory<'m>> {
        if !self.fabric.alive(node) {
            return None;
        }
        let memory = self.fabric.memory_of(node, self.link)?;
        let status = StatusBits::from_bits_retain(memory.read(Register::Status));
        let answers = status.contains(StatusBits::RUNNING)
            && has_link(&memory)
            && !control_of(&memory).contains(ControlBits::STOP);
        answers.then_some(memory)
    }

    fn check_access(&self, peer: &LinkMemory<'_>) -> ReadEnd {
        let (key, length) =
            (self.memory.read(Register::ReadKey), self.memory.read(Register::ReadLength));
        if length == 0 {
            return ReadEnd::Ok(0);
        }
        // The key is read before and after the word: a word that is being replaced is not
        // published, and a withdrawn word is not returned under the next key.
        let before = peer.read(Register::PublishedKey);
        let word = peer.read(Register::PublishedWord);
        let after = peer.read(Register::PublishedKey);
        if length == WORD && key != 0 && key == before && key == after {
            ReadEnd::Ok(word)
        } else {
            ReadEnd::AccessError
        }
    }

    fn end_read(&mut self, end: ReadEnd) {
        let word = if let ReadEnd::Ok(word) = end { word } else { 0 };
        self.memory.write(Register::ReadWord, word);
        self.memory.write(Register::ReadEnd, end.to_register());
        self.memory.write(Register::ReadDone, self.memory.read(Register::ReadBell));
        self.read_since = None;
    }
}
