// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A link fails and comes back (S0-10 to S0-12, S0-20 to S0-22).

use lnd_core::config::Config;
use lnd_core::counters::Counter;
use lnd_core::driver::Kind;
use lnd_core::id::{LinkId, Tag};
use lnd_core::link::LinkState;
use lnd_core::ports::{Completion, Features, Returned};
use lnd_core::time::Span;
use lnd_core::transfer::{Cause, HealthClass, Place};

use super::device::{Device, OnInvalidate};
use super::fabric::Fabric;
use super::node::{Decision, Order};
use super::peer_down::expect;
use super::world::{config, World, LINK0, LINK1};

fn by(w: &mut World, kind: Kind, length: u32, link: LinkId) -> Tag {
    let order = Order { link: Some(link), ..w.order(kind, 1, length) };
    w.send(0, order).unwrap()
}

/// R19: by hand only with the proof, and marked as such.

#[test]
fn s0_20_nothing_is_asserted_before_the_engine_has_stopped() {
    let mut w = World::met();
    for link in 0..2 {
        w.device(0, link, |d| d.slow_stop = true);
    }
    w.hold("put_req");
    w.hold("get_req");
    let staged = by(&mut w, Kind::Put, 5000, LINK0);
    let invalidating = by(&mut w, Kind::Get, 5000, LINK0);
    let other = by(&mut w, Kind::Put, 5000, LINK1);
    w.settle();
    let flying = by(&mut w, Kind::Put, 10, LINK0);
    w.settle_untold();
    w.notify_link(0, LINK0, false);
    for _ in 0..20 {
        w.now = w.now.after(Span::from_millis(1));
        w.settle_untold();
    }
    assert_eq!(w.nodes[0].driver.link_state(LINK0), Some(LinkState::Stopping));
    // Only the wait for an answer could be given up.
    expect(w.report(0, invalidating), Cause::LinkDown, Place::Answer, -5, HealthClass::LocalError);
    assert!(!w.reported(0, staged) && !w.reported(0, flying));
    // S0-20 has both: it was asked for the descriptor, and then to stop. It gave neither.
    // S0-12: so nothing was taken away.
    assert_eq!(
        w.device(0, 0, |d| (d.calls.invalidates, d.calls.stops, d.calls.reclaims)),
        (1, 1, 0)
    );
    w.device(0, 0, |d| d.stopped = true);
    for _ in 0..5 {
        w.now = w.now.after(Span::from_millis(1));
        w.settle_untold();
    }
    expect(w.report(0, staged), Cause::LinkDown, Place::Moving, -5, HealthClass::LocalError);
    expect(w.report(0, flying), Cause::LinkDown, Place::Answer, -5, HealthClass::LocalError);
    assert_eq!(w.nodes[0].driver.link_state(LINK0), Some(LinkState::Down));
    assert_eq!(w.device(0, 0, |d| (d.calls.reclaims, d.calls.resets)), (1, 1));
    assert_eq!(w.count(0, Counter::Asserted), 2);
    // INV-5: the channel has given its own proof and reports nothing of that link any more.
    assert!(w.fabric.borrow().endings.iter().all(|e| (e.node, e.link) != (0, LINK0)));
    let quiesce = w.nodes[0].driver.time_to_quiesce(LINK0).unwrap();
    assert!(quiesce >= Span::from_millis(20), "{quiesce:?}");
    // S0-22: the other link is no part of it.
    assert!(!w.reported(0, other));
    w.free("put_req");
    w.free("get_req");
    w.settle();
    assert_eq!(w.report(0, other).status.errno, 0);
    w.notify_link(0, LINK0, true);
    w.sleep(Span::from_secs(31));
    w.assert_drained();
}

