// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The deadline queue against a map.

use std::collections::BTreeMap;

use arbitrary::{Arbitrary, Unstructured};
use lnd_core::deadlines::{Deadlines, Timer};
use lnd_core::time::{Instant, Span};

#[derive(Arbitrary, Debug)]
enum Op {
    /// Arms a timer a few microseconds ahead: in order, mostly.
    Soon(u8, u8),
    /// Arms a timer at any time, past ones and the last one included.
    At(u8, u64),
    Disarm(u8),
    /// Time passes, and everything due is taken.
    Pass(u16),
    /// The clock jumps.
    Jump(u64),
}

/// R39: the exact next deadline, each timer once, none early.
pub fn deadlines(data: &[u8]) {
    let mut input = Unstructured::new(data);
    let count = 1 + u32::from(u8::arbitrary(&mut input).unwrap_or(0)) % 64;
    let mut timers = vec![Timer::UNARMED; count as usize];
    let mut queue = Deadlines::new(&mut timers);
    let mut oracle: BTreeMap<u32, Instant> = BTreeMap::new();
    let mut now = Instant::ORIGIN;
    while let Ok(op) = Op::arbitrary(&mut input) {
        match op {
            Op::Soon(index, ahead) => {
                let due = now.after(Span::from_micros(100 + u64::from(ahead)));
                arm(&mut queue, &mut oracle, u32::from(index), count, due);
            }
            Op::At(index, due) => {
                let due = Instant::from_nanos(due);
                arm(&mut queue, &mut oracle, u32::from(index), count, due);
            }
            Op::Disarm(index) => {
                queue.disarm(u32::from(index));
                oracle.remove(&u32::from(index));
            }
            Op::Pass(micros) => {
                now = now.after(Span::from_micros(u64::from(micros)));
                expire(&mut queue, &mut oracle, now);
            }
            Op::Jump(to) => {
                now = Instant::from_nanos(to);
                expire(&mut queue, &mut oracle, now);
            }
        }
        let least = oracle.values().min().copied();
        assert_eq!(queue.next().map(|(due, _)| due), least, "the next deadline");
        for index in 0..count {
            assert_eq!(queue.armed(index), oracle.get(&index).copied(), "timer {index}");
        }
        if input.is_empty() {
            break;
        }
    }
}

fn arm(
    queue: &mut Deadlines<'_>,
    oracle: &mut BTreeMap<u32, Instant>,
    index: u32,
    count: u32,
    due: Instant,
) {
    queue.arm(index, due);
    if index < count && due != Instant::NEVER {
        oracle.insert(index, due);
    } else {
        oracle.remove(&index);
    }
}

fn expire(queue: &mut Deadlines<'_>, oracle: &mut BTreeMap<u32, Instant>, now: Instant) {
    let mut last = Instant::ORIGIN;
    while let Some((due, index)) = queue.expire(now) {
        assert_eq!(oracle.remove(&index), Some(due), "timer {index} was not armed for then");
        assert!(due <= now, "early");
        assert!(last <= due, "out of order");
        last = due;
    }
    assert!(oracle.values().all(|&due| due > now), "a timer that is due was left");
}
