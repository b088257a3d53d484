// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! CANCEL itself: how often it is said, for how long, and to which peers (S0-9).

use lnd_core::counters::Counter;
use lnd_core::link::LinkState;
use lnd_core::message::{Message, NakReason};
use lnd_core::ports::Sent;
use lnd_core::time::{Instant, Span};
use lnd_core::transfer::{Cause, Delivery, Place};

use crate::driver::fabric::{Fabric, InjectedFault};
use crate::driver::hello::forged;
use crate::driver::world::LINK0;

use super::{
    assert_goes_on, end, invalidating, met, met_with, small, withdraw, Built, World, USUAL,
};

/// The request is behind: its receiver promises not to take it, and keeps that.
#[test]
fn a_cancel_that_overtakes_its_request_is_answered_and_the_request_never_taken() {
    for reliable in [true, false] {
        let mut w = met_with(Built { reliable, ..USUAL }, small());
        let seen = w.fabric.borrow().seen.len();
        w.hold("put_req");
        w.hold("put_nak");
        let tag = w.put(0, 1, 3000).unwrap();
        w.settle();
        withdraw(&mut w, 0, tag);
        w.settle();
        assert_eq!((w.said(0, 1, "cancel_put"), w.said(1, 0, "put_nak")), (1, 1));
        assert_eq!(
            (invalidating(&w), w.reported(0, tag)),
            ((0, 0), false),
            "not before the answer"
        );
        w.free("put_nak");
        w.settle();
        assert_eq!(invalidating(&w), (1, 0));
        let withdrawn = Some((Cause::Withdrawn, Place::Staged));
        assert_eq!(end(&w, 0, tag), (withdrawn, Delivery::NotDelivered), "S0-17");
        // Its credit is back before it comes.
        let consumed = |w: &World| {
            let peer = w.peer(1, 0).unwrap();
            w.nodes[1].driver.credits_with(peer).unwrap().consumed
        };
        let before = consumed(&w);
        w.free("put_req");
        w.settle();
        assert_eq!((consumed(&w), w.count(1, Counter::Duplicate)), (before, 1));
        let seen_now = w.fabric.borrow().seen.len();
        assert_eq!((seen_now, w.device(1, 0, |d| d.calls.posts)), (seen, 0));
        assert_goes_on(&mut w);
    }
}

/// The channel loses CANCELs and answers: it is said again, less often than a hello, and answered
/// again.
#[test]
fn a_cancel_is_said_again_within_the_bound_and_answered_again() {
    let mut w = met_with(Built { reliable: false, ..USUAL }, small());
    w.hold("put_req");
    let tag = w.put(0, 1, 3000).unwrap();
    w.settle();
    w.injected("cancel_put", InjectedFault::Lost(Sent::Ok));
    w.injected("cancel_put", InjectedFault::Twice);
    w.injected("put_nak", InjectedFault::Lost(Sent::Ok));
    w.injected("put_nak", InjectedFault::Lost(Sent::Ok));
    w.injected("cancel_put", InjectedFault::Twice);
    withdraw(&mut w, 0, tag);
    let hello = w.config.hello_timeout;
    for said in 1..=3 {
        w.settle();
        assert_eq!(w.said(0, 1, "cancel_put"), said);
        w.sleep(Span::from_nanos(hello.as_nanos() - 2_000_000));
        assert_eq!(w.said(0, 1, "cancel_put"), said, "not earlier");
        w.sleep(Span::from_millis(2));
    }
    assert_eq!((w.said(1, 0, "put_nak"), w.count(1, Counter::CancelsHeard)), (4, 4));
    assert_eq!(
        (invalidating(&w), w.count(0, Counter::LateEvent)),
        ((1, 0), 2),
        "one answer too many"
    );
    assert_eq!(end(&w, 0, tag).0, Some((Cause::Withdrawn, Place::Staged)));
    w.free("put_req");
    assert_goes_on(&mut w);
}

/// The puller uses up most of the drain bound and then lets go. The engine is asked only now, and
/// has the whole bound for itself: a slow answer is not its failure.
#[test]
fn s0_9_an_engine_that_is_asked_late_has_the_whole_bound() {
    let mut w = met();
    w.hold("put_req");
    w.hold("put_nak");
    let tag = w.put(0, 1, 3000).unwrap();
    w.settle();
    w.device(0, 0, |d| d.frozen = true);
    withdraw(&mut w, 0, tag);
    let (bound, left) = (w.config.drain_bound.as_nanos(), 20_000_000);
    w.sleep(Span::from_nanos(bound - left));
    assert_eq!((invalidating(&w).0, w.count(0, Counter::DrainBoundHit)), (0, 0));
    w.free("put_nak");
    w.sleep(Span::from_nanos(bound - left));
    assert_eq!((invalidating(&w).0, w.count(0, Counter::DrainBoundHit)), (1, 0));
    assert!(!w.reported(0, tag), "INV-2");
    w.device(0, 0, |d| d.frozen = false);
    w.settle();
    assert_eq!(end(&w, 0, tag).0, Some((Cause::Withdrawn, Place::Staged)));
    w.free("put_req");
    assert_goes_on(&mut w);
}

