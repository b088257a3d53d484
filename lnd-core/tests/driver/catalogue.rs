// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Bugs that other network drivers had, as scenarios named after their tickets (R74).
//!
//! `docs/evidence/bug-catalogue.md` maps every bug to the test that shows that it does not happen
//! here; the ones below had no test of their own.

use lnd_core::config::Config;
use lnd_core::counters::Counter;
use lnd_core::driver::Why;
use lnd_core::link::{link_step, LinkEffect, LinkEvent, LinkState};
use lnd_core::message::NakReason;
use lnd_core::peer::{hello_step, HelloEffect, HelloEvent, HelloState};
use lnd_core::time::Span;
use lnd_core::transfer::{Cause, HealthClass, Place};

use super::device::OnInvalidate;
use super::node::Decision;
use super::peer_down::{devices, expect};
use super::world::{config, World, LINK0};

#[test]
fn lu17325_every_event_is_answered_in_every_state() {
    // LU-17632, LU-19625 too: an event that means nothing in a state leaves it as it is.
    for state in HelloState::ALL {
        for event in HelloEvent::ALL {
            let (next, effect) = hello_step(state, event);
            assert!(effect != HelloEffect::Ignored || next == state, "{state:?} {event:?}");
        }
    }
    for state in LinkState::ALL {
        for event in LinkEvent::ALL {
            let (next, effect) = link_step(state, event);
            assert!(effect != LinkEffect::Ignored || next == state, "{state:?} {event:?}");
        }
    }
}

#[test]
fn lu15885_events_while_a_peer_goes_down() {
    let mut w = World::met();
    w.hold("put_req");
    let tag = w.put(0, 1, 5000).unwrap();
    w.settle();
    // Down, told again, a link failure, up and down again: all before the sweep.
    w.notify_peer(0, 1, false);
    w.notify_peer(0, 1, false);
    w.notify_link(0, LINK0, false);
    w.notify_peer(0, 1, true);
    w.notify_peer(0, 1, false);
    w.settle();
    assert_ne!(w.report(0, tag).status.errno, 0);
    w.assert_drained();
}

#[test]
fn lu4431_peer_down_told_by_two_counts_once() {
    let mut w = World::met();
    w.hold("put_req");
    let tag = w.put(0, 1, 5000).unwrap();
    w.settle();
    let peer = w.peer(0, 1).unwrap();
    w.nodes[0].driver.irq_handle().peer_down(peer);
    w.notify_peer(0, 1, false);
    w.settle();
    assert_eq!(w.count(0, Counter::Invalidated), 1, "asked for once");
    assert_ne!(w.report(0, tag).status.errno, 0);
    w.assert_drained();
}

#[test]
fn lu18260_a_refusal_after_the_peer_went_down() {
    let mut w = World::met();
    w.node(1).put = Decision::Refuse(NakReason::NoMatch);
    w.hold("put_nak");
    let tag = w.put(0, 1, 5000).unwrap();
    w.settle();
    w.notify_peer(0, 1, false);
    w.settle();
    let report = w.report(0, tag);
    assert_eq!(report.status.evidence.map(|e| e.0), Some(Cause::PeerDown));
    w.free("put_nak");
    w.settle();
    assert_eq!(w.report(0, tag), report, "and never again");
    assert_eq!(w.count(0, Counter::Early), 1);
    w.assert_drained();
}

#[test]
fn lu16995_success_after_the_transfer_had_timed_out() {
    let mut w = World::met();
    w.node(1).put = Decision::Keep;
    devices(&w, 0, true, OnInvalidate::Never);
    let tag = w.put(0, 1, 5000).unwrap();
    w.settle();
    w.sleep(Span::from_secs(31));
    assert_eq!(w.count(0, Counter::Invalidated), 1, "the deadline has asked for it");
    assert!(!w.reported(0, tag));
    // And now the peer pulls, faster than the descriptor comes back.
    devices(&w, 0, false, OnInvalidate::Never);
    w.node(1).answer_kept(u32::MAX).unwrap();
    w.settle();
    let report = w.report(0, tag);
    assert_eq!((report.status.errno, report.lost_race), (0, true));
    w.assert_drained();
}

#[test]
fn lu17270_an_answer_that_overtakes_its_requests_completion() {
    let mut w = World::met();
    w.node(1).put = Decision::Refuse(NakReason::NoMatch);
    let tag = w.put(0, 1, 5000).unwrap();
    w.settle_untold();
    assert!(!w.reported(0, tag), "the short message is not back yet (INV-5)");
    w.settle();
    let status = w.report(0, tag).status;
    assert_eq!(status.evidence.map(|e| e.0), Some(Cause::Refused), "the peer's word is kept");
    w.assert_drained();
}

#[test]
fn lu11756_a_request_to_a_peer_that_goes_down_does_not_linger() {
    let mut w = World::met();
    w.notify_peer(0, 1, false);
    // Before the sweep, and after it.
    assert_eq!(w.put(0, 1, 50), Err(Why::PeerDown));
    w.settle();
    assert_eq!(w.put(0, 1, 50), Err(Why::PeerDown));
    w.assert_drained();
}

