// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Handshake (R27, S0-13, S0-14).

use lnd_core::counters::Counter;
use lnd_core::driver::Why;
use lnd_core::id::Incarnation;
use lnd_core::message::{Envelope, Hello, HelloAck, Message};
use lnd_core::peer::HelloState;
use lnd_core::ports::Sent;
use lnd_core::time::{Instant, Span};

use super::fabric::{nid, InjectedFault};
use super::letter::Letter;
use super::world::{config, World, WorldOf, LINK0};

#[test]
fn r27_first_request_connects_and_waits_for_the_answer() {
    let mut w = World::new(2);
    let tag = w.put(0, 1, 10).unwrap();
    assert_eq!(w.state(0, 1), HelloState::Handshake);
    assert_eq!(w.said(0, 1, "immediate"), 0, "sent before the hello was answered");
    w.settle();
    assert_eq!(w.report(0, tag).status.errno, 0);
    assert_eq!((w.said(0, 1, "hello"), w.said(1, 0, "hello_ack")), (1, 1));
    // The side that is connected to connects back at once: messages never arrive early between
    // correct nodes.
    assert_eq!((w.said(1, 0, "hello"), w.said(0, 1, "hello_ack")), (1, 1));
    assert_eq!(w.state(1, 0), HelloState::Good);
    assert_eq!(w.count(1, Counter::Early), 0);
    w.assert_drained();
}

#[test]
fn lu7646_simultaneous_hellos_end_in_one_session_each_way() {
    let mut w = World::new(2);
    let a = w.put(0, 1, 10).unwrap();
    let b = w.put(1, 0, 10).unwrap();
    assert_eq!((w.state(0, 1), w.state(1, 0)), (HelloState::Handshake, HelloState::Handshake));
    w.settle();
    assert_eq!((w.report(0, a).status.errno, w.report(1, b).status.errno), (0, 0));
    assert_eq!((w.said(0, 1, "hello"), w.said(1, 0, "hello")), (1, 1));
    assert_eq!(w.count(0, Counter::IgnoredHellos) + w.count(1, Counter::IgnoredHellos), 0);
    w.assert_drained();
}

#[test]
fn lu16213_one_hello_in_flight_however_much_is_submitted() {
    let mut w = World::new(2);
    for _ in 0..8 {
        w.put(0, 1, 10).unwrap();
    }
    assert_eq!(w.said(0, 1, "hello"), 1);
    w.settle();
    assert_eq!((w.said(0, 1, "hello"), w.count(0, Counter::IgnoredHellos)), (1, 0));
    w.assert_drained();
}

#[test]
fn a_lost_hello_or_answer_is_tried_again() {
    for kind in ["hello", "hello_ack"] {
        let mut w = World::new(2);
        w.injected(kind, InjectedFault::Lost(Sent::Ok));
        w.injected(kind, InjectedFault::Lost(Sent::Ok));
        let tag = w.put(0, 1, 10).unwrap();
        w.sleep(Span::from_secs(3));
        assert_eq!(w.report(0, tag).status.errno, 0, "{kind}");
        w.assert_drained();
    }
}

/// R68: whatever the clock shows. The end of a hold-off was kept in 63 bits.
#[test]
fn r68_a_hold_off_lasts_as_long_where_the_clock_has_come_half_way() {
    let half = 1_u64 << 63;
    let put_at = |w: &mut World, nanos: u64| {
        w.now = Instant::from_nanos(nanos);
        w.node(0).now = w.now;
        w.put(0, 1, 10)
    };
    for start in [half - 1_000_000_001, half, half + 1_000_000_001] {
        let mut w = World::new(2);
        w.kill(1);
        put_at(&mut w, start).unwrap();
        w.tick();
        while w.state(0, 1) != HelloState::Down {
            w.now = w.nodes[0].next.unwrap();
            w.tick();
        }
        let (hellos, end) = (w.said(0, 1, "hello"), w.now.after(hold_off(&w)).as_nanos());
        assert_eq!(put_at(&mut w, end - 2), Err(Why::PeerDown), "{start}");
        assert_eq!((w.said(0, 1, "hello"), w.state(0, 1)), (hellos, HelloState::Down));
        put_at(&mut w, end + 1).unwrap();
        assert_eq!((w.said(0, 1, "hello"), w.state(0, 1)), (hellos + 1, HelloState::Handshake));
    }
}

#[test]
fn hello_tries_run_out_into_down_and_a_hold_off() {
    let mut w = World::new(2);
    w.kill(1);
    let tag = w.put(0, 1, 10).unwrap();
    w.sleep(Span::from_secs(4));
    assert!(!w.reported(0, tag));
    w.sleep(Span::from_secs(1));
    // Never left the queue: EHOSTDOWN, may be sent again.
    let status = w.report(0, tag).status;
    assert_eq!((status.errno, status.resend), (-112, true));
    assert_eq!(w.said(0, 1, "hello"), usize::from(config().hello_tries));
    assert_eq!(w.state(0, 1), HelloState::Down);
    assert_eq!(w.put(0, 1, 10).unwrap_err(), Why::PeerDown);
    // After the hold-off it is connected anew (R68).
    w.reboot(1);
    w.sleep(Span::from_secs(5));
    let tag = w.put(0, 1, 10).unwrap();
    w.settle();
    assert_eq!(w.report(0, tag).status.errno, 0);
    w.assert_drained();
}

