// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A – R – B: two nodes that reach each other through a router only.

use lnd_core::id::Tag;
use lnd_core::message::NakReason;

use super::*;

fn router_config(r: Nid, buffers: &[u32], tiny: usize) -> Config {
    let mut base = 1024;
    let mut next = |&length: &u32| {
        let memory = span(base, length);
        base += u64::from(length);
        memory
    };
    let buffers = buffers.iter().map(&mut next).collect();
    Config { router: Some(RouterConfig { buffers, tiny, max_hops: 3 }), ..Config::new(r) }
}

fn arb(buffers: &[u32], tiny: usize) -> World {
    let (a, b, r) = abr();
    let behind = |node, other: Nid| Config {
        routes: Routes::new(Unlisted::Unreachable).with(r, r).with(other, r),
        ..Config::new(node)
    };
    World::new([behind(a, b), behind(b, a), router_config(r, buffers, tiny)])
}

/// The router has passed on `n` messages and made none of its own (S1-12).
fn assert_only_forwards(world: &mut World, n: u64) {
    let ledger = world.at(nid(9)).ledger().clone();
    assert_eq!(Kind::ALL.map(|kind| ledger.created(kind)), [0; 4]);
    assert_eq!((ledger.forwarded, ledger.accepted, ledger.received), (n, n, n));
}

#[test]
fn put_and_ack_cross_the_router() {
    // S1-11, S1-12.
    let (a, b, r) = abr();
    let mut world = arb(&[16], 1);
    let (criteria, md) = open_md(512, 64);
    world.at(b).attach(criteria, md).unwrap();
    world.write(a, 100, b"through");
    let request = world.at(a).put(put_of(b, 100, 7, true)).unwrap();
    world.run();
    assert_eq!(world.read(b, 512, 7), b"through");
    assert_eq!(
        world.path(),
        [(Kind::Put, a, r), (Kind::Put, r, b), (Kind::Ack, b, r), (Kind::Ack, r, a)]
    );
    assert!(world.events(a).contains(&Event::Ack { request, user: 1, length: 7 }));
    assert!(matches!(world.events(b)[..], [Event::PutReceived { from, .. }] if from == a));
    assert_eq!(world.events(r), []);
    assert_eq!(world.at(b).ledger().created(Kind::Ack), 1, "the final destination makes it");
    assert_only_forwards(&mut world, 2);
    world.assert_idle();
}

#[test]
fn get_and_reply_cross_the_router_and_are_never_optimised() {
    // S3-14: the driver of this test optimises every GET that it may.
    let (a, b, r) = abr();
    let mut world = arb(&[16], 1);
    assert!(world.optimise);
    let (criteria, md) = open_md(512, 64);
    world.at(b).attach(criteria, md).unwrap();
    world.write(b, 512, b"treasure");
    let request = world.at(a).get(get_of(b, 100, 8)).unwrap();
    world.run();
    assert_eq!(world.read(a, 100, 8), b"treasure");
    assert_eq!(
        world.path(),
        [(Kind::Get, a, r), (Kind::Get, r, b), (Kind::Reply, b, r), (Kind::Reply, r, a)]
    );
    assert!(world.log.iter().all(|hop| !hop.rdma));
    let reply = Event::Reply { request, user: 2, length: 8, status: Status::OK };
    assert!(world.events(a).contains(&reply));
    assert_eq!(world.at(b).ledger().created(Kind::Reply), 1);
    assert_only_forwards(&mut world, 2);
    world.assert_idle();
}

