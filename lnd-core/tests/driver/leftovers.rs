// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What must not be left over from an attempt, a wait, a call or a count that has ended.

use lnd_core::config::Config;
use lnd_core::counters::Counter;
use lnd_core::driver::{Kind, Why};
use lnd_core::id::Incarnation;
use lnd_core::link::LinkState;
use lnd_core::message::{HelloAck, Message};
use lnd_core::peer::HelloState;
use lnd_core::time::{Instant, Span};
use lnd_core::trace::Trace;
use lnd_core::transfer::{Cause, Place};

use super::fabric::nid;
use super::guards::unverified;
use super::hello::{forged, hold_off};
use super::late::take;
use super::letter::Letter;
use super::node::{Decision, Order};
use super::parked::promised;
use super::world::{config, World, LINK0};

/// Node 0's link is down, and its attempt to reach node 1 has ended without blame.
fn unreached(w: &mut World) {
    w.notify_link(0, LINK0, false);
    w.sleep(w.config.hello_timeout.times(2));
    assert_eq!(w.state(0, 1), HelloState::Unknown);
}

/// A request that waited was dropped while no link was open. Nothing is left for which its sender
/// is to be asked once there is a link.
#[test]
fn a_dropped_requests_sender_is_not_asked_for_when_a_link_opens() {
    let (mut w, letter) = unverified();
    assert!(!w.hand(&letter));
    unreached(&mut w);
    // As of one that was meant for a former incarnation of ours.
    let mut former = forged(&w, 1, 0, &letter.message());
    former.envelope.to_incarnation = Incarnation::from_raw(999);
    w.device(0, 0, |d| d.link_works = true);
    assert!(w.hand(&former), "dropped");
    w.device(0, 0, |d| d.link_works = false);
    w.sleep(w.config.hello_timeout.times(2));
    assert_eq!(w.state(0, 1), HelloState::Unknown);
    w.fabric.borrow_mut().wire.clear();
    let before = w.said(0, 1, "hello");
    w.notify_link(0, LINK0, true);
    w.sleep(Span::from_secs(1));
    assert_eq!(w.nodes[0].driver.link_state(LINK0), Some(LinkState::Up));
    assert_eq!((w.said(0, 1, "hello") - before, w.state(0, 1)), (0, HelloState::Unknown));
}

/// A hello of an attempt that has ended without a link is not sent when there is one.
#[test]
fn a_hello_of_an_attempt_that_has_ended_is_not_sent() {
    let mut w = World::with(2, Config { links: 1, ..config() });
    w.put(0, 1, 0).unwrap();
    w.settle();
    w.notify_link(0, LINK0, false);
    w.settle();
    let now = w.now;
    w.node(0).driver.ask_peer(now, nid(1));
    w.sleep(w.config.hello_timeout.times(2));
    assert_eq!(w.state(0, 1), HelloState::Unknown);
    let before = w.said(0, 1, "hello");
    w.notify_link(0, LINK0, true);
    w.sleep(Span::from_secs(1));
    assert_eq!((w.said(0, 1, "hello") - before, w.state(0, 1)), (0, HelloState::Unknown));
}

/// R68: an interrupt declares a peer down that was down before. Its hold-off is a new one.
#[test]
fn r68_the_hold_off_of_an_earlier_time_does_not_count() {
    let mut w = World::met();
    w.notify_peer(0, 1, false);
    w.sleep(hold_off(&w));
    w.notify_peer(0, 1, true);
    assert_eq!(w.state(0, 1), HelloState::Unknown);
    let peer = w.peer(0, 1).unwrap();
    assert!(w.nodes[0].driver.irq_handle().peer_down(peer));
    assert_eq!(w.put(0, 1, 10), Err(Why::PeerDown));
    assert_eq!(w.said(0, 1, "hello"), 0);
}

/// R68: the timer of an attempt ends with it. A request of the peer waits in the channel, and its
/// host does not offer it just now.
#[test]
fn r68_the_timer_of_an_attempt_does_not_ask_a_peer_that_is_down() {
    let (mut w, letter) = unverified();
    assert!(!w.hand(&letter));
    w.notify_peer(0, 1, false);
    let before = w.said(0, 1, "hello");
    w.sleep(w.config.hello_timeout.times(2));
    assert_eq!((w.said(0, 1, "hello") - before, w.state(0, 1)), (0, HelloState::Down));
}

