// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lnd`: the command-line tool of the test bench.

use std::io::ErrorKind as IoErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};
use lnd_app::process::{self, fabric, parse_nid, Make, Setup};
use lnd_app::{complain, demo, output, say};
use lnd_core::id::{Incarnation, Nid};
use lnd_sim::fabric::Shape;

mod simulate;

use simulate::{simulate, SimArgs};

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
    /// Below which directory the generated set lies while the run lasts; it has to be there. If not
    /// given: target/, or the directory for temporary files.
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
    /// No link fails and no node dies.
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
    /// waited for 1.2 s and no longer.
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
    /// Ask a node whether it is alive.
    Ping {
        /// The node, such as 1@soft.
        #[arg(value_parser = parse_nid)]
        nid: Nid,
        #[command(flatten)]
        client: ClientArgs,
    },
    /// Measure `put` and `get` beside `cp`, in one run and on one file system.
    Bench {
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
        /// Only if this is its incarnation, as `show` prints it.
        #[arg(long, value_parser = fabric::parse_incarnation)]
        incarnation: Option<Incarnation>,
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
            Self::Dead { file, nid, incarnation } => fabric::dead(&file, nid, incarnation),
            Self::Link { file, nid, link, to } => {
                fabric::link(&file, nid, link as usize, to == "up")
            }
        }
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

/// Says what is wrong with the options of a command, as for all that the parser finds itself.
fn usage(command: &[&str], what: impl std::fmt::Display) -> ExitCode {
    let mut it = Cli::command();
    it.build();
    for name in command {
        it = it.find_subcommand(name).cloned().unwrap_or(it);
    }
    let _ = it.error(ErrorKind::ValueValidation, what).print();
    ExitCode::from(2)
}

fn refuse_window(command: &[&str], mib: u64) -> ExitCode {
    let refused = process::check_window(mib << 20);
    refused.map_or_else(|why| usage(command, why), |()| ExitCode::FAILURE)
}

fn run(cli: Cli, started: Instant) -> ExitCode {
    let done = match cli.command {
        None => return demonstrate(&cli.demo),
        Some(Command::Sim(args)) => return simulate(&args, |what| usage(&["sim"], what)),
        Some(Command::Node { node: NodeArgs { window: Some(window), .. }, .. })
            if process::check_window(window << 20).is_err() =>
        {
            return refuse_window(&["node"], window);
        }
        Some(Command::Fabric(FabricCommand::Format { window, .. }))
            if process::check_window(window << 20).is_err() =>
        {
            return refuse_window(&["fabric", "format"], window);
        }
        Some(Command::Node { dir, node }) => process::serve(&node.setup(started), &dir),
        Some(Command::Put { file, name: None, .. }) if file == Path::new("-") => {
            let why = "standard input has no name: --name says what the file is called there";
            return usage(&["put"], why);
        }
        Some(Command::Put { file, nid, name, client }) => {
            process::put(&client.setup(started), &file, name.as_deref(), nid)
        }
        Some(Command::Get { name, nid, out, client }) => {
            let last = name.rsplit('/').next().unwrap_or(&name).to_owned();
            let out = out.unwrap_or_else(|| last.into());
            process::get(&client.setup(started), &name, &out, nid)
        }
        Some(Command::Bench { size, runs, dir }) => process::bench(dir.as_deref(), size, runs),
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
            ExitCode::FAILURE
        }
    }
}
