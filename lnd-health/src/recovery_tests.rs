// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The recovery queue against a naive one.

use super::*;
use lnd_core::time::Span;
use std::collections::BTreeMap;
use std::vec;
use std::vec::Vec;

const PLAIN: Backoff = Backoff { first: Span::from_secs(1), cap: Span::from_secs(900), jitter: 0 };

fn at(seconds: u64) -> Instant {
    Instant::from_nanos(seconds * 1_000_000_000)
}

/// A12's 210 and 211: pings after 1, 2, 4 … s, at most the cap apart, restarted by an answer.
#[test]
fn pings_follow_the_schedule_of_lnet() {
    let mut timers = vec![Timer::UNARMED; 2];
    let mut queue = Recovery::new(&mut timers, PLAIN);
    let mut jitter = Jitter::new(1);
    assert!(queue.join(at(0), &mut jitter, 1));
    assert!(!queue.join(at(0), &mut jitter, 1), "each at most once");
    let mut times = Vec::new();
    for second in 0..5_000 {
        while queue.take_due(at(second), &mut jitter).is_some() {
            times.push(second);
        }
    }
    let gaps: Vec<u64> = times.windows(2).map(|w| w[1] - w[0]).collect();
    assert_eq!(times[0], 1);
    assert_eq!(gaps[..11], [2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]);
    queue.heard(at(5_000), &mut jitter, 1);
    assert_eq!((queue.count(1), queue.next()), (0, Some(at(5_001))));
}

#[test]
fn answers_to_older_pings_are_stale() {
    let mut timers = vec![Timer::UNARMED; 1];
    let mut queue = Recovery::new(&mut timers, PLAIN);
    let mut jitter = Jitter::new(1);
    queue.join(at(0), &mut jitter, 0);
    let first = queue.take_due(at(1), &mut jitter).unwrap();
    assert!(queue.is_current(first));
    let second = queue.take_due(at(3), &mut jitter).unwrap();
    assert!(!queue.is_current(first) && queue.is_current(second));
    assert!(queue.leave(0) && !queue.leave(0));
    assert!(!queue.is_current(second));
    queue.join(at(9), &mut jitter, 0);
    assert!(!queue.is_current(second), "of another stay in the queue");
}

/// Every operation against a map from entry to (due, count).
#[test]
fn behaves_like_a_naive_queue() {
    let rounds = if cfg!(miri) { 100 } else { 50_000 };
    let mut timers = vec![Timer::UNARMED; 20];
    let mut queue = Recovery::new(&mut timers, PLAIN);
    let mut jitter = Jitter::new(1);
    let mut oracle: BTreeMap<u32, (u64, u8)> = BTreeMap::new();
    let gap = |count: u8| PLAIN.delay(count).as_nanos() / 1_000_000_000;
    let mut random = Jitter::new(99);
    for now in 0..rounds {
        let index = random.below(20);
        match random.below(12) {
            0..=2 => {
                let new = !oracle.contains_key(&index);
                assert_eq!(queue.join(at(now), &mut jitter, index), new);
                oracle.entry(index).or_insert((now + gap(0), 0));
            }
            3 => {
                queue.heard(at(now), &mut jitter, index);
                oracle.entry(index).and_modify(|e| *e = (now + gap(0), 0));
            }
            4 => assert_eq!(queue.leave(index), oracle.remove(&index).is_some()),
            5 if random.below(300) == 0 => {
                let mut left: Vec<u32> = (0..20).map_while(|_| queue.drain()).collect();
                left.sort_unstable();
                assert_eq!(left, oracle.keys().copied().collect::<Vec<_>>());
                oracle.clear();
            }
            _ => {
                while let Some(due) = queue.take_due(at(now), &mut jitter) {
                    let (time, count) = oracle[&due.index];
                    assert!(time <= now && oracle.values().all(|&(other, _)| other >= time));
                    let count = count.saturating_add(1);
                    oracle.insert(due.index, (now + gap(count), count));
                }
                assert!(oracle.values().all(|&(time, _)| time > now));
            }
        }
        assert_eq!(queue.len() as usize, oracle.len());
        assert_eq!(queue.next(), oracle.values().map(|e| e.0).min().map(at));
        let mut entries: Vec<u32> = queue.entries().collect();
        entries.sort_unstable();
        assert!(entries.iter().eq(oracle.keys()));
        assert_eq!(queue.is_empty(), oracle.is_empty());
        let of = |index| queue.due(index).map(|due| (due, queue.count(index)));
        assert_eq!(of(index), oracle.get(&index).map(|&(due, count)| (at(due), count)));
    }
}
