// SPDX-License-Identifier: MIT OR GPL-2.0-only
#![allow(missing_docs)]
use lnd_sim::world::{run, Options};

#[test]
#[ignore]
fn explore() {
    let env = |name: &str| std::env::var(name).ok().map(|v| v.parse::<u64>().unwrap());
    let from = env("SEED").unwrap_or(1);
    let count = env("COUNT").unwrap_or(1);
    let mut failed = 0;
    let mut totals = lnd_sim::world::Totals::default();
    for seed in from..from + count {
        let plan = env("CALM").map(|_| Default::default());
        let options = Options {
            seed,
            nodes: env("NODES").map(|n| n as u32),
            faults: plan,
            ..Options::default()
        };
        let begun = std::time::Instant::now();
        match std::panic::catch_unwind(|| run(&options)) {
            Ok(Ok(summary)) if count == 1 => println!("{summary}\n{:?}", begun.elapsed()),
            Ok(Ok(summary)) => {
                if begun.elapsed().as_millis() > 400 {
                    println!("slow {:?} {}", begun.elapsed(), summary.line());
                }
                totals.add(Ok(summary));
            }
            Ok(Err(failure)) if count == 1 => println!("{failure}"),
            Ok(Err(failure)) => {
                failed += 1;
                println!("seed {seed} step {}: {:.200}", failure.step, failure.what)
            }
            Err(_) => {
                failed += 1;
                println!("seed {seed}: PANIC")
            }
        }
    }
    println!("{failed} of {count} failed");
    println!(
        "{totals}\n{:#?} {:#?} {:#?}",
        totals.faults, totals.stats.roles, totals.stats.failures
    );
    for &c in lnd_core::counters::Counter::ALL {
        println!("{} = {}", c.name(), totals.counters.value(c));
    }
}
