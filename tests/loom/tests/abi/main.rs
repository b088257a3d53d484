// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The words of the C ABI, through its own functions (R65): who is inside, who parses, who runs,
//! who has been woken; what interrupts leave for the thread, and what they have counted.
//!
//! Property: of two contexts that would be inside the same half one is told `LND_E_BUSY`, whatever
//! the platform's lock does, and nothing is lost by it; an end that was called for is waited for;
//! who was told that there is work finds it.
#![cfg(loom)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
// A context pointer and a record under one argument read better than one block each.
#![allow(clippy::multiple_unsafe_ops_per_block)]

mod health;
mod host;
mod inside;
mod interrupts;
mod outside;
mod platform;
mod wake;
