// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Messages over several rails: who loses health, where the message goes, and how it ends.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::*;
use lnd_core::transfer::{Delivery, HealthClass as Class};
use lnd_health::attempts::Terms;
use lnd_health::journal::Evidence;
use lnd_health::node::{End, Full, HealthCounter, Next, PeerSettings, WhyEnded};
use lnd_health::select::{Because, NoPath};
use lnd_health::{refusal, HealthConfig, NiStatus, Object, WindowCheck};

#[test]
fn a_local_failure_goes_over_another_local_interface() {
    // S4-1, S4-2, S4-6, S4-7, S4-9: the upper layer hears of a success only.
    let mut node = Node::new(plain(2, 1, 2), 1);
    let attempts = node.open(100);
    let (ended, paths) = node
        .send(attempts, |n, _| (at(1), if n == 1 { surely(Class::LocalDropped) } else { End::OK }));
    assert_eq!((ended.class, ended.tries, ended.why), (Class::Ok, 2, WhyEnded::Delivered));
    assert_ne!(paths[0].local, paths[1].local);
    assert_eq!(node.values().1, [1000, 1000], "the peer is not to blame");
    assert_eq!(node.value(Object::Local(paths[0].local)), 900);
    // S4-7: the next message avoids it, and says why.
    let attempts = node.open(100);
    let choice = node.health.choose(&attempts, &[]).unwrap();
    assert_eq!((choice.path.local, choice.reasons.local), (paths[1].local, Because::Health));
    let _ = node.health.give_up(attempts, NoPath::Tried);
}

#[test]
fn a_remote_failure_goes_to_another_interface_of_the_peer() {
    // S4-11, S4-14.
    let mut node = Node::new(plain(2, 1, 2), 1);
    let attempts = node.open(100);
    let (ended, paths) = node.send(attempts, |n, _| {
        (at(1), if n == 1 { surely(Class::RemoteDropped) } else { End::OK })
    });
    assert_ne!(paths[0].hop, paths[1].hop);
    assert_eq!(ended.class, Class::Ok);
    assert_eq!(node.values().0, [1000, 1000]);
    assert_eq!(node.value(Object::Peer(paths[0].hop)), 900);
}

#[test]
fn a_network_timeout_takes_a_wholly_new_path() {
    // S4-16, S4-17, and S4-4: two rails on two fabrics.
    for networks in [1, 2] {
        let mut node = Node::new(plain(2, 1, 2), networks);
        let attempts = node.open(100);
        assert!(attempts.number().is_some());
        let (ended, paths) = node.send(attempts, |n, _| {
            (at(1), if n == 1 { perhaps(Class::NetworkTimeout) } else { End::OK })
        });
        assert!(paths[0].local != paths[1].local && paths[0].hop != paths[1].hop);
        assert_eq!((ended.class, ended.delivery), (Class::Ok, Delivery::Delivered));
        let (mut ours, mut theirs) = node.values();
        ours.sort_unstable();
        theirs.sort_unstable();
        // The one of ours that delivered is at its best already.
        assert_eq!((ours, theirs), (vec![900, 1000], vec![900, 1000]));
    }
}

#[test]
fn without_suppression_what_may_have_arrived_is_not_repeated() {
    // R45: else refuse.
    let mut node = Node::with(plain(2, 1, 2), 1, PeerSettings::default());
    let attempts = node.open(100);
    assert_eq!(attempts.number(), None);
    let (ended, _) = node.send(attempts, |_, _| (at(1), perhaps(Class::NetworkTimeout)));
    assert_eq!((ended.tries, ended.why), (1, WhyEnded::MayHaveArrived));
    assert_eq!(ended.delivery, Delivery::Unknown);
}

#[test]
fn the_deadline_counts_over_all_tries() {
    // S4-20, R37, INV-9: LNet gives each resend a whole budget anew.
    let mut node = Node::new(HealthConfig { retries: 2, ..plain(4, 1, 4) }, 1);
    let attempts = node.open(90);
    assert_eq!(node.health.slice(at(0), &attempts), at(30));
    let (ended, _) = node.send(attempts, |n, _| (at(30 * n as u64), surely(Class::LocalTimeout)));
    assert_eq!((ended.tries, ended.why), (3, WhyEnded::Deadline));
    // Without a limit of tries a third of what is left, never nothing, never past the deadline.
    let mut node = Node::new(plain(4, 1, 4), 1);
    let attempts = node.open(90);
    assert_eq!(node.health.slice(at(0), &attempts), at(30));
    assert_eq!(node.health.slice(at(30), &attempts), at(50));
    let ms = |n: u64| lnd_core::time::Instant::from_nanos(n * 1_000_000);
    assert_eq!(node.health.slice(ms(89_850), &attempts), ms(89_950));
    assert_eq!(node.health.slice(ms(89_990), &attempts), at(90));
    let _ = node.health.give_up(attempts, NoPath::Tried);
}