/// INV-6: a late answer of the incarnation that is known shows that it runs. That of any other one
/// shows nothing of it.
#[test]
fn inv_6_a_late_answer_of_another_incarnation_does_not_revive_a_peer() {
    let mut w = World::met();
    let view = w.nodes[0].driver.peer_view(0).unwrap();
    w.notify_peer(0, 1, false);
    for (from, state) in
        [(Incarnation::from_raw(999), HelloState::Down), (None, HelloState::Handshake)]
    {
        let session = view.session;
        let ack = HelloAck {
            session,
            attempt: 1,
            version: Some(1),
            depth: 4,
            immediate_max: 128,
            features: 3,
        };
        let mut late = forged(&w, 1, 0, &Message::HelloAck(ack));
        late.envelope.from_incarnation = from.unwrap_or(late.envelope.from_incarnation);
        assert!(w.hand(&late));
        assert_eq!(w.state(0, 1), state);
    }
}

/// The device of a link that has been stopped is reported as gone. That is over with the link's
/// reset: it is not failed again when it works.
#[test]
fn a_device_that_was_gone_while_its_link_was_down_is_there_again() {
    let mut w = World::met();
    w.notify_link(0, LINK0, false);
    w.sleep(Span::from_millis(10));
    assert_eq!(w.nodes[0].driver.link_state(LINK0), Some(LinkState::Down));
    w.nodes[0].driver.irq_handle().device_gone(LINK0);
    w.settle();
    w.device(0, 0, |d| d.link_works = true);
    w.sleep(Span::from_millis(10));
    assert_eq!(w.nodes[0].driver.link_state(LINK0), Some(LinkState::Up));
    assert_eq!(w.count(0, Counter::LinksFailed), 1);
}

/// The earliest time at which node 0 has something to do.
fn next(w: &World) -> Option<Instant> {
    w.nodes[0].driver.next_time(w.now)
}

/// R39: each credit that comes back gives the next one its full time, while requests wait.
#[test]
fn r39_the_wait_for_credits_begins_anew_with_each_credit() {
    let mut w = World::met_with(Config { depth: 2, ..config() });
    w.node(1).inline = Decision::Keep;
    for _ in 0..4 {
        w.put(0, 1, 10).unwrap();
    }
    w.settle();
    let stall = w.config.credit_stall;
    assert_eq!(next(&w), Some(w.now.after(stall)));
    w.sleep(Span::from_nanos(stall.as_nanos() / 2));
    w.node(1).answer_kept(0).unwrap();
    w.settle();
    assert_eq!(next(&w), Some(w.now.after(stall)));
    // R39: and no request that is added gives it more.
    let due = w.now.after(stall);
    w.sleep(Span::from_nanos(stall.as_nanos() / 2));
    w.put(0, 1, 10).unwrap();
    w.settle();
    assert_eq!(next(&w), Some(due));
}

/// R39: a request that waits for an answer to our hello, and not for room, is not looked at by the
/// clock.
#[test]
fn r39_a_queue_is_not_polled_during_a_handshake() {
    let mut w = World::met();
    w.hold("hello");
    let now = w.now;
    w.node(0).driver.ask_peer(now, nid(1));
    w.put(0, 1, 10).unwrap();
    w.settle();
    assert_eq!(next(&w), Some(now.after(w.config.hello_timeout)));
}

/// R39: what waited for room is polled until it is sent, and not any longer.
#[test]
fn r39_nothing_is_polled_for_what_was_sent() {
    let mut w = World::met();
    w.fabric.borrow_mut().room.insert((0, 1), [0, 64]);
    w.put(0, 1, 10).unwrap();
    w.settle();
    assert_eq!(next(&w), Some(w.now.after(w.config.link_poll)));
    w.fabric.borrow_mut().room.clear();
    w.sleep(w.config.link_poll.times(2));
    assert_eq!((w.said(0, 1, "immediate"), next(&w)), (1, None));
}

/// A peer that an interrupt declares down has changed its state: the host offers again what waits.
/// Nothing of it was under way, so no slot tells the host.
#[test]
fn a_host_is_told_of_a_peer_that_an_interrupt_declares_down() {
    let mut w = World::met();
    w.settle();
    let _ = w.node(0).driver.offer_again();
    let peer = w.peer(0, 1).unwrap();
    assert!(w.nodes[0].driver.irq_handle().peer_down(peer));
    w.tick();
    assert!(w.node(0).driver.offer_again());
}