#[test]
fn s0_20_what_a_failed_link_has_is_invalidated_before_its_engine_is_stopped() {
    for batch in [1, 256] {
        let mut w = World::met_with(Config { batch, ..config() });
        w.hold("put_req");
        let staged: Vec<Tag> = (0..5).map(|_| by(&mut w, Kind::Put, 5000, LINK0)).collect();
        let other = by(&mut w, Kind::Put, 5000, LINK1);
        w.settle();
        // The link is down and its device still answers.
        w.device(0, 0, |d| d.slow_stop = true);
        let now = w.now;
        w.nodes[0].driver.on_link(now, LINK0, false);
        while w.device(0, 0, |d| d.calls.stops) == 0 {
            w.tick();
        }
        assert_eq!(w.device(0, 0, |d| d.calls.invalidates), 5, "batch {batch}");
        w.settle();
        // It says what its stop could not: nothing was moved.
        for tag in staged {
            expect(
                w.report(0, tag),
                Cause::LinkDown,
                Place::Staged,
                -100,
                HealthClass::LocalDropped,
            );
        }
        assert_eq!(w.device(0, 0, |d| (d.stopped, d.calls.reclaims)), (false, 0));
        assert_eq!(
            (w.count(0, Counter::Asserted), w.device(0, 1, |d| d.calls.invalidates)),
            (0, 0)
        );
        assert!(!w.reported(0, other));
        w.device(0, 0, |d| d.stopped = true);
        w.free("put_req");
        w.sleep(Span::from_secs(31));
        w.assert_drained();
    }
}

#[test]
fn s0_12_a_done_word_in_the_descriptor_tells_the_real_outcome() {
    for (returned, errno) in [(Returned::Ok, 0), (Returned::Untouched, -100)] {
        let mut w = World::met();
        w.device(1, 0, |d| d.mute = true);
        if returned != Returned::Ok {
            w.device(1, 0, |d| d.frozen = true);
        }
        let tag = by(&mut w, Kind::Put, 5000, LINK0);
        w.settle();
        if returned != Returned::Ok {
            let finish = |d: &mut Device| {
                d.posted.values_mut().for_each(|bd| bd.outcome = Some(returned));
            };
            w.device(1, 0, finish);
        }
        assert!(w.nodes[1].done.is_empty(), "the completion was lost");
        w.notify_link(1, LINK0, false);
        w.sleep(Span::from_millis(10));
        let got = w.nodes[1].done[0];
        assert_eq!(got.status.errno, errno);
        assert_eq!((w.count(1, Counter::ReclaimedReal), w.count(1, Counter::Asserted)), (1, 0));
        w.notify_link(1, LINK0, true);
        w.sleep(Span::from_secs(31));
        assert_eq!(w.report(0, tag).status.errno == 0, errno == 0);
        w.assert_drained();
    }
}

#[test]
fn s0_21_a_real_completion_after_the_asserted_one_is_counted_only() {
    for reuse in [false, true] {
        let mut w = World::met();
        w.hold("put_req");
        let tag = by(&mut w, Kind::Put, 5000, LINK0);
        w.settle();
        w.notify_link(0, LINK0, false);
        w.sleep(Span::from_millis(10));
        expect(w.report(0, tag), Cause::LinkDown, Place::Moving, -5, HealthClass::LocalError);
        let next = reuse.then(|| by(&mut w, Kind::Put, 5000, LINK1));
        assert!(next.is_none_or(|n| n.index == tag.index || n != tag));
        w.settle();
        w.device(0, 0, |d| d.ring.push_back(Completion { tag, returned: Returned::Ok }));
        let stale = w.count(0, Counter::StaleCompletion);
        w.settle();
        assert_eq!(w.count(0, Counter::StaleCompletion), stale + 1);
        if let Some(next) = next {
            assert!(!w.reported(0, next));
        }
        w.notify_link(0, LINK0, true);
        w.free("put_req");
        w.sleep(Span::from_secs(31));
        w.assert_drained();
    }
}

#[test]
fn a_completion_in_the_ring_and_a_reclaim_finalize_once() {
    let mut w = World::met();
    let tag = by(&mut w, Kind::Put, 5000, LINK0);
    w.tick();
    w.deliver();
    w.tick();
    w.devices();
    // Both rings hold the completion; the link fails before the driver has looked.
    w.notify_link(0, LINK0, false);
    for _ in 0..6 {
        w.now = w.now.after(Span::from_millis(1));
        w.tick();
        w.endings();
    }
    w.fetch();
    assert_eq!(w.report(0, tag).status.errno, 0);
    w.settle();
    assert_eq!(w.count(0, Counter::StaleCompletion) + w.count(0, Counter::LateEvent), 1);
    w.assert_drained();
}

