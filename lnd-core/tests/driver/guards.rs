// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Conditions that only rare worlds meet, one by one: links and connections that fail under what
//! waits, requests that come to a peer of which we are not sure, what is left to say at the end.

use lnd_core::config::Config;
use lnd_core::counters::Counter;
use lnd_core::driver::{Kind, Report, RunState};
use lnd_core::link::LinkState;
use lnd_core::peer::HelloState;
use lnd_core::time::Span;
use lnd_core::trace::Trace;
use lnd_core::transfer::{Cause, Place};

use super::fabric::{nid, Fabric};
use super::hello::{forged, hello, hold_off};
use super::late::take;
use super::letter::Letter;
use super::node::{Decision, Order};
use super::parked::promised;
use super::world::{config, World, LINK0, LINK1};

/// Node 1 has met node 0, which has one link, and has sent it a request. Node 0 has not been
/// answered: its own hellos are held up. The request is off the wire.
pub fn unverified() -> (World, Letter) {
    let mut w = World::with(2, Config { links: 1, ..config() });
    w.hold("immediate");
    let tag = w.put(1, 0, 10).unwrap();
    w.tick();
    let first = take(&w, 1, "hello").unwrap();
    w.hold("hello");
    assert!(w.hand(&first));
    w.settle();
    assert_eq!((w.state(0, 1), w.state(1, 0)), (HelloState::Handshake, HelloState::Good));
    assert_eq!(w.report(1, tag).status.errno, 0);
    let letter = take(&w, 1, "immediate").unwrap();
    assert_eq!(letter.envelope.credits_of, 0, "it does not know our session");
    w.free("immediate");
    (w, letter)
}

/// The link of a node is reported as down, and the peer is not asked any more. Its register then
/// says that it works, which the driver has not seen yet.
fn cut(w: &mut World) {
    w.notify_link(0, LINK0, false);
    w.sleep(w.config.hello_timeout.times(2));
    assert_eq!(w.nodes[0].driver.link_state(LINK0), Some(LinkState::Down));
    assert_eq!(w.state(0, 1), HelloState::Unknown);
    w.device(0, 0, |d| d.link_works = true);
}

/// S0-18: a session that may be an echo is not verified while no link leads to its owner. In a
/// reliable channel its requests wait, though no answer is due: their sender was told OK.
#[test]
fn s0_18_a_request_of_an_unverified_session_waits_though_no_answer_is_due() {
    let (mut w, letter) = unverified();
    cut(&mut w);
    assert!(!w.hand(&letter), "dropped, and never sent again");
    assert_eq!(w.count(0, Counter::WrongSession), 0);
    w.free("hello");
    w.sleep(Span::from_secs(10));
    assert!(w.hand(&letter));
    w.settle();
    assert_eq!(w.count(0, Counter::Requests), 1);
    w.assert_deliveries();
    w.assert_drained();
}

/// As many pulls as may be are under way by the other link, and a PUT that came by link 0 waits for
/// its decision.
fn undecided(connects: bool) -> World {
    let mut fabric = Fabric::new(2, 2);
    fabric.devices.values_mut().for_each(|device| device.connects = connects);
    let mut w = World::on(fabric, 2, Config { pulls: 1, connections: 4, ..config() });
    w.put(0, 1, 0).unwrap();
    w.settle();
    w.device(1, 1, |d| d.frozen = true);
    let by = |w: &World, link| Order { link: Some(link), ..w.order(Kind::Put, 1, 5000) };
    let order = by(&w, LINK1);
    w.send(0, order).unwrap();
    w.settle();
    w.node(1).put = Decision::Keep;
    let order = by(&w, LINK0);
    w.send(0, order).unwrap();
    w.settle();
    assert_eq!(w.nodes[1].kept.len(), 1);
    w.node(1).done.clear();
    w
}

