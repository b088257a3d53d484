// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Whether a device is there at all.

use crate::regs::{Register, RegisterAccess, MAGIC};

/// Whether the device identifies itself: a bus that does not answer reads all ones, one without a
/// device all zeros, and neither is the magic number.
pub(crate) fn is_right(registers: &impl RegisterAccess) -> bool {
    registers.read(Register::Magic) == MAGIC
}
