// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lnd sim`: its options, and what it prints.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use lnd_sim::world::Failure;
use lnd_sim::{complain, rails, say, world};

#[derive(Debug, clap::Args)]
pub struct SimArgs {
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
    pub fn objection(&self) -> Option<String> {
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

/// Worlds of the seeds or of a plan.
pub fn simulate(args: &SimArgs) -> ExitCode {
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
