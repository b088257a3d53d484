// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a CANCEL was answered holds, also when a session is counted anew
//! (docs/decisions/0029-cancel.md).
//!
//! The oracle is as in `called_off.rs`: a device that is given a pull looks whether its source was
//! taken back.

use lnd_core::config::Config;
use lnd_core::counters::Counter;
use lnd_core::driver::{Blocker, Kind};
use lnd_core::id::{Incarnation, Tag};
use lnd_core::message::{Message, NakReason};
use lnd_core::peer::HelloState;
use lnd_core::ports::Features;
use lnd_core::time::Span;
use lnd_core::transfer::Delivery;

use super::device::OnInvalidate;
use super::fabric::Fabric;
use super::hello::{forged, hello};
use super::letter::Letter;
use super::node::{Decision, Order, TAKE};
use super::world::{config, WorldOf, LINK0};

type World = WorldOf<false>;

/// Two nodes that have met over a reliable channel, and the first hello of node 0: another link
/// carries it, too.
fn met(signals: bool) -> (World, Letter) {
    let mut config: Config = config();
    (config.links, config.connections, config.depth) = (1, 4, 4);
    let mut fabric = Fabric::new(2, 1);
    fabric.reliable = true;
    for device in fabric.devices.values_mut() {
        device.connects = true;
        if !signals {
            device.features &= !Features::REMOTE_COMPLETION.0;
        }
    }
    let mut w = World::on(fabric, 2, config);
    w.put(0, 1, 0).unwrap();
    let first = w.letter(0).unwrap();
    assert_eq!((first.kind(), first.from), ("hello", 0));
    w.settle();
    w.put(1, 0, 0).unwrap();
    w.settle();
    for node in 0..2 {
        w.node(node).done.clear();
    }
    (w, first)
}

fn withdraw(w: &mut World, tag: Tag) {
    let now = w.now;
    w.nodes[0].driver.withdraw(now, tag);
    w.settle();
}

/// Node 0 has its source back before node 1 has heard of it. Its request is behind.
fn called_off(w: &mut World) -> Tag {
    let tag = w.put(0, 1, 3000).unwrap();
    w.settle();
    withdraw(w, tag);
    assert_eq!(w.report(0, tag).status.delivery, Delivery::NotDelivered);
    tag
}

/// Node 1 loses count: a request is late, and so many have overtaken it.
fn lose_count(w: &mut World) {
    for sent in 0..70 {
        if sent == 40 {
            w.hold("hello");
        }
        if w.state(1, 0) == HelloState::Good {
            w.put(0, 1, 10).unwrap();
            w.settle();
        }
    }
    assert_eq!(w.state(1, 0), HelloState::Handshake, "it does not count the session any more");
}

/// Node 1 takes node 0 for its former incarnation for a while.
fn take_for_former(w: &mut World) {
    w.hold("hello");
    w.notify_peer(1, 0, false);
    w.notify_peer(1, 0, true);
    w.put(1, 0, 0).unwrap();
    w.sleep(Span::from_secs(7));
    assert_eq!(w.state(1, 0), HelloState::Down);
    let mut late = forged(w, 0, 1, &hello()).envelope;
    late.from_incarnation = Incarnation::from_raw(999).unwrap();
    assert!(w.hand(&Letter::new(LINK0, &late, &hello())));
}

fn goes_on(w: &mut World) {
    w.free("hello");
    w.sleep(Span::from_secs(60));
    let tag = w.put(0, 1, 3000).unwrap();
    w.sleep(Span::from_secs(1));
    assert_eq!(w.report(0, tag).status.errno, 0);
    w.sleep(Span::from_secs(40));
    w.assert_drained();
}

/// Node 1's last HELLO is carried by another link past those before it, and answered.
fn answer_again(w: &mut World) {
    let wire = w.fabric.borrow().wire.clone();
    let handshake = wire.iter().rev().find(|l| (l.kind(), l.from) == ("hello", 1)).unwrap();
    assert!(w.hand(handshake));
    w.settle();
}

/// The session's first hello comes late, and would open it from its beginning.
#[test]
fn a_promise_holds_when_its_session_was_given_up() {
    let (mut w, first) = met(true);
    w.hold("put_req");
    w.put(0, 1, 3000).unwrap();
    called_off(&mut w);
    lose_count(&mut w);
    assert!(w.hand(&first));
    w.free("put_req");
    w.settle();
    goes_on(&mut w);
}

/// It was promised to an incarnation that was taken for another one meanwhile.
#[test]
fn a_promise_holds_when_its_session_was_displaced() {
    let (mut w, first) = met(true);
    w.hold("put_req");
    called_off(&mut w);
    take_for_former(&mut w);
    assert!(w.hand(&first));
    answer_again(&mut w);
    w.free("put_req");
    w.settle();
    goes_on(&mut w);
}

