// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! CANCELs that name what is not theirs, that pass what is late, and whose answers find no room.

use lnd_core::counters::Counter;
use lnd_core::id::Tag;
use lnd_core::message::{Message, NakReason};
use lnd_core::transfer::{Cause, Delivery, Place};

use crate::driver::device::OnInvalidate;
use crate::driver::fabric::Fabric;
use crate::driver::hello::forged;

use super::{end, met, small, withdraw, World};

/// R31: a CANCEL of a GET ends the pull of just that source, and for its own peer only.
#[test]
fn r31_a_cancel_of_another_source_or_of_another_peer_ends_no_pull() {
    let mut w = World::on(Fabric::new(3, 1), 3, small());
    for (from, to) in [(0, 1), (1, 0), (0, 2), (2, 0)] {
        w.put(from, to, 0).unwrap();
        w.settle();
    }
    w.device(0, 0, |d| d.frozen = true);
    w.hold("pull_ready");
    let sink = w.get(0, 1, 3000).unwrap();
    w.settle();
    let letter = w.letter(0).unwrap();
    let Message::PullReady(ready) = letter.message() else { panic!("{letter:?}") };
    let source = ready.source;
    w.free("pull_ready");
    w.settle();
    let other = Tag { generation: source.generation.wrapping_add(1), ..source };
    for (from, source) in [(1, other), (2, source)] {
        let cancel = forged(&w, from, 0, &Message::CancelGet { source, sink });
        assert!(w.hand(&cancel));
        w.settle();
    }
    assert_eq!(w.count(0, Counter::CancelsHeard), 2);
    assert_eq!(w.device(0, 0, |d| d.calls.invalidates), 0);
    w.device(0, 0, |d| d.frozen = false);
    w.settle();
    assert_eq!(w.report(0, sink).status.errno, 0);
}

/// S0-18: no promise is given where the window would pass a request that is late, and of which its
/// sender was told that it is delivered.
#[test]
fn s0_18_a_cancel_does_not_pass_a_request_that_is_late() {
    let mut w = met();
    w.hold("immediate");
    let tag = w.put(0, 1, 10).unwrap();
    w.settle();
    assert_eq!(w.report(0, tag).status.errno, 0);
    let late = w.fabric.borrow_mut().wire.pop_back().unwrap();
    w.free("immediate");
    w.put(0, 1, 10).unwrap();
    w.settle();
    // As of a request that the window reaches, at the cost of the late one.
    let (session, sequence) = (late.envelope.session, late.envelope.sequence.wrapping_add(64));
    let source = Tag { index: 9, generation: 77 };
    let cancel = forged(&w, 0, 1, &Message::CancelPut { source, session, sequence });
    assert!(w.hand(&cancel));
    assert_eq!((w.count(1, Counter::OutsideWindow), w.said(1, 0, "put_nak")), (1, 0));
    assert!(w.hand(&late));
    w.settle();
    w.assert_deliveries();
    assert_eq!(w.count(1, Counter::LostRequests), 0);
}

/// INV-11: the credit of a request that will never be taken comes back with the answer. If that
/// finds no room, it comes back by itself.
#[test]
fn inv_11_the_credit_of_what_was_called_off_comes_back_though_the_answer_is_lost() {
    let mut w = met();
    w.hold("put_req");
    let tag = w.put(0, 1, 3000).unwrap();
    w.settle();
    w.fabric.borrow_mut().room.insert((1, 0), [64, 0]);
    withdraw(&mut w, 0, tag);
    w.settle();
    assert_eq!((w.said(0, 1, "cancel_put"), w.said(1, 0, "put_nak")), (1, 0));
    w.fabric.borrow_mut().room.clear();
    let noops = w.said(1, 0, "noop");
    w.sleep(w.config.link_poll.times(2));
    assert_eq!((w.said(1, 0, "noop") - noops, w.said(1, 0, "put_nak")), (1, 0));
}

/// S0-17: what its puller has never begun stays so, whatever comes of it later.
#[test]
fn s0_17_what_was_never_begun_stays_so() {
    let mut w = met();
    w.device(0, 0, |d| (d.frozen, d.on_invalidate) = (true, OnInvalidate::Touched));
    w.hold("put_req");
    let tag = w.put(0, 1, 3000).unwrap();
    w.settle();
    withdraw(&mut w, 0, tag);
    w.settle();
    assert_eq!((w.said(1, 0, "put_nak"), w.reported(0, tag)), (1, false));
    let failed = Message::PutNak { source: tag, why: NakReason::Failed };
    let failed = forged(&w, 1, 0, &failed);
    assert!(w.hand(&failed));
    w.device(0, 0, |d| d.frozen = false);
    w.settle();
    assert_eq!(end(&w, 0, tag), (Some((Cause::Withdrawn, Place::Staged)), Delivery::NotDelivered));
}
