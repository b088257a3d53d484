// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The prober: which endpoints are probed when, and when an endpoint counts as dead.

use super::*;
use std::vec;
use std::vec::Vec;

const SETTINGS: ProbeSettings = ProbeSettings {
    idle: Span::from_secs(10),
    again: Span::from_secs(2),
    hold_off: Span::from_secs(5),
    results: 3,
    jitter: 0,
};
const ENDS: [ProbeEnd; 4] =
    [ProbeEnd::Success, ProbeEnd::AccessError, ProbeEnd::RetryExceeded, ProbeEnd::Other];

fn at(seconds: u64) -> Instant {
    Instant::from_nanos(seconds * 1_000_000_000)
}

fn tables(count: usize) -> (Vec<Timer>, Vec<Endpoint>) {
    (vec![Timer::UNARMED; count], vec![Endpoint::UNUSED; count])
}

/// The probe of the only endpoint at `now`, if there is one.
fn probe(prober: &mut Prober<'_>, now: Instant) -> Option<Due> {
    let mut jitter = Jitter::new(3);
    loop {
        match prober.look(now, &mut jitter) {
            Look::Probe(due) => return Some(due),
            Look::Spared => {}
            Look::NoneDue => return None,
        }
    }
}

fn end(prober: &mut Prober<'_>, now: Instant, due: Due, end: ProbeEnd) -> Finding {
    prober.end(now, &mut Jitter::new(3), due, end)
}

#[test]
fn three_results() {
    // S2-10, S2-11, S2-13, R57.
    let results = ENDS.map(ProbeEnd::result);
    assert_eq!(
        results,
        [ProbeResult::Alive, ProbeResult::Alive, ProbeResult::Dead, ProbeResult::Unknown]
    );
}

#[test]
fn only_idle_endpoints_are_probed() {
    // S2-2, R55: traffic in each period, no probe; then one after a period without.
    let (mut timers, mut endpoints) = tables(1);
    let mut prober = Prober::new(&mut timers, &mut endpoints, SETTINGS);
    prober.watch(at(0), &mut Jitter::new(1), 0, true);
    for second in 0..100 {
        prober.active(0);
        assert_eq!(probe(&mut prober, at(second)), None);
    }
    let mut second = 100;
    while probe(&mut prober, at(second)).is_none() {
        second += 1;
    }
    assert!((109..=119).contains(&second), "probed {} s after the last traffic", second - 99);
}

#[test]
fn down_takes_several_decisions_over_the_hold_off() {
    // S2-8, S2-11, R57: 3 results 2 s apart are 4 s, less than the hold-off of 5 s: the fourth
    // counts.
    let (mut timers, mut endpoints) = tables(1);
    let mut prober = Prober::new(&mut timers, &mut endpoints, SETTINGS);
    prober.watch(at(0), &mut Jitter::new(1), 0, false);
    let mut findings = Vec::new();
    for second in 0..30 {
        if let Some(due) = probe(&mut prober, at(second)) {
            let finding = end(&mut prober, at(second), due, ProbeEnd::RetryExceeded);
            findings.push((second, finding));
        }
    }
    let down: Vec<_> = findings.iter().filter(|f| f.1 != Finding::Nothing).collect();
    assert_eq!(findings[..4].iter().map(|f| f.0).collect::<Vec<_>>(), [10, 12, 14, 16]);
    assert_eq!(down, [&(16, Finding::Down)], "reported once");
    // A message arrives, it goes down again, and it is reported again.
    prober.active(0);
    let again = (30..70).find_map(|second| {
        let due = probe(&mut prober, at(second))?;
        let finding = end(&mut prober, at(second), due, ProbeEnd::RetryExceeded);
        (finding != Finding::Nothing).then_some(finding)
    });
    assert_eq!(again, Some(Finding::Down));
}

