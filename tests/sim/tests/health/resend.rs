// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! How often and by which path a failed message is sent again (sanity-lnet 204 to 207 and 233).

use lnd_sim::rails::{Class, Plan, Profile, Rule, Scheduled, What, Who};

use super::{acquaint, lost, pair, play, put, BOTH};

/// What becomes of one PUT whose every try is shown this class: resends, failed resends, and the
/// health lost here and at the peer.
fn shown(plan: &Plan, class: Class, known: bool) -> (u64, u64, u16, u16) {
    let mut result = (0, 0, 0, 0);
    play(plan, |world| {
        if known {
            acquaint(world);
        }
        world.add_rule(Rule { from: Who::host(0), ..Rule::simulate(class) });
        assert!(!put(world, 100), "{class:?}");
        let counts = world.counts(0);
        let (local, remote) = lost(world);
        result = (counts.resends, counts.resent_failed, local, remote);
        assert_eq!(counts.failed, 1, "one end, {class:?}");
    });
    result
}

/// 204: with a single rail LNet does not resend a local failure, and local health moves. The 2017
/// design tries again after a pause (S4-19), here as often as the operator's limit allows.
#[test]
fn local_classes_on_a_single_rail() {
    for class in Class::ALL.into_iter().filter(|class| class.is_local()) {
        let compat = shown(&pair("a", Profile::LnetCompat), class, true);
        assert_eq!(compat, (0, 0, 100, 0), "{class:?}");
        assert_eq!(shown(&pair("a", Profile::Seed), class, true), (2, 1, 300, 0), "{class:?}");
    }
}

/// 205: with several rails exactly as many resends as may be, and one failed resend; for LNet none
/// for LOCAL_ERROR (S4-6, S4-9, S4-10).
#[test]
fn local_classes_on_several_rails() {
    for class in Class::ALL.into_iter().filter(|class| class.is_local()) {
        let resends = if class == Class::LocalError { (0, 0, 100, 0) } else { (2, 1, 300, 0) };
        assert_eq!(shown(&pair("ab", Profile::LnetCompat), class, true), resends, "{class:?}");
        // The 2017 design wants another interface each time, and has three.
        assert_eq!(shown(&pair("abc", Profile::Seed), class, true), (2, 1, 300, 0), "{class:?}");
    }
}

/// R44: two rails have one resend in them; then the message pauses, and both may be tried again.
/// The world's oracle finds a path that is tried again without a pause.
#[test]
fn a_path_is_tried_again_after_a_pause() {
    let plan = Plan { retries: Some(5), ..pair("ab", Profile::Seed) };
    play(&plan, |world| {
        acquaint(world);
        world.add_rule(Rule { from: Who::host(0), ..Rule::simulate(Class::LocalDropped) });
        let begun = world.ms();
        assert!(!put(world, 100));
        // Two pauses, of 100 ms and of 200 ms, less a quarter for the jitter.
        assert!(world.ms() - begun >= 225, "{} ms", world.ms() - begun);
        assert_eq!((world.counts(0).resends, lost(world)), (5, (600, 0)));
    });
}

/// S4-19: without an operator's limit every class is tried until the deadline, also over a single
/// rail.
#[test]
fn every_class_is_tried_until_the_deadline() {
    for (nis, class) in ["a", "ab"].into_iter().flat_map(|n| Class::ALL.map(|class| (n, class))) {
        let plan = Plan { retries: None, sensitivity: 1, ..pair(nis, Profile::Seed) };
        play(&plan, |world| {
            acquaint(world);
            world.add_rule(Rule { from: Who::host(0), ..Rule::simulate(class) });
            let begun = world.ms();
            assert!(!put(world, 100));
            let took = world.ms() - begun;
            assert!((1_900..=2_000).contains(&took), "{class:?} over {nis}: {took} ms");
            let resends = world.counts(0).resends;
            assert!((4..60).contains(&resends), "{class:?} over {nis}: {resends} resends");
        });
    }
}

/// S4-2, S4-19: what fails for a second is repaired before its deadline, also over a single rail.
#[test]
fn a_short_trouble_is_outlived() {
    let plan = Plan { retries: None, timeout_ms: 5_000, ..pair("a", Profile::Seed) };
    play(&plan, |world| {
        acquaint(world);
        let until = world.ms() as u32 + 1_000;
        let rule = Rule { to_ms: Some(until), ..Rule::simulate(Class::RemoteDropped) };
        world.add_rule(Rule { from: Who::host(0), ..rule });
        assert!(put(world, 100));
        assert!(world.counts(0).resends >= 3, "{}", world.counts(0));
    });
}

/// 206: with a single rail remote failures are not held against the only interface (LU-13501, R49).
/// LNet does not resend them.
#[test]
fn remote_classes_on_a_single_rail() {
    for class in [Class::RemoteError, Class::RemoteDropped, Class::RemoteTimeout] {
        let compat = shown(&pair("a", Profile::LnetCompat), class, true);
        assert_eq!(compat, (0, 0, 0, 0), "{class:?}");
        assert_eq!(shown(&pair("a", Profile::Seed), class, true), (2, 1, 0, 0), "{class:?}");
    }
    // A class that names neither end: LNet blames the only interface here.
    let compat = shown(&pair("a", Profile::LnetCompat), Class::NetworkTimeout, true);
    assert_eq!(compat, (0, 0, 100, 0));
    assert_eq!(shown(&pair("a", Profile::Seed), Class::NetworkTimeout, true), (2, 1, 0, 0));
}

