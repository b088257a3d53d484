// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Connections that can be stopped one by one: one that fails takes no other peer's transfers with
//! it.

use std::num::NonZeroU32;

use lnd_core::config::Config;
use lnd_core::counters::Counter;
use lnd_core::driver::Kind;
use lnd_core::id::Tag;
use lnd_core::link::{Connection, LinkState, Quiesced};
use lnd_core::ports::{Features, Sent};
use lnd_core::time::Span;
use lnd_core::transfer::{Cause, HealthClass, Place};

use super::device::OnInvalidate;
use super::fabric::{nid, Fabric, InjectedFault};
use super::node::Order;
use super::peer_down::expect;
use super::world::{config, World, LINK0, LINK1};

/// Some nodes that have met, with engines that have connections, and `links` links.
fn connected(nodes: usize, links: u8) -> World {
    connected_with(nodes, links, config().drain_bound)
}

fn connected_with(nodes: usize, links: u8, drain_bound: Span) -> World {
    let mut fabric = Fabric::new(nodes, usize::from(links));
    fabric.devices.values_mut().for_each(|device| device.connects = true);
    let mut config = config();
    config.links = links;
    (config.connections, config.drain_bound) = (16, drain_bound);
    let mut w = World::on(fabric, nodes, config);
    for to in 1..nodes {
        w.put(0, to, 0).unwrap();
    }
    w.settle();
    w.node(0).done.clear();
    w
}

fn by0(w: &mut World, to: usize, length: u32) -> Tag {
    let order = Order { link: Some(LINK0), ..w.order(Kind::Put, to, length) };
    w.send(0, order).unwrap()
}

fn pass(w: &mut World, millis: u64) {
    for _ in 0..millis {
        w.now = w.now.after(Span::from_millis(1));
        w.settle_untold();
    }
}

/// What cannot be had back stops the connection that it is of. Those of other peers go on: they
/// would be lost with the link.
#[test]
fn s0_9_a_descriptor_that_does_not_come_back_stops_its_connection_alone() {
    let mut w = connected(3, 1);
    w.device(0, 0, |d| (d.on_invalidate, d.slow_connections) = (OnInvalidate::Never, true));
    w.hold("put_req");
    let (stuck, beside) = (by0(&mut w, 1, 5000), by0(&mut w, 1, 5000));
    let other = by0(&mut w, 2, 5000);
    w.settle();
    let now = w.now;
    w.nodes[0].driver.withdraw(now, stuck);
    let bound = config().drain_bound;
    w.now = w.now.after(bound);
    pass(&mut w, 20);
    assert_eq!(
        (w.count(0, Counter::DrainBoundHit), w.count(0, Counter::ConnectionsFailed)),
        (1, 1)
    );
    assert_eq!(w.device(0, 0, |d| (d.calls.stops, d.stop_asked)), (1, false));
    // S0-20: asked back, then stopped; nothing by hand before the proof (INV-3).
    assert_eq!(w.device(0, 0, |d| (d.calls.invalidates, d.calls.reclaims)), (2, 0));
    assert!(!w.reported(0, stuck) && !w.reported(0, beside) && !w.reported(0, other));
    assert_eq!(w.nodes[0].driver.quarantined(LINK0), 2, "not the other peer's");

    w.device(0, 0, |d| d.stopping.values_mut().for_each(|stopped| *stopped = true));
    pass(&mut w, 20);
    expect(w.report(0, stuck), Cause::Withdrawn, Place::Moving, -125, HealthClass::LocalInterrupt);
    expect(
        w.report(0, beside),
        Cause::ConnectionDown,
        Place::Moving,
        -5,
        HealthClass::NetworkTimeout,
    );
    assert_eq!(w.device(0, 0, |d| (d.calls.reclaims, d.calls.resets)), (2, 1));
    assert_eq!(w.count(0, Counter::Asserted), 2);
    assert_eq!(w.nodes[0].driver.quarantined(LINK0), 0);
    assert_eq!(w.nodes[0].driver.link_state(LINK0), Some(LinkState::Up));
    assert_eq!((w.count(0, Counter::LinksFailed), w.count(0, Counter::ConnectionsReset)), (0, 1));

    assert!(!w.reported(0, other));
    w.device(0, 0, |d| d.on_invalidate = OnInvalidate::Honest);
    w.free("put_req");
    w.settle();
    assert_eq!(w.report(0, other).status.errno, 0);
    let again = by0(&mut w, 1, 5000);
    w.settle();
    assert_eq!(w.report(0, again).status.errno, 0, "the connection is in service again");
    w.sleep(Span::from_secs(31));
    w.assert_drained();
}