/// S0-18: and its place is free for the node that waits for one.
#[test]
fn s0_18_a_place_is_had_when_an_interrupt_declares_its_owner_down() {
    let (mut w, letters) = promised(3);
    w.kill(1);
    w.sleep(hold_off(&w));
    let order = Order { deadline: w.now.after(Span::from_millis(10)), ..w.order(Kind::Put, 1, 10) };
    w.send(0, order).unwrap();
    w.sleep(Span::from_millis(20));
    assert_eq!((w.state(0, 1), w.nodes[0].driver.in_use()), (HelloState::Handshake, (0, 0)));
    assert!(!w.hand(&letters[1]), "no place");
    w.settle();
    let before = w.said(0, 2, "hello");
    let peer = w.peer(0, 1).unwrap();
    assert!(w.nodes[0].driver.irq_handle().peer_down(peer));
    w.settle();
    assert_eq!(w.said(0, 2, "hello"), before + 1);
}

/// What a peer's request has failed with gives up none of ours, though the two sessions may have
/// the same number.
#[test]
fn the_failure_of_a_peers_request_gives_up_none_of_ours() {
    let mut w = World::met();
    for _ in 0..40 {
        w.put(0, 1, 10).unwrap();
        w.settle();
    }
    let session = |w: &World| w.nodes[0].driver.peer_view(0).unwrap().session;
    let (before, hellos) = (session(&w), w.said(0, 1, "hello"));
    w.device(0, 0, |d| d.refuse_posts = 1);
    w.device(0, 1, |d| d.refuse_posts = 1);
    let tag = w.put(1, 0, 5000).unwrap();
    w.settle();
    assert_ne!(w.report(1, tag).status.errno, 0);
    assert_eq!((session(&w), w.said(0, 1, "hello")), (before, hellos));
}

/// When a peer was last heard, by each way that its requests take.
#[test]
fn a_peer_is_heard_by_its_usual_requests() {
    for ends_at_once in [false, true] {
        let mut w = World::met();
        w.fabric.borrow_mut().ends_at_once = ends_at_once;
        for _ in 0..2 {
            w.sleep(Span::from_secs(10));
            w.put(1, 0, 10).unwrap();
            w.deliver();
            let heard = w.nodes[0].driver.peer_view(0).unwrap().last_heard;
            assert!(w.now.since(heard) < Span::from_secs(1), "{ends_at_once}");
        }
    }
}

/// An answer enters the gate of a link that has closed, and ends there, though its lane is full.
#[test]
fn r53_an_answer_by_a_link_that_has_closed_waits_for_no_room() {
    let mut w = World::met();
    w.node(1).get = Decision::Keep;
    let order = Order { link: Some(LINK0), ..w.order(Kind::Get, 1, 5000) };
    w.send(0, order).unwrap();
    w.settle();
    w.fabric.borrow_mut().room.insert((1, 0), [64, 0]);
    w.notify_link(1, LINK0, false);
    w.settle();
    let tag = w.node(1).answer_kept(5000).unwrap();
    w.fetch();
    assert_eq!(w.report(1, tag).status.evidence, Some((Cause::LinkDown, Place::Queue)));
}

/// A request of node 1 to node 0, in its present session and far beyond the window. Without a
/// payload.
fn far_ahead(w: &World) -> Letter {
    let mut letter = forged(w, 1, 0, &Message::Immediate { header: &[0; 8], payload: &[] });
    letter.envelope.session = w.nodes[1].driver.peer_view(0).unwrap().session;
    letter.envelope.sequence = 1000;
    letter
}

/// A session that is not counted any more is not said of in the middle of a handshake: each offer
/// would begin another attempt, and the answer to the one before would not count.
#[test]
fn a_handshake_is_not_begun_anew_for_a_session_that_is_not_counted() {
    let mut w = World::met();
    w.hold("hello");
    let now = w.now;
    w.node(0).driver.ask_peer(now, nid(1));
    let late = far_ahead(&w);
    for _ in 0..3 {
        assert!(!w.hand(&late));
        w.settle();
    }
    assert_eq!((w.said(0, 1, "hello"), w.state(0, 1)), (1, HelloState::Handshake));
}

