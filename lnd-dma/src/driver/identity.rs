// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Checks whether a device is present.

use crate::regs::{Register, RegisterAccess, MAGIC};

/// Whether the device identifies itself. A bus without an answer reads all ones, a bus without a
/// device all zeros; neither is the magic number.
pub(crate) fn is_right(registers: &impl RegisterAccess) -> bool {
    registers.read(Register::Magic) == MAGIC
}
