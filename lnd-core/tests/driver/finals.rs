// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Final messages that find no way to their peer: they wait for one, for a bounded time, each in
//! the place of its transfer.

use lnd_core::config::Config;
use lnd_core::counters::Counter;
use lnd_core::driver::{Blocker, Kind, Report, Role, RunState};
use lnd_core::id::Tag;
use lnd_core::ports::Features;
use lnd_core::time::Span;

use super::fabric::Fabric;
use super::node::{Decision, Order, TAKE};
use super::world::{config, World, LINK0};

/// Two nodes that have met over one link; `signals`: their engines tell the end of a pull to its
/// source.
pub(super) fn met(signals: bool, config: Config) -> World {
    met_of(2, 1, signals, config)
}

/// Nodes that have met the first one and the second one.
fn met_of(nodes: usize, links: usize, signals: bool, config: Config) -> World {
    let mut fabric = Fabric::new(nodes, links);
    if !signals {
        for device in fabric.devices.values_mut() {
            device.features &= !Features::REMOTE_COMPLETION.0;
        }
    }
    let mut w = World::on(fabric, nodes, Config { links: links as u8, ..config });
    for (from, to) in (0..2).flat_map(|from| (from + 1..nodes).map(move |to| (from, to))) {
        for (from, to) in [(from, to), (to, from)] {
            w.put(from, to, 0).unwrap();
            w.settle();
        }
    }
    for node in 0..nodes {
        w.node(node).done.clear();
    }
    w
}

/// Node 1 has pulled what node 0 has put or, for a GET of its own, given; its link fails before
/// that is reported. Returns the transfers of node 0.
fn pulled_and_cut_off(w: &mut World, kind: Kind, count: usize) -> Vec<Tag> {
    w.device(1, 0, |d| d.frozen = true);
    let (from, to) = if kind == Kind::Get { (1, 0) } else { (0, 1) };
    let tags: Vec<Tag> = (0..count).map(|_| w.submit(kind, from, to, 5000).unwrap()).collect();
    w.settle();
    w.device(1, 0, |d| d.frozen = false);
    assert!(w.devices() >= count);
    w.interrupts();
    w.notify_link(1, LINK0, false);
    assert_eq!(w.said(1, 0, "put_done"), 0);
    w.settle();
    tags
}

fn waiting(w: &World) -> u32 {
    let (ours, passive) = w.nodes[1].driver.in_use();
    ours + passive
}

/// The one message waits, and is told.
fn told_when_there_is_room(mut w: World, tag: Tag) {
    let counts = [Counter::FinalsWaited, Counter::Unsaid].map(|it| w.count(1, it));
    assert_eq!((counts, w.reported(0, tag)), ([1, 0], false));
    w.fabric.borrow_mut().room.clear();
    w.sleep(Span::from_millis(100));
    assert_eq!(w.report(0, tag).status.errno, 0);
    w.sleep(Span::from_secs(120));
    w.assert_drained();
}

/// A final message is no transfer: it cannot be withdrawn, and nothing of it would be reported.
#[test]
fn a_final_message_that_waits_cannot_be_withdrawn() {
    let mut w = met(false, config());
    let tag = pulled_and_cut_off(&mut w, Kind::Put, 1)[0];
    let Some(Blocker::Transfer { tag: waiting, .. }) = w.nodes[1].driver.blocker(0) else {
        panic!("it is no blocker");
    };
    let now = w.now;
    assert!(!w.nodes[1].driver.withdraw(now, waiting));
    link_back(&mut w);
    assert_eq!((w.report(0, tag).status.errno, w.nodes[1].done.len()), (0, 1));
    w.assert_drained();
}

fn link_back(w: &mut World) {
    w.notify_link(1, LINK0, true);
    w.sleep(Span::from_millis(100));
}

/// What finds its way is said at once, once, and takes no slot.
#[test]
fn a_done_that_finds_its_way_does_not_wait() {
    let mut w = met(false, config());
    let tag = w.put(0, 1, 5000).unwrap();
    w.settle();
    w.sleep(Span::from_secs(1));
    assert_eq!((w.report(0, tag).status.errno, w.said(1, 0, "put_done")), (0, 1));
    assert_eq!((w.count(1, Counter::FinalsWaited), w.count(1, Counter::Unsaid)), (0, 0));
}

