// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Pulls under way from one peer are bounded; what waits can end in every way (S3-12, R25).

use lnd_core::config::Config;
use lnd_core::counters::Counter;
use lnd_core::driver::{Kind, Report};
use lnd_core::id::{LinkId, Tag};
use lnd_core::ports::Sent;
use lnd_core::time::Span;
use lnd_core::trace::Trace;
use lnd_core::transfer::{Cause, HealthClass, Place};

use super::node::{Decision, Order};
use super::peer_down::expect;
use super::world::{config, World, LINK0, LINK1};

const PULLS: usize = 3;

fn small() -> Config {
    Config { slots: 48, passive_slots: 24, depth: 8, pulls: PULLS as u16, ..config() }
}

fn freeze(w: &World, node: usize, frozen: bool) {
    for link in 0..2 {
        w.device(node, link, |d| d.frozen = frozen);
    }
}

/// A world of `nodes` whose puller, 1 of PUTs and 0 of GETs, is frozen; and `count` transfers
/// between nodes 0 and 1 by `link`.
fn waiting(get: bool, count: usize, link: Option<LinkId>) -> (World, usize, Vec<Tag>) {
    let mut w = World::met_with(small());
    let puller = usize::from(!get);
    freeze(&w, puller, true);
    let kind = if get { Kind::Get } else { Kind::Put };
    let order = Order { link, ..w.order(kind, 1, 5000) };
    let mut tags = Vec::new();
    for _ in 0..count {
        tags.push(w.send(0, order).unwrap());
        w.settle();
    }
    (w, puller, tags)
}

/// `(under way, waiting)`, as the driver says.
fn gauges(w: &World, puller: usize) -> (u32, u32) {
    let id = w.peer(puller, 1 - puller).unwrap();
    let view = w.nodes[puller].driver.peer_view(id.index() as u32).unwrap();
    (view.pulls, view.pulls_waiting)
}

fn most(w: &World, puller: usize) -> usize {
    w.fabric.borrow().most_pulls[&(puller, 1 - puller)]
}

/// How the puller's transfers ended.
fn ends(w: &World, puller: usize) -> Vec<Report> {
    w.nodes[puller].done.clone()
}

/// The messages whose pulls were posted and have ended, in the order of the posts.
fn started(w: &mut World, puller: usize) -> Vec<u64> {
    let ends = ends(w, puller);
    let user = |tag: Tag| ends.iter().find(|r| r.tag == tag).map(|r| r.user);
    let log = &w.nodes[puller].driver.tracer_mut().0;
    let posted = log.iter().filter_map(|(_, trace)| match trace {
        Trace::Posted { tag, .. } => user(*tag),
        _ => None,
    });
    posted.collect()
}

#[test]
fn s3_12_r25_pulls_under_way_from_one_peer_are_bounded() {
    for get in [false, true] {
        let (mut w, puller, tags) = waiting(get, 10, None);
        assert_eq!(w.fabric.borrow().pulls(puller, 1 - puller), PULLS, "get {get}");
        assert_eq!(gauges(&w, puller), (3, 7));
        assert_eq!(w.count(puller, Counter::PullsWaited), 7);
        // Each that ends makes room for one, in order.
        freeze(&w, puller, false);
        w.settle();
        assert_eq!((most(&w, puller), gauges(&w, puller)), (PULLS, (0, 0)));
        for tag in &tags {
            assert_eq!(w.report(0, *tag).status.errno, 0);
        }
        let started = started(&mut w, puller);
        assert!(started.is_sorted() && started.len() == 10, "{started:?}");
        w.assert_drained();
    }
}

#[test]
fn r25_pulls_from_another_peer_do_not_wait() {
    let mut w = World::with(3, Config { pulls: 1, ..small() });
    w.put(0, 1, 0).unwrap();
    w.put(2, 1, 0).unwrap();
    w.settle();
    w.device(1, 0, |d| d.frozen = true);
    let order = Order { link: Some(LINK0), ..w.order(Kind::Put, 1, 5000) };
    let slow: Vec<Tag> = (0..3).map(|_| w.send(0, order).unwrap()).collect();
    w.settle();
    for _ in 0..4 {
        let order = Order { link: Some(LINK1), ..w.order(Kind::Put, 1, 5000) };
        let quick = w.send(2, order).unwrap();
        w.settle();
        assert_eq!(w.report(2, quick).status.errno, 0);
    }
    assert!(slow.iter().all(|&tag| !w.reported(0, tag)));
    assert_eq!(gauges(&w, 1), (1, 2));
    w.device(1, 0, |d| d.frozen = false);
    w.settle();
    assert!(slow.iter().all(|&tag| w.report(0, tag).status.errno == 0));
    w.assert_drained();
}

