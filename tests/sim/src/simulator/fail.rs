// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A broken rule, and what is printed about it.

use std::collections::BTreeMap;
use std::fmt;

use lnd_core::id::Tag;
use lnd_core::time::Instant;

/// Every requirement by its id: what was promised.
const REQUIREMENTS: &str = include_str!("../../../../docs/spec/requirements.txt");

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
    /// What the adversary had done by then, and how often.
    pub faults: BTreeMap<&'static str, u64>,
    /// What to type to see it again.
    pub command: String,
}

impl Failure {
    /// Nothing has run: what was asked for cannot be.
    pub fn refused(seed: u64, what: String, command: String) -> Self {
        let (last, faults) = (Vec::new(), BTreeMap::new());
        Self { seed, step: 0, at: Instant::ORIGIN, what, last, faults, command }
    }

    /// The requirement that was not kept, by its id and in words, if the rule names one.
    pub fn promise(&self) -> Option<(&'static str, &'static str)> {
        REQUIREMENTS.lines().find_map(|line| {
            let (id, rest) = line.split_once(char::is_whitespace)?;
            let (_, promise) = rest.trim_start().split_once(char::is_whitespace)?;
            let is_named = id != "#" && id == self.rule();
            is_named.then(|| (id, promise.trim_start()))
        })
    }

    /// What has happened, without the id of the rule.
    pub fn happened(&self) -> &str {
        match self.promise() {
            Some((id, _)) => {
                self.what.strip_prefix(id).unwrap_or(&self.what).trim_start_matches([':', ' '])
            }
            None => &self.what,
        }
    }

    /// The rule that is broken: the first words, without numbers and circumstances.
    pub fn rule(&self) -> &str {
        self.what.split(':').next().unwrap_or_default()
    }

    /// A plan with which the run fails so, as a file, which says at its head what it shows and how.
    pub fn as_plan(&self, file: &str, plan: &str) -> String {
        let what = self.what.replace('\n', " ");
        let again = self.again(file);
        format!("# {what}\n# {again}\n{plan}")
    }

    /// What to type to see it with the plan in this file.
    pub fn again(&self, file: &str) -> String {
        let seeded = self.command.find(" --defect ").map_or("", |at| &self.command[at..]);
        format!("lnd sim --seed {} --faults {file}{seeded}", self.seed)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.step == 0 {
            return write!(f, "NOT RUN seed {}: {}\nagain: {}", self.seed, self.what, self.command);
        }
        let seconds = Seconds(self.at);
        writeln!(f, "FAILED seed {} step {} at {seconds}", self.seed, self.step)?;
        if let Some((id, promise)) = self.promise() {
            writeln!(f, "  promised  {id}: {promise}")?;
        }
        writeln!(f, "  happened  {}", self.happened())?;
        if !self.faults.is_empty() {
            let faults: Vec<String> =
                self.faults.iter().map(|(what, count)| format!("{what} {count}")).collect();
            writeln!(f, "  before    {}", faults.join(", "))?;
        }
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
