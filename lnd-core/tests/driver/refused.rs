// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Refused submissions: handed back, nothing kept, nothing reported (INV-1, INV-14).

use lnd_core::config::Config;
use lnd_core::counters::Counter;
use lnd_core::driver::{Kind, Request, Why};
use lnd_core::fragment::{Fragment, FragmentError, MAX_FRAGMENT, MAX_FRAGMENTS};
use lnd_core::id::{LinkId, PeerId, Tag};
use lnd_core::message::MAX_HEADER;
use lnd_core::time::{Instant, Span};

use super::fabric::{nid, BASE};
use super::node::Order;
use super::world::{config, World, LINK0};

fn request<'r>(w: &World, header: &'r [u8], payload: &'r [Fragment]) -> Request<'r> {
    Request {
        kind: Kind::Put,
        peer: nid(1).into(),
        link: None,
        routed: false,
        header,
        payload,
        deadline: w.now.after(Span::from_secs(30)),
        user: 42,
    }
}

/// Submits `request` at node 0 and expects it back for the reason `why`, with nothing kept.
fn refused(w: &mut World, request: Request<'_>, why: Why) {
    let node = w.node(0);
    let (used, counted) = (node.driver.in_use(), node.count(Counter::Refused));
    let lists = node.driver.audit();
    let back = node.driver.submit(node.now, request).expect_err("accepted");
    assert_eq!(back.why, why);
    assert_eq!(back.request.user, request.user);
    assert_eq!(back.request.header, request.header);
    assert_eq!(back.request.payload, request.payload);
    assert!(why.errno() < 0);
    assert_eq!(node.driver.in_use(), used, "{why:?}");
    assert_eq!(node.driver.audit(), lists);
    assert_eq!(node.count(Counter::Refused), counted + 1);
    w.settle();
    assert_eq!((w.nodes[0].open(), w.nodes[0].driver.in_use()), (0, (0, 0)));
}

/// S3-16: a driver knows direct neighbours only.
#[test]
fn malformed_requests() {
    let mut w = World::met();
    let (header, payload) = ([0; 8], [Fragment::new(BASE, 100)]);
    let good = request(&w, &header, &payload);
    let long = [0; MAX_HEADER + 1];
    refused(&mut w, Request { header: &long, ..good }, Why::HeaderTooLong);
    let now = w.now;
    refused(&mut w, Request { deadline: now, ..good }, Why::DeadlinePassed);
    refused(&mut w, Request { deadline: Instant::ORIGIN, ..good }, Why::DeadlinePassed);
    refused(&mut w, Request { link: LinkId::new(2), ..good }, Why::BadLink);
    refused(&mut w, Request { peer: nid(0).into(), ..good }, Why::NoRoute);
    refused(&mut w, Request { peer: nid(9).into(), ..good }, Why::NoRoute);
    let cases = [
        (vec![Fragment::new(BASE, 0)], FragmentError::Empty),
        (vec![Fragment::new(BASE, MAX_FRAGMENT + 1)], FragmentError::TooLong),
        (vec![Fragment::new(u64::MAX, 2)], FragmentError::Wraps),
        (vec![Fragment::new(BASE, 1); MAX_FRAGMENTS + 1], FragmentError::TooMany),
    ];
    for (payload, error) in &cases {
        refused(&mut w, Request { payload, ..good }, Why::Fragments(*error));
    }
    let outside = [Fragment::new(BASE, 10), Fragment::new(3, 10)];
    refused(&mut w, Request { payload: &outside, ..good }, Why::BadAddress);
    assert!(w.nodes[0].done.is_empty());
}

#[test]
fn the_longest_header_is_taken() {
    let mut w = World::met();
    let (header, payload) = ([7; MAX_HEADER], [Fragment::new(BASE, 100)]);
    let good = request(&w, &header, &payload);
    let now = w.now;
    w.hold("immediate");
    let _ = w.node(0).driver.submit(now, good).unwrap();
    w.tick();
    let letter = w.letter(0).unwrap();
    let lnd_core::message::Message::Immediate { header: got, .. } = letter.message() else {
        panic!("{}", letter.kind())
    };
    assert_eq!(got, &header);
}

/// R62: the reserve lets peers always be answered.

#[test]
fn no_slots_leaves_the_reserve_for_peers() {
    let mut w = World::met();
    w.hold("put_req");
    let ours = w.config.slots - w.config.passive_slots;
    for _ in 0..ours {
        w.put(0, 1, 500).unwrap();
    }
    assert_eq!(w.put(0, 1, 500).unwrap_err(), Why::NoSlots);
    assert_eq!(w.nodes[0].driver.in_use(), (ours, 0));
    // Requests of the peer still find room (INV-11).
    let tag = w.put(1, 0, 10).unwrap();
    w.settle();
    assert_eq!(w.report(1, tag).status.errno, 0);
    w.free("put_req");
    w.settle();
    w.put(0, 1, 500).unwrap();
    w.settle();
    w.assert_drained();
}

#[test]
fn no_lists() {
    let small = Config { lists: 2, ..config() };
    let mut w = World::met_with(small);
    w.hold("put_req");
    w.node(0).pieces = 3;
    for _ in 0..2 {
        w.put(0, 1, 500).unwrap();
    }
    assert_eq!(w.put(0, 1, 500).unwrap_err(), Why::NoLists);
    assert_eq!(w.get(0, 1, 500).unwrap_err(), Why::NoLists);
    w.node(0).pieces = 1;
    let one = w.put(0, 1, 500).unwrap();
    w.free("put_req");
    w.settle();
    assert_eq!(w.report(0, one).status.errno, 0);
    w.node(0).pieces = 3;
    w.put(0, 1, 500).unwrap();
    w.settle();
    w.assert_drained();
}

