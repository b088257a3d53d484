// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Keys: what an engine says of what it has staged reaches the engine that pulls it, byte for byte.
//! The engines of these tests check each pull: see `Fabric::check_key`.

use lnd_core::config::Config;
use lnd_core::counters::Counter;
use lnd_core::driver::{Kind, Role};
use lnd_core::id::Tag;
use lnd_core::key::MAX_KEY;
use lnd_core::message::{Message, NakReason, PullReady};
use lnd_core::time::Span;
use lnd_core::transfer::{Cause, Place, Status};

use super::device::Posted;
use super::letter::Letter;
use super::node::Decision;
use super::world::{config, World};

fn keyed(w: &World) -> usize {
    w.fabric.borrow().keyed
}

/// The next message is taken while it is offered, or kept first.
fn next_is_direct(w: &mut World, direct: bool) {
    // The node receives those with an even number at once; `put` takes the number after this one.
    while (w.id() % 2 == 1) != direct {}
}

fn freeze(w: &World, node: usize, frozen: bool) {
    (0..2).for_each(|link| w.device(node, link, |d| d.frozen = frozen));
}

#[test]
fn the_key_of_what_is_staged_reaches_the_engine_that_pulls_it() {
    let mut w = World::met();
    for (n, direct) in [(1, false), (2, true)] {
        next_is_direct(&mut w, direct);
        let put = w.put(0, 1, 5000).unwrap();
        w.settle();
        assert_eq!((w.report(0, put).status.errno, keyed(&w)), (0, n));
    }
    let get = w.get(0, 1, 5000).unwrap();
    w.settle();
    assert_eq!((w.report(0, get).status.errno, keyed(&w)), (0, 3));
    let reply = w.submit(Kind::Reply, 1, 0, 5000).unwrap();
    w.settle();
    assert_eq!((w.report(1, reply).status.errno, keyed(&w)), (0, 4));
    // A pull of nothing is one too.
    w.node(1).put = Decision::UpTo(0);
    w.put(0, 1, 5000).unwrap();
    w.settle();
    assert_eq!(keyed(&w), 5);
    w.assert_drained();
}

/// S0-13: each use of a slot has a key of its own, and what a slot has kept of an earlier use is
/// gone.
#[test]
fn each_use_of_a_slot_is_pulled_by_its_own_key() {
    let mut w = World::met_with(Config { slots: 4, passive_slots: 2, ..config() });
    let mut uses = 0;
    for round in 0..24 {
        let (kind, from) = if round % 3 == 0 { (Kind::Get, 1) } else { (Kind::Put, 0) };
        let tag = w.submit(kind, from, 1 - from, 5000).unwrap();
        w.settle();
        assert_eq!(w.report(from, tag).status.errno, 0, "round {round}");
        uses += 1;
        assert_eq!(keyed(&w), uses);
    }
    let fabric = w.fabric.borrow();
    let indices: std::collections::BTreeSet<_> =
        fabric.keys.keys().map(|(node, _, tag)| (node, tag.index)).collect();
    assert!(indices.len() < fabric.keys.len() / 2, "slots were used again");
}

#[test]
fn a_request_that_is_kept_for_its_decision_keeps_its_key() {
    let mut w = World::met();
    w.node(1).put = Decision::Keep;
    let puts: Vec<Tag> = (0..3).map(|_| w.put(0, 1, 5000).unwrap()).collect();
    w.settle();
    assert_eq!((w.nodes[1].kept.len(), keyed(&w)), (3, 0));
    // Decided in another order than they came.
    w.node(1).kept.reverse();
    // Others come and go in slots beside them.
    w.node(1).put = super::node::TAKE;
    for _ in 0..4 {
        w.put(0, 1, 5000).unwrap();
        w.get(1, 0, 5000).unwrap();
        w.settle();
    }
    assert_eq!(keyed(&w), 8);
    for _ in 0..3 {
        w.node(1).answer_kept(5000).unwrap();
    }
    w.settle();
    assert_eq!(keyed(&w), 11);
    assert!(puts.iter().all(|&tag| w.report(0, tag).status.errno == 0));
    w.assert_drained();
}

