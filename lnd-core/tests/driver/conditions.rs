// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Single conditions of the driver that whole transfers hardly show: bounds, hints and whom a
//! goodbye is for.

use lnd_core::config::Config;
use lnd_core::counters::Counter;
use lnd_core::driver::{Kind, Role, RunState, Why};
use lnd_core::id::{LinkId, PeerId, Tag};
use lnd_core::link::LinkState;
use lnd_core::message::{Message, NakReason};
use lnd_core::peer::HelloState;
use lnd_core::ports::Sent;
use lnd_core::time::{Instant, Span};

use super::fabric::InjectedFault;
use super::hello::forged;
use super::node::{Decision, Node, Order};
use super::world::{config, World, LINK0, LINK1};

/// Two nodes that have met, of which one takes `ours` and the other `theirs` inline.
fn inline(ours: u32, theirs: u32) -> World {
    let mut w = World::with(2, Config { immediate_max: ours, ..config() });
    let other = Config { immediate_max: theirs, ..config() };
    w.nodes[1] = Node::boot(&w.fabric, 1, 77, other, w.now);
    w.put(0, 1, 0).unwrap();
    w.settle();
    assert_eq!(w.state(0, 1), HelloState::Good);
    w
}

/// S1-10, R26: inline goes what both sides take inline; before the hello, what we do.
#[test]
fn s1_10_both_bounds_of_inline_messages_count() {
    for (ours, theirs) in [(64, 128), (128, 64)] {
        let mut w = inline(ours, theirs);
        for (length, whole) in [(64, true), (65, false), (100, false)] {
            let put = w.put(0, 1, length).unwrap();
            let get = w.get(0, 1, length).unwrap();
            w.settle();
            let roles = (w.report(0, put).role, w.report(0, get).role);
            let expected = if whole {
                (Role::Immediate, Role::Immediate)
            } else {
                (Role::PutSource, Role::GetPull)
            };
            assert_eq!(roles, expected, "{length} bytes, {ours} and {theirs} inline");
        }
    }
    let mut w = World::new(2);
    let first = w.put(0, 1, 100).unwrap();
    w.settle();
    assert_eq!(w.report(0, first).role, Role::Immediate);
}

/// INV-14: all slots are in use, and our request has taken a list before that is found out.
/// INV-11: requests without a decision leave a slot to us.
#[test]
fn inv_14_a_request_without_a_slot_keeps_no_list() {
    let small = Config { slots: 4, passive_slots: 1, lists: 2, ..config() };
    let mut w = World::with(3, small);
    w.node(0).inline = Decision::Keep;
    for from in [1, 2, 1, 2] {
        w.put(from, 0, 10).unwrap();
        w.settle();
    }
    assert_eq!((w.nodes[0].kept.len(), w.nodes[0].driver.in_use()), (3, (0, 3)));
    assert!(w.put(0, 1, 5000).is_ok());
    w.node(0).pieces = 2;
    // The books are audited after each call.
    assert_eq!(w.put(0, 1, 5000), Err(Why::NoSlots));
    assert_eq!(w.put(0, 1, 5000), Err(Why::NoSlots));
}

/// INV-11, decision 0061: a router decides about a request when what it has to send before that has
/// ended. However many requests wait, there is a slot for it.
#[test]
fn inv_11_requests_that_wait_leave_slots_to_ours() {
    for (slots, passive_slots, ours) in [(2, 1, 1), (5, 4, 1), (8, 1, 1), (16, 4, 3)] {
        let mut w = World::with(3, Config { slots, passive_slots, lists: 1, ..config() });
        w.node(0).inline = Decision::Keep;
        for from in [1, 2] {
            for _ in 0..slots.min(15) {
                // Those that have no credit any more take a slot there.
                let _ = w.put(from, 0, 10);
                w.settle();
            }
        }
        let waiting = slots - ours;
        assert_eq!(w.nodes[0].driver.in_use(), (0, waiting), "{slots}, {passive_slots}");
        // One of ours after the other; each lets one request be decided.
        for _ in 0..2 * slots.min(15) {
            let sent = w.put(0, 1, 5000).unwrap();
            w.settle();
            assert_eq!(w.report(0, sent).status.errno, 0);
            if !w.nodes[0].kept.is_empty() {
                w.node(0).answer_kept(0).unwrap();
                w.settle();
            }
        }
        assert!(w.nodes[0].kept.is_empty());
        w.assert_drained();
    }
}

