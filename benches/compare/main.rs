// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The project and its floors for the rows of `benches/run`, which runs the peers beside them.
//!
//! One call measures one group of rows. Each figure is a line of JSON with the placement of the two
//! processors before and after it: nanoseconds one way of a bare cache line.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod bulk;
mod driver;
mod short;
mod tables;

use lnd_bench::shared::Between;
use lnd_bench::Options;

/// Where figures go.
pub struct Out {
    between: &'static str,
    round: usize,
    /// The placement before and after what is said.
    placement: Option<(f64, f64)>,
}

impl Out {
    /// One figure of this round.
    fn say(&self, row: &str, who: &str, unit: &str, value: f64) {
        let (between, round) = (self.between, self.round);
        print!(
            "{{\"row\":\"{row}\",\"between\":\"{between}\",\"round\":{round},\"who\":\"{who}\",\
             \"unit\":\"{unit}\",\"value\":{value:.3}"
        );
        if let Some((before, after)) = self.placement {
            print!(",\"before\":{before:.2},\"after\":{after:.2}");
        }
        println!("}}");
    }
}

fn main() {
    let options = Options::read();
    let group = options.phase.as_deref().unwrap_or("all");
    let all = group == "all";
    let mut known = all;
    for between in [Between::Threads, Between::Processes] {
        let asked = options.processes == (between == Between::Processes);
        if !asked && !all {
            continue;
        }
        let mut group_of = |name: &str, run: &dyn Fn(&Options, Between)| {
            if all || group == name {
                known = true;
                run(&options, between);
            }
        };
        group_of("short", &short::run);
        group_of("bulk", &bulk::run);
        group_of("probe", &short::probe);
    }
    for (name, run) in [("tables", tables::run as fn(&Options)), ("driver", driver::run)] {
        if all || group == name {
            known = true;
            run(&options);
        }
    }
    assert!(known, "--phase is short, bulk, probe, tables or driver");
}
