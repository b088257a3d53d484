// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Whom the end of a try costs health (S4-5 to S4-18, decision 0011), cell by cell, by what a
//! node's tables show afterwards. The oracle is written from the requirements: who or what has
//! spoken, and whether that names an interface.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::*;
use lnd_core::driver::Why;
use lnd_core::fragment::FragmentError;
use lnd_core::transfer::{Cause, Place, Policy, Status};
use lnd_health::node::{End, Next, PeerSettings};
use lnd_health::{refusal, refusal_of_errno, Charge, NiStatus, Object};

/// S4-5: which of the three classes of failure an end is evidence of, if of any.
fn oracle(cause: Cause, place: Place) -> Charge {
    match cause {
        // S4-6: the fabric reports our link. It makes no difference how far the message had come.
        Cause::LinkDown => Charge::OurNi,
        // S4-11: the peer's interface answers no more.
        Cause::PeerDown => Charge::PeerNi,
        // S4-3, S4-16: transmit time-outs. What never left our queue was not transmitted; what lies
        // ready and untouched was not taken by the peer (S4-11); of the rest it is not known.
        Cause::Deadline => match place {
            Place::Queue => Charge::None,
            Place::Staged => Charge::PeerNi,
            Place::Message | Place::Answer | Place::Moving => Charge::Path,
        },
        // A report of the fabric about one transfer: at our end before anything has left (S4-6);
        // about the far end where it is known not to have arrived (S4-11); else not deterministic
        // (S4-16).
        Cause::Channel => match place {
            Place::Queue => Charge::OurNi,
            Place::Message | Place::Staged => Charge::PeerNi,
            Place::Answer | Place::Moving => Charge::Path,
        },
        Cause::Device => match place {
            Place::Queue | Place::Message => Charge::OurNi,
            Place::Staged => Charge::PeerNi,
            Place::Answer | Place::Moving => Charge::Path,
        },
        // What a connection was moving when it went: not deterministic (S4-16). The rest went with
        // it.
        Cause::ConnectionDown => match place {
            Place::Queue | Place::Message | Place::Staged => Charge::None,
            Place::Answer | Place::Moving => Charge::Path,
        },
        // None of the three classes: no interface has failed.
        Cause::PeerRestarted
        | Cause::Shutdown
        | Cause::Withdrawn
        | Cause::Refused
        | Cause::Local
        | Cause::Protocol => Charge::None,
    }
}

/// What a charge takes from ours and from the peer's, where both have several interfaces.
fn lost(charge: Charge) -> (u32, u32) {
    match charge {
        Charge::None => (0, 0),
        Charge::OurNi => (100, 0),
        Charge::PeerNi => (0, 100),
        Charge::Path => (100, 100),
    }
}

/// Health lost by our interfaces, and by the first peer's.
fn paid(node: &Node) -> (u32, u32) {
    let (ours, theirs) = node.values();
    let lost = |values: Vec<u16>| values.into_iter().map(|v| 1000 - u32::from(v)).sum();
    (lost(ours), lost(theirs))
}

#[test]
fn every_cause_at_every_place() {
    for cause in Cause::ALL {
        for place in Place::ALL {
            // S4-5: each end is of one class, or of none.
            let expected = oracle(cause, place);
            assert_eq!(Charge::of(cause, place), expected, "{cause:?} {place:?}");
            let status = Status::of(Policy::Seed, cause, place);
            // 0, the message may go on; past its deadline it is evidence all the same (S4-3).
            for end in [1, 100] {
                let mut node = Node::new(plain(2, 1, 2), 1);
                let mut attempts = node.open(100);
                node.begin(&mut attempts);
                let _ = node.health.outcome(at(end), attempts, End::of(&status));
                assert_eq!(paid(&node), lost(expected), "{cause:?} {place:?} at {end} s");
            }
        }
    }
}

/// Decision 0011, S4-12: only evidence that names an interface takes it down, however often it
/// comes.
#[test]
fn only_evidence_that_names_an_interface_takes_it_down() {
    for cause in Cause::ALL {
        for place in Place::ALL {
            let status = Status::of(Policy::Seed, cause, place);
            let mut node = Node::new(plain(2, 1, 2), 1);
            for _ in 0..100 {
                let mut attempts = node.open(100);
                let Ok(choice) = node.health.choose(&attempts, &[]) else {
                    let _ = node.health.give_up(attempts, lnd_health::select::NoPath::Unusable);
                    break;
                };
                assert!(node.health.begin(at(0), &mut attempts, &choice));
                let _ = node.health.outcome(at(1), attempts, End::of(&status));
            }
            let charge = oracle(cause, place);
            let down = |object| node.health.ni(object).unwrap().status() == NiStatus::Down;
            let ours = (0..2).map(local).map(Object::Local).any(down);
            let theirs = node.peers[0].1.iter().copied().map(Object::Peer).any(down);
            assert_eq!(ours, charge == Charge::OurNi, "{cause:?} {place:?}: ours");
            let named = matches!(charge, Charge::PeerNi | Charge::Path);
            assert_eq!(theirs, named, "{cause:?} {place:?}: the peer's");
        }
    }
}

