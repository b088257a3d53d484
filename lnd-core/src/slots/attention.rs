// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file names the reasons for which the shard's thread is to look: bits of the attention word.

use crate::base::id::LinkId;

/// Some transfer may have to be cancelled or invalidated: sweep.
pub const SWEEP: u32 = 1 << 0;
/// A hello was not delivered.
pub const UNHEARD: u32 = 1 << 1;

/// A link has failed.
pub const fn failed(link: LinkId) -> u32 {
    1 << (8 + link.index() as u32)
}

/// The device of a link is gone.
pub const fn gone(link: LinkId) -> u32 {
    1 << (16 + link.index() as u32)
}
