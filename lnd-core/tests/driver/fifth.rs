// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Connections whose stop does not end, that fail many at a time, or while their peers connect; and
//! a reminder that a withdrawn request must not stop.

use lnd_core::config::Config;
use lnd_core::counters::Counter;
use lnd_core::driver::{Kind, RunState};
use lnd_core::id::Tag;
use lnd_core::peer::HelloState;
use lnd_core::ports::Sent;
use lnd_core::time::Span;

use super::device::OnInvalidate;
use super::fabric::{nid, Fabric, InjectedFault};
use super::late::take;
use super::node::Order;
use super::third::promised_and_forgotten;
use super::world::{config, World, LINK0};

fn fabric(nodes: usize, links: u8) -> Fabric {
    let mut fabric = Fabric::new(nodes, usize::from(links));
    fabric.devices.values_mut().for_each(|device| device.connects = true);
    fabric
}

fn connected_with(nodes: usize, config: Config) -> World {
    let mut w = World::on(fabric(nodes, config.links), nodes, config);
    for to in 1..nodes {
        w.put(0, to, 0).unwrap();
    }
    w.settle();
    w.node(0).done.clear();
    w
}

fn small(links: u8, connections: u8) -> Config {
    let mut config = config();
    (config.links, config.connections) = (links, connections);
    config
}

fn by0(w: &mut World, to: usize, length: u32) -> Tag {
    let order = Order { link: Some(LINK0), ..w.order(Kind::Put, to, length) };
    w.send(0, order).unwrap()
}

fn down(w: &mut World, peer: usize) {
    let now = w.now;
    w.nodes[0].driver.on_connection_down(now, LINK0, nid(peer));
    w.nodes[0].check();
}

fn release(w: &World) {
    w.device(0, 0, |d| {
        d.slow_connections = false;
        d.stopping.values_mut().for_each(|stopped| *stopped = true);
    });
}

/// The stop of a connection never ends (its peer's port is dead); that of the link would, and would
/// be the proof. Before there were connections the drain bound stopped the link.
#[test]
fn d1_a_connection_whose_stop_does_not_end_is_stopped_with_its_link() {
    let mut w = connected_with(2, small(1, 16));
    w.device(0, 0, |d| (d.on_invalidate, d.slow_connections) = (OnInvalidate::Never, true));
    w.hold("put_req");
    let tag = by0(&mut w, 1, 5000);
    w.settle();
    let now = w.now;
    w.nodes[0].driver.withdraw(now, tag);
    w.sleep(Span::from_secs(1000));
    assert!(w.reported(0, tag), "waits for ever: {:?}", w.nodes[0].driver.blocker(0));
}

/// D1, as a shutdown sees it (INV-15).
#[test]
fn d1_a_shutdown_does_not_wait_for_a_connection_for_ever() {
    let mut w = connected_with(2, small(1, 16));
    w.device(0, 0, |d| (d.on_invalidate, d.slow_connections) = (OnInvalidate::Never, true));
    w.hold("put_req");
    by0(&mut w, 1, 5000);
    w.settle();
    let now = w.now;
    w.nodes[0].driver.shutdown(now, now);
    w.sleep(Span::from_secs(1000));
    let state = w.nodes[0].driver.run_state();
    assert_eq!(state, RunState::Quiescent, "{:?}", w.nodes[0].driver.blocker(0));
}

/// Every place is taken by a connection whose stop does not end and which has nothing under way.
/// Another peer's descriptor is never had back.
#[test]
fn d2_a_full_array_of_connections_holds_no_other_peers_memory_for_ever() {
    let mut w = connected_with(3, small(1, 1));
    w.device(0, 0, |d| (d.on_invalidate, d.slow_connections) = (OnInvalidate::Never, true));
    down(&mut w, 1);
    w.settle();
    w.hold("put_req");
    let tag = by0(&mut w, 2, 5000);
    w.settle();
    let now = w.now;
    w.nodes[0].driver.withdraw(now, tag);
    w.sleep(Span::from_secs(1000));
    assert!(w.reported(0, tag), "waits for ever: {:?}", w.nodes[0].driver.blocker(0));
}