#[test]
fn an_alive_decision_between_dead_ones_starts_anew() {
    let (mut timers, mut endpoints) = tables(1);
    let mut prober = Prober::new(&mut timers, &mut endpoints, SETTINGS);
    prober.watch(at(0), &mut Jitter::new(1), 0, false);
    // S2-10: an access error is as good as a success.
    let pattern = [ProbeEnd::RetryExceeded, ProbeEnd::RetryExceeded, ProbeEnd::AccessError];
    let mut number = 0;
    for second in 0..300 {
        if let Some(due) = probe(&mut prober, at(second)) {
            let finding = end(&mut prober, at(second), due, pattern[number % 3]);
            assert!(finding == Finding::Nothing || finding == Finding::Alive);
            number += 1;
        }
    }
    assert!(number > 30 && prober.tally().dead > 20);
}

#[test]
fn an_end_that_says_nothing_moves_a_counter_only() {
    // S2-13: evidence of neither state, before, between and after dead results.
    use ProbeEnd::{Other, RetryExceeded};
    let (mut timers, mut endpoints) = tables(1);
    let mut prober = Prober::new(&mut timers, &mut endpoints, SETTINGS);
    prober.watch(at(0), &mut Jitter::new(1), 0, false);
    let ends = [Other, Other, Other, Other, RetryExceeded, Other, RetryExceeded, Other, Other];
    let mut second = 0;
    for (number, how) in ends.into_iter().enumerate() {
        let due = (second..).find_map(|s| probe(&mut prober, at(s)).map(|due| (s, due))).unwrap();
        second = due.0;
        let before = prober.tally();
        assert_eq!(end(&mut prober, at(second), due.1, how), Finding::Nothing, "{number}");
        let unknown = u32::from(how == Other);
        let expected = ProbeTally {
            unknown: before.unknown + unknown,
            dead: before.dead + 1 - unknown,
            ..before
        };
        assert_eq!(prober.tally(), expected, "{number}");
    }
    let due = (second..).find_map(|s| probe(&mut prober, at(s))).unwrap();
    let third = end(&mut prober, at(second + 2), due, RetryExceeded);
    assert_eq!(third, Finding::Down, "the third dead result in a row");
}

#[test]
fn a_migration_does_not_kill() {
    // S2-8: the path is dead while it is being moved, and the endpoint is up.
    let (mut timers, mut endpoints) = tables(1);
    let mut prober = Prober::new(&mut timers, &mut endpoints, SETTINGS);
    prober.watch(at(0), &mut Jitter::new(1), 0, false);
    let mut second = 0;
    for _ in 0..2 {
        second = (second..)
            .find(|&s| {
                probe(&mut prober, at(s)).is_some_and(|due| {
                    end(&mut prober, at(s), due, ProbeEnd::RetryExceeded) == Finding::Nothing
                })
            })
            .unwrap();
    }
    // A probe is under way when the migration begins.
    let due = (second..).find_map(|s| probe(&mut prober, at(s))).unwrap();
    prober.migrating(0, true);
    assert_eq!(end(&mut prober, at(30), due, ProbeEnd::RetryExceeded), Finding::Nothing);
    for second in 30..200 {
        assert_eq!(probe(&mut prober, at(second)), None, "spared while it migrates");
    }
    prober.migrating(0, false);
    let due = (200..).find_map(|s| probe(&mut prober, at(s))).unwrap();
    let finding = end(&mut prober, at(230), due, ProbeEnd::RetryExceeded);
    assert_eq!(finding, Finding::Nothing, "the first dead result since");
}

