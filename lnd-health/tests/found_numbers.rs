// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Numbers and incarnations (R45): what use from outside has found, and the races beside it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::*;
use lnd_core::transfer::{Delivery, HealthClass as Class};
use lnd_health::attempts::Attempts;
use lnd_health::dedup::WIDTH;
use lnd_health::node::{End, HealthCounter, Next, PeerSettings, WhyEnded};
use lnd_health::select::NoPath;
use lnd_health::{PeerId, Stamp, WindowCheck};

/// Removes a node's only peer and adds it again under the same address.
fn again(node: &mut Node) -> PeerId {
    node.health.remove_peer(node.peers[0].0).unwrap();
    let settings = PeerSettings { suppresses: true, ..Default::default() };
    let again = node.health.add_peer(settings).unwrap();
    let ni = node.health.add_peer_ni(again, nid(0, 100)).unwrap();
    node.peers[0] = (again, vec![ni]);
    again
}

/// Begins a message and returns what its header carries.
fn begun(node: &mut Node, deadline: u64) -> (Attempts, Stamp) {
    let mut attempts = node.open(deadline);
    node.begin(&mut attempts);
    let stamp = node.health.stamp(&attempts).expect("it has a number");
    (attempts, stamp)
}

fn ended_ok(node: &mut Node, attempts: Attempts) {
    let Next::Ended(ended) = node.health.outcome(at(1), attempts, End::OK) else {
        panic!("delivered")
    };
    assert_eq!(ended.delivery, Delivery::Delivered);
}

/// Peer removed and added again (lnetctl peer del, add) while both sides keep their incarnations:
/// numbers must not begin anew in the receiver's window for our incarnation.
#[test]
fn a_peer_taken_up_again_in_the_same_incarnation_gets_no_old_numbers() {
    let mut sender = Node::new(plain(1, 1, 1), 1);
    let mut receiver = Node::new(plain(1, 1, 1), 1);
    let (to, from) = (sender.peer(), receiver.peer());
    sender.health.peer_incarnation(to, incarnation(7));
    receiver.health.peer_incarnation(from, incarnation(OWN));
    let mut lost = 0;
    for round in 0..2 {
        if round == 1 {
            let again = again(&mut sender);
            sender.health.peer_incarnation(again, incarnation(7));
        }
        for _ in 0..3 {
            let (attempts, stamp) = begun(&mut sender, 100);
            // What the documentation asks for: a second copy is dropped, its sender told "arrived".
            if receiver.health.arrived(from, stamp) != WindowCheck::First {
                lost += 1;
            }
            receiver.health.message_received(from, stamp);
            ended_ok(&mut sender, attempts);
        }
    }
    assert_eq!(lost, 0, "new messages dropped as second copies, their ends OK");
}

/// Messages opened before the peer's first handshake are numbered from 0; those after it go on.
#[test]
fn numbers_given_before_the_first_handshake_are_not_given_again() {
    let mut sender = Node::among_strangers(plain(1, 1, 1), 1);
    let mut receiver = Node::among_strangers(plain(1, 1, 1), 1);
    let (to, from) = (sender.peer(), receiver.peer());
    receiver.health.peer_incarnation(from, incarnation(OWN));
    let (first, one) = begun(&mut sender, 100); // submitted: waits in the driver for the handshake
                                                // The handshake; the driver flushes its queue.
    sender.health.peer_incarnation(to, incarnation(7));
    assert_eq!(receiver.health.arrived(from, one), WindowCheck::First);
    assert!(receiver.health.message_received(from, one));
    ended_ok(&mut sender, first);
    let (_second, two) = begun(&mut sender, 100);
    assert_eq!(receiver.health.arrived(from, two), WindowCheck::First, "lost, told OK");
}

/// A late handshake of a former incarnation must not bring that one back, nor clear the window.
#[test]
fn a_late_handshake_of_a_former_incarnation_does_not_clear_the_window() {
    let mut node = Node::new(plain(1, 1, 1), 1);
    let peer = node.peer();
    node.health.peer_incarnation(peer, incarnation(1));
    node.health.peer_incarnation(peer, incarnation(2));
    assert_eq!(node.health.arrived(peer, stamp(2, 0)), WindowCheck::First);
    assert!(node.health.message_received(peer, stamp(2, 0)));
    assert!(!node.health.peer_incarnation(peer, incarnation(1))); // was under way for long
    assert_eq!(node.health.peer(peer).unwrap().incarnation(), Some(incarnation(2)));
    assert_eq!(node.health.arrived(peer, stamp(1, 9)), WindowCheck::Stale, "it is over");
    node.health.peer_incarnation(peer, incarnation(2)); // the next frame of the living one
    assert_eq!(node.health.arrived(peer, stamp(2, 0)), WindowCheck::Second, "delivered twice");
}

