// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Requests that were promised and wait in the channel, by hosts that offer them again only when
//! something has ended or has come (S0-18).

use lnd_core::config::Config;
use lnd_core::counters::Counter;
use lnd_core::driver::Kind;
use lnd_core::peer::HelloState;
use lnd_core::time::Span;

use super::hello::hold_off;
use super::late::take;
use super::letter::Letter;
use super::node::{Decision, Order};
use super::world::{config, World, LINK0, LINK1};

/// Node 2 has sent node 0 a request and was told OK; node 0, which knows one peer at a time, has
/// forgotten it. The request is taken off the wire: a host offers it when something has ended or
/// has come.
fn forgotten() -> (World, Letter) {
    let mut w = World::with(3, Config { peers: 1, links: 1, ..config() });
    w.put(2, 0, 0).unwrap();
    w.settle();
    w.hold("immediate");
    let tag = w.put(2, 0, 10).unwrap();
    w.settle();
    assert_eq!(w.report(2, tag).status.errno, 0);
    w.notify_peer(0, 2, false);
    w.settle();
    let letter = take(&w, 2, "immediate").unwrap();
    w.free("immediate");
    (w, letter)
}

/// One that has said goodbye is over for ever. A late hello of it, held up on another link, is
/// taken for the present incarnation's if that has not answered us yet. Then the closed one is
/// "settled", and what the present one has promised is dropped.
#[test]
fn s0_18_a_late_hello_of_one_that_said_goodbye_costs_its_successor_nothing() {
    let mut w = World::with(2, Config { links: 2, ..config() });
    // b1's hello is said twice, by either link; the second is held up.
    w.hold("hello");
    w.put(1, 0, 0).unwrap();
    w.sleep(w.config.hello_timeout);
    assert_eq!(w.said(1, 0, "hello"), 2);
    let late = w.fabric.borrow_mut().wire.pop_back().unwrap();
    assert_eq!((late.kind(), late.from), ("hello", 1));
    w.free("hello");
    w.settle();
    assert_eq!((w.state(0, 1), w.state(1, 0)), (HelloState::Good, HelloState::Good));
    // It says goodbye, and is silent.
    let now = w.now;
    w.nodes[1].driver.shutdown(now, now);
    w.settle();
    assert_eq!(w.state(0, 1), HelloState::Down);
    w.kill(1);
    w.sleep(hold_off(&w));
    w.put(0, 1, 10).unwrap();
    w.sleep(hold_off(&w));
    assert_eq!(w.state(0, 1), HelloState::Down);
    w.sleep(hold_off(&w));
    // Its successor connects; our hello to it takes a while.
    w.reboot(1);
    let tag = w.put(1, 0, 10).unwrap();
    w.tick();
    let hello = take(&w, 1, "hello").unwrap();
    assert!(w.hand(&hello));
    w.tick();
    // Now the late one.
    let successors = w.count(0, Counter::PeersRestarted);
    assert!(w.hand(&late));
    w.settle();
    assert_eq!(w.count(0, Counter::PeersRestarted), successors, "what the successor has goes on");
    w.sleep(Span::from_secs(100));
    assert_eq!(w.report(1, tag).status.errno, 0);
    w.assert_deliveries();
}

/// The receiver has said once that it does not count the session. The sender was connecting to it
/// just then, and takes no note; its hello, not answered so far, is given up. Neither says anything
/// any more, and what was promised lies in the channel for ever.
#[test]
fn s0_18_a_sender_that_is_told_while_it_connects_begins_anew() {
    let (mut w, letter) = forgotten();
    let deadline = w.now.after(Span::from_millis(10));
    let order = Order { deadline, ..w.order(Kind::Put, 0, 10) };
    // Node 0 is busy with node 1, and cannot say that it has no room.
    w.hold("put_req");
    w.put(1, 0, 0).unwrap();
    w.settle();
    let busy = w.put(1, 0, 5000).unwrap();
    w.node(0).put = Decision::Keep;
    w.free("put_req");
    w.settle();
    assert_eq!((w.state(0, 1), w.nodes[0].kept.len()), (HelloState::Good, 1));
    w.fabric.borrow_mut().room.insert((0, 2), [64, 0]);
    // Node 2 took it for down, wrongly, and connects to it anew. No hello but the last try's is
    // left.
    w.notify_peer(2, 0, false);
    w.sleep(hold_off(&w));
    w.node(2).done.clear();
    let order = Order { deadline: w.now.after(Span::from_millis(10)), ..order };
    w.send(2, order).unwrap();
    let tries = u32::from(w.config.hello_tries) - 1;
    w.sleep(w.config.hello_timeout.times(tries));
    w.sleep(Span::from_millis(500));
    assert_eq!(w.state(2, 0), HelloState::Handshake);
    assert_eq!(w.said(0, 2, "hello_ack"), 1, "the first contact's");
    // Node 0 has done with node 1, and its lane has room again.
    let _ = w.node(0).answer_kept(5000);
    w.settle();
    assert_eq!(w.report(1, busy).status.errno, 0);
    w.fabric.borrow_mut().room.clear();
    w.fabric.borrow_mut().wire.push_back(letter);
    // At once, and not when it is told again.
    w.sleep(w.config.hello_timeout.times(3));
    w.assert_deliveries();
    assert!(w.fabric.borrow().wire.is_empty());
}