/// Said again until the bound is over, and no more: then the smallest domain is stopped, and its
/// stop gives the memory back. Nothing is asked for before.
#[test]
fn s0_9_a_puller_that_does_not_answer_costs_its_connection() {
    for connects in [true, false] {
        let mut w = met_with(Built { connects, ..USUAL }, small());
        w.device(1, 0, |d| d.frozen = true);
        let (tag, beside) = (w.put(0, 1, 3000).unwrap(), w.put(0, 1, 3000).unwrap());
        w.settle();
        w.hold("cancel_put");
        w.device(0, 0, |d| (d.slow_stop, d.slow_connections) = (true, true));
        withdraw(&mut w, 0, tag);
        let bound = w.config.drain_bound;
        w.sleep(Span::from_nanos(bound.as_nanos() - 10_000_000));
        assert_eq!((w.count(0, Counter::DrainBoundHit), w.device(0, 0, |d| d.calls.stops)), (0, 0));
        w.sleep(Span::from_millis(100));
        assert_eq!((w.count(0, Counter::DrainBoundHit), w.device(0, 0, |d| d.calls.stops)), (1, 1));
        assert_eq!(w.said(0, 1, "cancel_put") as u64, w.count(0, Counter::Cancels));
        assert_eq!(w.said(0, 1, "cancel_put"), 5, "as often as hellos fit into the bound");
        assert_eq!((invalidating(&w).0, w.device(0, 0, |d| d.calls.reclaims)), (0, 0), "INV-3");
        assert!(!w.reported(0, tag) && !w.reported(0, beside), "INV-2");
        w.device(0, 0, |d| {
            d.stopped = d.stop_asked;
            d.slow_stop = false;
            d.stopping.values_mut().for_each(|stopped| *stopped = true);
        });
        w.sleep(Span::from_millis(100));
        assert_eq!((invalidating(&w).0, w.device(0, 0, |d| d.calls.reclaims)), (0, 2));
        let cause = if connects { Cause::ConnectionDown } else { Cause::LinkDown };
        let unknown = |cause| (Some((cause, Place::Moving)), Delivery::Unknown);
        assert_eq!(end(&w, 0, tag), unknown(Cause::Withdrawn));
        assert_eq!(end(&w, 0, beside), unknown(cause));
        let up = w.nodes[0].driver.link_state(LINK0) == Some(LinkState::Up);
        assert_eq!(w.count(0, Counter::LinksFailed), u64::from(!connects));
        assert!(up, "it is back");
        w.free("cancel_put");
        w.device(1, 0, |d| d.frozen = false);
        w.sleep(Span::from_secs(60));
        w.assert_drained();
    }
}

/// Where hellos are said often CANCEL is said sixteen times, and the bound is the same to the
/// nanosecond.
#[test]
fn a_cancel_is_said_sixteen_times_at_most() {
    for odd in [0, 1, 15] {
        let mut config = small();
        config.hello_timeout = Span::from_millis(2);
        config.drain_bound = Span::from_nanos(1_000_000_000 + odd);
        let mut w = met_with(USUAL, config);
        w.device(1, 0, |d| d.frozen = true);
        let tag = w.put(0, 1, 3000).unwrap();
        w.settle();
        w.hold("cancel_put");
        withdraw(&mut w, 0, tag);
        let end = w.now.after(config.drain_bound);
        w.settle();
        w.sleep_until(Instant::from_nanos(end.as_nanos() - 1));
        assert_eq!(
            (w.count(0, Counter::DrainBoundHit), w.said(0, 1, "cancel_put")),
            (0, 16),
            "{odd}"
        );
        w.sleep_until(end);
        assert_eq!(
            (w.count(0, Counter::DrainBoundHit), w.said(0, 1, "cancel_put")),
            (1, 16),
            "{odd}"
        );
    }
}

/// A peer that does not know CANCEL is not sent one.
#[test]
fn what_a_peer_without_cancel_may_pull_is_had_back_by_a_stop() {
    let mut fabric = Fabric::new(2, 1);
    fabric.no_cancel = true;
    fabric.devices.values_mut().for_each(|device| device.connects = true);
    let mut w = World::on(fabric, 2, small());
    w.device(1, 0, |d| d.frozen = true);
    let tag = w.put(0, 1, 3000).unwrap();
    w.settle();
    withdraw(&mut w, 0, tag);
    w.sleep(Span::from_secs(4));
    assert!(!w.reported(0, tag));
    w.sleep(Span::from_secs(2));
    assert_eq!(end(&w, 0, tag).0, Some((Cause::Withdrawn, Place::Moving)));
    assert_eq!((w.said(0, 1, "cancel_put"), invalidating(&w).0), (0, 0));
    assert_eq!(w.count(0, Counter::ConnectionsFailed), 1);
    w.device(1, 0, |d| d.frozen = false);
    w.sleep(Span::from_secs(60));
    w.assert_drained();
}

/// R31: a refusal of a request that was not sent yet says nothing of memory that is staged later.
#[test]
fn a_refusal_of_what_was_not_sent_yet_is_not_believed() {
    let mut w = met();
    w.hold("put_req");
    for _ in 0..small().depth {
        w.put(0, 1, 3000).unwrap();
    }
    let waits = w.put(0, 1, 3000).unwrap();
    w.settle();
    assert_eq!(w.said(0, 1, "put_req"), usize::from(small().depth), "without a credit it waits");
    let message = Message::PutNak { source: waits, why: NakReason::NoMatch };
    assert!(w.hand(&forged(&w, 1, 0, &message)));
    w.free("put_req");
    w.device(1, 0, |d| d.frozen = true);
    w.settle();
    let pulled = w.device(1, 0, |d| d.calls.posts);
    assert_eq!(pulled, usize::from(small().depth) + 1, "it is being pulled");
    // The device looks whether it is asked for what is being pulled.
    withdraw(&mut w, 0, waits);
    w.settle();
    assert_eq!((w.said(0, 1, "cancel_put"), invalidating(&w).0), (1, 0));
    w.device(1, 0, |d| d.frozen = false);
    w.sleep(Span::from_secs(1));
    w.assert_drained();
}