#[test]
fn refusals_at_the_call_count_too() {
    // R46, H15: the try that the driver refuses moves on. A full table is no fault of the
    // interface: it costs no health (found defect P).
    use lnd_core::driver::Why;
    let mut node = Node::new(plain(2, 1, 2), 1);
    let mut attempts = node.open(100);
    let first = node.begin(&mut attempts);
    let Next::Again(mut attempts) = node.health.refused(at(1), attempts, refusal(Why::NoSlots))
    else {
        panic!("it has another path")
    };
    assert_eq!(node.value(Object::Local(first.local)), 1000);
    let second = node.begin(&mut attempts);
    assert_ne!(first.local, second.local);
    // A request that is itself at fault charges no interface, and is not repeated.
    let Next::Ended(ended) = node.health.refused(at(1), attempts, refusal(Why::TooLong)) else {
        panic!("repeating it is of no use")
    };
    assert_eq!(ended.why, WhyEnded::NotResendable);
    assert_eq!(node.value(Object::Local(second.local)), 1000);
    assert_eq!(node.health.tally().value(HealthCounter::Refusals), 2);
}

#[test]
fn consistently_down_is_not_selected_until_it_is_well() {
    // S4-12, R47.
    let mut node = Node::new(plain(1, 1, 2), 1);
    let ill = node.peers[0].1[0];
    for n in 0..10 {
        let status = node.health.peer_ni(ill).unwrap().status();
        assert_eq!(status, NiStatus::Up, "after {n} failures");
        let mut terms = Terms::new(n, at(100));
        (terms.destination, terms.resend) = (Some(ill), false);
        let attempts = node.health.open(node.peer(), terms).unwrap();
        let (ended, _) = node.send(attempts, |_, _| (at(1), surely(Class::RemoteDropped)));
        assert_eq!(ended.class, Class::RemoteDropped);
    }
    assert_eq!(node.health.peer_ni(ill).unwrap().status(), NiStatus::Down);
    let choose = |node: &mut Node, destination| {
        let mut terms = Terms::new(0, at(100));
        terms.destination = destination;
        let attempts = node.health.open(node.peer(), terms).unwrap();
        let choice = node.health.choose(&attempts, &[]);
        let _ = node.health.give_up(attempts, NoPath::Tried);
        choice
    };
    assert_ne!(choose(&mut node, None).unwrap().path.hop, ill);
    assert_eq!(choose(&mut node, Some(ill)), Err(NoPath::Unusable));
    for n in 1..=10 {
        assert_eq!(node.health.peer_ni(ill).unwrap().status(), NiStatus::Down);
        node.health.received(at(2), ill, None);
        assert_eq!(node.value(Object::Peer(ill)), n * 100);
    }
    assert_eq!(choose(&mut node, Some(ill)).unwrap().path.hop, ill);
    assert_eq!(node.health.audit(), Ok(()));
}

#[test]
fn fatal_interfaces_take_nothing_new() {
    // S4-3, R53: the fabric's report, without any failed message. What it does to health is in
    // `reports.rs`.
    let mut node = Node::new(plain(2, 1, 2), 1);
    node.health.fatal(at(1), local(0), true);
    for _ in 0..4 {
        let mut attempts = node.open(100);
        assert_eq!(node.begin(&mut attempts).local, local(1));
        // What fails with the class LOCAL at a fatal interface moves at once.
        let _ = node.health.outcome(at(1), attempts, End::OK);
    }
    node.health.fatal(at(2), local(1), true);
    let attempts = node.open(100);
    assert_eq!(node.health.choose(&attempts, &[]), Err(NoPath::Unusable));
    let ended = node.health.give_up(attempts, NoPath::Unusable);
    assert_eq!((ended.tries, ended.delivery), (0, Delivery::NotDelivered));
}

#[test]
fn the_receiver_takes_one_copy_of_each_incarnation() {
    // R45: (peer's incarnation, number).
    let mut node = Node::among_strangers(plain(1, 1, 1), 1);
    let peer = node.peer();
    let arrived = |node: &mut Node, from, count| {
        let check = node.health.arrived(peer, stamp(from, count));
        let first = check == WindowCheck::First;
        assert_eq!(node.health.message_received(peer, stamp(from, count)), first);
        check
    };
    assert_eq!(arrived(&mut node, 1, 0), WindowCheck::Stale, "no incarnation is known yet");
    assert!(node.health.peer_incarnation(peer, incarnation(1)));
    assert!(!node.health.peer_incarnation(peer, incarnation(1)));
    assert_eq!(arrived(&mut node, 1, 0), WindowCheck::First);
    assert_eq!(arrived(&mut node, 1, 0), WindowCheck::Second);
    assert_eq!(arrived(&mut node, 2, 1), WindowCheck::Stale, "of another incarnation");
    assert!(node.health.peer_incarnation(peer, incarnation(2)));
    assert_eq!(arrived(&mut node, 2, 0), WindowCheck::First);
}