/// A late hello of an earlier session takes the place of the present one's, whose answer waits for
/// room: the present one is not answered (S0-14).
#[test]
fn s0_18_a_late_hello_does_not_take_the_answer_of_the_present_one() {
    let mut w = World::with(3, Config { peers: 1, links: 2, ..config() });
    // The first session's hello is said by both links; the second is held up.
    w.hold("hello");
    w.put(1, 0, 0).unwrap();
    w.sleep(w.config.hello_timeout);
    let late = w.fabric.borrow_mut().wire.pop_back().unwrap();
    assert_eq!((late.kind(), late.from), ("hello", 1));
    w.free("hello");
    w.settle();
    assert_eq!((w.state(1, 0), w.state(0, 1)), (HelloState::Good, HelloState::Good));
    // Node 1 forgets node 0 for node 2, and then begins its next session with it.
    w.notify_peer(1, 0, false);
    w.put(1, 2, 0).unwrap();
    w.settle();
    w.notify_peer(1, 2, false);
    w.hold("hello");
    let tag = w.put(1, 0, 10).unwrap();
    w.tick();
    let present = take(&w, 1, "hello").unwrap();
    assert_ne!(present.envelope.session, late.envelope.session);
    w.free("hello");
    // Its answer finds no room for a moment.
    w.fabric.borrow_mut().room.insert((0, 1), [64, 0]);
    assert!(w.hand(&present));
    assert!(w.hand(&late));
    w.fabric.borrow_mut().room.clear();
    w.settle();
    assert_eq!(w.state(1, 0), HelloState::Good, "the present hello is not answered");
    assert_eq!(w.report(1, tag).status.errno, 0);
}

/// A request that waited has gone with its sender's incarnation. The place of the sender, whose
/// successor has answered, is kept for that request for ever, and nothing that another node has
/// promised gets in.
#[test]
fn s0_18_a_parked_request_that_is_gone_holds_no_place() {
    let (mut w, letter) = forgotten();
    // The same of node 1, whose request is parked.
    w.put(1, 0, 5000).unwrap();
    w.settle();
    w.hold("immediate");
    w.put(1, 0, 10).unwrap();
    w.settle();
    w.notify_peer(0, 1, false);
    w.settle();
    let first = take(&w, 1, "immediate").unwrap();
    assert!(!w.hand(&first), "it waits");
    // Its sender begins anew, and what it had sent is gone with its connection.
    w.reboot(1);
    w.free("immediate");
    w.sleep(Span::from_secs(60));
    assert_eq!(w.state(0, 1), HelloState::Good);
    assert_eq!(w.nodes[0].driver.in_use(), (0, 0));
    w.fabric.borrow_mut().wire.push_back(letter);
    w.sleep(Span::from_secs(1000));
    w.assert_deliveries();
    assert!(w.fabric.borrow().wire.is_empty());
}

/// A host that goes by the driver: node 0 is offered what waits when [`Driver::offer_again`] says
/// so, and is called when `on_time` has said so. Ends after `span`. Returns what was not taken.
///
/// [`Driver::offer_again`]: lnd_core::driver::Driver::offer_again
fn offer(w: &mut World, mut waiting: Vec<Letter>, span: Span) -> Vec<Letter> {
    let end = w.now.after(span);
    for _ in 0..100_000 {
        w.settle();
        if w.node(0).driver.offer_again() {
            waiting.retain(|letter| !w.hand(letter));
            continue;
        }
        let next = w.nodes.iter().filter(|n| n.alive).filter_map(|n| n.next).min();
        let Some(next) = next.filter(|next| *next < end) else {
            w.now = end;
            return waiting;
        };
        w.now = w.now.max(next);
    }
    panic!("without a pause");
}

