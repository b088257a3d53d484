// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Exposed memory that is to come back before its push has ended: CANCEL_PUSH and its answers.

use super::*;

/// INV-2: what a peer may be pushing into is not given back before its end.
#[test]
fn inv_2_a_push_under_way_comes_to_its_own_end_before_memory_is_taken_back() {
    for wins in [true, false] {
        let mut w = met::<false>();
        w.device(1, 0, |d| d.frozen = true);
        let tag = patient_get(&mut w, 3000);
        w.settle();
        withdraw(&mut w, 0, tag);
        w.sleep(Span::from_secs(3));
        assert_eq!((invalidates(&w, 0), invalidates(&w, 1)), (0, 1));
        assert!(!w.reported(0, tag) && w.said(1, 0, "get_nak") == 0);
        let mood = if wins { OnInvalidate::Wins } else { OnInvalidate::Touched };
        w.device(1, 0, |d| (d.frozen, d.on_invalidate) = (false, mood));
        w.settle();
        let report = w.report(0, tag);
        assert_eq!((report.status.errno == 0, invalidates(&w, 0)), (wins, 1));
        // S0-16: it was given up and came back good, with all that was pushed.
        assert_eq!((report.lost_race, report.bytes), (wins, if wins { 3000 } else { 0 }));
        w.device(1, 0, |d| d.on_invalidate = OnInvalidate::Honest);
        assert_goes_on(&mut w);
    }
}

/// CANCEL_PUSH finds the request wherever it is: behind, kept, waiting for a push, pushed.
#[test]
fn s3_11_a_cancel_is_answered_wherever_its_request_is() {
    // It overtakes its request, which is never offered.
    let mut w = met::<false>();
    let seen = w.fabric.borrow().seen.len();
    w.hold("get_req");
    let tag = patient_get(&mut w, 3000);
    w.settle();
    withdraw(&mut w, 0, tag);
    w.settle();
    assert_eq!((w.said(0, 1, "cancel_push"), w.said(1, 0, "get_nak")), (1, 1));
    assert_eq!(end(&w, 0, tag), Some((Cause::Withdrawn, Place::Staged)));
    w.free("get_req");
    w.settle();
    let now = w.fabric.borrow().seen.len();
    assert_eq!((now, w.count(1, Counter::Duplicate), pushed(&w)), (seen, 1, 0));
    assert_goes_on(&mut w);

    // The upper layer has it, and decides too late.
    let mut w = met::<false>();
    w.node(1).get = Decision::Keep;
    let tag = patient_get(&mut w, 3000);
    w.settle();
    withdraw(&mut w, 0, tag);
    w.settle();
    assert_eq!(end(&w, 0, tag), Some((Cause::Withdrawn, Place::Staged)));
    assert_eq!(w.node(1).answer_kept(3000), Err(None), "gone");
    assert_goes_on(&mut w);

    // Its push waits for another, and ends at once.
    let mut w = met_of::<false>([true; 2], Config { pulls: 1, ..small() });
    w.device(1, 0, |d| d.frozen = true);
    let first = patient_get(&mut w, 3000);
    let second = patient_get(&mut w, 3000);
    w.settle();
    withdraw(&mut w, 0, second);
    w.settle();
    assert_eq!(end(&w, 0, second), Some((Cause::Withdrawn, Place::Staged)));
    assert_eq!(w.device(1, 0, |d| d.calls.posts), 1);
    w.device(1, 0, |d| d.frozen = false);
    w.settle();
    assert_eq!(w.report(0, first).status.errno, 0);
    assert_goes_on(&mut w);

    // It was pushed, and its GET_DONE is on the way: both are news, in either order.
    for done_first in [true, false] {
        let mut w = met::<false>();
        w.hold("get_done");
        w.hold("cancel_push");
        let tag = patient_get(&mut w, 3000);
        w.settle();
        withdraw(&mut w, 0, tag);
        w.settle();
        assert_eq!(invalidates(&w, 0), 0, "not before the answer");
        let kinds = ["cancel_push", "get_done"];
        w.free(kinds[usize::from(done_first)]);
        w.settle();
        assert_eq!((invalidates(&w, 0), w.reported(0, tag)), (1, true));
        assert_eq!(w.report(0, tag).status.errno == 0, done_first);
        w.free(kinds[usize::from(!done_first)]);
        assert_goes_on(&mut w);
    }
}