#[test]
fn the_routing_flags_say_what_each_hop_is() {
    // S3-15, R26.
    let (a, b, r) = abr();
    let mut world = arb(&[16], 1);
    world.at(a).get(get_of(b, 100, 8)).unwrap();
    let first = world.at(a).next_send().unwrap();
    assert_eq!((first.next_hop, first.routed, first.via_router), (r, true, true));
    assert_eq!((first.length, &first.payload[..]), (0, &[][..]), "no memory for a driver to fill");
    for debt in world.carry(a, &first) {
        world.pay(debt);
    }
    let second = world.at(r).next_send().unwrap();
    assert_eq!((second.next_hop, second.routed, second.via_router), (b, true, false));
    let header = LnetHeader::decode(&second.header).unwrap();
    assert_eq!((header.source, header.destination, header.hops), (a, b, 1));
    let sent = LnetHeader::decode(&first.header).unwrap();
    assert_eq!(LnetHeader { hops: 0, ..header }, sent, "nothing but the hops has changed");

    world.at(r).get(get_of(b, 100, 8)).unwrap();
    let straight = world.at(r).next_send().unwrap();
    assert_eq!((straight.routed, straight.via_router, straight.length), (false, false, 8));
}

#[test]
fn rdma_by_way_of_a_router_is_refused() {
    let (a, b, r) = abr();
    let mut world = arb(&[16], 1);
    let (criteria, md) = open_md(512, 64);
    world.at(b).attach(criteria, md).unwrap();
    let request = Tag { index: 0, generation: 1 };
    let body = Body::Get { target: target(0), length: 8, request };
    let header = LnetHeader { hops: 0, source: a, destination: b, body }.encode();
    let refusal = Decision::Refuse(NakReason::BadRequest);
    assert_eq!(world.at(r).on_request(a, &header, 8, true), refusal);
    assert_eq!(world.at(b).on_request(r, &header, 8, true), refusal);
    for node in [r, b] {
        assert_eq!(world.at(node).ledger().dropped(DropReason::RoutedRdma), 1);
    }
    world.assert_idle();
}

#[test]
fn a_router_without_a_free_buffer_refuses_and_recovers() {
    // INV-14.
    let (a, b, r) = abr();
    let mut world = arb(&[8], 0);
    let (criteria, md) = open_md(512, 64);
    world.at(b).attach(criteria, md).unwrap();
    for _ in 0..2 {
        world.at(a).put(put_of(b, 100, 8, false)).unwrap();
    }
    let first = world.at(a).next_send().unwrap();
    let second = world.at(a).next_send().unwrap();
    for debt in world.carry(a, &first) {
        world.pay(debt);
    }
    // The first message sits in the only buffer.
    let decision = world.at(r).on_request(a, &second.header, 8, false);
    assert_eq!(decision, Decision::Refuse(NakReason::NoResources));
    assert_eq!(world.at(r).ledger().dropped(DropReason::NoBuffer), 1);
    let out = world.at(r).next_send().unwrap();
    for debt in world.carry(r, &out) {
        world.pay(debt);
    }
    // Now it does not, and the same message passes.
    for debt in world.carry(a, &second) {
        world.pay(debt);
    }
    world.run();
    assert_eq!(world.at(b).ledger().received, 2);
    // A message that fits no buffer, and one without payload where there is no tiny slot.
    world.at(a).put(put_of(b, 100, 9, false)).unwrap();
    world.at(a).put(put_of(b, 100, 0, false)).unwrap();
    world.run();
    assert_eq!(world.at(r).ledger().dropped(DropReason::NoBuffer), 3);
    world.assert_idle();
}

#[test]
fn the_smallest_buffer_that_will_do_is_taken() {
    let (a, b, r) = abr();
    let mut world = arb(&[64, 8, 16], 1);
    for (length, base) in [(9, 1024 + 64 + 8), (3, 1024 + 64), (3, 1024)] {
        world.at(a).put(put_of(b, 100, length, false)).unwrap();
        let out = world.at(a).next_send().unwrap();
        let Decision::Recv { sink, .. } = world.at(r).on_request(a, &out.header, length, false)
        else {
            panic!("refused")
        };
        assert_eq!(sink, span(base, length));
    }
}

