// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The result of a step.

/// The result of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes moved.
    pub bytes: u32,
    /// Completions posted; they raise an interrupt unless it is masked.
    pub completions: u32,
    /// Work is under way: step again soon. Otherwise step again after a doorbell or another node's
    /// engine.
    pub busy: bool,
}