/// It was pulled before, and the word of that was lost. What is asked for after its session was
/// counted anew has not been left alone.
#[test]
fn s0_18_what_was_pulled_before_its_session_was_displaced_is_not_taken_for_untouched() {
    let (mut w, first) = met(false);
    w.hold("put_done");
    let tag = w.put(0, 1, 3000).unwrap();
    w.settle();
    assert_eq!((w.said(1, 0, "put_done"), w.reported(0, tag)), (1, false));
    take_for_former(&mut w);
    w.device(0, 0, |d| d.on_invalidate = OnInvalidate::Touched);
    assert!(w.hand(&first));
    withdraw(&mut w, tag);
    assert_eq!((w.said(0, 1, "cancel_put"), w.said(1, 0, "put_nak")), (1, 0), "it may be an echo");
    answer_again(&mut w);
    w.sleep(w.config.hello_timeout);
    assert_eq!((w.said(0, 1, "cancel_put"), w.said(1, 0, "put_nak")), (2, 1));
    assert_eq!(w.report(0, tag).status.delivery, Delivery::Unknown);
    w.free("put_done");
    goes_on(&mut w);
}

/// A slow host has not fetched the report of a pull: that is no reason to have its source wait.
#[test]
fn a_pull_that_has_ended_and_is_not_reported_answers() {
    for (kind, wins) in [Kind::Put, Kind::Get].into_iter().flat_map(|k| [(k, true), (k, false)]) {
        let (mut w, _) = met(false);
        let (puller, owner) = if kind == Kind::Put { (1, 0) } else { (0, 1) };
        w.device(puller, 0, |d| d.frozen = true);
        for cancel in ["cancel_put", "cancel_get"] {
            w.hold(cancel);
        }
        let deadline = w.now.after(Span::from_secs(100));
        let tag = w.send(0, Order { deadline, ..w.order(kind, 1, 3000) }).unwrap();
        w.settle();
        if kind == Kind::Put {
            withdraw(&mut w, tag);
        } else {
            w.sleep(Span::from_secs(31));
        }
        let cancel = w.fabric.borrow().wire.back().cloned().unwrap();
        assert!(w.hand(&cancel), "its pull is asked for");
        w.device(puller, 0, |d| {
            d.frozen = false;
            d.on_invalidate = if wins { OnInvalidate::Wins } else { OnInvalidate::Touched };
        });
        w.hold("put_done");
        w.hold("put_nak");
        w.devices();
        w.interrupts();
        assert!(matches!(w.nodes[puller].driver.blocker(0), Some(Blocker::Unreported { .. })));
        assert!(w.hand(&cancel));
        let answer = w.fabric.borrow().wire.back().cloned().unwrap();
        let (Message::CancelPut { source, .. } | Message::CancelGet { source, .. }) =
            cancel.message()
        else {
            panic!("{cancel:?}");
        };
        let ended = if wins {
            Message::PutDone { source, failed: None }
        } else {
            Message::PutNak { source, why: NakReason::Failed }
        };
        assert_eq!((answer.message(), answer.to), (ended, owner), "{kind:?} {wins}");
        for kind in ["put_done", "put_nak", "cancel_put", "cancel_get"] {
            w.free(kind);
        }
        goes_on(&mut w);
    }
}

/// What is left of a former incarnation has the tag that its successor has given to another
/// transfer.
#[test]
fn what_is_left_of_a_former_incarnation_does_not_stand_for_its_successors() {
    let (mut w, _) = met(true);
    w.node(1).put = Decision::Refuse(NakReason::NoMatch);
    let tag = w.put(0, 1, 3000).unwrap();
    w.settle_untold();
    assert_eq!(w.said(1, 0, "put_nak"), 1);
    w.reboot(0);
    w.node(1).put = TAKE;
    w.hold("put_req");
    w.put(0, 1, 3000).unwrap();
    w.settle_untold();
    let letter = w.fabric.borrow().wire.iter().find(|l| l.kind() == "put_req").cloned().unwrap();
    let envelope = letter.envelope;
    let Message::PutReq { header, length, key, .. } = letter.message() else { panic!() };
    let put = Message::PutReq { header, source: tag, length, key };
    let (session, sequence) = (envelope.session, envelope.sequence);
    let cancel = Message::CancelPut { source: tag, session, sequence };
    let before = w.said(1, 0, "put_nak");
    assert!(w.hand(&Letter::new(LINK0, &envelope, &cancel)));
    assert_eq!(w.said(1, 0, "put_nak"), before + 1);
    assert!(w.hand(&Letter::new(LINK0, &envelope, &put)));
    assert_eq!(w.count(1, Counter::Duplicate), 1);
    assert_eq!(w.device(1, 0, |d| d.calls.posts), 0, "it was promised not to be pulled");
}
