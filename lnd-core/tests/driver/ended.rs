// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! An answer, a new session, a goodbye: each ends something, and what follows is not touched by it
//! (S0-13, S0-18).

use lnd_core::config::Config;
use lnd_core::counters::Counter;
use lnd_core::driver::Kind;
use lnd_core::id::Incarnation;
use lnd_core::message::Message;
use lnd_core::peer::HelloState;
use lnd_core::ports::Sent;
use lnd_core::time::Span;

use super::fabric::{nid, InjectedFault};
use super::guards::unverified;
use super::hello::{forged, hold_off};
use super::late::take;
use super::letter::Letter;
use super::node::Order;
use super::world::{config, World, LINK0, LINK1};

/// Node 0's hellos to node 1 get lost until node 1 counts as silent.
fn silence(w: &mut World) {
    w.hold("hello");
    let now = w.now;
    w.node(0).driver.ask_peer(now, nid(1));
    w.sleep(hold_off(w));
    assert_eq!(w.state(0, 1), HelloState::Down);
    w.fabric.borrow_mut().wire.retain(|letter| letter.kind() != "hello");
    w.free("hello");
}

/// R68: an answer ends the row of silences. After the next one, the sender of a request that waits
/// is asked as early as after the first one.
#[test]
fn r68_an_answer_ends_the_row_of_silences() {
    let mut w = World::met();
    silence(&mut w);
    w.sleep(hold_off(&w));
    w.put(0, 1, 0).unwrap();
    w.settle();
    assert_eq!(w.state(0, 1), HelloState::Good);
    silence(&mut w);
    let tag = w.put(1, 0, 10).unwrap();
    w.settle();
    assert_eq!((w.report(1, tag).status.errno, w.state(0, 1)), (0, HelloState::Down));
    w.sleep(hold_off(&w));
    assert_eq!(w.state(0, 1), HelloState::Good);
    w.assert_deliveries();
}

/// A hello announces requests of its own session only.
#[test]
fn the_first_hello_of_a_session_announces_nothing() {
    let mut w = World::met();
    w.injected("immediate", InjectedFault::Lost(Sent::NotDelivered));
    w.put(0, 1, 10).unwrap();
    w.settle();
    let former = w.nodes[0].driver.peer_view(0).unwrap().session;
    w.reboot(1);
    w.hold("hello");
    let now = w.now;
    w.node(0).driver.ask_peer(now, nid(1));
    w.settle();
    let mut announced = Vec::new();
    while let Some(letter) = take(&w, 0, "hello") {
        let Message::Hello(hello) = letter.message() else { panic!("{letter:?}") };
        announced.push((letter.envelope.session, hello.given_up));
        assert!(w.hand(&letter));
        w.settle();
    }
    assert_eq!(announced, [(former, 1), (former + 1, 0)]);
    w.free("hello");
    w.settle();
    assert_eq!((w.state(0, 1), w.count(0, Counter::PeersRestarted)), (HelloState::Good, 1));
}

/// Zero is the number of no session. The count of sessions passes it where it wraps.
#[test]
fn the_session_behind_the_last_number_is_not_zero() {
    let mut w = World::with(2, Config { counting_from: u32::MAX, ..config() });
    let tag = w.put(0, 1, 10).unwrap();
    w.settle();
    assert_eq!(w.report(0, tag).status.errno, 0);
    assert_eq!(w.nodes[0].driver.peer_view(0).unwrap().session, 1);
    assert_eq!(w.said(0, 1, "hello"), 1);
}

/// S0-13: where it is not verified which session of a peer is the present one, a request of an
/// earlier one waits too.
#[test]
fn s0_13_a_request_of_a_former_session_waits_until_its_sender_has_answered() {
    let (mut w, letter) = unverified();
    let mut former = letter;
    former.envelope.session = former.envelope.session.wrapping_sub(7);
    assert!(!w.hand(&former));
    w.free("hello");
    w.settle();
    assert_eq!((w.state(0, 1), w.count(0, Counter::Requests)), (HelloState::Good, 0));
    assert!(w.hand(&former));
    assert_eq!(w.count(0, Counter::Requests), 1);
}

/// Node 1 ends in good order. Its goodbye is off the wire.
fn leave(w: &mut World) -> Letter {
    w.hold("close");
    let now = w.now;
    w.nodes[1].driver.shutdown(now, now);
    w.settle();
    w.free("close");
    take(w, 1, "close").unwrap()
}

