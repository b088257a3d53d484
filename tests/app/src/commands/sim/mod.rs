// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lnd sim`: its options.

mod many;
mod show;
pub mod trace;

use std::path::{Path, PathBuf};

use clap::builder::PossibleValue;
use indicatif::ProgressBar;
use lnd_app::recorded::{Cast, Outputs, Told};
use lnd_app::report::Outcome;
use lnd_app::text::is_same;
use lnd_app::{complain, output, progress, say};
use lnd_sim::simulator::{Coverage, Failure, FaultPlan, Recorded, RunLog, Shrunk};
use lnd_sim::{rails, world};
use serde_json::{json, Value};

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
    #[arg(long, value_parser = clap::value_parser!(u32).range(2..=i64::from(world::MAX_NODES)))]
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
    /// Break the simulated hardware or host in a known way, to see what a failure looks like.
    #[arg(long, value_name = "NAME", value_parser = defects())]
    defect: Option<String>,
    /// So many runs at a time.
    #[arg(long, value_name = "N", default_value_t = 1, requires = "seeds",
        value_parser = clap::value_parser!(u32).range(1..=256))]
    jobs: u32,
    /// Say which events the runs have reached, and which none has.
    #[arg(long)]
    coverage: bool,
    /// Write every event of every node, and how to play them again, to a file for `lnd replay`.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["seeds", "rails"])]
    trace: Option<PathBuf>,
    #[command(flatten)]
    outputs: Outputs,
    /// Draw no progress.
    #[arg(long)]
    quiet: bool,
    /// As JSON, a failure too.
    #[arg(long)]
    json: bool,
}