/// S0-20, R53: the link fails before the decision, and the sweep that belongs to that passes a
/// request which is to be decided. The pull would wait for others, to find then that its link is
/// closed. It ends at once.
#[test]
fn r53_a_pull_that_is_decided_behind_its_links_failure_does_not_wait() {
    let mut w = undecided(false);
    w.notify_link(1, LINK0, false);
    w.settle();
    let tag = w.node(1).answer_kept(5000).unwrap();
    w.settle();
    assert_eq!(w.report(1, tag).status.evidence, Some((Cause::LinkDown, Place::Queue)));
    w.device(1, 1, |d| d.frozen = false);
    w.sleep(Span::from_secs(40));
    w.assert_drained();
}

/// The same of a connection that fails before or behind the decision: the pull is not posted there,
/// and nothing else would end it before its turn.
#[test]
fn r53_a_pull_that_waits_ends_with_its_connection() {
    for behind in [false, true] {
        let mut w = undecided(true);
        w.device(1, 0, |d| d.slow_connections = true);
        let decided = behind.then(|| w.node(1).answer_kept(5000).unwrap());
        w.settle();
        let now = w.now;
        w.node(1).driver.on_connection_down(now, LINK0, nid(0));
        w.settle();
        let tag = decided.unwrap_or_else(|| w.node(1).answer_kept(5000).unwrap());
        w.settle();
        let [Report { status, .. }] = w.nodes[1].done[..] else { panic!("behind {behind}") };
        assert!(w.reported(1, tag));
        assert_eq!(status.evidence, Some((Cause::ConnectionDown, Place::Queue)));
    }
}

/// How often node 0 has taken another view of a peer.
fn changes(w: &mut World) -> usize {
    let log = &w.nodes[0].driver.tracer_mut().0;
    log.iter().filter(|(_, trace)| matches!(trace, Trace::Peer { .. })).count()
}

/// The sender of a request that waits is not asked for while no link is open. Each attempt would
/// end unsent, and the host would offer all that waits again for nothing.
#[test]
fn a_parked_requests_sender_is_left_alone_while_no_link_is_open() {
    let (mut w, letter) = unverified();
    assert!(!w.hand(&letter));
    w.notify_link(0, LINK0, false);
    w.sleep(w.config.hello_timeout.times(2));
    assert_eq!(w.state(0, 1), HelloState::Unknown);
    let _ = w.node(0).driver.offer_again();
    let before = changes(&mut w);
    w.sleep(Span::from_secs(60));
    assert_eq!((changes(&mut w), w.node(0).driver.offer_again()), (before, false));
    // It is asked for when there is a link, once.
    w.notify_link(0, LINK0, true);
    w.settle();
    assert_eq!(w.nodes[0].driver.next_time(w.now), Some(w.now.after(w.config.hello_timeout)));
    w.free("hello");
    w.settle();
    assert_eq!(w.state(0, 1), HelloState::Good);
    assert!(w.hand(&letter));
    w.assert_deliveries();
}

/// Node 0 says goodbye to one of two peers in each call, and `between` happens between the two.
/// Returns what it says to the first one behind the goodbye.
fn said_behind_the_goodbye(prepare: fn(&mut World), between: fn(&mut World)) -> Vec<&'static str> {
    let mut w = World::with(3, Config { batch: 1, ..config() });
    for to in [1, 2] {
        w.put(0, to, 0).unwrap();
        w.settle();
    }
    prepare(&mut w);
    let now = w.now;
    w.nodes[0].driver.shutdown(now, now);
    while w.nodes[0].driver.run_state() != RunState::Closing {
        assert_eq!(w.node(0).on_time(), Some(now));
    }
    w.fabric.borrow_mut().room.remove(&(0, 1));
    w.fabric.borrow_mut().said.clear();
    w.node(0).on_time();
    assert_eq!(w.fabric.borrow().said[..], [(0, 1, "close")]);
    between(&mut w);
    w.node(0).on_time();
    let said = w.fabric.borrow().said.clone();
    said.into_iter().skip(1).filter(|it| it.1 == 1).map(|it| it.2).collect()
}

