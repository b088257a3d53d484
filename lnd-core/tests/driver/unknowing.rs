// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Engines that do not know what they report: what they say of lent memory proves nothing. The
//! node's own check that a report of OK was pulled goes on.

use lnd_core::driver::Kind;
use lnd_core::id::Tag;
use lnd_core::message::{Message, NakReason};
use lnd_core::ports::{Features, Returned};
use lnd_core::transfer::{Cause, Delivery};

use super::device::OnInvalidate;
use super::fabric::Fabric;
use super::hello::forged;
use super::node::{Decision, Order};
use super::world::{config, World, LINK0, LINK1};

const NO_ENDS: u32 = Features::KNOWS_UNTOUCHED.0;

/// Two nodes that have met. Their engines have these features, and keep what they have.
fn met(features: u32) -> World {
    let mut fabric = Fabric::new(2, 2);
    for device in fabric.devices.values_mut() {
        device.features = features;
        device.on_invalidate = OnInvalidate::Never;
    }
    let mut w = World::on(fabric, 2, config());
    w.put(0, 1, 0).unwrap();
    w.settle();
    w
}

/// The engine of a node returns a descriptor in this way, whatever has become of it.
fn return_as(w: &mut World, node: usize, tag: Tag, returned: Returned) {
    for link in 0..2 {
        w.device(node, link, |d| {
            if d.posted.get(&tag.index).is_some_and(|bd| bd.tag == tag) {
                d.finish(tag.index, returned);
            }
        });
    }
    w.settle();
}

/// The only transfer that a node's engines hold.
fn staged_by(w: &World, node: usize) -> Tag {
    let tags = (0..2).flat_map(|link| {
        w.device(node, link, |d| d.posted.values().map(|bd| bd.tag).collect::<Vec<_>>())
    });
    let tags: Vec<Tag> = tags.collect();
    assert_eq!(tags.len(), 1);
    tags[0]
}

fn withdraw(w: &mut World, node: usize, tag: Tag) {
    let now = w.now;
    w.node(node).driver.withdraw(now, tag);
    w.settle();
}

/// S0-16: an OK wins against an invalidation only where the engine sees the end of a pull.
#[test]
fn s0_16_ok_of_an_engine_that_sees_no_pull_is_no_proof() {
    for (kind, source, held) in [(Kind::Put, 0, "put_req"), (Kind::Get, 1, "pull_ready")] {
        let mut w = met(NO_ENDS);
        w.hold(held);
        let asked = w.submit(kind, 0, 1, 5000).unwrap();
        w.settle();
        let tag = if source == 0 { asked } else { staged_by(&w, 1) };
        withdraw(&mut w, source, tag);
        assert!(!w.reported(source, tag));
        return_as(&mut w, source, tag, Returned::Ok);
        let report = w.report(source, tag);
        assert_ne!(report.status.errno, 0, "no peer has pulled it: {report:?}");
        assert_eq!((report.status.delivery, report.bytes), (Delivery::Unknown, 0));
        assert!(!report.lost_race);
    }
}

/// The same without an invalidation: the descriptor comes back while the peer is still to answer.
#[test]
fn ok_of_an_engine_that_sees_no_pull_waits_for_put_done() {
    for done in [true, false] {
        let mut w = met(NO_ENDS);
        w.hold("put_done");
        let tag = w.put(0, 1, 5000).unwrap();
        w.settle();
        return_as(&mut w, 0, tag, Returned::Ok);
        assert!(!w.reported(0, tag), "the peer has not said that it has pulled");
        if done {
            w.free("put_done");
            w.settle();
        } else {
            let failed = Some(NakReason::Failed);
            w.hand(&forged(&w, 1, 0, &Message::PutDone { source: tag, failed }));
            w.settle();
        }
        let report = w.report(0, tag);
        assert_eq!(report.status.errno == 0, done, "{report:?}");
        assert_eq!(report.bytes, if done { 5000 } else { 0 });
    }
}

/// S1-5: a peer that has refused a PUT has not pulled it.
#[test]
fn s1_5_ok_of_an_engine_that_sees_no_pull_does_not_outweigh_a_refusal() {
    let mut w = met(NO_ENDS);
    w.node(1).put = Decision::Refuse(NakReason::NoMatch);
    let tag = w.put(0, 1, 5000).unwrap();
    w.settle();
    assert!(!w.reported(0, tag));
    return_as(&mut w, 0, tag, Returned::Ok);
    let (status, bytes) = {
        let it = w.report(0, tag);
        (it.status, it.bytes)
    };
    assert_ne!(status.errno, 0);
    assert_eq!((status.evidence.map(|(cause, _)| cause), bytes), (Some(Cause::Refused), 0));
    assert_ne!(status.delivery, Delivery::Delivered);
}

/// S0-16: where only one of a node's engines sees the end of a pull, its OK is a proof, and the
/// other one's is none.
#[test]
fn s0_16_each_engine_of_a_node_proves_what_it_sees() {
    for (link, seen) in [(LINK0, true), (LINK1, false)] {
        let mut fabric = Fabric::new(2, 2);
        for device in fabric.devices.values_mut() {
            device.on_invalidate = OnInvalidate::Never;
        }
        fabric.device(0, 1).features = NO_ENDS;
        let mut w = World::on(fabric, 2, config());
        w.put(0, 1, 0).unwrap();
        w.hold(if seen { "put_done" } else { "put_req" });
        let order = Order { link: Some(link), ..w.order(Kind::Put, 1, 5000) };
        let tag = w.send(0, order).unwrap();
        w.settle();
        withdraw(&mut w, 0, tag);
        if !seen {
            return_as(&mut w, 0, tag, Returned::Ok);
        }
        assert_eq!(w.report(0, tag).status.errno == 0, seen);
    }
}