/// INV-15: completions that do not arrive are those of every peer. Connections that are stopped one
/// after the other would end each peer's transfers late, for ever; the link's reset mends it.
#[test]
fn s0_9_a_link_whose_completions_do_not_arrive_is_stopped_as_a_whole() {
    let mut w = connected(3, 1);
    w.device(0, 0, |d| (d.on_invalidate, d.stuck) = (OnInvalidate::Never, true));
    w.hold("put_req");
    let (stuck, other) = (by0(&mut w, 1, 5000), by0(&mut w, 2, 5000));
    w.settle();
    let now = w.now;
    w.nodes[0].driver.withdraw(now, stuck);
    let bound = config().drain_bound;
    w.now = w.now.after(bound);
    pass(&mut w, 20);
    let failed = (w.count(0, Counter::ConnectionsFailed), w.count(0, Counter::LinksFailed));
    assert_eq!((w.count(0, Counter::DrainBoundHit), failed), (1, (0, 1)));
    expect(w.report(0, stuck), Cause::Withdrawn, Place::Moving, -125, HealthClass::LocalInterrupt);
    expect(w.report(0, other), Cause::LinkDown, Place::Moving, -5, HealthClass::LocalError);
    assert_eq!(w.nodes[0].driver.link_state(LINK0), Some(LinkState::Up));
}

/// While a connection is out of service nothing is posted and nothing said by it. What waits for
/// the peer waits, or goes by another link; the peer is not down.
#[test]
fn what_is_for_a_peer_without_a_connection_waits_or_goes_by_another_link() {
    for links in [1, 2] {
        // Its stop is not given up.
        let mut w = connected_with(3, links, Span::from_secs(300));
        w.device(0, 0, |d| d.slow_connections = true);
        let now = w.now;
        w.nodes[0].driver.on_connection_down(now, LINK0, nid(1));
        w.nodes[0].driver.on_connection_down(now, LINK0, nid(1));
        pass(&mut w, 5);
        assert_eq!(w.count(0, Counter::ConnectionsFailed), 1, "once");
        let small = w.put(0, 1, 10).unwrap();
        let large = w.put(0, 1, 5000).unwrap();
        let only = by0(&mut w, 1, 10);
        let order = Order { link: Some(LINK0), ..w.order(Kind::Get, 0, 5000) };
        let get = w.send(1, order).unwrap();
        let other = w.put(0, 2, 5000).unwrap();
        w.settle();
        pass(&mut w, 5);
        let free = links == 2;
        assert_eq!((w.reported(0, small), w.reported(0, large)), (free, free), "{links}");
        // R53: what is for this connection alone does not hold up the others.
        expect(
            w.report(0, only),
            Cause::ConnectionDown,
            Place::Queue,
            -104,
            HealthClass::RemoteDropped,
        );
        assert_eq!(w.report(0, other).status.errno, 0);
        // No peer is taken for silent that cannot be asked.
        w.sleep(Span::from_secs(20));
        assert_eq!(w.count(0, Counter::PeersDown), 0);
        w.device(0, 0, |d| d.stopping.values_mut().for_each(|stopped| *stopped = true));
        w.sleep(Span::from_secs(1));
        for tag in [small, large] {
            assert_eq!(w.report(0, tag).status.errno, 0, "{links}");
        }
        w.sleep(Span::from_secs(31));
        // It was taken in, and what was to be staged for it goes by the way that it came. That ends
        // at once, and is told as soon as there is a way.
        assert_eq!(w.report(1, get).status.errno, -121);
        w.assert_drained();
    }
}

