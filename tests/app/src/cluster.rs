// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lnd cluster`: nodes that a TOML file describes, each a process over one fabric file.

use std::collections::BTreeSet;
use std::fs::File;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use lnd_core::id::Nid;
use lnd_soft::shape::MAX_NODES;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{json, Value};

use crate::control::{client::Client, default_path};
use crate::process::{check_window, end_with_parent, parse_nid, signals, Broken};

/// A cluster. Paths are relative to the directory of its file.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cluster {
    /// The fabric file; made if there is none.
    #[serde(default = "fabric")]
    pub fabric: PathBuf,
    /// Nodes that the fabric has room for, clients too.
    #[serde(default = "nodes")]
    #[schemars(range(min = 2, max = 64))]
    pub nodes: u32,
    /// MiB of each node's payload window.
    #[serde(default = "window")]
    #[schemars(range(min = 1, max = 1_048_576))]
    pub window_mib: u64,
    /// The nodes that run.
    pub node: Vec<Node>,
}

/// A node that serves a directory.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// Its NID, such as 1@soft.
    #[schemars(regex(pattern = r"^[0-9]+@soft0?$"))]
    pub nid: String,
    /// The directory that it serves; made if there is none.
    pub dir: PathBuf,
    /// Where its log goes; standard output if left out.
    #[serde(default)]
    pub log: Option<PathBuf>,
}

fn fabric() -> PathBuf {
    "lnd.fabric".into()
}

const fn nodes() -> u32 {
    crate::process::NODES
}

const fn window() -> u64 {
    crate::process::WINDOW
}

/// A node is up, or has ended, within so long.
const PATIENCE: Duration = Duration::from_secs(30);
/// Between two looks.
const NAP: Duration = Duration::from_millis(20);

impl Cluster {
    /// Reads and checks a file.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn read(path: &Path) -> Result<Self, String> {
        let named = |error: &dyn std::fmt::Display| {
            format!("{}: {}", path.display(), crate::text::brief(error))
        };
        let text = crate::text::read(path).map_err(|error| named(&error))?;
        let mut cluster: Self = toml::from_str(&text).map_err(|error| named(&error))?;
        cluster.check().map_err(|error| named(&error))?;
        let dir = path.parent().unwrap_or(Path::new(""));
        cluster.fabric = dir.join(&cluster.fabric);
        for node in &mut cluster.node {
            node.dir = dir.join(&node.dir);
            node.log = node.log.take().map(|log| dir.join(log));
        }
        Ok(cluster)
    }

    fn check(&self) -> Result<(), String> {
        if !(2..=MAX_NODES).contains(&self.nodes) {
            return Err(format!("nodes = {} is not in 2..={MAX_NODES}", self.nodes));
        }
        if !(1..=1 << 20).contains(&self.window_mib) {
            return Err(format!("window_mib = {} is not in 1..=1048576", self.window_mib));
        }
        check_window(self.window_mib << 20).map_err(|error| error.to_string())?;
        let (mut nids, mut dirs) = (BTreeSet::new(), BTreeSet::new());
        for (number, node) in self.node.iter().enumerate() {
            let wrong = |why: String| format!("node {}: {why}", number + 1);
            let nid = parse_nid(&node.nid).map_err(wrong)?;
            if nid.address() > self.nodes {
                return Err(wrong(format!("{nid} is beyond the {} nodes", self.nodes)));
            }
            if !nids.insert(nid) {
                return Err(wrong(format!("{nid} is there twice")));
            }
            if !dirs.insert(&node.dir) {
                return Err(wrong(format!("{} is served twice", node.dir.display())));
            }
        }
        if self.node.is_empty() {
            return Err("no node".into());
        }
        Ok(())
    }

    fn nids(&self) -> impl Iterator<Item = Nid> + '_ {
        // They were checked when the file was read.
        self.node.iter().filter_map(|node| parse_nid(&node.nid).ok())
    }

    /// How each node is: what it says through its control socket.
    pub fn show(&self) -> Value {
        let shown = self.nids().map(|nid| {
            let path = default_path(&self.fabric, nid);
            let ask = || Client::open(&path)?.ask(json!({ "do": "show", "what": "net" }));
            match ask() {
                Ok(answer) => {
                    let it = &answer["net"][0]["local NI(s)"][0];
                    json!({ "nid": it["nid"], "status": it["status"], "state": it["state"] })
                }
                Err(error) => json!({
                    "nid": nid.to_string(), "status": "gone", "why": error.to_string(),
                }),
            }
        });
        json!({ "cluster": shown.collect::<Vec<_>>() })
    }

    /// Runs all nodes until a signal comes or one of them ends; then all are ended in good order.
    ///
    /// # Errors
    /// A node does not start, or does not end well.
    pub fn run(&self) -> Result<(), Broken> {
        signals::catch();
        let mut running = Vec::new();
        let mut wanted = self.node.iter().take_while(|_| !signals::stopped());
        let started = wanted.try_for_each(|node| {
            running.push(Running::start(self, node)?);
            Ok::<(), Broken>(())
        });
        let ended = started.and_then(|()| {
            if !signals::stopped() {
                crate::say!("{} nodes are up", running.len());
            }
            loop {
                if signals::stopped() {
                    return Ok(());
                }
                for node in &mut running {
                    if let Some(status) = node.child.try_wait()? {
                        // A node that was drained has ended as it should.
                        let why = format!("{} has ended: {status}", node.nid);
                        if !status.success() {
                            return Err(why.into());
                        }
                        crate::say!("{why}");
                        return Ok(());
                    }
                }
                sleep(NAP);
            }
        });
        let all: Vec<Result<(), Broken>> = running.into_iter().map(Running::stop).collect();
        all.into_iter().fold(ended, Result::and)
    }
}

