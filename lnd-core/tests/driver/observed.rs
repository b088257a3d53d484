// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The observer: where a transfer spent its time, who ended it, and on what evidence (R69).
//!
//! The nodes log their traces; the observer is fed from the logs.

use lnd_core::config::Config;
use lnd_core::counters::Counter;
use lnd_core::driver::Kind;
use lnd_core::id::Tag;
use lnd_core::link::LinkState;
use lnd_core::message::NakReason;
use lnd_core::observe::{
    effective_bounds, Account, BoundOrigin, Gauge, GaugeValues, IrqObserver, Measures, Observer,
    Party, PeerLog, PeerTransition, Point, Room, SizeClass, Stamps, Wait, CLASSES,
};
use lnd_core::peer::HelloState;
use lnd_core::ports::Tracer;
use lnd_core::time::{Instant, Span};
use lnd_core::trace::Trace;
use lnd_core::transfer::{Cause, Event, HealthClass, Place};

use super::device::OnInvalidate;
use super::fabric::nid;
use super::node::{Decision, Order};
use super::peer_down::devices;
use super::seeds::incarnations;
use super::world::{config, World, WorldOf, LINK0, LINK1};

const MS: Span = Span::from_millis(1);

/// The memory of an observer of 64 slots.
pub struct Eyes {
    slots: Vec<Account>,
    journal: Vec<Account>,
    peers: [PeerLog; 4],
    stamps: Vec<Stamps>,
}

impl Eyes {
    pub fn new(journal: usize) -> Self {
        Self {
            slots: vec![Account::EMPTY; 64],
            journal: vec![Account::EMPTY; journal],
            peers: [PeerLog::EMPTY; 4],
            stamps: (0..64).map(|_| Stamps::new()).collect(),
        }
    }

    /// Looks at a log. `irq`: what an interrupt can settle is told by its own tracer alone.
    pub fn look(&mut self, log: &[(Instant, Trace)], irq: bool) -> Observer<'_> {
        let Self { slots, journal, peers, stamps } = self;
        let mut observer = Observer::new(Room { slots, journal, peers, stamps });
        let mut interrupt = IrqObserver::new(stamps);
        for &(now, trace) in log {
            let settles = matches!(
                trace,
                Trace::Step { event: Event::HwOk | Event::HwTouched | Event::HwUntouched, .. }
                    | Trace::Step { event: Event::MsgOk | Event::MsgUnknown, .. }
                    | Trace::Step { event: Event::MsgNotDelivered, .. }
            );
            if irq && settles {
                interrupt.record(now, trace);
            } else {
                observer.record(now, trace);
            }
        }
        observer
    }
}

fn log(w: &mut World, node: usize) -> Vec<(Instant, Trace)> {
    w.nodes[node].driver.tracer_mut().0.clone()
}

/// How much of a world was traced.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    /// Everything, by the thread.
    Whole,
    /// Everything, by the thread and its interrupts.
    Split,
    /// What the thread did.
    Thread,
}

/// What holds of every transfer that has ended. Returns how many there are.
fn assert_accounts(observer: &Observer<'_>, seen: Seen) -> usize {
    let mut ended = 0;
    for it in observer.ended() {
        let (from, to) = (it.at(Point::Queued).unwrap(), it.at(Point::Reported).unwrap());
        let waited: u64 = Wait::ALL.iter().map(|wait| it.waited(*wait).as_nanos()).sum();
        assert_eq!(waited, to.since(from).as_nanos(), "no time is lost: {it:?}");
        let completed = it.at(Point::Completed).unwrap();
        assert_eq!(it.waited(Wait::Report), to.since(completed), "{it:?}");
        for (earlier, later) in [
            (Point::Queued, Point::Posted),
            (Point::Queued, Point::Sent),
            (Point::Sent, Point::Left),
            (Point::Posted, Point::Completed),
        ] {
            if let (Some(earlier), Some(later)) = (it.at(earlier), it.at(later)) {
                assert!(from <= earlier && earlier <= later && later <= to, "{it:?}");
            }
        }
        assert!(it.at(Point::Left).is_none() || it.at(Point::Sent).is_some(), "{it:?}");
        let (status, given_up) = (it.status().unwrap(), it.given_up());
        let known = seen == Seen::Thread || given_up.is_some();
        assert!(status.evidence.is_none() || known, "{it:?}");
        if seen == Seen::Whole {
            let last = it.transitions().last().unwrap();
            assert_eq!(Wait::of(last.after), Wait::Report, "{it:?}");
        }
        ended += 1;
    }
    ended
}

