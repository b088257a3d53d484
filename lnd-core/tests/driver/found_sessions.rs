// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Defects found from outside, in sessions, credits and silence: each by the test that showed it.

use lnd_core::config::Config;
use lnd_core::counters::Counter;
use lnd_core::id::Tag;
use lnd_core::time::Span;

use super::node::{Decision, TAKE};
use super::world::{config, World};

fn slow(length: u32) {
    let small = Config { slots: 12, passive_slots: 4, lists: 1, depth: 4, ..config() };
    let mut w = World::met_with(small);
    (w.node(1).put, w.node(1).inline) = (Decision::Keep, Decision::Keep);
    // Nothing is lost and no node fails: the receiver is slow, and its table gets full.
    let mut tags: Vec<Tag> = Vec::new();
    for round in 0..6 {
        while let Ok(tag) = w.put(0, 1, length) {
            tags.push(tag);
            w.settle();
            if tags.len() > 4 * (round + 1) {
                break;
            }
        }
        w.sleep(w.config.credit_stall);
    }
    (w.node(1).put, w.node(1).inline) = (TAKE, TAKE);
    while !w.nodes[1].kept.is_empty() {
        w.node(1).answer_kept(if length < 128 { 0 } else { length }).unwrap();
        w.settle();
    }
    w.sleep(Span::from_secs(60));
    let good = tags.iter().filter(|&&t| w.report(0, t).status.errno == 0).count();
    let taken = w.nodes[1].done.iter().filter(|r| r.status.errno == 0).count();
    assert_eq!(
        w.count(1, Counter::WrongSession),
        0,
        "requests dropped of a peer that was only slow"
    );
    assert_eq!(good, taken);
    assert_eq!(good, tags.len());
}

#[test]
fn inline_messages_to_a_slow_receiver_are_not_lost() {
    slow(10);
}

#[test]
fn puts_to_a_slow_receiver_are_not_lost() {
    slow(5000);
}

#[test]
fn staged_puts_to_a_slow_receiver_are_not_lost() {
    let small = Config { slots: 12, passive_slots: 2, lists: 1, depth: 4, ..config() };
    let mut w = World::met_with(small);
    (w.node(1).put, w.node(1).inline) = (Decision::Keep, Decision::Keep);
    w.hold("get_req");
    for _ in 0..8 {
        w.get(1, 0, 5000).unwrap();
    }
    w.settle();
    let tags: Vec<Tag> = (0..10).map(|_| w.put(0, 1, 5000).unwrap()).collect();
    for _ in 0..5 {
        w.sleep(w.config.credit_stall);
    }
    // The receiver is quick again, 10 s after the start; the deadline is 30 s.
    (w.node(1).put, w.node(1).inline) = (TAKE, TAKE);
    while !w.nodes[1].kept.is_empty() {
        w.node(1).answer_kept(5000).unwrap();
        w.settle();
    }
    w.free("get_req");
    w.sleep(Span::from_secs(60));
    let bad: Vec<_> =
        tags.iter().map(|&t| w.report(0, t).status).filter(|s| s.errno != 0).collect();
    assert!(bad.is_empty());
}

/// The receiver's thread does not run for 2 s (requests wait in its mailbox); control messages come
/// first when it does, as `Inbox::next` has it.
#[test]
fn a_pause_of_two_seconds_loses_nothing() {
    let mut w = World::met_with(Config { depth: 4, ..config() });
    w.hold("immediate");
    let tags: Vec<Tag> = (0..5).map(|_| w.put(0, 1, 10).unwrap()).collect();
    w.sleep(w.config.credit_stall);
    w.free("immediate");
    w.sleep(Span::from_secs(60));
    let good = tags.iter().filter(|&&t| w.report(0, t).status.errno == 0).count();
    let taken = w.nodes[1].done.len();
    assert_eq!(good, taken);
}

/// One peer may not have all of a node's slots.
#[test]
fn one_peer_does_not_get_every_slot() {
    let small = Config { slots: 12, passive_slots: 4, lists: 1, depth: 4, ..config() };
    let mut w = World::with(3, small);
    w.put(0, 1, 0).unwrap();
    w.put(2, 1, 0).unwrap();
    w.settle();
    (w.node(1).put, w.node(1).inline) = (Decision::Keep, Decision::Keep);
    for _ in 0..6 {
        for _ in 0..6 {
            let _ = w.put(0, 1, 10);
            w.settle();
        }
        w.sleep(w.config.credit_stall);
    }
    assert!(w.nodes[1].kept.len() <= 4);
}

/// LU-16214: node 0 takes node 1 for dead, wrongly. What node 1 sends is dropped, and node 1 is not
/// told.
#[test]
fn lu16214_a_wrong_decision_loses_nothing_silently() {
    let mut w = World::met();
    w.notify_peer(0, 1, false);
    w.settle();
    let mut tags = Vec::new();
    for _ in 0..4 {
        tags.push(w.put(1, 0, 10).unwrap());
        w.settle();
        w.sleep(Span::from_millis(500));
    }
    let good =
        tags.iter().filter(|&&t| w.reported(1, t) && w.report(1, t).status.errno == 0).count();
    assert_eq!(good, w.nodes[0].done.len());
}

