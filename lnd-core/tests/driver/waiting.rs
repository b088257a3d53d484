// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What waits, and what holds slots: pulls behind others of their peer, and a peer's share (R25,
//! INV-12).

use lnd_core::config::Config;
use lnd_core::counters::Counter;
use lnd_core::driver::Kind;
use lnd_core::id::Tag;
use lnd_core::peer::HelloState;
use lnd_core::ports::Sent;
use lnd_core::time::Instant;

use super::device::OnInvalidate;
use super::fabric::nid;
use super::hello::hold_off;
use super::late::take;
use super::letter::Letter;
use super::node::{Decision, Order};
use super::parked::promised;
use super::peer_down::devices;
use super::world::{config, World, LINK0};

/// Two GETs whose PULL_READY has come, the end of neither request being told: the second pull waits
/// for the first, which does not end.
fn waiting_pull() -> (World, Tag) {
    let mut w = World::met_with(Config { pulls: 1, ..config() });
    w.device(0, 0, |d| d.frozen = true);
    let order =
        Order { deadline: Instant::NEVER, link: Some(LINK0), ..w.order(Kind::Get, 1, 5000) };
    let tags = [(); 2].map(|()| w.send(0, order).unwrap());
    w.settle_untold();
    assert_eq!((w.count(0, Counter::PullsWaited), w.device(0, 0, |d| d.calls.posts)), (1, 1));
    (w, tags[1])
}

/// R40: a pull that is given up while it waits for its turn is awaited no longer than the drain
/// bound.
#[test]
fn r40_the_wait_for_a_given_up_pulls_request_is_bounded() {
    let (mut w, tag) = waiting_pull();
    assert_eq!(w.nodes[0].next, None);
    let now = w.now;
    w.nodes[0].driver.withdraw(now, tag);
    w.settle_untold();
    assert!(!w.reported(0, tag), "INV-5");
    assert_eq!(w.nodes[0].next, Some(now.after(w.config.drain_bound)));
    w.node(0).on_sent(tag, Sent::Ok);
    w.settle_untold();
    assert_eq!((w.report(0, tag).status.errno, w.nodes[0].next), (-125, None));
}

/// Its request has failed meanwhile, as the channel says: in its turn it ends, and nothing is
/// posted.
#[test]
fn a_waiting_pull_ends_with_its_request() {
    let (mut w, tag) = waiting_pull();
    w.node(0).on_sent(tag, Sent::NotDelivered);
    w.settle_untold();
    w.device(0, 0, |d| d.frozen = false);
    w.settle();
    assert_ne!(w.report(0, tag).status.errno, 0);
    assert_eq!(w.device(0, 0, |d| d.calls.posts), 1);
}

/// INV-12, INV-14: requests that were taken have slots as long as they last, and a peer has no more
/// than twice its credits.
#[test]
fn inv_12_what_was_taken_counts_for_a_peers_share() {
    let mut w = World::met_with(Config { depth: 2, pulls: 1, ..config() });
    devices(&w, 0, true, OnInvalidate::Never);
    for _ in 0..8 {
        w.put(1, 0, 5000).unwrap();
    }
    w.settle();
    assert_eq!(w.nodes[0].driver.in_use(), (0, 4));
}

/// The state of a peer changes under a request that waits in the channel: its sender is asked at
/// once.
#[test]
fn a_parked_request_is_asked_for_when_the_operator_says_up() {
    let mut w = World::met();
    w.hold("hello");
    w.notify_peer(0, 1, false);
    w.settle();
    let tag = w.put(1, 0, 10).unwrap();
    // The first silence.
    w.sleep(hold_off(&w));
    assert_eq!((w.state(0, 1), w.count(0, Counter::Waited) > 0), (HelloState::Down, true));
    w.fabric.borrow_mut().wire.retain(|letter| letter.kind() != "hello");
    w.free("hello");
    let now = w.now;
    w.node(0).driver.on_peer(now, nid(1), true);
    let next = w.node(0).on_time();
    assert_eq!(w.state(0, 1), HelloState::Handshake);
    assert!(next.is_some());
    w.settle();
    assert_eq!((w.report(1, tag).status.errno, w.count(0, Counter::Requests)), (0, 1));
    w.assert_drained();
}

/// A node whose request waits has the free place at once. Only one that finds none is counted.
#[test]
fn a_node_that_finds_a_place_is_not_counted_as_one_without() {
    let (mut w, letters) = promised(3);
    let before = w.said(0, 1, "hello");
    assert!(!w.hand(&letters[0]));
    assert_eq!((w.said(0, 1, "hello") - before, w.count(0, Counter::PeersFull)), (1, 0));
    assert!(!w.hand(&letters[1]));
    assert_eq!((w.peer(0, 2), w.count(0, Counter::PeersFull)), (None, 1));
}

