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
use super::node::Order;
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