/// INV-9: the message that announces a source may be lost with its connection. Its requester pulls
/// nothing whose end it could see, and is told as soon as there is a way. The channel may say that
/// it was lost before the connection is down, afterwards, or only by the proof.
#[test]
fn inv_9_a_get_whose_pull_ready_was_lost_with_its_connection_is_told() {
    for (before, after) in [(true, false), (false, true), (false, false)] {
        let mut w = connected(2, 1);
        w.fabric.borrow_mut().reliable = false;
        w.injected("pull_ready", InjectedFault::Lost(Sent::Unknown));
        let order = Order { link: Some(LINK0), ..w.order(Kind::Get, 1, 5000) };
        let get = w.send(0, order).unwrap();
        w.settle_untold();
        assert_eq!(w.said(1, 0, "pull_ready"), 1);
        if before {
            w.endings();
        }
        w.device(1, 0, |d| d.slow_connections = true);
        let now = w.now;
        w.nodes[1].driver.on_connection_down(now, LINK0, nid(0));
        pass(&mut w, 3);
        if after {
            w.endings();
        }
        w.device(1, 0, |d| d.stopping.values_mut().for_each(|stopped| *stopped = true));
        pass(&mut w, 3);
        w.settle();
        w.sleep(Span::from_secs(1));
        assert_eq!((w.said(1, 0, "get_nak"), w.reported(0, get)), (1, true), "{before} {after}");
        assert_eq!(w.report(0, get).status.evidence, Some((Cause::Refused, Place::Answer)));
        w.assert_drained();
    }
}

/// The sender of a PULL_READY does not know that it has arrived. The requester pulls, and what it
/// is told of the source's end is neither wrong nor the end of its pull.
#[test]
fn a_get_that_is_being_pulled_ends_by_its_pull() {
    let mut w = connected(2, 1);
    w.fabric.borrow_mut().reliable = false;
    w.device(0, 0, |d| d.frozen = true);
    let order = Order { link: Some(LINK0), ..w.order(Kind::Get, 1, 5000) };
    let get = w.send(0, order).unwrap();
    w.settle();
    let now = w.now;
    w.nodes[1].driver.on_connection_down(now, LINK0, nid(0));
    pass(&mut w, 5);
    w.settle();
    assert_eq!((w.said(1, 0, "get_nak"), w.reported(0, get)), (1, false));
    w.nodes[0].driver.on_connection_down(now, LINK0, nid(1));
    pass(&mut w, 5);
    expect(w.report(0, get), Cause::ConnectionDown, Place::Moving, -5, HealthClass::NetworkTimeout);
    let answers = [Counter::WrongAnswer, Counter::StaleAnswer].map(|it| w.count(0, it));
    assert_eq!(answers, [0, 0]);
}

/// INV-14: of pulls that end with their connection no message waits: their sources come back with
/// it, at its other end. A slot is held on only for what nothing but a message tells.
#[test]
fn inv_14_pulls_that_end_with_their_connection_leave_no_final_message() {
    let mut w = connected(2, 1);
    w.device(1, 0, |d| (d.frozen, d.slow_connections) = (true, true));
    let tags = [by0(&mut w, 1, 5000), by0(&mut w, 1, 5000)];
    w.settle();
    // The next connection takes nothing yet.
    w.fabric.borrow_mut().room.insert((1, 0), [64, 0]);
    let now = w.now;
    w.nodes[1].driver.on_connection_down(now, LINK0, nid(0));
    pass(&mut w, 3);
    w.device(1, 0, |d| d.stopping.values_mut().for_each(|stopped| *stopped = true));
    pass(&mut w, 1);
    w.nodes[0].driver.on_connection_down(now, LINK0, nid(1));
    pass(&mut w, 5);
    let waited = [Counter::FinalsWaited, Counter::Unsaid].map(|it| w.count(1, it));
    assert_eq!(waited, [0, 0]);
    for tag in tags {
        assert!(w.reported(0, tag));
    }
    w.fabric.borrow_mut().room.clear();
    w.device(1, 0, |d| d.frozen = false);
    w.sleep(Span::from_secs(1));
    w.assert_drained();
}

