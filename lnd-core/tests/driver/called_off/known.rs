// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What is known of memory that has come back, and what a CANCEL may not change.

use lnd_core::counters::Counter;
use lnd_core::driver::{Kind, Role};
use lnd_core::id::{Incarnation, Tag};
use lnd_core::message::{Message, NakReason};
use lnd_core::peer::HelloState;
use lnd_core::time::Span;
use lnd_core::transfer::{Cause, Delivery, Place};

use crate::driver::device::OnInvalidate;
use crate::driver::fabric::{nid, InjectedFault};
use crate::driver::hello::{forged, hello};
use crate::driver::letter::Letter;
use crate::driver::node::{Decision, Order};
use crate::driver::world::LINK0;

use super::{assert_goes_on, end, invalidating, met, met_with, small, withdraw, World, USUAL};

/// A node that ends in good order pulls nothing any more: no answer is waited for.
#[test]
fn what_was_staged_for_a_peer_that_has_said_goodbye_comes_back_at_once() {
    let mut w = met();
    w.hold("put_req");
    let tag = w.put(0, 1, 3000).unwrap();
    w.settle();
    let now = w.now;
    w.nodes[1].driver.shutdown(now, now);
    w.settle();
    assert_eq!(w.said(1, 0, "close"), 1);
    assert_eq!(end(&w, 0, tag), (Some((Cause::PeerDown, Place::Staged)), Delivery::NotDelivered));
    assert_eq!((invalidating(&w).0, w.said(0, 1, "cancel_put")), (1, 0));
    assert_eq!(w.count(0, Counter::DrainBoundHit), 0);
}

/// An engine that cannot tell whether it was read says that it may have been. Its puller knows
/// better.
#[test]
fn s0_17_what_its_puller_never_began_is_not_delivered_whatever_the_engine_says() {
    type Prepare = fn(&mut World);
    let cases: [(Prepare, Cause); 5] = [
        (|w| w.hold("put_req"), Cause::Withdrawn),
        (|w| w.node(1).put = Decision::Keep, Cause::Withdrawn),
        (|w| w.node(1).put = Decision::Refuse(NakReason::NoMatch), Cause::Refused),
        (|w| w.injected("put_req", InjectedFault::Full), Cause::Channel),
        (|w| w.hold("pull_ready"), Cause::Deadline),
    ];
    for (case, (prepare, cause)) in cases.into_iter().enumerate() {
        let mut w = met();
        for node in 0..2 {
            w.device(node, 0, |d| d.on_invalidate = OnInvalidate::Touched);
        }
        prepare(&mut w);
        let status = if cause == Cause::Deadline {
            let deadline = w.now.after(Span::from_secs(100));
            let order = Order { deadline, ..w.order(Kind::Get, 1, 3000) };
            w.send(0, order).unwrap();
            w.sleep(Span::from_secs(31));
            w.nodes[1].done.iter().find(|r| r.role == Role::GetSource).unwrap().status
        } else {
            let tag = w.put(0, 1, 3000).unwrap();
            w.settle();
            withdraw(&mut w, 0, tag);
            w.settle();
            w.report(0, tag).status
        };
        let known = (Some((cause, Place::Staged)), Delivery::NotDelivered);
        assert_eq!((status.evidence, status.delivery), known, "case {case}");
    }
}

/// It has failed in the middle: no answer says that nothing was read.
#[test]
fn s0_18_what_its_puller_failed_to_pull_is_not_taken_for_untouched() {
    let mut w = met();
    for node in 0..2 {
        w.device(node, 0, |d| d.on_invalidate = OnInvalidate::Touched);
    }
    w.device(1, 0, |d| d.frozen = true);
    let tag = w.put(0, 1, 3000).unwrap();
    w.settle();
    withdraw(&mut w, 0, tag);
    w.settle();
    w.device(1, 0, |d| d.frozen = false);
    w.settle();
    assert_eq!(end(&w, 0, tag), (Some((Cause::Withdrawn, Place::Moving)), Delivery::Unknown));
}

/// What was never announced is pulled by no peer.
#[test]
fn what_the_channel_has_not_taken_comes_back_at_once() {
    let mut w = met();
    w.injected("put_req", InjectedFault::Full);
    let tag = w.put(0, 1, 3000).unwrap();
    w.settle();
    assert!(w.reported(0, tag));
    assert_eq!((invalidating(&w), w.said(0, 1, "cancel_put")), ((1, 0), 0));
    w.sleep(Span::from_secs(40));
    w.assert_drained();
}

