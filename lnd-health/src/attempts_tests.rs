// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Tests of a message under way.

use super::*;

fn attempts(deadline: u64) -> Attempts {
    let deadline = Instant::from_nanos(deadline);
    let terms = Terms { suppress: false, ..Terms::new(1, deadline) };
    Attempts::new(PeerId::new(0), terms)
}

fn path(local: usize, hop: u32) -> Path {
    Path { local: NiId::new(local).unwrap(), hop: PeerNiId::new(hop) }
}

#[test]
fn disjoint_as_the_class_asks_and_never_twice() {
    // S4-9, S4-14, S4-17, R44.
    let mut j = attempts(100);
    assert!(j.begin(Instant::ORIGIN, path(0, 0)));
    assert!(!j.begin(Instant::ORIGIN, path(1, 1)), "one try at a time");
    j.end(HealthClass::LocalDropped, Delivery::NotDelivered);
    let allowed = |j: &Attempts, how| {
        let pairs = [(0, 0), (0, 1), (1, 0), (1, 1)];
        pairs.map(|(l, r)| j.allows(path(l, r), how))
    };
    assert_eq!(allowed(&j, Resend::No), [false, false, false, false]);
    assert_eq!(allowed(&j, Resend::OtherLocal), [false, false, true, true]);
    assert_eq!(allowed(&j, Resend::OtherRemote), [false, true, false, true]);
    assert_eq!(allowed(&j, Resend::NewPath), [false, false, false, true]);
    assert_eq!(allowed(&j, Resend::Untried), [false, true, true, true]);
    assert_eq!(allowed(&j, Resend::Anew), [true; 4]);
    assert!(j.begin(Instant::ORIGIN, path(1, 0)));
    j.end(HealthClass::LocalDropped, Delivery::NotDelivered);
    assert_eq!(allowed(&j, Resend::OtherLocal), [false, true, false, false]);
    assert_eq!(allowed(&j, Resend::NewPath), [false, true, false, false]);
}

#[test]
fn time_bounds_the_tries_and_a_limit_if_there_is_one() {
    // S4-19, S4-20, R37: a resend never extends the deadline.
    let mut j = attempts(90);
    for n in 0..3 {
        assert!(j.may_try_again(Instant::from_nanos(89), 2));
        assert!(!j.may_try_again(Instant::from_nanos(90), 2));
        assert!(j.begin(Instant::ORIGIN, path(0, n)));
        j.end(HealthClass::RemoteDropped, Delivery::NotDelivered);
    }
    assert!(j.is_spent(2) && !j.may_try_again(Instant::from_nanos(0), 2));
    assert!(!j.is_spent(UNTIL_DEADLINE));
    assert!(j.may_try_again(Instant::from_nanos(89), UNTIL_DEADLINE));
    assert!(!j.may_try_again(Instant::from_nanos(90), UNTIL_DEADLINE));
    assert!(!attempts(90).begin(Instant::from_nanos(90), path(0, 0)), "LU-16303");
}

#[test]
fn a_round_is_bounded_and_a_pause_begins_another() {
    // R44: without a pause the number of tries is limited, however many paths there are.
    let mut j = attempts(90);
    for round in 1..=3 {
        for n in 0..8 {
            assert!(!j.round_is_full());
            assert!(j.begin(Instant::ORIGIN, path(0, n)));
            j.end(HealthClass::RemoteDropped, Delivery::NotDelivered);
        }
        assert!(j.round_is_full() && !j.begin(Instant::ORIGIN, path(0, 9)));
        assert!(!j.allows(path(0, 3), Resend::OtherRemote), "tried in this round");
        j.pause(Instant::from_nanos(5), 7);
        j.start_over();
        assert_eq!((j.tries(), j.pauses()), (8 * u32::from(round), round));
        assert_eq!((j.not_before().as_nanos(), j.recoveries), (5, 7));
        assert_eq!((j.tried().count(), j.last_path(), j.history()), (0, None, None));
        assert!(j.allows(path(0, 3), Resend::OtherRemote), "it may be tried again");
    }
}

#[test]
fn slices_share_what_is_left() {
    let j = attempts(90);
    assert_eq!(j.slice(Instant::ORIGIN, 2).as_nanos(), 30);
    assert_eq!(j.slice(Instant::from_nanos(60), 0).as_nanos(), 90);
    assert_eq!(j.slice(Instant::from_nanos(89), 2).as_nanos(), 90);
    assert_eq!(j.slice(Instant::from_nanos(95), 2).as_nanos(), 95);
}

#[test]
fn an_unknown_try_makes_the_whole_unknown() {
    // S0-18, R7: a later try that certainly failed is no evidence about an earlier one.
    let mut j = attempts(90);
    assert_eq!((j.under_way(), j.last_class()), (false, None));
    assert!(j.begin(Instant::ORIGIN, path(0, 0)));
    assert!(j.under_way());
    assert_eq!(j.end(HealthClass::NetworkTimeout, Delivery::Unknown), Delivery::Unknown);
    assert_eq!((j.under_way(), j.last_class()), (false, Some(HealthClass::NetworkTimeout)));
    assert!(j.begin(Instant::ORIGIN, path(1, 1)));
    assert_eq!(j.end(HealthClass::RemoteDropped, Delivery::NotDelivered), Delivery::Unknown);
    assert!(j.may_have_arrived());
}
