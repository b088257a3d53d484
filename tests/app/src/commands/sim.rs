// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lnd sim`: its options, and what it prints.

use std::path::{Path, PathBuf};

use lnd_app::{complain, say};
use lnd_sim::simulator::{FaultPlan, Shrunk};
use lnd_sim::{rails, world};

use super::{Done, Failed};

#[derive(Debug, clap::Args)]
pub struct SimArgs {
    /// The seed, or the first of several.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Run so many seeds and print a line for all.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    seeds: Option<u64>,
    /// Number of nodes; drawn from the seed if not given. A router needs three.
    #[arg(long, value_parser = clap::value_parser!(u32).range(2..=8))]
    nodes: Option<u32>,
    /// Links of each node; drawn from the seed if not given.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=8))]
    links: Option<u32>,
    /// Virtual seconds of traffic; if not given: what the plan says, or 2.
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
    /// Whether nodes pause, requests are kept, links of one's own fail, and every message is
    /// followed from end to end.
    #[arg(long, num_args = 0..=1, default_missing_value = "true")]
    pauses: Option<bool>,
    /// Whether engines stop connections one by one, and some fail.
    #[arg(long, num_args = 0..=1, default_missing_value = "true")]
    connections: Option<bool>,
    /// A fault plan (TOML); drawn from the seed if not given.
    #[arg(long, value_name = "PLAN", visible_alias = "plan")]
    faults: Option<PathBuf>,
    /// Nodes with several interfaces, and their health; also if the plan names networks.
    #[arg(long, conflicts_with_all =
        ["nodes", "links", "seconds", "routed", "byzantine", "wraps", "pauses", "connections"])]
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

/// The adversary's plan.
enum Faults {
    /// Drawn from each seed.
    Drawn,
    World(world::Plan),
    /// A plan that names networks is one of a multi-rail world.
    Rails(rails::Plan),
}

impl SimArgs {
    fn read_plan(&self) -> Result<Faults, String> {
        let Some(path) = &self.faults else { return Ok(Faults::Drawn) };
        let path = path.display().to_string();
        let named = |error: &dyn std::fmt::Display| format!("{path}: {error}");
        let text = std::fs::read_to_string(&path).map_err(|error| named(&error))?;
        if self.rails || rails::Plan::is_meant_by(&text) {
            let plan = rails::Plan::parse(&text).map_err(|error| named(&error))?;
            return Ok(Faults::Rails(plan.named(path)));
        }
        let plan = world::Plan::parse(&text).map_err(|error| named(&error))?;
        Ok(Faults::World(plan.named(path)))
    }

    fn seeds(&self) -> std::ops::Range<u64> {
        self.seed..self.seed.saturating_add(self.seeds.unwrap_or(1))
    }

    /// What to run with a seed.
    fn options(&self, seed: u64, faults: &Faults) -> world::Options {
        let faults = match faults {
            Faults::World(plan) => Some(plan.clone()),
            Faults::Drawn | Faults::Rails(_) => None,
        };
        world::Options {
            seed,
            nodes: self.nodes,
            links: self.links,
            seconds: self.seconds,
            routed: self.routed,
            byzantine: self.byzantine,
            wraps: self.wraps,
            pauses: self.pauses,
            connections: self.connections,
            faults,
        }
    }

    /// What the options' own ranges do not say.
    fn objection(&self, faults: &Faults) -> Option<String> {
        if self.seed.checked_add(self.seeds.unwrap_or(1)).is_none() {
            return Some("--seed and --seeds are more than there are seeds".into());
        }
        let plan = self.faults.as_deref().unwrap_or(Path::new("")).display();
        match faults {
            _ if self.rails && matches!(faults, Faults::Drawn) => None,
            Faults::Rails(rails) => {
                let numbers = [self.nodes, self.links, self.seconds];
                let choices =
                    [self.routed, self.byzantine, self.wraps, self.pauses, self.connections];
                if numbers.iter().any(Option::is_some) || choices.iter().any(Option::is_some) {
                    let options = "--nodes, --links, --seconds, --routed, --byzantine, --wraps, \
                                   --pauses and --connections";
                    return Some(format!("the plan names networks: {options} mean nothing to it"));
                }
                rails.check_times().err().map(|error| format!("{plan}: {error}"))
            }
            // Without a plan all seeds are alike, apart from what they draw.
            Faults::Drawn => self.options(self.seed, faults).check().err().map(|it| it.to_string()),
            Faults::World(_) => self.seeds().find_map(|seed| {
                let error = self.options(seed, faults).check().err()?;
                Some(format!("{plan}, with seed {seed}: {error}"))
            }),
        }
    }
}

/// Prints a line to standard error; there is no place to report that this failed.
fn show(line: std::fmt::Arguments<'_>) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "{line}");
}

impl SimArgs {
    /// Runs what the options say.
    pub fn run(&self) -> Done {
        let faults = self.read_plan().map_err(Failed::Plan)?;
        if let Some(objection) = self.objection(&faults) {
            return Err(Failed::usage(&["sim"], objection));
        }
        match &faults {
            Faults::Rails(plan) => simulate_rails(self, Some(plan)),
            Faults::Drawn if self.rails => simulate_rails(self, None),
            Faults::Drawn | Faults::World(_) => simulate_worlds(self, &faults),
        }
    }
}

/// Multi-rail worlds: of a plan, or of the seeds' own.
fn simulate_rails(args: &SimArgs, plan: Option<&rails::Plan>) -> Done {
    let mut all = rails::Counts::default();
    for seed in args.seeds() {
        match rails::run(plan.unwrap_or(&rails::swarm(seed)), seed) {
            Ok(report) if args.seeds.is_none() => say!("{report}"),
            Ok(report) => all.merge(&report.counts()),
            Err(failure) => {
                show(format_args!("{failure}"));
                if let Some(file) = &args.shrink {
                    let drawn = rails::swarm(seed);
                    let plan = plan.unwrap_or(&drawn);
                    if let Some(it) = rails::shrink(plan, seed, None, args.shrink_runs) {
                        write_shrunk(file, &it);
                    }
                }
                return Err(Failed::Said);
            }
        }
    }
    if let Some(count) = args.seeds {
        say!("{count} multi-rail seeds from {} on: no rule was broken; {all}", args.seed);
    }
    Ok(())
}

/// Worlds of the seeds or of a plan.
fn simulate_worlds(args: &SimArgs, faults: &Faults) -> Done {
    for seed in args.seeds() {
        let options = args.options(seed, faults);
        match world::run(&options) {
            Ok(summary) if args.seeds.is_none() => say!("{summary}"),
            Ok(_) => {}
            Err(failure) => {
                show(format_args!("{failure}"));
                if let Some(file) = &args.shrink {
                    if let Ok(it) = world::shrink(&options, None, args.shrink_runs) {
                        write_shrunk(file, &it);
                    }
                }
                return Err(Failed::Said);
            }
        }
    }
    if let Some(count) = args.seeds {
        say!("{count} seeds from {} on: no rule was broken", args.seed);
    }
    Ok(())
}

/// Writes the smallest plan with which a run still fails to a file.
fn write_shrunk<P: FaultPlan>(file: &Path, it: &Shrunk<P>) {
    let name = file.display().to_string();
    match std::fs::write(file, it.to_toml(&name)) {
        Ok(()) => {
            show(format_args!("\nshrunk in {} runs: {}", it.runs, it.failure));
            let again = format!("lnd sim --seed {} --faults {name}", it.failure.seed);
            show(format_args!("plan: {name}; again: {again}"));
        }
        Err(error) => complain!("{name}: {error}"),
    }
}
