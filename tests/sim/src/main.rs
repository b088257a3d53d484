// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lnd`: the command-line tool of the test bench.

use std::io::ErrorKind as IoErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};
use lnd_core::id::{Incarnation, Nid};
use lnd_sim::fabric::Shape;
use lnd_sim::process::{self, fabric, parse_nid, Make, Setup};
use lnd_sim::world::Failure;
use lnd_sim::{complain, demo, output, rails, say, world};

/// The inside of a Lustre Network Driver at work: real files as PUT and GET between nodes, through
/// peer and link failures. Without a command: the demonstration.
#[derive(Debug, Parser)]
#[command(name = "lnd", version, args_conflicts_with_subcommands = true)]
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
    #[arg(long, default_value_t = 512, value_name = "MIB",
        value_parser = clap::value_parser!(u64).range(0..=1 << 20))]
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
    #[arg(long, default_value_t = 55, value_name = "SECONDS",
        value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    bound: u64,
}

#[derive(Debug, clap::Args)]
struct NodeArgs {
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

#[derive(Debug, clap::Args)]
struct ClientArgs {
    /// The fabric: one file that all processes map.
    #[arg(long, value_name = "FILE", default_value = "lnd.fabric")]
    fabric: PathBuf,
    /// The node to be, such as 3@soft; any free one if not given.
    #[arg(long, value_name = "NID", value_parser = parse_nid)]
    me: Option<Nid>,
    /// Give up after so many seconds without progress. A server that is not there at the start is
    /// not waited for.
    #[arg(long, value_name = "SECONDS", default_value_t = 60,
        value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    timeout: u64,
}

impl NodeArgs {
    fn setup(self, started: Instant) -> Setup {
        let Self { fabric, nodes, window, me } = self;
        Setup { fabric, make: Some(Make { nodes, window }), me, timeout: 0, started }
    }
}

impl ClientArgs {
    fn setup(self, started: Instant) -> Setup {
        let Self { fabric, me, timeout } = self;
        Setup { fabric, make: None, me, timeout, started }
    }
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Be a node that serves a directory, until SIGINT or SIGTERM.
    Node {
        /// The directory; made if there is none. One node at a time may serve it.
        #[arg(long, default_value = "lnd.files")]
        dir: PathBuf,
        #[command(flatten)]
        node: NodeArgs,
    },
    /// Send a file to a node.
    Put {
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
    },
    /// Fetch a file from a node.
    Get {
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
    },
    /// Ask a node for a sign of life.
    Ping {
        /// The node, such as 1@soft.
        #[arg(value_parser = parse_nid)]
        nid: Nid,
        #[command(flatten)]
        client: ClientArgs,
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
        #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(2..=64))]
        nodes: u32,
        /// Links of each node; processes use 2.
        #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=8))]
        links: u32,
        /// Descriptors of each link; processes use 256.
        #[arg(long, default_value_t = 256,
            value_parser = clap::value_parser!(u32).range(1..=65_536))]
        descriptors: u32,
        /// MiB of each node's payload window.
        #[arg(long, value_name = "MIB", default_value_t = 128,
            value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
        window: u64,
    },
    /// Show a fabric's numbers, and where its nodes and links stand.
    Show {
        /// The file.
        file: PathBuf,
    },
    /// Declare a node dead, whose machine is gone: nothing of it touches the fabric any more.
    ///
    /// A process that runs cannot be declared dead: stop it.
    Dead {
        /// The file.
        file: PathBuf,
        /// The node, such as 1@soft.
        #[arg(value_parser = parse_nid)]
        nid: Nid,
        /// Only if it lives this life, as `show` prints it.
        #[arg(long, value_parser = fabric::parse_life)]
        life: Option<Incarnation>,
    },
    /// Pull a link's cable, or put it back.
    Link {
        /// The file.
        file: PathBuf,
        /// The node, such as 1@soft.
        #[arg(value_parser = parse_nid)]
        nid: Nid,
        /// The link's number, from 0.
        #[arg(value_parser = clap::value_parser!(u32).range(0..8))]
        link: u32,
        /// Pulled or put back.
        #[arg(value_parser = ["up", "down"])]
        to: String,
    },
}

impl FabricCommand {
    fn run(self) -> Result<(), process::Broken> {
        match self {
            Self::Format { file, nodes, links, descriptors, window } => {
                fabric::format(&file, Shape::new(nodes, links, descriptors, window << 20))
            }
            Self::Show { file } => fabric::show(&file),
            Self::Dead { file, nid, life } => fabric::dead(&file, nid, life),
            Self::Link { file, nid, link, to } => {
                fabric::link(&file, nid, link as usize, to == "up")
            }
        }
    }
}