/// 207: with several rails REMOTE_DROPPED is resent, remote health moves and local health does not;
/// LNet resends no other remote class (S4-11, S4-14, S4-15).
#[test]
fn remote_classes_on_several_rails() {
    for (class, compat) in [
        (Class::RemoteDropped, (2, 1, 0, 300)),
        (Class::RemoteError, (0, 0, 0, 100)),
        (Class::RemoteTimeout, (0, 0, 0, 100)),
    ] {
        assert_eq!(shown(&pair("ab", Profile::LnetCompat), class, true), compat, "{class:?}");
        assert_eq!(shown(&pair("abc", Profile::Seed), class, true), (2, 1, 0, 300), "{class:?}");
    }
}

/// S4-16 to S4-18: a network timeout lowers the health of both ends, and is resent over a wholly
/// new path; LNet never resends it.
#[test]
fn network_timeout_on_several_rails() {
    let class = Class::NetworkTimeout;
    assert_eq!(shown(&pair("abc", Profile::Seed), class, true), (2, 1, 300, 300));
    assert_eq!(shown(&pair("ab", Profile::LnetCompat), class, true), (0, 0, 100, 100));
}

/// R45: what may have arrived at a peer that was never heard of is not sent again: it is not known
/// which of its incarnations would recognise it.
#[test]
fn a_stranger_is_not_sent_second_copies() {
    let plan = pair("abc", Profile::Seed);
    assert_eq!(shown(&plan, Class::RemoteTimeout, false).0, 0);
    assert_eq!(shown(&plan, Class::RemoteDropped, false).0, 2, "that did surely not arrive");
}

/// 233: every second message is dropped: exactly one successful resend.
#[test]
fn every_second_message_is_dropped() {
    for profile in BOTH {
        play(&pair("ab", profile), |world| {
            acquaint(world);
            world.add_rule(Rule { rate: 2, ..Rule::simulate(Class::LocalDropped) });
            assert!(put(world, 100));
            let counts = world.counts(0);
            assert_eq!((counts.resends, counts.resent_ok, counts.resent_failed), (1, 1, 0));
            assert_eq!(counts.failed, 0);
        });
    }
}

/// A retry count of 0, and a sensitivity of 0, turn resends off.
#[test]
fn resends_can_be_turned_off() {
    for profile in BOTH {
        let plan = Plan { retries: Some(0), ..pair("ab", profile) };
        assert_eq!(shown(&plan, Class::LocalDropped, true), (0, 0, 100, 0));
        let plan = Plan { sensitivity: 0, ..pair("ab", profile) };
        assert_eq!(shown(&plan, Class::LocalDropped, true), (0, 0, 0, 0));
    }
}

/// S4-1, S4-2, S4-4: the link under a transfer fails, and no node is told. The message is repaired
/// over another fabric before its user hears of anything.
#[test]
fn a_transfer_moves_to_another_fabric() {
    for (host, ni) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        play(&pair("ab", Profile::Seed), |world| {
            acquaint(world);
            let down = Scheduled {
                at_ms: 0,
                what: What::NiDown,
                host,
                ni,
                peer: None,
                peer_ni: 0,
                for_ms: 5_000,
                noticed_ms: None,
            };
            world.happens(down);
            let numbers: Vec<u64> = (0..6).map(|_| world.put(0, 1, 7_000, true).unwrap()).collect();
            world.wait_for(&numbers).unwrap();
            let answered = numbers.iter().filter(|&&n| world.record(n).unwrap().answered).count();
            assert_eq!(answered, 6, "{host}.{ni}: {}", world.counts(0));
            let repaired = world.counts(0).resent_ok + world.counts(1).resent_ok;
            assert!(repaired > 0, "{host}.{ni}: {}", world.counts(0));
        });
    }
}

/// S4-19, S4-20: whatever happens, the end comes by the deadline.
#[test]
fn the_deadline_is_the_end() {
    for profile in BOTH {
        let plan = Plan { retries: Some(7), timeout_ms: 1_500, ..pair("ab", profile) };
        play(&plan, |world| {
            acquaint(world);
            for ni in 0..2 {
                world.happens(cut(ni, 10_000));
            }
            let begun = world.ms();
            assert!(!put(world, 70_000));
            // A descriptor that is asked back at the deadline comes back a little later.
            let took = world.ms() - begun;
            assert!(took <= 2_000, "{profile:?}: {took} ms");
        });
    }
}

/// Late messages: LNet counts a failure past the deadline and does no health work for it. The 2017
/// design takes it for what it is, evidence against both ends (S4-3, S4-16).
#[test]
fn late_messages() {
    for (profile, moved) in [(Profile::LnetCompat, 0), (Profile::Seed, 100)] {
        let plan = Plan { retries: Some(0), timeout_ms: 300, ..pair("ab", profile) };
        play(&plan, |world| {
            acquaint(world);
            for ni in 0..2 {
                world.happens(cut(ni, 5_000));
            }
            // Now and then the channel says at once that it does not know: that is not late.
            for _ in 0..8 {
                let (begun, before) = (world.ms(), lost(world));
                assert!(!put(world, 70_000));
                let counts = world.counts(0);
                if counts.late > 0 {
                    assert!(world.ms() - begun >= 300, "{profile:?}");
                    let after = lost(world);
                    // One that was not touched is the peer's doing; otherwise it is not known.
                    assert_eq!(after.1 - before.1, moved, "{profile:?}");
                    assert!([0, moved].contains(&(after.0 - before.0)), "{profile:?}");
                    assert_eq!((counts.late, counts.resends), (1, 0));
                    return;
                }
            }
            panic!("nothing was late");
        });
    }
}

fn cut(ni: u32, for_ms: u32) -> Scheduled {
    Scheduled {
        at_ms: 0,
        what: What::Cut,
        host: 0,
        ni,
        peer: Some(1),
        peer_ni: ni,
        for_ms,
        noticed_ms: None,
    }
}