/// The transport reports a second connection down while every place is taken: it is not forgotten.
#[test]
fn d3_a_report_of_a_connection_that_finds_no_place_is_not_forgotten() {
    let mut w = connected_with(3, small(1, 1));
    w.device(0, 0, |d| d.slow_connections = true);
    w.hold("put_req");
    let deadline = w.now.after(Span::from_secs(3600));
    let order = Order { link: Some(LINK0), deadline, ..w.order(Kind::Put, 2, 5000) };
    let tag = w.send(0, order).unwrap();
    w.settle();
    down(&mut w, 1);
    w.settle();
    down(&mut w, 2);
    w.settle();
    release(&w);
    w.sleep(config().drain_bound.times(3));
    let failed = (w.count(0, Counter::ConnectionsFailed), w.count(0, Counter::LinksFailed));
    assert_eq!(failed, (1, 1), "the link is stopped in its place");
    assert!(w.reported(0, tag));
}

/// R41: the connection goes out of service while the last try's hello is on its way.
#[test]
fn d4_the_last_hello_is_not_counted_as_unanswered_while_its_connection_is_out() {
    for tries in [1, 5] {
        let mut config = small(1, 16);
        config.hello_tries = tries;
        let mut w = World::on(fabric(2, 1), 2, config);
        w.device(0, 0, |d| d.slow_connections = true);
        w.hold("hello");
        let tag = w.put(0, 1, 10).unwrap();
        w.settle();
        for _ in 1..tries {
            w.sleep(config.hello_timeout);
        }
        down(&mut w, 1);
        w.sleep(config.hello_timeout.times(3));
        assert_eq!((w.count(0, Counter::PeersDown), w.reported(0, tag)), (0, false), "{tries}");
        release(&w);
        w.free("hello");
        w.sleep(Span::from_secs(2));
        assert_eq!(w.report(0, tag).status.errno, 0);
    }
}

/// A hello that was lost with its connection says nothing of the peer, as one that was lost with
/// its link.
#[test]
fn d5_a_hello_that_was_lost_with_its_connection_takes_no_peer_down() {
    let mut w = World::on(fabric(2, 1), 2, small(1, 16));
    w.device(0, 0, |d| d.slow_connections = true);
    w.injected("hello", InjectedFault::Lost(Sent::NotDelivered));
    let tag = w.put(0, 1, 10).unwrap();
    w.tick();
    down(&mut w, 1);
    w.settle();
    assert_eq!((w.count(0, Counter::PeersDown), w.reported(0, tag)), (0, false));
    release(&w);
    w.sleep(Span::from_secs(3));
    assert_eq!(w.report(0, tag).status.errno, 0);
}

/// R53: a request for one link whose connection is out holds up no request that may take another
/// one.
#[test]
fn d6_a_request_for_a_connection_that_is_out_holds_up_no_other() {
    let mut w = connected_with(2, small(2, 16));
    w.device(0, 0, |d| d.slow_connections = true);
    down(&mut w, 1);
    w.settle();
    let only = by0(&mut w, 1, 10);
    let free = w.put(0, 1, 10).unwrap();
    w.sleep(Span::from_secs(20));
    assert!(w.reported(0, free), "the other link is open");
    let _ = only;
}

/// 0019: a peer that cannot be asked keeps its place for ever, and another node's promised request
/// waits.
#[test]
fn d7_a_peer_that_cannot_be_asked_does_not_keep_its_place() {
    for how in ["link", "connection"] {
        let mut config = small(1, 16);
        config.peers = 1;
        let links = 1;
        let mut w = World::on(fabric(3, links), 3, config);
        w.put(2, 0, 10).unwrap();
        w.settle();
        assert_eq!(w.state(0, 2), HelloState::Good);
        w.hold("immediate");
        // Promised, and still in the channel when node 0 forgets node 2 for want of room.
        w.put(2, 0, 10).unwrap();
        w.settle();
        w.notify_peer(0, 2, false);
        w.device(0, 0, |d| d.slow_connections = true);
        if how == "connection" {
            down(&mut w, 1);
        } else {
            w.notify_link(0, LINK0, false);
        }
        w.settle();
        // Node 1 is wanted, and takes the place.
        let deadline = w.now.after(Span::from_secs(3));
        let order = Order { deadline, ..w.order(Kind::Put, 1, 10) };
        w.send(0, order).unwrap();
        w.sleep(Span::from_secs(20));
        if how == "link" {
            w.notify_link(0, LINK0, true);
        }
        w.free("immediate");
        w.sleep(Span::from_secs(700));
        w.fabric.borrow_mut().held.clear();
        w.settle();
        let left = w.fabric.borrow().wire.iter().filter(|l| l.kind() == "immediate").count();
        assert_eq!(left, 0, "{how}: a promised request waits for a place for ever");
    }
}

