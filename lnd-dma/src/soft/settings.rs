// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! How an engine works.

use lnd_core::time::Span;

/// How an engine works.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Most bytes moved per pull and step, at least one: also how long a recall or a stop waits at
    /// most.
    pub chunk: u32,
    /// How long a pull tries to reach a source that does not answer.
    pub retry_bound: Span,
}

impl Default for Settings {
    fn default() -> Self {
        Self { chunk: 256 * 1024, retry_bound: Span::from_secs(1) }
    }
}