/// S4-6: while the fabric reports our interface, what fails over it is not held against the peer.
#[test]
fn our_own_fault_is_not_charged_to_the_peer() {
    for cause in Cause::ALL {
        for place in Place::ALL {
            let status = Status::of(Policy::Seed, cause, place);
            let mut node = Node::new(plain(2, 1, 2), 1);
            let mut attempts = node.open(100);
            let path = node.begin(&mut attempts);
            node.health.fatal(at(1), path.local, true);
            let _ = node.health.outcome(at(1), attempts, End::of(&status));
            assert_eq!(paid(&node).1, 0, "{cause:?} {place:?}");
        }
    }
}

/// Every refusal: whom it costs, and whether the message may go on. Neither back-pressure nor what
/// the caller did wrong costs health.
#[test]
fn every_refusal() {
    for (why, expected, again) in [
        (Why::Fragments(FragmentError::TooMany), Charge::None, false),
        (Why::BadAddress, Charge::None, false),
        (Why::HeaderTooLong, Charge::None, false),
        (Why::TooLong, Charge::None, false),
        (Why::WrongKind, Charge::None, false),
        (Why::BadLink, Charge::None, false),
        (Why::ShuttingDown, Charge::None, false),
        (Why::DeadlinePassed, Charge::None, true),
        (Why::NoRoute, Charge::None, true),
        (Why::PeersFull, Charge::None, true),
        (Why::NoSlots, Charge::None, true),
        (Why::NoLists, Charge::None, true),
        (Why::StalePeer, Charge::None, true),
        // S4-11: the one refusal that is evidence of an interface.
        (Why::PeerDown, Charge::PeerNi, true),
    ] {
        let mut node = Node::new(plain(2, 1, 2), 1);
        let mut attempts = node.open(100);
        node.begin(&mut attempts);
        let next = node.health.refused(at(1), attempts, refusal(why));
        assert_eq!(paid(&node), lost(expected), "{why:?}");
        assert_eq!(!matches!(next, Next::Ended(_)), again, "{why:?}: {next:?}");
        // An LND that knows only the errno says the same; but ESTALE of others is of a connection.
        if why == Why::StalePeer {
            continue;
        }
        let (by_errno, by_why) = (refusal_of_errno(why.errno()), refusal(why));
        assert_eq!((by_errno.charge, by_errno.again), (by_why.charge, by_why.again), "{why:?}");
    }
    // ENETDOWN, EIO, ENXIO and ENODEV name our interface; an errno that says nothing costs nothing.
    for (errno, expected) in [(-100, Charge::OurNi), (-5, Charge::OurNi), (-6, Charge::OurNi)] {
        assert_eq!(refusal_of_errno(errno).charge, expected, "{errno}");
    }
    assert_eq!(refusal_of_errno(-19).charge, Charge::OurNi);
    assert_eq!(refusal_of_errno(-1).charge, Charge::None);
    assert_eq!(refusal_of_errno(-12).charge, Charge::None);
}

/// The same for recovery pings: pinging a peer without credits must not cost our interface its
/// health.
#[test]
fn a_ping_is_charged_like_a_message() {
    for cause in Cause::ALL {
        for place in Place::ALL {
            let status = Status::of(Policy::Seed, cause, place);
            let mut node = Node::new(plain(2, 1, 2), 1);
            let ill = Object::Peer(node.peers[0].1[0]);
            node.health.set_health(at(0), ill, lnd_health::HealthValue::new(500));
            let Some(lnd_health::node::Action::Ping(ping)) = node.health.next_action(at(1)) else {
                panic!("it is not well")
            };
            node.health.answered(at(2), ping, End::of(&status));
            let (ours, theirs) = paid(&node);
            let charge = oracle(cause, place);
            // Whom a ping is for is known to be ill: what names neither end is not charged to ours.
            assert_eq!(ours, if charge == Charge::OurNi { 100 } else { 0 }, "{cause:?} {place:?}");
            assert_eq!(theirs, 500 + lost(charge).1, "{cause:?} {place:?}");
        }
    }
    // One that our driver had no room for.
    for why in [Why::NoSlots, Why::PeersFull, Why::NoRoute, Why::DeadlinePassed] {
        let mut node = Node::with(plain(2, 1, 2), 1, PeerSettings::default());
        let ill = Object::Peer(node.peers[0].1[0]);
        node.health.set_health(at(0), ill, lnd_health::HealthValue::new(500));
        let Some(lnd_health::node::Action::Ping(ping)) = node.health.next_action(at(1)) else {
            panic!("it is not well")
        };
        node.health.answered(at(1), ping, refusal(why));
        assert_eq!(paid(&node), (0, 500), "{why:?}");
    }
}

/// R43: `lnet-compat` goes by the class of an end alone, as LNet does.
#[test]
fn lnet_goes_by_the_class_alone() {
    let status = Status::of(Policy::Seed, Cause::Deadline, Place::Queue);
    let mut node = Node::new(plain(2, 1, 2).lnet_compat(), 1);
    let mut attempts = node.open(100);
    node.begin(&mut attempts);
    let _ = node.health.outcome(at(1), attempts, End::of(&status));
    assert_eq!(paid(&node), (100, 0), "LOCAL_TIMEOUT");
}