/// Some nodes, of which all but node 0 have promised it a request. Node 0 has one place, and has
/// forgotten them all. The requests are off the wire, that of node 1 first.
pub fn promised(nodes: usize) -> (World, Vec<Letter>) {
    let mut w = World::with(nodes, Config { peers: 1, links: 1, ..config() });
    let mut letters = Vec::new();
    for node in 1..nodes {
        w.put(node, 0, 0).unwrap();
        w.settle();
        w.hold("immediate");
        let tag = w.put(node, 0, 10).unwrap();
        w.settle();
        assert_eq!(w.report(node, tag).status.errno, 0);
        letters.push(take(&w, node, "immediate").unwrap());
        w.free("immediate");
        w.notify_peer(0, node, false);
        w.settle();
    }
    (w, letters)
}

/// S0-18: no place for the sender of a promised request. It is asked when there is one: here when
/// the one that is connected to is given up, which neither ends nor brings anything.
#[test]
fn s0_18_one_that_found_no_place_is_asked_when_there_is_one() {
    let (mut w, letter) = forgotten();
    // Node 0 has something for node 1, which is not there; its time is over before that is known.
    w.kill(1);
    let deadline = w.now.after(Span::from_millis(10));
    let order = Order { deadline, ..w.order(Kind::Put, 1, 10) };
    w.send(0, order).unwrap();
    assert!(!w.hand(&letter), "no place");
    w.sleep(Span::from_millis(20));
    assert_eq!((w.state(0, 1), w.nodes[0].done.len()), (HelloState::Handshake, 2));
    // Something has ended: offered again.
    assert!(!w.hand(&letter), "no place yet");
    w.settle();
    assert!(w.node(0).driver.offer_again());
    let hellos = w.said(0, 2, "hello");
    // Nothing ends and nothing comes from now on.
    w.sleep(Span::from_secs(1000));
    assert_eq!(w.said(0, 2, "hello"), hellos + 1);
    assert_eq!(w.state(0, 2), HelloState::Good);
    assert!(w.node(0).driver.offer_again(), "the host is not told");
    assert!(w.hand(&letter));
    w.settle();
    w.assert_deliveries();
}

/// S0-18: one place, and two requests that wait for it: one of a node that is dead for ever, one
/// promised by a node that is there. The place can be had when the dead one has not answered, and
/// its hold-off is over: before it is asked again for its own sake.
#[test]
fn s0_18_a_dead_ones_request_does_not_keep_a_living_one_out() {
    let (mut w, letters) = promised(3);
    w.kill(1);
    // The host sleeps between its calls: each silence lasts a call longer (R41).
    let calls = w.config.link_poll.times(w.config.hello_tries.into()).as_nanos();
    let span = Span::from_nanos(hold_off(&w).times(2).as_nanos() + calls + 1);
    let left = offer(&mut w, letters, span);
    assert_eq!(left.iter().map(|letter| letter.from).collect::<Vec<_>>(), [1], "starved");
}

/// INV-11: two nodes that are dead, and whose requests wait for one place, take it in turn. Each is
/// asked as rarely as if it had a place of its own.
#[test]
fn inv_11_two_dead_ones_that_share_a_place_are_asked_ever_less_often() {
    let (mut w, letters) = promised(3);
    w.kill(1);
    w.kill(2);
    let before = [w.said(0, 1, "hello"), w.said(0, 2, "hello")];
    let span = Span::from_secs(6000);
    let left = offer(&mut w, letters, span);
    assert_eq!(left.len(), 2);
    // Six doublings, then a question for each 64 hold-offs.
    let rounds = 7 + span.as_nanos() / hold_off(&w).times(64).as_nanos();
    let most = rounds as usize * usize::from(w.config.hello_tries);
    for (node, before) in [(1, before[0]), (2, before[1])] {
        let hellos = w.said(0, node, "hello") - before;
        let least = 5 * usize::from(w.config.hello_tries);
        assert!((least..=most).contains(&hellos), "{hellos} hellos to node {node}");
    }
}

/// S0-18: more nodes wait than are kept in mind. They take turns, in whatever order the host
/// offers.
#[test]
fn s0_18_many_dead_ones_requests_do_not_keep_a_living_one_out() {
    let (mut w, letters) = promised(7);
    for node in 1..6 {
        w.kill(node);
    }
    let left = offer(&mut w, letters, Span::from_secs(1000));
    assert_eq!(
        left.iter().map(|letter| letter.from).collect::<Vec<_>>(),
        [1, 2, 3, 4, 5],
        "starved"
    );
}

/// S0-18: two that live and wait for one place are both served, and neither is asked twice for it.
#[test]
fn s0_18_two_living_ones_that_wait_for_one_place_are_served_in_turn() {
    let (mut w, letters) = promised(3);
    let before = w.said(0, 1, "hello") + w.said(0, 2, "hello");
    let left = offer(&mut w, letters, Span::from_secs(100));
    assert!(left.is_empty());
    assert_eq!(w.said(0, 1, "hello") + w.said(0, 2, "hello") - before, 2);
    w.assert_deliveries();
}

