// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Every command of `lnd`: the one list of them, and how each ends.
//!
//! A command is a variant of [`Command`], a line of [`Command::run`], and a file beside this one
//! with its options. Help, completion and manual pages are made from the list.

mod cluster;
mod control;
mod decode;
mod demo;
mod fabric;
mod fsm;
mod info;
mod nodes;
mod replay;
mod schema;
mod settings;
mod sim;
mod tool;
mod top;

use std::error::Error as _;
use std::fmt::Display;
use std::num::{IntErrorKind, ParseIntError};
use std::process::ExitCode;
use std::time::Instant;

use clap::error::{ContextKind, ErrorKind};
use clap::{CommandFactory, Parser, Subcommand};
use lnd_app::process::{check_window, Broken};
use lnd_app::{complain, output, say};
use serde_json::Value;

/// The inside of a Lustre Network Driver at work: real files as PUT and GET between nodes, through
/// peer and link failures. Without a command: the demonstration.
#[derive(Debug, Parser)]
#[command(name = "lnd", version, args_conflicts_with_subcommands = true, after_help = EXIT_CODES)]
struct Cli {
    #[command(flatten)]
    demo: demo::DemoArgs,
    #[command(subcommand)]
    command: Option<Command>,
}

const EXIT_CODES: &str = "\
Exit codes:
  0  done, and all of the output is written
  1  not done: the reason is on standard error; of `sim` and `replay`: a rule was broken
  2  a usage error, or a plan, description or settings file that cannot be read as one: nothing
     was done
  3  of `ping`: some were answered and some were lost; with none answered it is 1

Where a command has --json, standard output is one JSON document and nothing else.";

/// The list of the commands.
#[derive(Debug, Subcommand)]
enum Command {
    /// Be a node that serves a directory, until SIGINT or SIGTERM.
    Node(nodes::NodeArgs),
    /// Send a file to a node.
    Put(nodes::PutArgs),
    /// Fetch a file from a node.
    Get(nodes::GetArgs),
    /// Ask a node whether it is alive, and how long it takes.
    Ping(nodes::PingArgs),
    /// Measure latency and bandwidth of PUT and GET between two processes.
    ///
    /// Both are software over shared memory: this compares builds and configurations on one
    /// machine, and says nothing of a NIC.
    Perf(nodes::PerfArgs),
    /// Measure `put` and `get` beside `cp`, in one run and on one file system.
    Bench(nodes::BenchArgs),
    /// Run the nodes that a file describes, or say how they are.
    #[command(subcommand)]
    Cluster(cluster::ClusterCommand),
    /// Make, show or change a fabric file.
    #[command(subcommand)]
    Fabric(fabric::FabricCommand),
    /// Show or set the interface of a running node.
    #[command(subcommand)]
    Net(control::NetCommand),
    /// Show the peers of a running node, or declare one down or up.
    #[command(subcommand)]
    Peer(control::PeerCommand),
    /// Show the counters of a running node.
    #[command(subcommand)]
    Stats(control::StatsCommand),
    /// Show the failures of a running node by health class, and what is down.
    #[command(subcommand)]
    Health(control::HealthCommand),
    /// Watch a running node: links, peers, transfers, counters, live.
    Top(top::TopArgs),
    /// Show everything that a running node knows, its transfers and last events too.
    Dump(control::DumpArgs),
    /// Write the settings of running nodes to standard output.
    ///
    /// Of every node of the fabric that has a control socket on this machine, or of the one that is
    /// named.
    Export(settings::ExportArgs),
    /// Set running nodes to what a file says, as `export` has written it: all of it or nothing.
    Import(settings::ImportArgs),
    /// Have a running node take nothing new, end what is open, and leave.
    Drain(control::DrainArgs),
    /// Nodes in virtual time under an adversary: the same seed gives the same run.
    Sim(Box<sim::SimArgs>),
    /// Play a trace of the simulator again, and compare; or show it.
    Replay(replay::ReplayArgs),
    /// Show the library: version, wire format, limits, configuration, counters.
    Info(info::InfoArgs),
    /// Show a state machine of the library as a table or as a drawing.
    Fsm(fsm::FsmArgs),
    /// Take a frame of the wire format apart, and say what is wrong with it.
    Decode(decode::DecodeArgs),
    /// Show the JSON schema of the plans of `sim`, or of a cluster's description.
    Schema(schema::SchemaArgs),
    /// Write the completions of a shell to standard output.
    Completion(tool::CompletionArgs),
    /// Write the manual pages.
    Man(tool::ManArgs),
}