/// A late hello of a former incarnation was taken for a while. What the present one asks for is
/// under way all the same.
#[test]
fn a_pull_is_found_by_whom_its_peer_was_taken_for_meanwhile() {
    for kind in [Kind::Put, Kind::Get] {
        let mut config = small();
        config.drain_bound = Span::from_secs(100);
        let mut w = met_with(USUAL, config);
        let (owner, puller) = if kind == Kind::Put { (0, 1) } else { (1, 0) };
        w.device(puller, 0, |d| d.frozen = true);
        let deadline = w.now.after(Span::from_secs(200));
        let tag = w.send(0, Order { deadline, ..w.order(kind, 1, 3000) }).unwrap();
        w.settle();
        // A silence, after which the puller takes the next hello as it comes.
        w.hold("hello");
        w.notify_peer(puller, owner, false);
        w.notify_peer(puller, owner, true);
        w.put(puller, owner, 0).unwrap();
        w.sleep(Span::from_secs(7));
        assert_eq!(w.state(puller, owner), HelloState::Down);
        let mut late = forged(&w, owner, puller, &hello()).envelope;
        late.from_incarnation = Incarnation::from_raw(999).unwrap();
        assert!(w.hand(&Letter::new(LINK0, &late, &hello())));
        w.free("hello");
        let restarted = w.count(puller, Counter::PeersRestarted);
        if kind == Kind::Put {
            withdraw(&mut w, 0, tag);
        }
        w.sleep(Span::from_secs(40));
        assert!(w.count(puller, Counter::PeersRestarted) > restarted, "it has come back");
        let heard = w.count(puller, Counter::CancelsHeard);
        assert!(heard > 0, "{kind:?}");
        assert_eq!(w.device(owner, 0, |d| d.calls.invalidates), 0, "it is under way");
        w.device(puller, 0, |d| d.frozen = false);
        w.sleep(Span::from_secs(200));
        w.assert_drained();
        assert_eq!(w.count(owner, Counter::DrainBoundHit), 0);
    }
}

/// R31, INV-6: whatever a peer cancels, it is its own alone, and the books are right.
#[test]
fn r31_cancels_of_what_is_not_there_change_nothing() {
    let mut w = met();
    w.hold("put_req");
    let tag = w.put(1, 0, 3000).unwrap();
    w.settle();
    let put = w.letter(0).unwrap().envelope;
    let cancelled = |w: &World, message: &Message<'_>| {
        let envelope = w.letter(0).unwrap().envelope;
        Letter::new(LINK0, &envelope, message)
    };
    let own = w.put(0, 1, 0).unwrap();
    let source = Tag { index: 9, generation: 77 };
    let session = put.session;
    let number = put.sequence;
    let answered = |w: &World| w.said(0, 1, "put_nak");
    // No promise can be given of what may still come and be taken.
    for (session, sequence) in
        [(session + 1, number), (session, number + 65), (session, number + (1 << 30))]
    {
        let cancel = cancelled(&w, &Message::CancelPut { source, session, sequence });
        assert!(w.hand(&cancel));
    }
    assert_eq!(answered(&w), 0);
    assert_eq!((w.count(0, Counter::WrongSession), w.count(0, Counter::OutsideWindow)), (1, 2));
    // What was taken long ago, or never will be, is over.
    for (session, sequence) in [(session, number - 1), (session, number.wrapping_sub(70))] {
        let cancel = cancelled(&w, &Message::CancelPut { source, session, sequence });
        assert!(w.hand(&cancel));
    }
    assert_eq!(answered(&w), 2);
    for sink in [own, Tag { index: 3, generation: 0 }, Tag { index: u32::MAX, generation: 1 }] {
        let cancel = cancelled(&w, &Message::CancelGet { source, sink });
        assert!(w.hand(&cancel));
    }
    assert_eq!((answered(&w), w.count(0, Counter::CancelsHeard)), (5, 8));
    w.node(0).check();
    w.free("put_req");
    w.settle();
    assert_eq!(w.report(1, tag).status.errno, 0, "not touched by them");
    assert_eq!(nid(1), put.from);
    assert_goes_on(&mut w);
}

/// S0-17: of a GET that has ended it is not known whether it was pulled, and the one that has its
/// slot now says nothing of it.
#[test]
fn s0_17_a_later_get_in_the_same_slot_is_no_promise_for_one_before() {
    let mut w = met();
    w.hold("put_req");
    w.hold("get_req");
    w.put(1, 0, 3000).unwrap();
    w.settle();
    let from = w.letter(0).unwrap().envelope;
    let get = w.get(0, 1, 3000).unwrap();
    w.settle();
    let sink = Tag { generation: get.generation.wrapping_sub(1), ..get };
    let source = Tag { index: 9, generation: 77 };
    assert!(w.hand(&Letter::new(LINK0, &from, &Message::CancelGet { source, sink })));
    let answer = w.fabric.borrow().wire.back().cloned().unwrap();
    assert_eq!(answer.message(), Message::PutNak { source, why: NakReason::Failed });
    w.free("put_req");
    w.free("get_req");
    w.settle();
    assert_eq!(w.report(0, get).status.errno, 0, "not touched");
    assert_goes_on(&mut w);
}