/// R24: a pull that came back well although its connection had failed is told its source, which may
/// not have noticed.
#[test]
fn r24_a_pull_that_comes_back_well_from_a_connection_that_failed_is_told() {
    let mut fabric = Fabric::new(2, 1);
    for device in fabric.devices.values_mut() {
        device.connects = true;
        device.features &= !Features::REMOTE_COMPLETION.0;
    }
    let mut w = World::on(fabric, 2, Config { links: 1, connections: 16, ..config() });
    w.put(0, 1, 0).unwrap();
    w.settle();
    w.device(1, 0, |d| (d.frozen, d.slow_connections) = (true, true));
    w.device(1, 0, |d| d.on_invalidate = OnInvalidate::Wins);
    let tag = by0(&mut w, 1, 5000);
    w.settle();
    let now = w.now;
    w.nodes[1].driver.on_connection_down(now, LINK0, nid(0));
    pass(&mut w, 3);
    w.device(1, 0, |d| d.frozen = false);
    pass(&mut w, 3);
    assert_eq!((w.said(1, 0, "put_done"), w.count(1, Counter::FinalsWaited)), (0, 1));
    w.device(1, 0, |d| d.stopping.values_mut().for_each(|stopped| *stopped = true));
    w.sleep(Span::from_secs(1));
    assert_eq!((w.said(1, 0, "put_done"), w.report(0, tag).status.errno), (1, 0));
    w.assert_drained();
}

/// R41: one that cannot be asked is not silent, however long the stop of its connection takes.
#[test]
fn r41_a_peer_whose_connection_is_being_stopped_is_not_taken_for_silent() {
    let mut fabric = Fabric::new(2, 1);
    fabric.devices.values_mut().for_each(|device| device.connects = true);
    let mut config = config();
    (config.links, config.connections) = (1, 16);
    config.drain_bound = Span::from_secs(300);
    let mut w = World::on(fabric, 2, config);
    w.device(0, 0, |d| d.slow_connections = true);
    w.hold("hello");
    let tag = w.put(0, 1, 10).unwrap();
    w.settle();
    let now = w.now;
    w.nodes[0].driver.on_connection_down(now, LINK0, nid(1));
    w.sleep(Span::from_secs(25));
    assert_eq!((w.count(0, Counter::PeersDown), w.reported(0, tag)), (0, false));
    w.free("hello");
    w.device(0, 0, |d| d.stopping.values_mut().for_each(|stopped| *stopped = true));
    w.sleep(Span::from_secs(2));
    assert_eq!(w.report(0, tag).status.errno, 0);
    w.sleep(Span::from_secs(31));
    w.assert_drained();
}

/// A link's failure takes over from its connections: one proof, and everything is reclaimed once.
#[test]
fn a_link_that_fails_while_a_connection_is_stopping_is_stopped_as_a_whole() {
    let mut w = connected(3, 2);
    w.device(0, 0, |d| (d.slow_connections, d.slow_stop) = (true, true));
    w.hold("put_req");
    w.device(0, 0, |d| d.on_invalidate = OnInvalidate::Never);
    let tags = [by0(&mut w, 1, 5000), by0(&mut w, 2, 5000)];
    w.settle();
    let now = w.now;
    w.nodes[0].driver.on_connection_down(now, LINK0, nid(1));
    pass(&mut w, 3);
    w.notify_link(0, LINK0, false);
    pass(&mut w, 3);
    // The connection's own stop is no proof any more, and none is asked for.
    w.device(0, 0, |d| d.stopping.values_mut().for_each(|stopped| *stopped = true));
    pass(&mut w, 3);
    assert_eq!(w.device(0, 0, |d| (d.calls.reclaims, d.asserted_for.len())), (0, 0));
    w.device(0, 0, |d| d.stopped = true);
    pass(&mut w, 5);
    expect(
        w.report(0, tags[0]),
        Cause::ConnectionDown,
        Place::Moving,
        -5,
        HealthClass::NetworkTimeout,
    );
    expect(w.report(0, tags[1]), Cause::LinkDown, Place::Moving, -5, HealthClass::LocalError);
    assert_eq!(w.device(0, 0, |d| (d.calls.reclaims, d.calls.resets)), (2, 1));
    w.free("put_req");
    w.notify_link(0, LINK0, true);
    w.sleep(Span::from_secs(31));
    w.assert_drained();
}