#[test]
fn queued_transfers_survive_and_go_by_the_other_link() {
    let mut small = config();
    small.depth = 2;
    let mut w = World::met_with(small);
    w.hold("put_req");
    let tags: Vec<Tag> = (0..6).map(|_| w.put(0, 1, 5000).unwrap()).collect();
    w.settle();
    w.notify_link(0, LINK0, false);
    w.sleep(Span::from_millis(10));
    w.free("put_req");
    w.sleep(Span::from_secs(3));
    let ends: Vec<i32> = tags.iter().map(|&t| w.report(0, t).status.errno).collect();
    assert_eq!(ends[2..], [0; 4], "queued ones: {ends:?}");
    assert!(w.device(0, 1, |d| d.calls.posts) >= 4);
    w.notify_link(0, LINK0, true);
    w.sleep(Span::from_secs(31));
    w.assert_drained();
}

#[test]
fn r53_what_waits_for_a_failed_link_alone_fails_at_once() {
    let small = Config { depth: 1, ..config() };
    let mut w = World::met_with(small);
    w.hold("put_req");
    let first = by(&mut w, Kind::Put, 5000, LINK1);
    let waits = by(&mut w, Kind::Put, 5000, LINK0);
    let any = w.put(0, 1, 5000).unwrap();
    w.settle();
    w.notify_link(0, LINK0, false);
    w.settle();
    expect(w.report(0, waits), Cause::LinkDown, Place::Queue, -100, HealthClass::LocalDropped);
    // So does one that is submitted now, and no transfer is stuck behind either.
    let vain = by(&mut w, Kind::Put, 5000, LINK0);
    w.settle();
    expect(w.report(0, vain), Cause::LinkDown, Place::Queue, -100, HealthClass::LocalDropped);
    w.free("put_req");
    // The credit may come back by the link that has failed on our side alone: then a new session
    // does it.
    w.sleep(Span::from_secs(3));
    assert_eq!((w.report(0, first).status.errno, w.report(0, any).status.errno), (0, 0));
    w.assert_drained();
}

#[test]
fn a_refusal_finds_another_way_when_its_link_has_failed() {
    use lnd_core::message::NakReason::NoMatch;
    let mut w = World::met();
    (w.node(1).put, w.node(1).get) = (Decision::Keep, Decision::Keep);
    by(&mut w, Kind::Put, 5000, LINK0);
    by(&mut w, Kind::Get, 5000, LINK0);
    by(&mut w, Kind::Get, 5000, LINK0);
    w.settle();
    w.notify_link(1, LINK0, false);
    w.sleep(Span::from_millis(10));
    let now = w.now;
    for _ in 0..2 {
        let kept = w.node(1).kept.remove(0);
        w.node(1).driver.nak(now, kept.rx_request, NoMatch);
    }
    // A GET that can no longer be answered is refused instead.
    let gave = w.node(1).answer_kept(5000).unwrap();
    w.settle();
    expect(w.report(1, gave), Cause::LinkDown, Place::Queue, -100, HealthClass::LocalDropped);
    assert_eq!(w.nodes[0].done.len(), 3);
    assert!(w.nodes[0].done.iter().all(|r| r.status.errno == -121));
    w.assert_drained();
}

#[test]
fn a_restored_link_takes_what_waited_for_it() {
    let mut w = World::met();
    for link in [LINK0, LINK1] {
        w.notify_link(0, link, false);
    }
    w.sleep(Span::from_millis(10));
    let tag = w.put(0, 1, 5000).unwrap();
    w.sleep(Span::from_millis(10));
    assert!(!w.reported(0, tag));
    // The link register alone is enough: it is looked at every poll.
    w.device(0, 0, |d| d.link_works = true);
    w.sleep(Span::from_millis(2));
    assert_eq!(w.nodes[0].driver.link_state(LINK0), Some(LinkState::Up));
    assert_eq!(w.report(0, tag).status.errno, 0);
    assert_eq!(w.count(0, Counter::LinksFailed), 2);
    w.assert_drained();
}

