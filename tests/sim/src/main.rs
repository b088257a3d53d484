// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lnd`: the command-line tool of the test bench.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};
use lnd_core::id::Nid;
use lnd_sim::process::{self, parse_nid, Setup};
use lnd_sim::{demo, world};

/// The inside of a Lustre Network Driver at work: real files as PUT and GET between nodes, through
/// peer and link failures. Without a command: the demonstration.
#[derive(Debug, Parser)]
#[command(version)]
struct Cli {
    #[command(flatten)]
    demo: DemoArgs,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, clap::Args)]
struct DemoArgs {
    /// Send every regular file below this directory (build output and version control left out).
    #[arg(long, default_value = ".")]
    dir: PathBuf,
    /// Size of the generated set beside it, in MiB; 0: none.
    #[arg(long, default_value_t = 512, value_name = "MIB")]
    generated: u64,
    /// Where the generated set lies.
    #[arg(long, default_value = "target/lnd-demo")]
    scratch: PathBuf,
    /// No link fails and nobody dies.
    #[arg(long)]
    calm: bool,
    /// Draw no progress bars.
    #[arg(long)]
    quiet: bool,
    /// Everything must have ended after so many seconds.
    #[arg(long, default_value_t = 55, value_name = "SECONDS")]
    bound: u64,
}

#[derive(Debug, clap::Args)]
struct FabricArgs {
    /// The fabric: one file that all processes map. Made if there is none.
    #[arg(long, default_value = "lnd.fabric")]
    fabric: PathBuf,
    /// Nodes of a fabric that has to be made.
    #[arg(long, default_value_t = 4)]
    nodes: u32,
    /// MiB of each node's payload window in a fabric that has to be made.
    #[arg(long, default_value_t = 128)]
    window: u64,
    /// The node to be, such as 3@soft; any free one if not given.
    #[arg(long, value_parser = parse_nid)]
    me: Option<Nid>,
    /// Give up after so many seconds.
    #[arg(long, default_value_t = 60)]
    timeout: u64,
}

impl From<FabricArgs> for Setup {
    fn from(args: FabricArgs) -> Self {
        let FabricArgs { fabric, nodes, window, me, timeout } = args;
        Self { fabric, nodes, window, me, timeout }
    }
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Be a node that serves a directory, until SIGINT or SIGTERM.
    Node {
        /// The directory; made if there is none.
        #[arg(long, default_value = "lnd.files")]
        dir: PathBuf,
        #[command(flatten)]
        fabric: FabricArgs,
    },
    /// Send a file to a node.
    Put {
        /// The file.
        file: PathBuf,
        /// The node, such as 1@soft.
        #[arg(value_parser = parse_nid)]
        nid: Nid,
        /// Its name there, if not its own.
        #[arg(long)]
        name: Option<String>,
        #[command(flatten)]
        fabric: FabricArgs,
    },
    /// Fetch a file from a node.
    Get {
        /// Its name there.
        name: String,
        /// The node, such as 1@soft.
        #[arg(value_parser = parse_nid)]
        nid: Nid,
        /// Where to; the last part of its name if not given.
        #[arg(long)]
        out: Option<PathBuf>,
        #[command(flatten)]
        fabric: FabricArgs,
    },
    /// Ask a node for a sign of life.
    Ping {
        /// The node, such as 1@soft.
        #[arg(value_parser = parse_nid)]
        nid: Nid,
        #[command(flatten)]
        fabric: FabricArgs,
    },
    /// Nodes in virtual time under an adversary: the same seed gives the same run.
    Sim(SimArgs),
}

#[derive(Debug, clap::Args)]
struct SimArgs {
    /// The seed, or the first of several.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Run so many seeds and print a line for all.
    #[arg(long)]
    seeds: Option<u64>,
    /// Number of nodes; drawn from the seed if not given.
    #[arg(long)]
    nodes: Option<u32>,
    /// Links of each node; drawn from the seed if not given.
    #[arg(long)]
    links: Option<u32>,
    /// Virtual seconds of traffic; drawn from the seed if not given.
    #[arg(long)]
    seconds: Option<u32>,
    /// Whether node 1 routes between node 0 and the others; drawn from the seed if not given.
    #[arg(long)]
    routed: Option<bool>,
    /// A fault plan (TOML); drawn from the seed if not given.
    #[arg(long, value_name = "PLAN")]
    faults: Option<PathBuf>,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match cli.command {
        None => return demonstrate(&cli.demo),
        Some(Command::Sim(args)) => return simulate(&args),
        Some(Command::Node { dir, fabric }) => process::serve(&fabric.into(), &dir),
        Some(Command::Put { file, nid, name, fabric }) => {
            process::put(&fabric.into(), &file, name.as_deref(), nid)
        }
        Some(Command::Get { name, nid, out, fabric }) => {
            let last = name.rsplit('/').next().unwrap_or(&name).to_owned();
            process::get(&fabric.into(), &name, &out.unwrap_or_else(|| last.into()), nid)
        }
        Some(Command::Ping { nid, fabric }) => process::ping(&fabric.into(), nid),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("lnd: {error}");
            ExitCode::FAILURE
        }
    }
}

fn simulate(args: &SimArgs) -> ExitCode {
    let faults = match args.faults.as_deref().map(world::Plan::read).transpose() {
        Ok(faults) => faults,
        Err(error) => {
            eprintln!("lnd: {error}");
            return ExitCode::from(2);
        }
    };
    let first = args.seed;
    let count = args.seeds.unwrap_or(1);
    for seed in first..first.saturating_add(count) {
        let options = world::Options {
            seed,
            nodes: args.nodes,
            links: args.links,
            seconds: args.seconds,
            routed: args.routed,
            faults: faults.clone(),
        };
        match world::run(&options) {
            Ok(summary) if args.seeds.is_none() => println!("{summary}"),
            Ok(_) => {}
            Err(failure) => {
                eprintln!("{failure}");
                return ExitCode::FAILURE;
            }
        }
    }
    if args.seeds.is_some() {
        println!("{count} seeds from {first} on: no rule was broken");
    }
    ExitCode::SUCCESS
}

fn demonstrate(args: &DemoArgs) -> ExitCode {
    let options = demo::Options {
        dir: args.dir.clone(),
        generated: args.generated << 20,
        scratch: args.scratch.clone(),
        failures: !args.calm,
        bound: Duration::from_secs(args.bound),
        progress: !args.quiet,
    };
    match demo::run(&options) {
        Ok(outcome) => {
            println!("{outcome}");
            if outcome.violations().is_empty() {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            }
        }
        Err(error) => {
            eprintln!("lnd: {error}");
            ExitCode::from(2)
        }
    }
}
