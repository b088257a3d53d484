// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Sets of nodes in registers, one bit each: the nodes whose connections must stop, and those whose
//! connections have stopped.

use crate::regs::{Register, RegisterAccess};

/// Number of nodes whose connections can be stopped one by one: those with a bit.
pub(crate) const CONNECTED_NODES: u32 = 64;

/// The words of connections that must stop.
pub(crate) const CUT: [Register; 2] = [Register::CutLow, Register::CutHigh];
/// The words of connections that have stopped.
pub(crate) const PARTED: [Register; 2] = [Register::PartedLow, Register::PartedHigh];

/// The bit of a node; 0 for a node beyond the words.
pub(crate) const fn bit_of(node: u32) -> u64 {
    if node < CONNECTED_NODES {
        1 << node
    } else {
        0
    }
}

/// Reads a set, its low word first.
pub(crate) fn read_set(registers: &impl RegisterAccess, [low, high]: [Register; 2]) -> u64 {
    let low = registers.read(low);
    u64::from(low) | u64::from(registers.read(high)) << 32
}

/// Writes a set, its low word first.
pub(crate) fn write_set(registers: &impl RegisterAccess, [low, high]: [Register; 2], nodes: u64) {
    registers.write(low, nodes as u32);
    registers.write(high, (nodes >> 32) as u32);
}
