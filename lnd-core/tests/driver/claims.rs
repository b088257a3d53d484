// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Hellos of incarnations other than the one that has answered, and hellos while ours asks (S0-14,
//! decision 0018).

use lnd_core::counters::Counter;
use lnd_core::id::Incarnation;
use lnd_core::message::Message;
use lnd_core::peer::HelloState;

use super::fabric::nid;
use super::hello::{forged, hello, hold_off};
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

/// A peer that names an earlier incarnation of ours waits for our hello. So our attempt lasts as
/// long as the peer asks, and ends `hello_tries` after that.
#[test]
fn s0_18_an_attempt_lasts_as_long_as_the_peer_asks_for_it() {
    let mut w = World::new(2);
    w.hold("hello_ack");
    w.put(0, 1, 10).unwrap();
    w.settle();
    let mut asks = forged(&w, 1, 0, &hello());
    asks.envelope.to_incarnation = Some(another(1));
    let tries = u32::from(w.config.hello_tries);
    for round in 0..3 * tries {
        assert!(w.hand(&asks));
        w.sleep(w.config.hello_timeout);
        assert_eq!(w.state(0, 1), HelloState::Handshake, "round {round}");
    }
    w.sleep(w.config.hello_timeout.times(tries + 1));
    assert_eq!(w.state(0, 1), HelloState::Down);
}

/// The hello of the known incarnation waits for room when another incarnation claims its place. An
/// answer would now go to the claimant, whose session is not counted.
#[test]
fn s0_18_no_claimant_gets_the_answer_that_the_known_incarnation_was_owed() {
    let mut w = World::met();
    w.fabric.borrow_mut().room.insert((0, 1), [64, 0]);
    assert!(w.hand(&forged(&w, 1, 0, &hello())));
    let mut claim = forged(&w, 1, 0, &hello());
    claim.envelope.from_incarnation = another(2);
    assert!(w.hand(&claim));
    w.tick();
    assert_eq!((w.said(0, 1, "hello_ack"), w.said(0, 1, "hello")), (0, 0), "there is no room");
    w.fabric.borrow_mut().room.clear();
    w.settle();
    assert_eq!((w.said(0, 1, "hello_ack"), w.said(0, 1, "hello")), (0, 1), "our hello asks");
    assert_eq!(w.state(0, 1), HelloState::Good);
    assert_eq!(w.count(0, Counter::PeersRestarted), 0);
}

/// An incarnation that has answered went silent. The hello of another one does not show that it is
/// the latest: with its goodbye, requests of a third one must not be dropped as those of an earlier
/// one.
#[test]
fn s0_18_a_goodbye_settles_nothing_for_an_incarnation_that_has_only_said_hello() {
    let mut w = World::met();
    w.kill(1);
    let now = w.now;
    w.node(0).driver.ask_peer(now, nid(1));
    w.sleep(hold_off(&w).times(2));
    assert_eq!(w.state(0, 1), HelloState::Down, "silent");
    let claimed = |w: &World, message: &Message<'_>, number| {
        let mut letter = forged(w, 1, 0, message);
        letter.envelope.from_incarnation = another(number);
        letter
    };
    let (second, goodbye) = (claimed(&w, &hello(), 2), claimed(&w, &Message::Close, 2));
    let header = 7_u64.to_le_bytes();
    let request = claimed(&w, &Message::Immediate { header: &header, payload: &[] }, 3);
    let early = w.count(0, Counter::Early);
    assert!(w.hand(&second) && w.hand(&goodbye));
    assert!(!w.hand(&request), "it stays in the channel");
    assert_eq!(w.count(0, Counter::Early), early);
}