#[test]
fn inv_9_the_deadline_reaches_a_pull_that_waits() {
    for get in [false, true] {
        let mut w = World::met_with(small());
        let puller = usize::from(!get);
        freeze(&w, puller, true);
        w.node(1).put = Decision::Keep;
        let kind = if get { Kind::Get } else { Kind::Put };
        let deadline = w.now.after(Span::from_secs(2));
        for n in 0..4 {
            let mut order = w.order(kind, 1, 5000);
            if get && n == PULLS {
                order.deadline = deadline;
            }
            w.send(0, order).unwrap();
            w.settle();
            if !get {
                let kept = w.node(1).kept.remove(0);
                let until = if n == PULLS { deadline } else { w.order(kind, 1, 0).deadline };
                w.node(1).answer(kept.rx_request, kept.id, 5000, until).unwrap();
            }
        }
        w.settle();
        assert_eq!((w.nodes[puller].next, gauges(&w, puller)), (Some(deadline), (3, 1)));
        w.now = deadline;
        w.settle();
        let [late] = ends(&w, puller)[..] else { panic!("{:?}", ends(&w, puller)) };
        expect(late, Cause::Deadline, Place::Queue, -110, HealthClass::LocalTimeout);
        assert_eq!(gauges(&w, puller), (3, 0));
        // The source learns that no pull will come.
        let [source] = ends(&w, 1 - puller)[..] else { panic!("get {get}") };
        assert_eq!(source.status.evidence.map(|(cause, _)| cause), Some(Cause::Refused));
        freeze(&w, puller, false);
        w.settle();
        assert_eq!(most(&w, puller), PULLS);
        w.sleep(Span::from_secs(31));
        w.assert_drained();
    }
}

#[test]
fn inv_15_whatever_ends_pulls_ends_those_that_wait_too() {
    type End = fn(&mut World, usize);
    let cases: [(Cause, End); 4] = [
        (Cause::PeerDown, |w, puller| w.notify_peer(puller, 1 - puller, false)),
        (Cause::PeerRestarted, |w, puller| w.reboot(1 - puller)),
        (Cause::LinkDown, |w, puller| w.notify_link(puller, LINK0, false)),
        (Cause::Shutdown, |w, puller| {
            let now = w.now;
            w.nodes[puller].driver.shutdown(now, now);
        }),
    ];
    for (cause, end) in cases {
        for get in [false, true] {
            let (mut w, puller, _) = waiting(get, 8, Some(LINK0));
            assert_eq!(gauges(&w, puller), (3, 5));
            end(&mut w, puller);
            if cause == Cause::PeerRestarted {
                // It shows itself.
                w.put(1 - puller, puller, 0).unwrap();
            }
            w.settle();
            // At once, though those under way have not come back.
            let queued: Vec<Report> = ends(&w, puller)
                .into_iter()
                .filter(|r| r.status.evidence == Some((cause, Place::Queue)))
                .collect();
            assert_eq!(queued.len(), 5, "{cause:?} get {get}: {:?}", ends(&w, puller));
            freeze(&w, puller, false);
            w.sleep(Span::from_secs(40));
            let theirs = ends(&w, puller).iter().filter(|r| r.status.errno != 0).count();
            assert!(theirs >= 5 && most(&w, puller) == PULLS);
            w.assert_drained();
        }
    }
}

#[test]
fn a_pull_that_waits_can_be_withdrawn() {
    let (mut w, puller, tags) = waiting(true, 5, None);
    let now = w.now;
    w.node(0).driver.withdraw(now, tags[4]);
    w.node(0).check();
    w.settle();
    let status = w.report(0, tags[4]).status;
    assert_eq!((status.errno, status.health), (-125, HealthClass::LocalAborted));
    assert_eq!(status.evidence, Some((Cause::Withdrawn, Place::Queue)));
    assert_eq!(gauges(&w, puller), (3, 1));
    freeze(&w, puller, false);
    w.settle();
    assert!(tags[..4].iter().all(|&tag| w.report(0, tag).status.errno == 0));
    w.assert_drained();
}

#[test]
fn inv_5_the_request_of_a_pull_that_waits_may_end_in_any_way() {
    for (sent, ok) in [(Sent::Ok, true), (Sent::Unknown, false), (Sent::NotDelivered, false)] {
        let mut w = World::met_with(Config { pulls: 1, ..small() });
        freeze(&w, 0, true);
        let first = w.get(0, 1, 5000).unwrap();
        w.settle();
        let second = w.get(0, 1, 5000).unwrap();
        w.settle_untold();
        assert_eq!(gauges(&w, 0), (1, 1));
        // PULL_READY has come, and only now the request ends.
        w.fabric.borrow_mut().endings.retain(|ending| ending.node != 0);
        w.node(0).on_sent(second, sent);
        freeze(&w, 0, false);
        w.settle();
        assert_eq!(w.report(0, first).status.errno, 0);
        assert_eq!(w.report(0, second).status.errno == 0, ok, "{sent:?}");
        w.sleep(Span::from_secs(31));
        w.assert_drained();
    }
}

