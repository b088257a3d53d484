// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lnd export` and `lnd import`: the settings of running nodes as a file.

use std::collections::HashSet;
use std::path::PathBuf;

use lnd_app::control::client::Client;
use lnd_app::control::default_path;
use lnd_app::process::{parse_nid, Broken};
use lnd_app::{text, yaml};
use lnd_core::id::Nid;
use serde_json::{json, Map, Value};

use super::control::WhichArgs;
use super::{Done, Failed};

/// The list of the interfaces of a network, in lnetctl's words.
const INTERFACES: &str = "local NI(s)";

#[derive(Debug, clap::Args)]
pub struct ExportArgs {
    #[command(flatten)]
    which: WhichArgs,
    /// As JSON; YAML if not given.
    #[arg(long)]
    json: bool,
}

impl ExportArgs {
    pub fn run(self) -> Done {
        let mut interfaces = Vec::new();
        for path in self.which.all()? {
            let shown = Client::open(&path)?.ask(json!({ "do": "show", "what": "net" }))?;
            let it = &shown["net"][0][INTERFACES][0];
            let values = it["knobs"].as_object().into_iter().flatten();
            let knobs: Map<String, Value> =
                values.map(|(name, knob)| (name.clone(), knob["value"].clone())).collect();
            interfaces.push(json!({
                "nid": it["nid"], "tunables": it["tunables"], "knobs": knobs,
            }));
        }
        let exported = json!({ "net": [{ "net type": "soft0", INTERFACES: interfaces }] });
        super::print(&exported, self.json);
        Ok(())
    }
}

#[derive(Debug, clap::Args)]
pub struct ImportArgs {
    /// What `lnd export` or `lnd net show` has written, as YAML or JSON; `-` is standard input.
    file: PathBuf,
    /// The fabric file of the nodes.
    #[arg(long, value_name = "FILE", default_value = "lnd.fabric")]
    fabric: PathBuf,
    /// Check everything, and set nothing.
    #[arg(long)]
    check: bool,
    /// As JSON; YAML if not given.
    #[arg(long)]
    json: bool,
}

/// What a node is to be set to.
struct Wanted {
    nid: Nid,
    client: Client,
    request: Value,
}

impl ImportArgs {
    pub fn run(self) -> Done {
        let named = |error: &dyn std::fmt::Display| {
            format!("{}: {}", self.file.display(), text::brief(error))
        };
        let path =
            if self.file.as_os_str() == "-" { "/dev/stdin".into() } else { self.file.clone() };
        let text = text::read(&path).map_err(|error| Failed::Plan(named(&error)))?;
        let document = yaml::read(&text).map_err(|why| Failed::Plan(named(&why)))?;
        let (found, left_out) = interfaces(&document).map_err(|why| Failed::Plan(named(&why)))?;
        let mut all = Vec::new();
        let mut nids = HashSet::new();
        // All is checked before any is set.
        for (number, it) in found.into_iter().enumerate() {
            let place =
                |why: Broken| Failed::Plan(named(&format!("interface {}: {why}", number + 1)));
            let (nid, request) = wanted(it).map_err(place)?;
            if !nids.insert(nid) {
                // Which of the two is meant?
                return Err(place(format!("{nid} is there twice").into()));
            }
            let mut client = Client::open(&default_path(&self.fabric, nid))?;
            let mut check = request.clone();
            check["check"] = true.into();
            let answer = client.ask(check).map_err(|error| named(&error))?;
            all.push((Wanted { nid, client, request }, answer));
        }
        let mut shown = Vec::new();
        for (mut it, mut answer) in all {
            if !self.check {
                answer = it.client.ask(it.request)?;
            }
            shown.push(json!({ "nid": it.nid.to_string(), "set": answer["set"] }));
        }
        let verb = if self.check { "checked" } else { "imported" };
        let mut done = json!({ verb: shown });
        if !left_out.is_empty() {
            done["left out"] = left_out.into();
        }
        super::print(&done, self.json);
        Ok(())
    }
}

/// The interfaces that a document has, and what else it has of what `show` and `dump` print: that
/// is no setting. Of a peer nothing can be set beforehand: which nodes there are is the fabric's to
/// say, and that one is down is a finding, which may be out of date.
fn interfaces(document: &Value) -> Result<(Vec<&Value>, Vec<&str>), String> {
    let what = "it is no table; `lnd export` writes what can be imported";
    let table = document.as_object().ok_or(what)?;
    let known =
        ["net", "nodes", "peer", "statistics", "health", "transfers", "blockers", "last_events"];
    if let Some(other) = table.keys().find(|key| !known.contains(&key.as_str())) {
        return Err(format!("unknown key '{other}'"));
    }
    let networks = table.get("net").and_then(Value::as_array).ok_or("there is no list 'net'")?;
    let mut all = Vec::new();
    for network in networks {
        let name = network["net type"].as_str().unwrap_or_default();
        if !["soft", "soft0"].contains(&name) {
            return Err(format!("'net type' is '{name}', and a fabric's network is soft0"));
        }
        let found = network[INTERFACES].as_array();
        all.extend(found.ok_or_else(|| format!("there is no list '{INTERFACES}'"))?);
    }
    if all.is_empty() {
        return Err("there is no interface".into());
    }
    Ok((all, table.keys().map(String::as_str).filter(|key| *key != "net").collect()))
}

/// The NID of an interface, and the request that sets what is said of it.
fn wanted(interface: &Value) -> Result<(Nid, Value), Broken> {
    let nid = interface["nid"].as_str().ok_or("there is no 'nid'")?;
    let nid = parse_nid(nid)?;
    // What a node shows of itself beside its settings.
    let facts = ["nid", "status", "incarnation", "state", "links", "slots"];
    let (mut knobs, mut tunables) = (Map::new(), Map::new());
    for (name, value) in interface.as_object().into_iter().flatten() {
        let table = || value.as_object().ok_or_else(|| format!("'{name}' is no table"));
        match name.as_str() {
            "tunables" => tunables.clone_from(table()?),
            "knobs" => {
                for (knob, value) in table()? {
                    // `show` says more of a knob than its value.
                    let value = value.get("value").unwrap_or(value);
                    knobs.insert(knob.clone(), value.clone());
                }
            }
            fact if facts.contains(&fact) => {}
            other => return Err(format!("unknown key '{other}'").into()),
        }
    }
    Ok((nid, json!({ "do": "set", "knobs": knobs, "tunables": tunables })))
}
