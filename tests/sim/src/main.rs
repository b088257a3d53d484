// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lnd`: the command-line tool of the test bench.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};
use lnd_sim::demo;

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

#[derive(Debug, Subcommand)]
enum Command {}

fn main() -> ExitCode {
    let cli = Cli::parse();
    match cli.command {
        None => demonstrate(&cli.demo),
        Some(command) => match command {},
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
