// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What is told at the end.

use std::collections::BTreeMap;
use std::fmt;

use lnd_core::counters::{Counter, Counters};
use lnd_core::time::Span;
use lnd_sim::node::Stats;
use serde_json::{json, Map, Value};

use super::files::Item;
use super::incarnation::{Remains, FAILURE_COUNTERS};
use super::percentiles::Latencies;
use crate::files::JobError;

/// What a failure did to one node.
#[derive(Clone, Debug)]
pub struct Failure {
    what: &'static str,
    seen_by: &'static str,
    counts: Vec<(Counter, u64)>,
    took: Option<Span>,
}

impl Failure {
    /// From counters before and after.
    pub fn new(
        what: &'static str,
        seen_by: &'static str,
        before: &Counters,
        after: &Counters,
        took: Option<Span>,
    ) -> Self {
        let counts = FAILURE_COUNTERS
            .iter()
            .map(|&counter| (counter, after.value(counter) - before.value(counter)))
            .collect();
        Self { what, seen_by, counts, took }
    }
}

/// The whole run.
#[derive(Debug)]
pub struct Outcome {
    /// Files to send.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Files that could not be read.
    pub unreadable: Vec<String>,
    /// Names of files that came back otherwise and were written meanwhile, on the disk.
    pub changed: Vec<String>,
    /// What each incarnation has left.
    pub incarnations: Vec<(&'static str, Remains)>,
    /// What the failures did.
    pub failures: Vec<Failure>,
    /// Accesses that the memory oracle objected to.
    pub oracle: u32,
}

impl Outcome {
    /// A run of so many files and bytes.
    pub const fn new(files: usize, bytes: u64) -> Self {
        Self {
            files,
            bytes,
            unreadable: Vec::new(),
            changed: Vec::new(),
            incarnations: Vec::new(),
            failures: Vec::new(),
            oracle: 0,
        }
    }

    /// Finds out which of the files that came back otherwise have been written while the run
    /// lasted: those say nothing about the nodes.
    pub fn find_changed(&mut self, items: &[Item]) {
        let done = self.incarnations.iter().flat_map(|(_, incarnation)| &incarnation.done);
        let other = done.filter(|it| matches!(it.error, Some(JobError::Unexpected { .. })));
        let changed = |name: &str| items.iter().any(|it| it.name == name && it.has_changed());
        self.changed = other.map(|it| it.job.name.clone()).filter(|name| changed(name)).collect();
    }

    /// Everything that went wrong; empty: the run is good.
    pub fn violations(&self) -> Vec<String> {
        let mut wrong = self.unreadable.clone();
        if self.oracle > 0 {
            let first = self.incarnations.iter().find_map(|(_, r)| r.first_violation);
            wrong.push(format!("memory oracle: {} violations, first {first:?}", self.oracle));
        }
        let (mut verified, wanted) = (0, self.files - self.unreadable.len());
        for (name, incarnation) in &self.incarnations {
            wrong.extend(incarnation.error.iter().map(|error| format!("{name}: {error}")));
            wrong.extend(incarnation.stats.violations.iter().map(|v| format!("{name}: {v}")));
            let killed = *name == "B, first incarnation";
            if !killed && !incarnation.ended_well {
                wrong.push(format!("{name}: did not come to its end"));
            }
            if !killed && incarnation.leaked > 0 {
                wrong.push(format!("{name}: {} pages were never given back", incarnation.leaked));
            }
            if !killed && incarnation.stats.accepted != incarnation.stats.finalized() {
                let (accepted, finalized) =
                    (incarnation.stats.accepted, incarnation.stats.finalized());
                wrong.push(format!("{name}: {accepted} accepted, {finalized} finalized"));
            }
            for done in &incarnation.done {
                match &done.error {
                    Some(JobError::Unexpected { .. }) if self.changed.contains(&done.job.name) => {
                        let name = &done.job.name;
                        wrong.push(format!(
                            "{name}: was written meanwhile; --dir needs files at rest"
                        ));
                    }
                    Some(error) => wrong.push(format!("{}: {error}", done.job.name)),
                    None if matches!(done.job.work, crate::files::Work::Get { .. }) => {
                        verified += 1;
                    }
                    None => {}
                }
            }
        }
        if verified != wanted {
            wrong.push(format!("{verified} of {wanted} files were brought back and verified"));
        }
        wrong
    }