/// Pulls of one batch share a doorbell.
#[test]
fn pulls_are_announced_together() {
    let mut w = World::met();
    w.hold("put_req");
    for _ in 0..3 {
        let order = Order { link: Some(LINK0), ..w.order(Kind::Put, 1, 5000) };
        w.send(0, order).unwrap();
    }
    w.settle();
    let before = w.device(1, 0, |d| d.calls);
    for _ in 0..3 {
        let letter = w.fabric.borrow_mut().wire.pop_front().unwrap();
        assert!(w.node(1).receive(&letter));
    }
    let posted = w.device(1, 0, |d| d.calls);
    assert_eq!((posted.posts - before.posts, posted.doorbells - before.doorbells), (3, 0));
    w.node(1).driver.ring();
    assert_eq!(w.device(1, 0, |d| d.calls.doorbells) - before.doorbells, 1);
    w.settle();
    w.assert_drained();
}

/// R13, INV-14: descriptors that a device has kept when its link failed, and nothing else.
#[test]
fn r13_the_quarantine_counts_what_the_device_has_of_that_link() {
    let mut w = World::met();
    w.hold("put_req");
    w.hold("immediate");
    for link in 0..2 {
        w.device(0, link, |d| (d.frozen, d.slow_stop) = (true, true));
    }
    for (length, link) in [(5000, LINK0), (5000, LINK0), (10, LINK0), (5000, LINK1)] {
        let order = Order { link: Some(link), ..w.order(Kind::Put, 1, length) };
        w.send(0, order).unwrap();
    }
    w.settle_untold();
    let held = |w: &World| [LINK0, LINK1].map(|link| w.nodes[0].driver.quarantined(link));
    assert_eq!(held(&w), [0, 0], "both links are up");
    w.notify_link(0, LINK0, false);
    for _ in 0..5 {
        w.now = w.now.after(Span::from_millis(1));
        w.settle_untold();
    }
    assert_eq!(w.nodes[0].driver.link_state(LINK0), Some(LinkState::Stopping));
    assert_eq!(held(&w), [2, 0]);
    w.device(0, 0, |d| d.stopped = true);
    w.sleep(Span::from_millis(5));
    assert_eq!(held(&w), [0, 0], "the proof has brought them back");
}

/// A driver with a link to stop or to take back in pieces asks to be called again at once.
#[test]
fn pieces_of_a_failed_link_follow_at_once() {
    let mut w = World::met_with(Config { batch: 1, ..config() });
    w.notify_link(0, LINK0, false);
    let mut seen = Vec::new();
    for _ in 0..100 {
        let before = w.nodes[0].driver.link_state(LINK0).unwrap();
        let again = w.node(0).on_time() == Some(w.now);
        let state = w.nodes[0].driver.link_state(LINK0).unwrap();
        let pieces = matches!(state, LinkState::Stalled | LinkState::Reclaiming);
        assert!(again || !pieces || before != state, "{state:?} waits for time");
        if seen.last() != Some(&state) {
            seen.push(state);
        }
        if state == LinkState::Down {
            break;
        }
        let millisecond = if pieces { Span::default() } else { Span::from_millis(1) };
        w.now = w.now.after(millisecond);
        w.nodes[0].now = w.now;
    }
    assert!(seen.contains(&LinkState::Reclaiming), "{seen:?}");
    assert_eq!(seen.last(), Some(&LinkState::Down));
}

/// R40: a GET that was refused while its message's end is still to come is waited for no longer
/// than the drain bound.
#[test]
fn r40_the_wait_after_a_refusal_is_bounded() {
    let mut w = World::met();
    w.node(1).get = Decision::Refuse(NakReason::NoMatch);
    let order = Order { deadline: Instant::NEVER, ..w.order(Kind::Get, 1, 5000) };
    let tag = w.send(0, order).unwrap();
    w.settle_untold();
    assert!(!w.reported(0, tag), "INV-5");
    assert_eq!(w.nodes[0].next, Some(w.now.after(w.config.drain_bound)));
    w.settle();
    assert!(w.reported(0, tag));
}

/// R31: an answer to a transfer whose generation is 2^16 further on is stale, though the words
/// agree, and whatever it would be an answer to.
#[test]
fn r31_all_bits_of_an_answers_generation_count() {
    let mut w = World::met();
    w.node(1).put = Decision::Keep;
    let tag = w.put(0, 1, 5000).unwrap();
    w.settle();
    let old = Tag { generation: tag.generation.wrapping_add(1 << 16), ..tag };
    let why = NakReason::NoMatch;
    let answers = [Message::PutNak { source: old, why }, Message::GetNak { sink: old, why }];
    for (n, answer) in (1..).zip(answers) {
        let mut letter = forged(&w, 1, 0, &answer);
        letter.envelope.session = w.nodes[1].driver.peer_view(0).unwrap().session;
        w.hand(&letter);
        assert_eq!((w.count(0, Counter::StaleAnswer), w.count(0, Counter::WrongAnswer)), (n, 0));
    }
    assert!(!w.reported(0, tag));
    w.node(1).answer_kept(u32::MAX).unwrap();
    w.settle();
    assert_eq!(w.report(0, tag).status.errno, 0);
}