/// LU-17505, LU-20379: our own links are down; the peer is not to blame.
#[test]
fn our_own_links_being_down_is_not_the_peers_fault() {
    use super::world::{LINK0, LINK1};
    let mut w = World::new(2);
    w.notify_link(0, LINK0, false);
    w.notify_link(0, LINK1, false);
    w.settle();
    let tag = w.put(0, 1, 10).unwrap();
    w.sleep(Span::from_secs(29));
    let status = w.report(0, tag).status;
    assert!(matches!(
        status.health,
        lnd_core::transfer::HealthClass::LocalTimeout
            | lnd_core::transfer::HealthClass::LocalDropped
            | lnd_core::transfer::HealthClass::LocalNoRoute
    ));
}

/// The same for a peer that was Good, and for which the links fail for six seconds.
#[test]
fn a_resync_while_our_links_are_down_does_not_take_the_peer_down() {
    use super::world::{LINK0, LINK1};
    let mut w = World::met_with(Config { depth: 2, ..config() });
    w.node(1).inline = Decision::Keep;
    for _ in 0..3 {
        w.put(0, 1, 10).unwrap();
    }
    w.settle();
    w.notify_link(0, LINK0, false);
    w.notify_link(0, LINK1, false);
    w.sleep(Span::from_secs(10));
    assert_eq!(w.count(0, Counter::PeersDown), 0, "our cable was out; the peer is as well as ever");
}

/// R41: we did not run while the answer came. It is taken in before the silence counts.
#[test]
fn r41_a_silence_that_falls_into_a_pause_of_ours_is_none() {
    let mut w = World::with(2, Config { hello_tries: 1, ..config() });
    w.hold("hello_ack");
    let tag = w.put(0, 1, 10).unwrap();
    w.settle();
    w.free("hello_ack");
    // The answer lies in the channel, and time passes before frames are taken in.
    w.now = w.now.after(Span::from_secs(7));
    w.tick();
    w.settle();
    assert_eq!(w.count(0, Counter::PeersDown), 0, "the peer had answered");
    assert_eq!(w.report(0, tag).status.errno, 0);
}

/// R41: a second silence counts, pause or not.
#[test]
fn r41_a_host_that_is_always_late_still_finds_a_dead_peer() {
    let mut w = World::with(2, config());
    w.kill(1);
    let tag = w.put(0, 1, 10).unwrap();
    for _ in 0..12 {
        w.now = w.now.after(Span::from_secs(2));
        w.settle();
    }
    assert_eq!(w.report(0, tag).status.errno, -112);
    assert_eq!(w.count(0, Counter::PeersDown), 1);
}

/// S0-18: where the channel may lose what it called sent, OK says no more than that.
#[test]
fn s0_18_sent_is_not_delivered() {
    use lnd_core::transfer::Delivery;
    for (reliable, known) in [(true, Delivery::Delivered), (false, Delivery::Sent)] {
        let mut w = World::met();
        w.fabric.borrow_mut().reliable = reliable;
        let (small, large) = (w.put(0, 1, 10).unwrap(), w.put(0, 1, 5000).unwrap());
        w.settle();
        assert_eq!(
            (w.report(0, small).status.errno, w.report(0, small).status.delivery),
            (0, known)
        );
        // A pull is the proof.
        assert_eq!(w.report(0, large).status.delivery, Delivery::Delivered);
    }
}

/// S0-18: what was said before a goodbye in good order arrives, though the goodbye overtakes it.
#[test]
fn s0_18_a_goodbye_and_a_successor_overtake_nothing() {
    for (successor, late) in [(false, false), (true, false), (true, true)] {
        let mut w = World::met();
        w.hold("immediate");
        if late {
            // By another link than the successor's hello.
            w.hold("close");
        }
        let tags = [w.put(0, 1, 10).unwrap(), w.put(0, 1, 20).unwrap()];
        w.settle();
        let now = w.now;
        w.nodes[0].driver.shutdown(now, now.after(Span::from_secs(1)));
        w.settle();
        assert!(tags.iter().all(|&tag| w.report(0, tag).status.errno == 0));
        if successor {
            w.reboot(0);
            w.put(0, 1, 5000).unwrap();
            w.settle();
        }
        w.free("close");
        w.settle();
        let before = w.nodes[1].done.len();
        w.free("immediate");
        w.settle();
        assert_eq!(w.nodes[1].done.len(), before + 2, "successor {successor}");
    }
}