/// S0-18: a request that ends without a slot keeps its sender's place no longer: the node that
/// waits has it at once.
#[test]
fn s0_18_a_place_is_had_when_its_owners_request_has_ended_without_a_slot() {
    let (mut w, letters) = promised(3);
    w.fabric.borrow_mut().ends_at_once = true;
    assert!(!w.hand(&letters[0]));
    w.settle();
    assert!(!w.hand(&letters[1]), "no place");
    w.settle();
    assert_eq!((w.state(0, 1), w.peer(0, 2)), (HelloState::Good, None));
    assert!(w.hand(&letters[0]));
    assert_eq!(w.nodes[0].driver.in_use(), (0, 0));
    w.settle();
    assert_eq!(w.state(0, 2), HelloState::Good);
}

/// Node 0 has one place. A dead node with a request that waits was silent twice, and has lost the
/// place to another one whose request was taken. The letter of the dead node, and when it lost the
/// place.
fn displaced(nodes: usize, dead: usize, other: usize) -> (World, Vec<Letter>, Instant) {
    let (mut w, letters) = promised(nodes);
    w.kill(dead);
    for _ in 0..2 {
        assert!(!w.hand(&letters[dead - 1]));
        w.sleep(hold_off(&w).times(2));
    }
    assert!(!w.hand(&letters[dead - 1]));
    while w.state(0, dead) != HelloState::Down {
        w.sleep(w.config.hello_timeout);
    }
    assert!(!w.hand(&letters[other - 1]));
    while w.peer(0, other).is_none() {
        let next = w.nodes[0].next.unwrap();
        w.sleep_until(next);
    }
    let lost = w.now;
    w.settle();
    assert_eq!(w.state(0, other), HelloState::Good);
    assert!(w.hand(&letters[other - 1]));
    w.settle();
    (w, letters, lost)
}

/// R68: one that has lost its place and is offered again is asked at the end of its longer
/// hold-off, though nothing else happens then.
#[test]
fn r68_a_node_that_has_lost_its_place_is_asked_when_its_hold_off_ends() {
    let (mut w, letters, lost) = displaced(3, 1, 2);
    let before = w.said(0, 1, "hello");
    assert!(!w.hand(&letters[0]));
    let free = w.nodes[0].driver.next_time(w.now).unwrap();
    assert!(free >= lost.after(hold_off(&w)), "as of one that was never silent");
    w.sleep_until(Instant::from_nanos(free.as_nanos() - 1));
    assert_eq!(w.said(0, 1, "hello"), before);
    w.sleep_until(free);
    assert_eq!(w.said(0, 1, "hello"), before + 1);
}

/// One that has lost its place and is not offered again takes no other one's.
#[test]
fn a_node_that_is_not_offered_again_takes_no_place() {
    let (mut w, _, _) = displaced(3, 1, 2);
    let before = w.said(0, 1, "hello");
    w.sleep(hold_off(&w).times(100));
    w.put(2, 0, 10).unwrap();
    w.sleep(hold_off(&w).times(100));
    assert_eq!((w.said(0, 1, "hello"), w.state(0, 2)), (before, HelloState::Good));
}

/// S0-18: a node that was silent waits behind one that was not, whatever their NIDs are.
#[test]
fn s0_18_a_silent_node_waits_behind_one_that_was_not_silent() {
    let (mut w, letters, _) = displaced(4, 3, 2);
    assert!(!w.hand(&letters[2]));
    assert!(!w.hand(&letters[0]));
    w.settle();
    assert_eq!(w.state(0, 1), HelloState::Good);
    assert!(w.hand(&letters[0]));
}

/// S0-18: the node that had a place last waits behind all others.
#[test]
fn s0_18_the_node_that_had_a_place_last_waits_behind_the_others() {
    let (mut w, letters) = promised(4);
    assert!(!w.hand(&letters[1]));
    w.settle();
    assert!(w.hand(&letters[1]));
    w.hold("immediate");
    w.put(2, 0, 10).unwrap();
    w.settle();
    let again = take(&w, 2, "immediate").unwrap();
    w.free("immediate");
    // Node 3 has the place by its hello, for which it need not wait.
    let now = w.now;
    w.node(3).driver.ask_peer(now, nid(0));
    w.settle();
    w.node(0).put = Decision::Keep;
    w.put(3, 0, 5000).unwrap();
    w.settle();
    assert_eq!((w.nodes[0].kept.len(), w.peer(0, 2)), (1, None));
    for letter in [&again, &letters[0]] {
        assert!(!w.hand(letter), "no place");
    }
    w.settle();
    w.node(0).answer_kept(5000).unwrap();
    w.settle();
    assert_eq!((w.state(0, 1), w.peer(0, 2)), (HelloState::Good, None));
}