/// R24: the puller's word is the source's only news of the pull, and it is not lost with the way.
#[test]
fn a_done_that_finds_no_way_is_said_when_there_is_one() {
    for kind in [Kind::Put, Kind::Get] {
        let mut w = met(false, config());
        let tags = pulled_and_cut_off(&mut w, kind, 1);
        // Reported: what waits is the message alone.
        assert_eq!(w.nodes[1].done.len(), 1);
        assert_eq!((w.nodes[1].done[0].status.errno, w.nodes[1].open(), waiting(&w)), (0, 0, 1));
        w.sleep(Span::from_secs(5));
        assert_eq!((w.said(1, 0, "put_done"), w.nodes[0].open()), (0, 1), "{kind:?}");
        link_back(&mut w);
        assert_eq!(w.said(1, 0, "put_done"), 1, "once");
        let end = match kind {
            Kind::Get => w.nodes[0].done[0],
            _ => w.report(0, tags[0]),
        };
        assert_eq!((end.status.errno, end.bytes), (0, 5000));
        assert_eq!(w.count(1, Counter::Unsaid), 0);
        w.assert_drained();
        w.sleep(Span::from_secs(60));
        assert_eq!(w.said(1, 0, "put_done"), 1);
    }
}

/// A pull that ended with its link: that it failed is said when the link is back, and the source
/// waits no longer.
#[test]
fn a_failure_that_finds_no_way_is_said_when_there_is_one() {
    for (signals, kind) in [(true, "put_nak"), (false, "put_done")] {
        let mut w = met(signals, config());
        w.device(1, 0, |d| d.frozen = true);
        let tag = w.put(0, 1, 5000).unwrap();
        w.settle();
        w.notify_link(1, LINK0, false);
        w.sleep(Span::from_secs(1));
        assert_eq!((w.nodes[1].done[0].role, w.nodes[1].open()), (Role::PutSink, 0));
        assert_eq!((waiting(&w), w.said(1, 0, kind), w.reported(0, tag)), (1, 0, false));
        w.device(1, 0, |d| d.frozen = false);
        link_back(&mut w);
        assert_eq!((w.said(1, 0, kind), w.report(0, tag).status.errno), (1, -121));
        assert_eq!(w.count(1, Counter::Unsaid), 0);
        w.assert_drained();
    }
}

/// Room is waited for as a way is.
#[test]
fn inv_11_a_done_that_finds_no_room_is_said_when_there_is_some() {
    let mut w = met(false, config());
    w.fabric.borrow_mut().room.insert((1, 0), [64, 0]);
    let tag = w.put(0, 1, 5000).unwrap();
    w.settle();
    assert_eq!((w.nodes[1].done[0].status.errno, waiting(&w), w.reported(0, tag)), (0, 1, false));
    w.fabric.borrow_mut().room.clear();
    w.sleep(Span::from_millis(100));
    assert_eq!((w.said(1, 0, "put_done"), w.report(0, tag).status.errno), (1, 0));
    w.assert_drained();
}

/// INV-9: whatever requests are in service, what ends meanwhile is told. A message that is lost
/// costs its peer a whole deadline.
#[test]
fn inv_9_requests_in_service_leave_room_for_a_final_message() {
    let few = Config { slots: 32, passive_slots: 8, pulls: 16, depth: 16, ..config() };
    let mut w = met(false, few);
    w.node(1).put = Decision::Keep;
    for _ in 0..6 {
        w.put(0, 1, 5000).unwrap();
    }
    w.settle();
    assert_eq!(waiting(&w), 6, "more than half of the slots for peers' requests");
    w.node(1).put = TAKE;
    w.fabric.borrow_mut().room.insert((1, 0), [64, 0]);
    let tag = w.put(0, 1, 5000).unwrap();
    w.settle();
    told_when_there_is_room(w, tag);
}

/// INV-9: it waits no longer than a request without a decision does.
#[test]
fn inv_9_a_final_message_waits_for_a_bounded_time() {
    let mut w = met(false, Config { decision_bound: Span::from_secs(7), ..config() });
    let tag = pulled_and_cut_off(&mut w, Kind::Put, 1)[0];
    w.sleep(Span::from_secs(6));
    assert_eq!((waiting(&w), w.count(1, Counter::Unsaid)), (1, 0));
    w.sleep(Span::from_secs(2));
    assert_eq!((waiting(&w), w.count(1, Counter::Unsaid)), (0, 1));
    link_back(&mut w);
    assert_eq!((w.said(1, 0, "put_done"), w.reported(0, tag)), (0, false));
    w.sleep(Span::from_secs(31));
    assert_eq!(w.report(0, tag).status.errno, -110, "its own deadline is left");
    w.assert_drained();
}

