// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! One deadline over every place where a message may wait (INV-9, R38, R39, R40).

use lnd_core::config::Config;
use lnd_core::counters::Counter;
use lnd_core::driver::Kind;
use lnd_core::id::Tag;
use lnd_core::ports::Sent;
use lnd_core::time::{Instant, Span};
use lnd_core::transfer::{Cause, Delivery, HealthClass, Place};

use super::device::OnInvalidate;
use super::fabric::InjectedFault;
use super::node::{Decision, Order};
use super::peer_down::{devices, expect};
use super::world::{config, World};

const SPAN: Span = Span::from_millis(300);

fn due(w: &mut World, kind: Kind, length: u32) -> (Tag, Instant) {
    let deadline = w.now.after(SPAN);
    let order = Order { deadline, ..w.order(kind, 1, length) };
    (w.send(0, order).unwrap(), deadline)
}

/// The driver announces exactly `deadline`; a nanosecond earlier nothing happens, and at that time
/// the deadline passes.
fn passes(w: &mut World, node: usize, deadline: Instant) {
    assert_eq!(w.nodes[node].next, Some(deadline), "announced");
    let before = w.count(node, Counter::Deadlines);
    w.now = Instant::from_nanos(deadline.as_nanos() - 1);
    w.tick();
    assert_eq!(w.nodes[node].next, Some(deadline), "announced again");
    assert_eq!(w.count(node, Counter::Deadlines), before, "early");
    w.now = deadline;
    w.tick();
    assert_eq!(w.count(node, Counter::Deadlines), before + 1, "late");
}

#[test]
fn while_the_peer_is_being_connected() {
    let mut w = World::new(2);
    w.hold("hello");
    let (tag, deadline) = due(&mut w, Kind::Put, 50);
    w.settle();
    passes(&mut w, 0, deadline);
    w.settle();
    expect(w.report(0, tag), Cause::Deadline, Place::Queue, -110, HealthClass::LocalTimeout);
    w.assert_drained();
}

/// What is submitted after a turn in which nothing was due.
#[test]
fn while_nothing_else_is_due() {
    let mut w = World::met();
    // The test's own eyes, without the audit's.
    w.node(0).audits = false;
    w.hold("put_req");
    w.tick();
    assert_eq!(w.nodes[0].next, None, "quiet");
    let (tag, deadline) = due(&mut w, Kind::Put, 5000);
    w.tick();
    passes(&mut w, 0, deadline);
    w.settle();
    expect(w.report(0, tag), Cause::Deadline, Place::Staged, -110, HealthClass::RemoteTimeout);
}

#[test]
fn while_no_credit_is_left() {
    let mut small = config();
    small.depth = 1;
    let mut w = World::met_with(small);
    w.node(1).inline = Decision::Keep;
    w.put(0, 1, 50).unwrap();
    let (tag, deadline) = due(&mut w, Kind::Put, 50);
    w.settle();
    assert_eq!(w.said(0, 1, "immediate"), 1);
    passes(&mut w, 0, deadline);
    w.settle();
    expect(w.report(0, tag), Cause::Deadline, Place::Queue, -110, HealthClass::LocalTimeout);
}

#[test]
fn while_the_message_is_in_flight() {
    for (injected, place, health) in [
        (Sent::NotDelivered, Place::Message, HealthClass::LocalTimeout),
        (Sent::Unknown, Place::Answer, HealthClass::NetworkTimeout),
    ] {
        let mut w = World::met();
        w.injected("immediate", InjectedFault::Lost(injected));
        let (tag, deadline) = due(&mut w, Kind::Put, 50);
        w.settle_untold();
        passes(&mut w, 0, deadline);
        w.settle_untold();
        assert!(!w.reported(0, tag), "INV-5");
        assert_eq!(w.nodes[0].next, Some(deadline.after(w.config.drain_bound)));
        w.settle();
        expect(w.report(0, tag), Cause::Deadline, place, -110, health);
        w.assert_drained();
    }
}