#[test]
fn a_former_incarnation_may_have_taken_it_so_the_new_one_does_not_get_it() {
    for restarted in [false, true] {
        let mut node = Node::new(plain(2, 1, 2), 1);
        let peer = node.peer();
        node.health.peer_incarnation(peer, incarnation(1));
        let mut attempts = node.open(100);
        node.begin(&mut attempts);
        node.health.peer_incarnation(peer, incarnation(if restarted { 2 } else { 1 }));
        let next = node.health.outcome(at(1), attempts, perhaps(Class::NetworkTimeout));
        match (restarted, next) {
            (true, Next::Ended(ended)) => assert_eq!(ended.why, WhyEnded::MayHaveArrived),
            (false, Next::Again(mut attempts)) => {
                node.begin(&mut attempts);
                let _ = node.health.outcome(at(2), attempts, End::OK);
            }
            (_, next) => panic!("restarted {restarted}: {next:?}"),
        }
    }
}

#[test]
fn the_journal_names_evidence_and_message() {
    // R51.
    let mut node = Node::new(plain(2, 1, 2), 1);
    let attempts = node.open(100);
    let (_, paths) = node.send(attempts, |n, _| {
        (at(n as u64), if n == 1 { surely(Class::LocalDropped) } else { End::OK })
    });
    let entry = node.health.journal().entries().next().unwrap();
    assert_eq!((entry.object, entry.at), (Object::Local(paths[0].local), at(1)));
    assert_eq!((entry.from, entry.to, entry.message), (1000, 900, 77));
    assert_eq!(entry.evidence, Evidence::Message(Class::LocalDropped));
    assert_eq!(node.health.journal().written(), 1, "what changes nothing is not an entry");
}

#[test]
fn a_missing_response_blames_the_next_hop_and_resends_nothing() {
    // R54, S1-13.
    use lnd_core::time::Span;
    use lnd_health::tracker::{TrackEnd, Tracker};
    let mut node = Node::new(plain(2, 1, 2), 1);
    let mut attempts = node.open(100);
    let path = node.begin(&mut attempts);
    let mut tracker = Tracker::begin(at(0), Span::from_secs(150), path);
    let Next::Ended(_) = node.health.outcome(at(1), attempts, End::OK) else { panic!("delivered") };
    let end = tracker.expire(at(150)).unwrap();
    assert_eq!(end, TrackEnd::Expired { path });
    node.health.no_response(at(150), end, 77);
    node.health.no_response(at(150), TrackEnd::Answered, 77);
    assert_eq!(node.value(Object::Peer(path.hop)), 900);
    assert_eq!(node.values().0, [1000, 1000]);
    assert_eq!(node.health.tally().value(HealthCounter::NoResponse), 1);
    assert_eq!(node.health.remaining(), 0);
}

#[test]
fn a_second_try_at_once_or_an_end_without_one_loses_nothing() {
    let mut node = Node::new(plain(2, 1, 2), 1);
    let mut attempts = node.open(100);
    let choice = node.health.choose(&attempts, &[]).unwrap();
    let Next::Ended(ended) = node.health.outcome(at(1), attempts, End::OK) else {
        panic!("no try was under way")
    };
    assert_eq!((ended.tries, ended.class), (0, Class::LocalNoRoute));
    attempts = node.open(100);
    assert!(node.health.begin(at(0), &mut attempts, &choice));
    assert!(!node.health.begin(at(0), &mut attempts, &choice));
    assert_eq!(node.health.local(choice.path.local).unwrap().in_flight(), 1);
    let ended = node.health.give_up(attempts, NoPath::Unknown);
    assert_eq!(ended.delivery, Delivery::Unknown, "a try was under way");
    assert_eq!(node.health.local(choice.path.local).unwrap().in_flight(), 0);
    assert_eq!(node.health.remaining(), 0);
}