/// A connection that is not proven stopped within two drain bounds is stopped with its link; unless
/// the link's stop would wait for the same, and take the other peers' transfers for nothing.
#[test]
fn s0_10_the_link_is_stopped_for_a_connection_where_that_proves_more() {
    for link_waits_too in [false, true] {
        let mut w = connected(3, 1);
        w.device(0, 0, |d| (d.slow_connections, d.link_waits_too) = (true, link_waits_too));
        w.device(0, 0, |d| d.on_invalidate = OnInvalidate::Never);
        w.hold("put_req");
        let [stuck, other] = [1, 2].map(|to| by0(&mut w, to, 5000));
        w.settle();
        let now = w.now;
        w.nodes[0].driver.on_connection_down(now, LINK0, nid(1));
        pass(&mut w, 5);
        w.now = w.now.after(config().drain_bound.times(2));
        pass(&mut w, 20);
        assert_eq!(w.count(0, Counter::LinksFailed), u64::from(!link_waits_too));
        assert_eq!(w.reported(0, other), !link_waits_too);
        if link_waits_too {
            assert!(!w.reported(0, stuck) && w.nodes[0].driver.quarantined(LINK0) == 1);
            w.device(0, 0, |d| d.stopping.values_mut().for_each(|stopped| *stopped = true));
            pass(&mut w, 20);
        }
        expect(
            w.report(0, stuck),
            Cause::ConnectionDown,
            Place::Moving,
            -5,
            HealthClass::NetworkTimeout,
        );
        assert_eq!(w.nodes[0].driver.link_state(LINK0), Some(LinkState::Up));
    }
}

/// The same where there is no room to remember another one: it has its turn when a place is free.
#[test]
fn a_link_goes_on_when_more_connections_fail_than_are_remembered_and_its_stop_proves_no_more() {
    for link_waits_too in [false, true] {
        let mut fabric = Fabric::new(4, 1);
        fabric.devices.values_mut().for_each(|device| device.connects = true);
        let config = Config { links: 1, connections: 1, ..config() };
        let mut w = World::on(fabric, 4, config);
        (1..=3).for_each(|to| _ = w.put(0, to, 0).unwrap());
        w.settle();
        w.device(0, 0, |d| (d.slow_connections, d.link_waits_too) = (true, link_waits_too));
        w.device(0, 0, |d| d.on_invalidate = OnInvalidate::Never);
        w.hold("put_req");
        let [first, second, other] = [1, 2, 3].map(|to| by0(&mut w, to, 5000));
        w.settle();
        let now = w.now;
        w.nodes[0].driver.on_connection_down(now, LINK0, nid(1));
        w.nodes[0].driver.on_connection_down(now, LINK0, nid(2));
        pass(&mut w, 5);
        assert_eq!(w.count(0, Counter::LinksFailed), u64::from(!link_waits_too));
        assert_eq!(w.reported(0, other), !link_waits_too);
        if !link_waits_too {
            continue;
        }
        let now = w.now;
        w.nodes[0].driver.withdraw(now, second);
        for bounds in 1.. {
            w.now = w.now.after(config.drain_bound);
            pass(&mut w, 5);
            w.device(0, 0, |d| d.stopping.values_mut().for_each(|stopped| *stopped = true));
            pass(&mut w, 20);
            assert!(w.reported(0, first) && !w.reported(0, other));
            if w.reported(0, second) {
                break;
            }
            assert!(bounds < 4, "the second one never has its turn");
        }
        assert_eq!(w.count(0, Counter::ConnectionsReset), 2);
    }
}