#[test]
fn s1_2_while_the_peers_answer_is_awaited() {
    let mut w = World::met();
    w.node(1).get = Decision::Keep;
    let (tag, deadline) = due(&mut w, Kind::Get, 5000);
    w.settle();
    passes(&mut w, 0, deadline);
    w.settle();
    expect(w.report(0, tag), Cause::Deadline, Place::Answer, -110, HealthClass::NetworkTimeout);
    // The answer comes late: it matches nothing, and the target learns that none pulls its stage.
    let gave = w.node(1).answer_kept(9999).unwrap();
    w.settle();
    assert_eq!(w.count(0, Counter::StaleAnswer), 1);
    let end = w.report(1, gave).status;
    assert_eq!((end.evidence, end.errno), (Some((Cause::Refused, Place::Staged)), -121));
    assert_eq!((end.delivery, end.resend), (Delivery::NotDelivered, false));
    w.assert_drained();
}

/// S0-5: nothing is decided on a sampled state; R37: by the one deadline of the submit.

#[test]
fn r40_while_staged_or_moving_the_end_comes_after_the_proof() {
    for (on_invalidate, place, health) in [
        (OnInvalidate::Honest, Place::Staged, HealthClass::RemoteTimeout),
        (OnInvalidate::Touched, Place::Moving, HealthClass::NetworkTimeout),
    ] {
        let mut w = World::met();
        w.hold("put_req");
        let (tag, deadline) = due(&mut w, Kind::Put, 5000);
        w.settle();
        devices(&w, 0, true, on_invalidate);
        passes(&mut w, 0, deadline);
        w.settle();
        assert!(!w.reported(0, tag));
        assert_eq!(w.nodes[0].next, Some(deadline.after(w.config.drain_bound)));
        devices(&w, 0, false, on_invalidate);
        w.settle();
        expect(w.report(0, tag), Cause::Deadline, place, -110, health);
        w.assert_drained();
    }
}

#[test]
fn of_a_pull_on_either_side() {
    for get in [false, true] {
        let mut w = World::met();
        let puller = usize::from(!get);
        devices(&w, puller, true, OnInvalidate::Honest);
        w.node(1).put = Decision::Keep;
        let deadline = w.now.after(SPAN);
        if get {
            due(&mut w, Kind::Get, 5000);
            w.settle();
        } else {
            w.put(0, 1, 5000).unwrap();
            w.settle();
            let kept = w.node(1).kept.remove(0);
            w.node(1).answer(kept.rx_request, kept.id, 5000, deadline).unwrap();
            w.settle();
        }
        passes(&mut w, puller, deadline);
        devices(&w, puller, false, OnInvalidate::Honest);
        w.settle();
        let report = w.nodes[puller].done[0];
        expect(report, Cause::Deadline, Place::Staged, -110, HealthClass::RemoteTimeout);
        // The source is told that no pull will come.
        let source = w.nodes[1 - puller].done[0];
        assert_eq!(source.status.evidence, Some((Cause::Refused, Place::Staged)));
        w.assert_drained();
    }
}

#[test]
fn of_a_decision_that_does_not_come() {
    let mut w = World::met();
    w.node(1).put = Decision::Forget;
    w.put(0, 1, 5000).unwrap();
    w.settle();
    let deadline = w.now.after(w.config.decision_bound);
    assert_eq!(w.nodes[1].next, Some(deadline));
    w.sleep_until(Instant::from_nanos(deadline.as_nanos() - 1));
    passes(&mut w, 1, deadline);
    w.settle();
    assert_eq!(w.nodes[1].driver.in_use(), (0, 0));
    w.assert_drained();
}

/// As a host whose thread has not run: time is past `deadline` and no driver has been told.
fn oversleep(w: &mut World, deadline: Instant) {
    w.now = deadline;
    w.nodes.iter_mut().for_each(|n| n.now = deadline);
}