#[test]
fn s0_9_a_descriptor_that_does_not_come_back_fails_the_link() {
    let mut w = World::met();
    w.hold("put_req");
    let tag = by(&mut w, Kind::Put, 5000, LINK0);
    w.settle();
    w.device(0, 0, |d| d.on_invalidate = OnInvalidate::Never);
    w.notify_peer(0, 1, false);
    let start = w.now;
    w.settle();
    // R39: the bound is the next time that anything has to be done.
    assert_eq!(w.nodes[0].next, Some(start.after(w.config.drain_bound)));
    w.sleep_until(start.after(Span::from_nanos(w.config.drain_bound.as_nanos() - 1)));
    assert_eq!(w.nodes[0].driver.link_state(LINK0), Some(LinkState::Up));
    w.now = start.after(w.config.drain_bound);
    w.tick();
    assert_eq!(w.count(0, Counter::DrainBoundHit), 1);
    assert_ne!(w.nodes[0].driver.link_state(LINK0), Some(LinkState::Up));
    w.sleep(Span::from_millis(10));
    expect(w.report(0, tag), Cause::PeerDown, Place::Moving, -5, HealthClass::RemoteError);
    // Nothing was wrong with the link itself: it is back.
    assert_eq!(w.nodes[0].driver.link_state(LINK0), Some(LinkState::Up));
    w.assert_drained();
}

#[test]
fn a_message_that_does_not_complete_fails_the_link() {
    let mut w = World::met();
    let tag = w.put(0, 1, 50).unwrap();
    w.settle_untold();
    w.notify_peer(0, 1, false);
    w.settle_untold();
    let until = w.now.after(w.config.drain_bound).after(Span::from_millis(10));
    while w.now < until {
        w.now = w.now.after(Span::from_millis(1));
        w.settle_untold();
    }
    expect(w.report(0, tag), Cause::PeerDown, Place::Answer, -5, HealthClass::RemoteError);
    assert_eq!(w.count(0, Counter::DrainBoundHit), 1);
    w.settle();
    w.assert_drained();
}

#[test]
fn a_failure_told_by_an_interrupt_closes_the_gate_at_once() {
    let mut w = World::met();
    for link in 0..2 {
        w.device(0, link, |d| d.link_works = false);
    }
    let irq_handle = w.nodes[0].driver.irq_handle();
    irq_handle.link_failed(LINK0);
    irq_handle.link_failed(LINK1);
    let tag = w.put(0, 1, 50).unwrap();
    assert_eq!(w.said(0, 1, "immediate"), 0);
    w.sleep(Span::from_millis(10));
    for link in [LINK0, LINK1] {
        assert_eq!(w.nodes[0].driver.link_state(link), Some(LinkState::Down));
        w.notify_link(0, link, true);
    }
    w.settle();
    assert_eq!(w.report(0, tag).status.errno, 0);
    w.assert_drained();
}

#[test]
fn answers_to_a_failed_link_end_with_it() {
    // A PULL_READY for a GET whose link has gone arrives all the same.
    let mut w = World::met();
    w.hold("pull_ready");
    let tag = by(&mut w, Kind::Get, 5000, LINK0);
    w.settle();
    w.nodes[0].driver.irq_handle().link_failed(LINK0);
    let letter = w.fabric.borrow_mut().wire.pop_front().unwrap();
    w.hand(&letter);
    w.node(0).fetch();
    expect(w.report(0, tag), Cause::LinkDown, Place::Queue, -100, HealthClass::LocalDropped);
    w.sleep(Span::from_secs(31));
    w.assert_drained();
}