#[test]
fn a_put_passes_the_points_of_its_way_and_waits_where_it_is_held() {
    let mut w = World::met();
    let begun = w.now;
    devices(&w, 1, true, OnInvalidate::Honest);
    w.hold("put_req");
    let tag = w.put(0, 1, 5000).unwrap();
    w.settle();
    w.sleep(MS.times(3));
    w.free("put_req");
    w.settle();
    w.sleep(MS.times(7));
    devices(&w, 1, false, OnInvalidate::Honest);
    w.settle();
    let ended = w.now;
    assert_eq!(w.report(0, tag).status.errno, 0);
    let (sender, receiver) = (log(&mut w, 0), log(&mut w, 1));
    let mut eyes = Eyes::new(8);
    let observer = eyes.look(&sender, false);
    let it = observer.account(tag).unwrap();
    let at = Point::ALL.map(|point| it.at(point));
    let [queued, posted, sent, _, answered, completed, reported] = at;
    assert_eq!([queued, posted, sent], [Some(begun); 3]);
    assert_eq!([completed, reported], [Some(ended); 2]);
    assert_eq!(answered, None, "the pull is the proof");
    let outside = it.waited(Wait::Send).as_nanos() + it.waited(Wait::Engine).as_nanos();
    assert_eq!(outside, MS.times(10).as_nanos(), "{it:?}");
    assert!(matches!(it.longest(), Wait::Send | Wait::Engine), "{it:?}");
    assert_eq!((it.peer(), it.length(), it.given_up()), (Some(nid(1)), 5000, None));
    // At the receiver it was accepted only when its request arrived.
    let mut eyes = Eyes::new(8);
    let observer = eyes.look(&receiver, false);
    let it = observer.ended().next().unwrap();
    assert_eq!(it.at(Point::Queued), Some(begun.after(MS.times(3))));
    assert_eq!(it.waited(Wait::Engine), MS.times(7), "its pull");
    let size = SizeClass::of(5000);
    let engine = observer.measures().waited(Wait::Engine, size).unwrap();
    assert_eq!((engine.count(), engine.max()), (1, Some(7_000_000)));
    assert_eq!(observer.measures().whole(size).unwrap().count(), 1);
    assert_eq!(observer.measures().waited(Wait::Engine, SizeClass::To64).unwrap().count(), 0);
}

#[test]
fn a_get_is_answered_before_it_pulls() {
    let mut w = World::met();
    w.hold("pull_ready");
    let tag = w.get(0, 1, 5000).unwrap();
    w.settle();
    w.sleep(MS.times(4));
    w.free("pull_ready");
    devices(&w, 0, true, OnInvalidate::Honest);
    w.settle();
    w.sleep(MS.times(6));
    devices(&w, 0, false, OnInvalidate::Honest);
    w.settle();
    let log = log(&mut w, 0);
    let mut eyes = Eyes::new(8);
    let observer = eyes.look(&log, false);
    let it = observer.account(tag).unwrap();
    let queued = it.at(Point::Queued).unwrap();
    assert_eq!(it.at(Point::Sent), Some(queued));
    assert_eq!(it.at(Point::Answered), Some(queued.after(MS.times(4))));
    assert_eq!(it.at(Point::Posted), it.at(Point::Answered));
    assert_eq!((it.waited(Wait::Answer), it.waited(Wait::Engine)), (MS.times(4), MS.times(6)));
    // The reply at the other side is staged and announced by its own message.
    let mut log = w.nodes[1].driver.tracer_mut().0.clone();
    log.retain(|(at, _)| *at >= queued);
    let mut eyes = Eyes::new(8);
    let observer = eyes.look(&log, false);
    let it = observer.ended().find(|it| it.length() == 5000).unwrap();
    assert!(it.at(Point::Posted).is_some() && it.at(Point::Sent).is_some(), "{it:?}");
}

