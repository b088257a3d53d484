// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a goodbye proves of other incarnations of its sender's node, and what it does not (S0-18,
//! 0018).

use lnd_core::config::Config;
use lnd_core::counters::Counter;
use lnd_core::id::Tag;
use lnd_core::peer::HelloState;

use super::hello::hold_off;
use super::late::take;
use super::letter::Letter;
use super::world::{config, World};

const KINDS: [&str; 4] = ["hello", "hello_ack", "immediate", "close"];

/// Hands the next letter of a kind that a node has sent to its receiver, and nothing else.
fn hand_next(w: &mut World, from: usize, kind: &str) {
    let letter = take(w, from, kind).unwrap();
    assert!(w.hand(&letter), "{kind}");
    w.settle();
}

/// Node 1 ends in good order. Its goodbye stays on its way.
fn leave(w: &mut World) -> Letter {
    let now = w.now;
    w.nodes[1].driver.shutdown(now, now);
    w.settle();
    take(w, 1, "close").unwrap()
}

/// Node 1 connects to node 0, is answered, and reports a request as delivered, which stays on its
/// way. What node 1 is asked stays on its way too.
fn promise(w: &mut World) -> (Tag, Letter) {
    let tag = w.put(1, 0, 10).unwrap();
    w.settle();
    hand_next(w, 1, "hello");
    // By the same lane as an answer comes what was said before.
    while let Some(hello) = take(w, 0, "hello") {
        assert!(w.hand(&hello));
        w.settle();
    }
    hand_next(w, 0, "hello_ack");
    assert_eq!(w.report(1, tag).status.errno, 0);
    (tag, take(w, 1, "immediate").unwrap())
}

/// Everything moves again. What was promised is taken, and nothing stays in the channel.
fn all_is_seen(w: &mut World, letters: Vec<Letter>, requests: u64) {
    let before = w.count(0, Counter::Requests);
    w.fabric.borrow_mut().wire.extend(letters);
    KINDS.iter().for_each(|kind| w.free(kind));
    w.sleep(hold_off(w).times(200));
    assert_eq!(w.count(0, Counter::Requests) - before, requests, "told OK, and never seen");
    assert_eq!(w.fabric.borrow().wire.len(), 0, "told OK, and lies in the channel for ever");
    w.assert_deliveries();
}

/// What an incarnation of node 1 has said before it ended, all of it still on its way: its hello
/// and its goodbye. Its successor has reported a request as delivered, and has not answered node
/// 0's hello.
struct Late {
    w: World,
    hello: Letter,
    close: Letter,
    promised: Letter,
}

fn late(config: Config) -> Late {
    let mut w = World::with(3, config);
    KINDS.iter().for_each(|kind| w.hold(kind));
    w.put(0, 1, 5000).unwrap();
    w.settle();
    hand_next(&mut w, 0, "hello");
    let hello = take(&w, 1, "hello").unwrap();
    take(&w, 1, "hello_ack").unwrap();
    let close = leave(&mut w);
    w.reboot(1);
    let (_, promised) = promise(&mut w);
    assert_eq!(w.state(0, 1), HelloState::Handshake, "node 1 has not answered");
    Late { w, hello, close, promised }
}

/// A late hello displaces an incarnation that has not answered yet, and a late goodbye follows.
#[test]
fn h4_8_a_late_hello_and_a_late_goodbye_do_not_settle_who_is_there() {
    let Late { mut w, hello, close, promised } = late(config());
    assert!(w.hand(&hello));
    assert!(w.hand(&close));
    assert_eq!(w.state(0, 1), HelloState::Down);
    assert!(!w.hand(&promised), "its sender is to be asked");
    all_is_seen(&mut w, vec![promised], 1);
}

/// The same, and the request comes first: what waits is not dropped once the goodbye is there.
#[test]
fn h4_8_what_waits_is_not_dropped_for_a_late_goodbye() {
    let Late { mut w, hello, close, promised } = late(config());
    assert!(w.hand(&hello));
    assert!(!w.hand(&promised));
    assert!(w.hand(&close));
    assert!(!w.hand(&promised));
    all_is_seen(&mut w, vec![promised], 1);
}

