// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Requests that were promised and wait in the channel, by hosts that offer them again only when something has
//! ended or has come (S0-18).

use lnd_core::config::Config;
use lnd_core::driver::Kind;
use lnd_core::peer::HelloState;
use lnd_core::time::Span;

use super::hello::hold_off;
use super::late::take;
use super::letter::Letter;
use super::node::{Order, Verdict};
use super::world::{config, World};

/// Node 2 has sent node 0 a request and was told OK; node 0, which knows one peer at a time, has forgotten
/// it. The request is taken off the wire: a host offers it when something has ended or has come.
fn forgotten() -> (World, Letter) {
    let mut w = World::with(3, Config { peers: 1, links: 1, ..config() });
    w.put(2, 0, 0).unwrap();
    w.settle();
    w.hold("immediate");
    let tag = w.put(2, 0, 10).unwrap();
    w.settle();
    assert_eq!(w.report(2, tag).status.errno, 0);
    w.tell_peer(0, 2, false);
    w.settle();
    let letter = take(&w, 2, "immediate").unwrap();
    w.free("immediate");
    (w, letter)
}

/// One that has said goodbye is over for ever. A late hello of it, held up on another link, is taken for
/// the present incarnation's if that has not answered us yet. Then the closed one is "settled", and what the
/// present one has promised is dropped.
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
    // Its successor greets; our hello to it takes a while.
    w.reboot(1);
    let tag = w.put(1, 0, 10).unwrap();
    w.tick();
    let hello = take(&w, 1, "hello").unwrap();
    assert!(w.hand(&hello));
    w.tick();
    // Now the late one.
    assert!(w.hand(&late));
    w.settle();
    w.sleep(Span::from_secs(100));
    assert_eq!(w.report(1, tag).status.errno, 0);
    w.assert_deliveries();
}

/// The receiver has said once that it does not count the session. The sender was greeting it just then,
/// and takes no note; its hello, not answered so far, is given up. Neither says anything any more, and what was
/// promised lies in the channel for ever.
#[test]
fn s0_18_a_sender_that_is_told_while_it_greets_begins_anew() {
    let (mut w, letter) = forgotten();
    let deadline = w.now.after(Span::from_millis(10));
    let order = Order { deadline, ..w.order(Kind::Put, 0, 10) };
    // Node 0 is busy with node 1, and cannot say that it has no room.
    w.hold("put_req");
    w.put(1, 0, 0).unwrap();
    w.settle();
    let busy = w.put(1, 0, 5000).unwrap();
    w.node(0).put = Verdict::Keep;
    w.free("put_req");
    w.settle();
    assert_eq!((w.state(0, 1), w.nodes[0].kept.len()), (HelloState::Good, 1));
    w.fabric.borrow_mut().room.insert((0, 2), [64, 0]);
    // Node 2 took it for down, wrongly, and greets it anew. No hello but the last try's is left.
    w.tell_peer(2, 0, false);
    w.sleep(hold_off(&w));
    w.node(2).done.clear();
    let order = Order { deadline: w.now.after(Span::from_millis(10)), ..order };
    w.send(2, order).unwrap();
    let tries = u32::from(w.config.hello_tries) - 1;
    w.sleep(w.config.hello_timeout.times(tries));
    w.sleep(Span::from_millis(500));
    assert_eq!(w.state(2, 0), HelloState::Greeting);
    assert_eq!(w.said(0, 2, "hello_ack"), 1, "the first contact's");
    // Node 0 has done with node 1, and its lane has room again.
    let _ = w.node(0).answer_kept(5000);
    w.settle();
    assert_eq!(w.report(1, busy).status.errno, 0);
    w.fabric.borrow_mut().room.clear();
    w.fabric.borrow_mut().wire.push_back(letter);
    w.sleep(Span::from_secs(1000));
    w.assert_deliveries();
    assert!(w.fabric.borrow().wire.is_empty());
}

/// A late hello of an earlier session takes the place of the present one's, whose answer waits for room:
/// the present one is not answered (S0-14).
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
    w.tell_peer(1, 0, false);
    w.put(1, 2, 0).unwrap();
    w.settle();
    w.tell_peer(1, 2, false);
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

/// A request that waited has gone with its sender's incarnation. The place of the sender, whose successor
/// has answered, is kept for that request for ever, and nothing that another node has promised gets in.
#[test]
fn s0_18_a_parked_request_that_is_gone_holds_no_place() {
    let (mut w, letter) = forgotten();
    // The same of node 1, whose request is parked.
    w.put(1, 0, 5000).unwrap();
    w.settle();
    w.hold("immediate");
    w.put(1, 0, 10).unwrap();
    w.settle();
    w.tell_peer(0, 1, false);
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