/// A node's process. Killed when it is dropped before its end.
struct Running {
    nid: String,
    child: Child,
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Running {
    fn start(cluster: &Cluster, node: &Node) -> Result<Self, Broken> {
        let nid = parse_nid(&node.nid)?;
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["node", "--me", &node.nid, "--dir"]).arg(&node.dir);
        command.arg("--fabric").arg(&cluster.fabric).stdin(Stdio::null());
        command.args(["--nodes", &cluster.nodes.to_string()]);
        command.args(["--window", &cluster.window_mib.to_string()]);
        if crate::output::has_times() {
            command.arg("--times");
        }
        if let Some(log) = &node.log {
            let named = |error: std::io::Error| format!("{}: {error}", log.display());
            let file = File::options().append(true).create(true).open(log).map_err(named)?;
            command.stdout(file.try_clone().map_err(named)?).stderr(file);
        }
        // A terminal's ^C is for this process, which passes it on: a node that is asked twice ends
        // at once.
        command.process_group(0);
        end_with_parent(&mut command);
        let mut running = Self { nid: nid.to_string(), child: command.spawn()? };
        let path = default_path(&cluster.fabric, nid);
        let begun = Instant::now();
        // Its control socket answers when it is up. Another process may be this node already.
        let us = running.child.id();
        let is_up = || Client::open(&path).and_then(|it| it.process()).is_ok_and(|it| it == us);
        while !is_up() {
            if let Some(status) = running.child.try_wait()? {
                let said = node.log.as_ref().map(|log| format!("; {} says why", log.display()));
                let said = said.unwrap_or_default();
                return Err(format!("{nid} has not started: {status}{said}").into());
            }
            // After a signal it ends with the others, when it is up: earlier it cannot.
            if begun.elapsed() > PATIENCE {
                return Err(format!("{nid} has not started in time").into());
            }
            sleep(NAP);
        }
        Ok(running)
    }

    /// Ends it in good order.
    fn stop(mut self) -> Result<(), Broken> {
        if self.child.try_wait()?.is_none() {
            let pid = libc::pid_t::try_from(self.child.id())?;
            // SAFETY: sends a signal to a child of this process that has not been waited for.
            unsafe { libc::kill(pid, libc::SIGTERM) };
        }
        let begun = Instant::now();
        loop {
            match self.child.try_wait()? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => return Err(format!("{} has ended: {status}", self.nid).into()),
                None if begun.elapsed() > PATIENCE => {
                    return Err(format!("{} does not end", self.nid).into());
                }
                None => sleep(NAP),
            }
        }
    }
}
