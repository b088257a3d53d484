// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! When there is something to do next, and what a call leaves over (R39, R64).

use lnd_core::config::Config;
use lnd_core::counters::Counter;
use lnd_core::driver::{Kind, RunState};
use lnd_core::id::Tag;
use lnd_core::link::{LinkState, Quiesced};
use lnd_core::message::{Message, NakReason, PullReady};
use lnd_core::peer::HelloState;
use lnd_core::time::{Instant, Span};

use super::device::OnInvalidate;
use super::hello::forged;
use super::late::take;
use super::node::{Decision, Order};
use super::peer_down::devices;
use super::world::{config, World, LINK0, LINK1};

/// When there is something to do next, by a call that does nothing.
pub fn next_time(w: &World, node: usize) -> Option<Instant> {
    w.nodes[node].driver.next_time(w.now)
}

/// Calls a driver as long as it says that there is something to do at once. Returns how often.
pub fn at_once(w: &mut World, node: usize) -> usize {
    let now = w.now;
    w.node(node).now = now;
    (1..1_000).find(|_| w.node(node).on_time() != Some(now)).expect("it never rests")
}

/// A call of the engine has found its device gone: `on_time` would fail the link now.
#[test]
fn h4_1_an_engine_that_is_gone_is_something_to_do_at_once() {
    let mut w = World::met();
    w.hold("put_req");
    let order =
        Order { deadline: Instant::NEVER, link: Some(LINK0), ..w.order(Kind::Put, 1, 5000) };
    let tag = w.send(0, order).unwrap();
    w.settle();
    assert_eq!(next_time(&w, 0), None);
    w.device(0, 0, |d| d.unreadable = true);
    let now = w.now;
    w.node(0).driver.withdraw(now, tag);
    assert_eq!(w.nodes[0].driver.link_state(LINK0), Some(LinkState::Up));
    assert_eq!(next_time(&w, 0), Some(now));
    w.node(0).on_time();
    assert_ne!(w.nodes[0].driver.link_state(LINK0), Some(LinkState::Up));
}

/// A doorbell that the host has not rung is rung by `on_time`: at once, and not with the next
/// timer.
#[test]
fn h4_1_a_doorbell_that_is_owed_is_something_to_do_at_once() {
    let mut w = World::met();
    w.hold("put_req");
    w.put(0, 1, 5000).unwrap();
    w.settle();
    let letter = take(&w, 0, "put_req").unwrap();
    assert!(w.node(1).receive(&letter));
    let bells = |w: &World| (0..2).map(|link| w.device(1, link, |d| d.calls.doorbells)).sum();
    let before: usize = bells(&w);
    assert_eq!(next_time(&w, 1), Some(w.now));
    w.node(1).on_time();
    assert_eq!(bells(&w), before + 1);
}

/// What a stopped engine had is taken back in pieces, one behind the other and not one each
/// `link_poll`.
#[test]
fn h4_2_a_link_that_is_being_reclaimed_is_something_to_do_at_once() {
    for asserted in [false, true] {
        let mut w = World::met_with(Config { batch: 4, ..config() });
        w.device(0, 0, |d| d.slow_stop = true);
        w.notify_link(0, LINK0, false);
        w.settle();
        assert_eq!(w.nodes[0].driver.link_state(LINK0), Some(LinkState::Stopping));
        w.device(0, 0, |d| d.stopped = true);
        let now = w.now;
        if asserted {
            // SAFETY: it has nothing.
            let proof = unsafe { Quiesced::assert_stopped(LINK0) };
            w.node(0).driver.assert_stopped(now, proof).unwrap();
        } else {
            // The look that finds the proof.
            assert_eq!(w.node(0).on_time(), Some(now), "and waits before it takes back");
        }
        while w.nodes[0].driver.link_state(LINK0) == Some(LinkState::Reclaiming) {
            assert_eq!(next_time(&w, 0), Some(now), "asserted {asserted}");
            w.node(0).on_time();
        }
        assert_eq!(w.nodes[0].driver.link_state(LINK0), Some(LinkState::Down));
        assert_eq!(next_time(&w, 0), Some(now.after(w.config.link_poll)));
    }
}

/// The control lanes from node 0 to all others have room, or none.
fn control_room(w: &World, room: usize) {
    for to in 1..w.nodes.len() {
        w.fabric.borrow_mut().room.insert((0, to), [64, room]);
    }
}

/// One call looks at `batch` peers; those behind them follow at once, and each is looked at once
/// until `link_poll` is over.
#[test]
fn h4_3_peers_that_one_call_leaves_over_are_looked_at_at_once() {
    let mut w = World::with(5, Config { batch: 1, ..config() });
    control_room(&w, 0);
    for to in 1..5 {
        w.put(0, to, 10).unwrap();
    }
    assert!(at_once(&mut w, 0) >= 4);
    let due = w.now.after(w.config.link_poll);
    assert_eq!(w.nodes[0].next, Some(due));
    // All of them once more, and no more than that.
    w.now = due;
    assert_eq!(at_once(&mut w, 0), 4);
    assert_eq!(w.nodes[0].next, Some(due.after(w.config.link_poll)));
    control_room(&w, 64);
    w.now = due.after(w.config.link_poll);
    at_once(&mut w, 0);
    assert_eq!([1, 2, 3, 4].map(|to| w.said(0, to, "hello")), [1; 4]);
}

