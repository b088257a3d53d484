// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Reconnecting: one attempt each, within the budget.

use super::*;
use std::vec;
use std::vec::Vec;

const SETTINGS: ReconnectSettings = ReconnectSettings {
    backoff: Backoff { first: Span::from_secs(1), cap: Span::from_secs(60), jitter: 0 },
    negative: Span::from_secs(5),
    at_once: 3,
    bound: Span::from_secs(6),
};

fn at(seconds: u64) -> Instant {
    Instant::from_nanos(seconds * 1_000_000_000)
}

#[test]
fn backs_off_up_to_the_cap() {
    let (mut timers, mut attempts) = (vec![Timer::UNARMED; 1], vec![Attempt::None; 1]);
    let mut all = Reconnect::new(&mut timers, &mut attempts, SETTINGS);
    let mut jitter = Jitter::new(1);
    all.lost(at(0), &mut jitter, 0);
    all.lost(at(0), &mut jitter, 0);
    let mut times = Vec::new();
    for second in 0..400 {
        if let Some(due) = all.take_due(at(second)) {
            assert_eq!(all.take_due(at(second)), None, "one attempt at a time");
            times.push(second);
            assert!(all.end(at(second), &mut jitter, due, Connected::No));
            assert!(!all.end(at(second), &mut jitter, due, Connected::Yes), "ended already");
        }
    }
    let gaps: Vec<u64> = times.windows(2).map(|w| w[1] - w[0]).collect();
    assert_eq!(times[0], 1);
    assert_eq!(gaps[..7], [2, 4, 8, 16, 32, 60, 60]);
}

#[test]
fn none_listens_is_remembered_for_a_while() {
    let (mut timers, mut attempts) = (vec![Timer::UNARMED; 1], vec![Attempt::None; 1]);
    let mut all = Reconnect::new(&mut timers, &mut attempts, SETTINGS);
    let mut jitter = Jitter::new(1);
    assert_eq!(all.connection(0), Connectivity::Up);
    all.lost(at(0), &mut jitter, 0);
    assert_eq!(all.connection(0), Connectivity::Trying);
    let due = all.take_due(at(1)).unwrap();
    all.end(at(1), &mut jitter, due, Connected::NobodyListens);
    assert_eq!(all.connection(0), Connectivity::Refused(at(6)));
    assert_eq!((all.take_due(at(5)), all.next()), (None, Some(at(6))));
    let due = all.take_due(at(6)).unwrap();
    assert!(all.end(at(6), &mut jitter, due, Connected::Yes));
    assert_eq!((all.connection(0), all.under_way()), (Connectivity::Up, 0));
}

/// Against a naive model: at most one attempt each, never more than the budget under way, and the
/// end of an overtaken attempt is stale.
#[test]
fn behaves_like_a_naive_model() {
    #[derive(Clone, Copy, PartialEq, Debug)]
    enum Naive {
        None,
        Waiting(u64, u32),
        UnderWay(u64, u32),
        Refused(u64, u32),
    }
    let rounds = if cfg!(miri) { 150 } else { 60_000 };
    let (mut timers, mut attempts) = (vec![Timer::UNARMED; 8], vec![Attempt::None; 8]);
    let mut all = Reconnect::new(&mut timers, &mut attempts, SETTINGS);
    let (mut jitter, mut random) = (Jitter::new(1), Jitter::new(5));
    let mut naive = [Naive::None; 8];
    let mut open: Vec<(Due, bool)> = Vec::new();
    let mut untold = 0;
    let delay = |count: u32| SETTINGS.backoff.delay(count as u8).as_nanos() / 1_000_000_000;
    for now in 0..rounds {
        // Attempts without a report in time have failed, and a later report is stale.
        while all.expire(at(now), &mut jitter) {}
        for (index, state) in (0..).zip(&mut naive) {
            if let Naive::UnderWay(bound, n) = *state {
                if bound > now {
                    continue;
                }
                *state = Naive::Waiting(now + delay(n + 1), n + 1);
                open.iter_mut().filter(|(d, _)| d.index == index).for_each(|o| o.1 = false);
                untold += 1;
            }
        }
        assert_eq!(all.untold(), untold);
        let index = random.below(8);
        let state = &mut naive[index as usize];
        match random.below(10) {
            0 | 1 => {
                all.lost(at(now), &mut jitter, index);
                if *state == Naive::None {
                    *state = Naive::Waiting(now + delay(0), 0);
                }
            }
            2 => {
                all.settled(index);
                *state = Naive::None;
                open.iter_mut().filter(|(d, _)| d.index == index).for_each(|o| o.1 = false);
            }
            3..=6 => {
                if let Some(due) = all.take_due(at(now)) {
                    let state = &mut naive[due.index as usize];
                    *state = match *state {
                        Naive::Waiting(t, n) if t <= now => Naive::UnderWay(now + 6, n),
                        Naive::Refused(t, n) if t <= now => Naive::UnderWay(now + 6, n),
                        other => panic!("{other:?} is not due at {now}"),
                    };
                    open.push((due, true));
                }
            }
            _ if !open.is_empty() => {
                let at_random = random.below(open.len() as u32) as usize;
                let (due, current) = open.swap_remove(at_random);
                let how = [Connected::Yes, Connected::No, Connected::NobodyListens];
                let how = how[random.below(3) as usize];
                assert_eq!(all.end(at(now), &mut jitter, due, how), current);
                let state = &mut naive[due.index as usize];
                if let (true, Naive::UnderWay(_, n)) = (current, *state) {
                    *state = match how {
                        Connected::Yes => Naive::None,
                        Connected::No => Naive::Waiting(now + delay(n + 1), n + 1),
                        Connected::NobodyListens => Naive::Refused(now + 5, n),
                    };
                }
            }
            _ => {}
        }
        let under_way = naive.iter().filter(|s| matches!(s, Naive::UnderWay(..))).count();
        assert_eq!(usize::from(all.under_way()), under_way);
        assert!(under_way <= 3);
        let dues = naive.iter().filter_map(|s| match s {
            Naive::Waiting(t, _) | Naive::Refused(t, _) => Some(*t),
            _ => None,
        });
        let bounds = naive.iter().filter_map(|s| match s {
            Naive::UnderWay(t, _) => Some(*t),
            _ => None,
        });
        assert_eq!(all.waiting() as usize, dues.clone().count());
        let next = if under_way == 3 { bounds.min() } else { dues.chain(bounds).min() };
        let next = next.map(at);
        assert_eq!(all.next(), next);
    }
    assert!(cfg!(miri) || untold > 100, "{untold}");
}