/// What a channel still holds of a former session: its sender may have been promised that it is not
/// pulled, and of that nothing is known any more.
#[test]
fn a_put_of_a_former_session_is_refused_where_it_may_have_been_called_off() {
    let mut w = met();
    w.hold("put_req");
    let tag = w.put(0, 1, 3000).unwrap();
    w.settle();
    let letter = w.letter(0).unwrap();
    let mut former = letter.envelope;
    former.session = former.session.wrapping_sub(1);
    let Message::PutReq { header, length, key, .. } = letter.message() else {
        panic!("{letter:?}")
    };
    let source = Tag { index: tag.index, generation: tag.generation.wrapping_sub(1) };
    let put = Message::PutReq { header, source, length, key };
    let cancel = Message::CancelPut { source, session: former.session, sequence: 3 };
    // What comes was not taken before: it was not begun.
    let answers = [
        (&cancel, NakReason::Failed),
        (&put, NakReason::NoResources),
        (&cancel, NakReason::NoMatch),
    ];
    for (answers, (message, why)) in answers.into_iter().enumerate() {
        assert!(w.hand(&Letter::new(LINK0, &former, message)));
        assert_eq!(w.said(1, 0, "put_nak"), answers + 1, "{message:?}");
        let answer = w.fabric.borrow().wire.back().cloned().unwrap();
        assert_eq!(answer.message(), Message::PutNak { source, why });
    }
    w.settle();
    assert_eq!((w.device(1, 0, |d| d.calls.posts), w.said(1, 0, "put_nak")), (0, 3));
    w.free("put_req");
    w.settle();
    assert_eq!(w.report(0, tag).status.errno, 0, "not touched by them");
    w.sleep(Span::from_secs(40));
    w.assert_drained();
}

/// The word of a pull that has failed waits for a way. A CANCEL that comes first is not told that
/// nothing was pulled.
#[test]
fn a_cancel_of_a_pull_whose_end_waits_to_be_said_is_told_that_it_has_ended() {
    let mut w = met();
    w.device(1, 0, |d| d.frozen = true);
    let tag = w.put(0, 1, 3000).unwrap();
    w.settle();
    w.notify_link(1, LINK0, false);
    w.sleep(Span::from_millis(100));
    let pull = w.nodes[1].done[0];
    assert_eq!((pull.role, w.nodes[1].driver.in_use()), (Role::PutSink, (0, 1)));
    assert_eq!(pull.status.evidence.map(|it| it.1), Some(Place::Moving));
    withdraw(&mut w, 0, tag);
    w.settle();
    let cancel = w.letter(0).unwrap();
    assert_eq!(cancel.kind(), "cancel_put");
    w.hold("put_nak");
    w.notify_link(1, LINK0, true);
    assert!(w.hand(&cancel));
    let answer = w.fabric.borrow().wire.back().cloned().unwrap();
    assert_eq!(answer.message(), Message::PutNak { source: tag, why: NakReason::Failed });
    w.device(1, 0, |d| d.frozen = false);
    w.free("put_nak");
    w.sleep(Span::from_secs(1));
    assert_ne!(w.report(0, tag).status.errno, 0);
    w.sleep(Span::from_secs(31));
    w.assert_drained();
}

/// An engine that invalidates sends no CANCEL and hears none.
#[test]
fn engines_that_invalidate_are_asked_at_once_as_ever() {
    let mut w = crate::driver::world::World::met();
    w.hold("put_req");
    let tag = w.put(0, 1, 3000).unwrap();
    w.settle();
    let now = w.now;
    w.nodes[0].driver.withdraw(now, tag);
    w.settle();
    assert_eq!((w.said(0, 1, "cancel_put"), w.reported(0, tag)), (0, true));
    let envelope = w.letter(0).unwrap().envelope;
    for message in [
        Message::CancelPut { source: tag, session: envelope.session, sequence: envelope.sequence },
        Message::CancelGet { source: tag, sink: tag },
    ] {
        assert!(w.hand(&Letter::new(LINK0, &envelope, &message)));
    }
    assert_eq!((w.count(1, Counter::WrongAnswer), w.count(1, Counter::CancelsHeard)), (2, 0));
    assert_eq!(w.said(1, 0, "put_nak"), 0);
}
