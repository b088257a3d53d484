// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a hostile or broken peer may say of pushes.

use super::*;

/// What a hostile or broken peer may say.
#[test]
fn s3_11_wrong_ends_change_nothing_but_a_counter() {
    let done = |sink, length| Message::GetDone { sink, length, failed: None };
    // Of a GET that is pulled, and of a PUT.
    let mut w = met_of::<false>([true, false], small());
    w.hold("get_req");
    w.hold("put_req");
    let get = w.get(0, 1, 3000).unwrap();
    let put = w.put(0, 1, 3000).unwrap();
    w.settle();
    for tag in [get, put] {
        let before = w.count(0, Counter::WrongAnswer);
        w.hand(&forged(&w, 1, 0, &done(tag, 3000)));
        assert_eq!(w.count(0, Counter::WrongAnswer), before + 1);
        assert!(!w.reported(0, tag));
    }
    w.free("get_req");
    w.free("put_req");
    w.settle();
    assert_eq!((w.report(0, get).status.errno, w.report(0, put).status.errno), (0, 0));
    assert_goes_on(&mut w);

    // Another's answers to a GET that is pushed: PUT_DONE, PULL_READY, an earlier use's GET_DONE.
    let mut w = met::<false>();
    w.hold("get_req");
    let get = patient_get(&mut w, 3000);
    w.settle();
    let ready = PullReady { sink: get, source: get, length: 3000, key: b"forged" };
    let wrong = [
        Message::PutDone { source: get, failed: None },
        Message::PutNak { source: get, why: NakReason::NoMatch },
        Message::PullReady(ready),
    ];
    for (n, message) in wrong.iter().enumerate() {
        w.hand(&forged(&w, 1, 0, message));
        assert_eq!(w.count(0, Counter::WrongAnswer), n as u64 + 1, "{message:?}");
    }
    let earlier = Tag { generation: get.generation.wrapping_sub(1), ..get };
    w.hand(&forged(&w, 1, 0, &done(earlier, 3000)));
    assert_eq!((w.count(0, Counter::StaleAnswer), w.reported(0, get)), (1, false));
    assert_eq!(invalidates(&w, 0), 0);
    w.free("get_req");
    w.settle();
    assert_eq!(w.report(0, get).status.errno, 0);
    assert_goes_on(&mut w);
}

/// A peer that says it has pushed more than there is room for breaks the protocol: no report gives
/// a length that the memory has not.
#[test]
fn s3_11_an_end_of_more_than_there_is_room_for_is_a_protocol_error() {
    for given_up in [false, true] {
        let mut w = met::<false>();
        w.hold("get_done");
        let get = patient_get(&mut w, 3000);
        w.settle();
        if given_up {
            w.hold("cancel_push");
            withdraw(&mut w, 0, get);
            w.settle();
        }
        let lie = Message::GetDone { sink: get, length: 3001, failed: None };
        w.hand(&forged(&w, 1, 0, &lie));
        w.settle();
        assert_eq!((w.count(0, Counter::Protocol), w.report(0, get).bytes), (1, 0));
        let cause = if given_up { Cause::Withdrawn } else { Cause::Protocol };
        assert_eq!(end(&w, 0, get).unwrap().0, cause);
        assert_eq!(invalidates(&w, 0), 1);
        w.free("get_done");
        w.free("cancel_push");
        w.settle();
        assert_goes_on(&mut w);
    }
}

/// The first end that is taken decides the length: a repetition with another one changes
/// nothing.
#[test]
fn s3_11_a_second_end_does_not_change_the_length() {
    let mut w = met::<false>();
    w.hold("get_done");
    let get = patient_get(&mut w, 3000);
    w.settle();
    w.device(0, 0, |d| d.frozen = true);
    for length in [3000, 17] {
        w.hand(&forged(&w, 1, 0, &Message::GetDone { sink: get, length, failed: None }));
    }
    w.device(0, 0, |d| d.frozen = false);
    w.settle();
    assert_eq!((w.report(0, get).status.errno, w.report(0, get).bytes), (0, 3000));
    w.free("get_done");
    assert_goes_on(&mut w);
}