#[test]
fn peers_full_until_an_idle_one_is_forgotten() {
    let small = Config { peers: 2, ..config() };
    let mut w = World::with(5, small);
    for to in [1, 2] {
        w.put(0, to, 10).unwrap();
    }
    w.settle();
    assert_eq!(w.put(0, 3, 10).unwrap_err(), Why::PeersFull);
    assert_eq!(w.count(0, Counter::PeersFull), 1);
    // Nor is a stranger's hello taken, which is counted.
    w.put(4, 0, 10).unwrap();
    w.settle();
    assert_eq!(w.count(0, Counter::PeersFull), 2);
    // One that is down and has nothing left makes room.
    w.notify_peer(0, 1, false);
    w.settle();
    let tag = w.put(0, 3, 10).unwrap();
    w.settle();
    assert_eq!(w.report(0, tag).status.errno, 0);
    assert_eq!(w.peer(0, 1), None);
    w.sleep(Span::from_secs(6));
    w.assert_drained();
}

/// R14: an id names one use of a place in the peer table.
#[test]
fn r14_an_id_of_a_forgotten_peer_names_no_other() {
    let mut w = World::with(4, Config { peers: 2, ..config() });
    let (header, payload) = ([0; 8], [Fragment::new(BASE, 100)]);
    let good = request(&w, &header, &payload);
    // Places that nothing has used.
    for index in [0, 1, 2, u32::MAX] {
        refused(&mut w, Request { peer: PeerId::new(index, 0).into(), ..good }, Why::StalePeer);
    }
    w.put(0, 1, 10).unwrap();
    w.put(0, 2, 10).unwrap();
    w.settle();
    let former = w.peer(0, 1).unwrap();
    w.notify_peer(0, 1, false);
    w.settle();
    w.put(0, 3, 10).unwrap();
    w.settle();
    assert_eq!(w.peer(0, 3).unwrap().index(), former.index());
    refused(&mut w, Request { peer: former.into(), ..good }, Why::StalePeer);
    // The same node in the same place again is another use of it.
    w.notify_peer(0, 3, false);
    w.settle();
    w.sleep(Span::from_secs(6));
    w.put(0, 1, 10).unwrap();
    w.settle();
    assert_eq!(w.peer(0, 1).unwrap().index(), former.index());
    refused(&mut w, Request { peer: former.into(), ..good }, Why::StalePeer);
    assert_eq!(w.count(0, Counter::StalePeer), 6);
    w.assert_drained();
}

#[test]
fn peer_down_and_shutting_down() {
    let mut w = World::met();
    w.notify_peer(0, 1, false);
    let (header, payload) = ([0; 8], [Fragment::new(BASE, 100)]);
    let good = request(&w, &header, &payload);
    refused(&mut w, good, Why::PeerDown);
    w.notify_peer(0, 1, true);
    let now = w.now;
    w.node(0).driver.shutdown(now, now);
    refused(&mut w, good, Why::ShuttingDown);
}

#[test]
fn a_preference_for_a_link_is_kept() {
    let mut w = World::met();
    for _ in 0..6 {
        let order = Order { link: Some(LINK0), ..w.order(Kind::Put, 1, 500) };
        w.send(0, order).unwrap();
    }
    w.settle();
    assert_eq!(w.device(0, 1, |d| d.calls.posts), 0);
    assert_eq!(w.device(0, 0, |d| d.calls.posts), 6);
    w.assert_drained();
}

fn freeze(w: &World, frozen: bool) {
    for link in 0..2 {
        w.device(1, link, |d| d.frozen = frozen);
    }
}

/// Lets one more transfer of node 0 end.
fn one_ends(w: &mut World) {
    let before = w.nodes[0].done.len();
    freeze(w, false);
    while w.nodes[0].done.len() == before {
        let (node, link, index, deed) = w.fabric.borrow().deeds().first().copied().unwrap();
        w.fabric.borrow_mut().act(node, link, index, deed);
        w.interrupts();
        w.fetch();
        w.deliver();
        w.endings();
        w.interrupts();
        w.fetch();
    }
    assert_eq!(w.nodes[0].done.len(), before + 1);
    freeze(w, true);
    w.settle();
}

fn link_of(w: &World, tag: Tag) -> usize {
    w.nodes[0].driver.irq_handle().shared().owner(tag.index).link().unwrap().index()
}

/// A host that keeps its slots full, and sends until `NoSlots` for each report: a refused call
/// takes no link's turn.
#[test]
fn a_host_without_free_slots_uses_all_links() {
    let small = Config { slots: 16, passive_slots: 8, depth: 8, ..config() };
    let mut w = World::met_with(small);
    freeze(&w, true);
    // The credits return with the decisions; the slots do not.
    while w.submit(Kind::Put, 0, 1, 5000).is_ok() {
        w.settle();
    }
    assert_eq!(w.submit(Kind::Put, 0, 1, 5000), Err(Why::NoSlots));
    let mut used = Vec::new();
    for _ in 0..12 {
        one_ends(&mut w);
        let tag = w.submit(Kind::Put, 0, 1, 5000).unwrap();
        used.push(link_of(&w, tag));
        assert_eq!(w.submit(Kind::Put, 0, 1, 5000), Err(Why::NoSlots));
        w.settle();
    }
    let first = used.iter().filter(|&&link| link == 0).count();
    assert!((4..=8).contains(&first), "links used: {used:?}");
}