#[test]
fn a_forward_that_fails_frees_its_buffer_and_is_nobodys_ack() {
    let (a, b, r) = abr();
    let mut world = arb(&[8], 0);
    for how in 0..3 {
        let request = world.at(a).put(put_of(b, 100, 8, true)).unwrap();
        let out = world.at(a).next_send().unwrap();
        let debts = world.carry(a, &out);
        world.pay(debts[1]);
        if how == 0 {
            world.pay(Debt { status: lost(), ..debts[0] });
        } else {
            world.pay(debts[0]);
            let out = world.at(r).next_send().unwrap();
            match how {
                1 => world.pay(Debt { node: r, id: out.id, status: lost(), reply: None }),
                _ => world.at(r).send_refused(out.id).unwrap(),
            }
        }
        assert!(world.at(r).idle(), "{how}");
        assert_eq!(world.at(a).blockers(), [Blocker::Awaiting { request, user: 1, to: b }]);
        assert_eq!(world.at(a).expire(request), Expiry::Ended);
    }
    let ledger = world.at(r).ledger().clone();
    assert_eq!(ledger.dropped(DropReason::ReceiveFailed), 1);
    assert_eq!(ledger.dropped(DropReason::SendFailed), 2);
    world.assert_idle();
}

#[test]
fn what_a_node_cannot_pass_on_it_refuses() {
    let (a, b, r) = abr();
    let body = Body::Put { target: target(0), length: 8, ack: None };
    let header = LnetHeader { hops: 3, source: a, destination: b, body };
    let refusal = Decision::Refuse(NakReason::BadRequest);

    let mut plain = Lnet::new(Config::new(r)).unwrap();
    assert_eq!(plain.on_request(a, &header.encode(), 8, false), refusal);
    assert_eq!(plain.ledger().dropped(DropReason::NotARouter), 1);

    let routes = Routes::new(Unlisted::Unreachable);
    let mut lost = Lnet::new(Config { routes, ..router_config(r, &[8], 1) }).unwrap();
    assert_eq!(lost.on_request(a, &header.encode(), 8, false), refusal);
    assert_eq!(lost.ledger().dropped(DropReason::TooManyHops), 1);
    let fresh = LnetHeader { hops: 2, ..header };
    assert_eq!(lost.on_request(a, &fresh.encode(), 8, false), refusal);
    assert_eq!(lost.ledger().dropped(DropReason::NoRoute), 1);
}

#[test]
fn a_message_in_a_ring_of_routers_dies() {
    // Each of the two has a route by which the other is nearer to the destination.
    let (r1, r2) = (nid(8), nid(9));
    let lying = |me, other| Config {
        routes: Routes::new(Unlisted::Via(other)),
        ..router_config(me, &[8], 1)
    };
    let mut world = World::new([lying(r1, r2), lying(r2, r1), Config::new(nid(1))]);
    let routes = Routes::default().with(nid(77), r1);
    world.at(nid(1)).routes = routes;
    world.at(nid(1)).put(put_of(nid(77), 100, 8, false)).unwrap();
    world.run();
    let dropped = [r1, r2].map(|r| world.at(r).ledger().dropped(DropReason::TooManyHops));
    assert_eq!(dropped.iter().sum::<u64>(), 1);
    assert_eq!(world.log.len(), 1 + 3, "as many hops as are allowed");
    world.assert_idle();
}

#[test]
fn a_destination_without_a_way_is_known_at_once() {
    let (a, _, _) = abr();
    let mut world = arb(&[], 0);
    assert_eq!(world.at(a).put(put_of(nid(3), 0, 8, false)), Err(SendError::NoRoute));
    assert_eq!(world.at(a).put(put_of(a, 0, 8, false)), Err(SendError::ToSelf));
    assert_eq!(world.at(a).get(get_of(nid(3), 0, 8)), Err(SendError::NoRoute));
    assert_eq!(world.events(a), []);
    world.assert_idle();
}
