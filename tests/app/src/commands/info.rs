// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lnd info`: what the library is, in numbers.

use lnd_app::process;
use lnd_core::config::{Config, MAX_DEPTH, MAX_PEERS, MAX_SLOTS};
use lnd_core::counters::Counter;
use lnd_core::id::MAX_LINKS;
use lnd_core::message::MAX_HEADER;
use lnd_core::time::Span;
use lnd_shortmsg::wire::layout::{MAGIC, MAX_FRAME, VERSION};
use lnd_shortmsg::wire::DecodeError;
use serde_json::{json, Value};

use super::Done;

#[derive(Debug, clap::Args)]
pub struct InfoArgs {
    /// One part only.
    #[arg(value_enum)]
    part: Option<Part>,
    /// As JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// Version of the tool and of the library.
    Version,
    /// The wire format.
    Wire,
    /// The largest values that a configuration may have.
    Limits,
    /// The configuration of a process, with what it costs.
    Config,
    /// The names of all counters.
    Counters,
    /// The causes for which a frame is refused.
    Refusals,
}

impl Part {
    const ALL: [Self; 6] =
        [Self::Version, Self::Wire, Self::Limits, Self::Config, Self::Counters, Self::Refusals];

    fn name(self) -> &'static str {
        match self {
            Self::Version => "version",
            Self::Wire => "wire",
            Self::Limits => "limits",
            Self::Config => "config",
            Self::Counters => "counters",
            Self::Refusals => "refusals",
        }
    }

    fn value(self) -> Value {
        match self {
            Self::Version => json!({
                "tool": env!("CARGO_PKG_VERSION"),
                "debug_assertions": cfg!(debug_assertions),
                "target": format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
            }),
            Self::Wire => json!({
                "version": VERSION,
                "magic": format!("{MAGIC:#010x}"),
                "frame_bytes_max": MAX_FRAME,
                "header_bytes_max": MAX_HEADER,
            }),
            Self::Limits => json!({
                "slots": MAX_SLOTS,
                "peers": MAX_PEERS,
                "links": MAX_LINKS,
                "credits_per_peer": MAX_DEPTH,
            }),
            Self::Config => config(&process::config()),
            Self::Counters => names(Counter::ALL.iter().map(|counter| counter.name())),
            Self::Refusals => names(DecodeError::ALL.iter().map(|error| error.as_str())),
        }
    }
}

fn names(all: impl Iterator<Item = &'static str>) -> Value {
    all.map(Value::from).collect()
}

fn millis(span: Span) -> Value {
    (span.as_nanos() as f64 / 1e6).into()
}

/// Every knob, with its unit in its name.
fn config(it: &Config) -> Value {
    json!({
        "slots": it.slots,
        "passive_slots": it.passive_slots,
        "peers": it.peers,
        "links": it.links,
        "connections": it.connections,
        "lists": it.lists,
        "immediate_bytes_max": it.immediate_max,
        "credits_per_peer": it.depth,
        "pulls_per_peer": it.pulls,
        "drain_bound_ms": millis(it.drain_bound),
        "hello_timeout_ms": millis(it.hello_timeout),
        "hello_tries": it.hello_tries,
        "credit_stall_ms": millis(it.credit_stall),
        "link_poll_ms": millis(it.link_poll),
        "decision_bound_ms": millis(it.decision_bound),
        "batch": it.batch,
        "policy": format!("{:?}", it.policy).to_lowercase(),
        "driver_bytes": it.bytes_needed(),
    })
}

impl InfoArgs {
    pub fn run(self) -> Done {
        let parts = Part::ALL.into_iter().filter(|part| self.part.is_none_or(|it| it == *part));
        let shown = parts.map(|part| (part.name().to_owned(), part.value())).collect();
        super::print(&Value::Object(shown), self.json);
        Ok(())
    }
}