/// A request that was never sent concerns its sender alone.
#[test]
fn the_peer_is_not_told_of_what_ended_in_the_queue() {
    let mut w = World::met_with(Config { depth: 1, ..config() });
    w.node(1).inline = Decision::Keep;
    w.put(0, 1, 10).unwrap();
    let deadline = w.now.after(Span::from_millis(10));
    for (kind, length) in [(Kind::Put, 10), (Kind::Put, 5000), (Kind::Get, 5000)] {
        let order = Order { deadline, ..w.order(kind, 1, length) };
        w.send(0, order).unwrap();
    }
    w.sleep(Span::from_millis(11));
    assert_eq!(w.nodes[0].done.iter().filter(|r| r.status.errno != 0).count(), 3);
    for kind in ["get_nak", "put_nak", "put_done"] {
        assert_eq!(w.said(0, 1, kind), 0, "{kind}");
    }
}

/// The request has ended with its peer, and is not fetched yet: its ticket does not stand.
#[test]
fn a_request_of_a_peer_that_went_down_is_gone_before_it_is_fetched() {
    let mut w = World::met();
    w.node(1).put = Decision::Keep;
    w.put(0, 1, 5000).unwrap();
    w.settle();
    w.notify_peer(1, 0, false);
    w.node(1).on_time();
    assert!(!w.nodes[1].driver.nothing_to_report(), "it is over");
    assert_eq!(w.node(1).answer_kept(u32::MAX), Err(None));
    assert_eq!(w.count(1, Counter::DecisionLate), 1);
}

/// An inline payload is copied: however many buffers there are, it takes no list.
#[test]
fn an_inline_payload_takes_no_list() {
    let mut w = World::met_with(Config { lists: 0, ..config() });
    w.node(1).pieces = 3;
    let tag = w.put(0, 1, 50).unwrap();
    w.settle();
    assert_eq!((w.report(0, tag).status.errno, w.count(1, Counter::Refused)), (0, 0));
    assert_eq!(w.nodes[1].done.len(), 1);
}

/// R35: goodbye is said to each peer that has connected to us and is not down, and to no other.
#[test]
fn r35_goodbye_is_for_those_who_know_us() {
    for (how, goodbyes) in [("met", 1), ("connected to us", 1), ("connected by us", 0), ("down", 0)]
    {
        let mut w = match how {
            "met" | "down" => World::met(),
            _ => World::new(2),
        };
        match how {
            "connected to us" => w.hold("hello_ack"),
            "connected by us" => w.hold("hello"),
            _ => {}
        }
        match how {
            "connected to us" => _ = w.put(1, 0, 10).unwrap(),
            "connected by us" => _ = w.put(0, 1, 10).unwrap(),
            "down" => w.notify_peer(0, 1, false),
            _ => {}
        }
        w.settle();
        let now = w.now;
        w.node(0).driver.shutdown(now, now);
        w.settle();
        assert_eq!(w.said(0, 1, "close"), goodbyes, "{how}: {:?}", w.state(0, 1));
    }
}

/// What the host reaches: the engines of links that exist, the gates of peers that are known (R14).
#[test]
fn r14_what_is_not_there_is_not_reached() {
    let mut w = World::met();
    assert!(w.nodes[0].driver.engine_mut(LINK1).is_some());
    assert!(w.nodes[0].driver.engine_mut(LinkId::new(2).unwrap()).is_none());
    let id = w.peer(0, 1).unwrap();
    let irq_handle = w.nodes[0].driver.irq_handle();
    assert_eq!(irq_handle.peer_state(id), HelloState::Good);
    let former = PeerId::new(id.index() as u32, id.generation().wrapping_sub(1));
    assert_eq!(irq_handle.peer_state(former), HelloState::Unknown);
    let mut batch = irq_handle.shared().take_unheard();
    assert_eq!(irq_handle.shared().next_unheard(&mut batch), None);
}

/// While goodbyes are said, a hello that did not get through changes nothing.
#[test]
fn a_hello_that_was_not_heard_counts_until_the_goodbye() {
    let mut w = World::with(4, Config { batch: 1, ..config() });
    for to in 1..4 {
        w.injected("hello", InjectedFault::Lost(Sent::NotDelivered));
        w.put(0, to, 10).unwrap();
    }
    w.settle_untold();
    let now = w.now;
    w.node(0).driver.shutdown(now, now);
    for _ in 0..100 {
        w.node(0).on_time();
        if w.nodes[0].driver.run_state() == RunState::Closing {
            break;
        }
        w.fetch();
    }
    assert_eq!(w.nodes[0].driver.run_state(), RunState::Closing);
    w.endings();
    w.settle();
    assert_eq!((w.count(0, Counter::UnheardHellos), w.said(0, 1, "hello")), (0, 1));
}

