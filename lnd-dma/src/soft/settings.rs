// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The settings of an engine.

use lnd_core::time::Span;

/// The settings of an engine.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Most bytes moved per pull and step, at least one. It bounds how long an invalidation or a
    /// stop waits.
    pub chunk: u32,
    /// How long a pull retries a source that does not answer.
    pub retry_bound: Span,
}

impl Default for Settings {
    fn default() -> Self {
        Self { chunk: 256 * 1024, retry_bound: Span::from_secs(1) }
    }
}