    /// From the begin of the first file's way to the end of the last one's.
    fn traffic(&self) -> Span {
        let done = self.incarnations.iter().flat_map(|(_, incarnation)| &incarnation.done);
        let (started, ended): (Vec<_>, Vec<_>) = done.map(|job| (job.started, job.ended)).unzip();
        match (started.into_iter().min(), ended.into_iter().max()) {
            (Some(first), Some(last)) => last.since(first),
            _ => Span::default(),
        }
    }

    fn stats(&self) -> Stats {
        let mut all = Stats::default();
        for (_, incarnation) in &self.incarnations {
            all.merge(&incarnation.stats);
        }
        all
    }

    fn latencies(&self) -> Latencies {
        self.incarnations
            .iter()
            .find(|(name, _)| *name == "A")
            .map_or_else(Latencies::default, |(_, l)| l.latencies.clone())
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.traffic().as_nanos() as f64 / 1e9;
        let seconds = seconds.max(1e-9);
        let mib = self.bytes as f64 / f64::from(1 << 20);
        writeln!(f, "\n{} files, {mib:.1} MiB, there by PUT and back by GET", self.files)?;
        writeln!(f, "in {seconds:.2} s: {:.0} MiB/s both ways together", 2.0 * mib / seconds)?;
        self.write_latencies(f)?;
        self.write_transfers(f)?;
        self.write_failures(f)?;
        self.write_decision(f)
    }
}

impl Outcome {
    /// The same as a value.
    pub fn json(&self) -> Value {
        let (stats, wrong) = (self.stats(), self.violations());
        let millis = |it: Span| it.as_nanos() as f64 / 1e6;
        let latencies = self.latencies().lines().into_iter().map(|line| {
            let [p50, p90, p99, most] = line.micros;
            json!({
                "kind": format!("{:?}", line.kind).to_uppercase(),
                "payload": line.class.to_string(), "count": line.count, "bytes": line.bytes,
                "us": { "p50": p50, "p90": p90, "p99": p99, "max": most },
            })
        });
        let failures = self.failures.iter().map(|it| {
            let counts = it.counts.iter().filter(|(_, count)| *count > 0);
            let counts = counts.map(|(it, count)| (it.name().to_owned(), Value::from(*count)));
            json!({
                "what": it.what, "seen_by": it.seen_by, "quiet_after_ms": it.took.map(millis),
                "counts": counts.collect::<Map<_, _>>(),
            })
        });
        json!({
            "result": if wrong.is_empty() { "ok" } else { "failed" }, "violations": wrong,
            "files": self.files, "bytes": self.bytes, "seconds": millis(self.traffic()) / 1e3,
            "accepted": stats.accepted, "finalized": stats.finalized(),
            "latencies": latencies.collect::<Vec<_>>(),
            "failures": failures.collect::<Vec<_>>(),
            "oracle_violations": self.oracle,
        })
    }

    fn write_latencies(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "\nLatency of single messages by kind and size, in µs, without failed attempts"
        )?;
        writeln!(
            f,
            "  PUT: until a part of a file has left; ACK: until the server has stored it;"
        )?;
        writeln!(f, "  GET: until a part of a file has come; CALL: until an answer has come")?;
        writeln!(
            f,
            "  {:6} {:>10} {:>9} {:>10}   {:>9} {:>9} {:>9} {:>9}",
            "kind", "payload", "count", "MiB", "p50", "p90", "p99", "max"
        )?;
        for line in self.latencies().lines() {
            let [p50, p90, p99, most] = line.micros;
            writeln!(
                f,
                "  {:6} {:>10} {:>9} {:>10.1}   {p50:>9.1} {p90:>9.1} {p99:>9.1} {most:>9.1}",
                format!("{:?}", line.kind).to_uppercase(),
                line.class,
                line.count,
                line.bytes as f64 / f64::from(1 << 20)
            )?;
        }
        Ok(())
    }