/// Nothing is displaced: the incarnation that is there was forgotten for want of room, whether it
/// had answered or not.
#[test]
fn h4_8_a_late_goodbye_does_not_settle_who_was_forgotten() {
    for answered in [false, true] {
        let Late { mut w, hello, close, promised } = late(Config { peers: 1, ..config() });
        if answered {
            w.free("hello_ack");
            w.free("hello");
            w.sleep(w.config.hello_timeout);
            assert_eq!(w.state(0, 1), HelloState::Good);
        }
        w.notify_peer(0, 1, false);
        KINDS.iter().for_each(|kind| w.free(kind));
        w.settle();
        w.put(0, 2, 0).unwrap();
        w.settle();
        assert_eq!((w.state(0, 2), w.peer(0, 1)), (HelloState::Good, None));
        KINDS.iter().for_each(|kind| w.hold(kind));
        assert!(w.hand(&hello));
        assert!(w.hand(&close));
        assert_eq!(w.state(0, 1), HelloState::Down);
        assert!(!w.hand(&promised), "answered {answered}");
        all_is_seen(&mut w, vec![promised], 1);
    }
}

/// Two incarnations that have ended in good order come late, one after the other.
#[test]
fn h4_8_late_goodbyes_of_two_incarnations_settle_nothing() {
    let Late { mut w, hello, close, promised } = late(config());
    let mut other = [hello.clone(), close.clone()];
    for letter in &mut other {
        letter.envelope.from_incarnation = lnd_core::id::Incarnation::from_raw(999).unwrap();
    }
    for letter in other.iter().chain([&hello, &close]) {
        assert!(w.hand(letter));
    }
    assert!(!w.hand(&promised));
    all_is_seen(&mut w, vec![promised], 1);
}

/// The one that is there ends in good order too. No incarnation of its node is there to be asked.
#[test]
fn h4_8_the_goodbye_of_the_present_one_counts_behind_a_late_one() {
    let Late { mut w, hello, close, promised } = late(config());
    let own = leave(&mut w);
    for letter in [&hello, &close, &own] {
        assert!(w.hand(letter));
    }
    all_is_seen(&mut w, vec![promised], 1);
}

/// An incarnation that crashed has left a request in front of its successor's. The successor has
/// heard our hello, which its goodbye shows; its answer comes behind that, or never. No incarnation
/// is there to be asked.
#[test]
fn h4_8_a_goodbye_that_names_our_session_settles_who_was_there_last() {
    for heard in ["handshake", "down"] {
        let mut w = World::new(2);
        KINDS.iter().for_each(|kind| w.hold(kind));
        let (_, left) = promise(&mut w);
        w.reboot(1);
        take(&w, 1, "hello_ack").unwrap();
        let (_, promised) = promise(&mut w);
        take(&w, 1, "hello_ack").unwrap();
        let close = leave(&mut w);
        if heard == "down" {
            // We have taken it for down: the goodbye is read all the same.
            w.notify_peer(0, 1, false);
        }
        assert!(w.hand(&close));
        assert_eq!(w.state(0, 1), HelloState::Down);
        all_is_seen(&mut w, vec![left, promised], 1);
    }
}

/// As before; the successor has answered, and was silent before its goodbye came. That names no
/// session of ours.
#[test]
fn h4_8_a_silence_does_not_take_back_that_it_was_there_last() {
    let mut w = World::new(2);
    KINDS.iter().for_each(|kind| w.hold(kind));
    let (_, left) = promise(&mut w);
    w.reboot(1);
    take(&w, 1, "hello_ack").unwrap();
    let (_, promised) = promise(&mut w);
    let mut close = answered_and_silent(&mut w);
    close.envelope.credits_of = 0;
    assert!(w.hand(&close));
    all_is_seen(&mut w, vec![left, promised], 1);
}

/// Node 1 answers and ends in good order. Node 0 asks it in vain. Returns the goodbye, which is on
/// its way.
fn answered_and_silent(w: &mut World) -> Letter {
    hand_next(w, 1, "hello_ack");
    assert_eq!(w.state(0, 1), HelloState::Good);
    let close = leave(w);
    w.notify_peer(0, 1, false);
    w.sleep(hold_off(w));
    w.put(0, 1, 10).unwrap();
    w.sleep(hold_off(w));
    assert_eq!(w.state(0, 1), HelloState::Down);
    while take(w, 0, "hello").is_some() {}
    close
}

