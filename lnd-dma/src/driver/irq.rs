// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The interrupt's half: takes completions. It shares with the thread's half nothing but device
//! memory.

use lnd_core::defect::seeded;
use lnd_core::id::Tag;
use lnd_core::ports::{Completion, Completions, Returned};
use lnd_core::sync::Ordering;

use crate::completion;
use crate::memory::LinkMemory;
use crate::regs::{Register, RegisterAccess};

/// Nonsensical entries that one call skips at most.
const SKIP: u32 = 16;

/// The consumer of one completion ring. There is one per ring.
#[derive(Debug)]
pub struct CompletionQueue<'m, R> {
    registers: R,
    memory: LinkMemory<'m>,
    head: u32,
    nonsense: u32,
}

impl<'m, R: RegisterAccess> CompletionQueue<'m, R> {
    /// The consumer, beginning where the last one has stopped.
    pub fn new(registers: R, memory: LinkMemory<'m>) -> Self {
        let head = registers.read(Register::CompletionHead);
        Self { registers, memory, head, nonsense: 0 }
    }

    /// Entries that made no sense: an index beyond the table, or an unknown status.
    pub const fn nonsense(&self) -> u32 {
        self.nonsense
    }

    /// Whether an entry waits. A hint.
    pub fn is_empty(&self) -> bool {
        let sequence = self.memory.completion(self.head).sequence.load(Ordering::Relaxed);
        sequence != self.head.wrapping_add(1)
    }
}

impl<R: RegisterAccess> Completions for CompletionQueue<'_, R> {
    fn pop(&mut self) -> Option<Completion> {
        for _ in 0..SKIP {
            let entry = self.memory.completion(self.head);
            // Acquire: partner is the engine's Release store of the sequence word, its last.
            if entry.sequence.load(Ordering::Acquire) != self.head.wrapping_add(1) {
                return None;
            }
            let tag = Tag {
                index: entry.index.load(Ordering::Relaxed),
                generation: entry.generation.load(Ordering::Relaxed),
            };
            let status = entry.status.load(Ordering::Relaxed);
            self.head = self.head.wrapping_add(1);
            self.registers.write(Register::CompletionHead, self.head);
            if tag.index >= self.memory.geometry().descriptors {
                self.nonsense = self.nonsense.wrapping_add(1);
                continue;
            }
            let returned = match completion::decode(status) {
                Some(returned) => returned,
                None => {
                    // The descriptor is back, and nobody knows how: the worst is assumed.
                    self.nonsense = self.nonsense.wrapping_add(1);
                    if seeded("nonsense-is-ok") {
                        Returned::Ok
                    } else {
                        Returned::Touched
                    }
                }
            };
            return Some(Completion { tag, returned });
        }
        None
    }
}
