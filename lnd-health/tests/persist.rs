// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! S4-19, S4-20, R44: in every class a message is tried until its deadline. "In all failure cases,
//! LNet will continue attempting to retransmit the message up until the peer_timeout expires." But
//! for S4-10, S4-15, S4-18: what has no interface left that could be used ends at once.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::*;
use lnd_core::driver::Why;
use lnd_core::time::{Instant, Span};
use lnd_core::transfer::HealthClass as Class;
use lnd_health::attempts::{Attempts, Path, Terms, MAX_TRIES};
use lnd_health::node::{End, Ended, HealthCounter, Next, WhyEnded};
use lnd_health::select::NoPath;
use lnd_health::{refusal, HealthConfig, HealthValue, Object, Profile};

fn ms(n: u64) -> Instant {
    Instant::from_nanos(n * 1_000_000)
}

/// A host in virtual time: each try takes 10 ms, and begins as soon as it may. Its end, and when
/// each try began over which path.
fn run(
    node: &mut Node,
    mut attempts: Attempts,
    mut end: impl FnMut(Instant) -> End,
) -> (Ended, Instant, Vec<(Instant, Path)>) {
    let (mut now, mut tries) = (ms(0), Vec::new());
    loop {
        let choice = match node.health.choose(&attempts, &[]) {
            Ok(choice) => choice,
            Err(why) => return (node.health.give_up(attempts, why), now, tries),
        };
        assert!(node.health.begin(now, &mut attempts, &choice), "{now:?}: {attempts:?}");
        tries.push((now, choice.path));
        now = now.after(Span::from_millis(10));
        let how = end(now);
        attempts = match node.health.outcome(now, attempts, how) {
            Next::Again(attempts) => attempts,
            Next::Later(attempts, at) => {
                assert!(at > now, "a pause of no length");
                now = at;
                attempts
            }
            Next::Ended(ended) => return (ended, now, tries),
        };
        assert!(tries.len() < 10_000, "it spins");
    }
}

/// Failures cost little, so that no interface goes down: the deadline alone can end it.
fn hardy(locals: u8, each: u32) -> HealthConfig {
    HealthConfig { sensitivity: 1, ..plain(locals, 1, each) }
}

#[test]
fn every_class_is_tried_until_the_deadline() {
    // S4-19: not once, not as often as there are paths, and no longer either.
    for class in CLASSES.into_iter().filter(|&class| class != Class::Ok) {
        for (locals, each, networks) in [(1, 1, 1), (1, 2, 1), (2, 2, 1), (2, 2, 2), (4, 4, 2)] {
            let mut node = Node::new(hardy(locals, each), networks);
            let attempts = node.open(100);
            let (ended, now, tries) = run(&mut node, attempts, |_| surely(class));
            let what = format!("{class:?} over {locals} × {each}");
            assert_eq!((ended.why, ended.class), (WhyEnded::Deadline, class), "{what}");
            assert_eq!(ended.tries as usize, tries.len(), "{what}");
            // Given up only when no other try fits in: the shortest pause is 100 ms.
            assert!(now > ms(99_900) && now <= ms(100_010), "{what}: at {now:?}");
            assert!(tries.iter().all(|(at, _)| *at < ms(100_000)), "{what}: past the deadline");
            // The longest pause is 10 s: at no time is the message forgotten.
            let gaps = tries.windows(2).map(|two| two[1].0.since(two[0].0));
            assert!(gaps.max().unwrap() <= Span::from_millis(10_010), "{what}");
            assert_eq!(node.health.remaining(), 0, "{what}");
        }
    }
}

#[test]
fn a_path_is_tried_again_only_after_a_pause() {
    // R44, and no hot spinning: the same path not within 100 ms, and not more tries than that
    // allows.
    for class in CLASSES.into_iter().filter(|&class| class != Class::Ok) {
        let mut node = Node::new(hardy(2, 2), 1);
        let attempts = node.open(100);
        let (_, _, tries) = run(&mut node, attempts, |_| surely(class));
        for (n, (at, path)) in tries.iter().enumerate() {
            let before = tries[..n].iter().rev().find(|(_, other)| other == path);
            let since = before.map(|(other, _)| at.since(*other));
            assert!(since.is_none_or(|span| span >= Span::from_millis(60)), "{class:?}: {since:?}");
        }
        // All four paths are in it, and pauses grow: 100 ms, doubled up to 10 s, then halved
        // towards the deadline.
        let mut paths: Vec<_> = tries.iter().map(|(_, path)| (path.local, path.hop)).collect();
        paths.sort_unstable();
        paths.dedup();
        assert_eq!(paths.len(), 4, "{class:?}");
        assert!(tries.len() < 4 * 25, "{class:?}: {} tries in 100 s", tries.len());
        assert!(node.health.tally().value(HealthCounter::Pauses) >= 15, "{class:?}");
    }
}

