// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Lines of memory, and how much of a message fits in one.

use core::mem::size_of;

/// One cache line of mailbox memory.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Line([u8; 64]);

impl Line {
    /// A line of zeros.
    pub const ZERO: Self = Self([0; 64]);
}

/// Bytes of a slot before the payload: the sequence word and the length.
pub(super) const SLOT_HEAD: u32 = 8;

/// Longest message in bytes that travels in one cache line.
pub const FIRST_LINE: usize = size_of::<Line>() - SLOT_HEAD as usize;