/// The defects of both kinds of world.
fn defects() -> clap::builder::PossibleValuesParser {
    let world = world::Defect::ALL.map(|(_, name, what)| (name, what.to_owned()));
    let rails = rails::Defect::ALL.map(|(_, name, what)| (name, format!("{what} (--rails)")));
    let all = world.into_iter().chain(rails);
    all.map(|(name, what)| PossibleValue::new(name).help(what)).collect::<Vec<_>>().into()
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
        let name = path.display().to_string();
        let named =
            |error: &dyn std::fmt::Display| format!("{name}: {}", lnd_app::text::brief(error));
        let text = lnd_app::text::read(path).map_err(|error| named(&error))?;
        if self.rails || rails::Plan::is_meant_by(&text) {
            let plan = rails::Plan::parse(&text).map_err(|error| named(&error))?;
            return Ok(Faults::Rails(plan.named(name)));
        }
        let plan = world::Plan::parse(&text).map_err(|error| named(&error))?;
        Ok(Faults::World(plan.named(name)))
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

    fn spinner(&self, what: &str) -> ProgressBar {
        progress::spinner(what, self.quiet)
    }

    fn is_of_rails(&self, faults: &Faults) -> bool {
        self.rails || matches!(faults, Faults::Rails(_))
    }

    fn object_to_defect(&self, faults: &Faults) -> Option<String> {
        let rails = self.is_of_rails(faults);
        if rails && self.trace.is_some() {
            return Some("--trace: not of a plan that names networks".into());
        }
        let name = self.defect.as_deref()?;
        let is_known = match rails {
            true => rails::Defect::named(name).is_some(),
            false => world::Defect::named(name).is_some(),
        };
        let which = if rails { "without" } else { "with" };
        (!is_known).then(|| format!("--defect {name}: only {which} several interfaces (--rails)"))
    }

    /// Two options that name one file: one would replace the other. A plan may be shrunk in its
    /// place.
    fn object_to_files(&self) -> Option<String> {
        let [capture, report] = self.outputs.files();
        let shrink = ("--shrink", self.shrink.as_deref());
        let trace = ("--trace", self.trace.as_deref());
        let written = [shrink, trace, capture, report];
        let plan = written[1..].iter().map(|it| (("--faults", self.faults.as_deref()), *it));
        let pairs = (0..written.len())
            .flat_map(|at| written[at + 1..].iter().map(move |other| (written[at], *other)));
        plan.chain(pairs).find_map(|((one, path), (other, to))| {
            is_same(path?, to?).then(|| format!("{one} and {other} are one file"))
        })
    }

    /// What the options' own ranges do not say.
    fn objection(&self, faults: &Faults) -> Option<String> {
        if let Some(objection) = self.object_to_files() {
            return Some(objection);
        }
        if self.seed.checked_add(self.seeds.unwrap_or(1)).is_none() {
            return Some("--seed and --seeds are more than there are seeds".into());
        }
        if let Some(objection) = self.object_to_defect(faults) {
            return Some(objection);
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

impl SimArgs {
    /// Runs what the options say.
    pub fn run(&self) -> Done {
        let faults = self.read_plan().map_err(Failed::Plan)?;
        if let Some(objection) = self.objection(&faults) {
            return Err(Failed::usage(&["sim"], objection));
        }
        match &faults {
            Faults::Rails(plan) => self.run_rails(Some(plan)),
            Faults::Drawn if self.rails => self.run_rails(None),
            Faults::Drawn | Faults::World(_) => self.run_worlds(&faults),
        }
    }

    /// Multi-rail worlds: of a plan, or of the seeds' own.
    fn run_rails(&self, plan: Option<&rails::Plan>) -> Done {
        let defect = self.defect.as_deref().and_then(rails::Defect::named);
        let of = |seed| plan.map_or_else(|| rails::swarm(seed), rails::Plan::clone);
        let shrink = |seed| rails::shrink(&of(seed), seed, defect, self.shrink_runs);
        if self.seeds.is_none() {
            let (plan, log) = (of(self.seed), self.outputs.log());
            let bar = self.spinner("the run");
            let played = rails::run_logged(&plan, self.seed, defect, log.as_ref());
            bar.finish_and_clear();
            let mut written = Ok(());
            if let Some((entries, left_out)) = log.as_ref().map(RunLog::take) {
                let (cast, outcome) =
                    (Cast::rails(&plan, &rails::specs(&plan)), Outcome::of_rails(&played));
                let command = &rails::command(&plan, self.seed, defect);
                let (entries, cast) = (&entries, &cast);
                written = self.outputs.write(&Told { entries, left_out, command, cast, outcome });
            }
            let done = match played {
                Ok(report) => self.passed(&report, report.events(), || show::report(&report)),
                Err(failure) => self.failed(&failure, || shrink(failure.seed)),
            };
            return with_files(done, written);
        }
        let run = |seed| {
            let report = rails::run_with(&of(seed), seed, defect)?;
            Ok((report.events(), report.counts()))
        };
        let mut all = rails::Counts::default();
        match many::run(self.seeds(), self.jobs, self.quiet, run, |counts| all.merge(&counts)) {
            Ok(coverage) => {
                self.all_passed(&coverage, "multi-rail seeds", Some(&all.to_string()));
                Ok(())
            }
            Err(failure) => self.failed(&failure, || shrink(failure.seed)),
        }
    }

    /// Worlds of the seeds or of a plan.
    fn run_worlds(&self, faults: &Faults) -> Done {
        let defect = self.defect.as_deref().and_then(world::Defect::named);
        let of = |seed| self.options(seed, faults);
        let shrink = |seed| world::shrink(&of(seed), defect, self.shrink_runs).ok();
        if self.seeds.is_none() {
            let options = of(self.seed);
            let log = self.trace.as_ref().map(|_| RunLog::whole()).or_else(|| self.outputs.log());
            let bar = self.spinner("the run");
            let played = world::run_logged(&options, defect, log.as_ref());
            bar.finish_and_clear();
            let mut written = Ok(());
            if let Some((entries, left_out)) = log.as_ref().map(RunLog::take) {
                if let Some(file) = &self.trace {
                    let record = Recorded::of(&entries);
                    written = trace::write(file, &options, defect, &played, &record);
                }
                let (cast, outcome) = (Cast::nodes(), Outcome::of_world(&played));
                let (entries, cast, command) = (&entries, &cast, &options.command_with(defect));
                let told = Told { entries, left_out, command, cast, outcome };
                written = written.and(self.outputs.write(&told));
            }
            let done = match played {
                Ok(summary) => self.passed(&summary, summary.events(), || show::summary(&summary)),
                Err(failure) => self.failed(&failure, || shrink(failure.seed)),
            };
            return with_files(done, written);
        }
        let run = |seed| {
            let summary = world::run_with(&of(seed), defect)?;
            Ok((summary.events(), summary.steps))
        };
        let mut steps = 0;
        match many::run(self.seeds(), self.jobs, self.quiet, run, |of_one| steps += of_one) {
            Ok(coverage) => {
                self.all_passed(&coverage, "seeds", Some(&format!("{steps} steps")));
                Ok(())
            }
            Err(failure) => self.failed(&failure, || shrink(failure.seed)),
        }
    }

    /// One run was good.
    fn passed(
        &self,
        report: &dyn std::fmt::Display,
        events: Vec<(&'static str, String, u64)>,
        as_json: impl FnOnce() -> Value,
    ) -> Done {
        let mut coverage = Coverage::default();
        coverage.add(events);
        if self.json {
            let mut shown = as_json();
            if self.coverage {
                shown["coverage"] = show::coverage(&coverage);
            }
            output::document(&shown);
            return Ok(());
        }
        say!("{}", report.to_string().trim_end());
        if self.coverage {
            say!("{coverage}");
        }
        self.nothing_to_shrink();
        Ok(())
    }

    /// All runs were good.
    fn all_passed(&self, coverage: &Coverage, what: &str, more: Option<&str>) {
        if self.json {
            let mut shown = json!({ "result": "ok", "from": self.seed, "seeds": coverage.seeds });
            if self.coverage {
                shown["coverage"] = show::coverage(coverage);
            }
            output::document(&shown);
            return;
        }
        let (count, more) = (coverage.seeds, more.map_or(String::new(), |it| format!("; {it}")));
        say!("{count} {what} from {} on: no rule was broken{more}", self.seed);
        if self.coverage {
            say!("{coverage}");
        }
        self.nothing_to_shrink();
    }

    /// No file of a smallest plan is written then.
    fn nothing_to_shrink(&self) {
        if self.shrink.is_some() {
            say!("nothing to shrink: no rule was broken");
        }
    }

    /// A run was not good.
    fn failed<P: FaultPlan>(
        &self,
        failure: &Failure,
        shrink: impl FnOnce() -> Option<Shrunk<P>>,
    ) -> Done {
        if !self.json {
            show::to_stderr(format_args!("{failure}"));
            if self.shrink.is_none() && failure.step > 0 {
                let command = &failure.command;
                show::to_stderr(format_args!("the smallest plan: {command} --shrink"));
            }
        }
        let mut shown = show::failure(failure);
        if let Some(file) = &self.shrink {
            let bar = self.spinner("shrinking the plan");
            let shrunk = shrink();
            bar.finish_and_clear();
            if let Some(it) = shrunk {
                let (name, runs) = (file.display().to_string(), it.runs);
                let again = it.failure.again(&name);
                let written = std::fs::write(file, it.to_toml(&name));
                if !self.json {
                    show::to_stderr(format_args!("\nshrunk in {runs} runs: {}", it.failure));
                }
                match written {
                    Ok(()) => {
                        if !self.json {
                            show::to_stderr(format_args!("plan: {name}; again: {again}"));
                        }
                        shown["shrunk"] = json!({ "plan": name, "runs": runs, "command": again });
                    }
                    Err(error) => complain!("{name}: {error}"),
                }
            }
        }
        if self.json {
            output::document(&shown);
        }
        Err(Failed::Said)
    }
}

/// How a run ends of which files were asked for. What cannot be written takes nothing away from
/// what there is to say of the run itself.
fn with_files(done: Done, written: Result<(), String>) -> Done {
    let Err(why) = written else { return done };
    complain!("{why}");
    done.and(Err(Failed::Said))
}
