// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! An engine's registers by their offset, as a driver reaches them over a bus
//! (`docs/registers.md`).

use core::mem::offset_of;

use lnd_core::sync::Ordering;
use lnd_dma::memory::LinkMemory;
use lnd_dma::regs::{Register, RegisterAccess, RegisterBlock};

/// The register at a byte offset, if it is one of those that a driver uses.
pub const fn register_at(offset: u32) -> Option<Register> {
    const NAMED: [(usize, Register); 29] = [
        (offset_of!(RegisterBlock, magic), Register::Magic),
        (offset_of!(RegisterBlock, features), Register::Features),
        (offset_of!(RegisterBlock, control), Register::Control),
        (offset_of!(RegisterBlock, status), Register::Status),
        (offset_of!(RegisterBlock, post_tail), Register::PostTail),
        (offset_of!(RegisterBlock, post_head), Register::PostHead),
        (offset_of!(RegisterBlock, completion_head), Register::CompletionHead),
        (offset_of!(RegisterBlock, stage_bell), Register::StageBell),
        (offset_of!(RegisterBlock, invalidate_bell), Register::InvalidateBell),
        (offset_of!(RegisterBlock, interrupt_mask), Register::InterruptMask),
        (offset_of!(RegisterBlock, interrupt), Register::Interrupt),
        (offset_of!(RegisterBlock, link), Register::Link),
        (offset_of!(RegisterBlock, read_node), Register::ReadNode),
        (offset_of!(RegisterBlock, read_key), Register::ReadKey),
        (offset_of!(RegisterBlock, read_length), Register::ReadLength),
        (offset_of!(RegisterBlock, read_bell), Register::ReadBell),
        (offset_of!(RegisterBlock, published_key), Register::PublishedKey),
        (offset_of!(RegisterBlock, published_word), Register::PublishedWord),
        (offset_of!(RegisterBlock, post_start), Register::PostStart),
        (offset_of!(RegisterBlock, completion_start), Register::CompletionStart),
        (offset_of!(RegisterBlock, read_done), Register::ReadDone),
        (offset_of!(RegisterBlock, read_end), Register::ReadEnd),
        (offset_of!(RegisterBlock, read_word), Register::ReadWord),
        (offset_of!(RegisterBlock, cut_low), Register::CutLow),
        (offset_of!(RegisterBlock, cut_high), Register::CutHigh),
        (offset_of!(RegisterBlock, cut_round), Register::CutRound),
        (offset_of!(RegisterBlock, parted_low), Register::PartedLow),
        (offset_of!(RegisterBlock, parted_high), Register::PartedHigh),
        (offset_of!(RegisterBlock, parted_round), Register::PartedRound),
    ];
    let mut at = 0;
    while at < NAMED.len() {
        if NAMED[at].0 == offset as usize {
            return Some(NAMED[at].1);
        }
        at += 1;
    }
    None
}

/// Reads a register; `None` if there is none at this offset.
pub fn read(memory: &LinkMemory<'_>, offset: u32) -> Option<u32> {
    if let Some(register) = register_at(offset) {
        return Some(memory.read(register));
    }
    let block = memory.registers();
    let constants = [
        (offset_of!(RegisterBlock, version), &block.version),
        (offset_of!(RegisterBlock, descriptors), &block.descriptors),
        (offset_of!(RegisterBlock, post_size), &block.post_size),
        (offset_of!(RegisterBlock, completion_size), &block.completion_size),
        (offset_of!(RegisterBlock, lists), &block.lists),
        (offset_of!(RegisterBlock, node), &block.node),
        (offset_of!(RegisterBlock, completion_tail), &block.completion_tail),
        (offset_of!(RegisterBlock, error), &block.error),
        (offset_of!(RegisterBlock, errors), &block.errors),
    ];
    let found = constants.iter().find(|(at, _)| *at == offset as usize)?;
    // Relaxed: constants and snapshots.
    Some(found.1.load(Ordering::Relaxed))
}

/// Writes a register for the driver. Returns whether the engine must be stepped for it, or `None`
/// if there is no writable register at this offset.
pub fn write(memory: &LinkMemory<'_>, offset: u32, value: u32) -> Option<bool> {
    use Register::{
        CompletionHead, CompletionStart, Control, CutHigh, CutLow, CutRound, Features, Interrupt,
        InterruptMask, InvalidateBell, Link, Magic, PartedHigh, PartedLow, PartedRound, PostHead,
        PostStart, PostTail, PublishedKey, PublishedWord, ReadBell, ReadDone, ReadEnd, ReadKey,
        ReadLength, ReadNode, ReadWord, StageBell, Status,
    };
    let register = register_at(offset)?;
    let bell = match register {
        // The engine may also wait for room in the completion ring, or for an interrupt that is now
        // armed.
        Control | InterruptMask | PostTail | StageBell | InvalidateBell | ReadBell | CutRound
        | CompletionHead => true,
        Interrupt | PostStart | CompletionStart | ReadNode | ReadKey | ReadLength
        | PublishedKey | PublishedWord | CutLow | CutHigh => false,
        Magic | Features | Status | PostHead | Link | ReadDone | ReadEnd | ReadWord | PartedLow
        | PartedHigh | PartedRound => return None,
    };
    memory.write(register, value);
    Some(bell)
}
