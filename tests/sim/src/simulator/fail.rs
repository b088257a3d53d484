// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A broken rule, and what is printed about it.

use std::fmt;

use lnd_core::id::Tag;
use lnd_core::time::Instant;

/// A broken rule, where it was found.
#[derive(Clone, Debug)]
pub struct Violation {
    /// What was broken: the invariant and the circumstances.
    pub what: String,
    /// The node concerned, if it is one.
    pub node: Option<u32>,
    /// The transfer concerned, if it is known.
    pub tag: Option<Tag>,
}

impl Violation {
    /// A rule broken at a node.
    pub fn at(node: u32, what: impl Into<String>) -> Self {
        Self { what: what.into(), node: Some(node), tag: None }
    }

    /// A rule broken by one transfer.
    pub fn of(node: u32, tag: Tag, what: impl Into<String>) -> Self {
        Self { what: what.into(), node: Some(node), tag: Some(tag) }
    }

    /// A rule broken by the world as a whole.
    pub fn whole(what: impl Into<String>) -> Self {
        Self { what: what.into(), node: None, tag: None }
    }
}

/// A run that failed: everything needed to see it again.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The seed.
    pub seed: u64,
    /// The step in which it was found.
    pub step: u64,
    /// The virtual time.
    pub at: Instant,
    /// What was broken.
    pub what: String,
    /// The last transitions of the objects involved.
    pub last: Vec<String>,
    /// What to type to see it again.
    pub command: String,
}

impl Failure {
    /// Nothing has run: what was asked for cannot be.
    pub const fn refused(seed: u64, what: String, command: String) -> Self {
        Self { seed, step: 0, at: Instant::ORIGIN, what, last: Vec::new(), command }
    }

    /// The rule that is broken: the first words, without numbers and circumstances.
    pub fn rule(&self) -> &str {
        self.what.split(':').next().unwrap_or_default()
    }

    /// A plan with which the run fails so, as a file, which says at its head what it shows and how.
    pub fn as_plan(&self, file: &str, plan: &str) -> String {
        let what = self.what.replace('\n', " ");
        format!("# {what}\n# lnd sim --seed {} --faults {file}\n{plan}", self.seed)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = Seconds(self.at);
        writeln!(f, "FAILED seed {} step {} at {seconds}: {}", self.seed, self.step, self.what)?;
        for line in &self.last {
            writeln!(f, "  {line}")?;
        }
        write!(f, "again: {}", self.command)
    }
}

impl std::error::Error for Failure {}

/// A time, in seconds with six digits behind the point.
pub struct Seconds(pub Instant);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = self.0.as_nanos() / 1_000;
        write!(f, "{}.{:06} s", micros / 1_000_000, micros % 1_000_000)
    }
}
