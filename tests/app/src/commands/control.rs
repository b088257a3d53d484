// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The commands that ask a running node through its control socket. Their words are lnetctl's.

use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

use clap::Subcommand;
use lnd_app::control::{client::Client, default_path, find, find_all};
use lnd_app::process::{parse_nid, Broken};
use lnd_core::id::Nid;
use serde_json::{json, Value};

use super::Done;

/// Which node.
#[derive(Clone, Debug, clap::Args)]
pub struct WhichArgs {
    /// The node's fabric file.
    #[arg(long, value_name = "FILE", default_value = "lnd.fabric")]
    fabric: PathBuf,
    /// The node, such as 1@soft; not needed if there is one only.
    #[arg(long, value_name = "NID", value_parser = parse_nid)]
    node: Option<Nid>,
    /// Its control socket, if it is not beside the fabric.
    #[arg(long, value_name = "PATH", conflicts_with_all = ["node", "fabric"])]
    control: Option<PathBuf>,
}

/// Which node, and how to print its answer.
#[derive(Debug, clap::Args)]
pub struct NodeArgs {
    #[command(flatten)]
    which: WhichArgs,
    /// As JSON; YAML if not given.
    #[arg(long)]
    json: bool,
}

impl WhichArgs {
    /// The control sockets of the nodes that are meant: of all that are here if none is named.
    pub fn all(&self) -> Result<Vec<PathBuf>, Broken> {
        match (&self.control, self.node) {
            (Some(path), _) => Ok(vec![path.clone()]),
            (None, None) => find_all(&self.fabric),
            (None, Some(nid)) => Ok(vec![default_path(&self.fabric, nid)]),
        }
    }

    /// A connection with the node.
    pub fn client(&self) -> Result<Client, Broken> {
        match &self.control {
            Some(path) => Client::open(path),
            None => Client::open(&find(&self.fabric, self.node)?),
        }
    }
}

impl NodeArgs {
    fn client(&self) -> Result<Client, Broken> {
        self.which.client()
    }

    fn ask(&self, request: Value) -> Done {
        let answer = self.client()?.ask(request)?;
        super::print(&answer, self.json);
        Ok(())
    }

    fn show(&self, what: &str) -> Done {
        self.ask(json!({ "do": "show", "what": what }))
    }

    fn set(&self, knob: &str, value: u64) -> Done {
        self.ask(json!({ "do": "set", "knob": knob, "value": value }))
    }
}

#[derive(Debug, Subcommand)]
pub enum NetCommand {
    /// Show the interface: identity, links, tunables, and the knobs that can be set.
    Show {
        #[command(flatten)]
        node: NodeArgs,
    },
    /// Set a knob of the running node; `show` lists them with their ranges. What is fixed when a
    /// node starts is refused, with the reason.
    Set {
        /// The knob.
        knob: String,
        /// Its value.
        value: u64,
        #[command(flatten)]
        node: NodeArgs,
    },
}

impl NetCommand {
    pub fn run(self) -> Done {
        match self {
            Self::Show { node } => node.show("net"),
            Self::Set { knob, value, node } => node.set(&knob, value),
        }
    }
}

#[derive(Debug, Subcommand)]
pub enum PeerCommand {
    /// Show every peer: state, credits, transfers.
    Show {
        /// This peer only.
        #[arg(value_parser = parse_nid)]
        nid: Option<Nid>,
        #[command(flatten)]
        node: NodeArgs,
    },
    /// Declare a peer down: its transfers end. Or up: it is tried again at once.
    Set {
        /// The peer.
        #[arg(value_parser = parse_nid)]
        nid: Nid,
        /// Down or up.
        #[arg(value_parser = ["up", "down"])]
        to: String,
        #[command(flatten)]
        node: NodeArgs,
    },
}