/// S0-18: a late goodbye to a former incarnation of ours does not take the place of one to us.
/// What was promised before that one is still delivered.
#[test]
fn s0_18_a_late_goodbye_to_a_former_incarnation_displaces_none() {
    let mut w = World::met();
    let late = leave(&mut w);
    w.reboot(0);
    w.reboot(1);
    w.put(1, 0, 0).unwrap();
    w.settle();
    w.hold("immediate");
    let tag = w.put(1, 0, 10).unwrap();
    w.settle();
    assert_eq!(w.report(1, tag).status.errno, 0);
    let promised = take(&w, 1, "immediate").unwrap();
    w.free("immediate");
    let close = leave(&mut w);
    assert!(w.hand(&close));
    w.reboot(1);
    w.put(1, 0, 0).unwrap();
    w.settle();
    assert_eq!(w.state(0, 1), HelloState::Good);
    assert!(w.hand(&late));
    let before = w.count(0, Counter::Requests);
    assert!(w.hand(&promised));
    assert_eq!(w.count(0, Counter::Requests), before + 1);
}

/// Where what was sent may be lost, nothing is kept for a goodbye that comes late. The hello of a
/// successor needs the room.
#[test]
fn a_late_goodbye_takes_no_room_in_a_channel_that_loses() {
    let mut w = World::met();
    w.fabric.borrow_mut().reliable = false;
    let mut late = forged(&w, 1, 0, &Message::Close);
    late.envelope.from_incarnation = Incarnation::from_raw(999).unwrap();
    assert!(w.hand(&late));
    w.reboot(1);
    let tag = w.put(1, 0, 10).unwrap();
    w.settle();
    assert_eq!((w.report(1, tag).status.errno, w.count(0, Counter::PeersRestarted)), (0, 1));
    assert_eq!((w.said(0, 1, "hello"), w.said(0, 1, "hello_ack")), (2, 1));
}

/// Two requests of one peer wait, in the lanes of two links. One of them is taken while no link is
/// open. The other one's sender is asked for when a link opens.
#[test]
fn a_request_in_another_lane_is_still_asked_for() {
    let mut w = World::new(2);
    w.hold("immediate");
    for link in [LINK0, LINK1] {
        let order = Order { link: Some(link), ..w.order(Kind::Put, 0, 10) };
        w.send(1, order).unwrap();
    }
    w.tick();
    let first = take(&w, 1, "hello").unwrap();
    w.hold("hello");
    assert!(w.hand(&first));
    w.settle();
    let letters: Vec<_> = (0..2).map(|_| take(&w, 1, "immediate").unwrap()).collect();
    let [mut other, waits] = letters.try_into().unwrap();
    assert_ne!(other.link, waits.link);
    assert!(!w.hand(&other) && !w.hand(&waits));
    for link in [LINK0, LINK1] {
        w.notify_link(0, link, false);
    }
    w.sleep(w.config.hello_timeout.times(2));
    assert_eq!(w.state(0, 1), HelloState::Unknown);
    // A request that names our session shows that its sender's session is genuine.
    other.envelope.credits_of = w.nodes[0].driver.peer_view(0).unwrap().session;
    w.device(0, other.link.index(), |d| d.link_works = true);
    assert!(w.hand(&other));
    w.device(0, other.link.index(), |d| d.link_works = false);
    w.settle();
    w.fabric.borrow_mut().wire.clear();
    let before = w.said(0, 1, "hello");
    w.notify_link(0, waits.link, true);
    w.sleep(Span::from_millis(100));
    assert_eq!((w.said(0, 1, "hello") - before, w.state(0, 1)), (1, HelloState::Handshake));
}

/// What a former session's request has failed with is announced in no later one, and begins none.
#[test]
fn the_failure_of_a_former_sessions_request_touches_no_present_one() {
    let mut w = World::met();
    w.hold("immediate");
    let former = w.put(0, 1, 10).unwrap();
    w.settle_untold();
    assert!(!w.reported(0, former));
    w.reboot(1);
    w.fabric.borrow_mut().wire.clear();
    w.fabric.borrow_mut().endings.clear();
    w.free("immediate");
    w.put(1, 0, 0).unwrap();
    w.settle();
    for _ in 0..5 {
        w.put(0, 1, 0).unwrap();
        w.settle();
    }
    let session = |w: &World| w.nodes[0].driver.peer_view(0).unwrap().session;
    let (before, hellos) = (session(&w), w.said(0, 1, "hello"));
    w.node(0).on_sent(former, Sent::Unknown);
    w.settle();
    assert_ne!(w.report(0, former).status.errno, 0);
    assert_eq!((session(&w), w.said(0, 1, "hello")), (before, hellos));
    w.hold("hello");
    let now = w.now;
    w.node(0).driver.ask_peer(now, nid(1));
    w.settle();
    let letter = take(&w, 0, "hello").unwrap();
    let Message::Hello(hello) = letter.message() else { panic!("{letter:?}") };
    assert_eq!(hello.given_up, 0);
}
