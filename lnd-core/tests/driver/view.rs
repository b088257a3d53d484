// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What operators are shown of peers and transfers (R69), and that nothing is left of what has
//! ended.

use lnd_core::driver::{CreditView, PeerView, Role, TransferView};
use lnd_core::id::{PeerId, Tag};
use lnd_core::message::NakReason;
use lnd_core::peer::HelloState;
use lnd_core::time::Span;
use lnd_core::transfer::Debts;

use super::device::OnInvalidate;
use super::fabric::nid;
use super::node::Decision;
use super::peer_down::devices;
use super::world::{config, World, LINK0};

fn peer(w: &World, node: usize, of: usize) -> Option<PeerView> {
    w.nodes[node].driver.peer_view(w.peer(node, of)?.index() as u32)
}

fn transfer(w: &World, node: usize, tag: Tag) -> Option<TransferView> {
    w.nodes[node].driver.transfer_view(tag.index).filter(|view| view.tag == tag)
}

fn credits(w: &World, node: usize, of: usize) -> CreditView {
    w.nodes[node].driver.credits_with(w.peer(node, of).unwrap()).unwrap()
}

#[test]
fn a_peer_is_shown_from_its_first_handshake_on() {
    let mut w = World::new(2);
    assert_eq!((w.nodes[0].driver.peers_known(), peer(&w, 0, 1)), (0, None));
    w.hold("hello");
    w.put(0, 1, 50).unwrap();
    w.settle();
    let view = peer(&w, 0, 1).unwrap();
    assert_eq!((view.nid, view.state, view.incarnation), (nid(1), HelloState::Handshake, None));
    assert_eq!((view.transfers, view.in_flight), (1, 0), "it waits for the handshake");
    assert_eq!(w.nodes[0].driver.peers_known(), 1);
    w.free("hello");
    w.sleep(Span::from_secs(1));
    let view = peer(&w, 0, 1).unwrap();
    assert_eq!((view.state, view.transfers), (HelloState::Good, 0));
    assert_eq!(view.incarnation, Some(w.nodes[1].driver.identity().incarnation));
    assert!(view.session > 0 && view.last_heard > lnd_core::time::Instant::ORIGIN);
    // Places that were never used, and those past the table.
    for index in [1, 3, 4, u32::MAX] {
        assert_eq!(w.nodes[0].driver.peer_view(index), None);
    }
}

#[test]
fn requests_under_way_are_shown_as_credits_in_use() {
    // INV-12, as an operator sees it from both ends.
    let mut w = World::met();
    w.node(1).put = Decision::Keep;
    let before = peer(&w, 0, 1).unwrap();
    w.hold("put_req");
    for _ in 0..3 {
        w.put(0, 1, 5000).unwrap();
    }
    w.settle();
    let view = peer(&w, 0, 1).unwrap();
    assert_eq!((view.in_flight, view.transfers), (before.in_flight + 3, 3));
    assert_eq!(view.credits, before.credits - 3);
    let (ours, theirs) = (credits(&w, 0, 1), credits(&w, 1, 0));
    assert_eq!(theirs.their_session, Some(ours.session));
    assert_eq!(ours.sent.wrapping_sub(theirs.consumed), 3, "on their way");
    assert_eq!(u32::from(ours.sent.wrapping_sub(ours.returned)), view.in_flight);
    assert_eq!(view.credits + view.in_flight, u32::from(ours.depth));
    w.free("put_req");
    w.settle();
    assert_eq!(peer(&w, 1, 0).unwrap().transfers, 3, "requests that wait for their decision");
    while !w.nodes[1].kept.is_empty() {
        w.node(1).answer_kept(u32::MAX).unwrap();
        w.settle();
    }
    let view = peer(&w, 0, 1).unwrap();
    assert_eq!((view.transfers, peer(&w, 1, 0).unwrap().transfers), (0, 0));
    assert_eq!(view.credits + view.in_flight, u32::from(ours.depth));
    w.assert_drained();
}