#[test]
fn what_waits_for_a_handshake_waits_in_the_queue_and_no_hello_is_its_message() {
    let mut w = World::new(2);
    w.hold("hello");
    let tag = w.put(0, 1, 50).unwrap();
    w.settle();
    w.sleep(MS.times(5));
    let before = log(&mut w, 0);
    let mut eyes = Eyes::new(8);
    let observer = eyes.look(&before, false);
    let it = observer.account(tag).unwrap();
    assert_eq!((it.at(Point::Sent), it.status()), (None, None), "only the hello was sent");
    assert_eq!(observer.open().count(), 1);
    w.free("hello");
    w.sleep(Span::from_secs(1));
    let log = log(&mut w, 0);
    let observer = eyes.look(&log, false);
    let it = observer.account(tag).unwrap();
    assert!(it.waited(Wait::Queue) >= MS.times(5), "{it:?}");
    assert_eq!(
        it.at(Point::Sent).unwrap().since(it.at(Point::Queued).unwrap()),
        it.waited(Wait::Queue)
    );
    let states: Vec<_> = observer.peer(nid(1)).unwrap().transitions().map(|(_, it)| it).collect();
    let expected = [HelloState::Handshake, HelloState::Good].map(PeerTransition::Handshake);
    assert_eq!(states, expected);
}

