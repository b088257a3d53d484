// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Latencies by kind and size.

use std::collections::BTreeMap;

use crate::files::{OpDone, OpKind};

/// Upper bounds of the size classes and what they are called.
const CLASSES: [(u32, &str); 6] = [
    (64, "≤ 64 B"),
    (4096, "≤ 4 KiB"),
    (64 << 10, "≤ 64 KiB"),
    (512 << 10, "≤ 512 KiB"),
    (2 << 20, "≤ 2 MiB"),
    (u32::MAX, "≤ 4 MiB"),
];

/// One class's latencies in nanoseconds, and its bytes.
#[derive(Clone, Debug, Default)]
struct Bucket {
    nanos: Vec<u64>,
    bytes: u64,
}

/// All latencies of a run.
#[derive(Clone, Debug, Default)]
pub struct Latencies(BTreeMap<(OpKind, usize), Bucket>);

/// A line of the table.
#[derive(Clone, Debug)]
pub struct Line {
    /// What was measured.
    pub kind: OpKind,
    /// The size class.
    pub class: &'static str,
    /// Number of operations that succeeded.
    pub count: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Microseconds at 50, 90, 99 percent and at the most.
    pub micros: [f64; 4],
}

impl Latencies {
    /// Notes an operation, if it succeeded.
    pub fn note(&mut self, done: &OpDone) {
        if !done.ok {
            return;
        }
        let class = CLASSES.iter().position(|(bound, _)| done.bytes <= *bound).unwrap_or(0);
        let bucket = self.0.entry((done.kind, class)).or_default();
        bucket.nanos.push(done.duration().as_nanos());
        bucket.bytes += u64::from(done.bytes);
    }

    /// The table.
    pub fn lines(&mut self) -> Vec<Line> {
        let mut lines = Vec::new();
        for ((kind, class), bucket) in &mut self.0 {
            bucket.nanos.sort_unstable();
            let last = bucket.nanos.len().saturating_sub(1);
            let at = |percent: usize| {
                bucket.nanos.get(last * percent / 100).copied().unwrap_or(0) as f64 / 1000.0
            };
            lines.push(Line {
                kind: *kind,
                class: CLASSES[*class].1,
                count: bucket.nanos.len(),
                bytes: bucket.bytes,
                micros: [at(50), at(90), at(99), at(100)],
            });
        }
        lines
    }
}