impl Command {
    fn run(self, started: Instant) -> Done {
        match self {
            Self::Node(args) => args.run(started),
            Self::Put(args) => args.run(started),
            Self::Get(args) => args.run(started),
            Self::Ping(args) => args.run(started),
            Self::Perf(args) => args.run(started),
            Self::Bench(args) => args.run(),
            Self::Cluster(command) => command.run(),
            Self::Fabric(command) => command.run(),
            Self::Net(command) => command.run(),
            Self::Peer(command) => command.run(),
            Self::Stats(command) => command.run(),
            Self::Health(command) => command.run(),
            Self::Top(args) => args.run(),
            Self::Dump(args) => args.run(),
            Self::Export(args) => args.run(),
            Self::Import(args) => args.run(),
            Self::Drain(args) => args.run(),
            Self::Sim(args) => args.run(),
            Self::Replay(args) => args.run(),
            Self::Info(args) => args.run(),
            Self::Fsm(args) => args.run(),
            Self::Decode(args) => args.run(),
            Self::Schema(args) => args.run(),
            Self::Completion(args) => args.run(),
            Self::Man(args) => args.run(),
        }
    }
}

/// How a command ends.
type Done = Result<(), Failed>;

/// Why a command was not done.
enum Failed {
    /// What the parser cannot find wrong itself: the command, and what is wrong with its options.
    Usage(&'static [&'static str], String),
    /// A file that says what to do says what cannot be done.
    Plan(String),
    /// It is still to be said.
    Broken(Broken),
    /// It has been said.
    Said,
    /// Some of it was done, and what was not has been said.
    Partly,
}

impl<E: Into<Broken>> From<E> for Failed {
    fn from(error: E) -> Self {
        Self::Broken(error.into())
    }
}

impl Failed {
    fn usage(command: &'static [&'static str], what: impl Display) -> Self {
        Self::Usage(command, what.to_string())
    }

    /// A payload window of so many MiB is no server's.
    fn window(command: &'static [&'static str], mib: u64) -> Self {
        let why = check_window(mib << 20).err();
        Self::usage(command, why.map_or(String::new(), |why| why.to_string()))
    }
}

/// Prints a value: as JSON, or as YAML for people.
fn print(value: &Value, json: bool) {
    if json {
        output::document(value);
    } else {
        say!("{}", lnd_app::yaml::text(value).trim_end());
    }
}

/// The command line, as help, completion and manual pages want it.
fn grammar() -> clap::Command {
    Cli::command()
}

/// Does what the command line says.
pub fn main(started: Instant) -> ExitCode {
    let line = fabric::with_file_named(std::env::args_os().collect());
    let cli = match Cli::try_parse_from(line) {
        Ok(cli) => cli,
        Err(error) => {
            let error = clearer(error);
            // Help and the version are answers, all else is a usage error.
            let code = u8::try_from(error.exit_code()).unwrap_or(2);
            return match error.print() {
                Ok(()) => ExitCode::from(code),
                Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::FAILURE,
                Err(error) => {
                    complain!("standard output: {error}");
                    ExitCode::FAILURE
                }
            };
        }
    };
    let done = match cli.command {
        None => cli.demo.run(),
        Some(command) => command.run(started),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failed::Said) => ExitCode::FAILURE,
        Err(Failed::Partly) => ExitCode::from(3),
        Err(Failed::Broken(error)) => {
            complain!("{error}");
            ExitCode::FAILURE
        }
        Err(Failed::Plan(why)) => {
            complain!("{why}");
            ExitCode::from(2)
        }
        Err(Failed::Usage(command, what)) => usage(command, what),
    }
}

/// The parser's error, without the words of Rust's number parser.
fn clearer(error: clap::Error) -> clap::Error {
    let number = error.source().and_then(|it| it.downcast_ref::<ParseIntError>());
    let why = match number.map(ParseIntError::kind) {
        None => return error,
        Some(IntErrorKind::PosOverflow | IntErrorKind::NegOverflow) => "the number is too large",
        Some(_) => "it is no whole number",
    };
    let part = |kind| error.get(kind).map_or(String::new(), ToString::to_string);
    let (value, option) = (part(ContextKind::InvalidValue), part(ContextKind::InvalidArg));
    let what = format!("invalid value '{value}' for '{option}': {why}");
    clap::Error::raw(error.kind(), format!("{what}\n\nFor more information, try '--help'.\n"))
}

/// Says what is wrong with the options of a command, as for all that the parser finds itself.
fn usage(command: &[&str], what: String) -> ExitCode {
    let mut it = grammar();
    it.build();
    for name in command {
        it = it.find_subcommand(name).cloned().unwrap_or(it);
    }
    // There is no place to report that this failed.
    let _ = it.error(ErrorKind::ValueValidation, what).print();
    ExitCode::from(2)
}