/// A table that is larger than what one call looks at is searched to its end, and then no more:
/// nothing runs for a request that waits until a place can be had.
#[test]
fn r64_a_place_is_looked_for_in_turns() {
    let mut w = World::with(8, Config { peers: 5, links: 1, batch: 2, ..config() });
    w.put(7, 0, 0).unwrap();
    w.settle();
    w.hold("immediate");
    w.put(7, 0, 10).unwrap();
    w.settle();
    let letter = take(&w, 7, "immediate").unwrap();
    w.free("immediate");
    w.notify_peer(0, 7, false);
    w.settle();
    // Every place has something under way.
    w.node(0).put = Decision::Keep;
    for node in 1..6 {
        w.sleep(hold_off(&w));
        w.put(node, 0, 5000).unwrap();
        w.settle();
    }
    assert_eq!(w.nodes[0].kept.len(), 5);
    assert!(!w.hand(&letter));
    w.settle();
    let next = w.nodes[0].next.unwrap();
    assert!(next > w.now.after(hold_off(&w)), "a clock runs");
    // The one in the place that is looked at last has ended.
    let hellos = w.said(0, 7, "hello");
    let kept = w.node(0).kept.pop().unwrap();
    w.node(0).kept.insert(0, kept);
    w.node(0).answer_kept(5000).unwrap();
    w.settle();
    assert_eq!((w.said(0, 7, "hello"), w.state(0, 7)), (hellos + 1, HelloState::Good));
    assert!(w.hand(&letter));
}

/// Two requests of one peer wait, in the channels of two links. One of an earlier time is dropped.
/// The other one waits on, and its sender is asked.
#[test]
fn s0_18_a_request_waits_on_when_another_lanes_was_dealt_with() {
    let mut w = World::with(2, Config { links: 2, ..config() });
    let by = |w: &World, link| Order { link: Some(link), ..w.order(Kind::Put, 0, 10) };
    w.put(1, 0, 0).unwrap();
    w.settle();
    w.hold("immediate");
    let order = by(&w, LINK1);
    w.send(1, order).unwrap();
    w.settle();
    let former = take(&w, 1, "immediate").unwrap();
    w.reboot(0);
    w.notify_peer(1, 0, false);
    w.sleep(hold_off(&w));
    w.free("immediate");
    w.put(1, 0, 0).unwrap();
    w.settle();
    assert_eq!(w.state(1, 0), HelloState::Good);
    w.hold("immediate");
    let order = by(&w, LINK0);
    let tag = w.send(1, order).unwrap();
    w.settle();
    assert_eq!(w.report(1, tag).status.errno, 0);
    let present = take(&w, 1, "immediate").unwrap();
    w.free("immediate");
    w.notify_peer(0, 1, false);
    // Its answer does not come, for a while.
    w.hold("hello");
    assert!(!w.hand(&present));
    w.sleep(hold_off(&w));
    assert_eq!(w.state(0, 1), HelloState::Down);
    w.free("hello");
    w.fabric.borrow_mut().wire.clear();
    let before = w.said(0, 1, "hello");
    assert!(!w.hand(&present));
    assert!(w.hand(&former), "it is for an earlier incarnation");
    w.sleep(Span::from_secs(1000));
    assert_eq!((w.said(0, 1, "hello"), w.state(0, 1)), (before + 1, HelloState::Good));
    assert!(w.hand(&present));
    w.settle();
    w.assert_deliveries();
}

/// A request that is lost by the upper layer ends without a report. Its slot is free, and the host
/// is told.
#[test]
fn s0_18_a_host_is_told_of_a_slot_that_becomes_free_without_a_report() {
    let mut w =
        World::met_with(Config { slots: 3, passive_slots: 1, lists: 0, links: 1, ..config() });
    w.node(1).inline = Decision::Forget;
    w.put(0, 1, 10).unwrap();
    w.settle();
    w.node(1).inline = super::node::TAKE;
    w.hold("immediate");
    for _ in 0..2 {
        w.put(0, 1, 10).unwrap();
        w.settle();
    }
    let letters: Vec<_> = (0..2).map(|_| take(&w, 0, "immediate").unwrap()).collect();
    w.node(1).inline = Decision::Forget;
    assert!(w.hand(&letters[0]));
    assert!(!w.hand(&letters[1]), "no slot");
    let _ = w.node(1).driver.offer_again();
    let (reports, start) = (w.nodes[1].done.len(), w.now);
    while !w.node(1).driver.offer_again() {
        let next = w.nodes[1].next.unwrap();
        assert!(next.since(start) <= w.config.decision_bound.times(2), "not told");
        w.sleep_until(next);
    }
    assert_eq!(w.nodes[1].done.len(), reports);
    assert!(w.hand(&letters[1]));
}