#[test]
fn a_deadline_names_the_timer_its_evidence_and_what_came_too_late() {
    let mut w = World::met();
    devices(&w, 0, true, OnInvalidate::Never);
    w.hold("put_req");
    let begun = w.now;
    let deadline = begun.after(MS.times(300));
    let order = Order { deadline, ..w.order(Kind::Put, 1, 5000) };
    let tag = w.send(0, order).unwrap();
    w.settle();
    w.sleep(MS.times(400));
    // It was given up, and its engine has not let it go.
    let blocker = w.nodes[0].driver.blocker(0).unwrap().to_string();
    let needs = "needs the engine to give its descriptor back, or its stop, until 6.300 s";
    assert!(blocker.contains("Deadline") && blocker.contains(needs), "{blocker}");
    let waits = log(&mut w, 0);
    let mut eyes = Eyes::new(8);
    let observer = eyes.look(&waits, false);
    let it = observer.account(tag).unwrap();
    assert_eq!(it.waiting(), Some((Wait::Drain, deadline)));
    assert_eq!(observer.oldest_posted(), Some((begun, tag)));
    let gauges = GaugeValues::read(&w.nodes[0].driver).with(w.now, &observer);
    assert_eq!(gauges.value(Gauge::OldestPosted), MS.times(400).as_nanos());
    assert_eq!((gauges.value(Gauge::ActiveSlots), gauges.value(Gauge::InFlight)), (1, 2));
    w.sleep(Span::from_secs(31));
    let report = w.report(0, tag);
    assert_eq!(report.status.evidence, Some((Cause::Deadline, Place::Moving)));
    let log = log(&mut w, 0);
    let observer = eyes.look(&log, false);
    let it = observer.account(tag).unwrap();
    let (at, wait) = it.given_up().unwrap();
    assert_eq!((at, Wait::Drain == it.longest()), (deadline, true));
    assert!(matches!(wait, Wait::Send | Wait::Engine), "{wait:?}");
    assert_eq!(Party::of(it.evidence().unwrap().0), Party::Timer);
    let late = observer.measures().late();
    let excess = it.at(Point::Reported).unwrap().since(deadline);
    assert_eq!((late.count(), late.sum()), (1, excess.as_nanos()));
    assert!(excess >= w.config.drain_bound, "the engine was stopped");
    assert_eq!(observer.measures().late_good(), 0);
    assert_eq!(observer.measures().ended(HealthClass::NetworkTimeout, wait), 1);
    assert_eq!(observer.measures().lost(Cause::Deadline, Place::Moving), 1);
    assert_eq!(observer.measures().lost(Cause::Deadline, Place::Staged), 0);
    let text = observer.explain(tag).unwrap().to_string();
    for part in [
        "this node's timer",
        "NetworkTimeout, Unknown",
        "+300.000 ms Cancel(Deadline)",
        "late by",
        "drain 5.",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // The engine has not let it go, so its link was stopped and is open again.
    let link = [LINK0, LINK1].into_iter().find(|link| observer.link(*link).count() > 1).unwrap();
    let states: Vec<_> = observer.link(link).map(|(_, state)| state).collect();
    let stopped = states.contains(&LinkState::Stopping) && states.contains(&LinkState::Down);
    assert!(stopped && states.last() == Some(&LinkState::Up), "{states:?}");
}

/// What is announced as a bound is what the driver does.
#[test]
fn the_bounds_in_effect_are_those_that_are_kept() {
    let span = |w: &World, name: &str| {
        let bounds = effective_bounds(&w.config);
        bounds.into_iter().find(|it| it.name == name).unwrap().span
    };
    let when = |log: &[(Instant, Trace)], what: fn(&Trace) -> bool| {
        log.iter().find(|(_, trace)| what(trace)).unwrap().0
    };
    let mut w = World::new(2);
    w.hold("hello");
    w.put(0, 1, 50).unwrap();
    w.sleep(Span::from_secs(20));
    let down = log(&mut w, 0);
    let at = when(&down, |it| matches!(it, Trace::Peer { state: HelloState::Down, .. }));
    let first = when(&down, |it| matches!(it, Trace::Peer { state: HelloState::Handshake, .. }));
    assert_eq!(at.since(first), span(&w, "peer_down"));
    for connections in [0, 4] {
        let mut w = World::met_with(Config { connections, ..config() });
        for link in 0..2 {
            w.device(0, link, |d| (d.connects, d.slow_connections) = (connections > 0, true));
        }
        devices(&w, 0, true, OnInvalidate::Never);
        w.put(0, 1, 5000).unwrap();
        w.settle();
        let begun = w.now;
        w.notify_peer(0, 1, false);
        w.sleep(Span::from_secs(31));
        let stopped = log(&mut w, 0);
        let at = when(&stopped, |it| matches!(it, Trace::Link { state: LinkState::Stopping, .. }));
        assert_eq!(at.since(begun), span(&w, "link_stop"), "{connections} connections");
    }
    let given = Config { credit_stall: Span::from_secs(7), ..config() };
    let origins = effective_bounds(&given).map(|it| (it.name, it.origin));
    assert!(origins.contains(&("credit_stall", BoundOrigin::Given)), "{origins:?}");
    assert!(origins.contains(&("drain_bound", BoundOrigin::Default)), "{origins:?}");
}

#[test]
fn a_refusal_is_the_peers_word() {
    let mut w = World::met();
    w.node(1).put = Decision::Refuse(NakReason::NoMatch);
    let tag = w.put(0, 1, 5000).unwrap();
    w.settle();
    let log = log(&mut w, 0);
    let mut eyes = Eyes::new(8);
    let observer = eyes.look(&log, false);
    let it = observer.account(tag).unwrap();
    assert_eq!(Party::of(it.evidence().unwrap().0), Party::Peer);
    assert!(it.at(Point::Answered).is_some());
    assert!(observer.explain(tag).unwrap().to_string().contains("a message of its own"));
}

#[test]
fn the_journal_keeps_the_latest_and_a_difference_is_what_came_between() {
    let mut w = World::met();
    let mut tags: Vec<Tag> = Vec::new();
    for n in 0..10 {
        tags.push(w.put(0, 1, 5000 + n).unwrap());
        w.settle();
    }
    let half = log(&mut w, 0);
    for n in 0..10 {
        tags.push(w.put(0, 1, 5010 + n).unwrap());
        w.settle();
    }
    let all = log(&mut w, 0);
    let mut eyes = Eyes::new(3);
    let earlier = eyes.look(&half, false).measures().clone();
    let observer = eyes.look(&all, false);
    let kept: Vec<Tag> = observer.ended().map(Account::tag).collect();
    let latest: Vec<Tag> = tags.iter().rev().take(3).copied().collect();
    assert_eq!(kept, latest, "the latest first");
    let known = tags.iter().filter(|tag| observer.account(**tag).is_some()).count();
    assert!((3..20).contains(&known), "{known}");
    let since = observer.measures().since(&earlier);
    assert_eq!(since.ended(HealthClass::Ok, Wait::Report), 10);
    assert_eq!(since.bytes(), (5010..5020).sum::<u64>());
    assert_eq!(since.whole(SizeClass::of(5000)).unwrap().count(), 10);
    assert_eq!(observer.measures().since(observer.measures()).bytes(), 0);
    let mut none = Eyes::new(0);
    assert_eq!(none.look(&all, false).finished(), observer.finished());
}

/// The same log by way of interrupts, which tell their own times, is the same account.
#[test]
fn what_interrupts_tell_is_what_the_thread_would_have_seen() {
    let mut w = incarnations();
    for node in 0..w.nodes.len() {
        let log = log(&mut w, node);
        let (mut here, mut there) = (Eyes::new(512), Eyes::new(512));
        let (whole, split) = (here.look(&log, false), there.look(&log, true));
        let (ended, also) =
            (assert_accounts(&whole, Seen::Whole), assert_accounts(&split, Seen::Split));
        assert_eq!(ended, also);
        for (a, b) in whole.ended().zip(split.ended()) {
            assert_eq!((a.tag(), a.status()), (b.tag(), b.status()));
            for point in Point::ALL {
                assert_eq!(a.at(point), b.at(point), "{point:?}\n{a:?}\n{b:?}");
            }
            for wait in Wait::ALL {
                assert_eq!(a.waited(wait), b.waited(wait), "{wait:?}\n{a:?}\n{b:?}");
            }
        }
    }
}

/// The same of any world, whatever has happened in it.
pub fn assert_observed<const S: bool>(w: &mut WorldOf<S>) {
    for node in 0..w.nodes.len() {
        let log = w.nodes[node].driver.tracer_mut().0.clone();
        for irq in [false, true] {
            let mut eyes = Eyes::new(64);
            // Interrupts of these worlds are not traced.
            assert_accounts(&eyes.look(&log, irq), Seen::Thread);
        }
    }
}

/// Every end is counted once: by its class, and by its cause and place.
#[test]
fn the_measures_add_up_to_the_counters() {
    let mut w = incarnations();
    for node in 0..w.nodes.len() {
        let log = log(&mut w, node);
        let mut eyes = Eyes::new(512);
        let observer = eyes.look(&log, false);
        assert!(assert_accounts(&observer, Seen::Whole) > 3);
        assert_measures(&observer, &log, &w, node);
    }
}

fn assert_measures<const S: bool>(
    observer: &Observer<'_>,
    log: &[(Instant, Trace)],
    w: &WorldOf<S>,
    node: usize,
) {
    let measures: &Measures = observer.measures();
    let mut short_good = 0;
    let (mut short_failed, mut finalized, mut lost) = (0, 0, 0);
    for (_, trace) in log {
        match trace {
            Trace::Ended { status, .. } if status.evidence.is_none() => short_good += 1,
            Trace::Ended { .. } => (short_failed, lost) = (short_failed + 1, lost + 1),
            Trace::Finalized { status, .. } => {
                finalized += 1;
                lost += u64::from(status.evidence.is_some());
            }
            _ => {}
        }
    }
    let classes = (0..CLASSES).map(|at| HealthClass::ALL[at]);
    let ended: u64 =
        classes.flat_map(|class| Wait::ALL.map(|wait| measures.ended(class, wait))).sum();
    let cells = Cause::ALL.into_iter().flat_map(|cause| Place::ALL.map(|place| (cause, place)));
    let cells: u64 = cells.map(|(cause, place)| measures.lost(cause, place)).sum();
    let short: u64 = SizeClass::ALL.map(|size| measures.short(size).count).iter().sum();
    assert_eq!((ended, observer.finished()), (finalized, finalized));
    assert_eq!((cells, short, measures.short_failed()), (lost, short_good, short_failed));
    let counted = w.count(node, Counter::FinalizedError);
    assert!(lost >= counted.min(1) && lost > 0 || counted == 0, "{lost} of {counted}");
}

#[test]
fn gauges_count_the_peers_that_may_be_sent_to() {
    let mut w = World::new(2);
    w.hold("hello");
    w.put(0, 1, 0).unwrap();
    w.settle();
    let read = |w: &World| {
        let gauges = GaugeValues::read(&w.nodes[0].driver);
        [Gauge::PeersKnown, Gauge::PeersGood, Gauge::CreditsLeft].map(|it| gauges.value(it) > 0)
    };
    assert_eq!(read(&w), [true, false, false], "no credit without a handshake");
    w.free("hello");
    w.settle();
    assert_eq!(read(&w), [true; 3]);
}