/// R35: a goodbye is the last message of an incarnation to its peer. Its lane had no room for
/// another one before, and the turn of that comes behind the goodbye.
#[test]
fn r35_what_waited_for_room_is_not_said_behind_the_goodbye() {
    let asks = |w: &mut World| {
        let now = w.now;
        for to in [2, 1] {
            w.fabric.borrow_mut().room.insert((0, to), [64, 0]);
            w.node(0).driver.ask_peer(now, nid(to));
        }
        w.settle();
        assert_eq!(w.state(0, 1), HelloState::Handshake);
    };
    assert_eq!(said_behind_the_goodbye(asks, |_| ()), [""; 0]);
}

/// R35: nothing that comes behind it is answered either.
#[test]
fn r35_what_comes_behind_the_goodbye_is_not_answered() {
    let asked = |w: &mut World| {
        let asks = forged(w, 1, 0, &hello());
        assert!(w.hand(&asks));
    };
    assert_eq!(said_behind_the_goodbye(|_| (), asked), [""; 0]);
}

/// R31: the request of one that has said goodbye is delivered behind that if it means us, and not
/// if it means a former incarnation of ours.
#[test]
fn inv_6_a_request_behind_a_goodbye_is_not_taken_if_it_means_a_former_incarnation() {
    let mut w = World::met();
    w.hold("immediate");
    w.put(1, 0, 10).unwrap();
    w.settle();
    let former = take(&w, 1, "immediate").unwrap();
    w.reboot(0);
    w.free("immediate");
    w.put(0, 1, 0).unwrap();
    w.settle();
    assert_eq!((w.state(0, 1), w.state(1, 0)), (HelloState::Good, HelloState::Good));
    let now = w.now;
    w.nodes[1].driver.shutdown(now, now);
    w.settle();
    assert_eq!(w.state(0, 1), HelloState::Down);
    let before = w.count(0, Counter::Requests);
    assert!(w.hand(&former), "dropped");
    w.settle();
    assert_eq!((w.count(0, Counter::Requests), w.count(0, Counter::Early)), (before, 1));
}

/// In any channel: while the answer to our hello is due, a request of the incarnation that is known
/// waits. Where the channel may lose what was sent, it would be lost for nothing.
#[test]
fn a_request_waits_for_the_answer_to_our_hello_in_any_channel() {
    let mut w = World::met();
    w.fabric.borrow_mut().reliable = false;
    w.notify_peer(0, 1, false);
    w.sleep(hold_off(&w));
    w.hold("hello");
    w.put(0, 1, 0).unwrap();
    assert_eq!(w.state(0, 1), HelloState::Handshake);
    w.hold("immediate");
    w.put(1, 0, 10).unwrap();
    w.tick();
    let request = take(&w, 1, "immediate").unwrap();
    assert!(!w.hand(&request), "dropped");
    w.free("hello");
    w.settle();
    assert!(w.hand(&request));
    w.settle();
    assert_eq!(w.count(0, Counter::Requests), 1);
}

/// Decision 0019: the node that waits for the one place has it before the present owner asks for
/// its own sake, also if the owner's request is offered before the driver has looked at the clock.
#[test]
fn s0_18_a_request_of_the_places_owner_does_not_pass_the_node_that_waits() {
    let (mut w, letters) = promised(3);
    w.kill(1);
    // The one that is dead has the place, and has not answered.
    assert!(!w.hand(&letters[0]));
    w.sleep(hold_off(&w));
    assert_eq!(w.state(0, 1), HelloState::Down);
    assert!(!w.hand(&letters[1]), "no place");
    w.settle();
    let free = w.nodes[0].next.unwrap();
    let hellos = |w: &World| [w.said(0, 1, "hello"), w.said(0, 2, "hello")];
    let before = hellos(&w);
    w.now = free;
    assert!(!w.hand(&letters[0]));
    assert_eq!(hellos(&w), [before[0], before[1] + 1]);
    w.settle();
    let requests = w.count(0, Counter::Requests);
    assert!(w.hand(&letters[1]));
    assert_eq!(w.count(0, Counter::Requests), requests + 1);
}