#[test]
fn a_request_whose_link_fails_can_still_be_refused_or_taken() {
    let mut w = World::met();
    w.node(1).put = Decision::Keep;
    by(&mut w, Kind::Put, 5000, LINK0);
    w.settle();
    w.notify_link(1, LINK0, false);
    w.sleep(Span::from_millis(10));
    let tag = w.node(1).answer_kept(9999).unwrap();
    w.settle();
    expect(w.report(1, tag), Cause::LinkDown, Place::Queue, -100, HealthClass::LocalDropped);
    // The source is told by the other link.
    w.settle();
    assert_eq!(w.nodes[0].done[0].status.errno, -121);
    w.assert_drained();
}

#[test]
fn links_of_unlike_features_agree_on_who_signals() {
    // Only one link of node 1 lacks remote completion; what is announced holds for all of them.
    for get in [false, true] {
        let mut fabric = Fabric::new(2, 2);
        fabric.device(1, 1).features &= !Features::REMOTE_COMPLETION.0;
        let mut w = World::on(fabric, 2, config());
        for (from, to) in [(0, 1), (1, 0)] {
            for link in [LINK0, LINK1] {
                let kind = if get { Kind::Get } else { Kind::Put };
                let order = Order { link: Some(link), ..w.order(kind, to, 5000) };
                let tag = w.send(from, order).unwrap();
                w.settle();
                assert_eq!(w.report(from, tag).status.errno, 0, "{from} {link:?} {get}");
                w.assert_drained();
            }
        }
    }
}

/// A link without room holds up nothing that another link has room for. One that was asked for is
/// waited for.
#[test]
fn a_request_goes_by_another_link_where_the_one_in_turn_has_no_room() {
    for (turns, at_once) in [(0, false), (1, false), (0, true), (1, true)] {
        let mut w = World::met();
        w.fabric.borrow_mut().ends_at_once = at_once;
        for _ in 0..turns {
            w.put(0, 1, 10).unwrap();
            w.settle();
        }
        w.hold("immediate");
        w.fabric.borrow_mut().room.insert((0, 1), [1, 64]);
        let by_link1 = Order { link: Some(LINK1), ..w.order(Kind::Put, 1, 10) };
        w.send(0, by_link1).unwrap();
        w.put(0, 1, 10).unwrap();
        let links =
            |w: &World| -> Vec<_> { w.fabric.borrow().wire.iter().map(|l| l.link).collect() };
        assert_eq!(links(&w), [LINK1, LINK0], "{turns} {at_once}");
        // Neither has room, and then only the one that was not asked for.
        w.send(0, by_link1).unwrap();
        w.settle();
        assert_eq!(links(&w), [LINK1, LINK0]);
        w.fabric.borrow_mut().room.insert((0, 1), [2, 64]);
        w.settle();
        w.sleep(w.config.link_poll);
        assert_eq!(links(&w), [LINK1, LINK0, LINK1]);
    }
}

/// One poll finds room on any link, whether or not that link is in turn.
#[test]
fn a_request_that_waits_goes_by_the_first_link_that_has_room() {
    for (turns, freed) in [(0, LINK0), (0, LINK1), (1, LINK0), (1, LINK1)] {
        let mut w = World::met();
        for _ in 0..turns {
            w.put(0, 1, 10).unwrap();
            w.settle();
        }
        w.hold("immediate");
        w.fabric.borrow_mut().room.insert((0, 1), [1, 64]);
        for _ in 0..3 {
            w.put(0, 1, 10).unwrap();
        }
        assert_eq!(w.fabric.borrow().wire.len(), 2, "the third waits");
        let at = w.fabric.borrow().wire.iter().position(|letter| letter.link == freed).unwrap();
        let letter = w.letter(at).unwrap();
        w.fabric.borrow_mut().wire.remove(at);
        assert!(w.hand(&letter));
        w.now = w.now.after(w.config.link_poll);
        w.node(0).on_time();
        let last = w.fabric.borrow().wire.iter().rfind(|l| l.kind() == "immediate").unwrap().link;
        assert_eq!((last, w.said(0, 1, "immediate")), (freed, turns + 3), "{turns} {freed:?}");
    }
}