impl PeerCommand {
    pub fn run(self) -> Done {
        match self {
            Self::Show { nid: None, node } => node.show("peer"),
            Self::Show { nid: Some(nid), node } => {
                let mut answer = node.client()?.ask(json!({ "do": "show", "what": "peer" }))?;
                let name = Value::from(nid.to_string());
                if let Some(peers) = answer["peer"].as_array_mut() {
                    peers.retain(|peer| peer["primary nid"] == name);
                    if peers.is_empty() {
                        return Err(format!("{nid}: the node knows no such peer").into());
                    }
                }
                super::print(&answer, node.json);
                Ok(())
            }
            Self::Set { nid, to, node } => {
                node.ask(json!({ "do": "peer", "nid": nid.to_string(), "up": to == "up" }))
            }
        }
    }
}

#[derive(Debug, Subcommand)]
pub enum StatsCommand {
    /// Show counters, ends by role, refused frames, and what the server has done.
    Show {
        /// Show what these seconds add, not what there is.
        #[arg(long, value_name = "SECONDS",
            value_parser = clap::value_parser!(u64).range(1..=86_400))]
        diff: Option<u64>,
        #[command(flatten)]
        node: NodeArgs,
    },
}

impl StatsCommand {
    pub fn run(self) -> Done {
        let Self::Show { diff, node } = self;
        let Some(seconds) = diff else { return node.show("stats") };
        let ask = || node.client()?.ask(json!({ "do": "show", "what": "stats" }));
        let before = ask()?;
        sleep(Duration::from_secs(seconds));
        let now = ask()?;
        let incarnation = |it: &Value| it["statistics"]["incarnation"].clone();
        if incarnation(&before) != incarnation(&now) {
            let why = "the node was started anew meanwhile: there is no difference to show";
            return Err(why.into());
        }
        super::print(&difference(&before, &now), node.json);
        Ok(())
    }
}

/// What numbers have grown by; all else is as it is now.
fn difference(before: &Value, now: &Value) -> Value {
    match (before, now) {
        (Value::Object(before), Value::Object(now)) => {
            let of = |name: &String| before.get(name).unwrap_or(&Value::Null);
            let both = now.iter().map(|(name, now)| (name.clone(), difference(of(name), now)));
            Value::Object(both.collect())
        }
        (before, Value::Number(it)) => match (it.as_u64(), it.as_f64()) {
            (Some(now), _) => now.saturating_sub(before.as_u64().unwrap_or(0)).into(),
            (None, Some(now)) => {
                // To the thousandth that a node tells.
                let grown = now - before.as_f64().unwrap_or(0.0);
                ((grown * 1e3).round() / 1e3).into()
            }
            (None, None) => now.clone(),
        },
        (_, now) => now.clone(),
    }
}

#[derive(Debug, Subcommand)]
pub enum HealthCommand {
    /// Show failures by errno and health class, links and peers that are down, and an audit.
    Show {
        #[command(flatten)]
        node: NodeArgs,
    },
    /// Set a number of health of the running node: as `net set`. What only decides between several
    /// interfaces is refused, with the reason.
    Set {
        /// The knob.
        knob: String,
        /// Its value.
        value: u64,
        #[command(flatten)]
        node: NodeArgs,
    },
}

impl HealthCommand {
    pub fn run(self) -> Done {
        match self {
            Self::Show { node } => node.show("health"),
            Self::Set { knob, value, node } => node.set(&knob, value),
        }
    }
}

#[derive(Debug, clap::Args)]
pub struct DumpArgs {
    #[command(flatten)]
    node: NodeArgs,
}

impl DumpArgs {
    pub fn run(self) -> Done {
        self.node.show("dump")
    }
}

#[derive(Debug, clap::Args)]
pub struct DrainArgs {
    /// What is open may take so long to end.
    #[arg(long, value_name = "SECONDS", default_value_t = 10,
        value_parser = clap::value_parser!(u64).range(0..=3600))]
    grace: u64,
    #[command(flatten)]
    node: NodeArgs,
}

impl DrainArgs {
    pub fn run(self) -> Done {
        self.node.ask(json!({ "do": "drain", "grace_ms": self.grace * 1000 }))
    }
}