/// R18: the descriptor of a pull that waits has not been posted. A sweep asks no engine for it.
#[test]
fn r18_a_sweep_does_not_ask_for_what_waits_to_be_posted() {
    let mut w = World::met_with(Config { pulls: 1, ..small() });
    freeze(&w, 0, true);
    let order = Order { link: Some(LINK0), ..w.order(Kind::Get, 1, 5000) };
    let first = w.send(0, order).unwrap();
    w.settle();
    let second = w.send(0, order).unwrap();
    w.settle_untold();
    assert_eq!(gauges(&w, 0), (1, 1));
    w.fabric.borrow_mut().endings.retain(|ending| ending.node != 0);
    w.node(0).on_sent(second, Sent::Unknown);
    assert!(!w.reported(0, second), "its queue still holds it");
    let asked = |w: &World| w.device(0, 0, |d| d.calls.invalidates);
    let before = asked(&w);
    w.notify_link(0, LINK1, false);
    w.settle();
    assert_eq!(asked(&w), before);
    assert!(w.reported(0, second), "it ends with the sweep, ahead of its turn");
    freeze(&w, 0, false);
    w.settle();
    assert_eq!(w.report(0, first).status.errno, 0);
    assert_ne!(w.report(0, second).status.errno, 0);
    w.sleep(Span::from_secs(31));
    w.assert_drained();
}

#[test]
fn r64_late_pulls_in_front_do_not_hold_up_the_one_behind() {
    let mut w = World::met_with(Config { batch: 1, pulls: 1, ..small() });
    freeze(&w, 1, true);
    w.node(1).put = Decision::Keep;
    let deadline = w.now.after(Span::from_secs(2));
    for n in 0..6 {
        w.put(0, 1, 5000).unwrap();
        w.settle();
        let kept = w.node(1).kept.remove(0);
        let late = (1..5).contains(&n);
        let until = if late { deadline } else { w.order(Kind::Put, 1, 0).deadline };
        w.node(1).answer(kept.rx_request, kept.id, 5000, until).unwrap();
    }
    w.settle();
    assert_eq!(gauges(&w, 1), (1, 5));
    // The host has not let time pass when the first ends and its report is fetched.
    freeze(&w, 1, false);
    w.now = deadline;
    w.devices();
    w.interrupts();
    w.fetch();
    w.settle();
    w.sleep(Span::from_millis(2));
    let good = ends(&w, 1).iter().filter(|r| r.status.errno == 0).count();
    assert_eq!((good, ends(&w, 1).len(), w.count(1, Counter::Deadlines)), (2, 6, 4));
    w.sleep(Span::from_secs(31));
    w.assert_drained();
    // R39: nothing is looked at by the clock any more.
    assert_eq!(w.nodes[1].driver.next_time(w.now), None);
}

/// A pull that is decided while others wait goes behind them, though there is room: a call that has
/// ended as many late ones as it may leaves the rest to the next call.
#[test]
fn s3_12_a_pull_does_not_pass_those_that_a_call_has_left_over() {
    let mut w = World::met_with(Config { batch: 1, pulls: 1, ..small() });
    freeze(&w, 1, true);
    w.node(1).put = Decision::Keep;
    let deadline = w.now.after(Span::from_secs(2));
    for n in 0..4 {
        w.put(0, 1, 5000).unwrap();
        w.settle();
        if n < 3 {
            let kept = w.node(1).kept.remove(0);
            let until = if n == 1 { deadline } else { w.order(Kind::Put, 1, 0).deadline };
            w.node(1).answer(kept.rx_request, kept.id, 5000, until).unwrap();
        }
    }
    assert_eq!(gauges(&w, 1), (1, 2));
    // The first ends, and the late one behind it.
    freeze(&w, 1, false);
    w.now = deadline;
    w.devices();
    w.interrupts();
    w.fetch();
    assert_eq!(gauges(&w, 1), (0, 1));
    w.node(1).answer_kept(5000).unwrap();
    w.settle();
    let started = started(&mut w, 1);
    assert!(started.is_sorted() && started.len() == 3, "{started:?}");
    w.sleep(Span::from_secs(31));
    w.assert_drained();
}
