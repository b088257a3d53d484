// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lnd replay`: a trace of the simulator, played again or shown.

use std::path::PathBuf;

use lnd_app::{output, progress, say};
use lnd_sim::simulator::{Recorded, RunLog};
use lnd_sim::world::run_logged;
use serde_json::{json, Value};

use super::sim::trace::{line, outcome, Reader};
use super::{Done, Failed};

#[derive(Debug, clap::Args)]
pub struct ReplayArgs {
    /// The file that `lnd sim --trace FILE` has written.
    file: PathBuf,
    /// Show the events of the file and run nothing.
    #[arg(long)]
    show: bool,
    /// Show the events of this node only.
    #[arg(long, requires = "show")]
    node: Option<u32>,
    /// Show the events of this transfer only, such as 5/1.
    #[arg(long, requires = "show", value_name = "SLOT/USE")]
    transfer: Option<String>,
    /// As JSON; of --show: a line for each event.
    #[arg(long)]
    json: bool,
    /// Draw no progress.
    #[arg(long)]
    quiet: bool,
}

impl ReplayArgs {
    pub fn run(self) -> Done {
        if self.show {
            self.show_events()
        } else {
            self.play()
        }
    }

    fn show_events(&self) -> Done {
        let (mut reader, _) = Reader::open(&self.file)?;
        while let Some(event) = reader.next()? {
            if output::has_failed() {
                break;
            }
            let is_of_node = self.node.is_none_or(|node| event["node"] == node);
            let transfer = self.transfer.as_deref();
            let is_of_transfer = transfer.is_none_or(|it| event["transfer"] == it);
            if !(is_of_node && is_of_transfer) {
                continue;
            }
            if self.json {
                output::record(&event);
                continue;
            }
            let (Some(at), Some(node), Some(words)) =
                (event["at_ns"].as_u64(), event["node"].as_u64(), event["words"].as_str())
            else {
                return Err(reader.wrong("no event").into());
            };
            let (seconds, micros) = (at / 1_000_000_000, at / 1_000 % 1_000_000);
            say!("{seconds}.{micros:06} s  node {node}  {words}");
        }
        Ok(())
    }

    /// Plays the run again and compares event by event.
    fn play(&self) -> Done {
        let (mut reader, head) = Reader::open(&self.file)?;
        let log = RunLog::whole();
        let bar = progress::spinner("the run", self.quiet);
        let played = run_logged(&head.options, head.defect, Some(&log));
        bar.finish_and_clear();
        let record = Recorded::of(&log.take().0);
        let mut differs = None;
        for (number, event) in record.iter().enumerate() {
            let (now, then) = (line(event), reader.next()?.unwrap_or_default());
            if now != then {
                differs = Some((number, then, now));
                break;
            }
        }
        if differs.is_none() {
            if let Some(more) = reader.next()? {
                differs = Some((record.len(), more, Value::Null));
            }
        }
        let now = outcome(&played);
        // The command names the file of the plan, which the trace does not need.
        let told = |it: &Value| (it["result"].clone(), it["steps"].clone(), it["what"].clone());
        let same_end = told(&now) == told(&head.outcome) && now["hash"] == head.outcome["hash"];
        let is_same = differs.is_none() && same_end && record.len() as u64 == head.events;
        if self.json {
            let differs = differs
                .as_ref()
                .map(|(number, then, now)| json!({ "number": number, "then": then, "now": now }));
            output::document(&json!({
                "same": is_same, "events": record.len(), "then": head.outcome, "now": now,
                "differs": differs,
            }));
        } else if is_same {
            say!("the same run: {} events, {}", record.len(), told_in_words(&now));
        } else {
            say!("then: {}", told_in_words(&head.outcome));
            say!("now:  {}", told_in_words(&now));
            if let Some((number, then, now)) = differs {
                say!("event {number} is the first that differs:");
                say!("  then: {}", then["words"].as_str().unwrap_or("none"));
                say!("  now:  {}", now["words"].as_str().unwrap_or("none"));
            }
        }
        if is_same {
            Ok(())
        } else {
            Err(Failed::Said)
        }
    }
}

fn told_in_words(outcome: &Value) -> String {
    match outcome["result"].as_str() {
        Some("ok") => format!(
            "no rule was broken, {} steps, hash {}",
            outcome["steps"],
            outcome["hash"].as_str().unwrap_or_default()
        ),
        Some("failed") => format!(
            "failed at step {}: {}",
            outcome["steps"],
            outcome["what"].as_str().unwrap_or_default()
        ),
        _ => "no outcome".into(),
    }
}