    fn write_transfers(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stats = self.stats();
        writeln!(f, "\nTransfers: {} accepted, {} finalized", stats.accepted, stats.finalized())?;
        let killed: u64 = self
            .incarnations
            .iter()
            .filter(|(name, _)| *name == "B, first incarnation")
            .map(|(_, incarnation)| incarnation.stats.accepted - incarnation.stats.finalized())
            .sum();
        if killed > 0 {
            writeln!(f, "  ({killed} more ended with node B's first incarnation)")?;
        }
        for (role, outcomes) in &stats.roles {
            writeln!(
                f,
                "  {role:15} {:>8} OK ({} of them after a cancellation), {:>6} with an error",
                outcomes.ok, outcomes.lost_races, outcomes.failed
            )?;
        }
        for ((errno, class), count) in &stats.failures {
            writeln!(f, "  errno {errno:>4}, {class:15} {count:>6}")?;
        }
        for (why, count) in &stats.refused {
            writeln!(f, "  refused at the call, {why}: {count}")?;
        }
        let mut totals: BTreeMap<&str, u64> = BTreeMap::new();
        for (_, incarnation) in &self.incarnations {
            for &counter in Counter::ALL {
                *totals.entry(counter.name()).or_default() += incarnation.counters.value(counter);
            }
        }
        let line = |names: &[&str]| {
            let part = |name: &&str| format!("{name} {}", totals.get(name).unwrap_or(&0));
            names.iter().map(part).collect::<Vec<_>>().join(", ")
        };
        writeln!(f, "  {}", line(&["posted", "doorbells", "sent", "hellos", "requests"]))?;
        writeln!(
            f,
            "  dropped: {}",
            line(&[
                "early",
                "wrong_incarnation",
                "wrong_session",
                "duplicate",
                "stale_answer",
                "late_event"
            ])
        )
    }

    fn write_failures(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for failure in &self.failures {
            write!(f, "\n{}, as node {} saw it: ", failure.what, failure.seen_by)?;
            match failure.took {
                Some(took) => {
                    writeln!(f, "quiet after {:.1} ms", took.as_nanos() as f64 / 1e6)?;
                }
                None => writeln!(f, "NOT quiet within the bound")?,
            }
            let parts: Vec<_> = failure
                .counts
                .iter()
                .filter(|(_, count)| *count > 0)
                .map(|(counter, count)| format!("{} {count}", counter.name()))
                .collect();
            writeln!(
                f,
                "  {}",
                if parts.is_empty() { "nothing".into() } else { parts.join(", ") }
            )?;
        }
        Ok(())
    }

    fn write_decision(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let moved: u64 = self.incarnations.iter().map(|(_, incarnation)| incarnation.bytes).sum();
        writeln!(
            f,
            "\nMemory oracle: {:.1} MiB moved by the engines, {} violations",
            moved as f64 / f64::from(1 << 20),
            self.oracle
        )?;
        let wrong = self.violations();
        if wrong.is_empty() {
            return writeln!(f, "Verified: every file came back as it was. OK");
        }
        writeln!(f, "VIOLATIONS: {}", wrong.len())?;
        wrong.iter().take(20).try_for_each(|line| writeln!(f, "  {line}"))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::demo::files::{collect, items};
    use crate::files::{Discard, Job, JobDone, JobId};
    use lnd_core::time::Instant;
    use lnd_sim::fabric::nid_of;
    use lnd_sim::rng::Rng;

    /// Both came back otherwise. Only of the one that lies as it lay a node is to blame.
    #[test]
    fn a_file_that_was_written_meanwhile_is_told_from_one_that_came_back_otherwise() {
        let dir = std::env::temp_dir().join(format!("lnd-changed-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        ["log", "still"].iter().for_each(|it| fs::write(dir.join(it), "first").unwrap());
        let paths = collect(&dir, &|| Ok(())).unwrap();
        let items = items("dir", &dir, &paths, &mut Rng::new(1));
        let done = |(id, item): (usize, &Item)| JobDone {
            id: JobId(id as u64),
            job: Job::get(nid_of(1), &item.name, Discard, Instant::ORIGIN),
            error: Some(JobError::Unexpected { checksum: 7 }),
            bytes: item.size,
            checksum: None,
            names: Vec::new(),
            started: Instant::ORIGIN,
            ended: Instant::ORIGIN,
            restarts: 0,
        };
        let done = items.iter().enumerate().map(done).collect();
        let mut outcome = Outcome::new(items.len(), 10);
        outcome.incarnations.push(("A", Remains { done, ended_well: true, ..Remains::default() }));
        fs::write(dir.join("log"), "first, second").unwrap();
        outcome.find_changed(&items);
        assert_eq!(
            outcome.violations(),
            [
                "dir/log: was written meanwhile; --dir needs files at rest",
                "dir/still: another file: checksum 0000000000000007",
                "0 of 2 files were brought back and verified",
            ]
        );
        fs::remove_dir_all(&dir).unwrap();
    }
}