/// The same of answers that wait for room. A call that came early has put the first one behind the
/// others.
#[test]
fn h4_3_answers_that_one_call_leaves_over_are_sent_at_once() {
    for (withdrawn, first, all) in [(None, 3, 4), (Some(1), 3, 3), (Some(0), 2, 3)] {
        let mut w = World::met_with(Config { batch: 1, slots: 64, ..config() });
        w.node(0).get = Decision::Keep;
        let poll = w.config.link_poll;
        control_room(&w, 0);
        (0..4).for_each(|_| _ = w.get(1, 0, 5000).unwrap());
        w.settle();
        let tags = [0; 4].map(|_| w.node(0).answer_kept(5000).unwrap());
        at_once(&mut w, 0);
        assert_eq!((w.nodes[0].next, w.said(0, 1, "pull_ready")), (Some(w.now.after(poll)), 0));
        // One of those that wait is looked at, and waits on.
        w.now = w.now.after(poll);
        let now = w.now;
        w.node(0).now = now;
        assert_eq!(w.node(0).on_time(), Some(now));
        if let Some(at) = withdrawn {
            // It waits behind the end of the round, or is the end.
            w.node(0).driver.withdraw(now, tags[at]);
        }
        control_room(&w, 64);
        at_once(&mut w, 0);
        assert_eq!(w.said(0, 1, "pull_ready"), first, "{withdrawn:?}");
        assert_eq!(w.nodes[0].next == Some(now.after(poll)), first < all);
        w.now = now.after(poll);
        at_once(&mut w, 0);
        assert_eq!(w.said(0, 1, "pull_ready"), all, "{withdrawn:?}");
    }
}

/// A credit that is owed is sent by the next call: it is not put off until nothing else is left to
/// wait for.
#[test]
fn h4_3_what_is_new_to_send_is_sent_at_once() {
    let mut w = World::met_with(Config { depth: 2, ..config() });
    w.node(1).put = Decision::Keep;
    w.put(0, 1, 5000).unwrap();
    w.deliver();
    w.node(1).on_time();
    assert_eq!(next_time(&w, 1), Some(w.now.after(w.config.decision_bound)));
    w.node(1).answer_kept(u32::MAX).unwrap();
    // The pull's doorbell is not what is left to do.
    w.node(1).driver.ring();
    assert_eq!(next_time(&w, 1), Some(w.now));
    let before = w.said(1, 0, "noop");
    at_once(&mut w, 1);
    assert_eq!(w.said(1, 0, "noop"), before + 1);
}

/// A link that comes back, by the word of another: what waited for it goes out with the next call.
#[test]
fn h4_3_what_waits_for_a_link_is_sent_when_the_link_is_open() {
    let mut w = World::with(2, Config { links: 1, ..config() });
    w.notify_link(0, LINK0, false);
    w.sleep(Span::from_millis(10));
    let deadline = Instant::NEVER;
    w.send(0, Order { deadline, ..w.order(Kind::Put, 1, 10) }).unwrap();
    w.settle();
    assert_eq!(
        (w.said(0, 1, "hello"), w.nodes[0].driver.link_state(LINK0)),
        (0, Some(LinkState::Down))
    );
    w.notify_link(0, LINK0, true);
    assert_eq!(next_time(&w, 0), Some(w.now));
    at_once(&mut w, 0);
    assert_eq!(w.said(0, 1, "hello"), 1);
}

/// `next_time` is a time of the clock, not a span from whenever it is asked.
#[test]
fn h4_3_the_next_look_at_a_link_is_not_put_off_by_asking() {
    let mut w = World::met();
    w.notify_link(0, LINK0, false);
    w.settle();
    let due = w.now.after(w.config.link_poll);
    for _ in 0..3 {
        assert_eq!(next_time(&w, 0), Some(due));
        w.now = w.now.after(Span::from_nanos(w.config.link_poll.as_nanos() / 3));
    }
    w.now = due.after(Span::from_nanos(1));
    assert_eq!(next_time(&w, 0), Some(w.now));
    // A clock that steps back puts it off by one look at most.
    w.now = Instant::from_nanos(5);
    assert_eq!(next_time(&w, 0), Some(w.now.after(w.config.link_poll)));
}

