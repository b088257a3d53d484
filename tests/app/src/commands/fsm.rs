// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lnd fsm`: the machines of the library, as the tests of lnd-core make them from its functions.

use clap::ValueEnum;
use lnd_app::{output, say};
use serde_json::{json, Value};

use super::{Done, Failed};

/// The page from which the drawings are taken: it is made, and kept up to date, by the tests of
/// lnd-core.
const PAGE: &str = include_str!("../../../../docs/machines/README.md");

#[derive(Debug, clap::Args)]
pub struct FsmArgs {
    /// The machine; without it, the list of all.
    machine: Option<String>,
    /// How to show it.
    #[arg(long, value_enum, default_value_t = Format::Table, requires = "machine")]
    format: Format,
    /// The list, or the edges of the machine, as JSON.
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// Every state, every event: the next state and what the owner does.
    Table,
    /// A drawing for `dot -Tsvg`.
    Dot,
    /// A drawing for pages of Markdown.
    Mermaid,
}

/// A machine, with its table and, if it is one, its drawing.
struct Machine {
    name: &'static str,
    table: &'static str,
    dot: Option<&'static str>,
}

const TRANSFER: &str = include_str!("../../../../lnd-core/tests/snapshots/transfer.txt");

/// A drawing of docs/machines.
macro_rules! drawn {
    ($name:literal, $table:expr) => {
        Machine {
            name: $name,
            table: $table,
            dot: Some(include_str!(concat!("../../../../docs/machines/", $name, ".dot"))),
        }
    };
}

const MACHINES: [Machine; 10] = [
    Machine { name: "transfer", table: TRANSFER, dot: None },
    drawn!("immediate", TRANSFER),
    drawn!("put", TRANSFER),
    drawn!("put-by-message", TRANSFER),
    drawn!("get-requester", TRANSFER),
    drawn!("get-target", TRANSFER),
    drawn!("rx-pull", TRANSFER),
    drawn!("hello", include_str!("../../../../lnd-core/tests/snapshots/hello.txt")),
    drawn!("link", include_str!("../../../../lnd-core/tests/snapshots/link.txt")),
    Machine {
        name: "status",
        table: include_str!("../../../../lnd-core/tests/snapshots/status.txt"),
        dot: None,
    },
];

impl Machine {
    /// What it is, as its page calls it.
    fn title(&self) -> &str {
        let label = |dot: &'static str| dot.split_once("label = \"")?.1.split('"').next();
        self.dot.and_then(label).unwrap_or(match self.name {
            "transfer" => "Every word and event of a transfer",
            _ => "What the loss of a transfer means",
        })
    }

    fn mermaid(&self) -> Option<&'static str> {
        let link = format!("[{0}.dot]({0}.dot)", self.name);
        let behind = PAGE.split_once(&link)?.1;
        behind.split_once("```mermaid\n")?.1.split("```").next()
    }

    /// From, to, events and effect of each edge of the drawing.
    fn edges(&self) -> Vec<Value> {
        self.dot.map_or(Vec::new(), |dot| dot.lines().filter_map(edge).collect())
    }
}

/// `A -> B [label = "X, Y / Z"];`
fn edge(line: &str) -> Option<Value> {
    let (ends, label) = line.trim().split_once(" [label = \"")?;
    let (from, to) = ends.split_once(" -> ")?;
    let label = label.strip_suffix("\"];")?;
    let (events, effect) = label.split_once(" / ").map_or((label, None), |(a, b)| (a, Some(b)));
    let events: Vec<&str> = events.split(", ").collect();
    Some(json!({ "from": from, "to": to, "events": events, "effect": effect }))
}

impl FsmArgs {
    pub fn run(self) -> Done {
        let Some(name) = &self.machine else {
            self.list();
            return Ok(());
        };
        let Some(machine) = MACHINES.iter().find(|machine| machine.name == name) else {
            let names = MACHINES.map(|machine| machine.name).join(", ");
            return Err(Failed::usage(&["fsm"], format!("no machine '{name}'; there are {names}")));
        };
        if self.json {
            let shown = json!({
                "machine": machine.name, "title": machine.title(), "edges": machine.edges(),
            });
            output::document(&shown);
            return Ok(());
        }
        let drawing = match self.format {
            Format::Table => Some(machine.table),
            Format::Dot => machine.dot,
            Format::Mermaid => machine.mermaid(),
        };
        let Some(text) = drawing else {
            let why = format!("{name} is a table and has no drawing");
            return Err(Failed::usage(&["fsm"], why));
        };
        say!("{}", without_head(text).trim_end());
        Ok(())
    }

    fn list(&self) {
        if self.json {
            let all = MACHINES.iter().map(|it| json!({ "machine": it.name, "title": it.title() }));
            let all: Vec<Value> = all.collect();
            say!("{:#}", json!({ "machines": all }));
            return;
        }
        for machine in &MACHINES {
            say!("{:<16} {}", machine.name, machine.title());
        }
    }
}

/// A made file's text behind the comments at its head.
fn without_head(mut text: &str) -> &str {
    while let Some((line, rest)) = text.split_once('\n') {
        let line = line.trim_start_matches(['#', '/', ' ']);
        if !(line.starts_with("SPDX-") || line.starts_with("Generated")) {
            break;
        }
        text = rest;
    }
    text
}