/// A peer that is down is told nothing.
#[test]
fn no_final_message_waits_for_a_peer_that_is_down() {
    let mut w = met(false, config());
    pulled_and_cut_off(&mut w, Kind::Put, 1);
    w.notify_peer(1, 0, false);
    w.settle();
    assert_eq!((waiting(&w), w.count(1, Counter::Unsaid)), (0, 1));
    w.sleep(Span::from_secs(40));
    link_back(&mut w);
    w.put(0, 1, 10).unwrap();
    w.sleep(Span::from_secs(5));
    assert_eq!(w.nodes[0].done.last().unwrap().status.errno, 0);
    assert_eq!(w.said(1, 0, "put_done"), 0);
    w.assert_drained();
}

/// R31: it is for the incarnation that it is of. Another one has given the tag to another transfer.
#[test]
fn r31_a_final_message_changes_nothing_of_another_incarnation() {
    let mut w = met(false, config());
    pulled_and_cut_off(&mut w, Kind::Put, 1);
    w.reboot(0);
    let tag = w.put(0, 1, 5000).unwrap();
    link_back(&mut w);
    w.sleep(Span::from_secs(5));
    assert_eq!((w.report(0, tag).status.errno, waiting(&w)), (0, 0));
    // It is not said any more, or names the incarnation that is over.
    let dropped = w.count(0, Counter::WrongIncarnation) + w.count(0, Counter::Early);
    assert_eq!(w.count(1, Counter::Unsaid) + dropped, 1);
    let of_another = [Counter::StaleAnswer, Counter::WrongAnswer, Counter::LateEvent];
    assert_eq!(of_another.map(|counter| w.count(0, counter)), [0; 3]);
    w.sleep(Span::from_secs(31));
    w.assert_drained();
}

/// INV-15: what has no way holds up no shutdown, and begins to wait in none.
#[test]
fn inv_15_no_final_message_holds_up_a_shutdown() {
    for before in [true, false] {
        let mut w = met(false, config());
        w.device(1, 0, |d| d.frozen = true);
        w.put(0, 1, 5000).unwrap();
        w.settle();
        w.device(1, 0, |d| d.frozen = false);
        w.devices();
        w.interrupts();
        w.notify_link(1, LINK0, false);
        if before {
            w.settle();
            assert_eq!(waiting(&w), 1);
        }
        let (now, grace) = (w.now, w.now.after(Span::from_secs(20)));
        w.nodes[1].driver.shutdown(now, grace);
        w.settle();
        assert_eq!((w.nodes[1].open(), w.count(1, Counter::Unsaid)), (0, 1), "{before}");
        assert_eq!(w.count(1, Counter::FinalsWaited), 1, "for a call at most");
        w.sleep(Span::from_secs(1));
        assert_eq!(waiting(&w), 0);
        assert_eq!(w.nodes[1].driver.run_state(), RunState::Quiescent);
    }
}

/// INV-14: each has the place of its transfer, so all are kept, and no other transfer loses a slot.
#[test]
fn inv_14_final_messages_take_the_places_of_their_transfers() {
    let small = Config { slots: 16, passive_slots: 4, pulls: 16, depth: 16, ..config() };
    let mut w = met(false, small);
    let tags = pulled_and_cut_off(&mut w, Kind::Put, 7);
    assert_eq!((waiting(&w), w.count(1, Counter::Unsaid)), (7, 0));
    let order = |w: &World| Order { length: 10, ..w.order(Kind::Put, 0, 10) };
    for _ in 0..9 {
        let order = order(&w);
        w.send(1, order).unwrap();
    }
    let order = order(&w);
    assert!(w.send(1, order).is_err());
    link_back(&mut w);
    assert_eq!(w.said(1, 0, "put_done"), 7);
    assert!(tags.iter().all(|&tag| w.report(0, tag).status.errno == 0));
    w.sleep(Span::from_secs(60));
    w.assert_drained();
}