/// A GET that has waited for the hello was kept with its header, and its pull is kept with the key
/// in the same place.
#[test]
fn a_get_that_has_waited_is_pulled_by_the_key_and_not_by_its_header() {
    let mut w = World::with(2, Config { pulls: 1, ..config() });
    let tags: Vec<Tag> = (0..3).map(|_| w.get(0, 1, 5000).unwrap()).collect();
    w.settle();
    assert_eq!((keyed(&w), w.count(0, Counter::PullsWaited)), (3, 2));
    assert!(tags.iter().all(|&tag| w.report(0, tag).status.errno == 0));
    w.assert_drained();
}

/// R25: pulls wait for those of their peer that are under way, in the queue and with their keys.
#[test]
fn a_pull_that_waits_for_another_keeps_its_key() {
    for get in [false, true] {
        for direct in [false, true] {
            let mut w = World::met_with(Config { pulls: 1, ..config() });
            let puller = usize::from(!get);
            freeze(&w, puller, true);
            let mut tags = Vec::new();
            for _ in 0..4 {
                next_is_direct(&mut w, direct);
                let kind = if get { Kind::Get } else { Kind::Put };
                tags.push(w.submit(kind, 0, 1, 5000).unwrap());
                w.settle();
            }
            assert_eq!((w.count(puller, Counter::PullsWaited), keyed(&w)), (3, 1));
            freeze(&w, puller, false);
            w.settle();
            assert_eq!(keyed(&w), 4, "get {get}, direct {direct}");
            assert!(tags.iter().all(|&tag| w.report(0, tag).status.errno == 0));
            w.assert_drained();
        }
    }
}

/// The direct receive of an offered PUT has no ticket that could have kept the key.
#[test]
fn a_put_that_is_received_while_it_is_offered_keeps_its_key() {
    let mut w = World::met();
    freeze(&w, 1, true);
    next_is_direct(&mut w, true);
    let put = w.put(0, 1, 5000).unwrap();
    w.settle();
    assert_eq!((w.nodes[1].kept.len(), keyed(&w)), (0, 1));
    let (source, given) = {
        let fabric = w.fabric.borrow();
        let (&(node, _, tag), key) = fabric.keys.last_key_value().unwrap();
        assert_eq!((node, tag), (0, put));
        (tag, *key)
    };
    let posted = |link| w.device(1, link, |d| d.posted.values().next().cloned());
    let pull: Posted = posted(0).or(posted(1)).unwrap();
    let lnd_core::ports::Motion::Pull { source: pulled, key, .. } = pull.motion else {
        panic!("{pull:?}")
    };
    assert_eq!((pulled, key), (source, given));
    freeze(&w, 1, false);
    w.settle();
    assert_eq!(w.report(0, put).status.errno, 0);
    w.assert_drained();
}

