// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `docs/machines/README.md`: every machine in one page.

use std::fmt::Write;

use super::graph::{self, Graph};
use super::roles::ROLES;
use super::text::{self, LICENCE};
use super::words::Stepper;

const INTRO: &str = "\
<!-- SPDX-License-Identifier: MIT OR GPL-2.0-only -->
<!-- Generated: UPDATE=1 cargo test -p lnd-core --test tables -->
# The machines

Every state machine of the core is one pure function. The tables and drawings on this page are made
from these functions by `lnd-core/tests/tables.rs`, which also fails if they are out of date. The
`.dot` files beside this page are the same drawings for graphviz
(`dot -Tsvg put.dot > put.svg`).

| machine | function | table |
|---|---|---|
| transfer | `lnd_core::transfer::step` | [transfer.txt](../../lnd-core/tests/snapshots/transfer.txt) |
| what an end means | `lnd_core::transfer::Status::of` | [status.txt](../../lnd-core/tests/snapshots/status.txt) |
| handshake with a peer | `lnd_core::peer::hello_step` | [hello.txt](../../lnd-core/tests/snapshots/hello.txt) |
| link | `lnd_core::link::link_step` | [link.txt](../../lnd-core/tests/snapshots/link.txt) |
";

const TRANSFER: &str = "
## Transfer

A node shows who still owes a completion: `HW` the engine, `MSG` the short message, `PEER` the
peer's answer. *invalidated*: the engine was asked for the descriptor. *moved*: all bytes are known
to have been moved. *lost*: the transfer will not end OK. An edge shows `event / effect`.

The drawings leave the thread out: where it has work to do (post, post the pull, leave a queue) it
does it and pays `CPU` at once. What happens while it is at work, and every event that changes
nothing, is in the table.
";

/// The drawings of all machines: roles of a transfer first.
pub fn graphs(step: &Stepper) -> Vec<Graph> {
    let mut graphs: Vec<Graph> = drawn_roles().map(|role| graph::role(role, step)).collect();
    graphs.extend([graph::hello(), graph::link()]);
    graphs
}

/// An inline message is copied and done: there is nothing to draw.
fn drawn_roles() -> impl Iterator<Item = &'static super::roles::Role> {
    ROLES.iter().filter(|role| !role.debts.is_empty())
}

/// The page.
pub fn page(step: &Stepper) -> String {
    let mut page = format!("{INTRO}{TRANSFER}");
    for role in drawn_roles() {
        drawing(&mut page, 3, &graph::role(role, step));
    }
    page.push_str("\n### The whole table\n");
    table(&mut page, &text::transfer(step));
    drawing(&mut page, 2, &graph::hello());
    table(&mut page, &text::hello());
    drawing(&mut page, 2, &graph::link());
    table(&mut page, &text::link());
    page.push_str("\n## What the loss of a transfer means\n");
    table(&mut page, &text::status());
    page
}

fn drawing(page: &mut String, level: usize, graph: &Graph) {
    let (hashes, file, title) = ("#".repeat(level), graph.file, graph.title);
    write!(page, "\n{hashes} {title}\n\n[{file}.dot]({file}.dot)\n\n").expect("string");
    write!(page, "```mermaid\n{}```\n", graph.mermaid()).expect("string");
}

fn table(page: &mut String, text: &str) {
    let text = text.strip_prefix(LICENCE).unwrap_or(text);
    write!(page, "\n```text\n{text}```\n").expect("string");
}
