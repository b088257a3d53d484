// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file packs a [`Trace`](super::Trace) into few bytes and unpacks it: for firmware without
//! text, and for the reader of what that leaves behind.
//!
//! A record is its own length, the number of the variant, the time, and the fields in the order of
//! their declaration. Numbers are in base 128, least digit first. The highest bit means that
//! another digit follows. The host decodes into the very same enum, so names and values cannot
//! differ from those of the simulator.

mod read;
mod write;

pub use read::{decode, Malformed};
pub use write::encode;

/// Longest record in bytes.
pub const MAX_RECORD: usize = 48;

/// Numbers of the variants. A number is never given to another variant.
mod kind {
    pub const ACCEPTED: u8 = 1;
    pub const STEP: u8 = 2;
    pub const STALE: u8 = 3;
    pub const POSTED: u8 = 4;
    pub const INVALIDATED: u8 = 5;
    pub const RECLAIMED: u8 = 6;
    pub const SENT: u8 = 7;
    pub const RECEIVED: u8 = 8;
    pub const PEER: u8 = 9;
    pub const LINK: u8 = 10;
    pub const FINALIZED: u8 = 11;
    pub const ENDED: u8 = 12;
    pub const CONNECTION: u8 = 13;
}

#[cfg(test)]
mod tests;
