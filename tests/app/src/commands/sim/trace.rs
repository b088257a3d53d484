// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Trace files: every event of a simulated run, and what is needed to play it again. Each line is
//! one JSON object; the first says what was run and how it ended.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;

use lnd_app::process::Broken;
use lnd_app::recorded::whole;
use lnd_sim::node::{kind, tag_of, tag_words, words};
use lnd_sim::simulator::{Failure, FaultPlan, Recorded};
use lnd_sim::world::{Defect, Options, Plan, Summary};
use serde_json::{json, Value};

/// Of the format.
const VERSION: u64 = 1;
/// Longest line that is read.
const LINE: u64 = 1 << 20;

/// How a run ended, in the words that two equal runs share.
pub fn outcome(played: &Result<Summary, Failure>) -> Value {
    match played {
        Ok(it) => json!({
            "result": "ok", "steps": it.steps, "hash": format!("{:016x}", it.hash),
        }),
        Err(it) => json!({
            "result": "failed", "steps": it.step, "what": it.what, "command": it.command,
        }),
    }
}

/// An event as a line of the file.
pub fn line(it: &Recorded) -> Value {
    let transfer = tag_of(&it.trace).map(tag_words);
    json!({
        "at_ns": it.at.as_nanos(), "node": it.unit, "event": kind(&it.trace),
        "transfer": transfer, "words": words(&it.trace),
    })
}

/// Writes a run.
pub fn write(
    path: &Path,
    options: &Options,
    defect: Option<Defect>,
    played: &Result<Summary, Failure>,
    record: &[Recorded],
) -> Result<(), String> {
    let head = json!({
        "lnd_trace": VERSION,
        "options": {
            "seed": options.seed, "nodes": options.nodes, "links": options.links,
            "seconds": options.seconds, "routed": options.routed,
            "byzantine": options.byzantine, "wraps": options.wraps, "pauses": options.pauses,
            "connections": options.connections,
        },
        "plan": options.faults.as_ref().map(FaultPlan::to_toml),
        "defect": defect.map(Defect::name),
        "outcome": outcome(played),
        "events": record.len(),
    });
    whole(path, |file| {
        writeln!(file, "{head}")?;
        record.iter().try_for_each(|it| writeln!(file, "{}", line(it)))
    })
}

/// A trace file that is read line by line.
pub struct Reader {
    name: String,
    file: BufReader<File>,
    /// Lines that were read.
    lines: u64,
}

/// What a trace file says at its head.
pub struct Head {
    /// What was run.
    pub options: Options,
    /// The defect that was seeded.
    pub defect: Option<Defect>,
    /// How it ended.
    pub outcome: Value,
    /// How many events there are.
    pub events: u64,
}

impl Reader {
    /// Opens a file, and reads its head.
    pub fn open(path: &Path) -> Result<(Self, Head), Broken> {
        let name = path.display().to_string();
        let file = File::open(path).map_err(|error| format!("{name}: {error}"))?;
        let mut reader = Self { name, file: BufReader::new(file), lines: 0 };
        let head = reader.next()?.unwrap_or_default();
        match head["lnd_trace"].as_u64() {
            Some(VERSION) => {}
            Some(other) => {
                return Err(reader.wrong(&format!("version {other}, and this is {VERSION}")));
            }
            None => return Err(reader.wrong("no trace of `lnd sim --trace`")),
        }
        let head = reader.head(&head)?;
        Ok((reader, head))
    }

    fn head(&self, head: &Value) -> Result<Head, Broken> {
        let given = &head["options"];
        let number = |name: &str| match &given[name] {
            Value::Null => Ok(None),
            it => it
                .as_u64()
                .and_then(|it| u32::try_from(it).ok())
                .map(Some)
                .ok_or_else(|| self.wrong(&format!("{name} is no number of the kind"))),
        };
        let seed = given["seed"].as_u64().ok_or_else(|| self.wrong("no seed"))?;
        let faults = match &head["plan"] {
            Value::Null => None,
            plan => {
                let plan = plan.as_str().ok_or_else(|| self.wrong("the plan is no text"))?;
                let plan = Plan::parse(plan).map_err(|error| self.wrong(&error.to_string()))?;
                Some(plan.named(self.name.clone()))
            }
        };
        let defect = match &head["defect"] {
            Value::Null => None,
            name => {
                let defect = name.as_str().and_then(Defect::named);
                Some(defect.ok_or_else(|| self.wrong(&format!("unknown defect {name}")))?)
            }
        };
        let options = Options {
            seed,
            nodes: number("nodes")?,
            links: number("links")?,
            seconds: number("seconds")?,
            routed: given["routed"].as_bool(),
            byzantine: given["byzantine"].as_bool(),
            wraps: given["wraps"].as_bool(),
            pauses: given["pauses"].as_bool(),
            connections: given["connections"].as_bool(),
            faults,
        };
        options.check().map_err(|error| self.wrong(&error.to_string()))?;
        let events = head["events"].as_u64().ok_or_else(|| self.wrong("no count of events"))?;
        Ok(Head { options, defect, outcome: head["outcome"].clone(), events })
    }

    /// The next line; `None`: there is none.
    pub fn next(&mut self) -> Result<Option<Value>, Broken> {
        use std::io::Read as _;
        let mut line = Vec::new();
        let read = self.file.by_ref().take(LINE).read_until(b'\n', &mut line);
        read.map_err(|error| format!("{}: {error}", self.name))?;
        if line.is_empty() {
            return Ok(None);
        }
        self.lines += 1;
        let value = serde_json::from_slice(&line).ok().filter(|_| line.ends_with(b"\n"));
        value
            .map(Some)
            .ok_or_else(|| self.wrong("cut, or no JSON; `lnd sim --trace` writes traces"))
    }

    /// What is wrong with the line that was read last.
    pub fn wrong(&self, why: &str) -> Broken {
        format!("{}:{}: {why}", self.name, self.lines).into()
    }
}