/// The number of a request of a former session is not shown: it would be taken for one of the
/// present session.
#[test]
fn the_end_of_a_former_sessions_request_shows_no_number() {
    let mut w = World::met();
    w.fabric.borrow_mut().ends_at_once = true;
    w.put(1, 0, 0).unwrap();
    w.settle();
    let late = far_ahead(&w);
    assert!(!w.hand(&late), "it is not counted any more");
    w.fabric.borrow_mut().wire.push_back(late);
    w.sleep(Span::from_secs(5));
    assert!(w.fabric.borrow().wire.is_empty());
    let log = &w.nodes[0].driver.tracer_mut().0;
    let mut ended = log.iter().filter_map(|(_, trace)| match trace {
        Trace::Ended { sequence, .. } => Some(*sequence),
        _ => None,
    });
    assert_eq!(ended.next_back(), Some(0));
}

/// R39: what waits is due at once when the transport says that a connection is up.
#[test]
fn what_waits_is_tried_at_once_when_a_connection_is_up() {
    let mut w = World::met();
    w.fabric.borrow_mut().room.insert((0, 1), [0, 64]);
    w.put(0, 1, 10).unwrap();
    w.settle();
    assert_ne!(next(&w), Some(w.now));
    w.fabric.borrow_mut().room.clear();
    w.node(0).driver.on_connection_up();
    assert_eq!(next(&w), Some(w.now));
    w.settle();
    assert_eq!(w.said(0, 1, "immediate"), 1);
}

/// S0-18: a request that was taken does not wait any more, and keeps its sender's place for no
/// hold-off.
#[test]
fn s0_18_a_request_that_was_taken_keeps_no_place() {
    let (mut w, letters) = promised(3);
    for (node, letter) in [(1, &letters[0]), (2, &letters[1])] {
        assert!(!w.hand(letter));
        w.settle();
        assert_eq!(w.state(0, node), HelloState::Good, "its place was had at once");
        assert!(w.hand(letter));
        w.settle();
    }
    w.assert_deliveries();
}

/// The sender of a request that was taken is not asked for any more. One of two takes the shortest
/// way.
#[test]
fn a_taken_requests_sender_is_not_asked_for() {
    let mut w = World::met();
    w.fabric.borrow_mut().ends_at_once = true;
    for _ in 0..2 {
        w.notify_peer(0, 1, false);
        w.hold("immediate");
        w.put(1, 0, 10).unwrap();
        let letter = take(&w, 1, "immediate").unwrap();
        w.free("immediate");
        assert!(!w.hand(&letter), "it waits for the answer to our hello");
        w.settle();
        assert!(w.hand(&letter));
        w.notify_peer(0, 1, false);
        w.notify_peer(0, 1, true);
        let before = w.said(0, 1, "hello");
        w.sleep(Span::from_secs(1));
        assert_eq!((w.said(0, 1, "hello") - before, w.state(0, 1)), (0, HelloState::Unknown));
    }
}

/// Node 2 waits for the one place, and node 1 leaves it in the end. Returns whether node 2 has it.
fn has_the_place(change: fn(&mut World)) -> bool {
    let (mut w, letters) = promised(3);
    assert!(!w.hand(&letters[0]));
    w.settle();
    w.node(0).put = Decision::Keep;
    w.put(1, 0, 5000).unwrap();
    w.settle();
    assert!(!w.hand(&letters[1]), "no place");
    w.settle();
    assert_eq!((w.nodes[0].kept.len(), w.peer(0, 2)), (1, None));
    change(&mut w);
    let before = w.said(0, 2, "hello");
    w.node(0).answer_kept(5000).unwrap();
    w.sleep(hold_off(&w));
    w.peer(0, 2).is_some() && w.said(0, 2, "hello") > before
}

/// LU-1600: no place is given once the driver refuses new work, nor to a node to which there is no
/// way.
#[test]
fn lu1600_a_node_that_waits_for_a_place_has_none_in_a_shutdown() {
    assert!(has_the_place(|_| ()));
    assert!(!has_the_place(|w| {
        let now = w.now;
        w.nodes[0].driver.shutdown(now, now.after(Span::from_secs(20)));
    }));
    assert!(!has_the_place(|w| {
        w.fabric.borrow_mut().unreachable.insert(2);
    }));
}