/// A request arrives (noted), its pull fails; the sender sends it again by another path. It was not
/// received: a second copy is the first.
#[test]
fn a_request_whose_pull_failed_is_not_a_second_copy() {
    let mut node = Node::new(plain(1, 1, 1), 1);
    let peer = node.peer();
    node.health.peer_incarnation(peer, incarnation(1));
    assert_eq!(node.health.arrived(peer, stamp(1, 0)), WindowCheck::First);
    // … the pull of its payload fails: nothing was given to the upper layer.
    assert!(node.health.message_not_received(peer, stamp(1, 0)));
    assert_eq!(node.health.arrived(peer, stamp(1, 0)), WindowCheck::First, "lost, told arrived");
}

/// The second copy overtakes the first one's pull: neither "arrived" nor a second delivery.
#[test]
fn a_copy_that_comes_while_the_first_is_coming_is_neither_arrived_nor_delivered() {
    for good in [true, false] {
        let mut node = Node::new(plain(1, 1, 1), 1);
        let (peer, it) = (node.peer(), stamp(1, 0));
        node.health.peer_incarnation(peer, incarnation(1));
        assert_eq!(node.health.arrived(peer, it), WindowCheck::First);
        assert_eq!(node.health.arrived(peer, it), WindowCheck::Coming);
        assert_eq!(node.health.tally().value(HealthCounter::Copies), 1);
        let (after, ended) = if good {
            (WindowCheck::Second, node.health.message_received(peer, it))
        } else {
            (WindowCheck::First, node.health.message_not_received(peer, it))
        };
        assert!(ended);
        assert_eq!(node.health.arrived(peer, it), after);
    }
}

/// The *receiver* removes the sender and adds it again. A copy that was on its way meanwhile is a
/// second copy all the same, and what was coming stays refused: its end can no longer be reported.
#[test]
fn a_receiver_that_removes_its_peer_remembers_what_has_arrived() {
    let mut node = Node::new(plain(1, 1, 1), 1);
    let peer = node.peer();
    node.health.peer_incarnation(peer, incarnation(1));
    node.health.peer_incarnation(peer, incarnation(2));
    for count in [0, 1] {
        assert_eq!(node.health.arrived(peer, stamp(2, count)), WindowCheck::First);
    }
    assert!(node.health.message_received(peer, stamp(2, 0)));
    let old = node.peer();
    let peer = again(&mut node);
    assert!(!node.health.message_received(old, stamp(2, 1)), "a stale name");
    assert_eq!(node.health.arrived(peer, stamp(2, 0)), WindowCheck::Second);
    assert_eq!(node.health.arrived(peer, stamp(2, 1)), WindowCheck::Coming);
    assert!(!node.health.peer_incarnation(peer, incarnation(2)), "it is known");
    assert!(!node.health.peer_incarnation(peer, incarnation(1)), "it is over");
    assert_eq!(node.health.arrived(peer, stamp(2, 2)), WindowCheck::First);
    // It has started anew while it was removed: its numbers begin anew.
    let peer = again(&mut node);
    assert!(node.health.peer_incarnation(peer, incarnation(3)));
    assert_eq!(node.health.arrived(peer, stamp(3, 0)), WindowCheck::First);
}

/// Several peers are removed, and added again in another order and with another peer between them.
#[test]
fn memories_go_with_their_nodes_and_not_with_the_entries() {
    let mut health = empty(plain(1, 4, 1));
    health.add_local(nid(0, 1)).unwrap();
    let settings = PeerSettings { suppresses: true, ..Default::default() };
    let add = |health: &mut lnd_health::Health<'_>, n: u32| {
        let peer = health.add_peer(settings).unwrap();
        health.add_peer_ni(peer, nid(0, 100 + n)).unwrap();
        peer
    };
    let peers: Vec<PeerId> = (0..3).map(|n| add(&mut health, n)).collect();
    for (n, &peer) in (0..).zip(&peers) {
        // All three happen to be in incarnations of the same number.
        health.peer_incarnation(peer, incarnation(5));
        assert_eq!(health.arrived(peer, stamp(5, n)), WindowCheck::First);
        assert!(health.message_received(peer, stamp(5, n)));
    }
    for &peer in &peers {
        health.remove_peer(peer).unwrap();
    }
    let stranger = add(&mut health, 9);
    for n in [2, 0, 1] {
        let peer = add(&mut health, n);
        assert_eq!(health.peer(peer).unwrap().incarnation(), Some(incarnation(5)), "{n}");
        for count in 0..3 {
            let check = health.arrived(peer, stamp(5, count));
            let expected = if count == n { WindowCheck::Second } else { WindowCheck::First };
            assert_eq!(check, expected, "number {count} of node {n}");
        }
    }
    assert_eq!(health.peer(stranger).unwrap().incarnation(), None);
    assert_eq!(health.arrived(stranger, stamp(5, 0)), WindowCheck::Stale);
    assert_eq!(health.audit(), Ok(()));
}

