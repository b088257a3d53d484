// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Separate processes over one fabric file: `lnd node`, `lnd put`, `lnd get`, `lnd ping`,
//! and what is to be done with the file itself: `lnd fabric`.

mod bench;
mod child;
mod client;
pub mod fabric;
mod host;
mod input;
mod patience;
mod perf;
mod ping;
mod presence;
mod server;
pub mod signals;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use lnd_core::id::Nid;
use lnd_sim::fabric::{nid_of, node_of, Fabric, Mapping, Shape};

pub use bench::bench;
pub use child::{end_with_parent, remove_leftovers};
pub use client::{get, put, Manner};
pub use host::config;
pub use perf::{perf, PerfPlan, PERF_BYTES};
pub use ping::{ping, PingPlan, PING_BYTES};
pub use server::serve;

use crate::files::{ServerConfig, PAGE};

/// Links of every node in a fabric of processes.
pub const LINKS: u32 = 2;
/// Descriptors of each link that a process needs.
pub const DESCRIPTORS: u32 = 256;
/// Nodes of a fabric that is made, if nothing else is said.
pub const NODES: u32 = 4;
/// MiB of each node's payload window in a fabric that is made, if nothing else is said.
pub const WINDOW: u64 = 128;
/// For so long after its start a client waits for a server that is not there.
const GRACE: Duration = Duration::from_millis(1200);

/// What every process needs to know.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The fabric's file.
    pub fabric: PathBuf,
    /// Makes the fabric if there is none.
    pub make: Option<Make>,
    /// The node to be; `None`: any that is free.
    pub me: Option<Nid>,
    /// Seconds without any progress after which a client gives up.
    pub timeout: u64,
    /// Writes the node's frames to this file, as pcapng.
    pub capture: Option<PathBuf>,
    /// When the program was started.
    pub started: Instant,
    /// Where the node's control socket is.
    pub control: Control,
}

/// Where a node's control socket is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Control {
    /// There is none.
    #[default]
    None,
    /// Beside the fabric.
    Beside,
    /// There.
    At(PathBuf),
}

/// Numbers of a fabric that has to be made, or what a fabric that is there has to have.
#[derive(Clone, Copy, Debug, Default)]
pub struct Make {
    /// Nodes.
    pub nodes: Option<u32>,
    /// MiB of each node's payload window.
    pub window: Option<u64>,
}

impl Setup {
    /// Maps the fabric; made if there is none and it may be made. Whether it was made, too.
    fn map(&self) -> Result<(Mapping, bool), Broken> {
        let path = &self.fabric;
        let named = |error| format!("{}: {error}", path.display());
        let (mapping, made) = match self.make {
            Some(make) => {
                let window = make.window.unwrap_or(WINDOW) << 20;
                let shape = Shape::new(make.nodes.unwrap_or(NODES), LINKS, DESCRIPTORS, window);
                Mapping::made_or_found(path, shape).map_err(named)?
            }
            None => {
                while !path.exists() && self.started.elapsed() < GRACE && !signals::stopped() {
                    std::thread::sleep(Duration::from_millis(10));
                }
                if !path.exists() {
                    let why = "there is no such fabric; `lnd node` makes it";
                    return Err(format!("{}: {why}", path.display()).into());
                }
                (Mapping::open(path).map_err(named)?, false)
            }
        };
        guard(path, &mapping);
        Ok((mapping, made))
    }

    /// Whether a fabric is what processes need, and what was asked for.
    fn check(&self, fabric: &Fabric<'_>) -> Result<(), Broken> {
        let (shape, path) = (fabric.shape(), self.fabric.display());
        if shape.links != LINKS || shape.descriptors < DESCRIPTORS {
            return Err(format!(
                "{path}: has {} links of {} descriptors; \
                 a process needs {LINKS} links of {DESCRIPTORS}",
                shape.links, shape.descriptors
            )
            .into());
        }
        check_window(shape.window).map_err(|error| format!("{path}: {error}"))?;
        let Some(Make { nodes, window }) = self.make else { return Ok(()) };
        if let Some(nodes) = nodes.filter(|nodes| *nodes != shape.nodes) {
            let has = shape.nodes;
            return Err(format!("{path}: is there and has {has} nodes, not --nodes {nodes}").into());
        }
        if let Some(window) = window.filter(|window| window << 20 != shape.window) {
            let has = shape.window >> 20;
            let asked = format!("not --window {window}");
            return Err(format!("{path}: is there and has windows of {has} MiB, {asked}").into());
        }
        Ok(())
    }
}

/// From now on a file that is cut ends the process with a message.
fn guard(path: &Path, mapping: &Mapping) {
    signals::guard(path, mapping.address(), mapping.len());
}

/// Whether a server can work with a window of so many bytes.
///
/// # Errors
/// It is too small.
pub fn check_window(bytes: u64) -> Result<(), Broken> {
    // A page for a part of a file that is read.
    let least = (ServerConfig::new(0).least_memory() + PAGE).div_ceil(1 << 20);
    if bytes >> 20 < least {
        let has = bytes >> 20;
        return Err(
            format!("a window of {has} MiB is too small: a server needs {least} MiB").into()
        );
    }
    Ok(())
}

/// Anything that can go wrong.
pub type Broken = Box<dyn std::error::Error + Send + Sync>;

/// Reads a NID: `2@soft`, `2@soft0`.
///
/// # Errors
/// It is no NID, or not one of a fabric's network.
pub fn parse_nid(text: &str) -> Result<Nid, String> {
    let (address, network) = text.split_once('@').ok_or("a NID looks like 2@soft")?;
    if network != "soft" && network != "soft0" {
        return Err(format!("unknown network '{network}': a fabric's network is soft"));
    }
    let address: u32 = address.parse().map_err(|_| format!("'{address}' is no address"))?;
    let nid = Nid::from_raw(u64::from(address)).ok_or("addresses begin at 1")?;
    node_of(nid).map(nid_of).ok_or_else(|| format!("{nid} is beyond every fabric"))
}
