// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Runs a model through every execution that loom knows, and says what was seen.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use loom::model::Builder;
use tracing_subscriber::fmt::Subscriber;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::EnvFilter;

/// Most accesses to shared words in one execution: what is more is a spin that no thread ends.
const BRANCHES: usize = 5_000;

/// How much of a model is explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Every interleaving. `LOOM_MAX_PREEMPTIONS` does not weaken it.
    Exhaustive,
    /// At most so many involuntary thread switches; `LOOM_MAX_PREEMPTIONS` may ask for more, never
    /// for fewer.
    Preemptions(usize),
    /// As `Preemptions` of the first number; `LOOM_MAX_PREEMPTIONS` cannot ask for more than the
    /// second one: for models of many contexts, which would not end.
    Between(usize, usize),
}

/// Runs `model` once per execution: [`loom::model`].
///
/// # Panics
/// As [`explore`].
pub fn model(model: impl Fn() + Send + Sync + 'static) {
    without_backtraces();
    loom::model(model);
}

/// A backtrace would overflow the stack of a loom thread, and hang.
fn without_backtraces() {
    std::env::set_var("RUST_BACKTRACE", "0");
}

/// Runs `model` once per execution and returns what it returned, with how often.
///
/// The model asserts what must hold in each execution; its result says which of the possible ends
/// this one was. The caller asserts that all of those ends occurred, so that no model can pass by
/// missing the race it is about. Prints one line (`cargo test … -- --nocapture` shows it).
///
/// # Panics
/// In the first execution in which an assertion of the model fails or loom finds a data race.
pub fn explore<T>(
    name: &str,
    bound: Bound,
    model: impl Fn() -> T + Send + Sync + 'static,
) -> BTreeMap<T, usize>
where
    T: Ord + Clone + Debug + Send + 'static,
{
    without_backtraces();
    let mut builder = Builder::new();
    builder.preemption_bound = match bound {
        Bound::Exhaustive => None,
        Bound::Preemptions(own) => Some(builder.preemption_bound.map_or(own, |b| b.max(own))),
        Bound::Between(own, most) => {
            Some(builder.preemption_bound.map_or(own, |b| b.clamp(own, most)))
        }
    };
    // A whole NI is made anew in each execution.
    builder.max_branches = builder.max_branches.max(BRANCHES);
    let limit = builder.preemption_bound;
    let ends = Arc::new(Mutex::new(BTreeMap::new()));
    let tally = Arc::clone(&ends);
    let begun = Instant::now();
    // As `loom::model` does, which takes no builder.
    let _log = Subscriber::builder()
        .with_env_filter(EnvFilter::from_env("LOOM_LOG"))
        .with_test_writer()
        .without_time()
        .finish()
        .set_default();
    builder.check(move || {
        let end = model();
        // Not loom's mutex: the tally is no part of the model.
        let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
        *tally.entry(end).or_insert(0) += 1;
    });
    let ends = ends.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let executions: usize = ends.values().sum();
    let limit = limit.map_or("exhaustive".into(), |n| format!("at most {n} preemptions"));
    println!("{name}: {executions} executions, {limit}, {:.1?}: {ends:?}", begun.elapsed());
    ends
}

/// Yields until `ready`, which some other thread of the model brings about.
///
/// loom gives up a spin that never ends ("exceeded maximum number of branches"), so a model in
/// which no thread brings it about fails.
pub fn spin_until(mut ready: impl FnMut() -> bool) {
    while !ready() {
        loom::thread::yield_now();
    }
}
