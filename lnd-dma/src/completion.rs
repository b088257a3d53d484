// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A completion's status word: `reason 16 | code 16`.

use lnd_core::ports::Returned;

use crate::regs::ErrorBits;

const OK: u32 = 1;
const UNTOUCHED: u32 = 2;
const TOUCHED: u32 = 3;

/// The status word of an outcome.
pub const fn encode(returned: Returned, cause: ErrorBits) -> u32 {
    let code = match returned {
        Returned::Ok => OK,
        Returned::Untouched => UNTOUCHED,
        Returned::Touched => TOUCHED,
    };
    code | (cause.0 << 16)
}

/// The outcome of a status word; `None` for an unknown one.
pub const fn decode(status: u32) -> Option<Returned> {
    match status & 0xffff {
        OK => Some(Returned::Ok),
        UNTOUCHED => Some(Returned::Untouched),
        TOUCHED => Some(Returned::Touched),
        _ => None,
    }
}
