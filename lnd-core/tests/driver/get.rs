// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! GET: optimised, inline, refused, answered wrongly.

use lnd_core::counters::Counter;
use lnd_core::driver::{Kind, Role};
use lnd_core::id::Tag;
use lnd_core::message::{Message, NakReason, PullReady};
use lnd_core::ports::{Features, Sent};
use lnd_core::time::Span;
use lnd_core::transfer::{Cause, Place};

use super::fabric::{Fabric, InjectedFault};
use super::letter::Letter;
use super::node::{Decision, Order};
use super::world::{config, World, LINK0, LINK1};

/// S3-3: request and answer use the short channel, R16: and carry all that is needed; S3-13: no
/// third message.
#[test]
fn s3_2_an_optimised_get_is_staged_by_the_target_and_pulled() {
    let mut w = World::met();
    let tag = w.get(0, 1, 5000).unwrap();
    w.settle();
    assert_eq!((w.said(0, 1, "get_req"), w.said(1, 0, "pull_ready")), (1, 1));
    let (invalidating, gave) = (w.report(0, tag), w.nodes[1].done[0]);
    assert_eq!(
        (invalidating.role, invalidating.status.errno, invalidating.bytes),
        (Role::GetPull, 0, 5000)
    );
    // R8: one report, and it says that it is of both messages.
    assert!(invalidating.reply && !gave.reply);
    assert_eq!((gave.role, gave.status.errno, gave.bytes), (Role::GetSource, 0, 5000));
    w.assert_drained();
}

/// S1-8: the data that there is, and no more.
#[test]
fn a_target_may_give_less_than_was_asked_for() {
    for given in [1, 1234, 0] {
        let mut w = World::met();
        w.node(1).get = Decision::UpTo(given);
        let tag = w.get(0, 1, 5000).unwrap();
        w.settle();
        assert_eq!((w.report(0, tag).status.errno, w.report(0, tag).bytes), (0, given));
        w.assert_drained();
    }
}

#[test]
fn s1_8_a_refused_get_is_told() {
    let mut w = World::met();
    w.node(1).get = Decision::Refuse(NakReason::NoMatch);
    let tag = w.get(0, 1, 5000).unwrap();
    w.settle();
    assert_eq!(w.said(1, 0, "get_nak"), 1);
    let report = w.report(0, tag);
    assert_eq!(report.status.evidence, Some((Cause::Refused, Place::Answer)));
    assert!(report.reply, "R8: the reply's message ends too");
    w.assert_drained();
}

/// INV-9: what was staged and could not be announced is no news to the requester, which would wait
/// for its whole deadline. It is told when the source has its memory back.
#[test]
fn a_get_whose_pull_ready_was_not_delivered_is_told() {
    let lost = [Sent::NotDelivered, Sent::Unknown].map(InjectedFault::Lost);
    for (fault, ends_at_once) in
        lost.into_iter().chain([InjectedFault::Full]).flat_map(|it| [(it, false), (it, true)])
    {
        let mut w = World::met();
        w.fabric.borrow_mut().ends_at_once = ends_at_once;
        w.injected("pull_ready", fault);
        let tag = w.get(0, 1, 5000).unwrap();
        w.settle();
        w.sleep(Span::from_secs(1));
        let source = w.nodes[1].done[0].status;
        assert!(source.errno != 0, "{fault:?}: {source:?}");
        assert_eq!((w.said(1, 0, "get_nak"), w.reported(0, tag)), (1, true), "{fault:?}");
        assert_eq!(w.report(0, tag).status.evidence, Some((Cause::Refused, Place::Answer)));
        w.assert_drained();
    }
}

/// One that has arrived has begun the pull, whatever its sender was told: the pull's end is the
/// end of both.
#[test]
fn a_get_whose_pull_ready_has_arrived_unknown_ends_once() {
    let mut w = World::met();
    w.injected("pull_ready", InjectedFault::DeliveredUnknown);
    let tag = w.get(0, 1, 5000).unwrap();
    w.settle();
    w.sleep(Span::from_secs(1));
    assert!(w.reported(0, tag));
    assert_eq!(w.nodes[1].done.len(), 1);
    w.assert_drained();
}

#[test]
fn s3_14_a_routed_or_small_get_is_a_mere_header() {
    for (length, routed) in [(5000, true), (100, false)] {
        let mut w = World::met();
        w.node(1).inline = Decision::Keep;
        let order = Order { routed, ..w.order(Kind::Get, 1, length) };
        let tag = w.send(0, order).unwrap();
        w.settle();
        let report = w.report(0, tag);
        assert_eq!((report.role, report.status.errno), (Role::Immediate, 0));
        assert!(!report.reply, "the reply will come as a message of its own");
        assert_eq!(w.nodes[1].kept[0].rx_request.length, 0);
        assert_eq!(w.said(0, 1, "get_req"), 0);
        // The upper layer answers with a REPLY, which is a PUT.
        let taken = w.node(1).answer_kept(0).unwrap();
        let reply = w.submit(Kind::Reply, 1, 0, length).unwrap();
        w.settle();
        assert_eq!((w.report(1, taken).bytes, w.report(1, reply).status.errno), (0, 0));
        assert_eq!(w.nodes[0].done.last().unwrap().bytes, length);
        w.assert_drained();
    }
}

