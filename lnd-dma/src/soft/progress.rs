// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a step has done.

/// What a step has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes moved.
    pub bytes: u32,
    /// Completions posted: an interrupt, if it is not masked.
    pub completions: u32,
    /// Something is under way: step again soon. Otherwise a doorbell or another node's engine will
    /// give the next reason.
    pub busy: bool,
}