#[test]
fn lu17841_hello_replaces_key_in_flight() {
    let mut w = World::met();
    w.hold("put_req");
    let tag = w.put(0, 1, 5000).unwrap();
    w.settle();
    // The peer is given up and connected anew while the request is on its way: what it names is
    // over.
    w.notify_peer(0, 1, false);
    w.settle();
    expect(w.report(0, tag), Cause::PeerDown, Place::Staged, -103, HealthClass::RemoteDropped);
    w.sleep(Span::from_secs(6));
    let again = w.put(0, 1, 6000).unwrap();
    w.settle();
    w.free("put_req");
    w.settle();
    assert_eq!(w.report(0, again).status.errno, 0);
    let got: Vec<_> = w.nodes[1].done.iter().filter(|r| r.status.errno == 0).collect();
    assert_eq!(
        got.iter().map(|r| r.bytes).collect::<Vec<_>>(),
        [6000],
        "the old one moves nothing"
    );
    w.assert_drained();
}

#[test]
fn lu13145_defaults_leave_time_for_what_they_wait_for() {
    let config = Config::new(64, 8, 2);
    let handshake = config.hello_timeout.times(u32::from(config.hello_tries));
    assert!(handshake <= config.decision_bound, "a peer is given up before a decision is");
    assert!(config.drain_bound < config.decision_bound);
    assert!(config.link_poll < config.drain_bound);
    assert!(config.hello_timeout <= config.credit_stall);
}

#[test]
fn lu12569_credits_go_by_the_depth_agreed() {
    // R22: what was agreed at the session's opening holds for the whole session.
    let mut small = config();
    small.depth = 2;
    let mut w = World::met_with(small);
    w.node(1).put = Decision::Keep;
    let tags: Vec<_> = (0..5).map(|_| w.put(0, 1, 5000).unwrap()).collect();
    for waiting in [2, 2, 2, 2, 1] {
        w.settle();
        assert_eq!(w.node(1).kept.len(), waiting, "as many as there are credits, to the last one");
        w.node(1).answer_kept(u32::MAX).unwrap();
    }
    w.settle();
    for tag in tags {
        assert_eq!(w.report(0, tag).status.errno, 0);
    }
    w.assert_drained();
}

#[test]
fn lu8867_one_stuck_transfer_hides_no_other() {
    // R13, R21: what is stuck keeps its slot until the link is failed for it and stopped.
    let mut w = World::met();
    // One link gives descriptors back, the other one never does.
    w.hold("put_req");
    devices(&w, 0, false, OnInvalidate::Never);
    w.device(0, 1, |d| d.on_invalidate = OnInvalidate::Honest);
    let tags: Vec<_> = (0..6).map(|_| w.put(0, 1, 5000).unwrap()).collect();
    w.settle();
    w.notify_peer(0, 1, false);
    w.settle();
    let ended = tags.iter().filter(|&&tag| w.reported(0, tag)).count();
    assert_eq!(ended, 3, "those of the other link end at once");
    w.sleep(Span::from_secs(6));
    for tag in tags {
        assert_ne!(w.report(0, tag).status.errno, 0);
    }
    w.assert_drained();
}

#[test]
fn lu15234_what_is_queued_as_the_credit_comes_back_goes_out() {
    let mut small = config();
    small.depth = 1;
    let mut w = World::met_with(small);
    w.hold("noop");
    let first = w.put(0, 1, 10).unwrap();
    w.settle();
    let second = w.put(0, 1, 10).unwrap();
    w.settle();
    assert!(w.reported(0, first) && !w.reported(0, second), "no credit is left");
    w.free("noop");
    // The credit comes back while a third one is being queued.
    let third = w.put(0, 1, 10).unwrap();
    w.settle();
    for tag in [second, third] {
        assert_eq!(w.report(0, tag).status.errno, 0);
    }
    w.assert_drained();
}

/// S0-15: all of them are invalidated.
#[test]
fn h9_no_slot_is_skipped_wherever_the_sweep_begins() {
    let mut small = config();
    (small.slots, small.passive_slots) = (4, 1);
    let mut w = World::met_with(small);
    w.hold("put_req");
    for _ in 0..5 {
        let tags: Vec<_> = (0..3).map(|_| w.put(0, 1, 5000).unwrap()).collect();
        w.settle();
        w.notify_peer(0, 1, false);
        w.settle();
        for tag in tags {
            expect(
                w.report(0, tag),
                Cause::PeerDown,
                Place::Staged,
                -103,
                HealthClass::RemoteDropped,
            );
        }
        // The hold-off; then it is connected again.
        w.sleep(Span::from_secs(6));
        w.put(0, 1, 10).unwrap();
        w.settle();
    }
    w.assert_drained();
}

#[test]
fn r31_an_answer_to_an_earlier_hello_changes_nothing() {
    let mut w = World::new(2);
    w.hold("hello_ack");
    w.put(0, 1, 10).unwrap();
    w.settle();
    let late = w.letter(0).unwrap();
    assert_eq!((late.kind(), late.to), ("hello_ack", 0));
    w.notify_peer(0, 1, false);
    w.settle();
    w.sleep(Span::from_secs(6));
    let tag = w.put(0, 1, 10).unwrap();
    w.settle();
    assert_eq!(w.state(0, 1), HelloState::Handshake);
    w.hand(&late);
    assert_eq!(w.state(0, 1), HelloState::Handshake, "that hello's session is over");
    w.free("hello_ack");
    w.settle();
    assert_eq!(w.report(0, tag).status.errno, 0);
    w.assert_drained();
}
