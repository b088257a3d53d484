// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The command line, the same for every benchmark.

/// What was asked for.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Few repetitions, and only what does not depend on time is checked: `--smoke`, or
    /// `LND_BENCH_SMOKE=1`.
    pub smoke: bool,
    /// One line of JSON for each figure besides the table: `--json`.
    pub json: bool,
    /// Rounds instead of the benchmark's own number: `--rounds N`.
    pub rounds: Option<usize>,
    /// Do so many and print nothing, for instruction counts by a simulator: `--count N`.
    pub count: Option<u64>,
    /// With `--count`: transfers outstanding, `--outstanding N`.
    pub outstanding: Option<usize>,
    /// With `--count`: the phase that is counted, `--phase NAME`. Of `compare`: the group of rows.
    pub phase: Option<String>,
    /// The partner is another process over a shared file, not a thread: `--processes`.
    pub processes: bool,
}

impl Options {
    /// Reads the command line and the environment. What is unknown ends the program, but for the
    /// `--bench` that cargo adds.
    pub fn read() -> Self {
        let smoke = std::env::var("LND_BENCH_SMOKE").is_ok_and(|v| !v.is_empty() && v != "0");
        let mut options = Self { smoke, ..Self::default() };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let mut number = || words.next().and_then(|w| w.parse::<u64>().ok());
            match word.as_str() {
                "--phase" => options.phase = words.next(),
                "--bench" => {}
                "--smoke" => options.smoke = true,
                "--processes" => options.processes = true,
                "--json" => options.json = true,
                "--rounds" => options.rounds = number().map(|n| n as usize),
                "--count" => options.count = number(),
                "--outstanding" => options.outstanding = number().map(|n| n as usize),
                other => {
                    eprintln!(
                        "{other}: unknown; there are --smoke --json --rounds N --count N \
                         --outstanding N --phase NAME --processes"
                    );
                    std::process::exit(2);
                }
            }
        }
        options
    }

    /// Rounds to do: what was asked for, else `few` for a smoke test, else `many`.
    pub fn rounds(&self, many: usize, few: usize) -> usize {
        self.rounds.unwrap_or(if self.smoke { few } else { many }).max(1)
    }

    /// `many`, or `few` for a smoke test.
    pub const fn scale(&self, many: u64, few: u64) -> u64 {
        if self.smoke {
            few
        } else {
            many
        }
    }
}
