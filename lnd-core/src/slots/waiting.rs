// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file holds what a transfer needs only while it waits in a queue.

use super::state::NONE;
use crate::base::message::MAX_HEADER;

/// What a waiting transfer needs beside its slot. It is stored apart, so that other transfers do
/// not touch it. Context: the shard's owner.
#[derive(Clone, Copy, Debug, Hash)]
pub(crate) struct Waiting {
    /// Neighbours in the queue, which is a ring.
    pub previous: u32,
    pub next: u32,
    /// The upper layer's header of a request of ours, of the length in its slot. For a pull that
    /// waits, the key of its source.
    pub header: [u8; MAX_HEADER],
}

static_assertions::const_assert_eq!(core::mem::size_of::<Waiting>(), 104);

impl Waiting {
    pub const NOTHING: Self = Self { previous: NONE, next: NONE, header: [0; MAX_HEADER] };
}
