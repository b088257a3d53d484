// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The interrupt's half: acknowledges, and takes completions. It shares only device memory with the
//! thread's half.

use lnd_core::id::Tag;
use lnd_core::ports::{Completion, Completions, Returned};
use lnd_core::sync::{fence, Ordering};

use super::{identity, ring};
use crate::completion;
use crate::memory::LinkMemory;
use crate::regs::{ControlBits, InterruptBits, Register, RegisterAccess};

/// Most invalid entries that one call skips.
const SKIP: u32 = 16;

/// The consumer of one completion ring. Each ring has one.
#[derive(Debug)]
pub struct CompletionQueue<'m, R> {
    registers: R,
    memory: LinkMemory<'m>,
    head: u32,
    /// The first index of the ring.
    start: u32,
    nonsense: u32,
}

impl<'m, R: RegisterAccess> CompletionQueue<'m, R> {
    /// The consumer, starting where the last one stopped.
    pub fn new(registers: R, memory: LinkMemory<'m>) -> Self {
        let head = registers.read(Register::CompletionHead);
        let start = registers.read(Register::CompletionStart);
        Self { registers, memory, head, start, nonsense: 0 }
    }

    /// Invalid entries: an index beyond the table, or an unknown status.
    pub const fn nonsense(&self) -> u32 {
        self.nonsense
    }

    /// Whether an entry is available. A hint.
    pub fn is_empty(&self) -> bool {
        let sequence = self.memory.completion(self.head).sequence.load(Ordering::Relaxed);
        sequence != self.head.wrapping_add(1) && self.begins_anew(sequence).is_none()
    }

    /// Acknowledges the interrupt. Returns its bits, or `None` if no working device shows them. In
    /// that case nothing is written and the bits have no meaning: the device is gone (INV-3).
    pub fn acknowledge(&mut self) -> Option<InterruptBits> {
        let bits = InterruptBits::from_bits_retain(self.registers.read(Register::Interrupt));
        if !bits.is_possible() {
            return None;
        }
        if !bits.is_empty() {
            self.registers.write(Register::Interrupt, bits.bits());
        }
        Some(bits)
    }

    /// The ring's new first index, if it was reset since the last call. The entry at our head is
    /// not valid. The registers are read if its sequence word is neither that of an initialised
    /// ring nor that of the last lap.
    fn begins_anew(&self, sequence: u32) -> Option<u32> {
        if ring::waits(self.memory, sequence, self.head) {
            return None;
        }
        // Checked before and after: a start is written while STOP is set, and is valid once STOP is
        // clear.
        let before = self.registers.read(Register::Control);
        let start = self.registers.read(Register::CompletionStart);
        let control = ControlBits(self.registers.read(Register::Control));
        let runs = before == control.0 && !control.contains(ControlBits::STOP);
        (runs && start != self.start && identity::is_right(&self.registers)).then_some(start)
    }
}

impl<R: RegisterAccess> Completions for CompletionQueue<'_, R> {
    fn pop(&mut self) -> Option<Completion> {
        for _ in 0..SKIP {
            let entry = self.memory.completion(self.head);
            // Acquire: partner is the engine's Release store of the sequence word, its last write.
            let sequence = entry.sequence.load(Ordering::Acquire);
            if sequence != self.head.wrapping_add(1) {
                self.start = self.begins_anew(sequence)?;
                self.head = self.start;
                self.registers.write(Register::CompletionHead, self.head);
                continue;
            }
            let tag = Tag {
                index: entry.index.load(Ordering::Relaxed),
                generation: entry.generation.load(Ordering::Relaxed),
            };
            let status = entry.status.load(Ordering::Relaxed);
            // Acquire: partner is the Release fence in the engine's `post`. If a field is from the
            // ring after a reset, then so is the sequence word now.
            fence(Ordering::Acquire);
            if entry.sequence.load(Ordering::Relaxed) != sequence {
                continue;
            }
            self.head = self.head.wrapping_add(1);
            self.registers.write(Register::CompletionHead, self.head);
            if tag.index >= self.memory.geometry().descriptors {
                self.nonsense = self.nonsense.wrapping_add(1);
                continue;
            }
            let returned = match completion::decode(status) {
                Some(returned) => returned,
                None => {
                    // The descriptor is back with an unknown outcome: assume the worst.
                    self.nonsense = self.nonsense.wrapping_add(1);
                    Returned::Touched
                }
            };
            return Some(Completion { tag, returned });
        }
        None
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use core::ptr::NonNull;

    use super::*;
    use crate::memory::LinkGeometry;

    #[repr(align(64))]
    struct Block([u32; 256]);

    #[test]
    fn an_empty_ring_has_nothing_to_take() {
        let mut block = Block([0; 256]);
        let base = NonNull::from(&mut block.0).cast();
        let geometry = LinkGeometry { descriptors: 2, lists: 0 };
        // SAFETY: the block outlives the memory, which alone is used from now on.
        let memory = unsafe { LinkMemory::format(base, 1024, geometry, 0, 0, 7) }.unwrap();
        let mut queue = CompletionQueue::new(memory, memory);
        assert!(queue.is_empty());
        assert_eq!(queue.pop(), None);
        assert_eq!(queue.nonsense(), 0);
    }
}