/// INV-14: a message is counted as its transfer was, ours as ours. So what ends our own transfers
/// takes no place of the peer's requests, even if the peer has all that it may have (INV-12).
#[test]
fn inv_12_final_messages_count_as_their_transfers() {
    let small = Config { slots: 32, passive_slots: 16, pulls: 16, depth: 2, ..config() };
    let mut w = met(false, small);
    w.fabric.borrow_mut().room.insert((1, 0), [64, 0]);
    w.device(1, 0, |d| d.frozen = true);
    for _ in 0..4 {
        w.get(1, 0, 5000).unwrap();
        w.put(0, 1, 5000).unwrap();
        w.settle();
    }
    assert_eq!(w.nodes[1].driver.in_use(), (4, 4), "twice its credits");
    w.device(1, 0, |d| d.frozen = false);
    w.settle();
    assert_eq!(w.nodes[1].done.iter().filter(|it| it.bytes == 5000).count(), 8);
    assert_eq!((w.nodes[1].driver.in_use(), w.count(1, Counter::Unsaid)), ((4, 4), 0));
    w.fabric.borrow_mut().room.clear();
    w.sleep(Span::from_secs(31));
    assert_eq!(w.said(1, 0, "put_done"), 8);
    w.assert_drained();
}

/// INV-9: requests that the upper layer has not decided about take no final message's place, even
/// if they are all that the peer may have (INV-12).
#[test]
fn inv_9_undecided_requests_leave_a_final_message_its_place() {
    let small = Config { slots: 32, passive_slots: 16, pulls: 16, depth: 2, ..config() };
    let mut w = met(false, small);
    w.device(1, 0, |d| d.frozen = true);
    let tag = w.put(0, 1, 5000).unwrap();
    w.settle();
    w.node(1).put = Decision::Keep;
    for _ in 0..2 {
        w.put(0, 1, 5000).unwrap();
    }
    w.settle();
    w.fabric.borrow_mut().room.insert((1, 0), [64, 0]);
    w.device(1, 0, |d| d.frozen = false);
    w.settle();
    told_when_there_is_room(w, tag);
}

/// R24, INV-11: nothing fails. More pulls end at once than the control lane takes: each is told.
#[test]
fn r24_pulls_that_end_together_are_all_told() {
    for room in 1..=8 {
        for kind in [Kind::Put, Kind::Get] {
            let mut w = met(false, config());
            w.fabric.borrow_mut().default_room = [64, room];
            let (from, to) = if kind == Kind::Get { (1, 0) } else { (0, 1) };
            for _ in 0..8 {
                w.submit(kind, from, to, 5000).unwrap();
            }
            w.settle();
            w.sleep(Span::from_secs(100));
            for node in 0..2 {
                let ok = |it: &&Report| it.status.errno == 0 && it.bytes == 5000;
                assert_eq!(w.nodes[node].done.iter().filter(ok).count(), 8, "{room} {kind:?}");
            }
            assert_eq!(w.count(1, Counter::Unsaid), 0);
            w.assert_drained();
        }
    }
}

/// R24: a sweep for something else leaves what waits alone, whatever it says: that its pull went
/// well, or why not. Here another peer is reported down.
#[test]
fn r24_a_sweep_leaves_a_final_message_that_waits() {
    for kind in [Kind::Put, Kind::Get] {
        for well in [true, false] {
            let mut w = met_of(3, 1, false, config());
            w.fabric.borrow_mut().room.insert((1, 0), [64, 0]);
            w.device(1, 0, |d| d.frozen = true);
            let (from, to) = if kind == Kind::Get { (1, 0) } else { (0, 1) };
            let tag = w.submit(kind, from, to, 5000).unwrap();
            w.settle();
            if !well && kind == Kind::Get {
                let now = w.now;
                w.nodes[1].driver.withdraw(now, tag);
                w.settle();
            }
            w.device(1, 0, |d| d.frozen = false);
            w.settle();
            assert_eq!((w.count(1, Counter::FinalsWaited), waiting(&w)), (1, 1));
            w.notify_peer(1, 2, false);
            w.settle();
            w.fabric.borrow_mut().room.clear();
            w.sleep(Span::from_secs(5));
            let told = (w.count(1, Counter::Unsaid), w.said(1, 0, "put_done"), w.nodes[0].open());
            assert_eq!(told, (0, 1, 0), "{kind:?} {well}");
        }
    }
}

/// R24: the same with another link: it would go by the one that is left.
#[test]
fn r24_a_final_message_goes_by_the_link_that_is_left() {
    let mut w = met_of(2, 2, false, config());
    w.fabric.borrow_mut().room.insert((1, 0), [64, 0]);
    w.get(1, 0, 5000).unwrap();
    w.settle();
    assert_eq!((w.count(1, Counter::FinalsWaited), w.nodes[1].done.len()), (1, 1));
    w.notify_link(1, LINK0, false);
    w.settle();
    w.fabric.borrow_mut().room.clear();
    w.sleep(Span::from_secs(5));
    assert_eq!((w.count(1, Counter::Unsaid), w.said(1, 0, "put_done")), (0, 1));
    assert_eq!(w.nodes[0].done.len(), 1);
}

