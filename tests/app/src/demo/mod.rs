// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The demonstration: two nodes with two links each, threads in real time. Every file goes A→B by
//! PUT, comes back by GET, and is compared; meanwhile a link fails and a node dies and is
//! restarted.
//!
//! `script.rs` is the script, `incarnation.rs` one incarnation of a node, `files.rs` what is sent,
//! `report.rs` what is told at the end.

mod files;
mod incarnation;
mod percentiles;
mod report;
mod script;

use std::path::PathBuf;
use std::time::Duration;

pub use report::Outcome;

/// What to demonstrate.
#[derive(Clone, Debug)]
pub struct Options {
    /// Every regular file below is sent; build output, version control data
    /// and fabrics are left out.
    pub dir: PathBuf,
    /// Bytes of the generated set beside it.
    pub generated: u64,
    /// Below which directory the generated set lies while the run lasts; `None`: the build folder
    /// if there is one, else that for temporary files.
    pub scratch: Option<PathBuf>,
    /// Whether links fail and nodes die.
    pub failures: bool,
    /// Bound on everything.
    pub bound: Duration,
    /// Whether progress bars are drawn.
    pub progress: bool,
}

/// Runs the demonstration.
///
/// # Errors
/// It could not be set up, or was stopped; what went wrong while it ran is in the outcome.
pub fn run(options: &Options) -> Result<Outcome, Box<dyn std::error::Error + Send + Sync>> {
    script::run(options)
}