/// R68: as many hellos as were configured, though more links would work.
#[test]
fn r68_unheard_hellos_end_with_the_tries() {
    let mut w = World::with(2, Config { hello_tries: 1, ..config() });
    for _ in 0..3 {
        w.injected("hello", InjectedFault::Lost(Sent::NotDelivered));
    }
    w.put(0, 1, 10).unwrap();
    w.settle();
    assert_eq!((w.said(0, 1, "hello"), w.state(0, 1)), (1, HelloState::Down));
}

/// Two are taken together, and a third comes while the bound of a call lies between them.
#[test]
fn r68_each_unheard_hello_is_handled_however_few_a_call_has() {
    let mut w = World::with(4, Config { hello_tries: 1, batch: 1, ..config() });
    w.fabric.borrow_mut().says_at_once = true;
    let lost = |w: &mut World, to| {
        w.injected("hello", InjectedFault::Lost(Sent::NotDelivered));
        w.put(0, to, 10).unwrap();
        assert_eq!(w.state(0, to), HelloState::Handshake);
    };
    lost(&mut w, 1);
    lost(&mut w, 2);
    w.tick();
    let down = |w: &World| (1..4).filter(|&to| w.state(0, to) == HelloState::Down).count();
    assert_eq!(down(&w), 1, "one a call");
    lost(&mut w, 3);
    w.settle();
    assert_eq!(down(&w), 3);
}

/// R41: a decision's time that ended while we did not run goes on for as long as we are known not
/// to have run, and no longer than it is.
#[test]
fn r41_a_decision_has_its_time_again_after_our_own_pause() {
    let bound = config().decision_bound;
    for pause in [Span::from_millis(2), Span::from_millis(700), bound, bound.times(2)] {
        let mut w = World::met();
        w.node(1).put = Decision::Keep;
        let order = Order { deadline: Instant::NEVER, ..w.order(Kind::Put, 1, 5000) };
        w.send(0, order).unwrap();
        w.settle();
        let due = w.now.after(bound);
        assert_eq!(w.nodes[1].next, Some(due));
        w.now = due.after(pause);
        w.tick();
        assert_eq!(w.count(1, Counter::DecisionLate), 0, "{pause:?}");
        let again = w.now.after(pause.min(bound));
        assert_eq!(w.nodes[1].next, Some(again), "{pause:?}");
        w.now = again;
        w.tick();
        assert_eq!(w.count(1, Counter::DecisionLate), 1, "once");
    }
}

/// R21: a link that is being stopped already is not found suspect again.
#[test]
fn r21_a_drain_bound_fails_a_link_once() {
    let mut w = World::met();
    w.hold("put_req");
    w.device(0, 0, |d| (d.frozen, d.slow_stop) = (true, true));
    let order =
        Order { deadline: Instant::NEVER, link: Some(LINK0), ..w.order(Kind::Put, 1, 5000) };
    let tag = w.send(0, order).unwrap();
    w.settle();
    let now = w.now;
    w.nodes[0].driver.withdraw(now, tag);
    w.sleep(w.config.drain_bound.times(4));
    assert_eq!(w.nodes[0].driver.link_state(LINK0), Some(LinkState::Stopping));
    assert_eq!(w.count(0, Counter::DrainBoundHit), 1);
}

/// INV-15: one call says as many goodbyes as it may, and the next one goes on behind them.
#[test]
fn inv_15_goodbyes_come_to_an_end() {
    let mut w = World::met();
    let now = w.now;
    w.node(0).driver.shutdown(now, now);
    for _ in 0..5 {
        w.node(0).on_time();
    }
    let state = w.nodes[0].driver.run_state();
    assert!(matches!(state, RunState::Stopping | RunState::Quiescent), "{state:?}");
    w.settle();
    assert_eq!(w.said(0, 1, "close"), 1);
}

/// INV-15, R39: while goodbyes are left to say, the next call is due at once.
#[test]
fn inv_15_goodbyes_follow_at_once() {
    let few = Config { slots: 2, passive_slots: 1, lists: 1, peers: 6, batch: 1, ..config() };
    let mut w = World::with(7, few);
    for to in 1..7 {
        w.put(0, to, 0).unwrap();
        w.settle();
    }
    let now = w.now;
    w.node(0).driver.shutdown(now, now);
    // A sweep of two slots is over before the goodbyes to six peers are.
    let mut waits = 0;
    for _ in 0..20 {
        let next = w.node(0).on_time();
        if w.nodes[0].driver.run_state() == RunState::Closing {
            assert_eq!(next, Some(now));
            waits += 1;
        }
    }
    assert!(waits > 3, "the goodbyes take more calls than the sweep: {waits}");
    assert_eq!((1..7).map(|to| w.said(0, to, "close")).sum::<usize>(), 6);
}