#[derive(Debug, clap::Args)]
struct SimArgs {
    /// The seed, or the first of several.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Run so many seeds and print a line for all.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    seeds: Option<u64>,
    /// Number of nodes; drawn from the seed if not given.
    #[arg(long, value_parser = clap::value_parser!(u32).range(2..=8))]
    nodes: Option<u32>,
    /// Links of each node; drawn from the seed if not given.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=8))]
    links: Option<u32>,
    /// Virtual seconds of traffic; drawn from the seed if not given.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=3600))]
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
    #[arg(long, conflicts_with_all = ["nodes", "links", "seconds", "routed", "byzantine", "wraps"])]
    rails: bool,
    /// If the run fails: find the smallest fault plan with which it still breaks the same rule, and
    /// write it to this file.
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "shrunk.toml")]
    shrink: Option<PathBuf>,
    /// Most runs that shrinking may take.
    #[arg(long, default_value_t = 500, value_name = "RUNS", requires = "shrink",
        value_parser = clap::value_parser!(u32).range(1..))]
    shrink_runs: u32,
}

impl SimArgs {
    /// What the options' own ranges do not say.
    fn objection(&self) -> Option<String> {
        let world = [
            self.nodes.is_some(),
            self.links.is_some(),
            self.seconds.is_some(),
            self.routed.is_some(),
            self.byzantine.is_some(),
            self.wraps.is_some(),
        ];
        if names_networks(self.faults.as_deref()) && world.contains(&true) {
            let options = "--nodes, --links, --seconds, --routed, --byzantine and --wraps";
            return Some(format!("the plan names networks: {options} mean nothing to it"));
        }
        if self.seed.checked_add(self.seeds.unwrap_or(1)).is_none() {
            return Some("--seed and --seeds are more than there are seeds".into());
        }
        None
    }
}

fn main() -> ExitCode {
    let started = Instant::now();
    let code = match Cli::try_parse() {
        Ok(cli) => run(cli, started),
        Err(error) => {
            // Help and the version are answers, all else is a usage error.
            let code = u8::try_from(error.exit_code()).unwrap_or(2);
            match error.print() {
                Ok(()) => ExitCode::from(code),
                Err(_) => ExitCode::FAILURE,
            }
        }
    };
    match output::finish() {
        None => code,
        Some(error) => {
            // A reader that wants no more need not be told.
            if error.kind() != IoErrorKind::BrokenPipe {
                complain!("standard output: {error}");
            }
            ExitCode::FAILURE
        }
    }
}

/// Says what is wrong with the options, as for all that the parser finds itself.
fn usage(what: impl std::fmt::Display) -> ExitCode {
    let error = Cli::command().error(ErrorKind::ValueValidation, what);
    let _ = error.print();
    ExitCode::from(2)
}

fn run(cli: Cli, started: Instant) -> ExitCode {
    let done = match cli.command {
        None => return demonstrate(&cli.demo),
        Some(Command::Sim(args)) => {
            return args.objection().map_or_else(|| simulate(&args), usage);
        }
        Some(
            Command::Node { node: NodeArgs { window: Some(window), .. }, .. }
            | Command::Fabric(FabricCommand::Format { window, .. }),
        ) if process::check_window(window << 20).is_err() => {
            return process::check_window(window << 20).map_or_else(usage, |()| ExitCode::FAILURE);
        }
        Some(Command::Node { dir, node }) => process::serve(&node.setup(started), &dir),
        Some(Command::Put { file, name: None, .. }) if file == Path::new("-") => {
            return usage("standard input has no name: --name says what the file is called there");
        }
        Some(Command::Put { file, nid, name, client }) => {
            process::put(&client.setup(started), &file, name.as_deref(), nid)
        }
        Some(Command::Get { name, nid, out, client }) => {
            let last = name.rsplit('/').next().unwrap_or(&name).to_owned();
            let out = out.unwrap_or_else(|| last.into());
            process::get(&client.setup(started), &name, &out, nid)
        }
        Some(Command::Fabric(command)) => command.run(),
        Some(Command::Ping { nid, client }) => process::ping(&client.setup(started), nid),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Prints a line to standard error; there is no place to report that this failed.
fn show(line: std::fmt::Arguments<'_>) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "{line}");
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
            complain!("{error}");
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
                show(format_args!("{failure}"));
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
            complain!("{error}");
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
                show(format_args!("{failure}"));
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
            show(format_args!("\nshrunk in {runs} runs: {failure}"));
            let again = format!("lnd sim --seed {} --faults {name}", failure.seed);
            show(format_args!("plan: {name}; again: {again}"));
        }
        Err(error) => complain!("{name}: {error}"),
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
            complain!("{error}");
            ExitCode::from(2)
        }
    }
}