#[test]
fn a_one_way_endpoint_is_cleaned_up_when_its_connection_breaks() {
    // S2-1: even while it is in use. It is independent of any one user.
    for (one_way, users) in [(true, 0), (true, 1), (true, 3), (false, 0), (false, 2)] {
        let (mut timers, mut endpoints) = tables(1);
        let mut prober = Prober::new(&mut timers, &mut endpoints, SETTINGS);
        prober.watch(at(0), &mut Jitter::new(1), 0, one_way);
        (0..users).for_each(|_| prober.add_user(0));
        let mut found = Vec::new();
        for second in 0..40 {
            if let Some(due) = probe(&mut prober, at(second)) {
                let finding = end(&mut prober, at(second), due, ProbeEnd::RetryExceeded);
                if finding != Finding::Nothing {
                    found.push(finding);
                }
            }
        }
        let expected = if one_way { Finding::CleanUp } else { Finding::Down };
        assert_eq!(found, [expected], "one way {one_way}, {users} users");
        assert_eq!(prober.is_empty(), one_way);
        assert_eq!(prober.users(0), users, "the users to notify");
    }
}

#[test]
fn users_are_counted() {
    // Two processes use one endpoint: the first that leaves does not leave for the other.
    let (mut timers, mut endpoints) = tables(2);
    let mut prober = Prober::new(&mut timers, &mut endpoints, SETTINGS);
    prober.remove_user(0);
    (0..2).for_each(|_| prober.add_user(0));
    prober.remove_user(0);
    assert_eq!((prober.users(0), prober.users(1), prober.users(9)), (1, 0, 0));
    // A new watch does not change its users; another endpoint in its place starts without users.
    prober.watch(at(0), &mut Jitter::new(1), 0, true);
    assert_eq!(prober.users(0), 1);
    prober.forget(0);
    assert!(prober.users(0) == 0 && prober.is_empty());
}

#[test]
fn traffic_after_a_probe_went_out_overtakes_its_decision() {
    // R55, S2-13: one result is enough here.
    let settings = ProbeSettings { results: 1, hold_off: Span::default(), ..SETTINGS };
    let (mut timers, mut endpoints) = tables(1);
    let mut prober = Prober::new(&mut timers, &mut endpoints, settings);
    prober.watch(at(0), &mut Jitter::new(1), 0, true);
    let due = (0..20).find_map(|s| probe(&mut prober, at(s))).unwrap();
    prober.active(0);
    assert_eq!(end(&mut prober, at(20), due, ProbeEnd::RetryExceeded), Finding::Nothing);
    assert_eq!((prober.tally().dead, prober.tally().unknown, prober.is_empty()), (0, 1, false));
    let due = (20..60).find_map(|s| probe(&mut prober, at(s))).unwrap();
    assert_eq!(end(&mut prober, at(60), due, ProbeEnd::RetryExceeded), Finding::CleanUp);
}

#[test]
fn urgent_endpoints_come_first() {
    // R59: of 50 that are all due, the one that work waits for.
    let (mut timers, mut endpoints) = tables(50);
    let mut prober = Prober::new(&mut timers, &mut endpoints, SETTINGS);
    for index in 0..50 {
        prober.watch(at(0), &mut Jitter::new(index), index, false);
    }
    prober.urge(33);
    assert_eq!(probe(&mut prober, at(1)).map(|d| d.index), Some(33));
    assert_eq!(probe(&mut prober, at(1)), None);
    prober.urge(33);
    assert_eq!(probe(&mut prober, at(1)), None, "its probe is under way");
    prober.urge(44);
    assert_eq!(probe(&mut prober, at(20)).map(|d| d.index), Some(44));
}

#[test]
fn endpoints_that_fall_idle_together_are_not_probed_together() {
    // R59: jitter takes up to a quarter off the idle time.
    let (idle, again) = (Span::from_secs(16), Span::from_secs(100));
    let settings = ProbeSettings { idle, again, jitter: 4, ..SETTINGS };
    let (mut timers, mut endpoints) = tables(500);
    let mut prober = Prober::new(&mut timers, &mut endpoints, settings);
    let mut jitter = Jitter::new(9);
    for index in 0..500 {
        prober.watch(at(0), &mut jitter, index, false);
    }
    let mut probes = [0_u32; 17];
    for (second, count) in (0..).zip(&mut probes) {
        while probe(&mut prober, at(second)).is_some() {
            *count += 1;
        }
    }
    assert_eq!(probes.iter().sum::<u32>(), 500);
    assert_eq!(probes[..12].iter().sum::<u32>(), 0, "none of them was idle for long enough");
    // Five times to choose from, a hundred each if chance were exact.
    assert!(probes[12..].iter().all(|&n| (50..200).contains(&n)), "{probes:?}");
}