#[test]
fn lu16303_an_answer_that_waited_for_room_past_its_deadline_is_not_sent() {
    // One timer a call: answers that are late are still queued when the queue's turn comes.
    let mut w = World::met_with(Config { batch: 1, ..config() });
    w.node(1).get = Decision::Keep;
    for _ in 0..3 {
        w.get(0, 1, 5000).unwrap();
    }
    w.settle();
    w.fabric.borrow_mut().room.insert((1, 0), [64, 0]);
    let deadline = w.now.after(SPAN);
    for _ in 0..3 {
        let kept = w.node(1).kept.remove(0);
        w.node(1).answer(kept.rx_request, kept.id, 5000, deadline).unwrap();
    }
    w.tick();
    w.fabric.borrow_mut().room.clear();
    oversleep(&mut w, deadline);
    w.tick();
    w.settle();
    assert_eq!(w.said(1, 0, "pull_ready"), 0, "sent after its deadline");
    assert_eq!(w.nodes[1].done.len(), 3);
    for report in w.nodes[1].done.clone() {
        expect(report, Cause::Deadline, Place::Queue, -110, HealthClass::LocalTimeout);
    }
    // The other side is told that nothing is staged.
    assert!(w.nodes[0].done.iter().all(|r| r.status.errno == -121), "{:?}", w.nodes[0].done);
    w.sleep(Span::from_secs(31));
    w.assert_drained();
}

#[test]
fn lu16303_a_pull_is_not_posted_after_its_deadline() {
    for get in [false, true] {
        let mut w = World::met();
        w.node(1).put = Decision::Keep;
        let kind = if get { Kind::Get } else { Kind::Put };
        w.hold("pull_ready");
        let (tag, deadline) = due(&mut w, kind, 5000);
        w.settle();
        let puller = usize::from(!get);
        oversleep(&mut w, deadline);
        if get {
            w.free("pull_ready");
            w.deliver();
        } else {
            let kept = w.node(1).kept.remove(0);
            w.node(1).answer(kept.rx_request, kept.id, 5000, deadline).unwrap();
        }
        let posts =
            |w: &World| (0..2).map(|l| w.device(puller, l, |d| d.calls.posts)).sum::<usize>();
        assert_eq!(posts(&w), 0, "get {get}");
        w.settle();
        assert_eq!(posts(&w), 0, "get {get}");
        if get {
            let report = w.report(0, tag);
            expect(report, Cause::Deadline, Place::Answer, -110, HealthClass::NetworkTimeout);
        } else {
            let report = w.nodes[1].done[0];
            expect(report, Cause::Deadline, Place::Queue, -110, HealthClass::LocalTimeout);
        }
        assert_eq!(w.count(puller, Counter::Deadlines), 1);
        w.sleep(Span::from_secs(31));
        w.assert_drained();
    }
}

#[test]
fn r64_more_late_requests_than_one_call_may_end_are_ended_by_the_next_calls() {
    // Nothing of them is sent, and none is ended twice.
    let mut w = World::with(2, Config { batch: 1, slots: 64, ..config() });
    w.hold("hello_ack");
    let mut order = w.order(Kind::Put, 1, 10);
    order.deadline = w.now.after(SPAN);
    let tags: Vec<Tag> = (0..40).map(|_| w.send(0, order).unwrap()).collect();
    w.settle();
    let deadline = order.deadline;
    oversleep(&mut w, deadline);
    w.free("hello_ack");
    w.deliver();
    assert!(w.count(0, Counter::Deadlines) < 40, "one call ends a bounded number");
    w.settle();
    assert_eq!((w.said(0, 1, "immediate"), w.count(0, Counter::Deadlines)), (0, 40));
    for tag in tags {
        expect(w.report(0, tag), Cause::Deadline, Place::Queue, -110, HealthClass::LocalTimeout);
    }
    w.assert_drained();
}

#[test]
fn r64_one_call_handles_as_many_as_the_batch_says() {
    // Deadlines that pass together, then a peer that goes down with as many transfers: each call
    // does three of them, and says that it is to be called again at once.
    let ended = |w: &World| w.nodes[0].done.len();
    for down in [false, true] {
        let mut w = World::met_with(Config { batch: 3, slots: 64, depth: 32, ..config() });
        w.hold("put_req");
        let mut order = w.order(Kind::Put, 1, 5000);
        order.deadline = w.now.after(SPAN);
        let tags: Vec<Tag> = (0..12).map(|_| w.send(0, order).unwrap()).collect();
        w.settle();
        if down {
            w.notify_peer(0, 1, false);
        } else {
            w.now = order.deadline;
        }
        let before = w.count(0, Counter::Invalidated);
        for call in 1..=4 {
            w.node(0).now = w.now;
            let now = w.now;
            let next = w.node(0).driver.on_time(now);
            let invalidating = w.count(0, Counter::Invalidated) - before;
            assert!(invalidating <= 3 * call, "{invalidating} after {call} calls, down {down}");
            assert!(call == 4 || next == Some(now), "down {down}: {next:?}");
        }
        w.settle();
        assert_eq!((ended(&w), w.count(0, Counter::Invalidated) - before), (tags.len(), 12));
        w.assert_drained();
    }
}