/// A copy may have arrived at the peer's former incarnation; the resend reaches the new one before
/// the sender hears of it. The new one refuses it.
#[test]
fn a_resend_in_doubt_is_for_the_incarnation_that_may_have_it() {
    let mut sender = Node::new(plain(2, 1, 2), 1);
    let to = sender.peer();
    sender.health.peer_incarnation(to, incarnation(7));
    let (attempts, first) = begun(&mut sender, 100);
    assert_eq!(first.to, None, "nothing can have arrived yet: good for whatever is there");
    let next = sender.health.outcome(at(1), attempts, perhaps(Class::NetworkTimeout));
    let Next::Again(mut attempts) = next else { panic!("it has another path") };
    sender.begin(&mut attempts);
    let second = sender.health.stamp(&attempts).unwrap();
    assert_eq!((second.to, second.number), (Some(incarnation(7)), first.number));
    let _ = sender.health.give_up(attempts, NoPath::Tried);

    for (own, expected) in [(7, WindowCheck::First), (8, WindowCheck::Stale)] {
        let mut config = plain(1, 1, 1);
        config.incarnation = Some(incarnation(own));
        let mut receiver = Node::new(config, 1);
        let from = receiver.peer();
        receiver.health.peer_incarnation(from, incarnation(OWN));
        assert_eq!(receiver.health.arrived(from, second), expected, "incarnation {own}");
    }
}

/// The peer starts anew while a message waits: what surely has not arrived goes to the new
/// incarnation under its number, what may have arrived does not.
#[test]
fn numbers_go_on_when_the_peer_starts_anew() {
    let mut sender = Node::new(plain(2, 1, 2), 1);
    let to = sender.peer();
    sender.health.peer_incarnation(to, incarnation(7));
    for _ in 0..2 * WIDTH {
        let (attempts, _) = begun(&mut sender, 100);
        ended_ok(&mut sender, attempts);
    }
    let (sure, old) = begun(&mut sender, 100);
    let (uncertain, _) = begun(&mut sender, 100);
    sender.health.peer_incarnation(to, incarnation(8));
    let Next::Ended(ended) =
        sender.health.outcome(at(1), uncertain, perhaps(Class::NetworkTimeout))
    else {
        panic!("sent to the new incarnation")
    };
    assert_eq!(ended.why, WhyEnded::MayHaveArrived);
    let next = sender.health.outcome(at(1), sure, surely(Class::LocalDropped));
    let Next::Again(mut sure) = next else { panic!("it has another path") };
    sender.begin(&mut sure);
    assert_eq!(sender.health.stamp(&sure).unwrap(), old);
    let (_after, new) = begun(&mut sender, 100);

    // The new incarnation has no window yet; the later message overtakes the earlier one.
    let mut receiver = Node::new(plain(1, 1, 1), 1);
    let from = receiver.peer();
    receiver.health.peer_incarnation(from, incarnation(OWN));
    assert_eq!(receiver.health.arrived(from, new), WindowCheck::First);
    assert_eq!(receiver.health.arrived(from, old), WindowCheck::First);
}

/// Without an incarnation of its own a node gives no numbers, and repeats nothing in doubt.
#[test]
fn without_an_incarnation_there_are_no_numbers() {
    let mut config = plain(2, 1, 2);
    config.incarnation = None;
    let mut node = Node::new(config, 1);
    let attempts = node.open(100);
    assert_eq!((attempts.number(), node.health.stamp(&attempts)), (None, None));
    let (ended, _) = node.send(attempts, |_, _| (at(1), perhaps(Class::NetworkTimeout)));
    assert_eq!((ended.tries, ended.why), (1, WhyEnded::MayHaveArrived));
}

/// Before the first handshake it is not known which incarnation may have a copy: none is sent
/// again.
#[test]
fn what_may_have_arrived_at_a_stranger_is_not_sent_again() {
    for (known, tries, why) in
        [(false, 1, WhyEnded::MayHaveArrived), (true, 2, WhyEnded::Delivered)]
    {
        let mut node = Node::among_strangers(plain(2, 1, 2), 1);
        if known {
            let peer = node.peer();
            node.health.peer_incarnation(peer, incarnation(7));
        }
        let (attempts, _) = begun(&mut node, 100);
        // Known too late: it may have been another incarnation that has a copy.
        let peer = node.peer();
        node.health.peer_incarnation(peer, incarnation(7));
        let ended = match node.health.outcome(at(1), attempts, perhaps(Class::NetworkTimeout)) {
            Next::Again(attempts) => node.send(attempts, |_, _| (at(1), End::OK)).0,
            Next::Ended(ended) => ended,
            other @ Next::Later(..) => panic!("{other:?}"),
        };
        assert_eq!((ended.tries, ended.why), (tries, why));
    }
}

/// An incarnation without an address would be remembered under no name.
#[test]
fn a_peer_has_an_interface_before_it_has_an_incarnation() {
    let mut health = empty(plain(1, 1, 1));
    let peer = health.add_peer(PeerSettings::default()).unwrap();
    assert!(!health.peer_incarnation(peer, incarnation(1)));
    assert_eq!(health.arrived(peer, stamp(1, 0)), WindowCheck::Stale);
    health.add_peer_ni(peer, nid(0, 9)).unwrap();
    assert!(health.peer_incarnation(peer, incarnation(1)));
    assert_eq!(health.arrived(peer, stamp(1, 0)), WindowCheck::First);
}