/// A peer that was silent, and of which no request waits, has lost its place. When it has promised
/// a request after all, it is asked as one that was never silent.
#[test]
fn a_silence_does_not_outlive_a_place_for_which_nothing_waits() {
    let (mut w, letters) = promised(3);
    assert!(!w.hand(&letters[0]));
    w.settle();
    assert!(w.hand(&letters[0]));
    w.hold("immediate");
    w.put(1, 0, 10).unwrap();
    w.settle();
    let again = take(&w, 1, "immediate").unwrap();
    w.free("immediate");
    w.notify_peer(0, 1, false);
    w.sleep(hold_off(&w));
    w.hold("hello");
    for _ in 0..3 {
        w.put(0, 1, 10).unwrap();
        w.sleep(hold_off(&w).times(2));
    }
    assert_eq!(w.state(0, 1), HelloState::Down);
    w.fabric.borrow_mut().wire.clear();
    w.free("hello");
    w.put(2, 0, 0).unwrap();
    w.settle();
    assert_eq!((w.state(0, 2), w.peer(0, 1)), (HelloState::Good, None));
    let before = w.said(0, 1, "hello");
    assert!(!w.hand(&again));
    assert_eq!(w.said(0, 1, "hello"), before + 1);
    w.settle();
    assert!(w.hand(&again));
}

/// A node that waits until its hold-off ends is not forgotten for another one that has the place
/// meanwhile.
#[test]
fn s0_18_a_node_that_waits_is_not_forgotten_for_another_one() {
    let (mut w, letters, _) = displaced(4, 1, 2);
    assert!(!w.hand(&letters[0]));
    let free = w.nodes[0].driver.next_time(w.now).unwrap();
    let (now, before) = (w.now, w.said(0, 1, "hello"));
    w.node(3).driver.ask_peer(now, nid(0));
    w.settle();
    assert_eq!((w.state(0, 3), w.said(0, 1, "hello")), (HelloState::Good, before));
    w.sleep_until(free);
    assert_eq!(w.said(0, 1, "hello"), before + 1);
}

/// Node 2 has the one place, and node 1 waits for it. The place can be had, and the driver has not
/// looked at the clock since.
fn can_be_had(nodes: usize) -> (World, Vec<Letter>) {
    let (mut w, letters) = promised(nodes);
    assert!(!w.hand(&letters[1]));
    w.settle();
    assert!(w.hand(&letters[1]));
    w.node(0).put = Decision::Keep;
    w.put(2, 0, 5000).unwrap();
    w.settle();
    assert!(!w.hand(&letters[0]), "no place");
    w.settle();
    assert_eq!((w.nodes[0].kept.len(), w.peer(0, 1)), (1, None));
    w.hold("hello");
    let now = w.now;
    for node in (1..nodes).filter(|&node| node != 2) {
        w.node(node).driver.ask_peer(now, nid(0));
        w.node(node).on_time();
    }
    w.free("hello");
    w.node(0).answer_kept(5000).unwrap();
    w.node(0).driver.ring();
    w.devices();
    w.interrupts();
    w.fetch();
    assert_eq!(w.nodes[0].driver.in_use(), (0, 0));
    (w, letters)
}

/// S0-14: the hello of the node that waits for a place has that place, and it is had once.
#[test]
fn s0_14_the_hello_of_the_node_that_waits_has_its_place() {
    let (mut w, letters) = can_be_had(3);
    let before = w.said(0, 1, "hello");
    let hello = take(&w, 1, "hello").unwrap();
    assert!(w.hand(&hello));
    w.settle();
    assert_eq!((w.state(0, 1), w.count(0, Counter::HellosRefused)), (HelloState::Good, 0));
    assert!(w.hand(&letters[0]));
    w.sleep(hold_off(&w).times(2));
    assert_eq!((w.said(0, 1, "hello") - before, w.state(0, 1)), (1, HelloState::Good));
}

/// S0-18: the hello of another one does not.
#[test]
fn s0_18_a_hello_does_not_pass_the_node_that_waits() {
    let (mut w, _) = can_be_had(4);
    let hello = take(&w, 3, "hello").unwrap();
    assert!(w.hand(&hello));
    assert!(w.peer(0, 1).is_some() && w.peer(0, 3).is_none());
}

/// S0-18: a node that has lost its place and is not offered again keeps no other one from waiting.
#[test]
fn s0_18_a_node_that_is_not_offered_again_keeps_none_from_waiting() {
    let (mut w, letters) = promised(4);
    w.hold("hello");
    assert!(!w.hand(&letters[2]));
    w.notify_peer(0, 3, false);
    w.fabric.borrow_mut().wire.clear();
    w.free("hello");
    assert!(!w.hand(&letters[1]));
    w.sleep(hold_off(&w));
    assert_eq!((w.state(0, 2), w.peer(0, 3)), (HelloState::Good, None));
    assert!(w.hand(&letters[1]));
    w.node(0).put = Decision::Keep;
    w.put(2, 0, 5000).unwrap();
    w.settle();
    assert!(!w.hand(&letters[0]), "no place");
    w.settle();
    assert_eq!((w.nodes[0].kept.len(), w.peer(0, 1)), (1, None));
    w.node(0).answer_kept(5000).unwrap();
    w.settle();
    assert_eq!(w.state(0, 1), HelloState::Good);
}
