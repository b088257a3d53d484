// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Hellos of incarnations other than the one that has answered, and hellos while ours asks (S0-14,
//! decision 0018).

use lnd_core::counters::Counter;
use lnd_core::id::Incarnation;
use lnd_core::message::Message;
use lnd_core::peer::HelloState;

use super::hello::{forged, hello};
use super::world::World;

fn another(number: u64) -> Incarnation {
    Incarnation::from_raw(1_000 + number).unwrap()
}

/// The goodbye of a second incarnation takes the place in which the hello of a third one would be
/// noted. That one repeats its hello, and each repetition looks like the first.
#[test]
fn r31_a_claim_that_finds_no_room_asks_once_however_often_it_comes() {
    let mut w = World::met();
    let mut goodbye = forged(&w, 1, 0, &Message::Close);
    goodbye.envelope.from_incarnation = another(2);
    assert!(w.hand(&goodbye));
    let mut claim = forged(&w, 1, 0, &hello());
    claim.envelope.from_incarnation = another(3);
    w.hold("hello_ack");
    for _ in 0..3 {
        assert!(w.hand(&claim));
        w.settle();
        assert_eq!((w.said(0, 1, "hello"), w.state(0, 1)), (1, HelloState::Handshake));
    }
    // The answer that was under way meanwhile is that of the present attempt.
    w.free("hello_ack");
    w.settle();
    assert_eq!((w.said(0, 1, "hello"), w.state(0, 1)), (1, HelloState::Good));
    assert_eq!(w.count(0, Counter::PeersRestarted), 0);
}

/// A hello that names a former incarnation of ours makes us ask, but not while we ask.
#[test]
fn r31_a_peer_that_has_forgotten_us_does_not_make_us_ask_again_while_we_ask() {
    let mut w = World::new(2);
    w.hold("hello_ack");
    w.put(0, 1, 10).unwrap();
    w.settle();
    assert_eq!((w.said(0, 1, "hello"), w.state(0, 1)), (1, HelloState::Handshake));
    let mut late = forged(&w, 1, 0, &hello());
    late.envelope.to_incarnation = Some(another(1));
    for _ in 0..3 {
        assert!(w.hand(&late));
        w.settle();
        assert_eq!((w.said(0, 1, "hello"), w.state(0, 1)), (1, HelloState::Handshake));
    }
}

/// A session is counted from its first hello. A repetition may carry a later number, and what was
/// sent in between is still in the channel.
#[test]
fn s0_18_a_repeated_claim_does_not_move_the_begin_of_its_session() {
    let mut w = World::met();
    w.reboot(1);
    w.hold("hello_ack");
    let tag = w.put(1, 0, 10).unwrap();
    w.settle();
    assert_eq!(w.state(0, 1), HelloState::Handshake, "we ask first");
    let mut again = forged(&w, 1, 0, &hello());
    again.envelope.session = w.nodes[1].driver.peer_view(0).unwrap().session;
    (again.envelope.sequence, again.envelope.to_incarnation) = (3, None);
    assert!(w.hand(&again));
    w.settle();
    let before = w.nodes[0].done.len();
    w.free("hello_ack");
    w.settle();
    assert_eq!((w.report(1, tag).status.errno, w.nodes[0].done.len()), (0, before + 1));
    assert_eq!((w.count(0, Counter::Duplicate), w.count(0, Counter::PeersRestarted)), (0, 1));
}