/// The report of the push waits for its host: CANCEL_PUSH is answered with the length.
#[test]
fn s3_11_the_answer_to_a_cancel_says_how_much_was_pushed() {
    let mut w = met::<false>();
    w.hold("cancel_push");
    w.device(1, 0, |d| d.frozen = true);
    w.node(1).get = Decision::UpTo(1234);
    let tag = patient_get(&mut w, 3000);
    w.settle();
    withdraw(&mut w, 0, tag);
    w.settle();
    w.device(1, 0, |d| d.frozen = false);
    // The push ends, and its host does not fetch the report.
    w.devices();
    let _ = w.node(1).interrupt();
    assert_eq!(w.said(1, 0, "get_done"), 0);
    let cancel = w.letter(0).unwrap();
    assert_eq!(cancel.kind(), "cancel_push");
    w.hand(&cancel);
    let answer = w.fabric.borrow().wire.back().cloned().unwrap();
    let all = Message::GetDone { sink: tag, length: 1234, failed: None };
    assert_eq!(answer.message(), all);
    w.fabric.borrow_mut().wire.retain(|it| it.kind() != "cancel_push");
    w.fabric.borrow_mut().held.clear();
    w.settle();
    assert_eq!((w.report(0, tag).status.errno, w.report(0, tag).bytes), (0, 1234));
    assert_goes_on(&mut w);
}

/// A lost end is asked for, and said again.
#[test]
fn s3_11_an_end_that_is_lost_is_had_by_a_cancel() {
    let mut w = met::<false>();
    w.fabric.borrow_mut().reliable = false;
    w.injected("get_done", InjectedFault::Lost(Sent::Ok));
    let tag = w.get(0, 1, 3000).unwrap();
    w.sleep(Span::from_secs(29));
    assert!(!w.reported(0, tag));
    w.sleep(Span::from_secs(3));
    assert_eq!((w.said(0, 1, "cancel_push"), w.said(1, 0, "get_nak")), (1, 1));
    assert_eq!((end(&w, 0, tag).unwrap().0, invalidates(&w, 0)), (Cause::Deadline, 1));
}

/// A target that does not answer costs its connection, whose proof gives the memory back (S0-9).
#[test]
fn s3_11_a_target_that_does_not_answer_costs_its_connection() {
    let mut w = met::<false>();
    w.device(1, 0, |d| d.frozen = true);
    let (tag, beside) = (patient_get(&mut w, 3000), patient_get(&mut w, 3000));
    w.settle();
    w.hold("cancel_push");
    w.device(0, 0, |d| d.slow_connections = true);
    withdraw(&mut w, 0, tag);
    w.sleep(w.config.drain_bound);
    w.sleep(Span::from_millis(100));
    assert_eq!((w.count(0, Counter::DrainBoundHit), invalidates(&w, 0)), (1, 0));
    assert!(!w.reported(0, tag) && !w.reported(0, beside), "INV-2");
    w.device(0, 0, |d| d.stopping.values_mut().for_each(|stopped| *stopped = true));
    w.sleep(Span::from_millis(100));
    assert_eq!(end(&w, 0, tag), Some((Cause::Withdrawn, Place::Moving)));
    assert_eq!(end(&w, 0, beside), Some((Cause::ConnectionDown, Place::Moving)));
    w.free("cancel_push");
    w.device(1, 0, |d| d.frozen = false);
    w.sleep(Span::from_secs(60));
    w.assert_drained();
}

/// A driver of engines that invalidate safely asks at once and sends no CANCEL.
#[test]
fn s3_11_an_engine_that_invalidates_safely_is_asked_at_once() {
    let mut w = met::<true>();
    w.device(1, 0, |d| d.frozen = true);
    let tag = w.get(0, 1, 3000).unwrap();
    w.settle();
    withdraw(&mut w, 0, tag);
    w.settle();
    assert_eq!((w.reported(0, tag), w.said(0, 1, "cancel_push")), (true, 0));
    assert_eq!(end(&w, 0, tag), Some((Cause::Withdrawn, Place::Staged)));
    w.device(1, 0, |d| d.frozen = false);
    w.settle();
    let source = w.nodes[1].done.iter().find(|r| r.role == Role::PushSource).unwrap();
    assert_ne!(source.status.errno, 0, "there is nothing to push into");
    w.assert_drained();
}

/// What a channel still holds of a former session: its sender may have been promised that nothing
/// is pushed for it, and of that nothing is known any more.
#[test]
fn s3_11_a_pushed_get_of_a_former_session_is_refused() {
    let mut w = met::<false>();
    w.hold("get_req");
    let tag = patient_get(&mut w, 3000);
    w.settle();
    let letter = w.letter(0).unwrap();
    let mut former = letter.envelope;
    former.session = former.session.wrapping_sub(1);
    let Message::GetReq { header, length, key, .. } = letter.message() else { panic!() };
    let sink = Tag { index: tag.index, generation: tag.generation.wrapping_sub(1) };
    let get = Message::GetReq { header, sink, length, key };
    assert!(w.hand(&Letter::new(LINK0, &former, &get)));
    let answer = w.fabric.borrow().wire.back().cloned().unwrap();
    assert_eq!(answer.message(), Message::GetNak { sink, why: NakReason::NoResources });
    w.settle();
    assert_eq!(w.device(1, 0, |d| d.calls.posts), 0);
    w.free("get_req");
    w.settle();
    assert_eq!(w.report(0, tag).status.errno, 0, "not touched by it");
    w.sleep(Span::from_secs(40));
    w.assert_drained();
}
