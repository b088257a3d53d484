// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The options of `lnd node` and of its clients.

use std::path::{Path, PathBuf};
use std::time::Instant;

use lnd_app::process::{self, parse_nid, Make, Setup};
use lnd_core::id::Nid;

use super::{Done, Failed};

#[derive(Debug, clap::Args)]
pub struct NodeArgs {
    /// The directory; made if there is none. One node at a time may serve it.
    #[arg(long, default_value = "lnd.files")]
    dir: PathBuf,
    /// The fabric: one file that all processes map. Made if there is none.
    #[arg(long, value_name = "FILE", default_value = "lnd.fabric")]
    fabric: PathBuf,
    /// Nodes of the fabric, if it has to be made [default: 4].
    #[arg(long, value_parser = clap::value_parser!(u32).range(2..=64))]
    nodes: Option<u32>,
    /// MiB of each node's payload window, if the fabric has to be made [default: 128].
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    window: Option<u64>,
    /// The node to be, such as 3@soft; any free one if not given.
    #[arg(long, value_name = "NID", value_parser = parse_nid)]
    me: Option<Nid>,
}

impl NodeArgs {
    pub fn run(self, started: Instant) -> Done {
        let Self { dir, fabric, nodes, window, me } = self;
        if let Some(mib) = window.filter(|mib| process::check_window(mib << 20).is_err()) {
            return Err(Failed::window(&["node"], mib));
        }
        let setup = Setup { fabric, make: Some(Make { nodes, window }), me, timeout: 0, started };
        Ok(process::serve(&setup, &dir)?)
    }
}

#[derive(Debug, clap::Args)]
pub struct ClientArgs {
    /// The fabric: one file that all processes map.
    #[arg(long, value_name = "FILE", default_value = "lnd.fabric")]
    fabric: PathBuf,
    /// The node to be, such as 3@soft; any free one if not given.
    #[arg(long, value_name = "NID", value_parser = parse_nid)]
    me: Option<Nid>,
    /// Give up after so many seconds without progress. A server that is not there at the start is
    /// waited for 1.2 s and no longer.
    #[arg(long, value_name = "SECONDS", default_value_t = 60,
        value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    timeout: u64,
}

impl ClientArgs {
    fn setup(self, started: Instant) -> Setup {
        let Self { fabric, me, timeout } = self;
        Setup { fabric, make: None, me, timeout, started }
    }
}

#[derive(Debug, clap::Args)]
pub struct PutArgs {
    /// The file; `-` is standard input.
    file: PathBuf,
    /// The node, such as 1@soft.
    #[arg(value_parser = parse_nid)]
    nid: Nid,
    /// Its name there, if not its own.
    #[arg(long)]
    name: Option<String>,
    #[command(flatten)]
    client: ClientArgs,
}

impl PutArgs {
    pub fn run(self, started: Instant) -> Done {
        let Self { file, nid, name, client } = self;
        if name.is_none() && file == Path::new("-") {
            let why = "standard input has no name: --name says what the file is called there";
            return Err(Failed::usage(&["put"], why));
        }
        Ok(process::put(&client.setup(started), &file, name.as_deref(), nid)?)
    }
}

#[derive(Debug, clap::Args)]
pub struct GetArgs {
    /// Its name there.
    name: String,
    /// The node, such as 1@soft.
    #[arg(value_parser = parse_nid)]
    nid: Nid,
    /// The file to write; `-` is standard output; the last part of its name if not given.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    client: ClientArgs,
}

impl GetArgs {
    pub fn run(self, started: Instant) -> Done {
        let Self { name, nid, out, client } = self;
        let last = name.rsplit('/').next().unwrap_or(&name).to_owned();
        let out = out.unwrap_or_else(|| last.into());
        Ok(process::get(&client.setup(started), &name, &out, nid)?)
    }
}

#[derive(Debug, clap::Args)]
pub struct PingArgs {
    /// The node, such as 1@soft.
    #[arg(value_parser = parse_nid)]
    nid: Nid,
    #[command(flatten)]
    client: ClientArgs,
}

impl PingArgs {
    pub fn run(self, started: Instant) -> Done {
        Ok(process::ping(&self.client.setup(started), self.nid)?)
    }
}

#[derive(Debug, clap::Args)]
pub struct BenchArgs {
    /// MiB of the file.
    #[arg(long, value_name = "MIB", default_value_t = 1024,
        value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    size: u64,
    /// Rounds that count; there is one before.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    runs: u32,
    /// Below which directory the files lie while it runs; if not given: in memory.
    #[arg(long)]
    dir: Option<PathBuf>,
}

impl BenchArgs {
    pub fn run(self) -> Done {
        Ok(process::bench(self.dir.as_deref(), self.size, self.runs)?)
    }
}
