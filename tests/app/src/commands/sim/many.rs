// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Many seeds, several at a time. What comes out does not depend on how many.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;

use lnd_app::progress;
use lnd_sim::simulator::{Coverage, Failure};

/// What a run has counted, and what else is kept of it.
type Run<T> = (Vec<(&'static str, String, u64)>, T);

/// Runs all seeds, or those up to the first that fails: its failure.
pub fn run<T: Send>(
    seeds: Range<u64>,
    jobs: u32,
    quiet: bool,
    run: impl Fn(u64) -> Result<Run<T>, Failure> + Sync,
    mut each: impl FnMut(T),
) -> Result<Coverage, Failure> {
    let template = "{bar:40} {pos} of {len} seeds, {per_sec}, {eta} left";
    let bar = progress::pieces(seeds.end - seeds.start, template, quiet);
    let (next, end) = (AtomicU64::new(seeds.start), AtomicU64::new(seeds.end));
    let (results, ended) = mpsc::channel();
    let (mut coverage, mut first) = (Coverage::default(), None::<Failure>);
    thread::scope(|scope| {
        for _ in 0..jobs {
            let (run, next, end, results) = (&run, &next, &end, results.clone());
            scope.spawn(move || loop {
                // Relaxed: only the numbers themselves count.
                let take = |seed: u64| {
                    let is_to_run = seed < end.load(Ordering::Relaxed);
                    is_to_run.then_some(seed.wrapping_add(1))
                };
                // The last seeds that there are have none behind them: nothing is counted beyond.
                let Ok(seed) = next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take) else {
                    return;
                };
                let result = run(seed);
                if result.is_err() {
                    // Those before it are still run: one of them may fail too, and is the first.
                    end.fetch_min(seed, Ordering::Relaxed);
                }
                if results.send(result).is_err() {
                    return;
                }
            });
        }
        drop(results);
        for result in ended {
            bar.inc(1);
            match result {
                Ok((events, kept)) => {
                    coverage.add(events);
                    each(kept);
                }
                Err(failure) => {
                    let is_first = first.as_ref().is_none_or(|it| failure.seed < it.seed);
                    first = if is_first { Some(failure) } else { first.take() };
                }
            }
        }
    });
    bar.finish_and_clear();
    first.map_or(Ok(coverage), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_seeds_are_run_once_however_many_run_at_a_time() {
        for jobs in [1, 3, 8] {
            let ran = AtomicU64::new(0);
            let nothing = |seed| {
                assert!(seed >= u64::MAX - 3, "{seed}");
                ran.fetch_add(1, Ordering::Relaxed);
                Ok((Vec::new(), ()))
            };
            let done = super::run(u64::MAX - 3..u64::MAX, jobs, true, nothing, |()| {});
            assert_eq!(done.map(|it| it.seeds).ok(), Some(3));
            assert_eq!(ran.into_inner(), 3, "{jobs} jobs");
        }
    }
}
