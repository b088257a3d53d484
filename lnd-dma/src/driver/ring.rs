// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the completion ring's sequence words can show.

use lnd_core::sync::Ordering;

use super::identity;
use crate::memory::LinkMemory;
use crate::regs::{Register, RegisterAccess};

/// Whether an entry, with this sequence word, waits for the engine at an index: its word is that of
/// an initialised ring or of the last lap.
pub(super) const fn waits(memory: LinkMemory<'_>, sequence: u32, index: u32) -> bool {
    let ahead = sequence.wrapping_sub(index);
    ahead == 0 || ahead == 1_u32.wrapping_sub(memory.ring())
}

/// Whether the consumer can no longer get past the entry at its head, whatever the engine posts:
/// its sequence word is neither that of an entry that waits for the engine nor that of one that
/// waits for the consumer. `start`: the first index after the last reset.
///
/// A hint. The consumer moves on meanwhile, in an interrupt.
pub(super) fn is_stuck(
    registers: &impl RegisterAccess,
    memory: LinkMemory<'_>,
    start: u32,
) -> bool {
    let head = registers.read(Register::CompletionHead);
    // Relaxed: only the word itself counts.
    let sequence = memory.completion(head).sequence.load(Ordering::Relaxed);
    let has = |index: u32| waits(memory, sequence, index) || sequence == index.wrapping_add(1);
    // After a reset the head is that of the old ring until the consumer looks: the entry in its
    // place has an index of the new one.
    let place = head.wrapping_sub(start) & memory.ring().wrapping_sub(1);
    // A head that no working device shows says nothing.
    !has(head) && !has(start.wrapping_add(place)) && identity::is_right(registers)
}