/// A key from a peer that has not announced pushes is no request for one, and reaches no engine.
#[test]
fn s3_11_a_key_from_a_peer_that_does_not_push_is_ignored() {
    let mut w = met_of::<false>([false, true], small());
    w.hold("get_req");
    let get = w.get(0, 1, 3000).unwrap();
    w.settle();
    let honest = w.fabric.borrow_mut().wire.pop_front().unwrap();
    let Message::GetReq { header, sink, length, key } = honest.message() else { panic!() };
    assert!(key.is_empty());
    let lie = Message::GetReq { header, sink, length, key: b"forged" };
    w.hand(&Letter::new(LINK0, &honest.envelope, &lie));
    w.settle();
    assert_eq!((w.report(0, get).role, pushed(&w)), (Role::GetPull, 0));
    assert_eq!(w.report(0, get).status.errno, 0);
    w.assert_drained();
}

/// CANCEL_PUSH to a driver that has no use for it is counted.
#[test]
fn s3_11_a_cancel_that_no_peer_sends_is_counted() {
    let mut w = met::<true>();
    let tag = Tag { index: 1, generation: 2 };
    let message = Message::CancelPush { sink: tag, session: 1, sequence: 1 };
    w.hand(&forged(&w, 1, 0, &message));
    assert_eq!(w.count(0, Counter::WrongAnswer), 1);
    w.settle();
    w.assert_drained();
}

/// A GET without a key asks for the bytes to be staged, whatever its sender could do.
#[test]
fn s3_11_a_get_without_a_key_is_staged() {
    let mut w = met::<false>();
    w.hold("get_req");
    w.get(0, 1, 3000).unwrap();
    w.settle();
    let honest = w.fabric.borrow_mut().wire.pop_front().unwrap();
    let Message::GetReq { header, sink, length, .. } = honest.message() else { panic!() };
    let keyless = Message::GetReq { header, sink, length, key: &[] };
    w.hand(&Letter::new(LINK0, &honest.envelope, &keyless));
    w.settle();
    assert_eq!((w.said(1, 0, "pull_ready"), w.device(1, 0, |d| d.calls.posts)), (1, 1));
    assert_eq!(w.count(0, Counter::WrongAnswer), 1, "its own transfer waits for a push");
    w.sleep(Span::from_secs(80));
    w.assert_drained();
}

/// An engine that returns exposed memory OK has not seen the end of the push: only the peer's
/// GET_DONE makes the GET good, with the length that it gives.
#[test]
fn s3_11_exposed_memory_that_comes_back_ok_proves_nothing() {
    let failed = |sink| {
        let failed = Some(NakReason::Failed);
        Message::GetDone { sink, length: 0, failed }
    };
    for answer in ["whole", "failed", "none"] {
        let mut w = met::<false>();
        w.node(1).get = Decision::UpTo(1700);
        w.hold("get_done");
        let get = patient_get(&mut w, 3000);
        w.settle();
        w.device(0, 0, |d| d.finish(get.index, Returned::Ok));
        w.settle();
        assert!(!w.reported(0, get));
        if answer == "failed" {
            w.hand(&forged(&w, 1, 0, &failed(get)));
        } else if answer == "none" {
            withdraw(&mut w, 0, get);
        } else {
            w.free("get_done");
        }
        w.settle();
        let report = w.report(0, get);
        assert_eq!(report.status.errno == 0, answer == "whole", "{answer}: {report:?}");
        assert_eq!(report.bytes, if answer == "whole" { 1700 } else { 0 });
        assert!(!report.lost_race);
        w.free("get_done");
        w.settle();
        w.node(1).get = TAKE;
        assert_goes_on(&mut w);
    }
}