#[test]
fn a_transfer_is_shown_until_it_has_been_reported() {
    let mut w = World::met();
    w.hold("put_req");
    let mut order = w.order(lnd_core::driver::Kind::Put, 1, 5000);
    order.link = Some(LINK0);
    let tag = w.send(0, order).unwrap();
    w.settle();
    let view = transfer(&w, 0, tag).unwrap();
    assert_eq!((view.role, view.length, view.peer), (Role::PutSource, 5000, Some(nid(1))));
    assert_eq!((view.link, view.until), (Some(LINK0), Some(order.deadline)));
    assert!(view.word.owes(Debts::HW) && !view.word.invalidating());
    let shown = (0..20).filter_map(|slot| w.nodes[0].driver.transfer_view(slot)).count();
    assert_eq!(shown, 1, "free slots and those past the table are not shown");
    devices(&w, 0, true, OnInvalidate::Honest);
    w.notify_peer(0, 1, false);
    w.settle();
    assert!(transfer(&w, 0, tag).unwrap().word.invalidating(), "its descriptor was asked for");
    devices(&w, 0, false, OnInvalidate::Honest);
    w.settle();
    assert!(w.reported(0, tag));
    assert_eq!(transfer(&w, 0, tag), None);
}

#[test]
fn lu16604_every_end_lets_go_of_its_peer() {
    // LU-17440, LU-15039, LU-9918, LU-12991: a reference too many or too few, here the count of a
    // peer's transfers, after each way in which one can end.
    type Way = fn(&mut World);
    let ways: [(&str, Way); 7] = [
        ("good", |_| {}),
        ("refused", |w| {
            let refusal = Decision::Refuse(NakReason::NoMatch);
            (w.node(1).put, w.node(1).get, w.node(1).inline) = (refusal, refusal, refusal);
        }),
        ("never answered", |w| {
            (w.node(1).put, w.node(1).get, w.node(1).inline) =
                (Decision::Forget, Decision::Forget, Decision::Forget);
        }),
        ("lost", |w| {
            for kind in ["put_req", "get_req", "immediate"] {
                w.injected(
                    kind,
                    super::fabric::InjectedFault::Lost(lnd_core::ports::Sent::Unknown),
                );
            }
        }),
        ("peer down", |w| {
            for kind in ["put_req", "get_req", "immediate"] {
                w.hold(kind);
            }
        }),
        ("links down", |w| devices(w, 0, true, OnInvalidate::Never)),
        ("new incarnation", |w| {
            for kind in ["put_req", "get_req", "immediate"] {
                w.hold(kind);
            }
        }),
    ];
    for (name, way) in ways {
        let mut w = World::met();
        way(&mut w);
        w.put(0, 1, 50).unwrap();
        w.put(0, 1, 5000).unwrap();
        w.get(0, 1, 5000).unwrap();
        assert_eq!(peer(&w, 0, 1).unwrap().transfers, 3, "{name}");
        w.settle();
        match name {
            "peer down" => w.notify_peer(0, 1, false),
            "new incarnation" => {
                w.reboot(1);
                w.put(1, 0, 10).unwrap();
            }
            _ => {}
        }
        w.settle();
        w.sleep(Span::from_secs(120));
        for node in 0..2 {
            let left = peer(&w, node, 1 - node).map_or(0, |view| view.transfers);
            assert_eq!(left, 0, "{name}: node {node}");
            assert_eq!(w.nodes[node].driver.in_use(), (0, 0), "{name}: node {node}");
        }
    }
}

