// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lnd`: the command-line tool of the test bench.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};
use lnd_core::id::Nid;
use lnd_sim::fabric::Shape;
use lnd_sim::process::{self, fabric, parse_nid, Setup};
use lnd_sim::world::Failure;
use lnd_sim::{demo, rails, say, world};

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
    /// Make, show or change a fabric file.
    #[command(subcommand)]
    Fabric(FabricCommand),
    /// Nodes in virtual time under an adversary: the same seed gives the same run.
    Sim(SimArgs),
}

#[derive(Debug, Subcommand)]
enum FabricCommand {
    /// Make a fabric file; its size is a power of two, as virtual machines want it.
    Format {
        /// The file; must not exist.
        file: PathBuf,
        /// Nodes.
        #[arg(long, default_value_t = 4)]
        nodes: u32,
        /// Links of each node.
        #[arg(long, default_value_t = 2)]
        links: u32,
        /// Descriptors of each link.
        #[arg(long, default_value_t = 256)]
        descriptors: u32,
        /// MiB of each node's payload window.
        #[arg(long, default_value_t = 128)]
        window: u64,
    },
    /// Show a fabric's numbers, and where its nodes and links stand.
    Show {
        /// The file.
        file: PathBuf,
    },
    /// Declare a node dead, whose machine is gone: nothing of it touches the fabric any more.
    Dead {
        /// The file.
        file: PathBuf,
        /// The node's number, from 0.
        node: u32,
        /// Only if it lives this life, as `show` prints it.
        #[arg(long, value_parser = fabric::parse_life)]
        life: Option<u64>,
    },
    /// Pull a link's cable, or put it back.
    Link {
        /// The file.
        file: PathBuf,
        /// The node's number, from 0.
        node: u32,
        /// The link's number, from 0.
        link: usize,
        /// What shall become of it.
        #[arg(value_parser = ["up", "down"])]
        to: String,
    },
}

impl FabricCommand {
    fn run(self) -> Result<(), process::Broken> {
        match self {
            Self::Format { file, nodes, links, descriptors, window } => {
                let window = window.saturating_mul(1 << 20);
                fabric::format(&file, Shape::new(nodes, links, descriptors, window))
            }
            Self::Show { file } => fabric::show(&file),
            Self::Dead { file, node, life } => fabric::dead(&file, node, life),
            Self::Link { file, node, link, to } => fabric::link(&file, node, link, to == "up"),
        }
    }
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
    /// Whether one node is byzantine: it sends anything; drawn from the seed if not given.
    #[arg(long, num_args = 0..=1, default_missing_value = "true")]
    byzantine: Option<bool>,
    /// Whether everything that wraps begins just before it does; drawn from the seed if not given.
    #[arg(long, num_args = 0..=1, default_missing_value = "true")]
    wraps: Option<bool>,
    /// Whether nodes pause, requests are kept, links of one's own fail, and every message is followed
    /// from end to end.
    #[arg(long, num_args = 0..=1, default_missing_value = "true")]
    pauses: Option<bool>,
    /// A fault plan (TOML); drawn from the seed if not given.
    #[arg(long, value_name = "PLAN", visible_alias = "plan")]
    faults: Option<PathBuf>,
    /// Nodes with several interfaces, and their health; also if the plan names networks.
    #[arg(long)]
    rails: bool,
    /// If the run fails: find the smallest fault plan with which it still breaks the same rule, and
    /// write it to this file.
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "shrunk.toml")]
    shrink: Option<PathBuf>,
    /// Most runs that shrinking may take.
    #[arg(long, default_value_t = 500, value_name = "RUNS")]
    shrink_runs: u32,
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
        Some(Command::Fabric(command)) => command.run(),
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

/// A plan that names networks is one of a multi-rail world.
fn names_networks(plan: Option<&std::path::Path>) -> bool {
    let text = plan.and_then(|path| std::fs::read_to_string(path).ok());
    text.is_some_and(|text| rails::Plan::is_meant_by(&text))
}

/// Multi-rail worlds: of a plan, or of the seeds' own.
fn simulate_rails(args: &SimArgs) -> ExitCode {
    let plan = match args.faults.as_deref().map(rails::Plan::read).transpose() {
        Ok(plan) => plan,
        Err(error) => {
            eprintln!("lnd: {error}");
            return ExitCode::from(2);
        }
    };
    let count = args.seeds.unwrap_or(1);
    let mut all = rails::Counts::default();
    for seed in args.seed..args.seed.saturating_add(count) {
        match rails::run(plan.as_ref().unwrap_or(&rails::swarm(seed)), seed) {
            Ok(report) if args.seeds.is_none() => say!("{report}"),
            Ok(report) => all.merge(&report.counts()),
            Err(failure) => {
                eprintln!("{failure}");
                if let Some(file) = &args.shrink {
                    let drawn = rails::swarm(seed);
                    let plan = plan.as_ref().unwrap_or(&drawn);
                    if let Some(it) = rails::shrink(plan, seed, None, args.shrink_runs) {
                        write_shrunk(file, &it.failure, it.runs, |name| it.to_toml(name));
                    }
                }
                return ExitCode::FAILURE;
            }
        }
    }
    if args.seeds.is_some() {
        say!("{count} multi-rail seeds from {} on: no rule was broken; {all}", args.seed);
    }
    ExitCode::SUCCESS
}

fn simulate(args: &SimArgs) -> ExitCode {
    if args.rails || names_networks(args.faults.as_deref()) {
        return simulate_rails(args);
    }
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
            byzantine: args.byzantine,
            wraps: args.wraps,
            pauses: args.pauses,
            faults: faults.clone(),
        };
        match world::run(&options) {
            Ok(summary) if args.seeds.is_none() => say!("{summary}"),
            Ok(_) => {}
            Err(failure) => {
                eprintln!("{failure}");
                if let Some(file) = &args.shrink {
                    if let Ok(it) = world::shrink(&options, None, args.shrink_runs) {
                        write_shrunk(file, &it.failure, it.runs, |name| it.to_toml(name));
                    }
                }
                return ExitCode::FAILURE;
            }
        }
    }
    if args.seeds.is_some() {
        say!("{count} seeds from {first} on: no rule was broken");
    }
    ExitCode::SUCCESS
}

/// Writes the smallest plan with which a run still fails to a file.
fn write_shrunk(file: &Path, failure: &Failure, runs: u32, plan: impl FnOnce(&str) -> String) {
    let name = file.display().to_string();
    match std::fs::write(file, plan(&name)) {
        Ok(()) => {
            eprintln!("\nshrunk in {runs} runs: {failure}");
            eprintln!("plan: {name}; again: lnd sim --seed {} --faults {name}", failure.seed);
        }
        Err(error) => eprintln!("lnd: {name}: {error}"),
    }
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
            say!("{outcome}");
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
