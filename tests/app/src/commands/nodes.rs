// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The options of `lnd node` and of its clients.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Instant;

use lnd_app::metrics::parse_address;
use lnd_app::output;
use lnd_app::process::{
    self, parse_nid, Control, Make, Manner, PerfPlan, PingPlan, Setup, PERF_BYTES, PING_BYTES,
};
use lnd_core::id::Nid;
use lnd_core::time::Span;
use lnd_soft::shape::MAX_NODES;

use super::{Done, Failed};

#[derive(Debug, clap::Args)]
pub struct NodeArgs {
    /// The directory; made if there is none. One node at a time may serve it.
    #[arg(long, default_value = "lnd.files")]
    dir: PathBuf,
    /// Serve what the node counts, for Prometheus, at this address; a port alone: on this machine
    /// only, such as 9464.
    #[arg(long, value_name = "ADDR:PORT", value_parser = parse_address)]
    metrics: Option<SocketAddr>,
    /// The fabric: one file that all processes map. Made if there is none.
    #[arg(long, value_name = "FILE", default_value = "lnd.fabric")]
    fabric: PathBuf,
    /// Nodes of the fabric, if it has to be made [default: 4].
    #[arg(long, value_parser = clap::value_parser!(u32).range(2..=i64::from(MAX_NODES)))]
    nodes: Option<u32>,
    /// MiB of each node's payload window, if the fabric has to be made [default: 128].
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    window: Option<u64>,
    /// The node to be, such as 3@soft; the last free one if not given.
    #[arg(long, value_name = "NID", value_parser = parse_nid)]
    me: Option<Nid>,
    /// Write the node's frames to this file, as pcapng. The dissector is docs/wireshark/lnd.lua.
    #[arg(long, value_name = "FILE")]
    capture: Option<PathBuf>,
    /// Where the control socket is [default: beside the fabric, such as lnd.fabric.3.control].
    #[arg(long, value_name = "PATH")]
    control: Option<PathBuf>,
    /// Have no control socket.
    #[arg(long, conflicts_with = "control")]
    no_control: bool,
    /// Begin each line with the time, in UTC.
    #[arg(long)]
    times: bool,
}

impl NodeArgs {
    pub fn run(self, started: Instant) -> Done {
        let Self { dir, metrics, fabric, nodes, window, me, capture, control, no_control, times } =
            self;
        output::use_times(times);
        if let Some(mib) = window.filter(|mib| process::check_window(mib << 20).is_err()) {
            return Err(Failed::window(&["node"], mib));
        }
        let control = match control {
            Some(path) => Control::At(path),
            None if no_control => Control::None,
            None => Control::Beside,
        };
        let make = Some(Make { nodes, window });
        let setup = Setup { fabric, make, me, timeout: 0, capture, started, control };
        Ok(process::serve(&setup, &dir, metrics)?)
    }
}

#[derive(Debug, clap::Args)]
pub struct ClientArgs {
    /// The fabric: one file that all processes map.
    #[arg(long, value_name = "FILE", default_value = "lnd.fabric")]
    fabric: PathBuf,
    /// The node to be, such as 3@soft; the last free one if not given.
    #[arg(long, value_name = "NID", value_parser = parse_nid)]
    me: Option<Nid>,
    /// Give up after so many seconds without progress. A server that is not there at the start is
    /// waited for 1.2 s and no longer.
    #[arg(long, value_name = "SECONDS", default_value_t = 60,
        value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    timeout: u64,
    /// Write the node's frames to this file, as pcapng. The dissector is docs/wireshark/lnd.lua.
    #[arg(long, value_name = "FILE")]
    capture: Option<PathBuf>,
}

impl ClientArgs {
    fn setup(self, started: Instant) -> Setup {
        let Self { fabric, me, timeout, capture } = self;
        Setup { fabric, make: None, me, timeout, capture, started, control: Control::None }
    }
}

/// How a file's transfer is reported.
#[derive(Debug, clap::Args)]
pub struct MannerArgs {
    /// As JSON.
    #[arg(long)]
    json: bool,
    /// Draw no progress bar.
    #[arg(long)]
    quiet: bool,
}