#[test]
fn a_probe_that_never_ends_says_nothing_and_the_next_one_follows() {
    // S2-7: the transport has lost it; a prober that waited for its end would never probe again.
    let (mut timers, mut endpoints) = tables(1);
    let mut prober = Prober::new(&mut timers, &mut endpoints, SETTINGS);
    prober.watch(at(0), &mut Jitter::new(1), 0, false);
    let probes: Vec<Due> = (0..30).filter_map(|s| probe(&mut prober, at(s))).collect();
    assert_eq!(probes.len(), 10, "at 10 s, then every 2 s");
    assert_eq!((prober.tally().unknown, prober.tally().dead), (9, 0));
    // The ends of all but the last come too late.
    for due in &probes[..9] {
        assert_eq!(end(&mut prober, at(30), *due, ProbeEnd::RetryExceeded), Finding::Nothing);
    }
    assert_eq!(prober.tally().dead, 0);
    assert_eq!(end(&mut prober, at(30), probes[9], ProbeEnd::Success), Finding::Alive);
}

/// S2-7, R60: any end, in any state, at any time, of any probe. Only the rules may follow: down
/// only after enough consecutive dead results, and never from a stale end.
#[test]
fn every_end_is_legal_in_every_state() {
    let rounds = if cfg!(miri) { 200 } else { 100_000 };
    let (mut timers, mut endpoints) = tables(4);
    let mut prober = Prober::new(&mut timers, &mut endpoints, SETTINGS);
    let (mut jitter, mut random) = (Jitter::new(1), Jitter::new(2));
    let mut probes: Vec<Due> = Vec::new();
    let mut latest = [None; 4];
    let mut row = [0_u32; 4];
    let mut found = [0; 4];
    for now in (0..rounds).map(|n| at(n / 2)) {
        let index = random.below(4);
        let i = index as usize;
        match random.below(24) {
            0 => {
                prober.watch(now, &mut jitter, index, random.below(2) == 0);
                (row[i], latest[i]) = (0, None);
            }
            1 if random.below(8) == 0 => {
                prober.unwatch(index);
                latest[i] = None;
            }
            2 if random.below(4) == 0 => {
                prober.active(index);
                row[i] = 0;
            }
            3 if random.below(8) == 0 => {
                prober.migrating(index, random.below(4) == 0);
                row[i] = 0;
            }
            4 if random.below(2) == 0 => prober.add_user(index),
            4 => prober.remove_user(index),
            5 => prober.urge(index),
            6..=14 => {
                if let Look::Probe(due) = prober.look(now, &mut jitter) {
                    latest[due.index as usize] = Some(due);
                    probes.push(due);
                }
            }
            _ if !probes.is_empty() => {
                let due = probes.swap_remove(random.below(probes.len() as u32) as usize);
                let i = due.index as usize;
                let dead = random.below(8) != 0;
                let how =
                    if dead { ProbeEnd::RetryExceeded } else { ENDS[random.below(4) as usize] };
                let before = prober.tally();
                let finding = prober.end(now, &mut jitter, due, how);
                if prober.tally().unknown == before.unknown {
                    assert_eq!(latest[i], Some(due), "only the last probe counts");
                }
                row[i] += prober.tally().dead - before.dead;
                match finding {
                    Finding::Alive => row[i] = 0,
                    Finding::Down | Finding::CleanUp => {
                        assert!(how == ProbeEnd::RetryExceeded && row[i] >= 3);
                        found[i] += 1;
                    }
                    Finding::Nothing => {}
                }
            }
            _ => {}
        }
        probes.truncate(6);
    }
    assert!(cfg!(miri) || found.iter().all(|&n| n > 5), "{found:?}");
}