/// That it has answered long ago does not make a late hello, which displaces its successor, one of
/// the last.
#[test]
fn h4_8_one_that_has_answered_long_ago_comes_late_all_the_same() {
    let mut w = World::new(2);
    KINDS.iter().for_each(|kind| w.hold(kind));
    w.put(1, 0, 10).unwrap();
    w.settle();
    // The first of its hellos is late; the second one was answered.
    let hello = take(&w, 1, "hello").unwrap();
    w.sleep(w.config.hello_timeout);
    promise(&mut w);
    take(&w, 1, "immediate").unwrap();
    let close = answered_and_silent(&mut w);
    w.reboot(1);
    let (_, promised) = promise(&mut w);
    assert!(w.hand(&hello));
    assert!(w.hand(&close));
    assert_eq!(w.state(0, 1), HelloState::Down);
    assert!(!w.hand(&promised), "its sender is to be asked");
    all_is_seen(&mut w, vec![promised], 1);
}

/// Everything moves again, and each request of node 1 is seen at once.
fn each_is_seen(w: &mut World) {
    KINDS.iter().for_each(|kind| w.free(kind));
    w.settle();
    let before = w.count(0, Counter::Requests);
    for sent in 1..100 {
        let tag = w.put(1, 0, 10).unwrap();
        w.settle();
        assert_eq!(w.report(1, tag).status.errno, 0);
        assert_eq!(w.count(0, Counter::Requests) - before, sent, "it waits for one that was taken");
    }
    w.assert_deliveries();
}

/// A late hello displaces an incarnation whose requests were taken, and a late hello of that one
/// opens its session from the beginning again.
#[test]
fn h4_8_what_was_taken_before_it_was_displaced_is_not_waited_for() {
    let Late { mut w, hello, promised, .. } = late(config());
    let mut again = hello.clone();
    again.envelope.from_incarnation = promised.envelope.from_incarnation;
    again.envelope.session = promised.envelope.session;
    again.envelope.to_incarnation = None;
    // It hears our hello; its answer is on its way. What it says then names our session.
    w.sleep(w.config.hello_timeout);
    hand_next(&mut w, 0, "hello");
    assert!(!w.hand(&promised));
    w.put(1, 0, 10).unwrap();
    w.settle();
    hand_next(&mut w, 1, "immediate");
    assert!(w.hand(&promised));
    assert_eq!(w.count(0, Counter::Requests), 2);
    assert!(w.hand(&hello));
    assert!(w.hand(&again));
    each_is_seen(&mut w);
}

/// The same where its place in the peer table was given to another node meanwhile, after so many
/// requests. Then some requests are on their way while their sender connects, or are not.
#[test]
fn h4_8_what_was_taken_before_it_was_forgotten_is_not_waited_for() {
    for (taken, started) in [(1, false), (100, false), (1, true), (100, true)] {
        let mut w = forgotten_after(taken);
        if started {
            w.hold("immediate");
            let tags = [10, 20].map(|length| w.put(1, 0, length).unwrap());
            w.settle();
            assert!(tags.iter().all(|&tag| w.report(1, tag).status.errno == 0));
            w.notify_peer(1, 0, false);
            w.sleep(hold_off(&w));
            w.put(1, 0, 30).unwrap();
            w.settle();
            w.free("immediate");
            w.settle();
            assert_eq!(w.count(0, Counter::Requests), taken + 3, "told OK, and never seen");
        }
        each_is_seen(&mut w);
    }
}

/// Where requests may be lost, what is missing is given up: the session goes on from its hello's
/// number.
#[test]
fn h4_8_a_session_of_lossy_channels_goes_on_from_its_hellos_number() {
    let mut w = forgotten_after(100);
    w.fabric.borrow_mut().reliable = false;
    w.settle();
    w.notify_peer(1, 0, false);
    w.sleep(hold_off(&w));
    each_is_seen(&mut w);
    assert_eq!(w.count(0, Counter::OutsideWindow), 0);
}

/// Node 0 has taken requests of node 1, has given its place to another node, and hears its first
/// hello.
fn forgotten_after(taken: u64) -> World {
    let mut w = World::with(3, Config { peers: 1, ..config() });
    w.hold("hello");
    w.put(1, 0, 10).unwrap();
    w.settle();
    // The first of its hellos is late; the second one is answered.
    let again = take(&w, 1, "hello").unwrap();
    w.sleep(w.config.hello_timeout);
    w.free("hello");
    w.settle();
    for _ in 1..taken {
        w.put(1, 0, 10).unwrap();
        w.settle();
    }
    assert_eq!(w.count(0, Counter::Requests), taken);
    w.notify_peer(0, 1, false);
    w.put(0, 2, 0).unwrap();
    w.settle();
    assert_eq!((w.state(0, 2), w.peer(0, 1)), (HelloState::Good, None));
    w.notify_peer(0, 2, false);
    assert!(w.hand(&again));
    w
}