#[test]
fn s0_14_a_hello_revives_a_peer_that_was_down() {
    let mut w = World::met();
    w.notify_peer(0, 1, false);
    w.settle();
    assert_eq!(w.state(0, 1), HelloState::Down);
    w.reboot(1);
    let tag = w.put(1, 0, 10).unwrap();
    w.settle();
    assert_eq!(w.report(1, tag).status.errno, 0);
    assert_eq!(w.state(0, 1), HelloState::Good);
    w.assert_drained();
}

#[test]
fn repeated_and_stray_hello_answers_change_nothing() {
    let mut w = World::new(2);
    w.injected("hello", InjectedFault::Twice);
    w.injected("hello_ack", InjectedFault::Twice);
    w.put(0, 1, 10).unwrap();
    w.settle();
    assert_eq!((w.state(0, 1), w.state(1, 0)), (HelloState::Good, HelloState::Good));
    assert!(w.count(0, Counter::IgnoredHellos) >= 1);
    let before = w.count(0, Counter::IgnoredHellos);
    let ack = HelloAck {
        session: 77,
        attempt: 1,
        version: Some(1),
        depth: 3,
        immediate_max: 9,
        features: 0,
    };
    let letter = forged(&w, 1, 0, &Message::HelloAck(ack));
    w.hand(&letter);
    assert_eq!(w.count(0, Counter::IgnoredHellos), before + 1);
    w.settle();
    w.assert_drained();
}

#[test]
fn a_late_repetition_of_an_old_hello_does_not_reopen_its_session() {
    let mut w = World::new(2);
    w.fabric.borrow_mut().reliable = false;
    let old = forged(&w, 0, 1, &hello());
    let old = Letter::new(LINK0, &Envelope { session: 1, ..old.envelope }, &old.message());
    w.put(0, 1, 10).unwrap();
    w.settle();
    // Node 0 opens a second session; then the first hello arrives once more.
    w.notify_peer(0, 1, false);
    w.notify_peer(0, 1, true);
    let tag = w.put(0, 1, 10).unwrap();
    w.settle();
    assert_eq!(w.report(0, tag).status.errno, 0);
    w.hand(&old);
    for _ in 0..20 {
        let tag = w.put(0, 1, 10).unwrap();
        w.settle();
        assert_eq!(w.report(0, tag).status.errno, 0);
    }
    assert_eq!(w.count(1, Counter::WrongSession), 0);
    assert_eq!(w.count(1, Counter::Duplicate), 0);
    w.assert_drained();
}

#[test]
fn versions_that_do_not_meet_take_the_peer_down() {
    let mut w = World::met();
    let stranger = Hello {
        version_min: 9,
        version_max: 12,
        immediate_max: 64,
        features: 0,
        given_up: 0,
        attempt: 1,
    };
    let letter = forged(&w, 1, 0, &Message::Hello(stranger));
    let said = w.said(0, 1, "hello_ack");
    w.hand(&letter);
    // Answered all the same (S0-14), with no version in it.
    assert_eq!(w.said(0, 1, "hello_ack"), said + 1);
    let answer = w.fabric.borrow().wire.back().unwrap().clone();
    assert!(matches!(answer.message(), Message::HelloAck(HelloAck { version: None, .. })));

    // So is one of whom nothing is known, and one that has begun another incarnation: the answer
    // names the incarnation that has asked, or it could not be told on the wire (R27).
    for mut w in [World::new(2), World::met()] {
        let invalidating = forged(&w, 1, 0, &Message::Hello(stranger)).envelope;
        let invalidating =
            Envelope { from_incarnation: Incarnation::from_raw(77).unwrap(), ..invalidating };
        w.hand(&Letter::new(LINK0, &invalidating, &Message::Hello(stranger)));
        let answer = w.fabric.borrow().wire.back().unwrap().clone();
        assert!(matches!(answer.message(), Message::HelloAck(HelloAck { version: None, .. })));
        assert_eq!(answer.envelope.to_incarnation, Some(invalidating.from_incarnation));
    }

    let mut w = World::new(2);
    w.hold("hello");
    let tag = w.put(0, 1, 10).unwrap();
    w.settle();
    let session = w.letter(0).unwrap().envelope.session;
    let refusal =
        HelloAck { session, attempt: 1, version: None, depth: 8, immediate_max: 64, features: 0 };
    let letter = forged(&w, 1, 0, &Message::HelloAck(refusal));
    w.hand(&letter);
    w.settle();
    assert_eq!(w.state(0, 1), HelloState::Down);
    assert_eq!(w.report(0, tag).status.errno, -112);
    w.assert_drained();
}

/// How long a peer that is down is not asked again (R68).
pub fn hold_off(w: &World) -> Span {
    w.config.hello_timeout.times(u32::from(w.config.hello_tries))
}

/// A hello as the drivers send it.
pub fn hello() -> Message<'static> {
    Message::Hello(Hello {
        version_min: 1,
        version_max: 1,
        immediate_max: 128,
        features: 3,
        given_up: 0,
        attempt: 1,
    })
}

/// A letter as the driver of `from` might have sent it, with the present incarnations.
pub fn forged<const SAFE_INVALIDATE: bool>(
    w: &WorldOf<SAFE_INVALIDATE>,
    from: usize,
    to: usize,
    message: &Message<'_>,
) -> Letter {
    let envelope = Envelope {
        from: nid(from),
        to: nid(to),
        from_incarnation: w.nodes[from].driver.identity().incarnation,
        to_incarnation: Some(w.nodes[to].driver.identity().incarnation),
        session: 1,
        sequence: 1,
        credits: 0,
        credits_of: 0,
    };
    Letter::new(LINK0, &envelope, message)
}