/// Each step of a shutdown follows the one before at once, unless it waits for something.
#[test]
fn h4_3_steps_of_a_shutdown_follow_at_once() {
    let mut w = World::met();
    let tag = w.put(0, 1, 5000).unwrap();
    w.hold("put_req");
    let now = w.now;
    let grace = now.after(Span::from_secs(5));
    w.node(0).driver.shutdown(now, grace);
    at_once(&mut w, 0);
    assert_eq!(next_time(&w, 0), Some(grace));
    w.free("put_req");
    for _ in 0..10 {
        w.deliver();
        w.devices();
        w.interrupts();
        w.endings();
        w.node(1).on_time();
    }
    at_once(&mut w, 0);
    assert_eq!((w.nodes[0].driver.run_state(), w.fetch()), (RunState::Refusing, 2));
    // The last one has been reported: there is nothing left to wait for.
    assert_eq!((w.report(0, tag).status.errno, next_time(&w, 0)), (0, Some(now)));
    at_once(&mut w, 0);
    for link in [LINK0, LINK1] {
        assert_eq!(w.nodes[0].driver.link_state(link), Some(LinkState::Stopping));
    }
    // Of links that are down already nothing is awaited.
    let mut w = World::met();
    for link in [LINK0, LINK1] {
        w.notify_link(0, link, false);
    }
    w.sleep(Span::from_millis(10));
    let now = w.now;
    w.node(0).driver.shutdown(now, now);
    at_once(&mut w, 0);
    assert_eq!(w.nodes[0].driver.run_state(), RunState::Quiescent);
}

/// R31: an answer to a slot that there is not is as stale as any other, whatever generation it
/// names.
#[test]
fn h4_4_an_answer_beyond_the_slots_is_counted() {
    let mut w = World::met();
    let why = NakReason::NoMatch;
    let mut stale = 0;
    for index in [16, 17, u32::MAX] {
        for generation in [0, 1] {
            let tag = Tag { index, generation };
            let source = Tag { index: 0, generation: 1 };
            let ready = PullReady { sink: tag, source, length: 1, key: b"forged" };
            for answer in [
                Message::PutNak { source: tag, why },
                Message::PutDone { source: tag, failed: None },
                Message::GetNak { sink: tag, why },
                Message::PullReady(ready),
            ] {
                let letter = forged(&w, 1, 0, &answer);
                w.hand(&letter);
                stale += 1;
                let counted = (w.count(0, Counter::StaleAnswer), w.count(0, Counter::WrongAnswer));
                assert_eq!(counted, (stale, 0), "{answer:?}");
            }
        }
    }
}

/// R68: another context has declared the peer down while our hello waited for room.
#[test]
fn h4_5_a_hello_that_waits_is_not_sent_to_a_peer_that_was_taken_down() {
    let mut w = World::new(2);
    control_room(&w, 0);
    let tag = w.put(0, 1, 10).unwrap();
    w.settle();
    assert_eq!((w.state(0, 1), w.said(0, 1, "hello")), (HelloState::Handshake, 0));
    let peer = w.peer(0, 1).unwrap();
    assert!(w.nodes[0].driver.irq_handle().peer_down(peer));
    control_room(&w, 64);
    w.settle();
    assert_eq!((w.state(0, 1), w.said(0, 1, "hello")), (HelloState::Down, 0));
    assert_eq!(w.report(0, tag).status.errno, -112);
    // It is asked for the next request that may be, by one hello.
    w.sleep(Span::from_secs(60));
    assert!(w.put(0, 1, 10).is_err(), "the thread hears of it by its next request");
    w.sleep(Span::from_secs(60));
    let tag = w.put(0, 1, 10).unwrap();
    w.settle();
    assert_eq!((w.report(0, tag).status.errno, w.said(0, 1, "hello")), (0, 1));
}

/// INV-12, S0-18: a peer has as many requests without a decision as it may. Its next one waits in
/// the channel until one of them is decided, and the host hears of that.
#[test]
fn h4_6_a_decision_makes_room_for_the_peers_next_request() {
    for refuses in [false, true] {
        let mut w = World::met_with(Config { depth: 2, ..config() });
        devices(&w, 0, true, OnInvalidate::Never);
        w.node(0).put = Decision::Keep;
        w.hold("put_req");
        w.put(1, 0, 5000).unwrap();
        w.put(1, 0, 5000).unwrap();
        w.settle();
        // Its sender has counted otherwise: one more than it may have.
        let mut letter = take(&w, 1, "put_req").unwrap();
        w.free("put_req");
        w.hand(&letter);
        w.settle();
        assert_eq!(w.nodes[0].kept.len(), 2);
        letter.envelope.sequence = letter.envelope.sequence.wrapping_add(2);
        assert!(!w.hand(&letter), "it has two without a decision");
        w.settle();
        let _ = w.node(0).driver.offer_again();
        assert!(!w.node(0).driver.offer_again());
        if refuses {
            control_room(&w, 0);
            let kept = w.node(0).kept.remove(0);
            let now = w.now;
            w.node(0).driver.nak(now, kept.rx_request, NakReason::NoMatch);
        } else {
            w.node(0).answer_kept(u32::MAX).unwrap();
        }
        assert!(w.nodes[0].driver.nothing_to_report(), "no slot becomes free");
        assert!(w.node(0).driver.offer_again(), "the host is not told");
        // It was handed over once: the ledger of what was seen is not asked.
        w.fabric.borrow_mut().seen.clear();
        assert!(w.hand(&letter));
    }
}