/// The refusal of a PUT, decided while the connection is out, is not said when the connection is
/// back.
#[test]
fn d10_a_refusal_waits_for_the_connection() {
    let mut w = connected_with(2, small(1, 16));
    w.node(0).put = super::node::Decision::Keep;
    let tag = w.put(1, 0, 5000).unwrap();
    w.settle();
    down(&mut w, 1);
    let kept = w.node(0).kept.remove(0);
    let now = w.now;
    w.nodes[0].driver.nak(now, kept.rx_request, lnd_core::message::NakReason::NoMatch);
    w.sleep(Span::from_secs(5));
    assert!(w.reported(1, tag), "nothing tells the sender before its deadline");
}
/// `Config::batch`: most slots handled in one call. Connections that fail at a time are reclaimed
/// side by side, with a whole batch for each of them (up to 255).
#[test]
fn d11_one_call_does_a_batch_and_not_a_batch_for_each_connection() {
    let peers = 16;
    let mut config = small(1, 16);
    (config.slots, config.peers, config.passive_slots, config.batch) = (64, 32, 1, 1);
    let mut w = World::on(fabric(peers + 1, 1), peers + 1, config);
    for to in 1..=peers {
        w.put(0, to, 0).unwrap();
    }
    w.settle();
    w.hold("put_req");
    w.device(0, 0, |d| d.on_invalidate = OnInvalidate::Never);
    let tags: Vec<Tag> = (1..=peers).map(|to| by0(&mut w, to, 5000)).collect();
    w.settle();
    let last = tags.iter().map(|tag| tag.index).max().unwrap();
    let mut most = 0;
    for call in 0..3000 {
        for (at, tag) in tags.iter().enumerate() {
            if last - tag.index == call {
                down(&mut w, at + 1);
            }
        }
        let before = w.device(0, 0, |d| d.calls.reclaims);
        w.nodes[0].on_time();
        most = most.max(w.device(0, 0, |d| d.calls.reclaims) - before);
    }
    assert_eq!(w.device(0, 0, |d| d.calls.reclaims), peers);
    assert_eq!(most, 1, "slots reclaimed in one call of a batch of one");
}

/// A host that offers a waiting request again when it is told to, and then only: when `offer_again`
/// says so, and when a control message was taken. The driver's promise (`Inbound::Wait`): no
/// promised request waits for ever. `how`: what node 0 does meanwhile with a request of its own to
/// that peer: nothing; has one wait for room and withdraws it.
fn notified_again(how: &str) -> bool {
    let tries = 3;
    let (mut w, letter) = promised_and_forgotten(tries);
    w.free("put_req");
    w.settle();
    let to0 = |w: &World| w.fabric.borrow().said.iter().filter(|s| s.1 == 0).count();
    let (mut before, mut at) = (0, 0);
    let offer = |w: &mut World, taken: &mut bool, before: &mut usize| {
        let more = w.node(0).driver.offer_again() | (to0(w) > *before);
        *before = to0(w);
        if more && !*taken {
            *taken = w.hand(&letter);
        }
    };
    // Offered until node 1 is told; then it is told, wrongly, that node 0 is down.
    w.fabric.borrow_mut().wire.push_back(letter.clone());
    w.settle();
    let mut taken = take(&w, 1, "immediate").is_none();
    w.notify_peer(1, 0, false);
    for _ in 0..20 {
        offer(&mut w, &mut taken, &mut before);
        w.settle();
    }
    if how == "withdrawn" && !taken {
        w.fabric.borrow_mut().room.insert((0, 1), ROOM);
        let tag = w.put(0, 1, 10).unwrap();
        let now = w.now;
        w.nodes[0].driver.withdraw(now, tag);
        w.nodes[0].fetch();
        offer(&mut w, &mut taken, &mut before);
        w.fabric.borrow_mut().room.clear();
    }
    w.settle();
    while at < 400 && !taken {
        at += 1;
        offer(&mut w, &mut taken, &mut before);
        w.sleep(w.config.hello_timeout);
    }
    taken
}

/// No request lane, and a control lane.
const ROOM: [usize; 2] =
    if lnd_core::message::Lane::Request as usize == 0 { [0, 64] } else { [64, 0] };

#[test]
fn d12_what_was_promised_is_asked_for_again() {
    assert!(notified_again("nothing"));
    assert!(notified_again("withdrawn"), "told OK, and lies in the channel for ever");
}
