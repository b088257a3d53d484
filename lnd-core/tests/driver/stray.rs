// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What does not belong here: messages and completions that change nothing but a counter (INV-6).

use lnd_core::counters::{Counter, Counters};
use lnd_core::driver::Inbound;
use lnd_core::id::{Incarnation, LinkId, Tag};
use lnd_core::message::{Envelope, Message, NakReason, PullReady};
use lnd_core::peer::HelloState;
use lnd_core::ports::{Completion, NoTrace, Returned, Sent};
use lnd_core::time::Span;

use super::fabric::{nid, InjectedFault};
use super::hello::{forged, hello};
use super::letter::Letter;
use super::world::{World, LINK0};

const TAG: Tag = Tag { index: 3, generation: 9 };

/// One of each kind of message but the hellos.
fn each() -> Vec<Message<'static>> {
    vec![
        Message::Immediate { header: &[0; 8], payload: &[1; 10] },
        Message::PutReq { header: &[0; 8], source: TAG, length: 5000, key: b"forged" },
        Message::GetReq { header: &[0; 8], sink: TAG, length: 5000, key: &[] },
        Message::PutNak { source: TAG, why: NakReason::NoMatch },
        Message::PutDone { source: TAG, failed: None },
        Message::GetNak { sink: TAG, why: NakReason::NoMatch },
        Message::Noop,
        Message::Close,
        Message::PullReady(PullReady { sink: TAG, source: TAG, length: 1, key: b"forged" }),
    ]
}

/// R28: dropped by rule, never silently.

#[test]
fn s0_13_early_messages_are_dropped_and_counted_whatever_they_are() {
    for message in each() {
        let mut w = World::new(2);
        w.fabric.borrow_mut().reliable = false;
        let letter = forged(&w, 1, 0, &message);
        w.hand(&letter);
        assert_eq!(w.count(0, Counter::Early), 1, "{message:?}");
        assert_eq!(w.nodes[0].driver.in_use(), (0, 0));
        // R29: it is told who we are.
        assert_eq!((w.said(0, 1, "hello"), w.state(0, 1)), (1, HelloState::Handshake));
        w.settle();
        w.assert_drained();
    }
}

#[test]
fn messages_of_or_to_another_incarnation_are_dropped_and_counted() {
    for message in each() {
        let mut w = World::met();
        let right = forged(&w, 1, 0, &message);
        let other = Incarnation::from_raw(999).unwrap();
        for wrong in [
            Envelope { from_incarnation: other, ..right.envelope },
            Envelope { to_incarnation: Some(other), ..right.envelope },
            Envelope { to_incarnation: None, ..right.envelope },
        ] {
            let before = w.count(0, Counter::WrongIncarnation);
            w.hand(&Letter::new(LINK0, &wrong, &message));
            assert_eq!(w.count(0, Counter::WrongIncarnation), before + 1, "{message:?}");
            assert_eq!(w.nodes[0].driver.in_use(), (0, 0));
            assert_eq!(w.state(0, 1), HelloState::Good);
        }
    }
}

#[test]
fn messages_for_another_node_or_from_ourselves_are_counted() {
    for message in each().into_iter().chain([hello()]) {
        let mut w = World::met();
        let right = forged(&w, 1, 0, &message);
        for wrong in
            [Envelope { to: nid(1), ..right.envelope }, Envelope { from: nid(0), ..right.envelope }]
        {
            let node = w.node(0);
            let inbound = node.driver.on_message(node.now, LINK0, &wrong, &message);
            assert!(matches!(inbound, Inbound::Handled));
        }
        let nowhere = LinkId::new(7).unwrap();
        let node = w.node(0);
        let inbound = node.driver.on_message(node.now, nowhere, &right.envelope, &message);
        assert!(matches!(inbound, Inbound::Handled));
        assert_eq!(w.count(0, Counter::Misrouted), 3);
        w.assert_drained();
    }
}

#[test]
fn repeated_requests_are_taken_once() {
    let mut w = World::met();
    let kinds = [("immediate", 10, false), ("put_req", 5000, false), ("get_req", 5000, true)];
    for (n, (kind, length, get)) in kinds.into_iter().enumerate() {
        w.injected(kind, InjectedFault::Twice);
        let tag = if get { w.get(0, 1, length) } else { w.put(0, 1, length) }.unwrap();
        w.settle();
        assert_eq!(w.report(0, tag).status.errno, 0);
        assert_eq!(w.count(1, Counter::Duplicate), n as u64 + 1);
        assert_eq!(w.nodes[1].done.len(), n + 1);
    }
    w.assert_drained();
}

#[test]
fn requests_of_another_session_or_far_outside_the_window_are_dropped() {
    // Where the channel loses nothing one that is far ahead is no stray: we count from a wrong
    // number.
    for (reliable, far_ahead) in [(false, Counter::OutsideWindow), (true, Counter::Waited)] {
        let mut w = World::met();
        w.fabric.borrow_mut().reliable = reliable;
        let message = Message::Immediate { header: &[0; 8], payload: &[1; 10] };
        let right = forged(&w, 0, 1, &message);
        let far_behind = 0u32.wrapping_sub(1000);
        let cases = [
            (Envelope { session: 77, sequence: 2, ..right.envelope }, Counter::WrongSession),
            (Envelope { sequence: far_behind, ..right.envelope }, Counter::OutsideWindow),
            (Envelope { sequence: 1, ..right.envelope }, Counter::Duplicate),
            (Envelope { sequence: 2000, ..right.envelope }, far_ahead),
        ];
        for (envelope, counter) in cases {
            let before = w.count(1, counter);
            let taken = w.hand(&Letter::new(LINK0, &envelope, &message));
            assert_eq!(w.count(1, counter), before + 1, "{envelope:?}");
            assert_eq!(taken, counter != Counter::Waited);
        }
        assert!(w.nodes[1].done.is_empty());
        w.assert_drained();
    }
}