/// INV-11: peers that take no messages hold slots for half a minute, whatever the time of a
/// decision is. Another peer's request waits no longer.
#[test]
fn inv_11_peers_that_take_nothing_leave_their_slots_to_others() {
    for decision_bound in [Span::from_secs(50), Span::from_nanos(u64::MAX)] {
        let small = Config { slots: 16, passive_slots: 4, peers: 8, depth: 4, ..config() };
        let mut w = met_of(7, 1, false, Config { decision_bound, ..small });
        for client in 1..6 {
            w.fabric.borrow_mut().room.insert((0, client), [64, 0]);
        }
        for client in 1..6 {
            for _ in 0..4 {
                w.put(client, 0, 5000).unwrap();
            }
            w.settle();
        }
        assert!(w.count(0, Counter::FinalsWaited) > 10);
        let deadline = w.now.after(Span::from_secs(45));
        let order = Order { deadline, ..w.order(Kind::Put, 0, 5000) };
        let tag = w.send(6, order).unwrap();
        w.settle();
        assert!(!w.reported(6, tag), "there is no slot");
        w.sleep(Span::from_secs(32));
        assert_eq!(w.report(6, tag).status.errno, 0);
        w.sleep(Span::from_secs(60));
        assert_eq!(w.nodes[0].driver.in_use(), (0, 0), "{decision_bound:?}");
    }
}

/// INV-15: a shutdown that has time tells what was pulled, if only room is missing.
#[test]
fn inv_15_a_shutdown_with_time_tells_what_was_pulled() {
    let mut w = met(false, config());
    w.device(1, 0, |d| d.frozen = true);
    let tags: Vec<Tag> = (0..4).map(|_| w.put(0, 1, 5000).unwrap()).collect();
    w.settle();
    w.fabric.borrow_mut().room.insert((1, 0), [64, 1]);
    let (now, grace) = (w.now, w.now.after(Span::from_secs(20)));
    w.nodes[1].driver.shutdown(now, grace);
    w.device(1, 0, |d| d.frozen = false);
    w.settle();
    assert_eq!(w.nodes[1].done.iter().filter(|it| it.bytes == 5000).count(), 4);
    w.sleep(Span::from_secs(60));
    assert!(tags.iter().all(|&tag| w.report(0, tag).status.errno == 0));
    assert_eq!(w.count(1, Counter::Unsaid), 0);
    assert_eq!(w.nodes[1].driver.run_state(), RunState::Quiescent);
}

/// INV-15: one that has no time waits for nothing.
#[test]
fn inv_15_a_shutdown_without_time_keeps_no_final_message() {
    let mut w = met(false, config());
    w.device(1, 0, |d| d.frozen = true);
    let tag = w.put(0, 1, 5000).unwrap();
    w.settle();
    w.fabric.borrow_mut().room.insert((1, 0), [64, 0]);
    let now = w.now;
    w.nodes[1].driver.shutdown(now, now);
    w.settle();
    w.device(1, 0, |d| d.frozen = false);
    w.settle();
    let counts = [Counter::FinalsWaited, Counter::Unsaid].map(|it| w.count(1, it));
    assert_eq!((w.nodes[1].done.len(), counts, waiting(&w)), (1, [0, 1], 0));
    w.sleep(Span::from_secs(60));
    assert_eq!(w.nodes[1].driver.run_state(), RunState::Quiescent);
    assert!(w.reported(0, tag));
}

/// R41: its host does not run for a minute. There was room for most of that time.
#[test]
fn r41_a_pause_ends_no_final_message() {
    let mut w = met(false, config());
    w.fabric.borrow_mut().room.insert((1, 0), [64, 0]);
    let order = w.order(Kind::Put, 1, 5000);
    let order = Order { deadline: w.now.after(Span::from_secs(300)), ..order };
    let tag = w.send(0, order).unwrap();
    w.settle();
    assert_eq!((w.nodes[1].done[0].status.errno, w.count(1, Counter::FinalsWaited)), (0, 1));
    w.fabric.borrow_mut().room.clear();
    w.now = w.now.after(Span::from_secs(60));
    w.settle();
    w.sleep(Span::from_secs(5));
    assert_eq!((w.count(1, Counter::Unsaid), w.report(0, tag).status.errno), (0, 0));
}