/// R63: events in, actions out; the host is told when to call.
#[test]
fn the_announced_time_is_the_least_of_all() {
    let mut w = World::met();
    w.hold("put_req");
    let mut deadlines = Vec::new();
    for n in [9_u64, 2, 7, 3, 8, 1, 6] {
        let deadline = w.now.after(Span::from_secs(n));
        let order = Order { deadline, ..w.order(Kind::Put, 1, 500) };
        w.send(0, order).unwrap();
        deadlines.push(deadline);
        w.settle();
        assert_eq!(w.nodes[0].next, deadlines.iter().min().copied());
    }
    deadlines.sort_unstable();
    for deadline in deadlines {
        passes(&mut w, 0, deadline);
        w.settle();
    }
    w.assert_drained();
}

/// What waits for room in the control lane is looked at again as often as a link is: nothing tells
/// of room.
#[test]
fn what_waits_for_room_is_looked_at_again_soon() {
    let room = |w: &World, from, to| w.fabric.borrow_mut().room.insert((from, to), [64, 0]);
    let mut w = World::new(2);
    room(&w, 0, 1);
    w.put(0, 1, 10).unwrap();
    w.settle();
    assert_eq!(w.nodes[0].next, Some(w.now.after(w.config.link_poll)), "a hello");
    let mut w = World::met();
    room(&w, 1, 0);
    w.get(0, 1, 5000).unwrap();
    w.settle();
    assert_eq!(w.nodes[1].next, Some(w.now.after(w.config.link_poll)), "an answer");
}

/// LU-16303: an answer to a transfer that is over, or that is being drained, has no deadline to
/// meet.
#[test]
fn lu16303_an_answer_to_what_was_given_up_is_not_late() {
    for announced in [true, false] {
        let mut w = World::met();
        w.hold("pull_ready");
        let deadline = w.now.after(Span::from_millis(10));
        let tag = w.send(0, Order { deadline, ..w.order(Kind::Get, 1, 5000) }).unwrap();
        if announced {
            w.settle();
        } else {
            w.settle_untold();
        }
        let now = w.now;
        w.nodes[0].driver.withdraw(now, tag);
        // Over and not fetched, or its message's end is still to come.
        assert_eq!(w.nodes[0].driver.nothing_to_report(), !announced);
        w.now = deadline.after(w.config.drain_bound);
        let letter = w.fabric.borrow_mut().wire.pop_front().unwrap();
        assert_eq!((letter.kind(), w.hand(&letter)), ("pull_ready", true));
        assert_eq!((w.count(0, Counter::Deadlines), w.count(0, Counter::LateEvent)), (0, 1));
    }
}

#[test]
fn a_finished_transfer_leaves_no_deadline_behind() {
    let mut w = World::met();
    due(&mut w, Kind::Put, 50);
    due(&mut w, Kind::Put, 5000);
    due(&mut w, Kind::Get, 5000);
    w.settle();
    assert_eq!((w.nodes[0].next, w.nodes[1].next), (None, None));
    w.sleep(Span::from_secs(60));
    assert_eq!(w.count(0, Counter::Deadlines) + w.count(1, Counter::Deadlines), 0);
    w.assert_drained();
}

#[test]
fn r36_a_clock_that_steps_back_is_harmless() {
    let mut w = World::met();
    w.hold("put_req");
    let (tag, deadline) = due(&mut w, Kind::Put, 500);
    w.settle();
    w.now = deadline;
    w.settle();
    assert_eq!(w.report(0, tag).status.errno, -110);
    w.now = Instant::from_nanos(deadline.as_nanos() - 1_000_000);
    w.free("put_req");
    let again = w.put(0, 1, 500).unwrap();
    w.settle();
    assert_eq!(w.report(0, again).status.errno, 0);
    w.assert_drained();
}