#[test]
fn r14_stale_and_foreign_completions_match_nothing() {
    let mut w = World::met();
    w.hold("put_req");
    let tag = w.put(0, 1, 5000).unwrap();
    w.settle();
    let stale = Tag { generation: tag.generation.wrapping_add(1), ..tag };
    let far = Tag { generation: tag.generation.wrapping_add(1 << 16), ..tag };
    let unused = Tag { index: 15, generation: 0 };
    // Behind the slots come the names of hellos, one for each peer.
    let foreign = Tag { index: 16 + 4, generation: 1 };
    for (tag, counter) in [
        (stale, Counter::StaleCompletion),
        (far, Counter::StaleCompletion),
        (unused, Counter::StaleCompletion),
        (foreign, Counter::ForeignCompletion),
        (Tag { index: u32::MAX, generation: 0 }, Counter::ForeignCompletion),
    ] {
        let before = w.count(0, counter);
        w.device(0, 0, |d| d.ring.push_back(Completion { tag, returned: Returned::Ok }));
        w.settle();
        assert_eq!(w.count(0, counter), before + 1, "{tag:?}");
    }
    for sent in [Sent::Ok, Sent::Unknown] {
        let before = w.count(0, Counter::StaleCompletion);
        w.node(0).on_sent(stale, sent);
        w.node(0).on_sent(foreign, sent);
        assert_eq!(w.count(0, Counter::StaleCompletion), before + 2);
    }
    assert!(!w.reported(0, tag));
    w.free("put_req");
    w.settle();
    assert_eq!(w.report(0, tag).status.errno, 0);
    w.assert_drained();
}

/// S1-6: finalized once, when everything has ended.
#[test]
fn a_repeated_completion_is_late_and_counted() {
    let mut w = World::met();
    w.hold("put_req");
    let tag = w.put(0, 1, 5000).unwrap();
    w.settle();
    // The message's end is told twice.
    w.node(0).on_sent(tag, Sent::NotDelivered);
    assert_eq!(w.count(0, Counter::LateEvent), 1);
    w.free("put_req");
    w.settle();
    assert_eq!(w.report(0, tag).status.errno, 0);
    w.assert_drained();
}

#[test]
fn an_interrupt_takes_no_more_than_its_budget() {
    let mut w = World::met();
    for generation in 0..10 {
        let tag = Tag { index: 0, generation: 500 + generation };
        w.device(0, 0, |d| d.ring.push_back(Completion { tag, returned: Returned::Ok }));
    }
    let now = w.now;
    let interrupt = &mut w.node(0).interrupts()[0];
    let served = interrupt.on_interrupt(now, 4, &mut NoTrace);
    assert_eq!((served.taken, served.more, served.wake), (4, true, false));
    let served = interrupt.on_interrupt(now, 40, &mut NoTrace);
    assert_eq!((served.taken, served.more), (6, false));
    assert_eq!(interrupt.counters().value(Counter::StaleCompletion), 10);
}

#[test]
fn an_interrupt_wakes_the_thread_for_a_finished_transfer_and_for_an_invalidate() {
    let mut w = World::met();
    w.put(0, 1, 5000).unwrap();
    w.tick();
    w.deliver();
    w.tick();
    w.devices();
    let now = w.now;
    let wakes = |w: &mut World, node: usize| {
        let serve =
            |i: &mut lnd_core::driver::Interrupt<'_, _>| i.on_interrupt(now, 9, &mut NoTrace).wake;
        w.node(node).interrupts().iter_mut().map(serve).filter(|&wake| wake).count()
    };
    // The puller is done; the source still waits for its message's completion.
    assert_eq!((wakes(&mut w, 1), wakes(&mut w, 0)), (1, 0));
    w.settle();
    w.hold("put_req");
    w.injected("put_req", InjectedFault::Lost(Sent::NotDelivered));
    w.put(0, 1, 5000).unwrap();
    let ending = w.fabric.borrow_mut().endings.pop_front().unwrap();
    let (irq_handle, mut counters) = (w.nodes[0].driver.irq_handle(), Counters::new());
    assert!(irq_handle.on_sent(now, ending.tag, ending.sent, &mut counters, &mut NoTrace));
    w.settle();
    assert_eq!(w.count(0, Counter::Invalidated), 1);
    w.assert_drained();
}

#[test]
fn close_of_a_stranger_changes_nothing() {
    let mut w = World::met();
    let close = forged(&w, 1, 0, &Message::Close);
    let other = Incarnation::from_raw(999).unwrap();
    let envelope = Envelope { from_incarnation: other, ..close.envelope };
    w.hand(&Letter::new(LINK0, &envelope, &Message::Close));
    assert_eq!(w.state(0, 1), HelloState::Good);
    w.sleep(Span::from_secs(1));
    w.assert_drained();
}

#[test]
fn the_control_entry_checks_what_the_other_one_does() {
    let mut w = World::met();
    let ready = PullReady { sink: TAG, source: TAG, length: 1, key: b"forged" };
    let right = forged(&w, 1, 0, &Message::PullReady(ready)).envelope;
    let nowhere = LinkId::new(7).unwrap();
    let node = w.node(0);
    for (link, envelope) in [
        (LINK0, Envelope { to: nid(1), ..right }),
        (LINK0, Envelope { from: nid(0), ..right }),
        (nowhere, right),
    ] {
        node.driver.on_pull_ready(node.now, link, &envelope, &ready);
    }
    assert_eq!(w.count(0, Counter::Misrouted), 3);
}