/// More connections than can be remembered at once fail: each has its turn, and none is forgotten.
#[test]
fn connections_beyond_those_that_are_remembered_have_their_turn() {
    let peers = 40;
    let mut fabric = Fabric::new(peers + 1, 1);
    fabric.devices.values_mut().for_each(|device| device.connects = true);
    let mut config = config();
    (config.links, config.connections, config.slots, config.peers) = (1, 16, 64, 64);
    let mut w = World::on(fabric, peers + 1, config);
    for to in 1..=peers {
        w.put(0, to, 0).unwrap();
    }
    w.settle();
    w.hold("put_req");
    w.device(0, 0, |d| (d.on_invalidate, d.slow_connections) = (OnInvalidate::Never, true));
    let tags: Vec<Tag> = (1..=peers).map(|to| by0(&mut w, to, 5000)).collect();
    w.settle();
    let now = w.now;
    for &tag in &tags {
        w.nodes[0].driver.withdraw(now, tag);
    }
    for _ in 0..peers {
        w.now = w.now.after(config.drain_bound);
        pass(&mut w, 3);
        w.device(0, 0, |d| d.stopping.values_mut().for_each(|stopped| *stopped = true));
    }
    pass(&mut w, 5);
    for tag in tags {
        expect(
            w.report(0, tag),
            Cause::Withdrawn,
            Place::Moving,
            -125,
            HealthClass::LocalInterrupt,
        );
    }
    assert_eq!(w.count(0, Counter::ConnectionsReset), peers as u64);
    assert_eq!(w.nodes[0].driver.link_state(LINK0), Some(LinkState::Up));
}

/// The platform's word is for the connection that it names, and is taken only while that is waited
/// for.
#[test]
fn inv_3_a_proof_of_another_connection_is_given_back() {
    let mut w = connected(3, 2);
    w.device(0, 0, |d| (d.on_invalidate, d.slow_connections) = (OnInvalidate::Never, true));
    w.hold("put_req");
    let tag = by0(&mut w, 1, 5000);
    w.settle();
    let numbered = |w: &mut World, link, peer: usize, number: u32| {
        let number = NonZeroU32::new(number).unwrap();
        let connection = Connection { link, peer: nid(peer), number };
        // SAFETY: the test's device moves nothing for a connection that is asked to stop.
        let proof = unsafe { Quiesced::assert_connection_stopped(connection) };
        let now = w.now;
        w.nodes[0].driver.assert_stopped(now, proof).is_ok()
    };
    let assert = |w: &mut World, link, peer: usize, before: u32| {
        numbered(w, link, peer, (before << 8) | (peer as u32 + 1))
    };
    assert!(!assert(&mut w, LINK0, 1, 0), "it is in service");
    let now = w.now;
    w.nodes[0].driver.on_connection_down(now, LINK0, nid(1));
    pass(&mut w, 3);
    assert!(!assert(&mut w, LINK1, 1, 0) && !assert(&mut w, LINK0, 2, 0));
    assert!(!assert(&mut w, LINK0, 1, 1), "the next one");
    assert!(!numbered(&mut w, LINK0, 2, 2), "another peer's, of the same number");
    assert!(!w.reported(0, tag));
    w.device(0, 0, |d| d.stopping.values_mut().for_each(|stopped| *stopped = true));
    assert!(assert(&mut w, LINK0, 1, 0));
    pass(&mut w, 3);
    expect(w.report(0, tag), Cause::ConnectionDown, Place::Moving, -5, HealthClass::NetworkTimeout);
    assert_eq!(w.count(0, Counter::StopsAsserted), 1);
    let now = w.now;
    w.nodes[0].driver.on_connection_down(now, LINK0, nid(1));
    pass(&mut w, 3);
    assert!(!assert(&mut w, LINK0, 1, 0), "one of long ago");
    assert_eq!(w.device(0, 0, |d| d.made[&1]), 1);
}