#[test]
fn what_a_attempts_remembers_is_bounded() {
    // Sixteen paths and hundreds of tries: never more than a round without a pause.
    let mut node = Node::new(hardy(4, 4), 1);
    let mut attempts = node.open(1_000_000);
    let (mut now, mut without) = (ms(0), 0);
    for n in 0..500 {
        let choice = node.health.choose(&attempts, &[]).unwrap();
        assert!(node.health.begin(now, &mut attempts, &choice));
        without += 1;
        assert!(attempts.tried().count() <= MAX_TRIES && without <= MAX_TRIES, "try {n}");
        attempts = match node.health.outcome(now, attempts, surely(Class::LocalDropped)) {
            Next::Again(attempts) => attempts,
            Next::Later(attempts, at) => {
                (now, without) = (at, 0);
                attempts
            }
            Next::Ended(ended) => panic!("{ended:?}"),
        };
    }
    assert_eq!(attempts.tries(), 500);
    let _ = node.health.give_up(attempts, NoPath::Tried);
}

/// A message whose only path has failed at 0, and when it is to be tried again.
fn pausing(node: &mut Node, class: Class) -> (Attempts, Instant) {
    let mut attempts = node.open(100);
    node.begin(&mut attempts);
    match node.health.outcome(ms(0), attempts, surely(class)) {
        Next::Later(attempts, at) => (attempts, at),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_try_that_begins_too_early_is_none() {
    let mut node = Node::new(hardy(1, 1), 1);
    let (mut attempts, at) = pausing(&mut node, Class::RemoteDropped);
    assert_eq!((at, node.health.next_try(&attempts)), (ms(100), at));
    let choice = node.health.choose(&attempts, &[]).unwrap();
    for _ in 0..2 {
        assert!(!node.health.begin(ms(99), &mut attempts, &choice));
        assert_eq!((attempts.tries(), attempts.under_way()), (1, false));
    }
    assert!(node.health.begin(ms(100), &mut attempts, &choice));
    let _ = node.health.outcome(ms(101), attempts, End::OK);
}

#[test]
fn an_interface_that_recovers_ends_the_pause() {
    // A path may be tried again after its interface has recovered.
    let mut node = Node::new(plain(2, 1, 1), 1);
    node.health.set_health(ms(0), Object::Local(local(1)), HealthValue::NONE);
    let (mut attempts, at) = pausing(&mut node, Class::LocalDropped);
    node.health.set_health(ms(1), Object::Local(local(1)), HealthValue::FULL);
    assert!(node.health.next_try(&attempts) <= ms(1) && at > ms(1));
    let choice = node.health.choose(&attempts, &[]).unwrap();
    assert_eq!(choice.path.local, local(1));
    assert!(node.health.begin(ms(1), &mut attempts, &choice));
    let _ = node.health.outcome(ms(2), attempts, End::OK);
}

#[test]
fn an_operators_limit_ends_it_before() {
    // `lnet_retry_count`: off in `seed`, 2 in `lnet-compat`.
    for (config, most) in [
        (HealthConfig { retries: 0, ..hardy(2, 2) }, 1),
        (HealthConfig { retries: 5, ..hardy(2, 2) }, 6),
        (HealthConfig { retries: 254, ..hardy(2, 2) }, 255),
        (hardy(2, 2).lnet_compat(), 3),
    ] {
        let mut node = Node::new(config, 1);
        let attempts = node.open(1_000_000);
        let (ended, _, tries) = run(&mut node, attempts, |_| surely(Class::RemoteDropped));
        assert_eq!((tries.len(), ended.why), (most, WhyEnded::Tries), "{:?}", config.profile);
    }
    assert_eq!(HealthConfig::new(1, 1, 1).profile, Profile::Seed);
}

#[test]
fn a_message_that_may_not_be_repeated_is_not() {
    // R45 and the caller's own word come before S4-19.
    for (suppress, resend, end, why) in [
        (false, true, perhaps(Class::NetworkTimeout), WhyEnded::MayHaveArrived),
        (true, false, surely(Class::RemoteDropped), WhyEnded::NotResendable),
    ] {
        let mut node = Node::new(hardy(2, 2), 1);
        let terms = Terms { suppress, resend, ..Terms::new(7, at(100)) };
        let attempts = node.health.open(node.peer(), terms).unwrap();
        let (ended, _, tries) = run(&mut node, attempts, |_| end);
        assert_eq!((tries.len(), ended.why), (1, why));
    }
}

#[test]
fn what_may_have_arrived_is_repeated_under_one_number() {
    // R45 over many rounds: the receiver recognises every copy.
    let mut node = Node::new(hardy(1, 1), 1);
    let attempts = node.open(10);
    let number = attempts.number();
    assert!(number.is_some());
    let (ended, _, tries) = run(&mut node, attempts, |_| perhaps(Class::NetworkTimeout));
    assert!(tries.len() > 5 && ended.why == WhyEnded::Deadline, "{ended:?}");
    assert_eq!(ended.delivery, lnd_core::transfer::Delivery::Unknown);
}

#[test]
fn back_pressure_pauses_for_a_moment() {
    // One rail whose driver has no room for 20 ms: the message goes out soon after, and no
    // health is touched.
    let mut node = Node::new(plain(1, 1, 1), 1);
    let (mut attempts, mut now, mut refused) = (node.open(100), ms(0), 0);
    while now < ms(20) {
        let choice = node.health.choose(&attempts, &[]).unwrap();
        assert!(node.health.begin(now, &mut attempts, &choice));
        refused += 1;
        let next = node.health.refused(now, attempts, refusal(Why::NoSlots));
        let Next::Later(again, at) = next else { panic!("{next:?}") };
        assert!(at > now);
        (attempts, now) = (again, at);
    }
    assert!(refused <= 6 && now <= ms(40), "{refused} refusals, next try at {now:?}");
    assert_eq!(node.values(), (vec![1000], vec![1000]));
    let choice = node.health.choose(&attempts, &[]).unwrap();
    assert!(node.health.begin(now, &mut attempts, &choice));
    let Next::Ended(ended) = node.health.outcome(now, attempts, End::OK) else { panic!("OK") };
    assert_eq!(ended.class, Class::Ok);
}

#[test]
fn a_shutdown_ends_what_pauses() {
    // INV-15: no resend begins any more.
    let mut node = Node::new(hardy(1, 1), 1);
    let (mut attempts, at) = pausing(&mut node, Class::RemoteDropped);
    node.health.shut_down();
    let choice = node.health.choose(&attempts, &[]).unwrap();
    assert!(!node.health.begin(at, &mut attempts, &choice));
    let _ = node.health.give_up(attempts, NoPath::Tried);
    assert_eq!(node.health.remaining(), 0);
}

/// A message of which each try ends with `class`, and the interfaces of which are then `out` of
/// use.
fn none_left(class: Class, out: fn(&mut Node, Path)) {
    let mut node = Node::new(plain(2, 1, 2), 1);
    let attempts = node.open(100);
    let mut tries = 0;
    let mut next = Next::Again(attempts);
    let ended = loop {
        let Next::Again(mut attempts) = next else {
            let Next::Ended(ended) = next else { panic!("it waits for what is not there") };
            break ended;
        };
        let path = node.begin(&mut attempts);
        tries += 1;
        out(&mut node, path);
        next = node.health.outcome(at(1), attempts, surely(class));
    };
    assert_eq!((tries, ended.cookie), (2, 77), "{class:?}");
    assert_eq!((ended.class, ended.why), (class, WhyEnded::NoPath(NoPath::Unusable)));
    assert_eq!(node.health.remaining(), 0);
}

#[test]
fn no_other_local_interface_fails_and_is_reported_once() {
    // S4-10: the fabric has reported each, or an operator drains it.
    none_left(Class::LocalDropped, |node, path| node.health.fatal(at(1), path.local, true));
    none_left(Class::LocalDropped, |node, path| node.health.drain_local(at(1), path.local, true));
}

#[test]
fn no_other_interface_of_the_peer_fails_and_is_reported_once() {
    // S4-15: each is consistently down.
    none_left(Class::RemoteDropped, |node, path| {
        node.health.set_health(at(1), Object::Peer(path.hop), HealthValue::NONE);
    });
}

#[test]
fn no_new_path_fails_and_is_reported_once() {
    // S4-18: both ends of each path are out of use.
    none_left(Class::NetworkTimeout, |node, path| {
        node.health.drain_local(at(1), path.local, true);
        node.health.set_health(at(1), Object::Peer(path.hop), HealthValue::NONE);
    });
}