impl MannerArgs {
    const fn manner(&self) -> Manner {
        Manner { json: self.json, quiet: self.quiet }
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
    #[command(flatten)]
    manner: MannerArgs,
}

impl PutArgs {
    pub fn run(self, started: Instant) -> Done {
        let Self { file, nid, name, client, manner } = self;
        if name.is_none() && file == Path::new("-") {
            let why = "standard input has no name: --name says what the file is called there";
            return Err(Failed::usage(&["put"], why));
        }
        Ok(process::put(&client.setup(started), &file, name.as_deref(), nid, manner.manner())?)
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
    #[command(flatten)]
    manner: MannerArgs,
}

impl GetArgs {
    pub fn run(self, started: Instant) -> Done {
        let Self { name, nid, out, client, manner } = self;
        let last = name.rsplit('/').next().unwrap_or(&name).to_owned();
        let out = out.unwrap_or_else(|| last.into());
        if manner.json && out == Path::new("-") {
            let why = "--json and --out -: standard output is either the file or JSON";
            return Err(Failed::usage(&["get"], why));
        }
        Ok(process::get(&client.setup(started), &name, &out, nid, manner.manner())?)
    }
}

#[derive(Debug, clap::Args)]
pub struct PingArgs {
    /// The node, such as 1@soft.
    #[arg(value_parser = parse_nid)]
    nid: Nid,
    /// Number of requests.
    #[arg(long, short = 'c', default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    count: u32,
    /// Payload bytes, each way.
    #[arg(long, short = 's', value_name = "BYTES", default_value_t = 56,
        value_parser = clap::value_parser!(u32).range(0..=i64::from(PING_BYTES)))]
    size: u32,
    /// Milliseconds between the starts of two requests.
    #[arg(long, short = 'i', value_name = "MS", default_value_t = 1000,
        value_parser = clap::value_parser!(u64).range(0..=3_600_000))]
    interval: u64,
    /// Milliseconds after which an unanswered request counts as lost, if there are several.
    #[arg(long, short = 'W', value_name = "MS", default_value_t = 2000,
        value_parser = clap::value_parser!(u64).range(1..=3_600_000))]
    wait: u64,
    #[command(flatten)]
    client: ClientArgs,
    /// As JSON.
    #[arg(long)]
    json: bool,
}

impl PingArgs {
    pub fn run(self, started: Instant) -> Done {
        let Self { nid, count, size, interval, wait, client, json } = self;
        let plan = PingPlan {
            count,
            size,
            interval: Span::from_millis(interval),
            wait: Span::from_millis(wait),
            json,
        };
        if process::ping(&client.setup(started), nid, &plan)? {
            Ok(())
        } else {
            Err(Failed::Partly)
        }
    }
}

#[derive(Debug, clap::Args)]
pub struct PerfArgs {
    /// A node that runs, such as 1@soft; if not given, one is started for as long as this lasts.
    #[arg(value_parser = parse_nid)]
    nid: Option<Nid>,
    /// The smallest message.
    #[arg(long, value_name = "BYTES", default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..=i64::from(PERF_BYTES)))]
    from: u32,
    /// The largest; each is four times as long as the one before.
    #[arg(long, value_name = "BYTES", default_value_t = PERF_BYTES,
        value_parser = clap::value_parser!(u32).range(1..=i64::from(PERF_BYTES)))]
    to: u32,
    /// Messages under way at a time where bandwidth is measured.
    #[arg(long, value_name = "MESSAGES", default_value_t = 16,
        value_parser = clap::value_parser!(u32).range(1..=64))]
    depth: u32,
    /// Most messages of each measurement.
    #[arg(long, value_name = "MESSAGES", default_value_t = 10_000,
        value_parser = clap::value_parser!(u32).range(10..=1_000_000))]
    iterations: u32,
    /// Most milliseconds of each measurement.
    #[arg(long, value_name = "MS", default_value_t = 200,
        value_parser = clap::value_parser!(u64).range(1..=60_000))]
    time: u64,
    #[command(flatten)]
    client: ClientArgs,
    /// As JSON.
    #[arg(long)]
    json: bool,
}

impl PerfArgs {
    pub fn run(self, started: Instant) -> Done {
        let Self { nid, from, to, depth, iterations, time, client, json } = self;
        if from > to {
            return Err(Failed::usage(&["perf"], "--from is more than --to"));
        }
        let time = Span::from_millis(time);
        let plan = PerfPlan { from, to, depth, iterations, time, json };
        Ok(process::perf(client.setup(started), nid, plan)?)
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
    /// As JSON.
    #[arg(long)]
    json: bool,
}

impl BenchArgs {
    pub fn run(self) -> Done {
        Ok(process::bench(self.dir.as_deref(), self.size, self.runs, self.json)?)
    }
}