#[test]
fn h16_a_pull_ready_longer_than_the_sink_moves_nothing() {
    let mut w = World::met();
    w.hold("pull_ready");
    let tag = w.get(0, 1, 5000).unwrap();
    w.settle();
    let honest = w.fabric.borrow_mut().wire.pop_front().unwrap();
    let Message::PullReady(ready) = honest.message() else { panic!("{}", honest.kind()) };
    let lie = Message::PullReady(PullReady { length: 5001, ..ready });
    let posts = w.device(0, 0, |d| d.calls.posts) + w.device(0, 1, |d| d.calls.posts);
    w.hand(&Letter::new(honest.link, &honest.envelope, &lie));
    w.settle();
    let status = w.report(0, tag).status;
    assert_eq!((status.errno, status.evidence.unwrap().0), (-71, Cause::Protocol));
    assert_eq!(w.count(0, Counter::Protocol), 1);
    assert_eq!(w.device(0, 0, |d| d.calls.posts) + w.device(0, 1, |d| d.calls.posts), posts);
    // The target is told and has its buffers back.
    assert_eq!(w.nodes[1].done[0].status.errno, -121);
    w.assert_drained();
}

#[test]
fn s3_7_answers_to_nothing_or_to_another_are_counted_only() {
    let mut w = World::new(3);
    for other in [1, 2] {
        w.put(0, other, 0).unwrap();
    }
    w.settle();
    w.hold("get_req");
    w.hold("put_req");
    let tag = w.get(0, 1, 5000).unwrap();
    let put = w.put(0, 1, 5000).unwrap();
    w.settle();
    let source = Tag { index: 0, generation: 1 };
    let ready = |sink| Message::PullReady(PullReady { sink, source, length: 10, key: b"forged" });
    let older = Tag { generation: tag.generation.wrapping_sub(1), ..tag };
    let nowhere = Tag { index: 5000, generation: 1 };
    let nak = |sink| Message::GetNak { sink, why: NakReason::NoMatch };
    let put_nak = Message::PutNak { source: tag, why: NakReason::NoMatch };
    for (from, message, counter) in [
        (1, ready(older), Counter::StaleAnswer),
        (1, ready(nowhere), Counter::StaleAnswer),
        (2, ready(tag), Counter::WrongAnswer),
        (2, nak(tag), Counter::WrongAnswer),
        (1, nak(older), Counter::StaleAnswer),
        (1, nak(put), Counter::WrongAnswer),
        (1, put_nak, Counter::WrongAnswer),
        (1, Message::PutDone { source: tag, failed: None }, Counter::WrongAnswer),
    ] {
        let before = w.count(0, counter);
        let letter = super::hello::forged(&w, from, 0, &message);
        w.hand(&letter);
        w.settle();
        assert_eq!(w.count(0, counter), before + 1, "{message:?}");
        assert!(!w.reported(0, tag) && !w.reported(0, put));
    }
    // The engine of another link than the request's has no access to what was staged.
    let mut letter = super::hello::forged(&w, 1, 0, &ready(tag));
    let link = w.nodes[0].driver.transfer_view(tag.index).unwrap().link.unwrap();
    letter.link = if link == LINK0 { LINK1 } else { LINK0 };
    let before = w.count(0, Counter::WrongAnswer);
    w.hand(&letter);
    w.settle();
    assert_eq!((w.count(0, Counter::WrongAnswer), w.reported(0, tag)), (before + 1, false));
    w.free("get_req");
    w.free("put_req");
    w.settle();
    assert_eq!((w.report(0, tag).status.errno, w.report(0, put).status.errno), (0, 0));
    w.assert_drained();
}

#[test]
fn a_repeated_pull_ready_starts_one_pull() {
    let mut w = World::met();
    w.injected("pull_ready", super::fabric::InjectedFault::Twice);
    let tag = w.get(0, 1, 5000).unwrap();
    w.settle();
    assert_eq!(w.report(0, tag).status.errno, 0);
    let posts = w.device(0, 0, |d| d.calls.posts) + w.device(0, 1, |d| d.calls.posts);
    assert_eq!(posts, 1);
    w.assert_drained();
}

#[test]
fn without_remote_completion_a_get_ends_with_put_done_to_its_source() {
    let mut fabric = Fabric::new(2, 2);
    for link in 0..2 {
        fabric.device(1, link).features &= !Features::REMOTE_COMPLETION.0;
    }
    let mut w = World::on(fabric, 2, config());
    let tag = w.get(0, 1, 5000).unwrap();
    w.settle();
    assert_eq!(w.said(0, 1, "put_done"), 1);
    assert_eq!(w.report(0, tag).status.errno, 0);
    let gave = w.nodes[1].done[0];
    assert_eq!((gave.status.errno, gave.lost_race), (0, false));
    w.assert_drained();
}

#[test]
fn a_get_of_many_fragments_arrives_whole() {
    let mut w = World::met();
    (w.node(0).pieces, w.node(1).pieces) = (256, 77);
    let tag = w.get(0, 1, 9999).unwrap();
    w.settle();
    assert_eq!(w.report(0, tag).bytes, 9999);
    w.assert_drained();
}

/// INV-8: the control path alone starts the pull; no layer is asked.

#[test]
fn pull_ready_starts_the_pull_before_the_requests_own_completion() {
    let mut w = World::met();
    let tag = w.get(0, 1, 5000).unwrap();
    w.settle_untold();
    // Moved, and still the slot lives until its message has completed (INV-5).
    assert!(!w.reported(0, tag));
    assert_eq!(w.device(0, 0, |d| d.calls.posts) + w.device(0, 1, |d| d.calls.posts), 1);
    w.settle();
    assert_eq!(w.report(0, tag).status.errno, 0);
    w.assert_drained();
}