#[test]
fn lu20496_a_peer_with_anything_under_way_is_not_forgotten() {
    // LU-9971, b12455: a place is given to another peer only when nothing is left of the former, in
    // whatever queue it may be; here the table has one place.
    let one = lnd_core::config::Config { peers: 1, ..config() };
    let mut w = World::with(3, one);
    let first = w.put(0, 1, 10).unwrap();
    w.settle();
    assert_eq!(w.report(0, first).status.errno, 0);
    w.hold("put_req");
    devices(&w, 0, true, OnInvalidate::Never);
    let tag = w.put(0, 1, 5000).unwrap();
    w.settle();
    w.notify_peer(0, 1, false);
    w.settle();
    // Down and its gate closed, but the engine has the descriptor.
    assert_eq!(w.put(0, 2, 10), Err(lnd_core::driver::Why::PeersFull));
    assert_eq!(peer(&w, 0, 1).unwrap().transfers, 1);
    // What comes back at last is reported, and only then is there room.
    w.sleep(Span::from_secs(7));
    assert!(w.reported(0, tag));
    w.notify_peer(0, 1, false);
    w.settle();
    devices(&w, 0, false, OnInvalidate::Honest);
    for link in [LINK0, super::world::LINK1] {
        w.notify_link(0, link, true);
    }
    w.settle();
    let place = w.peer(0, 1).unwrap();
    let next = w.put(0, 2, 10).unwrap();
    assert_eq!(w.peer(0, 2).map(PeerId::index), Some(place.index()), "the same place");
    assert_ne!(w.peer(0, 2), Some(place), "R14: another name");
    // What the former peer still says does not count for the one in its place.
    w.free("put_req");
    w.settle();
    assert_eq!(w.report(0, next).status.errno, 0);
    let view = peer(&w, 0, 2).unwrap();
    assert_eq!((view.nid, view.state, view.transfers), (nid(2), HelloState::Good, 0));
    assert_eq!(view.incarnation, Some(w.nodes[2].driver.identity().incarnation));
    w.assert_drained();
}

#[test]
fn lu9971_a_late_answer_to_a_former_peer_does_not_meet_the_next() {
    // The former peer's answer is on its way while its place, and the slot, go to another one.
    let one =
        lnd_core::config::Config { peers: 1, slots: 2, passive_slots: 1, lists: 1, ..config() };
    let mut w = World::with(3, one);
    w.put(0, 1, 10).unwrap();
    w.settle();
    w.node(1).put = Decision::Refuse(NakReason::NoMatch);
    w.hold("put_nak");
    let old = w.put(0, 1, 5000).unwrap();
    w.settle();
    w.notify_peer(0, 1, false);
    w.settle();
    assert_ne!(w.report(0, old).status.errno, 0);
    w.node(2).put = Decision::Keep;
    let new = w.put(0, 2, 5000).unwrap();
    w.settle();
    assert_eq!((new.index, w.nodes[2].kept.len()), (old.index, 1), "the same slot, under way");
    w.free("put_nak");
    w.settle();
    assert!(!w.reported(0, new), "a refusal of the former peer's ended it");
    w.node(2).answer_kept(u32::MAX).unwrap();
    w.settle();
    assert_eq!(w.report(0, new).status.errno, 0);
    w.assert_drained();
}

/// R14: the same peer in the same place, met by our next incarnation.
#[test]
fn r14_ids_that_a_former_incarnation_gave_out_are_stale() {
    let mut w = World::met();
    let old = w.peer(0, 1).unwrap();
    w.reboot(0);
    w.put(0, 1, 0).unwrap();
    w.sleep(Span::from_secs(1));
    let new = w.peer(0, 1).unwrap();
    assert_eq!((new.index(), w.state(0, 1)), (old.index(), HelloState::Good));
    assert_eq!(w.nodes[0].driver.peer_state(old), HelloState::Unknown);
}

#[test]
fn lu17480_no_peer_delays_an_unload() {
    // LU-17480, LU-16450: an unload waits for the grace and for engines, not for a peer's answer.
    for silent in ["hello", "hello_ack", "put_req", "put_nak", "close"] {
        let mut w = World::new(2);
        w.node(1).put = Decision::Refuse(NakReason::NoMatch);
        w.hold(silent);
        let tag = w.put(0, 1, 5000).unwrap();
        w.settle();
        let (now, grace) = (w.now, Span::from_millis(10));
        w.node(0).driver.shutdown(now, now.after(grace));
        w.sleep(grace.times(2));
        let state = w.nodes[0].driver.run_state();
        assert_eq!(state, lnd_core::driver::RunState::Quiescent, "silent after {silent}");
        assert!(w.reported(0, tag), "{silent}");
        assert_eq!(w.nodes[0].driver.in_use(), (0, 0), "{silent}");
    }
}
