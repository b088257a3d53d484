// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What can be changed while a node runs, and why all else cannot.

use lnd_core::time::Span;
use lnd_sim::runtime::Station;
use serde_json::{json, Map, Value};

/// A number that can be changed while the node runs.
struct Knob {
    name: &'static str,
    what: &'static str,
    least: u64,
    most: u64,
}

/// The deadline of messages: the only knob of the node itself.
const DEADLINE: &str = "message_timeout_ms";

const KNOBS: [Knob; 6] = [
    Knob {
        name: DEADLINE,
        what: "the one deadline of a message, over all its waits; of messages that are sent from \
               now on",
        least: 1,
        most: 3_600_000,
    },
    Knob {
        name: "file_idle_ms",
        what: "a file that a client has not touched for so long is forgotten",
        least: 1,
        most: 86_400_000,
    },
    Knob {
        name: "file_bytes_max",
        what: "the longest file that is taken; of files that are begun from now on",
        least: 0,
        most: 1 << 40,
    },
    Knob {
        name: "files_written_max",
        what: "so many files are written at a time; a client that wants more asks again",
        least: 0,
        most: 64,
    },
    Knob {
        name: "files_read_max",
        what: "so many windows of files are read at a time; a client that wants more asks again",
        least: 0,
        most: 64,
    },
    Knob {
        name: "log_times",
        what: "1: each line of the log begins with the time in UTC",
        least: 0,
        most: 1,
    },
];

const AT_START: &str = "is fixed when a node starts: the library takes its configuration once, \
                        and lays out its memory by it";
const ONE_INTERFACE: &str = "decides between the interfaces of a node, and this one has one";

/// What operators know from elsewhere, and why a running node does not take it.
const FIXED: [(&str, &str); 24] = [
    ("credits", AT_START),
    ("peer_credits", AT_START),
    ("peer_buffer_credits", AT_START),
    ("peers", AT_START),
    ("slots", AT_START),
    ("pulls_per_peer", AT_START),
    ("immediate_bytes_max", AT_START),
    ("drain_bound_ms", AT_START),
    ("hello_timeout_ms", AT_START),
    ("hello_tries", AT_START),
    ("credit_stall_ms", AT_START),
    ("decision_bound_ms", AT_START),
    ("health", ONE_INTERFACE),
    ("health_sensitivity", ONE_INTERFACE),
    ("recovery_interval", ONE_INTERFACE),
    ("recovery_limit", ONE_INTERFACE),
    ("max_recovery_ping_interval", ONE_INTERFACE),
    ("discovery", ONE_INTERFACE),
    ("max_interfaces", ONE_INTERFACE),
    ("retry_count", "counts resends over other interfaces, and this node has one"),
    ("transaction_timeout", "has another name here: message_timeout_ms, in milliseconds"),
    ("lnd_timeout", "does not exist: a message has one deadline, message_timeout_ms"),
    ("peer_timeout", "does not exist: a peer is down when that is proved, or by `lnd peer set`"),
    ("router_buffers", "belongs to routers, and this node forwards nothing"),
];

/// What a process can change of itself, by name, and what it is now.
pub type OfProcess = Vec<(&'static str, u64)>;

/// The knobs of a node and its process, as they are shown.
pub fn shown(station: &Station<'_>, process: &OfProcess) -> Value {
    let one = |knob: &Knob| {
        let value = value(station, process, knob.name)?;
        let range = format!("{} to {}", knob.least, knob.most);
        let shown = json!({ "value": value, "range": range, "what": knob.what });
        Some((knob.name.to_owned(), shown))
    };
    KNOBS.iter().filter_map(one).collect::<Map<_, _>>().into()
}

/// What a knob is at now; `None`: the process has none such.
fn value(station: &Station<'_>, process: &OfProcess, name: &str) -> Option<u64> {
    if name == DEADLINE {
        return Some(station.node.timeout().as_nanos() / 1_000_000);
    }
    process.iter().find(|(it, _)| *it == name).map(|(_, value)| *value)
}

/// A setting that can be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The knob.
    pub name: &'static str,
    /// What it was.
    pub before: u64,
    /// What it shall be.
    pub value: u64,
}

/// Checks a setting, and makes none.
pub fn check(
    station: &Station<'_>,
    process: &OfProcess,
    name: &str,
    wanted: &Value,
) -> Result<Setting, String> {
    if let Some((_, why)) = FIXED.iter().find(|(it, _)| *it == name) {
        return Err(format!("'{name}' {why}"));
    }
    let knob = KNOBS.iter().find(|knob| knob.name == name);
    let found = knob.and_then(|knob| Some((knob, value(station, process, name)?)));
    let Some((knob, before)) = found else {
        let all = KNOBS.iter().map(|knob| knob.name);
        let names: Vec<&str> = all.filter(|name| value(station, process, name).is_some()).collect();
        return Err(format!(
            "no knob '{name}' can be set while a node runs; {} can",
            names.join(", ")
        ));
    };
    let range = knob.least..=knob.most;
    let wanted = wanted.as_u64().filter(|value| range.contains(value));
    let value = wanted.ok_or_else(|| format!("{name} is not {} to {}", knob.least, knob.most))?;
    Ok(Setting { name: knob.name, before, value })
}

/// Makes a setting that was checked, if it is one of the node. One of the process is its own to
/// make.
pub fn make(station: &mut Station<'_>, setting: &Setting) {
    if setting.name == DEADLINE {
        station.node.set_timeout(Span::from_millis(setting.value));
    }
}
