// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Which events the runs of many seeds have reached, and which none has.

use std::collections::BTreeMap;
use std::fmt;

/// How often something occurred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    /// Runs in which it occurred.
    pub seeds: u64,
    /// In all of them together.
    pub times: u64,
}

/// Events of many runs, by group and name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Runs.
    pub seeds: u64,
    events: BTreeMap<(&'static str, String), Reached>,
}

impl Coverage {
    /// Adds a run: everything that can occur, and how often it did.
    pub fn add(&mut self, events: impl IntoIterator<Item = (&'static str, String, u64)>) {
        self.seeds += 1;
        for (group, name, times) in events {
            let reached = self.events.entry((group, name)).or_default();
            reached.seeds += u64::from(times > 0);
            reached.times += times;
        }
    }

    /// Adds other runs.
    pub fn merge(&mut self, other: &Self) {
        self.seeds += other.seeds;
        for (event, theirs) in &other.events {
            let mine = self.events.entry(event.clone()).or_default();
            mine.seeds += theirs.seeds;
            mine.times += theirs.times;
        }
    }

    /// Every event that is known, by group and name.
    pub fn events(&self) -> impl Iterator<Item = (&'static str, &str, Reached)> {
        self.events.iter().map(|((group, name), reached)| (*group, name.as_str(), *reached))
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.events.len();
        let reached = self.events.values().filter(|it| it.seeds > 0).count();
        write!(f, "{reached} of {all} events were reached in {} seeds", self.seeds)?;
        let mut last = "";
        for (group, name, it) in self.events().filter(|(.., it)| it.seeds > 0) {
            if group != last {
                write!(f, "\n  {group:<32} {:>9} {:>12}", "seeds", "times")?;
                last = group;
            }
            write!(f, "\n    {name:<30} {:>9} {:>12}", it.seeds, it.times)?;
        }
        let missed: Vec<String> = self
            .events()
            .filter(|(.., it)| it.seeds == 0)
            .map(|(group, name, _)| format!("\n    {name} ({group})"))
            .collect();
        if !missed.is_empty() {
            write!(f, "\n  in no seed{}", missed.concat())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Coverage;

    #[test]
    fn what_no_run_has_reached_is_named() {
        let (mut coverage, mut other) = (Coverage::default(), Coverage::default());
        coverage.add([("fault", "deaths".into(), 2), ("counter", "cancels".into(), 0)]);
        other.add([("fault", "deaths".into(), 1), ("counter", "cancels".into(), 0)]);
        coverage.merge(&other);
        let text = coverage.to_string();
        assert!(text.starts_with("1 of 2 events were reached in 2 seeds"), "{text}");
        assert!(text.contains("deaths                                 2            3"), "{text}");
        assert!(text.ends_with("in no seed\n    cancels (counter)"), "{text}");
    }
}