/// An engine that has keys cannot pull without one: nothing is posted, and both sides are told.
#[test]
fn a_pull_without_a_key_is_refused_and_nothing_is_posted() {
    for direct in [false, true] {
        let announced = |status: Status| (status.errno, status.evidence);
        let mut w = World::met();
        w.fabric.borrow_mut().keyless = true;
        next_is_direct(&mut w, direct);
        w.hold("put_nak");
        let put = w.put(0, 1, 5000).unwrap();
        w.settle();
        let nak = w.fabric.borrow().wire.front().cloned().unwrap();
        let said = Message::PutNak { source: put, why: NakReason::BadRequest };
        assert_eq!(nak.message(), said);
        let report = w.nodes[1].done[0];
        assert_eq!((report.role, report.bytes), (Role::PutSink, 0));
        assert_eq!(announced(report.status), (-71, Some((Cause::Protocol, Place::Queue))));
        w.free("put_nak");
        w.settle();
        assert_eq!(
            announced(w.report(0, put).status),
            (-121, Some((Cause::Refused, Place::Staged)))
        );
        assert_eq!(w.count(1, Counter::Protocol), 1);
        let posts = |w: &World, node| (0..2).map(|l| w.device(node, l, |d| d.calls.posts)).sum();
        let (staged, pulled): (usize, usize) = (posts(&w, 0), posts(&w, 1));
        assert_eq!((staged, pulled), (1, 0));

        let get = w.get(0, 1, 5000).unwrap();
        w.settle();
        let status = w.report(0, get).status;
        assert_eq!(announced(status), (-71, Some((Cause::Protocol, Place::Queue))));
        let give = w.nodes[1].done[1];
        assert_eq!(announced(give.status), (-121, Some((Cause::Refused, Place::Staged))));
        assert_eq!(w.count(0, Counter::Protocol), 1);
        w.fabric.borrow_mut().keyless = false;
        w.put(0, 1, 5000).unwrap();
        w.settle();
        assert_eq!((w.nodes[0].done.last().unwrap().status.errno, keyed(&w)), (0, 1));
        w.assert_drained();
    }
}

/// Engines of a type that may have keys, and that have none, pull by tags alone.
#[test]
fn engines_that_have_no_keys_need_none() {
    let mut w = World::met();
    w.fabric.borrow_mut().plain = true;
    for direct in [false, true] {
        next_is_direct(&mut w, direct);
        let put = w.put(0, 1, 5000).unwrap();
        w.settle();
        let get = w.get(0, 1, 5000).unwrap();
        w.settle();
        assert_eq!((w.report(0, put).status.errno, w.report(0, get).status.errno), (0, 0));
    }
    assert_eq!(
        (keyed(&w), w.count(0, Counter::Protocol), w.count(1, Counter::Protocol)),
        (0, 0, 0)
    );
    w.assert_drained();
}

/// A host with a codec of its own may hand in anything: what is longer than a key is none.
#[test]
fn a_key_that_is_longer_than_a_key_is_none() {
    let mut w = World::met();
    w.hold("put_req");
    next_is_direct(&mut w, true);
    let tag = w.put(0, 1, 5000).unwrap();
    w.settle();
    let honest = w.fabric.borrow_mut().wire.pop_front().unwrap();
    let Message::PutReq { header, source, length, .. } = honest.message() else { panic!() };
    let lie = Message::PutReq { header, source, length, key: &[7; MAX_KEY + 1] };
    w.hand(&Letter::new(honest.link, &honest.envelope, &lie));
    w.settle();
    assert_eq!(w.nodes[1].done[0].status.evidence, Some((Cause::Protocol, Place::Queue)));
    assert_eq!(w.report(0, tag).status.evidence, Some((Cause::Refused, Place::Staged)));
    w.assert_drained();
}

/// Whatever a peer sends for a key, it reaches the engine as it is: that judges it.
#[test]
fn a_key_of_the_wrong_form_is_the_engines_to_judge() {
    let mut w = World::met();
    w.hold("pull_ready");
    let tag = w.get(0, 1, 5000).unwrap();
    w.settle();
    let honest = w.fabric.borrow_mut().wire.pop_front().unwrap();
    let Message::PullReady(ready) = honest.message() else { panic!("{}", honest.kind()) };
    // The other engine knows nothing of this source; ours is given what was said of it.
    let source = Tag { generation: ready.source.generation.wrapping_add(9), ..ready.source };
    let forged = super::fabric::forged_key();
    let key = forged.as_bytes();
    assert_ne!(key, ready.key);
    let lie = Message::PullReady(PullReady { source, key, ..ready });
    w.hand(&Letter::new(honest.link, &honest.envelope, &lie));
    w.settle();
    assert_ne!(w.report(0, tag).status.errno, 0, "there is nothing to pull");
    assert!(!ready.key.is_empty());
    w.sleep(Span::from_secs(31));
    w.assert_drained();
}
