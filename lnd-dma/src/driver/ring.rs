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

/// Whether completions can no longer arrive. `start`: the first index after the last reset. Two
/// rings are stuck:
///
/// - The consumer cannot get past the entry at its head: the sequence word is neither that of an
///   entry that waits for the engine nor that of one that waits for the consumer.
/// - The engine has no room, since all entries from the head on wait for the consumer. Its writes
///   of COMPLETION_HEAD are lost while the registers read all ones. If the ring fills meanwhile,
///   there is never another interrupt in which the consumer would write it again.
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
    // The engine needs two free entries, and posts in order: this is the last one that it posts.
    let last = head.wrapping_add(memory.ring()).wrapping_sub(2);
    // Relaxed: only the word itself counts.
    let posted = memory.completion(last).sequence.load(Ordering::Relaxed);
    let is_full = sequence == head.wrapping_add(1) && posted == last.wrapping_add(1);
    let is_cut_off = !has(head) && !has(start.wrapping_add(place));
    // A head that no working device shows says nothing.
    (is_full || is_cut_off) && identity::is_right(registers)
}