/// S0-18: an incarnation that ended without a goodbye left a request in the lane. Its successor's
/// requests lie behind it, were reported as delivered, and the successor said goodbye.
#[test]
fn s0_18_a_request_of_an_earlier_incarnation_blocks_nothing_after_a_goodbye() {
    let mut w = World::met();
    w.hold("immediate");
    w.put(0, 1, 10).unwrap();
    w.settle();
    w.reboot(0);
    let tag = w.put(0, 1, 20).unwrap();
    w.settle();
    assert_eq!(w.report(0, tag).status.errno, 0);
    let now = w.now;
    w.nodes[0].driver.shutdown(now, now.after(Span::from_secs(1)));
    w.settle();
    let before = w.nodes[1].done.len();
    w.free("immediate");
    w.settle();
    assert!(w.letter(0).is_none(), "a request that is over keeps its place in the lane");
    assert_eq!(w.nodes[1].done.len(), before + 1);
}

/// What an incarnation that said goodbye had staged is not there any more.
#[test]
fn s0_18_a_staged_request_behind_its_senders_goodbye_is_dropped() {
    let mut w = World::met();
    w.hold("put_req");
    let tag = w.put(0, 1, 5000).unwrap();
    w.settle();
    let now = w.now;
    w.nodes[0].driver.shutdown(now, now.after(Span::from_secs(1)));
    w.sleep(Span::from_secs(3));
    assert_ne!(w.report(0, tag).status.errno, 0);
    let early = w.count(1, Counter::Early);
    w.free("put_req");
    w.settle();
    assert!(w.letter(0).is_none(), "it keeps its place in the lane");
    assert_eq!((w.count(1, Counter::Early), w.nodes[1].done.len()), (early + 1, 0));
}

/// What was promised before a goodbye waits for a slot like all else.
#[test]
fn s0_18_a_request_behind_a_goodbye_waits_for_a_slot() {
    let mut w = World::with(4, Config { slots: 3, passive_slots: 1, lists: 1, ..config() });
    for from in [0, 2, 3] {
        w.put(from, 1, 0).unwrap();
        w.settle();
    }
    let before = w.nodes[1].done.len();
    w.hold("immediate");
    let tag = w.put(0, 1, 10).unwrap();
    w.settle();
    let now = w.now;
    w.nodes[0].driver.shutdown(now, now.after(Span::from_secs(1)));
    w.settle();
    assert_eq!(w.report(0, tag).status.errno, 0);
    // Every slot is taken by others' requests.
    w.node(1).put = Decision::Keep;
    for from in [2, 2, 3] {
        w.put(from, 1, 5000).unwrap();
        w.settle();
    }
    let waited = w.count(1, Counter::Waited);
    w.free("immediate");
    w.settle();
    assert!(w.count(1, Counter::Waited) > waited);
    assert_eq!(w.nodes[1].done.len(), before);
    for _ in 0..3 {
        w.node(1).answer_kept(5000).unwrap();
        w.settle();
    }
    assert_eq!(w.nodes[1].done.len(), before + 4);
}

#[test]
fn s0_18_a_request_that_many_have_overtaken_is_given_up_too() {
    // It stays in its link's lane, its sender gives it up, and no hello of the session can announce
    // it.
    for after in [31, 32, 40, 60] {
        let mut w = World::met();
        let before = w.count(1, Counter::Requests);
        w.hold("put_req");
        let stays = w.put(0, 1, 5000).unwrap();
        let send = |w: &mut World, count: usize| {
            for _ in 0..count {
                let tag = w.put(0, 1, 10).unwrap();
                w.settle();
                assert_eq!(w.report(0, tag).status.errno, 0);
            }
        };
        send(&mut w, after);
        let now = w.now;
        w.node(0).driver.withdraw(now, stays);
        w.settle();
        assert_ne!(w.report(0, stays).status.errno, 0);
        let credits = w.nodes[0].driver.credits_with(w.peer(0, 1).unwrap()).unwrap();
        let back = credits.sent == credits.returned;
        assert_eq!(back, after > 31, "{after}: what cannot be announced begins anew at once");
        send(&mut w, 200);
        assert_eq!(w.count(1, Counter::Requests) - before, after as u64 + 200, "each was seen");
        w.free("put_req");
        w.sleep(Span::from_secs(30));
        w.assert_deliveries();
        w.assert_drained();
    }
}

/// R41: each pause of ours is granted, one after the other.
#[test]
fn r41_every_silence_that_falls_into_a_pause_of_ours_is_none() {
    let mut w = World::met_with(Config { depth: 1, ..config() });
    for pause in 0..3 {
        w.hold("noop");
        for _ in 0..2 {
            w.put(0, 1, 10).unwrap();
            w.settle();
        }
        // The credit lies in the channel, and time passes before frames are taken in.
        w.now = w.now.after(Span::from_secs(7));
        w.tick();
        w.free("noop");
        w.settle();
        assert_eq!(w.count(0, Counter::Resyncs), 0, "pause {pause}");
    }
    w.assert_drained();
}