#[test]
fn what_this_node_took_back_blames_none() {
    use lnd_core::transfer::{Cause, Place, Policy, Status};
    for cause in [Cause::Shutdown, Cause::Withdrawn] {
        let mut node = Node::new(plain(2, 1, 2), 1);
        let attempts = node.open(100);
        let status = Status::of(Policy::Seed, cause, Place::Staged);
        let (ended, _) = node.send(attempts, |_, _| (at(1), End::of(&status)));
        assert_eq!((ended.tries, ended.why), (1, WhyEnded::NotResendable));
        assert_eq!(node.values(), (vec![1000, 1000], vec![1000, 1000]));
    }
    // Every other status of the core that another path could cure is tried again (R42, R43). Whom
    // each costs is in `charges.rs`.
    for cause in Cause::ALL {
        for place in Place::ALL {
            let status = Status::of(Policy::Seed, cause, place);
            let mut node = Node::new(plain(2, 1, 2), 1);
            let attempts = node.open(100);
            let (ended, _) = node
                .send(attempts, |n, _| (at(1), if n == 1 { End::of(&status) } else { End::OK }));
            assert!(!status.resend || ended.tries > 1, "{cause:?} {place:?}");
            let final_cause = matches!(cause, Cause::Refused | Cause::Local | Cause::Protocol);
            assert!(!final_cause || ended.tries == 1, "{cause:?} {place:?}: no path cures it");
        }
    }
}

#[test]
fn a_dead_peer_does_not_cost_us_our_interfaces() {
    // S4-16 with S4-12: timeouts that name no interface lower our rank, and do not take us off the
    // net.
    let mut node = Node::new(plain(2, 2, 4), 1);
    for n in 0..100 {
        let mut terms = Terms::new(n, at(100));
        terms.suppress = false;
        let attempts = node.health.open(node.peer(), terms).unwrap();
        if node.health.choose(&attempts, &[]).is_err() {
            let _ = node.health.give_up(attempts, NoPath::Unusable);
            break;
        }
        let _ = node.send(attempts, |_, _| (at(1), perhaps(Class::NetworkTimeout)));
    }
    let (ours, theirs) = node.values();
    assert_eq!((ours, theirs), (vec![1, 1], vec![0, 0, 0, 0]));
    let other = node.peers[1].0;
    let attempts = node.health.open(other, Terms::new(1, at(100))).unwrap();
    assert!(node.health.choose(&attempts, &[]).is_ok(), "the other peer is still reached");
    let _ = node.health.give_up(attempts, NoPath::Tried);
    assert_eq!(node.health.audit(), Ok(()));
}

#[test]
fn a_restart_between_two_tries_is_noticed_too() {
    // Found by the model: the outcome allowed a resend, then the peer started anew.
    let mut node = Node::new(plain(2, 1, 2), 1);
    let peer = node.peer();
    node.health.peer_incarnation(peer, incarnation(1));
    let waiting = node.open(100);
    let mut attempts = node.open(100);
    node.begin(&mut attempts);
    let next = node.health.outcome(at(1), attempts, perhaps(Class::NetworkTimeout));
    let Next::Again(mut attempts) = next else { panic!("it has another path") };
    node.health.peer_incarnation(peer, incarnation(2));
    let choice = node.health.choose(&attempts, &[]).unwrap();
    assert!(!node.health.begin(at(1), &mut attempts, &choice));
    let ended = node.health.give_up(attempts, NoPath::Tried);
    assert_eq!((ended.why, ended.delivery), (WhyEnded::MayHaveArrived, Delivery::Unknown));
    // Numbers go on: those given before and after must not meet.
    let mut fresh = node.open(100);
    let mut waiting = waiting;
    node.begin(&mut waiting);
    node.begin(&mut fresh);
    assert_ne!(waiting.number(), fresh.number());
    for attempts in [waiting, fresh] {
        let _ = node.health.outcome(at(1), attempts, End::OK);
    }
    assert_eq!(node.health.remaining(), 0);
}

#[test]
fn numbers_are_free_again_when_their_messages_have_ended() {
    // R45: else a peer that recognises copies would get numbers for the first messages only.
    use lnd_health::dedup::WIDTH;
    let mut node = Node::new(plain(1, 1, 1), 1);
    for n in 0..2 * WIDTH {
        let attempts = node.open(100);
        assert_eq!(attempts.number().map(|number| number.count()), Some(n));
        let (ended, _) = node.send(attempts, |_, _| (at(1), End::OK));
        assert_eq!(ended.class, Class::Ok);
    }
}

#[test]
fn what_is_ours_is_never_blamed_as_a_peer() {
    // LNet's test 216: a node that lists itself among its peers blames its own interfaces twice.
    let mut health = empty(plain(2, 2, 2));
    let (ours, theirs) = (nid(1, 1), nid(1, 2));
    health.add_local(ours).unwrap();
    let peer = health.add_peer(PeerSettings::default()).unwrap();
    assert_eq!(health.add_peer_ni(peer, ours), Err(Full::Known));
    health.add_peer_ni(peer, theirs).unwrap();
    assert_eq!(health.add_local(theirs), Err(Full::Known));
    health.remove_peer(peer).unwrap();
    health.add_local(theirs).unwrap();
}
